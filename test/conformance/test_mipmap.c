// Mipmapped arrays: their levels as arrays, and which level a texture of one reads, by the
// documentation of cuMipmappedArrayCreate and CUDA_TEXTURE_DESC, and by the instructions' own in
// the PTX ISA. Levels, places and texels are such that filters of eight bits are exact; a GPU that
// optimizes trilinear filters would weigh levels otherwise, so that is off.
#include <string.h>

#include "texels.h"

#define FOUR            "{%d0, %d1, %d2, %d3}"
#define LEVEL(geom, at) "tex.level." geom ".v4.f32.f32 " FOUR ", [%t, {" at "}], %w;"
#define PLAIN           "tex.2d.v4.f32.f32 " FOUR ", [%t, {%x, %y}];"
// %y is 1 / 16 and %z is 0
#define GRADIENT(steps)                                                                            \
    "mov.f32 %y, 0f3D800000;\n    mov.f32 %z, 0f00000000;\n"                                       \
    "    tex.grad.2d.v4.f32.f32 " FOUR ", [%t, {%x, %x}], " steps ";"
#define CUBE_GRADIENT(along, steps)                                                                \
    "mov.f32 %y, 0f00000000;\n    mov.f32 %z, 0f3F800000;\n"                                       \
    "    tex.grad.cube.v4.f32.f32 " FOUR ", [%t, {" along ", %y, %z, %z}], " steps ";"

enum { MOST_LEVELS = 6 };

// ---- Arrays

static CUmipmappedArray mipmap_new(size_t width, size_t height, size_t depth, unsigned flags,
                                   unsigned levels)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = width,
                                    .Height = height,
                                    .Depth = depth,
                                    .Format = CU_AD_FORMAT_FLOAT,
                                    .NumChannels = 1,
                                    .Flags = flags};
    CUmipmappedArray mipmap;

    OK(cu.cuMipmappedArrayCreate(&mipmap, &desc, levels));
    return mipmap;
}

static CUarray level_of(CUmipmappedArray mipmap, unsigned level)
{
    CUarray array;

    OK(cu.cuMipmappedArrayGetLevel(&array, mipmap, level));
    return array;
}

static size_t at_least_one(size_t side)
{
    return side ? side : 1;
}

// Copies between a whole level and packed texels.
static void level_copy(CUarray level, float *texels, bool to_array)
{
    CUDA_ARRAY3D_DESCRIPTOR d;
    CUDA_MEMCPY3D copy = {0};

    OK(cu.cuArray3DGetDescriptor_v2(&d, level));
    copy.WidthInBytes = copy.srcPitch = copy.dstPitch = d.Width * sizeof(float);
    copy.Height = copy.srcHeight = copy.dstHeight = at_least_one(d.Height);
    copy.Depth = at_least_one(d.Depth);
    copy.srcMemoryType = to_array ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_ARRAY;
    copy.dstMemoryType = to_array ? CU_MEMORYTYPE_ARRAY : CU_MEMORYTYPE_HOST;
    copy.srcHost = to_array ? texels : NULL;
    copy.dstHost = to_array ? NULL : texels;
    copy.srcArray = to_array ? NULL : level;
    copy.dstArray = to_array ? level : NULL;
    OK(cu.cuMemcpy3D_v2(&copy));
}

static void level_fill(CUarray level, float value)
{
    static float texels[64 * 64];

    for (size_t i = 0; i < ARRAY_SIZE(texels); i++)
        texels[i] = value;
    level_copy(level, texels, true);
}

// Each level has one value: 0, 16, 32 ...
static void levels_fill(CUmipmappedArray mipmap, unsigned levels)
{
    for (unsigned l = 0; l < levels; l++)
        level_fill(level_of(mipmap, l), 16.0f * (float)l);
}

