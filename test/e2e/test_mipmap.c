/*
 * test_mipmap.c - mipmapped arrays: their levels as arrays of their own, what they count as and how
 * long they stay, and the textures that show them. Each test runs with and without the fence.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "e2e/fence_modes.h"
#include "harness/harness.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

/* A kernel of one thread: out[0] = what the instruction gives in %f0, at the middle of the texture
 * with %w, a level or a step. */
#define KERNEL(name, instruction)                                                                  \
    ".visible .entry " name "(.param .u64 t, .param .u64 out, .param .f32 w)\n"                    \
    "{ .reg .b64 %t, %o; .reg .f32 %x, %w, %z, %f<4>; ld.param.u64 %t, [t];\n"                     \
    "  ld.param.u64 %o, [out]; ld.param.f32 %w, [w]; mov.f32 %x, 0f3F000000;\n"                    \
    "  mov.f32 %z, 0f00000000;\n"                                                                  \
    "  " instruction "\n  st.global.f32 [%o], %f0; ret; }\n"

#define FOUR "{%f0, %f1, %f2, %f3}"

static const char mipmap_ptx[] = HEAD KERNEL("level1",
                                             "tex.level.1d.v4.f32.f32 " FOUR ", [%t, {%x}], %w;")
    KERNEL("level2", "tex.level.2d.v4.f32.f32 " FOUR ", [%t, {%x, %x}], %w;")
        KERNEL("level3", "tex.level.3d.v4.f32.f32 " FOUR ", [%t, {%x, %x, %x, %x}], %w;")
            KERNEL("grad2", "tex.grad.2d.v4.f32.f32 " FOUR ", [%t, {%x, %x}], {%w, %z}, {%z, %z};")
                KERNEL("plain2", "tex.2d.v4.f32.f32 " FOUR ", [%t, {%x, %x}];")
    /* the texel (tid, ctaid) becomes 7 */
    ".visible .entry paint(.param .u64 s)\n"
    "{ .reg .b64 %s; .reg .b32 %x, %y, %v; ld.param.u64 %s, [s]; mov.u32 %x, %tid.x;\n"
    "  mov.u32 %y, %ctaid.x; shl.b32 %x, %x, 2; mov.b32 %v, 0f40e00000;\n"
    "  sust.b.2d.b32.zero [%s, {%x, %y}], %v; ret; }\n";

struct scene {
    struct server *server;
    gs_session session;
    gs_module module;
    gs_devptr out;
    uint64_t memory; /* of the session, beside arrays */
};

static struct scene scene_set(const char *mode)
{
    struct scene s = {.server = server_in_mode(mode)};

    CHECK_OK(server_attach(s.server, &s.session));
    CHECK_OK(gs_malloc(s.session, 4096, &s.out));
    CHECK_OK(gs_module_load(s.session, mipmap_ptx, 0, &s.module));
    s.memory = server_memory_used(s.server);
    return s;
}

static void scene_end(const struct scene *s)
{
    CHECK_OK(gs_detach(s->session));
    server_wait_tenants(s->server, 0, 5000);
    CHECK_EQUAL(server_memory_used(s->server), 0);
    server_stop(s->server);
}

static gs_array_desc desc_of(size_t width, size_t height, size_t depth, size_t levels)
{
    gs_array_desc desc = GS_ARRAY_DESC_INIT;

    desc.width = width;
    desc.height = height;
    desc.depth = depth;
    desc.levels = levels;
    desc.flags = GS_ARRAY_SURFACE;
    return desc;
}

static gs_array mipmap_of(const struct scene *s, size_t width, size_t height, size_t depth,
                          size_t levels)
{
    const gs_array_desc desc = desc_of(width, height, depth, levels);
    gs_array array;

    CHECK_OK(gs_array_create(s->session, &desc, &array));
    return array;
}

static gs_array level_of(gs_array mipmap, unsigned level)
{
    gs_array array;

    CHECK_OK(gs_array_level(mipmap, level, &array));
    return array;
}

static size_t at_least_one(size_t side)
{
    return side ? side : 1;
}

