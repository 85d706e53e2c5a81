// Textures: what they give at a place, against the formulas of the CUDA C++ Programming Guide
// ("Texture Fetching") computed here in double precision, with what an NVIDIA H200 does where the
// guide is silent: doc/softcuda.md, "Textures".
#include <math.h>
#include <string.h>

#include "texels.h"

#define TEX(geometry, place) "tex." geometry ".v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {" place "}];"

static const char *const tex_text[] = {TEX("1d", "%x"), TEX("2d", "%x, %y"),
                                       TEX("3d", "%x, %y, %z, %z")};

static const CUarray_format formats[] = {
    CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT8,  CU_AD_FORMAT_UNSIGNED_INT16,
    CU_AD_FORMAT_SIGNED_INT16,   CU_AD_FORMAT_HALF,         CU_AD_FORMAT_FLOAT,
    CU_AD_FORMAT_UNSIGNED_INT32, CU_AD_FORMAT_SIGNED_INT32,
};
enum { FLOAT_FORMATS = 6 }; // the first ones can be read as floats

static const float border[4] = {0.25f, 0.5f, 0.75f, 0.125f}; // as in texture_with

// How far a filtered result may be from the exact mean: it is rounded to a half, a float, or a
// fraction of 16 bits.
static double tolerance(CUarray_format format)
{
    return format == CU_AD_FORMAT_HALF ? 1e-3 : format == CU_AD_FORMAT_FLOAT ? 1e-6 : 2.5e-5;
}

// ---- The guide's formulas

struct view {
    const struct texels *texels;
    CUaddress_mode mode;
    bool normalized;
};

// The index of the nearest texel to a coordinate in an extent of N; -1 for the border.
static long nearest(const struct view *v, double x, size_t n)
{
    double size = (double)n;

    if (!v->normalized)
        x /= size; // the same texels
    switch (v->mode) {
    case CU_TR_ADDRESS_MODE_WRAP:
        x -= floor(x);
        break;
    case CU_TR_ADDRESS_MODE_MIRROR:
        x = fmod(floor(x), 2) == 0 ? x - floor(x) : 1 - (x - floor(x));
        break;
    case CU_TR_ADDRESS_MODE_BORDER:
        if (x < 0 || x >= 1)
            return -1;
        break;
    default:
        x = x < 0 ? 0 : x;
    }
    x = floor(x * size);
    return x >= size ? (long)n - 1 : (long)x;
}

// Of integers that are read as fractions of it; 0 of others.
static double largest(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return 255;
    case CU_AD_FORMAT_SIGNED_INT8:
        return 127;
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return 65535;
    case CU_AD_FORMAT_SIGNED_INT16:
        return 32767;
    default:
        return 0;
    }
}

// A border is what a texel can hold; a half is rounded down.
static double border_number(CUarray_format format, unsigned c)
{
    double scale = largest(format);

    return scale != 0 ? ceil((double)border[c] * scale - 0.5) / scale : (double)border[c];
}

static double texel(const struct view *v, const long at[3], unsigned c)
{
    if (at[0] < 0 || at[1] < 0 || at[2] < 0)
        return border_number(v->texels->format, c);
    return texel_number(v->texels, (size_t)at[0], (size_t)at[1], (size_t)at[2], c);
}

// Filtering takes the least of a signed format for what it is, below -1.
static double addend(const struct view *v, const long at[3], unsigned c)
{
    double scale = largest(v->texels->format);

    if (scale == 0 || at[0] < 0 || at[1] < 0 || at[2] < 0)
        return texel(v, at, c);
    return (double)texel_integer(v->texels, (size_t)at[0], (size_t)at[1], (size_t)at[2], c) / scale;
}

// The 256ths that each corner weighs: divided along z, then x, then y, each time into whole ones.
static void corner_weights(const long far[3], long weights[8])
{
    for (int z = 0; z < 2; z++) {
        long slice = z ? far[2] : 256 - far[2];
        long right = (slice * far[0] + 128) / 256, left = slice - right;
        long right_far = (right * far[1] + 128) / 256, left_far = (left * far[1] + 127) / 256;

        weights[4 * z] = left - left_far;
        weights[4 * z + 1] = right - right_far;
        weights[4 * z + 2] = left_far;
        weights[4 * z + 3] = right_far;
    }
}

// A normalized coordinate in texels of an extent of N: its fraction has 21 bits, more in long ones.
static double denormalized(double x, size_t n)
{
    double step = n <= 8192 ? 0x1p21 : n <= 65536 ? 0x1p22 : 0x1p23;

    return floor(x * step) / step * (double)n;
}

