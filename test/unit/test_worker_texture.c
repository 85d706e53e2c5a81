/* test_worker_texture.c - what arrays and textures a tenant may ask for, and what they count as. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/texture/check.h"

static texture_fault array_fault(uint64_t width, uint64_t height, uint64_t depth, uint64_t kind,
                                 CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    const uint64_t arg[4] = {width, height, depth, kind};

    return req_array_check(arg, desc, &(uint32_t){0});
}

static void an_array_becomes_the_drivers_descriptor(void **state)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;

    (void)state;
    assert_null(
        array_fault(100, 50, 7, req_array_kind(GS_FORMAT_FLOAT16, 4, 0, GS_ARRAY_LAYERED), &desc));
    assert_int_equal(desc.Width, 100);
    assert_int_equal(desc.Height, 50);
    assert_int_equal(desc.Depth, 7);
    assert_int_equal(desc.Format, CU_AD_FORMAT_HALF);
    assert_int_equal(desc.NumChannels, 4);
    assert_int_equal(desc.Flags, CUDA_ARRAY3D_LAYERED);
}

static void every_extent_format_and_flag_is_checked(void **state)
{
    const uint64_t byte = req_array_kind(GS_FORMAT_UINT8, 1, 0, 0);
    const uint64_t cube = req_array_kind(GS_FORMAT_UINT8, 1, 0, GS_ARRAY_CUBEMAP);
    const uint64_t cubes =
        req_array_kind(GS_FORMAT_UINT8, 1, 0, GS_ARRAY_CUBEMAP | GS_ARRAY_LAYERED);
    CUDA_ARRAY3D_DESCRIPTOR desc;

    (void)state;
    assert_null(array_fault(1, 0, 0, byte, &desc));
    assert_null(array_fault(131072, 131072, 131072, byte, &desc));
    assert_non_null(array_fault(0, 0, 0, byte, &desc));
    assert_non_null(array_fault(131073, 0, 0, byte, &desc));
    assert_non_null(array_fault(1, 131073, 0, byte, &desc));
    assert_non_null(array_fault(1, 1, UINT64_MAX, byte, &desc));
    assert_non_null(array_fault(1, 0, 1, byte, &desc));
    assert_non_null(
        array_fault(1, 1, 0, req_array_kind(GS_FORMAT_UINT8, 1, 0, GS_ARRAY_LAYERED), &desc));
    assert_null(array_fault(8, 8, 6, cube, &desc));
    assert_non_null(array_fault(8, 8, 12, cube, &desc));
    assert_non_null(array_fault(8, 9, 6, cube, &desc));
    assert_null(array_fault(8, 8, 12, cubes, &desc));
    assert_non_null(array_fault(8, 8, 13, cubes, &desc));
    assert_non_null(array_fault(8, 8, 0, cubes, &desc));
    for (uint32_t format = 0; format < 0x10000; format++) {
        const bool known = texel_size(format, 1) > 0;

        assert_int_equal(!array_fault(1, 0, 0, req_array_kind(format, 1, 0, 0), &desc), known);
    }
    for (uint32_t channels = 0; channels < 0x100; channels++)
        assert_int_equal(
            !array_fault(1, 0, 0, req_array_kind(GS_FORMAT_UINT8, channels, 0, 0), &desc),
            channels == 1 || channels == 2 || channels == 4);
    for (uint32_t bit = 4; bit < 32; bit++)
        assert_non_null(
            array_fault(1, 1, 0, req_array_kind(GS_FORMAT_UINT8, 1, 0, 1u << bit), &desc));
}

static void an_array_counts_as_at_least_its_texels(void **state)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;

    (void)state;
    assert_null(array_fault(1, 0, 0, req_array_kind(GS_FORMAT_UINT8, 1, 0, 0), &desc));
    assert_int_equal(array_counted(&desc, 0), 4096);
    assert_null(array_fault(129, 9, 3, req_array_kind(GS_FORMAT_FLOAT32, 1, 0, 0), &desc));
    assert_int_equal(array_counted(&desc, 0), 1024 * 16 * 3);
    assert_null(
        array_fault(131072, 131072, 131072, req_array_kind(GS_FORMAT_FLOAT32, 4, 0, 0), &desc));
    assert_true(array_counted(&desc, 0) == UINT64_C(1) << 55);
}

static struct req_texture pitched(void)
{
    return (struct req_texture){.type = GS_RESOURCE_PITCHED,
                                .address = 512,
                                .width = 10,
                                .height = 4,
                                .pitch = 64,
                                .format = GS_FORMAT_FLOAT32,
                                .channels = 1};
}

/* Checks the texture and returns how many bytes it reads; UINT64_MAX: it is refused. */
static uint64_t reads(const struct req_texture *asked)
{
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    uint64_t bytes;

    return req_texture_check(asked, &resource, &desc, &bytes) ? UINT64_MAX : bytes;
}