/* Copies all of an array of floats from or to packed host memory; returns how many there are. */
static size_t array_copy(const struct scene *s, gs_array array, float *texels, bool to_array)
{
    gs_memcpy_3d_params box = GS_MEMCPY_3D_PARAMS_INIT;
    gs_array_desc desc = GS_ARRAY_DESC_INIT;

    CHECK_OK(gs_array_info(array, &desc));
    CHECK_EQUAL(desc.levels, 0);
    box.width = desc.width * sizeof(float);
    box.height = at_least_one(desc.height);
    box.depth = at_least_one(desc.depth);
    (to_array ? &box.src : &box.dst)->host = texels;
    (to_array ? &box.dst : &box.src)->array = array;
    CHECK_OK(gs_memcpy_3d(s->session, &box));
    return desc.width * box.height * box.depth;
}

#define TEXELS_MAX (64 * 64)

/* Each level has one value: 16, 32, 48 ... */
static void levels_fill(const struct scene *s, gs_array mipmap, unsigned levels)
{
    static float texels[TEXELS_MAX];

    for (unsigned l = 0; l < levels; l++) {
        gs_array level = level_of(mipmap, l);

        for (unsigned i = 0; i < TEXELS_MAX; i++)
            texels[i] = 16.0f * (float)(l + 1);
        array_copy(s, level, texels, true);
        CHECK_OK(gs_array_destroy(level));
    }
}

static gs_texture texture_of(const struct scene *s, gs_array mipmap, gs_filter_mode between,
                             float bias, float least, float most)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc desc = GS_TEXTURE_DESC_INIT;
    gs_texture texture;

    resource.type = GS_RESOURCE_MIPMAPPED;
    resource.array = mipmap;
    desc.flags = GS_TEXTURE_NORMALIZED_COORDINATES | GS_TEXTURE_NO_TRILINEAR_OPTIMIZATION;
    desc.mipmap_filter = between;
    desc.mipmap_bias = bias;
    desc.mipmap_min = least;
    desc.mipmap_max = most;
    CHECK_OK(gs_texture_create(s->session, &resource, &desc, &texture));
    return texture;
}

static gs_texture plain_texture_of(const struct scene *s, gs_array mipmap)
{
    return texture_of(s, mipmap, GS_FILTER_POINT, 0, 0, 1000);
}

static float sampled(const struct scene *s, const char *kernel, gs_texture texture, float w)
{
    gs_devptr out = s->out;
    float got = -1;

    CHECK_OK(
        kernels_launch(NULL, kernels_get(s->module, kernel), 1, 1, (void *[]){&texture, &out, &w}));
    CHECK_OK(gs_memcpy_dtoh(s->session, &got, s->out, sizeof(got)));
    return got;
}

#define CHECK_SAMPLE(kernel, texture, w, want)                                                     \
    do {                                                                                           \
        const float sample_got = sampled(&s, kernel, texture, w);                                  \
        if (sample_got != (want))                                                                  \
            test_fail(__FILE__, __LINE__, "%s with %g gives %g and not %g", kernel, (double)(w),   \
                      (double)sample_got, (double)(want));                                         \
    } while (0)

/* ---- Levels ---- */

static void levels_begin_as_zeros_and_keep_what_is_copied_to_them(const char *mode)
{
    static const size_t sizes[][4] = {
        {64, 0, 0, 7}, {64, 16, 0, 7}, {13, 5, 0, 4}, {16, 8, 4, 5}, {13, 5, 0, 1}};
    static float texels[TEXELS_MAX];
    struct scene s = scene_set(mode);

    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        const unsigned levels = (unsigned)sizes[i][3];
        gs_array mipmap = mipmap_of(&s, sizes[i][0], sizes[i][1], sizes[i][2], levels);

        for (unsigned l = 0; l < levels; l++) {
            gs_array level = level_of(mipmap, l);
            gs_array_desc desc = GS_ARRAY_DESC_INIT;
            size_t count = array_copy(&s, level, texels, false);

            for (size_t k = 0; k < count; k++) {
                CHECK(texels[k] == 0);
                texels[k] = (float)(1000 * l + k);
            }
            CHECK_OK(gs_array_info(level, &desc));
            CHECK_EQUAL(desc.width, at_least_one(sizes[i][0] >> l));
            array_copy(&s, level, texels, true);
            CHECK_OK(gs_array_destroy(level));
        }
        for (unsigned l = 0; l < levels; l++) {
            gs_array level = level_of(mipmap, l);
            size_t count = array_copy(&s, level, texels, false);

            for (size_t k = 0; k < count; k++)
                CHECK(texels[k] == (float)(1000 * l + k));
            CHECK_OK(gs_array_destroy(level));
        }
        CHECK_OK(gs_array_destroy(mipmap));
    }
    scene_end(&s);
}
BOTH(levels_begin_as_zeros_and_keep_what_is_copied_to_them)

