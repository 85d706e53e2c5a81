// Texels and what a texture makes of them, bit for bit as an H200 does: see "Textures" in
// doc/softcuda.md for the evidence.
#include "softcuda/texture/texel.h"

#include <math.h>
#include <string.h>

#include "softcuda/device/num.h"

// ---- Layout

enum { PITCH = 64 }; // rows begin at a cache line

// No product passes 64 bits: 2^17 texels of 16 bytes, 2^16 rows, 2^15 slices.
void image_lay_out(struct image *m)
{
    m->pitch = ((uint64_t)m->width * m->texel_bytes + PITCH - 1) & ~(uint64_t)(PITCH - 1);
    m->slice = m->pitch * m->height;
    m->bytes = m->slice * m->depth;
}

static uint32_t halved(uint32_t side)
{
    return side > 1 ? side / 2 : 1;
}

struct image image_level(const struct image *m, unsigned level)
{
    struct image l = *m;

    l.levels = 1;
    image_lay_out(&l);
    for (; level; level--) {
        l.address += l.bytes;
        l.width = halved(l.width);
        l.height = halved(l.height);
        if (l.dims == 3)
            l.depth = halved(l.depth);
        image_lay_out(&l);
    }
    return l;
}

// ---- Channels

static uint32_t channel_bits(CUarray_format format, const uint8_t *at)
{
    uint16_t half;
    uint32_t word;

    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return *at;
    case CU_AD_FORMAT_SIGNED_INT8:
        return (uint32_t)(int32_t)(int8_t)*at;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        memcpy(&half, at, sizeof half);
        return format == CU_AD_FORMAT_HALF           ? f32_bits(f16_to_f32(half))
               : format == CU_AD_FORMAT_SIGNED_INT16 ? (uint32_t)(int32_t)(int16_t)half
                                                     : half;
    default:
        memcpy(&word, at, sizeof word);
        return word;
    }
}

void texel_bits(const struct image *m, const uint8_t *at, uint32_t bits[4])
{
    for (unsigned c = 0; c < 4; c++)
        bits[c] = c < m->channels ? channel_bits(m->format, at + c * m->channel_bytes) : 0;
}

// ---- sRGB