static void a_texture_reads_from_its_first_to_its_last_texel(void **state)
{
    struct req_texture asked = pitched();

    (void)state;
    assert_int_equal(reads(&asked), 3 * 64 + 40);
    asked.width = asked.height = 131072;
    asked.pitch = UINT64_C(0x7fffffe0);
    assert_true(reads(&asked) == UINT64_C(131071) * 0x7fffffe0 + 131072 * 4);
    asked.type = GS_RESOURCE_LINEAR;
    asked.width = 4099;
    assert_int_equal(reads(&asked), 4099);
    asked.width = UINT64_C(4) << 28;
    assert_int_equal(reads(&asked), UINT64_C(4) << 28);
    asked.width += 4;
    assert_true(reads(&asked) == UINT64_MAX);
    asked.type = GS_RESOURCE_ARRAY;
    assert_int_equal(reads(&asked), 0);
}

static void every_field_of_a_texture_is_checked(void **state)
{
    struct req_texture good = pitched(), asked;

    (void)state;
    assert_true(reads(&good) != UINT64_MAX);
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        asked = good;                                                                              \
        change;                                                                                    \
        assert_true(reads(&asked) == UINT64_MAX);                                                  \
    } while (0)
    REFUSED(asked.type = 1); /* it has no normalized coordinates */
    REFUSED(asked.type = 4);
    REFUSED(asked.type = UINT32_MAX);
    REFUSED(asked.address = 256);
    REFUSED(asked.width = 0);
    REFUSED(asked.width = 17);
    REFUSED(asked.width = UINT64_MAX / 4 + 2);
    REFUSED(asked.height = 0);
    REFUSED(asked.height = 131073);
    REFUSED(asked.pitch = 0);
    REFUSED(asked.pitch = 65);
    REFUSED(asked.pitch = UINT64_C(1) << 31);
    REFUSED(asked.format = 0);
    REFUSED(asked.format = 0x100 + GS_FORMAT_UINT8);
    REFUSED(asked.channels = 3);
    REFUSED(asked.channels = 0);
    REFUSED(asked.flags = 0x80);
    REFUSED(asked.flags = 0x04);
    REFUSED(asked.filter_mode = 2);
    REFUSED(asked.max_anisotropy = 17);
    for (unsigned i = 0; i < 3; i++)
        REFUSED(asked.address_mode[i] = 4);
#undef REFUSED
}

/* As instructions name it: what kernels of a fenced session can do with an array. */
static void an_array_has_the_geometry_of_its_instructions(void **state)
{
    static const struct {
        uint64_t width, height, depth;
        unsigned flags;
        enum texture_column texture, surface;
    } all[] = {
        {9, 0, 0, 0, TEXTURE_1D, SURFACE_1D},
        {9, 4, 0, GS_ARRAY_GATHER, TEXTURE_2D, SURFACE_2D},
        {9, 4, 3, 0, TEXTURE_3D, SURFACE_3D},
        {9, 0, 3, GS_ARRAY_LAYERED, TEXTURE_A1D, SURFACE_A1D},
        {9, 4, 1, GS_ARRAY_LAYERED | GS_ARRAY_SURFACE, TEXTURE_A2D, SURFACE_A2D},
        {4, 4, 6, GS_ARRAY_CUBEMAP, TEXTURE_CUBE, SURFACE_A2D},
        {4, 4, 12, GS_ARRAY_CUBEMAP | GS_ARRAY_LAYERED, TEXTURE_ACUBE, SURFACE_A2D},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        CUDA_ARRAY3D_DESCRIPTOR desc;

        assert_null(array_fault(all[i].width, all[i].height, all[i].depth,
                                req_array_kind(GS_FORMAT_UINT8, 1, 0, all[i].flags), &desc));
        assert_int_equal(array_texture_column(&desc), all[i].texture);
        assert_int_equal(array_surface_column(&desc), all[i].surface);
    }
}