/* A level that is copied to, shown or written is the mipmapped array's memory, which goes with the
 * last of what uses it. */
static void the_memory_counts_until_the_last_level_and_texture_have_gone(const char *mode)
{
    struct scene s = scene_set(mode);
    gs_array mipmap = mipmap_of(&s, 1024, 1024, 0, 2), level = level_of(mipmap, 1);
    const uint64_t whole = s.memory + (5 << 20); /* 4 MiB and a quarter of it */
    gs_texture texture = plain_texture_of(&s, mipmap);
    gs_surface surface;

    CHECK_OK(gs_surface_create(s.session, level, &surface));
    CHECK_EQUAL(server_memory_used(s.server), whole);
    CHECK_OK(gs_array_destroy(mipmap));
    CHECK_STATUS(gs_array_level(mipmap, 0, &level), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_array_destroy(level));
    CHECK_STATUS(gs_array_destroy(level), GS_ERR_INVALID_HANDLE);
    CHECK_OK(kernels_launch(NULL, kernels_get(s.module, "paint"), 512, 512, (void *[]){&surface}));
    CHECK_SAMPLE("level2", texture, 1, 7);
    CHECK_OK(gs_texture_destroy(s.session, texture));
    CHECK_EQUAL(server_memory_used(s.server), whole);
    CHECK_OK(gs_surface_destroy(s.session, surface));
    CHECK_EQUAL(server_memory_used(s.server), s.memory);
    /* What is left goes with the session, in whatever order it was made. */
    mipmap = mipmap_of(&s, 64, 64, 0, 3);
    plain_texture_of(&s, mipmap);
    CHECK_OK(gs_surface_create(s.session, level_of(mipmap, 2), &surface));
    level_of(mipmap, 0);
    mipmap = mipmap_of(&s, 64, 64, 0, 3);
    level = level_of(mipmap, 1);
    CHECK_OK(gs_array_destroy(mipmap));
    scene_end(&s);
}
BOTH(the_memory_counts_until_the_last_level_and_texture_have_gone)

/* Holds the stream until the test lets it go on. */
static void stream_hold(void *flag, gs_status status)
{
    (void)status;
    while (!atomic_load((_Atomic bool *)flag))
        test_pause();
}

static void work_given_before_uses_what_is_destroyed_to_its_end(const char *mode)
{
    struct scene s = scene_set(mode);
    float level = 1, got;
    _Atomic bool go;

    for (unsigned i = 0; i < 10; i++) {
        gs_array mipmap = mipmap_of(&s, 32, 32, 0, 4), half = level_of(mipmap, 1);
        gs_texture texture = plain_texture_of(&s, mipmap);
        gs_surface surface;

        CHECK_OK(gs_surface_create(s.session, half, &surface));
        atomic_store(&go, false);
        CHECK_OK(gs_launch_host(s.session, NULL, stream_hold, &go));
        CHECK_OK(
            kernels_launch(NULL, kernels_get(s.module, "paint"), 16, 16, (void *[]){&surface}));
        CHECK_OK(kernels_launch(NULL, kernels_get(s.module, "level2"), 1, 1,
                                (void *[]){&texture, &s.out, &level}));
        CHECK_OK(gs_array_destroy(mipmap));
        CHECK_OK(gs_array_destroy(half));
        CHECK_OK(gs_texture_destroy(s.session, texture));
        CHECK_OK(gs_surface_destroy(s.session, surface));
        CHECK_STATUS(gs_stream_query(s.session, NULL), GS_NOT_READY);
        atomic_store(&go, true);
        CHECK_OK(gs_sync(s.session));
        CHECK_OK(gs_memcpy_dtoh(s.session, &got, s.out, 4));
        CHECK(got == 7);
    }
    scene_end(&s);
}
BOTH(work_given_before_uses_what_is_destroyed_to_its_end)