static void levels_have_the_halves(void)
{
    static const struct {
        size_t size[3];
        unsigned flags, asked, levels;
        size_t last[3];
    } all[] = {
        {{32, 0, 0}, 0, 100, 6, {1, 0, 0}},
        {{13, 5, 0}, 0, 100, 4, {1, 1, 0}},
        {{13, 5, 0}, 0, 2, 2, {6, 2, 0}},
        {{13, 5, 0}, 0, 0, 1, {13, 5, 0}},
        {{4, 2, 9}, 0, 100, 4, {1, 1, 1}},
        {{8, 0, 3}, CUDA_ARRAY3D_LAYERED, 100, 4, {1, 0, 3}},
        {{4, 8, 3}, CUDA_ARRAY3D_LAYERED, 100, 4, {1, 1, 3}},
        {{8, 8, 6}, CUDA_ARRAY3D_CUBEMAP, 100, 4, {1, 1, 6}},
        {{8, 8, 12}, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED, 3, 3, {2, 2, 12}},
    };

    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        const size_t *size = all[i].size, *last = all[i].last;
        CUmipmappedArray mipmap = mipmap_new(size[0], size[1], size[2], all[i].flags, all[i].asked);
        CUDA_ARRAY3D_DESCRIPTOR desc;
        CUarray array;

        OK(cu.cuArray3DGetDescriptor_v2(&desc, level_of(mipmap, 0)));
        CHECK(desc.Width == size[0] && desc.Height == size[1] && desc.Depth == size[2]);
        OK(cu.cuArray3DGetDescriptor_v2(&desc, level_of(mipmap, all[i].levels - 1)));
        CHECK(desc.Width == last[0] && desc.Height == last[1] && desc.Depth == last[2],
              "array %zu: the last level is %zu x %zu x %zu", i, desc.Width, desc.Height,
              desc.Depth);
        CHECK(desc.Format == CU_AD_FORMAT_FLOAT && desc.NumChannels == 1);
        EXPECT(CUDA_ERROR_INVALID_VALUE,
               cu.cuMipmappedArrayGetLevel(&array, mipmap, all[i].levels));
        OK(cu.cuMipmappedArrayDestroy(mipmap));
    }
}

static void impossible_ones_are_refused(void)
{
    CUDA_ARRAY3D_DESCRIPTOR good = {16, 16, 0, CU_AD_FORMAT_FLOAT, 1, 0}, desc = good;
    CUmipmappedArray mipmap;
    int width;

    OK(cu.cuDeviceGetAttribute(&width, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_MIPMAPPED_WIDTH,
                               device));
    desc.Width = 0;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMipmappedArrayCreate(&mipmap, &desc, 1));
    desc = good;
    desc.NumChannels = 3;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMipmappedArrayCreate(&mipmap, &desc, 1));
    desc = good;
    desc.Width = (size_t)width + 1;
    desc.Height = 0;
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMipmappedArrayCreate(&mipmap, &desc, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMipmappedArrayCreate(NULL, &good, 1));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuMipmappedArrayCreate(&mipmap, NULL, 1));
}

static void levels_hold_texels_of_their_own(void)
{
    CUmipmappedArray mipmap = mipmap_new(16, 8, 0, 0, 5);
    float texels[16 * 8], got[16 * 8];

    for (unsigned l = 0; l < 5; l++) {
        for (size_t i = 0; i < ARRAY_SIZE(texels); i++)
            texels[i] = (float)(1000 * l + i);
        level_copy(level_of(mipmap, l), texels, true);
    }
    for (unsigned l = 0; l < 5; l++) {
        size_t count = at_least_one(16 >> l) * at_least_one(8 >> l);

        level_copy(level_of(mipmap, l), got, false);
        for (size_t i = 0; i < count; i++)
            CHECK(got[i] == (float)(1000 * l + i), "level %u, texel %zu: %g", l, i, (double)got[i]);
    }
    OK(cu.cuMipmappedArrayDestroy(mipmap));
}

// ---- Textures

