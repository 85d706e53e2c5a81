// What the instructions are given: a fixed sequence of edges (zeros, the largest, infinities, NaN,
// subnormals) and random bits for each type, so that nothing but the results need be kept.
#include "instructions.h"

#include <stdlib.h>
#include <string.h>

unsigned type_bits(const char *t)
{
    static const struct {
        const char *name;
        unsigned bits;
    } odd[] = {{"shift", 32},  {"lane", 32},     {"small", 32},     {"clamp", 32},
               {"angle", 32},  {"f16x2", 32},    {"bf16x2", 32},    {"bf16", 16},
               {"u8", 32},     {"s8", 32},       {"bool", 32},      {"special", 32},
               {"few16", 16},  {"few32", 32},    {"few64", 64},     {"unit32", 32},
               {"unit64", 64}, {"unit16x2", 32}, {"unitb16x2", 32}, {"unit8x4", 32},
               {"oob16", 16},  {"oob16x2", 32},  {"place", 32},     {"near", 32},
               {"texel", 32},  {"index", 32}};

    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++)
        if (!strcmp(odd[i].name, t))
            return odd[i].bits;
    return (unsigned)atoi(t + 1);
}

static uint64_t mix(uint64_t x)
{
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    x ^= x >> 33;
    x *= 0xc4ceb9fe1a85ec53ull;
    return x ^ x >> 33;
}

static uint64_t pick(const uint64_t *edges, size_t n, uint64_t random, unsigned i)
{
    return i % 4 != 3 ? edges[random % n] : mix(random + 77);
}

#define PICK(...)                                                                                  \
    pick((const uint64_t[]){__VA_ARGS__},                                                          \
         sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t), r, i)

static uint64_t bits_of(float x)
{
    uint32_t b;

    memcpy(&b, &x, 4);
    return b;
}

static uint64_t half_edge(uint64_t r, unsigned i)
{
    return PICK(0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x8400, 0x3c00, 0xbc00, 0x3bff, 0x3c01, 0x4248,
                0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x7c01, 0xfe55, 0x4000, 0x3800, 0x5640,
                0x6400) &
           0xffff;
}

static uint64_t brain_edge(uint64_t r, unsigned i)
{
    return PICK(0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x8080, 0x3f80, 0xbf80, 0x3f7f, 0x3f81, 0x4049,
                0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0x7f81, 0xffd5, 0x4000, 0x3f00, 0x42c8,
                0x4780) &
           0xffff;
}

/* Halves, of which some are the NaN of elements out of bounds. */
static uint64_t oob_edge(uint64_t r)
{
    return (uint64_t[]){0x7ff7, 0xfff7, 0x7ff6, 0x7fff, 0x7e00, 0x3c00, 0xbc00,
                        0x4248, 0x7c00, 0xfc00, 0,      0x8000, 0x0001, 0x3f80}[r % 14];
}

static uint64_t bits_of_double(double x)
{
    uint64_t b;

    memcpy(&b, &x, 8);
    return b;
}

/* A factor for matrices, of 8 significant bits and at most 2: sums of products stay exact in f64.
 */
static double unit(uint64_t r)
{
    return ((double)(r % 511) - 255) / (double)(128 << (r >> 20) % 4);
}

static uint64_t half_unit(uint64_t r)
{
    return r % 13 ? (r & 0x8000) | (11 + (r >> 16) % 5) << 10 | (r >> 24 & 0x3ff) : r & 0x8000;
}

/* Both kinds of eight bits with exponents near 1; no NaN among them. */
static uint64_t bytes_unit(uint64_t r)
{
    return (r & 0x87878787) | 0x30303030;
}