// The two texels around X in an extent of N, and the 256ths of the second. One texel has all of
// it, unless it is met twice by repetition.
static void around(const struct view *v, double x, size_t n, long at[2], long *far)
{
    double size = (double)n, b = v->normalized ? denormalized(x, n) : x;
    double fixed = floor((b - 0.5) * 256 + 0.5), first = floor(fixed / 256);
    bool repeats = v->mode == CU_TR_ADDRESS_MODE_WRAP || v->mode == CU_TR_ADDRESS_MODE_MIRROR;

    for (int k = 0; k < 2; k++) {
        double centre = first + k + 0.5;

        at[k] = nearest(v, v->normalized ? centre / size : centre, n);
    }
    *far = at[0] == at[1] && !repeats ? 0 : (long)(fixed - first * 256);
}

// Weighs the texels whose centres lie around the place.
static double linear(const struct view *v, unsigned dims, const double place[3], size_t layer,
                     unsigned c)
{
    size_t size[3] = {v->texels->width, v->texels->height, v->texels->depth};
    long at[3][2] = {{0}}, far[3] = {0}, weights[8];
    double sum = 0;

    for (unsigned d = 0; d < dims; d++)
        around(v, place[d], size[d], at[d], &far[d]);
    if (dims == 1 && v->mode == CU_TR_ADDRESS_MODE_BORDER) // half of a line lies on its border
        around(v, 0, 1, at[1], &far[1]);
    if (dims < 3)
        at[2][0] = (long)layer;
    corner_weights(far, weights);
    for (unsigned corner = 0; corner < 8; corner++) {
        long to[3] = {at[0][corner & 1], at[1][corner >> 1 & 1], at[2][corner >> 2]};

        if (weights[corner])
            sum += (double)weights[corner] / 256 * addend(v, to, c);
    }
    return largest(v->texels->format) != 0 ? fmax(sum, -1) : sum;
}

// ---- Nearest texels

enum { POINTS = 200 };

// A place not near the edge of a texel, up to two extents outside.
static double place_in(size_t n, bool normalized)
{
    double size = (double)n,
           x = floor((random_unit() * 4 - 1.5) * size) + 0.1 + 0.8 * random_unit();

    return normalized ? x / size : x;
}

static void check_nearest(const struct view *v, unsigned dims, const union words *got,
                          const union words *in, bool integers)
{
    size_t size[3] = {v->texels->width, v->texels->height, v->texels->depth};

    for (unsigned i = 0; i < POINTS; i++) {
        long at[3] = {0};

        for (unsigned d = 0; d < dims; d++)
            at[d] = nearest(v, (double)in[i].f[d], size[d]);
        for (unsigned c = 0; c < v->texels->channels; c++) {
            bool outside = at[0] < 0 || at[1] < 0 || at[2] < 0;

            if (integers && !outside) {
                int64_t want =
                    texel_integer(v->texels, (size_t)at[0], (size_t)at[1], (size_t)at[2], c);

                CHECK(got[i].u[c] == (uint32_t)want, "%s, mode %d, channel %u at %g %g %g: 0x%x",
                      format_name(v->texels->format), v->mode, c, (double)in[i].f[0],
                      (double)in[i].f[1], (double)in[i].f[2], got[i].u[c]);
            } else if (!integers) {
                double want = texel(v, at, c);

                CHECK(fabs((double)got[i].f[c] - want) <= 1e-6,
                      "%s, mode %d, channel %u at %g %g %g: %g, not %g",
                      format_name(v->texels->format), v->mode, c, (double)in[i].f[0],
                      (double)in[i].f[1], (double)in[i].f[2], (double)got[i].f[c], want);
            }
        }
    }
}

static void nearest_case(const struct texels *t, CUarray a, unsigned dims, CUaddress_mode mode,
                         bool normalized, bool integers)
{
    size_t size[3] = {t->width, t->height, t->depth};
    struct view v = {t, mode, normalized};
    unsigned flags = (normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0) |
                     (integers ? CU_TRSF_READ_AS_INTEGER : 0);
    CUtexObject texture = texture_of(a, mode, CU_TR_FILTER_MODE_POINT, flags);
    union words in[POINTS], out[POINTS];

    for (unsigned i = 0; i < POINTS; i++)
        for (unsigned d = 0; d < 3; d++)
            in[i].f[d] = (float)place_in(size[d], normalized);
    run(tex_text[dims - 1], texture, in, out, POINTS);
    check_nearest(&v, dims, out, in, integers);
    OK(cu.cuTexObjectDestroy(texture));
}