static void a_mipmapped_array_has_the_levels_of_its_sizes(void **state)
{
    static const struct {
        uint64_t size[3];
        uint32_t flags, most;
        uint64_t last[3];
    } all[] = {
        {{1, 0, 0}, 0, 1, {1, 0, 0}},
        {{131072, 0, 0}, 0, ARRAY_LEVELS_MAX, {1, 0, 0}},
        {{13, 5, 0}, 0, 4, {1, 1, 0}},
        {{2, 3, 16}, 0, 5, {1, 1, 1}},
        {{2, 3, 16}, GS_ARRAY_LAYERED, 2, {1, 1, 16}},
        {{2, 0, 16}, GS_ARRAY_LAYERED, 2, {1, 0, 16}},
        {{4, 4, 6}, GS_ARRAY_CUBEMAP, 3, {1, 1, 6}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        for (uint32_t levels = 0; levels < 256; levels++) {
            const uint64_t arg[4] = {all[i].size[0], all[i].size[1], all[i].size[2],
                                     req_array_kind(GS_FORMAT_UINT8, 1, levels, all[i].flags)};
            CUDA_ARRAY3D_DESCRIPTOR desc, last;
            uint32_t got = 0;

            assert_int_equal(!req_array_check(arg, &desc, &got), levels <= all[i].most);
            if (levels != all[i].most)
                continue;
            assert_int_equal(got, levels);
            last = array_level_desc(&desc, levels - 1);
            assert_int_equal(last.Width, all[i].last[0]);
            assert_int_equal(last.Height, all[i].last[1]);
            assert_int_equal(last.Depth, all[i].last[2]);
        }
    }
}

static void all_levels_of_an_array_count(void **state)
{
    CUDA_ARRAY3D_DESCRIPTOR desc;

    (void)state;
    assert_null(array_fault(1024, 64, 0, req_array_kind(GS_FORMAT_FLOAT32, 1, 3, 0), &desc));
    assert_int_equal(array_counted(&desc, 1), 4096 * 64);
    assert_int_equal(array_counted(&desc, 3), 4096 * 64 + 2048 * 32 + 1024 * 16);
    /* a level takes whole blocks, however small it is */
    assert_int_equal(array_counted(&desc, 11) - array_counted(&desc, 8), 3 * 512 * 8);
}

static struct req_texture mipmapped(void)
{
    return (struct req_texture){.type = GS_RESOURCE_MIPMAPPED,
                                .flags = GS_TEXTURE_NORMALIZED_COORDINATES,
                                .mipmap_filter = GS_FILTER_LINEAR,
                                .mipmap_bias = -0.5f,
                                .mipmap_min = 1,
                                .mipmap_max = INFINITY};
}

static void a_texture_says_how_it_finds_its_levels(void **state)
{
    struct req_texture good = mipmapped(), asked;
    CUDA_RESOURCE_DESC resource;
    CUDA_TEXTURE_DESC desc;
    uint64_t bytes;

    (void)state;
    assert_null(req_texture_check(&good, &resource, &desc, &bytes));
    assert_int_equal(bytes, 0);
    assert_int_equal(resource.resType, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    assert_int_equal(desc.mipmapFilterMode, CU_TR_FILTER_MODE_LINEAR);
    assert_float_equal(desc.mipmapLevelBias, -0.5f, 0);
    assert_float_equal(desc.minMipmapLevelClamp, 1, 0);
    assert_float_equal(desc.maxMipmapLevelClamp, 1024, 0); /* a driver need not know infinity */
#define REFUSED(change)                                                                            \
    do {                                                                                           \
        asked = good;                                                                              \
        change;                                                                                    \
        assert_true(reads(&asked) == UINT64_MAX);                                                  \
    } while (0)
    REFUSED(asked.flags = 0);
    REFUSED(asked.mipmap_filter = 2);
    REFUSED(asked.mipmap_bias = NAN);
    REFUSED(asked.mipmap_min = NAN);
    REFUSED(asked.mipmap_max = -NAN);
#undef REFUSED
    asked = good; /* of one level, which is all there is */
    asked.type = GS_RESOURCE_ARRAY;
    asked.mipmap_bias = NAN;
    assert_null(req_texture_check(&asked, &resource, &desc, &bytes));
    assert_float_equal(desc.mipmapLevelBias, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_becomes_the_drivers_descriptor),
        cmocka_unit_test(every_extent_format_and_flag_is_checked),
        cmocka_unit_test(an_array_counts_as_at_least_its_texels),
        cmocka_unit_test(a_texture_reads_from_its_first_to_its_last_texel),
        cmocka_unit_test(every_field_of_a_texture_is_checked),
        cmocka_unit_test(an_array_has_the_geometry_of_its_instructions),
        cmocka_unit_test(a_mipmapped_array_has_the_levels_of_its_sizes),
        cmocka_unit_test(all_levels_of_an_array_count),
        cmocka_unit_test(a_texture_says_how_it_finds_its_levels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
