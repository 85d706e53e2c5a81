// Sampling textures: from coordinates to texels and their weights, as an H200 does it bit for bit:
// see "Textures" in doc/softcuda.md. Coordinates become texel indices in double precision, which
// holds them exactly. What a texel's bytes mean is in texture/texel.c.
#include "softcuda/interp/sample.h"

#include <math.h>
#include <string.h>

#include "softcuda/device/num.h"

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

// Texels repeat beyond the edge. One that is met on both sides of a point keeps both weights.
static bool repeats(CUaddress_mode mode)
{
    return mode == CU_TR_ADDRESS_MODE_WRAP || mode == CU_TR_ADDRESS_MODE_MIRROR;
}

static uint32_t extent(const struct image *m, unsigned dim)
{
    return dim == 0 ? m->width : dim == 1 ? m->height : m->layered || m->cube ? 1 : m->depth;
}

// Finds the texel at TO, each index inside; NULL where one is OUTSIDE.
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
                            uint32_t bits[4])
{
    const uint8_t *at = texel_at(&t->image, to, layer);

    if (at)
        texel_bits(&t->image, at, bits);
    else
        memcpy(bits, t->border, sizeof t->border);
}

// Converts a normalized coordinate to texels of an extent of N. What its fraction has beyond some
// bits is cut off before it is multiplied.
static double denormalized(double v, uint32_t n)
{
    double step = n <= 1u << 13 ? 0x1p21 : n <= 1u << 16 ? 0x1p22 : 0x1p23;

    return (double)floored(v * step) / step * n;
}

// Converts a coordinate to texels. NaNs and subnormals become 0. A coordinate far outside is cut to
// one that is outside by a whole even number of extents.
static double scaled(const struct texture *t, float x, uint32_t n)
{
    static const double far = 0x1p30;
    double v = (double)x;

    if (!(fabs(v) >= 0x1p-126))
        return 0;
    v = v < -far ? -far : v > far ? far : v;
    return t->normalized ? denormalized(v, n) : v;
}

// ---- Samples

static void sample_nearest(const struct texture *t, const struct sample_point *p, uint32_t out[4])
{
    int64_t to[3] = {0};

    for (unsigned d = 0; d < p->dims; d++) {
        uint32_t n = extent(&t->image, d);

        to[d] = index_in(t->address[d], floored(scaled(t, p->at[d], n)), n);
    }
    texel_or_border(t, to, p->layer, out);
    for (unsigned c = 0; c < t->image.channels; c++)
        out[c] = texel_value(t, c, out[c]);
}

// Whether half of a sample is the border's: a line is sampled at the edge of its one row. A line of
// a layered texture is not.
static bool is_halved(const struct texture *t)
{
    return !t->image.layered && t->address[1] == CU_TR_ADDRESS_MODE_BORDER;
}

// Finds the two texels on each side of a coordinate, and the weight of the second in 256ths.
static void neighbours(const struct texture *t, const struct sample_point *p, int64_t to[3][2],
                       unsigned weight[3])
{
    for (unsigned d = 0; d < 3; d++) {
        to[d][0] = to[d][1] = 0;
        weight[d] = 0;
        if (d >= p->dims && !(d == 1 && is_halved(t)))
            continue;
        uint32_t n = extent(&t->image, d);
        double v = d < p->dims ? scaled(t, p->at[d], n) : 0;
        int64_t fixed = floored((v - 0.5) * 256 + 0.5);
        int64_t first = fixed >> 8;

        to[d][0] = index_in(t->address[d], first, n);
        to[d][1] = index_in(t->address[d], first + 1, n);
        // One texel on both sides has the whole weight.
        if (to[d][0] != to[d][1] || repeats(t->address[d]))
            weight[d] = (unsigned)(fixed & 255);
    }
}