static void nearest_modes(const struct texels *t, CUarray a, unsigned dims, bool integers)
{
    for (int mode = CU_TR_ADDRESS_MODE_WRAP; mode <= CU_TR_ADDRESS_MODE_BORDER; mode++)
        nearest_case(t, a, dims, (CUaddress_mode)mode, true, integers);
    nearest_case(t, a, dims, CU_TR_ADDRESS_MODE_CLAMP, false, integers);
    nearest_case(t, a, dims, CU_TR_ADDRESS_MODE_BORDER, false, integers);
}

static void nearest_texels_of_every_format(void)
{
    static const unsigned channels[] = {1, 2, 4};

    for (size_t f = 0; f < ARRAY_SIZE(formats); f++) {
        for (size_t c = 0; c < ARRAY_SIZE(channels); c++) {
            struct texels t = texels_random(formats[f], channels[c], 23, 11, 1, (unsigned)f);
            CUarray a = array_of(&t, 2, 0);

            if (!format_is_float(formats[f]))
                nearest_modes(&t, a, 2, true);
            if (f < FLOAT_FORMATS)
                nearest_modes(&t, a, 2, false);
            OK(cu.cuArrayDestroy(a));
            free(t.data);
        }
    }
}

static void nearest_texels_in_one_and_three_dimensions(void)
{
    struct texels line = texels_random(CU_AD_FORMAT_FLOAT, 2, 77, 1, 1, 1);
    struct texels volume = texels_random(CU_AD_FORMAT_UNSIGNED_INT8, 4, 9, 7, 5, 2);
    CUarray a = array_of(&line, 1, 0), b = array_of(&volume, 3, 0);

    nearest_modes(&line, a, 1, false);
    nearest_modes(&volume, b, 3, false);
    nearest_modes(&volume, b, 3, true);
    free(line.data);
    free(volume.data);
}

static void channels_that_a_texel_lacks(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT8, 1, 4, 1, 1, 3);
    CUarray a = array_of(&t, 1, 0);
    union words in = {.f = {1.5f}}, out;

    run(tex_text[0], texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0), &in, &out,
        1);
    CHECK(out.f[1] == 0 && out.f[2] == 0 && out.f[3] == 0);
    run(tex_text[0],
        texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER),
        &in, &out, 1);
    CHECK(out.u[1] == 0 && out.u[2] == 0 && out.u[3] == 0);
    free(t.data);
}

// ---- Linear filtering

// A place whose weights need no rounding: 8 bits of fraction. Exact in a float where the extent is
// a power of two.
static double place_on_grid(size_t n, bool normalized)
{
    double size = (double)n, x = floor((random_unit() * 3 - 1) * size * 256) / 256;

    return normalized ? x / size : x;
}

static void linear_case(const struct texels *t, CUarray a, unsigned dims, CUaddress_mode mode,
                        bool normalized, bool on_grid)
{
    size_t size[3] = {t->width, t->height, t->depth};
    struct view v = {t, mode, normalized};
    CUtexObject texture = texture_of(a, mode, CU_TR_FILTER_MODE_LINEAR,
                                     normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0);
    double off = tolerance(t->format);
    union words in[POINTS], out[POINTS];

    for (unsigned i = 0; i < POINTS; i++)
        for (unsigned d = 0; d < 3; d++)
            in[i].f[d] = (float)(on_grid ? place_on_grid(size[d], normalized)
                                         : place_in(size[d], normalized));
    run(tex_text[dims - 1], texture, in, out, POINTS);
    for (unsigned i = 0; i < POINTS; i++) {
        double place[3] = {(double)in[i].f[0], (double)in[i].f[1], (double)in[i].f[2]};

        for (unsigned c = 0; c < t->channels; c++) {
            double want = linear(&v, dims, place, 0, c);

            CHECK(fabs((double)out[i].f[c] - want) <= off,
                  "%s, %u dimensions, mode %d, channel %u at %g %g %g: %.9g, not %.9g",
                  format_name(t->format), dims, mode, c, place[0], place[1], place[2],
                  (double)out[i].f[c], want);
        }
    }
    OK(cu.cuTexObjectDestroy(texture));
}