/* ---- Textures ---- */

static void a_texture_reads_the_level_that_is_named(const char *mode)
{
    struct scene s = scene_set(mode);
    gs_array flat = mipmap_of(&s, 32, 32, 0, 6), line = mipmap_of(&s, 32, 0, 0, 6);
    gs_array volume = mipmap_of(&s, 16, 16, 8, 5);
    gs_texture point = plain_texture_of(&s, flat), in_line = plain_texture_of(&s, line);
    gs_texture in_volume = plain_texture_of(&s, volume);
    gs_texture linear = texture_of(&s, flat, GS_FILTER_LINEAR, 0, 0, 1000);
    gs_texture bounded = texture_of(&s, flat, GS_FILTER_LINEAR, 0.5f, 1, 3.25f);

    levels_fill(&s, flat, 6);
    levels_fill(&s, line, 6);
    levels_fill(&s, volume, 5);
    for (unsigned l = 0; l < 5; l++) {
        CHECK_SAMPLE("level1", in_line, (float)l, 16.0f * (float)(l + 1));
        CHECK_SAMPLE("level2", point, (float)l, 16.0f * (float)(l + 1));
        CHECK_SAMPLE("level3", in_volume, (float)l, 16.0f * (float)(l + 1));
    }
    CHECK_SAMPLE("level2", point, 2.25f, 48);
    CHECK_SAMPLE("level2", point, 2.75f, 64);
    CHECK_SAMPLE("level2", point, 9, 96);
    CHECK_SAMPLE("level2", point, -9, 16);
    CHECK_SAMPLE("level2", linear, 2.25f, 52);
    CHECK_SAMPLE("level2", bounded, 0, 32);
    CHECK_SAMPLE("level2", bounded, 1.5f, 48);
    CHECK_SAMPLE("level2", bounded, 5, 68);
    CHECK_SAMPLE("grad2", point, 1 / 32.0f, 16);
    CHECK_SAMPLE("grad2", point, 8 / 32.0f, 64);
    CHECK_SAMPLE("plain2", point, 0, 16);
    CHECK_SAMPLE("plain2", linear, 0, 16);
    scene_end(&s);
}
BOTH(a_texture_reads_the_level_that_is_named)

static void a_level_is_shown_as_an_array(const char *mode)
{
    struct scene s = scene_set(mode);
    gs_array mipmap = mipmap_of(&s, 32, 32, 0, 6);
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc desc = GS_TEXTURE_DESC_INIT;
    gs_texture texture;

    levels_fill(&s, mipmap, 6);
    resource.array = level_of(mipmap, 3);
    desc.flags = GS_TEXTURE_NORMALIZED_COORDINATES;
    CHECK_OK(gs_texture_create(s.session, &resource, &desc, &texture));
    CHECK_SAMPLE("plain2", texture, 0, 64);
    scene_end(&s);
}
BOTH(a_level_is_shown_as_an_array)

/* ---- What is refused ---- */