static const CUDA_TEXTURE_DESC plain = {
    .addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP},
    .flags = CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION,
    .maxMipmapLevelClamp = 100};

static CUtexObject texture_new(CUmipmappedArray mipmap, const CUDA_TEXTURE_DESC *desc)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                   .res.mipmap.hMipmappedArray = mipmap};
    CUtexObject texture;

    OK(cu.cuTexObjectCreate(&texture, &resource, desc, NULL));
    return texture;
}

// What TEXT gives where %w is LEVEL.
static double sampled(CUtexObject texture, const char *text, float level)
{
    union words in = {.f = {0.5f, 0.5f, 0.5f, level}}, out = {.u = {0}};

    run(text, texture, &in, &out, 1);
    return (double)out.f[0];
}

#define CHECK_SAMPLE(texture, text, level, want)                                                   \
    do {                                                                                           \
        double sample_got = sampled(texture, text, level);                                         \
        CHECK(sample_got == (want), "level %g: %g, not %g", (double)(level), sample_got,           \
              (double)(want));                                                                     \
    } while (0)

static void every_geometry_reads_the_level_it_names(void)
{
    static const struct {
        size_t size[3];
        unsigned flags;
        const char *text;
    } all[] = {
        {{32, 0, 0}, 0, LEVEL("1d", "%x")},
        {{32, 16, 0}, 0, LEVEL("2d", "%x, %y")},
        {{32, 8, 4}, 0, LEVEL("3d", "%x, %y, %z, %z")},
        {{32, 0, 3}, CUDA_ARRAY3D_LAYERED, LEVEL("a1d", "%c0, %x")},
        {{32, 16, 3}, CUDA_ARRAY3D_LAYERED, LEVEL("a2d", "%c0, %x, %y, %y")},
        {{16, 16, 6}, CUDA_ARRAY3D_CUBEMAP, LEVEL("cube", "%x, %y, %z, %z")},
        {{16, 16, 12},
         CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_LAYERED,
         LEVEL("acube", "%c0, %x, %y, %z")},
    };

    for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
        unsigned levels = all[i].size[0] == 32 ? 6 : 5;
        CUmipmappedArray mipmap =
            mipmap_new(all[i].size[0], all[i].size[1], all[i].size[2], all[i].flags, levels);
        CUtexObject texture = texture_new(mipmap, &plain);

        levels_fill(mipmap, levels);
        for (unsigned l = 0; l < levels; l++)
            CHECK_SAMPLE(texture, all[i].text, (float)l, 16.0 * l);
        OK(cu.cuTexObjectDestroy(texture));
        OK(cu.cuMipmappedArrayDestroy(mipmap));
    }
}

static const char level_2d[] = LEVEL("2d", "%x, %y");

static void a_level_between_two_is_filtered_or_the_nearest(void)
{
    CUmipmappedArray mipmap = mipmap_new(32, 32, 0, 0, MOST_LEVELS);
    CUDA_TEXTURE_DESC desc = plain;
    CUtexObject nearest = texture_new(mipmap, &desc), linear;

    desc.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    linear = texture_new(mipmap, &desc);
    levels_fill(mipmap, MOST_LEVELS);
    CHECK_SAMPLE(nearest, level_2d, 1.25f, 16);
    CHECK_SAMPLE(nearest, level_2d, 1.75f, 32);
    CHECK_SAMPLE(linear, level_2d, 1, 16);
    CHECK_SAMPLE(linear, level_2d, 1.25f, 20);
    CHECK_SAMPLE(linear, level_2d, 1.5f, 24);
    CHECK_SAMPLE(linear, level_2d, 4.75f, 76);
}