static void linear_filter(bool on_grid)
{
    static const size_t grid[3] = {32, 16, 8}, odd[3] = {29, 13, 7};
    const size_t *n = on_grid ? grid : odd;

    for (size_t f = 0; f < FLOAT_FORMATS; f++) {
        for (unsigned dims = 1; dims <= 3; dims++) {
            struct texels t = texels_random(formats[f], f % 2 ? 4 : 1, n[0], dims > 1 ? n[1] : 1,
                                            dims > 2 ? n[2] : 1, (unsigned)f);
            CUarray a = array_of(&t, dims, 0);

            for (int mode = CU_TR_ADDRESS_MODE_WRAP; mode <= CU_TR_ADDRESS_MODE_BORDER; mode++)
                linear_case(&t, a, dims, (CUaddress_mode)mode, true, on_grid);
            linear_case(&t, a, dims, CU_TR_ADDRESS_MODE_CLAMP, false, on_grid);
            linear_case(&t, a, dims, CU_TR_ADDRESS_MODE_BORDER, false, on_grid);
            OK(cu.cuArrayDestroy(a));
            free(t.data);
        }
    }
}

static void linear_filter_weighs_in_256ths(void)
{
    linear_filter(true);
}

static void linear_filter_between_them(void)
{
    linear_filter(false);
}

static void linear_filter_in_long_lines(void)
{
    static const size_t lengths[] = {3000, 8192, 12000, 20000, 65536, 100000, 131072};

    for (size_t k = 0; k < ARRAY_SIZE(lengths); k++) {
        struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, lengths[k], 1, 1, (unsigned)k);
        CUarray a = array_of(&t, 1, 0);

        for (int mode = CU_TR_ADDRESS_MODE_WRAP; mode <= CU_TR_ADDRESS_MODE_MIRROR; mode++)
            linear_case(&t, a, 1, (CUaddress_mode)mode, true, false);
        OK(cu.cuArrayDestroy(a));
        free(t.data);
    }
}

// The exact mean of a plane's integers.
static double linear_integer(const struct view *v, const double place[2])
{
    size_t size[2] = {v->texels->width, v->texels->height};
    long at[2][2], far[3] = {0}, weights[8];
    double sum = 0;

    for (unsigned d = 0; d < 2; d++)
        around(v, place[d], size[d], at[d], &far[d]);
    corner_weights(far, weights);
    for (unsigned k = 0; k < 4; k++)
        sum += (double)weights[k] *
               (double)texel_integer(v->texels, (size_t)at[0][k & 1], (size_t)at[1][k >> 1], 0, 0);
    return sum / 256;
}

static void wide_integers_are_rounded_down(void)
{
    for (unsigned f = FLOAT_FORMATS; f < ARRAY_SIZE(formats); f++) {
        struct texels t = texels_random(formats[f], 1, 16, 4, 1, f);
        CUarray a = array_of(&t, 2, 0);
        struct view v = {&t, CU_TR_ADDRESS_MODE_CLAMP, false};
        CUtexObject texture = texture_of(a, v.mode, CU_TR_FILTER_MODE_LINEAR, 0);
        union words in[POINTS], out[POINTS];

        for (unsigned i = 0; i < POINTS; i++) {
            in[i].f[0] = (float)place_on_grid(t.width, false);
            in[i].f[1] = (float)place_on_grid(t.height, false);
        }
        run(tex_text[1], texture, in, out, POINTS);
        for (unsigned i = 0; i < POINTS; i++) {
            double place[2] = {(double)in[i].f[0], (double)in[i].f[1]};
            int64_t want = (int64_t)floor(linear_integer(&v, place));

            CHECK(out[i].u[0] == (uint32_t)want, "%s at %g %g: 0x%x, not 0x%x",
                  format_name(t.format), place[0], place[1], out[i].u[0], (uint32_t)want);
        }
        OK(cu.cuTexObjectDestroy(texture));
        OK(cu.cuArrayDestroy(a));
        free(t.data);
    }
}

// ---- Ordinary memory

