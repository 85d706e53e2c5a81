// print_device.cu - what stands where kernels call vprintf and __assertfail, compiled to
// print_device.ptx by `make ptx` (clang, no toolkit needed). printf_pass.c puts it into modules.
//
// Runs as part of a tenant's kernel, on any GPU and on the software device, so it uses nothing
// newer than sm_50. Its ring is reached in .global space, the tenant's texts and arguments through
// generic addresses: a pass that fences the tenant can tell the two apart.
//
// Trusts nothing in the ring's block, which the tenant can write: every place in it is masked.
#include "common/print_ring.h"

typedef unsigned long long u64;
typedef __attribute__((address_space(1))) u64 global_u64;

#define DEVICE     __attribute__((device))
#define RING_WORDS (PRINT_RING_BYTES / 8)

extern "C" {

// Device address of the session's block; the worker writes it after loading. 0: there is none.
DEVICE u64 gshare$print;
}

// A name of its own: it is in one module with the tenant's functions.
namespace gshare_print
{

// ---- Records

struct writer {
    global_u64 *ring;
    u64 start, at; // positions, in bytes
};

static DEVICE void put(struct writer *w, u64 word)
{
    w->ring[w->at / 8 % RING_WORDS] = word;
    w->at += 8;
}

static DEVICE __attribute__((noinline)) u64 text_bytes(const char *text, u64 stride)
{
    u64 n = 0;

#pragma unroll 1
    while (n < PRINT_TEXT_MAX && text[n * stride])
        n++;
    return n;
}

static DEVICE __attribute__((noinline)) u64 text_write(global_u64 *ring, u64 at, const char *text,
                                                       u64 bytes, u64 stride)
{
    for (u64 i = 0; i < bytes; at += 8) {
        u64 word = 0;

#pragma unroll 1
        for (unsigned shift = 0; shift < 64 && i < bytes; shift += 8, i++)
            word |= (u64)(unsigned char)text[i * stride] << shift;
        ring[at / 8 % RING_WORDS] = word;
    }
    return at;
}

static DEVICE void put_text(struct writer *w, const char *text, u64 bytes, u64 stride)
{
    w->at = text_write(w->ring, w->at, text, bytes, stride);
}

static DEVICE u64 word_of(global_u64 *block, unsigned at)
{
    return *(volatile global_u64 *)(block + at / 8);
}

#define NO_ROOM 1 // no position: they are multiples of 8

// Where a record of BYTES goes, or NO_ROOM. One addition, not a loop of exchanges, which thousands
// of threads would make fail for each other. What it reserved beyond the free room is told in
// DROPPED: the client must know that nothing will come there.
static DEVICE __attribute__((noinline)) u64 reserve(global_u64 *block, u64 bytes)
{
    u64 taken = word_of(block, PRINT_AT_TAKEN);

    if (word_of(block, PRINT_AT_RESERVED) + bytes - taken <= PRINT_RING_BYTES) {
        u64 start = __atomic_fetch_add(block + PRINT_AT_RESERVED / 8, bytes, __ATOMIC_RELAXED);
        if (start + bytes - word_of(block, PRINT_AT_TAKEN) <= PRINT_RING_BYTES)
            return start;
        __atomic_fetch_add(block + PRINT_AT_DROPPED / 8, bytes, __ATOMIC_RELAXED);
    }
    __atomic_fetch_add(block + PRINT_AT_LOST / 8, 1, __ATOMIC_RELAXED);
    return NO_ROOM;
}

static DEVICE bool writer_init(struct writer *w, u64 bytes)
{
    global_u64 *block = (global_u64 *)gshare$print;

    w->start = block ? reserve(block, bytes) : NO_ROOM;
    w->ring = block + PRINT_AT_RING / 8;
    return w->start != NO_ROOM;
}

static DEVICE void put_head(struct writer *w, u64 bytes, u64 kind, u64 args, u64 text)
{
    w->at = w->start + 8;
    put(w, bytes | kind << 32 | args << 48);
    put(w, text);
}

// The record before its stamp, for a reader on the other side of the bus.
static DEVICE void put_stamp(struct writer *w)
{
    __nvvm_membar_sys();
    *(volatile global_u64 *)&w->ring[w->start / 8 % RING_WORDS] = w->start ^ PRINT_STAMP;
}

// ---- printf

// A format and its arguments, gone through from the left.
struct cursor {
    const char *at, *end;
    u64 args; // address of the next argument
    unsigned count;
};

// The next conversion that takes arguments. False: there is none.
static DEVICE bool cursor_next(struct cursor *c, struct print_conversion *found)
{
    while (c->at < c->end) {
        if (*c->at++ != '%')
            continue;
        c->at = print_scan(c->at, c->end, found);
        if (found->args && c->args && c->count + found->args <= PRINT_ARGS_MAX) {
            c->count += found->args;
            return true;
        }
    }
    return false;
}

static DEVICE u64 cursor_argument(struct cursor *c, u64 bytes)
{
    u64 at = (c->args + bytes - 1) & ~(bytes - 1);

    c->args = at + bytes;
    return bytes == 8 ? *(const u64 *)at : *(const unsigned *)at;
}

// Bytes of the texts of all strings.
static DEVICE u64 measure_strings(struct cursor *c)
{
    struct print_conversion found;
    u64 bytes = 0;

    while (cursor_next(c, &found)) {
        for (unsigned i = 1; i < found.args; i++)
            cursor_argument(c, 4);
        u64 value = cursor_argument(c, found.bytes);
        if (found.letter == 's' && value)
            bytes += PRINT_PADDED(text_bytes((const char *)value, 1));
    }
    return bytes;
}

// ROOM: what measure_strings found. A string that another thread has made longer meanwhile is cut.
static DEVICE void put_arguments(struct writer *w, struct cursor *c, u64 room)
{
    struct print_conversion found;

    while (cursor_next(c, &found)) {
        for (unsigned i = 1; i < found.args; i++)
            put(w, cursor_argument(c, 4));
        u64 value = cursor_argument(c, found.bytes);
        if (found.letter != 's') {
            put(w, value);
        } else if (!value) {
            put(w, PRINT_NULL);
        } else {
            u64 bytes = text_bytes((const char *)value, 1);
            bytes = bytes < room ? bytes : room;
            room -= PRINT_PADDED(bytes);
            put(w, bytes);
            put_text(w, (const char *)value, bytes, 1);
        }
    }
}

// As CUDA's: the count of arguments, or -1. It is also -1 where the record found no room.
extern "C" DEVICE int gshare$vprintf(const char *format, const char *args)
{
    struct writer w;
    u64 text, strings, bytes;

    if (!format)
        return -1;
    text = text_bytes(format, 1);
    struct cursor from = {format, format + text, (u64)args, 0}, again = from;
    strings = measure_strings(&from);
    bytes = PRINT_HEAD_BYTES + PRINT_PADDED(text) + 8 * from.count + strings;
    if (!writer_init(&w, bytes))
        return -1;
    put_head(&w, bytes, PRINT_FORMAT, from.count, text);
    put_text(&w, format, text, 1);
    put_arguments(&w, &again, strings);
    put_stamp(&w);
    return (int)from.count;
}

// ---- assert

static DEVICE void put_string(struct writer *w, const char *text, u64 bytes, u64 stride)
{
    put(w, bytes);
    put_text(w, text, bytes, stride);
}

// Prints only: what ends the kernel stands behind the call (printf_pass.c, trap_pass.c).
extern "C" DEVICE void gshare$assertprint(const char *assertion, const char *file, unsigned line,
                                          const char *function, u64 char_bytes)
{
    struct writer w;
    u64 a = text_bytes(assertion, char_bytes), b = text_bytes(file, char_bytes),
        c = text_bytes(function, char_bytes);
    u64 bytes = PRINT_HEAD_BYTES + PRINT_ASSERT_BYTES + 24 + PRINT_PADDED(a) + PRINT_PADDED(b) +
                PRINT_PADDED(c);

    if (writer_init(&w, bytes)) {
        put_head(&w, bytes, PRINT_ASSERT, 3, line);
        put(&w, __nvvm_read_ptx_sreg_ctaid_x() | (u64)__nvvm_read_ptx_sreg_ctaid_y() << 32);
        put(&w, __nvvm_read_ptx_sreg_ctaid_z() | (u64)__nvvm_read_ptx_sreg_tid_x() << 32);
        put(&w, __nvvm_read_ptx_sreg_tid_y() | (u64)__nvvm_read_ptx_sreg_tid_z() << 32);
        put_string(&w, assertion, a, char_bytes);
        put_string(&w, file, b, char_bytes);
        put_string(&w, function, c, char_bytes);
        put_stamp(&w);
    }
}
} // namespace gshare_print