// The weights of the corners, whole 256ths that add up to 256: the whole is divided along z, each
// part along x, each of those along y. A part and its rest never lose anything to rounding; a half
// goes to the far side of x, and stays on the side of y that x is on.
static void corner_weights(const unsigned far[3], unsigned weights[8])
{
    for (unsigned z = 0; z < 2; z++) {
        unsigned slice = z ? far[2] : 256 - far[2];
        unsigned right = (slice * far[0] + 128) >> 8, left = slice - right;
        unsigned right_far = (right * far[1] + 128) >> 8, left_far = (left * far[1] + 127) >> 8;
        unsigned *w = weights + 4 * z;

        w[0] = left - left_far;
        w[1] = right - right_far;
        w[2] = left_far;
        w[3] = right_far;
    }
}

static void sample_linear(const struct texture *t, const struct sample_point *p, uint32_t out[4])
{
    int64_t to[3][2];
    unsigned far[3], all = p->dims == 3 ? 8 : 4;
    struct footprint f;

    neighbours(t, p, to, far);
    corner_weights(far, f.weights);
    f.used = 0;
    for (unsigned corner = 0; corner < all; corner++) {
        unsigned x = corner & 1, y = corner >> 1 & 1, z = corner >> 2;

        if ((x && !far[0]) || (y && !far[1]) || (z && !far[2])) // and it need not be read
            continue;
        int64_t at[3] = {to[0][x], to[1][y], to[2][z]};

        texel_or_border(t, at, p->layer, f.bits[corner]);
        f.used |= 1u << corner;
    }
    for (unsigned c = 0; c < 4; c++)
        out[c] = c < t->image.channels ? texel_mean(t, c, &f) : 0;
}

static void sample_one_level(const struct texture *t, const struct sample_point *p, uint32_t out[4])
{
    if (t->linear)
        sample_linear(t, p, out);
    else
        sample_nearest(t, p, out);
}

// ---- Levels of mipmapped arrays
//
// OpenGL 4.6, sections 8.14.1 and 8.14.3: CUDA's guide has no formulas for them.

static struct texture texture_level(const struct texture *t, unsigned level)
{
    struct texture one = *t;

    one.image = image_level(&t->image, level);
    return one;
}

// The level of a sample in 256ths, with the bias, within the texture's bounds and the array.
static unsigned level_of(const struct texture *t, const struct sample_point *p)
{
    static const float far = 1 << 16;
    float level = p->level < -far ? -far : p->level > far ? far : p->level;
    int32_t last = (t->image.levels - 1) * 256;
    int32_t v = isnan(level) ? 0 : (int32_t)floorf(level * 256 + 0.5f);

    v += t->bias;
    v = v < t->least ? t->least : v > t->most ? t->most : v;
    return (unsigned)(v < 0 ? 0 : v > last ? last : v);
}

// Between two levels, of which the first is the larger. One of the weight 0 need not be read.
static void sample_between(const struct texture *t, const struct sample_point *p, unsigned level,
                           uint32_t out[4])
{
    unsigned first = level >> 8, weight = level & 255;
    struct texture one = texture_level(t, first);
    uint32_t other[4];

    sample_one_level(&one, p, out);
    if (weight == 0)
        return;
    one = texture_level(t, first + 1);
    sample_one_level(&one, p, other);
    for (unsigned c = 0; c < 4; c++)
        out[c] = texel_mix(t, c, out[c], other[c], weight);
}

void sample_nearest_or_linear(const struct texture *t, const struct sample_point *p,
                              uint32_t out[4])
{
    unsigned level;

    if (t->image.levels == 1) {
        sample_one_level(t, p, out);
        return;
    }
    level = level_of(t, p);
    if (!t->linear_levels) // a half belongs to the larger level
        level = (level + 127) & ~255u;
    sample_between(t, p, level, out);
}

float sample_gradient_level(const struct texture *t, unsigned dims, float gradients[2][3])
{
    double longest = 0;

    for (unsigned g = 0; g < 2; g++) {
        double sum = 0;

        for (unsigned d = 0; d < dims; d++) {
            double texels = (double)gradients[g][d] * extent(&t->image, d);

            sum += texels * texels;
        }
        longest = sum > longest ? sum : longest;
    }
    return (float)(log2(longest) / 2); // of no gradient: minus infinity
}

// ---- Fetches and footprints