static void linear_memory_is_fetched(void)
{
    enum { N = 300 };
    static const unsigned channels[] = {1, 2, 4};

    for (size_t k = 0; k < ARRAY_SIZE(formats) * 3; k++) {
        struct texels t = texels_random(formats[k / 3], channels[k % 3], N, 1, 1, (unsigned)k);
        CUDA_RESOURCE_DESC resource = {
            .resType = CU_RESOURCE_TYPE_LINEAR,
            .res.linear = {device_alloc(texels_size(&t)), t.format, t.channels, texels_size(&t)}};
        bool integers = !format_is_float(t.format);
        CUtexObject texture;
        union words in[N], out[N];

        OK(cu.cuMemcpyHtoD_v2(resource.res.linear.devPtr, t.data, texels_size(&t)));
        texture = texture_with(&resource, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
                               integers ? CU_TRSF_READ_AS_INTEGER : 0);
        for (int i = 0; i < N; i++)
            in[i].s[0] = (i * 7 + 3) % N;
        in[0].s[0] = -1;
        in[1].s[0] = N;
        run("tex.1d.v4.s32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0}];", texture, in, out, N);
        CHECK(out[0].u[0] == 0 && out[1].u[0] == 0, "outside: 0x%x and 0x%x", out[0].u[0],
              out[1].u[0]);
        for (int i = 2; i < N; i++)
            for (unsigned c = 0; c < t.channels; c++) {
                size_t x = (size_t)in[i].s[0];

                CHECK(integers ? out[i].u[c] == (uint32_t)texel_integer(&t, x, 0, 0, c)
                               : (double)out[i].f[c] == texel_number(&t, x, 0, 0, c),
                      "%s x %u, texel %zu, channel %u: 0x%x", format_name(t.format), t.channels, x,
                      c, out[i].u[c]);
            }
        OK(cu.cuTexObjectDestroy(texture));
        OK(cu.cuMemFree_v2(resource.res.linear.devPtr));
        free(t.data);
    }
}

static void pitched_memory_is_sampled(void)
{
    enum { PITCH = 256 };
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, 32, 16, 1, 11);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_PITCH2D,
                                   .res.pitch2D = {device_alloc((size_t)PITCH * t.height), t.format,
                                                   1, t.width, t.height, PITCH}};
    struct view v = {&t, CU_TR_ADDRESS_MODE_CLAMP, false};
    union words in[POINTS], out[POINTS];
    CUtexObject texture;

    for (size_t y = 0; y < t.height; y++)
        OK(cu.cuMemcpyHtoD_v2(resource.res.pitch2D.devPtr + y * PITCH, t.data + y * t.width * 4,
                              t.width * 4));
    for (unsigned i = 0; i < POINTS; i++)
        for (unsigned d = 0; d < 3; d++)
            in[i].f[d] = (float)place_on_grid(d ? t.height : t.width, false);
    texture = texture_with(&resource, v.mode, CU_TR_FILTER_MODE_LINEAR, 0);
    run(tex_text[1], texture, in, out, POINTS);
    for (unsigned i = 0; i < POINTS; i++) {
        double place[3] = {(double)in[i].f[0], (double)in[i].f[1], 0};
        double want = linear(&v, 2, place, 0, 0);

        CHECK(fabs((double)out[i].f[0] - want) <= tolerance(t.format), "at %g %g: %g, not %g",
              place[0], place[1], (double)out[i].f[0], want);
    }
    free(t.data);
}

// ---- Layers, faces, footprints

static void layers_are_sampled_apart(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 2, 32, 16, 5, 12);
    struct texels lines = texels_random(CU_AD_FORMAT_FLOAT, 1, 64, 1, 6, 13);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_LAYERED),
            b = array_of(&lines, 1, CUDA_ARRAY3D_LAYERED);
    CUtexObject flat = texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    CUtexObject line = texture_of(b, CU_TR_ADDRESS_MODE_WRAP, CU_TR_FILTER_MODE_LINEAR,
                                  CU_TRSF_NORMALIZED_COORDINATES);
    struct view v = {&t, CU_TR_ADDRESS_MODE_CLAMP, false};
    struct view w = {&lines, CU_TR_ADDRESS_MODE_WRAP, true};
    union words in[POINTS], out[POINTS];

    for (unsigned i = 0; i < POINTS; i++) {
        in[i].u[0] = i % 8; // past the last layer is the last
        in[i].f[1] = (float)place_on_grid(32, false);
        in[i].f[2] = (float)place_on_grid(16, false);
    }
    run(TEX("a2d", "%c0, %y, %z, %z"), flat, in, out, POINTS);
    for (unsigned i = 0; i < POINTS; i++) {
        double place[3] = {(double)in[i].f[1], (double)in[i].f[2], 0};
        double want = linear(&v, 2, place, in[i].u[0] < 5 ? in[i].u[0] : 4, 1);

        CHECK(fabs((double)out[i].f[1] - want) <= tolerance(t.format), "layer %u: %g, not %g",
              in[i].u[0], (double)out[i].f[1], want);
    }
    for (unsigned i = 0; i < POINTS; i++)
        in[i].f[1] = (float)place_on_grid(64, true);
    run(TEX("a1d", "%c0, %y"), line, in, out, POINTS);
    for (unsigned i = 0; i < POINTS; i++) {
        double place[3] = {(double)in[i].f[1], 0, 0};
        double want = linear(&w, 1, place, in[i].u[0] < 6 ? in[i].u[0] : 5, 0);

        CHECK(fabs((double)out[i].f[0] - want) <= tolerance(lines.format), "line %u: %g, not %g",
              in[i].u[0], (double)out[i].f[0], want);
    }
    free(t.data);
    free(lines.data);
}

