// Sampling textures, after the formulas of the CUDA C++ Programming Guide ("Texture Fetching").
// Coordinates become texel indices in double precision, which holds them exactly; the weights of
// linear filtering have the 8 bits of fraction that the hardware's have.
#include "softcuda/interp_sample.h"

#include <math.h>
#include <string.h>

#include "softcuda/interp_num.h"

// ---- Texels

static bool is_float(const struct texture *t)
{
    return t->promote || t->image.format == CU_AD_FORMAT_HALF ||
           t->image.format == CU_AD_FORMAT_FLOAT;
}

// One channel, extended to 32 bits; a half float as a float's bits.
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

// An integer as a fraction of its largest value.
static float promoted(CUarray_format format, uint32_t bits)
{
    int32_t v = (int32_t)bits;

    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return (float)v / 255;
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return (float)v / 65535;
    case CU_AD_FORMAT_SIGNED_INT8:
        return v < -127 ? -1 : (float)v / 127;
    default:
        return v < -32767 ? -1 : (float)v / 32767;
    }
}

static float srgb_decoded(float x)
{
    return x <= 0.04045f ? x / 12.92f : powf((x + 0.055f) / 1.055f, 2.4f);
}

static void texel_read(const struct texture *t, const uint8_t *at, uint32_t out[4])
{
    const struct image *m = &t->image;
    unsigned bytes = m->channel_bytes;

    out[0] = out[1] = out[2] = 0;
    out[3] = is_float(t) ? f32_bits(1) : 1;
    for (unsigned c = 0; c < m->channels; c++) {
        out[c] = channel_bits(m->format, at + c * bytes);
        if (!t->promote)
            continue;
        float x = promoted(m->format, out[c]);
        out[c] = f32_bits(t->srgb && c < 3 ? srgb_decoded(x) : x);
    }
}

// ---- Indices

enum { OUTSIDE = -1 };

// A floor for magnitudes below 2^63, without a call of the C library.
static int64_t floored(double v)
{
    int64_t i = (int64_t)v;

    return i - (v < (double)i);
}

static int64_t floor_modulo(int64_t i, int64_t n)
{
    int64_t r = i % n;

    return r < 0 ? r + n : r;
}

static int64_t index_in(CUaddress_mode mode, int64_t i, uint32_t n)
{
    switch (mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
        return floor_modulo(i, n);
    case CU_TR_ADDRESS_MODE_MIRROR:
        i = floor_modulo(i, 2 * (int64_t)n);
        return i < n ? i : 2 * (int64_t)n - 1 - i;
    case CU_TR_ADDRESS_MODE_BORDER:
        return i < 0 || i >= n ? OUTSIDE : i;
    default:
        return i < 0 ? 0 : i >= n ? (int64_t)n - 1 : i;
    }
}

static uint32_t extent(const struct image *m, unsigned dim)
{
    return dim == 0 ? m->width : dim == 1 ? m->height : m->layered || m->cube ? 1 : m->depth;
}

// The texel at TO, each index inside; NULL where one is OUTSIDE.
static const uint8_t *texel_at(const struct image *m, const int64_t to[3], uint32_t layer)
{
    uint64_t z = (uint64_t)to[2];

    if (to[0] == OUTSIDE || to[1] == OUTSIDE || to[2] == OUTSIDE)
        return NULL;
    if (m->layered || m->cube)
        z = layer < m->depth ? layer : m->depth - 1;
    return (const uint8_t *)(uintptr_t)(m->address + z * m->slice + (uint64_t)to[1] * m->pitch +
                                        (uint64_t)to[0] * m->texel_bytes);
}

static void texel_or_border(const struct texture *t, const int64_t to[3], uint32_t layer,
                            uint32_t out[4])
{
    const uint8_t *at = texel_at(&t->image, to, layer);

    if (at)
        texel_read(t, at, out);
    else
        memcpy(out, t->border, sizeof t->border);
}

// A coordinate in texels. No number is the first texel, and what is far outside stays outside.
static double scaled(const struct texture *t, float x, uint32_t n)
{
    static const double far = 1e15; // 256 times this fits 64 bits
    double v = t->normalized ? (double)x * n : (double)x;

    return !(v == v) ? 0 : v < -far ? -far : v > far ? far : v;
}

// ---- Samples

