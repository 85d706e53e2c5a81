/*
 * print_ring.h - the print block and the grammar of a printf format. The print block is host memory
 * with a ring of records, through which the output of a kernel's printf and assert reaches the
 * tenant.
 *
 * Both sides compile this file, so that they never disagree: the functions that run on the device
 * (ptx/rewrite/print_device.cu, CUDA C++) and the client that prints (client/print/). The file
 * therefore includes nothing and uses plain types. doc/protocol.md draws the layout.
 *
 *   device threads   reserve room with one atomic addition, write a record, then its stamp
 *   client           prints the records whose stamp is written, clears them, advances `taken`
 *
 * The head also has room for fault notes (fault_note.h).
 *
 * Trust: the worker never reads the ring. The device masks every offset that it writes to, so the
 * device writes inside the block whatever the tenant stores there. The client checks every length
 * in a record.
 */
#ifndef GS_COMMON_PRINT_RING_H
#define GS_COMMON_PRINT_RING_H

#ifdef __CUDA__
#define PRINT_BOTH static __attribute__((device)) inline
#else
#define PRINT_BOTH static inline
#endif

/* ---- The block ------------------------------------------------------------------------------- */

/* Byte offsets of the 64-bit words. The device's and the client's words are on different cache
 * lines. */
#define PRINT_AT_RESERVED 0u    /* device: all bytes reserved so far */
#define PRINT_AT_DROPPED  8u    /* device: reserved bytes that no record will be written to */
#define PRINT_AT_LOST     16u   /* device: messages that found no room */
#define PRINT_AT_TAKEN    1024u /* client: bytes up to this + PRINT_RING_BYTES may be reserved */
#define PRINT_AT_RING     4096u

#define PRINT_RING_BYTES  (1u << 20) /* a power of two; unused bytes are zero */
#define PRINT_BLOCK_BYTES (PRINT_AT_RING + PRINT_RING_BYTES)

/* ---- A record: 64-bit words at its reserved position, modulo PRINT_RING_BYTES -------------------
 *   0  stamp: position ^ PRINT_STAMP, written last; position ^ PRINT_STAMP_TAKEN once printed
 *   1  bytes of the whole record | kind << 32 | arguments << 48
 *   2  bytes of the format; PRINT_ASSERT: the line number
 * PRINT_FORMAT: the format's text, then the arguments. A number is one word; a number of 4 bytes
 * leaves the high bits 0. A string is a word with its length, or PRINT_NULL, and its text.
 * PRINT_ASSERT: block x | y << 32, block z | thread x << 32, thread y | z << 32; then the strings
 * assertion, file, function. Text is padded with zeros to whole words. */
#define PRINT_STAMP       0x9e3779b97f4a7c15ull
#define PRINT_STAMP_TAKEN 0xc2b2ae3d27d4eb4full
#define PRINT_HEAD_BYTES  24u
#define PRINT_FORMAT      1u
#define PRINT_ASSERT      2u
#define PRINT_NULL        0xffffffffffffffffull
#define PRINT_ARGS_MAX    32u    /* CUDA's limit; a further conversion is printed as written */
#define PRINT_TEXT_MAX    16384u /* a longer format or string is cut */
#define PRINT_RECORD_MAX                                                                           \
    (PRINT_HEAD_BYTES + PRINT_TEXT_MAX + PRINT_ARGS_MAX * (8u + PRINT_TEXT_MAX))
#define PRINT_ASSERT_BYTES 24u /* the three words of coordinates */

#ifndef __cplusplus
_Static_assert(PRINT_AT_RING + PRINT_RING_BYTES == PRINT_BLOCK_BYTES &&
                   PRINT_BLOCK_BYTES == 1052672,
               "the block");
_Static_assert((PRINT_RING_BYTES & (PRINT_RING_BYTES - 1)) == 0 && PRINT_RECORD_MAX == 540952 &&
                   PRINT_RECORD_MAX <= PRINT_RING_BYTES,
               "a record");