static void sample_texel(const struct texture *t, const struct sample_point *p, uint32_t out[4])
{
    int64_t to[3] = {0};
    const uint8_t *at;

    for (unsigned d = 0; d < p->dims; d++)
        to[d] = index_in(CU_TR_ADDRESS_MODE_BORDER, p->to[d], extent(&t->image, d));
    at = texel_at(&t->image, to, p->layer);
    memset(out, 0, 4 * sizeof *out);
    if (!at || ((t->image.layered || t->image.cube) && p->layer >= t->image.depth))
        return;
    texel_bits(&t->image, at, out);
    for (unsigned c = 0; c < t->image.channels; c++)
        out[c] = texel_value(t, c, out[c]);
}

void sample_fetch(const struct texture *t, const struct sample_point *p, uint32_t out[4])
{
    struct texture one;

    if (p->index < 0 || p->index >= t->image.levels) {
        memset(out, 0, 4 * sizeof *out);
        return;
    }
    if (t->image.levels == 1) {
        sample_texel(t, p, out);
        return;
    }
    one = texture_level(t, (unsigned)p->index);
    sample_texel(&one, p, out);
}

// Gathers from the first level of a mipmapped array.
void sample_gather(const struct texture *t, const struct sample_point *p, unsigned channel,
                   uint32_t out[4])
{
    static const uint8_t corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    int64_t to[3][2];
    unsigned weight[3];

    neighbours(t, p, to, weight);
    for (unsigned k = 0; k < 4; k++) {
        int64_t at[3] = {to[0][corners[k][0]], to[1][corners[k][1]], 0};
        uint32_t bits[4];

        texel_or_border(t, at, p->layer, bits);
        out[k] = channel < t->image.channels ? texel_value(t, channel, bits[channel]) : 0;
    }
}

// ---- Cubes

// A coordinate in a face, of the two that were not chosen; the middle where that is no number.
static float in_face(float at, float chosen)
{
    float ratio = at / chosen;

    return isfinite(ratio) ? (ratio + 1) / 2 : 0.5f;
}

// The coordinate of largest magnitude chooses the face: +x, -x, +y, -y, +z, -z. Of equal ones the
// last counts. They are compared when they have been multiplied by the largest's inverse, which
// may be infinite or, as subnormal numbers are flushed, 0: where it is 0 the coordinates count as
// 0.
struct sample_point sample_cube_point(const float at[3])
{
    float largest = fmaxf(fmaxf(fabsf(at[0]), fabsf(at[1])), fabsf(at[2]));
    float inverse = largest > 0x1p126f ? 0 : 1 / largest;
    float left = inverse == 0 ? 0 : 1;
    float x = at[0] * left, y = at[1] * left, z = at[2] * left, size[3];
    struct sample_point p = {.dims = 2};

    for (unsigned d = 0; d < 3; d++) {
        size[d] = fabsf(at[d] * inverse);
        if (isnan(size[d]))
            size[d] = -1;
    }
    if (size[2] >= size[0] && size[2] >= size[1]) {
        p.layer = z < 0 ? 5 : 4;
        p.at[0] = in_face(x, z);
        p.at[1] = in_face(-y, fabsf(z));
    } else if (size[1] >= size[0]) {
        p.layer = y < 0 ? 3 : 2;
        p.at[0] = in_face(x, fabsf(y));
        p.at[1] = in_face(z, y);
    } else {
        p.layer = x < 0 ? 1 : 0;
        p.at[0] = in_face(-z, x);
        p.at[1] = in_face(-y, fabsf(x));
    }
    return p;
}

// The result is how the quotient of two coordinates changes with both, halved as in in_face.
void sample_cube_gradient(const float at[3], float gradient[3])
{
    static const uint8_t axes[3][3] = {{0, 2, 1}, {1, 0, 2}, {2, 0, 1}}; // chosen, along, down
    const uint8_t *axis = axes[sample_cube_point(at).layer / 2];
    double m = (double)at[axis[0]], dm = (double)gradient[axis[0]];
    float along = (float)(((double)gradient[axis[1]] * m - (double)at[axis[1]] * dm) / (2 * m * m));
    float down = (float)(((double)gradient[axis[2]] * m - (double)at[axis[2]] * dm) / (2 * m * m));

    gradient[0] = along;
    gradient[1] = down;
}