// A line is half on the border beside it, but not one of layers.
static void lines_of_layers_have_no_border_beside_them(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, 16, 1, 5, 22);
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY,
                                   .res.array.hArray = array_of(&t, 1, CUDA_ARRAY3D_LAYERED)};
    CUDA_TEXTURE_DESC desc = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_BORDER,
                                              CU_TR_ADDRESS_MODE_BORDER},
                              .filterMode = CU_TR_FILTER_MODE_LINEAR,
                              .borderColor = {-1, -1, -1, -1}};
    struct view v = {&t, CU_TR_ADDRESS_MODE_CLAMP, false};
    union words in[POINTS], out[POINTS];
    CUtexObject texture;

    for (unsigned i = 0; i < POINTS; i++) {
        in[i].u[0] = i % 5;
        in[i].f[1] = (float)place_on_grid(t.width, false);
    }
    OK(cu.cuTexObjectCreate(&texture, &resource, &desc, NULL));
    run(TEX("a1d", "%c0, %y"), texture, in, out, POINTS);
    for (unsigned i = 0; i < POINTS; i++) {
        double place[3] = {(double)in[i].f[1], 0, 0}, want = linear(&v, 1, place, i % 5, 0);

        CHECK(fabs((double)out[i].f[0] - want) <= tolerance(t.format), "line %u at %g: %g, not %g",
              i % 5, place[0], (double)out[i].f[0], want);
    }
    OK(cu.cuTexObjectDestroy(texture));
    free(t.data);
}

// Per face of the guide's table: the axis of m, and what s and t are made of; sign and axis.
static const struct {
    int m, ms, s, ss, t, ts;
} faces[6] = {{0, 1, 2, -1, 1, -1}, {0, -1, 2, 1, 1, -1}, {1, 1, 0, 1, 2, 1},
              {1, -1, 0, 1, 2, -1}, {2, 1, 0, 1, 1, -1},  {2, -1, 0, -1, 1, -1}};

static void faces_of_cubes(void)
{
    enum { N = 8 };
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, N, N, 12, 14);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED);
    CUtexObject texture = texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
                                     CU_TRSF_NORMALIZED_COORDINATES);
    union words in[2 * 6 * N * N], out[2 * 6 * N * N];

    for (unsigned i = 0; i < ARRAY_SIZE(in); i++) {
        unsigned face = i / (N * N) % 6, x = i % N, y = i / N % N;
        float m = 0.5f + (float)random_unit();

        in[i].u[0] = i / (6 * N * N);
        in[i].f[1 + faces[face].m] = m * (float)faces[face].ms;
        in[i].f[1 + faces[face].s] = m * (float)faces[face].ss * (2 * ((float)x + 0.5f) / N - 1);
        in[i].f[1 + faces[face].t] = m * (float)faces[face].ts * (2 * ((float)y + 0.5f) / N - 1);
    }
    run(TEX("acube", "%c0, %y, %z, %w"), texture, in, out, ARRAY_SIZE(in));
    for (unsigned i = 0; i < ARRAY_SIZE(in); i++) {
        double want = texel_number(&t, i % N, i / N % N, i / (N * N), 0);

        CHECK((double)out[i].f[0] == want, "cube %u, face %u, %u %u: %g, not %g", in[i].u[0],
              i / (N * N) % 6, i % N, i / N % N, (double)out[i].f[0], want);
    }
    free(t.data);
}