#endif

#define PRINT_PADDED(bytes) (((bytes) + 7u) / 8u * 8u)

/* ---- A format's conversions: CUDA's, and C's other length modifiers ------------------------- */

#define PRINT_FLAG_LEFT  1u
#define PRINT_FLAG_PLUS  2u
#define PRINT_FLAG_SPACE 4u
#define PRINT_FLAG_ALT   8u
#define PRINT_FLAG_ZERO  16u

#define PRINT_NOT_GIVEN (-1) /* width, precision */
#define PRINT_GIVEN_BY  (-2) /* '*': an argument of 4 bytes gives it */
#define PRINT_WIDTH_MAX 4096 /* larger values count as this */

struct print_conversion {
    unsigned flags;
    int width, precision;
    char letter;          /* '%' takes no argument; 0: no valid conversion, whose text is printed
                             as written */
    unsigned char bytes;  /* of the value: 4 or 8 */
    unsigned char halves; /* h: 1, hh: 2 */
    unsigned char args;   /* the number of arguments, with those for '*' */
};

PRINT_BOTH unsigned print_flag(char letter)
{
    switch (letter) {
    case '-':
        return PRINT_FLAG_LEFT;
    case '+':
        return PRINT_FLAG_PLUS;
    case ' ':
        return PRINT_FLAG_SPACE;
    case '#':
        return PRINT_FLAG_ALT;
    case '0':
        return PRINT_FLAG_ZERO;
    default:
        return 0;
    }
}

/* Reads a width or precision at AT: digits or '*'. Returns the end of it. */
PRINT_BOTH const char *print_scan_number(const char *at, const char *end, int *number)
{
    if (at < end && *at == '*') {
        *number = PRINT_GIVEN_BY;
        return at + 1;
    }
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        *number = *number < PRINT_WIDTH_MAX ? *number * 10 + (*at - '0') : PRINT_WIDTH_MAX;
    if (*number > PRINT_WIDTH_MAX)
        *number = PRINT_WIDTH_MAX;
    return at;
}

/* Returns the bytes of a conversion's value; LONGER: it has a length modifier. 0: there is no such
 * conversion. */
PRINT_BOTH unsigned char print_value_bytes(char letter, int longer)
{
    switch (letter) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
        return longer ? 8 : 4;
    case 'c':
        return 4;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
    case 'p':
    case 's':
        return 8;
    default:
        return 0;
    }
}

/* Reads the conversion whose '%' stands before AT. Returns the end of the conversion. */
PRINT_BOTH const char *print_scan(const char *at, const char *end, struct print_conversion *c)
{
    int longer = 0;

    c->flags = 0;
    c->width = c->precision = PRINT_NOT_GIVEN;
    c->letter = 0;
    c->bytes = c->halves = c->args = 0;
    for (; at < end && print_flag(*at); at++)
        c->flags |= print_flag(*at);
    if (at < end && (*at == '*' || (*at >= '1' && *at <= '9'))) {
        c->width = 0;
        at = print_scan_number(at, end, &c->width);
    }
    if (at < end && *at == '.') {
        c->precision = 0;
        at = print_scan_number(at + 1, end, &c->precision);
    }
    for (; at < end; at++) {
        if (*at == 'h')
            c->halves = c->halves ? 2 : 1;
        else if (*at == 'l' || *at == 'L' || *at == 'j' || *at == 'z' || *at == 't')
            longer = 1;
        else
            break;
    }
    if (at == end)
        return end;
    if (*at == '%') {
        c->letter = '%';
        return at + 1;
    }
    c->bytes = print_value_bytes(*at, longer);
    if (c->bytes) {
        c->letter = *at;
        c->args =
            (unsigned char)(1 + (c->width == PRINT_GIVEN_BY) + (c->precision == PRINT_GIVEN_BY));
    }
    return at + 1;
}

#endif