static void both_filters_work_together(void)
{
    CUmipmappedArray mipmap = mipmap_new(2, 1, 0, 0, 2);
    float first[2] = {0, 64}, second = 128;
    CUDA_TEXTURE_DESC desc = plain;
    CUtexObject texture;

    level_copy(level_of(mipmap, 0), first, true);
    level_copy(level_of(mipmap, 1), &second, true);
    desc.filterMode = desc.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    texture = texture_new(mipmap, &desc);
    CHECK_SAMPLE(texture, level_2d, 0, 32);
    CHECK_SAMPLE(texture, level_2d, 0.5f, 80);
    CHECK_SAMPLE(texture, level_2d, 1, 128);
}

static void levels_beyond_the_array_are_its_ends(void)
{
    CUmipmappedArray mipmap = mipmap_new(32, 32, 0, 0, 3);
    CUDA_TEXTURE_DESC desc = plain;
    CUtexObject nearest = texture_new(mipmap, &desc), linear;

    desc.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    linear = texture_new(mipmap, &desc);
    levels_fill(mipmap, 3);
    CHECK_SAMPLE(nearest, level_2d, -3, 0);
    CHECK_SAMPLE(nearest, level_2d, 7, 32);
    CHECK_SAMPLE(linear, level_2d, -0.5f, 0);
    CHECK_SAMPLE(linear, level_2d, 2.5f, 32);
}

static void bias_is_added_and_bounds_hold(void)
{
    CUmipmappedArray mipmap = mipmap_new(32, 32, 0, 0, MOST_LEVELS);
    CUDA_TEXTURE_DESC desc = plain;
    CUtexObject biased, bounded, between;

    desc.mipmapLevelBias = 2;
    biased = texture_new(mipmap, &desc);
    desc.mipmapLevelBias = 0;
    desc.minMipmapLevelClamp = 1;
    desc.maxMipmapLevelClamp = 3;
    bounded = texture_new(mipmap, &desc);
    desc.mipmapFilterMode = CU_TR_FILTER_MODE_LINEAR;
    desc.mipmapLevelBias = -0.25f;
    desc.minMipmapLevelClamp = 1.5f;
    desc.maxMipmapLevelClamp = 3.25f;
    between = texture_new(mipmap, &desc);
    levels_fill(mipmap, MOST_LEVELS);
    CHECK_SAMPLE(biased, level_2d, 1, 48);
    CHECK_SAMPLE(biased, level_2d, 5, 80);
    CHECK_SAMPLE(bounded, level_2d, 0, 16);
    CHECK_SAMPLE(bounded, level_2d, 2, 32);
    CHECK_SAMPLE(bounded, level_2d, 5, 48);
    CHECK_SAMPLE(between, level_2d, 0, 24);
    CHECK_SAMPLE(between, level_2d, 2.5f, 36);
    CHECK_SAMPLE(between, level_2d, 5, 52);
}

// OpenGL 4.6, 8.14.1: the logarithm of the longer of two steps, in texels of the first level.
static void gradients_choose_the_level(void)
{
    CUmipmappedArray mipmap = mipmap_new(32, 16, 0, 0, MOST_LEVELS);
    CUtexObject texture = texture_new(mipmap, &plain);

    levels_fill(mipmap, MOST_LEVELS);
    // the steps in x and in y of the screen, each along both axes of the texture
    CHECK_SAMPLE(texture, GRADIENT("{%w, %z}, {%z, %z}"), 1 / 32.0f, 0);
    CHECK_SAMPLE(texture, GRADIENT("{%w, %z}, {%z, %z}"), 4 / 32.0f, 32);
    CHECK_SAMPLE(texture, GRADIENT("{%z, %z}, {%w, %z}"), -8 / 32.0f, 48);
    CHECK_SAMPLE(texture, GRADIENT("{%z, %w}, {%z, %z}"), 4 / 16.0f, 32);
    CHECK_SAMPLE(texture, GRADIENT("{%y, %z}, {%z, %w}"), 8 / 16.0f, 48);
    CHECK_SAMPLE(texture, GRADIENT("{%y, %z}, {%z, %w}"), 1 / 16.0f, 16);
    CHECK_SAMPLE(texture, GRADIENT("{%w, %z}, {%z, %z}"), 0, 0);
    CHECK_SAMPLE(texture, GRADIENT("{%w, %z}, {%z, %z}"), 100, 80);
}