static void gathers_give_the_footprint(void)
{
    static const char *const texts[4] = {
        "tld4.r.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];",
        "tld4.g.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];",
        "tld4.b.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];",
        "tld4.a.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];"};
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 4, 20, 10, 1, 15);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_TEXTURE_GATHER);
    CUtexObject texture = texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    struct view v = {&t, CU_TR_ADDRESS_MODE_CLAMP, false};
    union words in[POINTS], out[POINTS];

    for (unsigned i = 0; i < POINTS; i++) {
        // between centres, so that the footprint is in no doubt
        in[i].f[0] = (float)(floor(random_unit() * 24 - 2) + 0.6 + 0.8 * random_unit());
        in[i].f[1] = (float)(floor(random_unit() * 14 - 2) + 0.6 + 0.8 * random_unit());
    }
    for (unsigned c = 0; c < 4; c++) {
        static const int corners[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};

        run(texts[c], texture, in, out, POINTS);
        for (unsigned i = 0; i < POINTS; i++)
            for (unsigned k = 0; k < 4; k++) {
                double x = floor((double)in[i].f[0] - 0.5) + 0.5 + corners[k][0];
                double y = floor((double)in[i].f[1] - 0.5) + 0.5 + corners[k][1];
                long at[3] = {nearest(&v, x, 20), nearest(&v, y, 10), 0};

                CHECK((double)out[i].f[k] == texel(&v, at, c), "channel %u, texel %u at %g %g", c,
                      k, (double)in[i].f[0], (double)in[i].f[1]);
            }
    }
    free(t.data);
}

// With one level, naming it or gradients changes nothing.
static void level_and_gradients_give_the_one_level(void)
{
    static const char resident[] = "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}|%p, [%t, {%x, %y}];\n"
                                   "    selp.b32 %d3, 1, 0, %p;";
    static const char *const texts[] = {
        "tex.level.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}], 0f00000000;",
        "tex.grad.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}], {%z, %z}, {%w, %w};",
        resident};
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, 32, 32, 1, 16);
    CUarray a = array_of(&t, 2, 0);
    CUtexObject texture = texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_LINEAR, 0);
    union words in[POINTS], plain[POINTS], out[POINTS];

    for (unsigned i = 0; i < POINTS; i++)
        for (unsigned d = 0; d < 4; d++)
            in[i].f[d] = (float)(random_unit() * 32);
    run(tex_text[1], texture, in, plain, POINTS);
    for (size_t k = 0; k < ARRAY_SIZE(texts); k++) {
        run(texts[k], texture, in, out, POINTS);
        for (unsigned i = 0; i < POINTS; i++)
            CHECK(out[i].u[0] == plain[i].u[0], "%s", texts[k]);
    }
    CHECK(out[0].u[3] == 1, "what is sampled is resident");
    free(t.data);
}

static void arrays_are_fetched_by_index(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_SIGNED_INT16, 2, 20, 10, 3, 17);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_LAYERED);
    CUtexObject texture =
        texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, CU_TRSF_READ_AS_INTEGER);
    union words in[POINTS], out[POINTS];

    for (unsigned i = 0; i < POINTS; i++)
        in[i] = (union words){.u = {i % 3, i % 20, i % 10, 0}};
    run("tex.a2d.v4.s32.s32 {%d0, %d1, %d2, %d3}, [%t, {%c0, %c1, %c2, %c2}];", texture, in, out,
        POINTS);
    for (unsigned i = 0; i < POINTS; i++)
        CHECK(out[i].s[1] == texel_integer(&t, i % 20, i % 10, i % 3, 1), "texel %u: %d", i,
              out[i].s[1]);
    free(t.data);
}

// ---- Values

static void srgb_is_decoded(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT8, 4, 256, 1, 1, 18);
    CUtexObject texture;
    union words in[256], out[256];
    CUarray a;

    for (unsigned i = 0; i < 4 * 256; i++)
        t.data[i] = (unsigned char)(i / 4);
    a = array_of(&t, 2, 0);
    texture = texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT,
                         CU_TRSF_SRGB | CU_TRSF_NORMALIZED_COORDINATES);
    for (unsigned i = 0; i < 256; i++) {
        in[i].f[0] = ((float)i + 0.5f) / 256;
        in[i].f[1] = 0.5f;
    }
    run(tex_text[1], texture, in, out, 256);
    for (unsigned i = 0; i < 256; i++) {
        double x = i / 255.0, want = x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4);

        // decoded to 8 significant bits, and not always the nearest
        CHECK(fabs((double)out[i].f[1] - want) <= want / 128, "%u: %g, not %g", i,
              (double)out[i].f[1], want);
        CHECK(fabs((double)out[i].f[3] - x) <= 1e-6, "alpha of %u: %g", i, (double)out[i].f[3]);
    }
    free(t.data);
}