static void what_no_mipmapped_array_has_is_refused(const char *mode)
{
    struct scene s = scene_set(mode);
    gs_array mipmap = mipmap_of(&s, 32, 16, 0, 6), plain = mipmap_of(&s, 32, 16, 0, 0), array;
    gs_array_desc desc = desc_of(32, 16, 0, 7);
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc how = GS_TEXTURE_DESC_INIT;
    gs_memcpy_3d_params box = GS_MEMCPY_3D_PARAMS_INIT;
    gs_texture texture;
    unsigned char host[128] = {0};

    CHECK_STATUS(gs_array_create(s.session, &desc, &array), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "more levels than its sizes have");
    desc.levels = SIZE_MAX;
    CHECK_STATUS(gs_array_create(s.session, &desc, &array), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_array_level(mipmap, 6, &array), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_array_level(mipmap, UINT32_MAX, &array), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_array_level(plain, 0, &array), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_array_level(level_of(mipmap, 0), 0, &array), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_array_level(mipmap, 0, NULL), GS_ERR_INVALID_VALUE);
    box.width = sizeof(host);
    box.src.host = host;
    box.dst.array = mipmap;
    CHECK_STATUS(gs_memcpy_3d(s.session, &box), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "gs_array_level");
    CHECK_STATUS(gs_surface_create(s.session, mipmap, &texture), GS_ERR_INVALID_VALUE);
    how.flags = GS_TEXTURE_NORMALIZED_COORDINATES;
    resource.array = mipmap;
    CHECK_STATUS(gs_texture_create(s.session, &resource, &how, &texture), GS_ERR_INVALID_VALUE);
    resource.type = GS_RESOURCE_MIPMAPPED;
    resource.array = plain;
    CHECK_STATUS(gs_texture_create(s.session, &resource, &how, &texture), GS_ERR_INVALID_VALUE);
    resource.array = mipmap;
    CHECK_STATUS(gs_texture_create(s.session, &resource, NULL, &texture), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "normalized");
    how.mipmap_filter = (gs_filter_mode)2;
    CHECK_STATUS(gs_texture_create(s.session, &resource, &how, &texture), GS_ERR_INVALID_VALUE);
    how.mipmap_filter = GS_FILTER_POINT;
    CHECK_OK(gs_texture_create(s.session, &resource, &how, &texture));
    scene_end(&s);
}
BOTH(what_no_mipmapped_array_has_is_refused)

/* A program of an older header knows neither levels nor how textures find them. */
static void structures_of_an_older_header_are_taken(const char *mode)
{
    struct scene s = scene_set(mode);
    gs_array_desc old = desc_of(32, 16, 0, 99);
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc how = GS_TEXTURE_DESC_INIT;
    gs_texture texture;
    gs_array array;

    old.size = 48; /* up to the flags, with what fills the structure up */
    CHECK_OK(gs_array_create(s.session, &old, &array));
    CHECK_STATUS(gs_array_level(array, 0, &array), GS_ERR_INVALID_VALUE);
    old.levels = 77;
    CHECK_OK(gs_array_info(array, &old));
    CHECK_EQUAL(old.levels, 77);
    resource.array = array;
    how.size = 48;
    how.mipmap_filter = (gs_filter_mode)99;
    CHECK_OK(gs_texture_create(s.session, &resource, &how, &texture));
    scene_end(&s);
}
BOTH(structures_of_an_older_header_are_taken)

/* Levels are arrays: as many as a session may have. */
static void levels_count_as_arrays(const char *mode)
{
    struct scene s = scene_set(mode);
    gs_array mipmap = mipmap_of(&s, 32, 16, 0, 6), level;
    unsigned made = 1;
    gs_status status;

    while ((status = gs_array_level(mipmap, made % 6, &level)) == GS_OK)
        made++;
    CHECK_EQUAL(status, GS_ERR_LIMIT);
    CHECK_EQUAL(made, 1024);
    CHECK_OK(gs_array_destroy(mipmap));
    scene_end(&s);
}
BOTH(levels_count_as_arrays)

static const struct test tests[] = {
    TESTS_OF(levels_begin_as_zeros_and_keep_what_is_copied_to_them),
    TESTS_OF(the_memory_counts_until_the_last_level_and_texture_have_gone),
    TESTS_OF(work_given_before_uses_what_is_destroyed_to_its_end),
    TESTS_OF(a_texture_reads_the_level_that_is_named),
    TESTS_OF(a_level_is_shown_as_an_array),
    TESTS_OF(what_no_mipmapped_array_has_is_refused),
    TESTS_OF(structures_of_an_older_header_are_taken),
    TESTS_OF(levels_count_as_arrays),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