// On the face +z of a cube of 16 texels, whose coordinates go from -1 to 1.
static void gradients_of_cubes_are_those_of_their_faces(void)
{
    static const char along[] = CUBE_GRADIENT("%y", "{%w, %y, %y, %y}, {%y, %y, %y, %y}");
    static const char away[] = CUBE_GRADIENT("%x", "{%y, %y, %y, %y}, {%y, %y, %w, %y}");
    CUmipmappedArray mipmap = mipmap_new(16, 16, 6, CUDA_ARRAY3D_CUBEMAP, 5);
    CUtexObject texture = texture_new(mipmap, &plain);

    if (!on_software)
        skip("how exact a GPU's gradients of cubes are is nowhere written");
    levels_fill(mipmap, 5);
    CHECK_SAMPLE(texture, along, 2 / 16.0f, 0);
    CHECK_SAMPLE(texture, along, 8 / 16.0f, 32);
    // x / z falls by half of a step in z
    CHECK_SAMPLE(texture, away, 8 / 16.0f, 16);
}

static void an_instruction_without_a_level_reads_the_first(void)
{
    CUmipmappedArray mipmap = mipmap_new(32, 32, 0, CUDA_ARRAY3D_TEXTURE_GATHER, MOST_LEVELS);
    CUtexObject texture = texture_new(mipmap, &plain);

    levels_fill(mipmap, MOST_LEVELS);
    level_fill(level_of(mipmap, 0), 7);
    CHECK_SAMPLE(texture, PLAIN, 0, 7);
    CHECK_SAMPLE(texture, "tld4.r.2d.v4.f32.f32 " FOUR ", [%t, {%x, %y}];", 0, 7);
}

// The PTX ISA calls it the level 0; that bias and bounds count there too is what OpenGL and Vulkan
// have for a level that is named.
static void bias_and_bounds_count_without_a_level(void)
{
    CUmipmappedArray mipmap = mipmap_new(32, 32, 0, 0, MOST_LEVELS);
    CUDA_TEXTURE_DESC desc = plain;
    CUtexObject texture;

    if (!on_software)
        skip("a GPU has yet to be asked");
    desc.mipmapLevelBias = 1;
    desc.minMipmapLevelClamp = 2;
    texture = texture_new(mipmap, &desc);
    levels_fill(mipmap, MOST_LEVELS);
    CHECK_SAMPLE(texture, PLAIN, 0, 32);
}

static void indices_name_texels_of_a_level(void)
{
    CUmipmappedArray mipmap = mipmap_new(8, 4, 0, 0, 3);
    CUtexObject texture = texture_new(mipmap, &plain);
    static const char fetch[] = "tex.level.2d.v4.f32.s32 " FOUR ", [%t, {%c0, %c1}], %c3;";
    union words in[] = {{.s = {7, 3, 0, 0}}, {.s = {3, 1, 0, 1}}, {.s = {1, 0, 0, 2}},
                        {.s = {4, 0, 0, 1}}, {.s = {0, 0, 0, 3}}, {.s = {0, 0, 0, -1}}};
    union words out[ARRAY_SIZE(in)] = {0};
    static const float want[] = {131, 207, 301, 0, 0, 0};
    float texels[8 * 4];

    for (unsigned l = 0; l < 3; l++) {
        for (size_t i = 0; i < ARRAY_SIZE(texels); i++)
            texels[i] = (float)(100 * (l + 1) + i);
        level_copy(level_of(mipmap, l), texels, true);
    }
    run(fetch, texture, in, out, on_software ? 6 : 3); // outside a GPU may give anything
    for (unsigned i = 0; i < (on_software ? 6 : 3); i++)
        CHECK(out[i].f[0] == want[i], "fetch %u: %g", i, (double)out[i].f[0]);
}