static void results_of_half_precision(void)
{
    static const char four[] = "tex.1d.v4.f16.f32 {%h0, %h1, %h2, %h3}, [%t, {%x}];\n"
                               "    mov.b32 %d0, {%h0, %h1};\n    mov.b32 %d1, {%h2, %h3};";
    static const char two[] = "tex.1d.v2.f16x2.f32 {%d0, %d1}, [%t, {%x}];";
    struct texels t = texels_random(CU_AD_FORMAT_HALF, 4, 64, 1, 1, 19);
    CUarray a = array_of(&t, 1, 0);
    CUtexObject texture = texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    union words in[64], out[64], packed[64];

    for (unsigned i = 0; i < 64; i++)
        in[i].f[0] = (float)i + 0.5f;
    run(four, texture, in, out, 64);
    run(two, texture, in, packed, 64);
    for (unsigned i = 0; i < 64; i++) {
        CHECK(!memcmp(&out[i], t.data + 8 * i, 8), "texel %u", i);
        CHECK(!memcmp(&packed[i], t.data + 8 * i, 8), "texel %u, packed", i);
    }
    free(t.data);
}

// ---- Queries

// Layers count as depth. Of what there is none, the answer is 0; but the texture of a line has a
// row.
static void properties_are_told(void)
{
    static const char texture_text[] =
        "txq.width.b32 %d0, [%t];\n    txq.height.b32 %d1, [%t];\n    txq.depth.b32 %d2, [%t];";
    static const char surface_text[] =
        "suq.width.b32 %d0, [%t];\n    suq.height.b32 %d1, [%t];\n    suq.depth.b32 %d2, [%t];";
    static const struct {
        unsigned dims, flags;
        size_t height, depth;
        uint32_t of_texture[2], of_surface[2];
    } shapes[] = {{1, 0, 1, 1, {1, 0}, {0, 0}},
                  {2, 0, 10, 1, {10, 0}, {10, 0}},
                  {3, 0, 10, 3, {10, 3}, {10, 3}},
                  {2, CUDA_ARRAY3D_LAYERED, 10, 3, {10, 3}, {10, 3}}};

    for (size_t k = 0; k < ARRAY_SIZE(shapes); k++) {
        struct texels t =
            texels_random(CU_AD_FORMAT_FLOAT, 1, 20, shapes[k].height, shapes[k].depth, 21);
        CUarray a = array_of(&t, shapes[k].dims, shapes[k].flags | CUDA_ARRAY3D_SURFACE_LDST);
        CUtexObject texture = texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
        union words in = {.f = {0}}, out = {.u = {0}};

        run(texture_text, texture, &in, &out, 1);
        CHECK(out.u[0] == 20 && out.u[1] == shapes[k].of_texture[0] &&
                  out.u[2] == shapes[k].of_texture[1],
              "texture %zu: %u x %u x %u", k, out.u[0], out.u[1], out.u[2]);
        run(surface_text, surface_of(a), &in, &out, 1);
        CHECK(out.u[0] == 20 && out.u[1] == shapes[k].of_surface[0] &&
                  out.u[2] == shapes[k].of_surface[1],
              "surface %zu: %u x %u x %u", k, out.u[0], out.u[1], out.u[2]);
        free(t.data);
    }
}

static const struct test tests[] = {
    {"the nearest texel of every format, channels and address mode", nearest_texels_of_every_format,
     false},
    {"the nearest texel in one and three dimensions", nearest_texels_in_one_and_three_dimensions,
     false},
    {"channels that a texel lacks are 0", channels_that_a_texel_lacks, false},
    {"linear filtering weighs in 256ths", linear_filter_weighs_in_256ths, false},
    {"linear filtering between them", linear_filter_between_them, false},
    {"linear filtering in long lines", linear_filter_in_long_lines, false},
    {"filtered integers of 32 bits are rounded down", wide_integers_are_rounded_down, false},
    {"linear memory is fetched, and 0 outside", linear_memory_is_fetched, false},
    {"pitched memory is sampled", pitched_memory_is_sampled, false},
    {"layers are sampled apart", layers_are_sampled_apart, false},
    {"lines of layers have no border beside them", lines_of_layers_have_no_border_beside_them,
     false},
    {"directions find the faces of cubes", faces_of_cubes, false},
    {"gathers give the footprint of a linear sample", gathers_give_the_footprint, false},
    {"level and gradients give the one level", level_and_gradients_give_the_one_level, false},
    {"arrays are fetched by index", arrays_are_fetched_by_index, false},
    {"sRGB is decoded", srgb_is_decoded, false},
    {"results of half precision", results_of_half_precision, false},
    {"textures and surfaces tell their sizes", properties_are_told, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
