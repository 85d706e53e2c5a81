// Functions that every CUDA device provides to kernels: vprintf, malloc, free, __assertfail.
// Strings and argument lists come from a guest, so they are read byte by byte, checked, and
// bounded.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "softcuda/interp/address.h"

enum {
    LONGEST_FORMAT = 4096,
    LONGEST_STRING = 4096,
    LONGEST_OUTPUT = 16384,
    WIDEST = 512,       // field width and precision
    BYTES_PER_STEP = 8, // of text, counted as one instruction
};

// ---- Arguments: bytes in the caller's frame. aux: nrets, nargs, at and bytes of each

static uint64_t argument_at(const struct warp *w, const struct insn *in, unsigned i)
{
    const uint32_t *aux = w->frame->code->aux + in->aux;
    return (uint64_t)w->frame->local_base + aux[2 + 2 * (aux[0] + i)];
}

static uint8_t *lane_local(const struct warp *w, unsigned lane)
{
    return w->block->local + ((uint64_t)w->index * LANES + lane) * w->block->local_bytes;
}

static uint64_t argument64(const struct warp *w, const struct insn *in, unsigned lane, unsigned i)
{
    uint64_t v;
    memcpy(&v, lane_local(w, lane) + argument_at(w, in, i), sizeof v);
    return v;
}

static uint32_t argument32(const struct warp *w, const struct insn *in, unsigned lane, unsigned i)
{
    uint32_t v;
    memcpy(&v, lane_local(w, lane) + argument_at(w, in, i), sizeof v);
    return v;
}

static void give(const struct warp *w, const struct insn *in, unsigned lane, const void *value,
                 size_t bytes)
{
    const uint32_t *aux = w->frame->code->aux + in->aux;
    if (aux[0])
        memcpy(lane_local(w, lane) + w->frame->local_base + aux[2], value, bytes);
}

// Reads a string of the guest, cut at SIZE - 1. Returns false if it cannot be read.
static bool read_string(struct warp *w, unsigned lane, uint64_t address, char *out, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        uint64_t host = lane_generic(w, lane, address + i, 1, MEM_READ);
        if (!host)
            return false;
        out[i] = i + 1 < size ? *(const char *)mem_pointer(host) : 0;
        if (!out[i])
            break;
    }
    return true;
}

// ---- printf

struct printer {
    struct warp *w;
    unsigned lane;
    uint64_t args; // generic address of the next argument
    uint64_t bad;  // the address that could not be read
    char *out;
    size_t length;
    int count;
};

static void append(struct printer *p, const char *text, size_t n)
{
    size_t room = LONGEST_OUTPUT - p->length;
    n = n < room ? n : room;
    memcpy(p->out + p->length, text, n);
    p->length += n;
}

static bool next_argument(struct printer *p, uint64_t bytes, uint64_t *value)
{
    p->args = (p->args + bytes - 1) & ~(bytes - 1);
    uint64_t host = lane_generic(p->w, p->lane, p->args, bytes, MEM_READ);
    if (!host) {
        p->bad = p->args;
        return false;
    }
    *value = 0;
    memcpy(value, mem_pointer(host), bytes);
    p->args += bytes;
    return true;
}

// A conversion is read from FORMAT behind the '%': flags, width, precision, length, letter.
struct conversion {
    char flags[8];
    long width, precision; // -1: none; -2: an argument
    unsigned bytes;
    char letter;
};

static const char *read_number(const char *at, long *out)
{
    if (*at == '*') {
        *out = -2;
        return at + 1;
    }
    long n = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        n = n < WIDEST ? n * 10 + (*at - '0') : n;
    *out = n < WIDEST ? n : WIDEST;
    return at;
}

static const char *read_conversion(const char *at, struct conversion *c)
{
    *c = (struct conversion){.width = -1, .precision = -1, .bytes = 4};
    for (size_t n = 0; *at && strchr("-+ #0", *at); at++)
        if (n + 1 < sizeof c->flags && !strchr(c->flags, *at))
            c->flags[n++] = *at;
    if (*at == '*' || (*at >= '0' && *at <= '9'))
        at = read_number(at, &c->width);
    if (*at == '.')
        at = read_number(at + 1, &c->precision);
    for (; *at && strchr("hljztL", *at); at++)
        if (*at != 'h' && *at != 'L')
            c->bytes = 8;
    c->letter = *at;
    return *at ? at + 1 : at;
}

static bool star(struct printer *p, long *n)
{
    uint64_t v;
    if (*n != -2)
        return true;
    if (!next_argument(p, 4, &v))
        return false;
    int32_t x = (int32_t)v;
    *n = x < 0 ? -1 : x > WIDEST ? WIDEST : x;
    return true;
}

static bool print_string(struct printer *p, const char *spec, const struct conversion *c,
                         uint64_t address)
{
    char text[LONGEST_STRING], out[LONGEST_STRING + WIDEST];
    (void)c;
    if (!read_string(p->w, p->lane, address, text, sizeof text)) {
        p->bad = address;
        return false;
    }
    int n = snprintf(out, sizeof out, spec, text);
    append(p, out, n < 0 ? 0 : (size_t)n < sizeof out ? (size_t)n : sizeof out - 1);
    return true;
}