static void levels_are_counted_and_measured(void)
{
    CUmipmappedArray mipmap = mipmap_new(16, 4, 3, CUDA_ARRAY3D_LAYERED, 4);
    CUtexObject texture = texture_new(mipmap, &plain);
    // Kernels that count levels have a symbol, .nv.unified.texrefDescSize, which the driver does
    // not resolve: it has no such function then.
    static const char count[] = "txq.num_mipmap_levels.b32 %d0, [%t];\n    mov.b32 %d1, 0;\n"
                                "    mov.b32 %d2, 0;\n    mov.b32 %d3, 0;";
    static const char query[] = "mov.b32 %d0, 4;\n"
                                "    txq.level.width.b32 %d1, [%t], %c0;\n"
                                "    txq.level.height.b32 %d2, [%t], %c0;\n"
                                "    txq.level.depth.b32 %d3, [%t], %c0;";
    union words in[4] = {{.u = {0}}, {.u = {1}}, {.u = {2}}, {.u = {3}}}, out[4] = {0};
    static const uint32_t want[4][4] = {{4, 16, 4, 3}, {4, 8, 2, 3}, {4, 4, 1, 3}, {4, 2, 1, 3}};

    run(query, texture, in, out, 4);
    for (unsigned i = 0; i < 4; i++)
        CHECK(!memcmp(out[i].u, want[i], sizeof(want[i])), "level %u of %u: %u x %u x %u", i,
              out[i].u[0], out[i].u[1], out[i].u[2], out[i].u[3]);
    if (!on_software)
        return;
    run(count, texture, in, out, 1);
    CHECK(out[0].u[0] == 4, "%u levels", out[0].u[0]);
}

static void integers_are_read_as_such(void)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = {4, 4, 0, CU_AD_FORMAT_SIGNED_INT16, 1, 0};
    CUDA_TEXTURE_DESC how = plain;
    CUmipmappedArray mipmap;
    int16_t texels[4][4];
    CUtexObject texture;
    union words in = {.f = {0.5f, 0.5f, 0.5f, 1}}, out = {.u = {0}};

    OK(cu.cuMipmappedArrayCreate(&mipmap, &desc, 2));
    for (unsigned i = 0; i < 16; i++)
        texels[i / 4][i % 4] = -300;
    OK(cu.cuMemcpyHtoA_v2(level_of(mipmap, 1), 0, texels, 4));
    how.flags |= CU_TRSF_READ_AS_INTEGER;
    texture = texture_new(mipmap, &how);
    in.f[0] = in.f[1] = 0.25f;
    run("tex.level.2d.v4.s32.f32 " FOUR ", [%t, {%x, %y}], %w;", texture, &in, &out, 1);
    CHECK(out.s[0] == -300, "%d", out.s[0]);
}

static void surfaces_write_what_textures_read(void)
{
    CUmipmappedArray mipmap = mipmap_new(16, 16, 0, CUDA_ARRAY3D_SURFACE_LDST, 3);
    CUtexObject texture = texture_new(mipmap, &plain);
    CUsurfObject surface = surface_of(level_of(mipmap, 1));
    union words in = {.u = {16, 4}}, out = {.f = {5}}; // the texel 4, 4 of 8 x 8

    levels_fill(mipmap, 3);
    run("sust.b.2d.b32.trap [%t, {%c0, %c1}], {%d0};", surface, &in, &out, 1);
    in = (union words){.f = {0.5f, 0.5f, 0, 1}};
    run(level_2d, texture, &in, &out, 1);
    CHECK(out.f[0] == 5, "%g", (double)out.f[0]);
    CHECK_SAMPLE(texture, level_2d, 0, 0);
    CHECK_SAMPLE(texture, level_2d, 2, 32);
    OK(cu.cuSurfObjectDestroy(surface));
}