uint64_t operand(const char *t, unsigned k, unsigned i)
{
    uint64_t r = mix((uint64_t)i * 5 + k * 1000003 + 17);

    if (!strcmp(t, "bool"))
        return r & 1;
    if (!strncmp(t, "few", 3)) {
        uint64_t few = (uint64_t[]){0, 1, UINT64_MAX, 0x8000800080008000}[r % 4];
        return type_bits(t) == 64 ? few : few & ((1ull << type_bits(t)) - 1);
    }
    if (!strcmp(t, "special"))
        return (uint64_t[]){0,          0x80000000, 0x7f800000, 0xff800000,
                            0x7fc00000, 0x7f800001, 0xffc12345}[r % 7];
    if (!strcmp(t, "unit32"))
        return bits_of((float)unit(r));
    if (!strcmp(t, "unit64"))
        return bits_of_double(unit(r) + unit(mix(r)) / 1048576);
    if (!strcmp(t, "unit16x2"))
        return half_unit(r) | half_unit(mix(r)) << 16;
    if (!strcmp(t, "unitb16x2"))
        return bits_of((float)unit(r)) >> 16 | (bits_of((float)unit(mix(r))) & 0xffff0000);
    if (!strcmp(t, "oob16"))
        return oob_edge(r);
    if (!strcmp(t, "oob16x2"))
        return oob_edge(r) | oob_edge(mix(r)) << 16;
    if (!strcmp(t, "unit8x4"))
        return bytes_unit(r);

    /* Coordinates: in a 32nd's 256ths, between them, in a texel's 256ths, whole. */
    if (!strcmp(t, "place"))
        return bits_of((float)((int32_t)(r % 32768) - 8192) / 8192);
    if (!strcmp(t, "near"))
        return bits_of((float)((double)(r >> 11) * 0x1p-53 * 4 - 1));
    if (!strcmp(t, "texel"))
        return bits_of((float)((int32_t)(r % 10240) - 1280) / 256);
    if (!strcmp(t, "index"))
        return (uint32_t)(int32_t)(r % 70) - 5u;

    if (!strcmp(t, "shift"))
        return i % 5 == 4 ? PICK(32, 33, 63, 64, 65, 100, 255, 256, 0xffffffff, 0x80000000)
                          : r % 36;
    if (!strcmp(t, "lane"))
        return r % 32;
    if (!strcmp(t, "small"))
        return (uint32_t)(int32_t)(r % 9) - 4u;
    if (!strcmp(t, "clamp"))
        return (uint64_t[]){0x1f, 0, 0x181f, 0x1800, 0x1c1f, 0x1003, 7}[r % 7];
    if (!strcmp(t, "angle"))
        return bits_of((float)((double)(r >> 11) * 0x1p-53 * 6.28 - 3.14));
    if (!strcmp(t, "f16"))
        return half_edge(r, i);
    if (!strcmp(t, "bf16"))
        return brain_edge(r, i);
    if (!strcmp(t, "f16x2"))
        return half_edge(r, i) | half_edge(mix(r), i + 1) << 16;
    if (!strcmp(t, "bf16x2"))
        return brain_edge(r, i) | brain_edge(mix(r), i + 1) << 16;
    if (!strcmp(t, "f32")) {
        if (i % 8 == 6) /* ordinary numbers */
            return bits_of((float)((double)(r >> 11) * 0x1p-53 * 20 - 10));
        return PICK(0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x807fffff, 0x800000, 0x80800000,
                    0x3f800000, 0xbf800000, 0x3f7fffff, 0x3f800001, 0x40490fdb, 0x7f7fffff,
                    0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x7f800001, 0xffc12345,
                    0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0x3f000000,
                    0x3fc00000, 0x40200000, 0xc0200000, 0x477fe000, 0x477ff000, 0x33000000,
                    0x33800001, 0x387fc000) &
               0xffffffff;
    }
    if (!strcmp(t, "f64")) {
        if (i % 8 == 6)
            return bits_of_double((double)(r >> 11) * 0x1p-53 * 2000 - 1000);
        return PICK(0, 1ull << 63, 1, 0x8000000000000001, 0xfffffffffffff, 0x10000000000000,
                    0x3ff0000000000000, 0xbff0000000000000, 0x3fefffffffffffff, 0x3ff0000000000001,
                    0x400921fb54442d18, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
                    0xfff0000000000000, 0x7ff8000000000000, 0x7ff0000000000001, 0xfff8000012345678,
                    0x41dfffffffc00000, 0x41e0000000000000, 0xc1e0000000200000, 0x43e0000000000000,
                    0x43f0000000000000, 0x3fe0000000000000, 0x4004000000000000, 0x47efffffe0000000,
                    0x47efffffefffffff, 0x36a0000000000000, 0x380fffffc0000000, 0x40effc0000000000,
                    0x3e60000000000000);
    }
    unsigned bits = type_bits(t);
    uint64_t all = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
    if (t[1] == '8')
        all = 0xffffffff; /* what lies above the byte must not matter */
    return PICK(0, 1, 2, 3, UINT64_MAX, UINT64_MAX - 1, 1ull << (bits - 1),
                (1ull << (bits - 1)) - 1, (1ull << (bits - 1)) + 1, 0x7f, 0x80, 0xff, 0x100, 0x7fff,
                0x8000, 0xffff, 0x10000, 7, 10, 0x55555555, 0x12345678, 1ull << 31, 1ull << 32) &
           all;
}
