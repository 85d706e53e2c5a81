/*
 * print_ring.h - what a kernel's printf and assert leave for the tenant: a block of host memory
 * with a ring of records, and the grammar of a format.
 *
 * Read by both sides, so that they never disagree: by the functions that run on the device
 * (ptx/print_device.cu, CUDA C++) and by the client that prints (client/print/). So it includes
 * nothing and uses plain types. doc/protocol.md draws it.
 *
 *   device threads   reserve room with one atomic addition, write a record, then its stamp
 *   client           prints the records whose stamp is there, clears them, moves `taken` on
 *
 * Trust: the worker never reads the block. The device masks every place it writes to, so whatever
 * the tenant does to its block, only the block is written. The client takes the records for bytes.
 */
#ifndef GS_COMMON_PRINT_RING_H
#define GS_COMMON_PRINT_RING_H

#ifdef __CUDA__
#define PRINT_BOTH static __attribute__((device)) inline
#else
#define PRINT_BOTH static inline
#endif

/* ---- The block ------------------------------------------------------------------------------- */

/* Byte offsets of its 64-bit words. The device's and the client's are in lines of their own. */
#define PRINT_AT_RESERVED 0u    /* device: bytes ever reserved */
#define PRINT_AT_DROPPED  8u    /* device: of those, bytes that no record is written to */
#define PRINT_AT_LOST     16u   /* device: messages that found no room */
#define PRINT_AT_TAKEN    1024u /* client: the ring is free for bytes up to it + PRINT_RING_BYTES */
#define PRINT_AT_RING     4096u

#define PRINT_RING_BYTES  (1u << 20) /* a power of two; where nothing is, zeros are */
#define PRINT_BLOCK_BYTES (PRINT_AT_RING + PRINT_RING_BYTES)

/* ---- A record: 64-bit words, wherever it was reserved, modulo PRINT_RING_BYTES ------------------
 *   0  stamp: its position ^ PRINT_STAMP, written last; ^ PRINT_STAMP_TAKEN: printed already
 *   1  bytes of the whole record | kind << 32 | arguments << 48
 *   2  bytes of the format; PRINT_ASSERT: the line
 * PRINT_FORMAT: the format's text, then an argument after the other. A number is one word, with its
 * high bits 0 where it has 4 bytes. A string is a word with its length, or PRINT_NULL, and its
 * text. PRINT_ASSERT: block x | y << 32, block z | thread x << 32, thread y | z << 32; then the
 * strings assertion, file, function. Text is padded with zeros to whole words. */
#define PRINT_STAMP       0x9e3779b97f4a7c15ull
#define PRINT_STAMP_TAKEN 0xc2b2ae3d27d4eb4full
#define PRINT_HEAD_BYTES  24u
#define PRINT_FORMAT      1u
#define PRINT_ASSERT      2u
#define PRINT_NULL        0xffffffffffffffffull
#define PRINT_ARGS_MAX    32u    /* CUDA's limit; a conversion beyond it is printed as written */
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

/* ---- A format's conversions: CUDA's, and the other lengths that C knows -------------------------
 */

#define PRINT_FLAG_LEFT  1u
#define PRINT_FLAG_PLUS  2u
#define PRINT_FLAG_SPACE 4u
#define PRINT_FLAG_ALT   8u
#define PRINT_FLAG_ZERO  16u

#define PRINT_NOT_GIVEN (-1) /* width, precision */
#define PRINT_GIVEN_BY  (-2) /* '*': an argument of 4 bytes says it */
#define PRINT_WIDTH_MAX 4096 /* larger ones count as this */

struct print_conversion {
    unsigned flags;
    int width, precision;
    char letter;          /* '%' takes no argument; 0: not a conversion, it stands for itself */
    unsigned char bytes;  /* of its value: 4 or 8 */
    unsigned char halves; /* h: 1, hh: 2 */
    unsigned char args;   /* how many arguments it takes, with those for '*' */
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

/* A width or precision at AT: digits or '*'. */
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

/* How many bytes the value of a conversion has that says LONGER or not; 0: no such conversion. */
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

/* Reads the conversion whose '%' stands before AT. Returns where the text goes on. */
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