static void coordinates_have_to_be_normalized(void)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY,
                                   .res.mipmap.hMipmappedArray = mipmap_new(8, 8, 0, 0, 2)};
    CUDA_TEXTURE_DESC desc = plain;
    CUDA_RESOURCE_DESC told;
    CUtexObject texture;
    CUsurfObject surface;

    desc.flags = 0;
    if (on_software) // the driver takes it, and nowhere is written what it reads then
        EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectCreate(&texture, &resource, &desc, NULL));
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuSurfObjectCreate(&surface, &resource));
    OK(cu.cuTexObjectCreate(&texture, &resource, &plain, NULL));
    OK(cu.cuTexObjectGetResourceDesc(&told, texture));
    CHECK(told.resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY &&
          told.res.mipmap.hMipmappedArray == resource.res.mipmap.hMipmappedArray);
}

// ---- Ends

// What no driver promises to survive, and this device does.
static void levels_go_with_the_whole(void)
{
    CUmipmappedArray mipmap = mipmap_new(8, 8, 0, 0, 4);
    CUarray level = level_of(mipmap, 2);
    CUDA_ARRAY3D_DESCRIPTOR desc;

    if (!on_software)
        skip("a driver may trust handles");
    CHECK(level_of(mipmap, 2) == level);
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuArrayDestroy(level));
    OK(cu.cuArray3DGetDescriptor_v2(&desc, level));
    OK(cu.cuMipmappedArrayDestroy(mipmap));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuArray3DGetDescriptor_v2(&desc, level));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuMipmappedArrayGetLevel(&level, mipmap, 0));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuMipmappedArrayDestroy(mipmap));
}

static void memory_of_all_levels_counts(void)
{
    size_t before, during, after, total;
    CUmipmappedArray mipmap;

    OK(cu.cuMemGetInfo_v2(&before, &total));
    mipmap = mipmap_new(4096, 4096, 0, 0, 2); // 64 MiB and 16
    OK(cu.cuMemGetInfo_v2(&during, &total));
    CHECK(before - during >= (size_t)80 << 20, "%zu", before - during);
    OK(cu.cuMipmappedArrayDestroy(mipmap));
    OK(cu.cuMemGetInfo_v2(&after, &total));
    CHECK(after >= during + ((size_t)80 << 20));
}

static const struct test tests[] = {
    {"levels have half the size of the ones before", levels_have_the_halves, false},
    {"impossible mipmapped arrays are refused", impossible_ones_are_refused, false},
    {"each level holds texels of its own", levels_hold_texels_of_their_own, false},
    {"every geometry reads the level it names", every_geometry_reads_the_level_it_names, false},
    {"a level between two is filtered, or the nearest",
     a_level_between_two_is_filtered_or_the_nearest, false},
    {"both filters work together", both_filters_work_together, false},
    {"levels beyond the array are its ends", levels_beyond_the_array_are_its_ends, false},
    {"a bias is added, and bounds hold", bias_is_added_and_bounds_hold, false},
    {"gradients choose the level", gradients_choose_the_level, false},
    {"gradients of cubes are those of their faces", gradients_of_cubes_are_those_of_their_faces,
     false},
    {"an instruction without a level reads the first",
     an_instruction_without_a_level_reads_the_first, false},
    {"bias and bounds count without a level", bias_and_bounds_count_without_a_level, false},
    {"indices name texels of a level", indices_name_texels_of_a_level, false},
    {"levels are counted and measured", levels_are_counted_and_measured, false},
    {"integers are read as such", integers_are_read_as_such, false},
    {"surfaces write what textures read", surfaces_write_what_textures_read, false},
    {"coordinates have to be normalized", coordinates_have_to_be_normalized, false},
    {"levels go with the whole", levels_go_with_the_whole, false},
    {"the memory of all levels counts", memory_of_all_levels_counts, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