// The values to which an H200 decodes the 256 codes, as halves.
static const uint16_t srgb_halves[256] = {
    0x0000, 0x0d00, 0x1100, 0x1380, 0x1500, 0x1640, 0x1780, 0x1860, 0x1900, 0x19a0, 0x1a40, 0x1ae0,
    0x1b80, 0x1c20, 0x1c80, 0x1ce0, 0x1d50, 0x1dc0, 0x1e30, 0x1eb0, 0x1f30, 0x1fb0, 0x2018, 0x2060,
    0x20b0, 0x20f8, 0x2148, 0x21a0, 0x21f0, 0x2248, 0x22a8, 0x2300, 0x2360, 0x23d0, 0x2418, 0x2450,
    0x2488, 0x24c0, 0x24f8, 0x2530, 0x2570, 0x25b0, 0x25f0, 0x2630, 0x2670, 0x26b8, 0x2700, 0x2748,
    0x2790, 0x27e0, 0x2818, 0x2840, 0x2868, 0x2890, 0x28b8, 0x28e0, 0x2910, 0x2940, 0x2968, 0x2998,
    0x29c8, 0x29f8, 0x2a28, 0x2a60, 0x2a90, 0x2ac0, 0x2b00, 0x2b30, 0x2b60, 0x2ba0, 0x2bd0, 0x2c08,
    0x2c28, 0x2c40, 0x2c60, 0x2c80, 0x2ca0, 0x2cc0, 0x2ce0, 0x2d00, 0x2d20, 0x2d48, 0x2d68, 0x2d88,
    0x2db0, 0x2dd0, 0x2df8, 0x2e18, 0x2e40, 0x2e68, 0x2e88, 0x2eb0, 0x2ed8, 0x2f00, 0x2f28, 0x2f50,
    0x2f80, 0x2fa0, 0x2fd0, 0x3000, 0x3010, 0x3028, 0x3040, 0x3058, 0x3070, 0x3088, 0x30a0, 0x30b8,
    0x30d0, 0x30e8, 0x3100, 0x3118, 0x3130, 0x3148, 0x3160, 0x3180, 0x3198, 0x31b0, 0x31d0, 0x31e8,
    0x3200, 0x3220, 0x3238, 0x3258, 0x3270, 0x3290, 0x32b0, 0x32c8, 0x32e8, 0x3308, 0x3328, 0x3340,
    0x3360, 0x3380, 0x33a0, 0x33c0, 0x33e0, 0x3400, 0x3410, 0x3420, 0x3430, 0x3440, 0x3450, 0x3468,
    0x3478, 0x3488, 0x3498, 0x34a8, 0x34c0, 0x34d0, 0x34e0, 0x34f0, 0x3508, 0x3518, 0x3528, 0x3540,
    0x3550, 0x3568, 0x3578, 0x3590, 0x35a0, 0x35b0, 0x35c8, 0x35e0, 0x35f0, 0x3608, 0x3618, 0x3630,
    0x3640, 0x3658, 0x3670, 0x3688, 0x3698, 0x36b0, 0x36c8, 0x36d8, 0x36f0, 0x3708, 0x3720, 0x3738,
    0x3750, 0x3768, 0x3780, 0x3790, 0x37b0, 0x37c0, 0x37e0, 0x37f0, 0x3808, 0x3810, 0x3820, 0x3828,
    0x3838, 0x3848, 0x3850, 0x3860, 0x3868, 0x3878, 0x3888, 0x3890, 0x38a0, 0x38b0, 0x38b8, 0x38c8,
    0x38d8, 0x38e0, 0x38f0, 0x3900, 0x3908, 0x3918, 0x3928, 0x3938, 0x3948, 0x3950, 0x3960, 0x3970,
    0x3980, 0x3990, 0x3998, 0x39a8, 0x39b8, 0x39c8, 0x39d8, 0x39e8, 0x39f8, 0x3a08, 0x3a18, 0x3a28,
    0x3a38, 0x3a48, 0x3a58, 0x3a68, 0x3a78, 0x3a88, 0x3a98, 0x3aa8, 0x3ab8, 0x3ac8, 0x3ad8, 0x3ae8,
    0x3af8, 0x3b08, 0x3b18, 0x3b28, 0x3b40, 0x3b50, 0x3b60, 0x3b70, 0x3b80, 0x3b90, 0x3ba0, 0x3bb0,
    0x3bd0, 0x3be0, 0x3bf0, 0x3c00,
};

// sRGB decodes red, green and blue. Of two channels the second is none of these, nor is the fourth.
static bool is_decoded(const struct texture *t, unsigned c)
{
    return t->srgb && c < (t->image.channels == 4 ? 3 : 1);
}

static uint32_t srgb_bits(uint32_t v)
{
    return f32_bits(f16_to_f32(srgb_halves[v & 255]));
}

static uint32_t srgb_encoded(double x)
{
    x = x > 1 ? 1 : x > 0 ? x : 0;
    x = x <= 0.0031308 ? 12.92 * x : 1.055 * pow(x, 1 / 2.4) - 0.055;
    return (uint32_t)(255 * x + 0.5);
}

// ---- Single texels

static float fraction(int32_t v, int32_t largest)
{
    return v < -largest ? -1 : (float)v / (float)largest;
}

// The largest value of an integer that is read as a fraction of that value.
static int32_t largest(const struct texture *t)
{
    bool wide = t->image.channel_bytes == 2;

    return t->reading == READ_SIGNED ? (wide ? 32767 : 127) : (wide ? 65535 : 255);
}

uint32_t texel_value(const struct texture *t, unsigned c, uint32_t bits)
{
    if (t->reading == READ_BITS || t->reading == READ_FLOAT)
        return bits;
    return is_decoded(t, c) ? srgb_bits(bits) : f32_bits(fraction((int32_t)bits, largest(t)));
}