static bool print_conversion(struct printer *p, struct conversion *c)
{
    char spec[64], out[1024 + WIDEST];
    uint64_t v = 0;
    if (!star(p, &c->width) || !star(p, &c->precision))
        return false;
    int n = snprintf(spec, sizeof spec, "%%%s", c->flags);
    if (c->width >= 0)
        n += snprintf(spec + n, sizeof spec - (size_t)n, "%ld", c->width);
    if (c->precision >= 0)
        n += snprintf(spec + n, sizeof spec - (size_t)n, ".%ld", c->precision);
    char *end = spec + n;
    if (c->letter == '%') {
        append(p, "%", 1);
        return true;
    }
    bool integer = c->letter && strchr("diouxX", c->letter);
    bool real = c->letter && strchr("eEfFgGaA", c->letter);
    bool pointer = c->letter == 'p' || c->letter == 's';
    if (!integer && !real && !pointer && c->letter != 'c') {
        append(p, spec, strlen(spec)); // unchanged, as the device does
        append(p, &c->letter, c->letter != 0);
        return true;
    }
    if (!next_argument(p, real || pointer ? 8 : c->letter == 'c' ? 4 : c->bytes, &v))
        return false;
    p->count++;
    if (p->length == LONGEST_OUTPUT) // the output is full
        return true;
    snprintf(end, 8, "%s%c", integer && c->bytes == 8 ? "ll" : "", c->letter);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (c->letter == 's')
        return print_string(p, spec, c, v);
    if (real)
        n = snprintf(out, sizeof out, spec, f64_from(v));
    else if (c->letter == 'p')
        n = snprintf(out, sizeof out, spec, (void *)(uintptr_t)v);
    else if (integer && c->bytes == 8)
        n = snprintf(out, sizeof out, spec, (long long)v);
    else
        n = snprintf(out, sizeof out, spec, (int)(uint32_t)v);
#pragma GCC diagnostic pop
    append(p, out, n < 0 ? 0 : (size_t)n < sizeof out ? (size_t)n : sizeof out - 1);
    return true;
}

static bool print_format(struct printer *p, const char *format)
{
    while (*format) {
        const char *percent = strchr(format, '%');
        size_t plain = percent ? (size_t)(percent - format) : strlen(format);
        struct conversion c;
        append(p, format, plain);
        if (!percent)
            return true;
        format = read_conversion(percent + 1, &c);
        if (!print_conversion(p, &c))
            return false;
    }
    return true;
}

// Charges the time for text: a turn that prints much runs fewer instructions.
static void charge(struct warp *w, size_t bytes)
{
    uint64_t steps = bytes / BYTES_PER_STEP;
    w->left -= steps < w->left ? steps : w->left;
}

static int op_vprintf(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct exec_device *device = w->block->grid->device;
    char format[LONGEST_FORMAT], out[LONGEST_OUTPUT];
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t at = argument64(w, in, l, 0);
        struct printer p = {.w = w, .lane = l, .args = argument64(w, in, l, 1), .out = out};
        if (!read_string(w, l, at, format, sizeof format))
            return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, at);
        if (!print_format(&p, format))
            return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, p.bad);
        charge(w, strlen(format) + p.length);
        if (device->print)
            device->print(device->context, out, p.length);
        give(w, in, l, &p.count, sizeof p.count);
    }
    return STEP_NEXT;
}

// ---- The heap

static int op_malloc(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct exec_device *device = w->block->grid->device;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t size = argument64(w, in, l, 0);
        uint64_t address = device->allocate ? device->allocate(device->context, size) : 0;
        give(w, in, l, &address, sizeof address);
    }
    return STEP_NEXT;
}

static int op_free(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct exec_device *device = w->block->grid->device;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        uint64_t address = argument64(w, in, l, 0);
        if (address && (!device->release || !device->release(device->context, address)))
            return warp_fault(w, in, 1u << l, EXEC_FAULT_ILLEGAL_ADDRESS, address);
    }
    return STEP_NEXT;
}

// ---- assert

static int op_assertfail(struct warp *w, const struct insn *in, uint32_t mask)
{
    const struct exec_device *device = w->block->grid->device;
    const struct exec_block *b = w->block;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned l = (unsigned)__builtin_ctz(rest);
        char text[256] = "?", file[512] = "?", function[256] = "?", out[1280];
        read_string(w, l, argument64(w, in, l, 0), text, sizeof text);
        read_string(w, l, argument64(w, in, l, 1), file, sizeof file);
        read_string(w, l, argument64(w, in, l, 3), function, sizeof function);
        int n =
            snprintf(out, sizeof out,
                     "%s:%" PRIu32 ": %s: block: [%" PRIu32 ",%" PRIu32 ",%" PRIu32
                     "], thread: [%" PRIu32 ",%" PRIu32 ",%" PRIu32 "] Assertion `%s` failed.\n",
                     file, argument32(w, in, l, 2), function, b->index[0], b->index[1], b->index[2],
                     w->tid[0][l], w->tid[1][l], w->tid[2][l], text);
        if (device->print && n > 0)
            device->print(device->context, out,
                          (size_t)n < sizeof out ? (size_t)n : sizeof out - 1);
    }
    return warp_fault(w, in, mask, EXEC_FAULT_ASSERT, 0);
}

const struct builtin *builtin_find(const char *name)
{
    static const struct builtin all[] = {
        {"vprintf", op_vprintf, 2, {8, 8}, 4},
        {"malloc", op_malloc, 1, {8}, 8},
        {"free", op_free, 1, {8}, 0},
        {"__assertfail", op_assertfail, 5, {8, 8, 4, 8, 8}, 0},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (!strcmp(all[i].name, name))
            return &all[i];
    return NULL;
}