static void sample_nearest(const struct texture *t, const struct place *p, uint32_t out[4])
{
    int64_t to[3] = {0};

    for (unsigned d = 0; d < p->dims; d++) {
        uint32_t n = extent(&t->image, d);

        to[d] = index_in(t->address[d], floored(scaled(t, p->at[d], n)), n);
    }
    texel_or_border(t, to, p->layer, out);
}

// The two texels on each side of a coordinate, and the weight of the second in 256ths.
static void neighbours(const struct texture *t, const struct place *p, int64_t to[3][2],
                       unsigned weight[3])
{
    for (unsigned d = 0; d < 3; d++) {
        to[d][0] = to[d][1] = 0;
        weight[d] = 0;
        if (d >= p->dims)
            continue;
        uint32_t n = extent(&t->image, d);
        int64_t fixed = floored((scaled(t, p->at[d], n) - 0.5) * 256 + 0.5);
        int64_t first = fixed >> 8;

        weight[d] = (unsigned)(fixed & 255);
        to[d][0] = index_in(t->address[d], first, n);
        to[d][1] = index_in(t->address[d], first + 1, n);
    }
}

static void sample_linear(const struct texture *t, const struct place *p, uint32_t out[4])
{
    int64_t to[3][2];
    unsigned weight[3];
    double sum[4] = {0};

    neighbours(t, p, to, weight);
    for (unsigned corner = 0; corner < 1u << p->dims; corner++) {
        int64_t at[3];
        uint32_t texel[4];
        double w = 1;

        for (unsigned d = 0; d < 3; d++) {
            unsigned side = corner >> d & 1;

            at[d] = to[d][side];
            if (d < p->dims)
                w *= (side ? weight[d] : 256 - weight[d]) / 256.0;
        }
        if (w == 0) // and need not be read
            continue;
        texel_or_border(t, at, p->layer, texel);
        for (unsigned c = 0; c < 4; c++)
            sum[c] += w * (double)f32_from(texel[c]);
    }
    for (unsigned c = 0; c < 4; c++)
        out[c] = f32_bits((float)sum[c]);
}

void sample_nearest_or_linear(const struct texture *t, const struct place *p, uint32_t out[4])
{
    if (t->linear)
        sample_linear(t, p, out);
    else
        sample_nearest(t, p, out);
}

void sample_fetch(const struct texture *t, const struct place *p, uint32_t out[4])
{
    int64_t to[3] = {0};
    const uint8_t *at;

    for (unsigned d = 0; d < p->dims; d++)
        to[d] = index_in(CU_TR_ADDRESS_MODE_BORDER, p->to[d], extent(&t->image, d));
    at = texel_at(&t->image, to, p->layer);
    if (at)
        texel_read(t, at, out);
    else
        memset(out, 0, 4 * sizeof *out);
}

void sample_gather(const struct texture *t, const struct place *p, unsigned channel,
                   uint32_t out[4])
{
    static const uint8_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int64_t to[3][2];
    unsigned weight[3];

    neighbours(t, p, to, weight);
    for (unsigned k = 0; k < 4; k++) {
        int64_t at[3] = {to[0][corners[k][0]], to[1][corners[k][1]], 0};
        uint32_t texel[4];

        texel_or_border(t, at, p->layer, texel);
        out[k] = texel[channel];
    }
}

// ---- Cubes

// The coordinate of largest magnitude chooses the face: +x, -x, +y, -y, +z, -z.
struct place sample_cube_place(const float at[3])
{
    float x = at[0], y = at[1], z = at[2], ax = fabsf(x), ay = fabsf(y), az = fabsf(z);
    struct place p = {.dims = 2};
    float s, t, m;

    if (ax >= ay && ax >= az) {
        p.layer = x >= 0 ? 0 : 1;
        m = ax;
        s = x >= 0 ? -z : z;
        t = -y;
    } else if (ay >= az) {
        p.layer = y >= 0 ? 2 : 3;
        m = ay;
        s = x;
        t = y >= 0 ? z : -z;
    } else {
        p.layer = z >= 0 ? 4 : 5;
        m = az;
        s = z >= 0 ? x : -x;
        t = -y;
    }
    p.at[0] = (s / m + 1) / 2;
    p.at[1] = (t / m + 1) / 2;
    return p;
}