// ---- Means of integers

// Fractions have 16 bits, of which the largest value is one. A half is rounded up.
static uint32_t integer_mean(const struct texture *t, int64_t weighed)
{
    int32_t sum = (int32_t)weighed;

    if (t->image.channel_bytes == 4) // rounded down
        return (uint32_t)(weighed >> 8);
    if (t->reading == READ_BITS)
        return (uint32_t)((weighed + 128) >> 8);
    if (t->image.channel_bytes == 2)
        return f32_bits(fraction((sum + 128) >> 8, largest(t)));
    if (t->reading == READ_UNSIGNED) // 255 * 256 becomes 65535
        return f32_bits(fraction(sum + ((sum + 128) >> 8), 65535));
    // 127 * 256 becomes 32767: 1/128 more, and 1/32768 more in steps of an eighth.
    return f32_bits(fraction(sum + ((sum + 64 + (sum >> 12) * 16) >> 7), 32767));
}

// ---- Means of floats

// Rounds to BITS significant bits, halves away from 0.
static float rounded(double x, int bits)
{
    uint64_t b;

    memcpy(&b, &x, sizeof b);
    b += 1ull << (52 - bits);
    b &= ~((1ull << (53 - bits)) - 1);
    memcpy(&x, &b, sizeof x);
    return (float)x;
}

static uint32_t half_mean(double x)
{
    double magnitude = fabs(x);

    if (isnan(x))
        return f32_bits(f16_to_f32(0x7fff));
    if (magnitude < 0x1p-14) // subnormal
        return f32_bits((float)copysign(floor(magnitude * 0x1p24 + 0.5) * 0x1p-24, x));
    return f32_bits(rounded(x, 11));
}

static uint32_t float_mean(double x)
{
    if (isnan(x))
        return 0x7fffffff;
    if (fabs(x) < 0x1p-126 - 0x1p-151) // results are flushed to 0, as operands are
        return f32_bits(copysignf(0, (float)x));
    return f32_bits(rounded(x, 24));
}

// Numbers to be summed, each with the exponent that it counts with.
struct addends {
    uint32_t bits[MOST_TEXELS];
    int exponents[MOST_TEXELS];
    int least;   // a smaller exponent counts as this
    int missing; // bits of a float's fraction that they lack; below 0, how many they have more
};

static int exponent_of(uint32_t bits)
{
    return (int)(bits >> 23 & 255);
}

// Floats and halves have four bits more than their own; what sRGB decodes to has its own eight, and
// eight neighbours share the exponent of the last.
static struct addends addends_of(const struct texture *t, unsigned c, const struct footprint *f)
{
    bool half = t->image.channel_bytes == 2;
    struct addends a = {.least = half ? 127 - 14 : 1, .missing = half ? 13 - 4 : -4};

    if (is_decoded(t, c))
        a.missing = 23 - 7;
    for (unsigned k = 0; f->used >> k; k++) {
        uint32_t b = f->bits[k][c];

        if (!(f->used >> k & 1))
            continue;
        a.bits[k] = texel_value(t, c, b);
        a.exponents[k] = exponent_of(is_decoded(t, c) ? srgb_bits(b | 7) : b);
    }
    return a;
}

// Finds the largest exponent of those of the slice from FIRST on that weigh something.
static int top_exponent(const struct addends *a, unsigned first, const struct footprint *f)
{
    int top = a->least;

    for (unsigned k = first; k < first + 4; k++)
        if (f->used >> k & 1 && f->weights[k] && a->exponents[k] > top)
            top = a->exponents[k];
    return top;
}

// Sums the slice's texels times their weights. Addends are aligned to the exponent TOP; their
// bits below its last place are cut off.
static double slice_sum(const struct addends *a, unsigned first, int top, const struct footprint *f)
{
    double sum = -0.0;

    for (unsigned k = first; k < first + 4; k++) {
        if (!(f->used >> k & 1))
            continue;
        uint32_t b = a->bits[k];
        int e = exponent_of(b), cut = top - e + a->missing;

        if (!e || (cut > 23 && e < 255))
            b &= 0x80000000;
        else if (cut > 0 && e < 255)
            b &= ~0u << cut;
        sum += f->weights[k] * (double)f32_from(b);
    }
    return sum;
}

// Two slices' sums are aligned to the larger of their exponents, and rounded down to half an
// addend's last place.
static double float_sum(const struct addends *a, const struct footprint *f)
{
    int near = top_exponent(a, 0, f), far, top;
    double sum = slice_sum(a, 0, near, f), unit;

    if (!(f->used >> 4))
        return sum;
    far = top_exponent(a, 4, f);
    top = near > far ? near : far;
    unit = ldexp(0.5, top - 127 - (23 - a->missing));
    return (floor(sum / unit) + floor(slice_sum(a, 4, far, f) / unit)) * unit;
}

uint32_t texel_mean(const struct texture *t, unsigned c, const struct footprint *f)
{
    bool is_unsigned = t->image.format == CU_AD_FORMAT_UNSIGNED_INT32;
    int64_t whole = 0;

    if (t->reading == READ_FLOAT || is_decoded(t, c)) {
        struct addends a = addends_of(t, c, f);
        double sum = float_sum(&a, f);

        return a.missing < 0 ? float_mean(sum / 256) : half_mean(sum / 256);
    }
    for (unsigned k = 0; f->used >> k; k++)
        if (f->used >> k & 1)
            whole +=
                f->weights[k] * (is_unsigned ? (int64_t)f->bits[k][c] : (int32_t)f->bits[k][c]);
    return integer_mean(t, whole);
}

// ---- Two levels

uint32_t texel_mix(const struct texture *t, unsigned c, uint32_t first, uint32_t second,
                   unsigned weight)
{
    bool is_unsigned = t->image.format == CU_AD_FORMAT_UNSIGNED_INT32;

    if (weight == 0 || c >= t->image.channels)
        return first;
    if (t->reading == READ_BITS) {
        int64_t a = is_unsigned ? (int64_t)first : (int32_t)first;
        int64_t b = is_unsigned ? (int64_t)second : (int32_t)second;

        return integer_mean(t, a * (256 - weight) + b * weight);
    }
    return float_mean(
        ((double)f32_from(first) * (256 - weight) + (double)f32_from(second) * weight) / 256);
}

// ---- Borders

// Four bits more than the texel has are looked at; a half is rounded down.
static uint32_t border_fraction(const struct texture *t, float colour)
{
    unsigned looked_at = 8u * t->image.channel_bytes + 4;
    double x = (double)fabsf(colour);
    bool negative = colour < 0;
    int64_t fixed, v;

    if (isnan(colour) || (negative && t->reading == READ_UNSIGNED))
        return 0;
    fixed = (int64_t)ldexp(x < 1 ? x : 1, (int)looked_at);
    v = (fixed * largest(t) + (1ll << (looked_at - 1)) - 1) >> looked_at;
    return (uint32_t)(negative ? -v : v);
}

// Halves are cut off, and finite ones stay finite.
static uint32_t border_half(float colour)
{
    uint32_t b = f32_bits(colour);
    float magnitude = fabsf(colour);

    if (magnitude > 65504 && !isinf(colour))
        return (b & 0x80000000) | 0x477fe000;
    if (magnitude < 0x1p-14f)
        return f32_bits(copysignf(floorf(magnitude * 0x1p24f) * 0x1p-24f, colour));
    return b & 0xffffe000;
}

uint32_t texel_border(const struct texture *t, unsigned c, float colour)
{
    uint32_t bits = f32_bits(colour);

    if (is_decoded(t, c))
        return srgb_encoded((double)colour);
    if (t->reading == READ_UNSIGNED || t->reading == READ_SIGNED)
        return border_fraction(t, colour);
    if (t->image.format == CU_AD_FORMAT_HALF)
        return border_half(colour);
    return channel_bits(t->image.format, (const uint8_t *)&bits); // what a texel has room for
}
