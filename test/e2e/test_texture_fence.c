/* test_texture_fence.c - textures and surfaces of fenced sessions: a kernel reaches its session's
 * own, whatever number it has. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver_server.h"
#include "harness/harness.h"

#define HEAD ".version 7.8\n.target sm_80\n.address_size 64\n"

static const char texture_ptx[] = HEAD
    /* thread i: out[i] = the texel of texture first + i at (x, x), 0 or not */
    ".visible .entry sample(.param .u64 first, .param .u64 out, .param .f32 x)\n"
    "{ .reg .b64 %t, %o, %n; .reg .f32 %x, %f<4>; .reg .b32 %i; ld.param.u64 %t, [first];\n"
    "  ld.param.u64 %o, [out]; ld.param.f32 %x, [x]; mov.u32 %i, %ctaid.x; cvt.u64.u32 %n, %i;\n"
    "  add.u64 %t, %t, %n; mad.wide.u32 %o, %i, 4, %o;\n"
    "  tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %x}]; st.global.f32 [%o], %f0; ret; }\n"
    /* the same of level 1 of a mipmapped texture */
    ".visible .entry level(.param .u64 first, .param .u64 out, .param .f32 x)\n"
    "{ .reg .b64 %t, %o, %n; .reg .f32 %x, %l, %f<4>; .reg .b32 %i; ld.param.u64 %t, [first];\n"
    "  ld.param.u64 %o, [out]; ld.param.f32 %x, [x]; mov.u32 %i, %ctaid.x; cvt.u64.u32 %n, %i;\n"
    "  add.u64 %t, %t, %n; mad.wide.u32 %o, %i, 4, %o; mov.f32 %l, 0f3F800000;\n"
    "  tex.level.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %x}], %l; st.global.f32 [%o], %f0;"
    " ret; }\n"
    ".visible .entry sample3(.param .u64 first, .param .u64 out, .param .f32 x)\n"
    "{ .reg .b64 %t, %o; .reg .f32 %x, %f<4>; ld.param.u64 %t, [first]; ld.param.u64 %o, [out];\n"
    "  ld.param.f32 %x, [x]; tex.3d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %x, %x, %x}];\n"
    "  st.global.f32 [%o], %f0; ret; }\n"
    /* thread i: the texel (x, y) of surface first + i becomes 7, and out[i] what it is then */
    ".visible .entry paint(.param .u64 first, .param .u64 out, .param .u32 x, .param .u32 y)\n"
    "{ .reg .b64 %s, %o, %n; .reg .b32 %x, %y, %i, %v; ld.param.u64 %s, [first];\n"
    "  ld.param.u64 %o, [out]; ld.param.u32 %x, [x]; ld.param.u32 %y, [y]; shl.b32 %x, %x, 2;\n"
    "  mov.u32 %i, %ctaid.x; cvt.u64.u32 %n, %i; add.u64 %s, %s, %n; mad.wide.u32 %o, %i, 4, %o;\n"
    "  mov.b32 %v, 0f40e00000; sust.b.2d.b32.trap [%s, {%x, %y}], %v;\n"
    "  suld.b.2d.b32.trap %v, [%s, {%x, %y}]; st.global.b32 [%o], %v; ret; }\n"
    ".visible .entry look(.param .u64 s, .param .u64 out)\n"
    "{ .reg .b64 %s, %o; .reg .b32 %v; ld.param.u64 %s, [s]; ld.param.u64 %o, [out];\n"
    "  mov.u32 %v, 0; suld.b.2d.b32.trap %v, [%s, {%v, %v}]; st.global.b32 [%o], %v; ret; }\n"
    /* out[i] = texel i of linear memory */
    ".visible .entry fetch(.param .u64 t, .param .u64 out)\n"
    "{ .reg .b64 %t, %o; .reg .f32 %f<4>; .reg .b32 %i; ld.param.u64 %t, [t];\n"
    "  ld.param.u64 %o, [out]; mov.u32 %i, %ctaid.x; mad.wide.u32 %o, %i, 4, %o;\n"
    "  tex.1d.v4.f32.s32 {%f0, %f1, %f2, %f3}, [%t, {%i}]; st.global.f32 [%o], %f0; ret; }\n"
    ".visible .entry paint3(.param .u64 s)\n"
    "{ .reg .b64 %s; .reg .b32 %v; ld.param.u64 %s, [s]; mov.u32 %v, 0;\n"
    "  sust.b.3d.b32.trap [%s, {%v, %v, %v, %v}], %v; ret; }\n"
    /* out = the least of n samples, one after the other */
    ".visible .entry least(.param .u64 t, .param .u64 out, .param .u32 n)\n"
    "{ .reg .b64 %t, %o; .reg .f32 %x, %f<4>, %m; .reg .b32 %n; .reg .pred %p;\n"
    "  ld.param.u64 %t, [t]; ld.param.u64 %o, [out]; ld.param.u32 %n, [n]; mov.f32 %x, "
    "0f3F000000;\n"
    "  mov.f32 %m, 0f7f000000;\n"
    "again: tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %x}]; min.f32 %m, %m, %f0;\n"
    "  sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra again; st.global.f32 [%o], %m; ret; }\n";

enum { W = 8, NUMBERS = 2048, ROWS = 1024 };

struct tenant {
    gs_session session;
    gs_module module;
    gs_devptr out;
    gs_array array; /* all ones */
    gs_texture texture;
    gs_surface surface;
};

static struct tenant tenant_attach(void)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    struct tenant t = {0};

    params.fence = GS_FENCE_ON;
    CHECK_OK(gs_attach(&params, &t.session));
    CHECK_OK(gs_malloc(t.session, NUMBERS * 4, &t.out));
    CHECK_OK(gs_module_load(t.session, texture_ptx, 0, &t.module));
    return t;
}

static void array_fill(struct tenant *t, float value)
{
    gs_memcpy_3d_params box = GS_MEMCPY_3D_PARAMS_INIT;
    float texels[W * W];

    for (unsigned i = 0; i < W * W; i++)
        texels[i] = value;
    box.width = W * 4;
    box.height = W;
    box.depth = 1;
    box.src.host = texels;
    box.dst.array = t->array;
    CHECK_OK(gs_memcpy_3d(t->session, &box));
}

static void objects_make(struct tenant *t)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_array_desc desc = GS_ARRAY_DESC_INIT;

    desc.width = desc.height = W;
    desc.format = GS_FORMAT_FLOAT32;
    desc.channels = 1;
    desc.flags = GS_ARRAY_SURFACE;
    CHECK_OK(gs_array_create(t->session, &desc, &t->array));
    array_fill(t, 1);
    resource.array = t->array;
    CHECK_OK(gs_texture_create(t->session, &resource, NULL, &t->texture));
    CHECK_OK(gs_surface_create(t->session, t->array, &t->surface));
}

/* How many of COUNT numbers from FIRST on name a texture that shows something. */
static unsigned shown(const struct tenant *t, const char *kernel, uint64_t first, unsigned count)
{
    static float got[NUMBERS];
    float x = 0.5f;
    unsigned n = 0;

    CHECK_OK(gs_memset(t->session, t->out, 0x7f, count * 4));
    CHECK_OK(kernels_launch(NULL, kernels_get(t->module, kernel), count, 1,
                            (void *[]){&first, (void *)(uintptr_t)&t->out, &x}));
    CHECK_OK(gs_memcpy_dtoh(t->session, got, t->out, count * 4));
    for (unsigned i = 0; i < count; i++)
        n += got[i] != 0;
    return n;
}

static void painted(const struct tenant *t, uint64_t first, unsigned count, uint32_t x, uint32_t y)
{
    CHECK_OK(kernels_launch(NULL, kernels_get(t->module, "paint"), count, 1,
                            (void *[]){&first, (void *)(uintptr_t)&t->out, &x, &y}));
    CHECK_OK(gs_sync(t->session));
}

static float looked(const struct tenant *t, uint64_t surface)
{
    float got = -1;

    CHECK_OK(kernels_launch(NULL, kernels_get(t->module, "look"), 1, 1,
                            (void *[]){&surface, (void *)(uintptr_t)&t->out}));
    CHECK_OK(gs_memcpy_dtoh(t->session, &got, t->out, sizeof(got)));
    return got;
}

/* All texels of the tenant's array have the value. */
static void array_check(const struct tenant *t, float value)
{
    gs_memcpy_3d_params box = GS_MEMCPY_3D_PARAMS_INIT;
    float texels[W * W];

    box.width = W * 4;
    box.height = W;
    box.depth = 1;
    box.src.array = t->array;
    box.dst.host = texels;
    CHECK_OK(gs_memcpy_3d(t->session, &box));
    for (unsigned i = 0; i < W * W; i++)
        CHECK(texels[i] == value);
}

static void no_number_names_a_neighbours_object(void)
{
    struct server *server = server_start(NULL);
    struct tenant victim = tenant_attach(), other = tenant_attach();

    objects_make(&victim);
    CHECK_EQUAL(shown(&victim, "sample", victim.texture, 1), 1);
    CHECK_EQUAL(shown(&other, "sample", victim.texture, 1), 0);
    CHECK_EQUAL(shown(&other, "sample", 0, NUMBERS), 0); /* a driver's handles are small */
    CHECK_EQUAL(shown(&other, "sample", test_random(), NUMBERS), 0);
    painted(&other, victim.surface, 1, 0, 0);
    painted(&other, 0, NUMBERS, 0, 0);
    painted(&other, victim.surface - ROWS, NUMBERS, 1, 1);
    array_check(&victim, 1);
    /* Of its own numbers each row has one. */
    objects_make(&other);
    CHECK_EQUAL(shown(&other, "sample", 0, ROWS), 1);
    CHECK_EQUAL(shown(&other, "sample", other.texture, 1), 1);
    painted(&other, 0, ROWS, 0, 0);
    array_check(&victim, 1);
    CHECK(looked(&other, other.surface) == 7);
    CHECK(looked(&victim, victim.surface) == 1);
    CHECK_STATUS(gs_texture_destroy(other.session, victim.texture), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_surface_destroy(other.session, victim.surface), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_detach(victim.session));
    CHECK_OK(gs_detach(other.session));
    server_stop(server);
}

/* A mipmapped array, of which level 1 alone is the tenant's array and all ones. */
static void mipmap_make(struct tenant *t)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc how = GS_TEXTURE_DESC_INIT;
    gs_array_desc desc = GS_ARRAY_DESC_INIT;

    desc.width = desc.height = 2 * W;
    desc.levels = 3;
    desc.flags = GS_ARRAY_SURFACE;
    CHECK_OK(gs_array_create(t->session, &desc, &resource.array));
    CHECK_OK(gs_array_level(resource.array, 1, &t->array));
    array_fill(t, 1);
    resource.type = GS_RESOURCE_MIPMAPPED;
    how.flags = GS_TEXTURE_NORMALIZED_COORDINATES;
    CHECK_OK(gs_texture_create(t->session, &resource, &how, &t->texture));
    CHECK_OK(gs_surface_create(t->session, t->array, &t->surface));
    CHECK_OK(gs_array_destroy(resource.array)); /* it goes with what shows it */
}

static void no_number_names_a_neighbours_levels(void)
{
    struct server *server = server_start(NULL);
    struct tenant victim = tenant_attach(), other = tenant_attach();
    gs_texture old;

    mipmap_make(&victim);
    CHECK_EQUAL(shown(&victim, "level", victim.texture, 1), 1);
    CHECK_EQUAL(shown(&victim, "sample", victim.texture, 1), 0); /* level 0 is zeros */
    CHECK_EQUAL(shown(&victim, "sample3", victim.texture, 1), 0);
    CHECK_EQUAL(shown(&other, "level", victim.texture, 1), 0);
    CHECK_EQUAL(shown(&other, "level", 0, NUMBERS), 0);
    painted(&other, victim.surface, 1, 0, 0);
    painted(&other, 0, NUMBERS, 0, 0);
    array_check(&victim, 1);
    /* Of its own numbers each row has one. */
    mipmap_make(&other);
    CHECK_EQUAL(shown(&other, "level", 0, ROWS), 1);
    painted(&other, 0, ROWS, 1, 1);
    array_check(&victim, 1);
    /* A texture that is destroyed shows zeros, also while its levels are there. */
    old = other.texture;
    CHECK_OK(gs_texture_destroy(other.session, other.texture));
    CHECK_EQUAL(shown(&other, "level", old, 1), 0);
    CHECK(looked(&other, other.surface) == 1);
    CHECK_OK(gs_detach(victim.session));
    CHECK_OK(gs_detach(other.session));
    server_stop(server);
}

/* What an instruction would do with an object of another geometry, no GPU says. */
static void an_object_of_another_geometry_is_none(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach();

    objects_make(&t);
    CHECK_EQUAL(shown(&t, "sample", t.texture, 1), 1);
    CHECK_EQUAL(shown(&t, "sample3", t.texture, 1), 0);
    CHECK_EQUAL(shown(&t, "sample", t.surface, 1), 0);
    CHECK_OK(kernels_launch(NULL, kernels_get(t.module, "paint3"), 1, 1, (void *[]){&t.surface}));
    painted(&t, t.texture, 1, 0, 0);
    array_check(&t, 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void a_place_outside_of_a_surface_ends_nobody(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach();
    float got;

    objects_make(&t);
    painted(&t, t.surface, 1, W, 0);
    painted(&t, t.surface, 1, 0, UINT32_MAX);
    CHECK_OK(gs_memcpy_dtoh(t.session, &got, t.out, sizeof(got)));
    CHECK(got == 0);
    array_check(&t, 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void a_texture_that_is_destroyed_shows_zeros(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach();
    gs_texture old;
    uint32_t n = 200000;
    float got;

    objects_make(&t);
    old = t.texture;
    CHECK_OK(kernels_launch(NULL, kernels_get(t.module, "least"), 1, 1,
                            (void *[]){&t.texture, &t.out, &n}));
    CHECK_OK(gs_texture_destroy(t.session, t.texture)); /* waits for the kernel */
    CHECK_OK(gs_memcpy_dtoh(t.session, &got, t.out, sizeof(got)));
    CHECK(got == 1);
    CHECK_EQUAL(shown(&t, "sample", old, 1), 0);
    CHECK_STATUS(gs_texture_destroy(t.session, old), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_surface_destroy(t.session, t.surface));
    painted(&t, t.surface, 1, 0, 0);
    array_check(&t, 1);
    /* The next has the row, but not the number. */
    CHECK_OK(gs_surface_create(t.session, t.array, &t.surface));
    CHECK(t.surface != old);
    CHECK_EQUAL(t.surface % ROWS, old % ROWS);
    CHECK_STATUS(gs_texture_destroy(t.session, old), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* A number of no surface takes and gives a texel, which is the session's own and begins as 0. */
static void the_next_session_finds_nothing_of_the_one_before(void)
{
    struct server *server = server_start(NULL);

    for (unsigned i = 0; i < 3; i++) {
        struct tenant a = tenant_attach(), b = tenant_attach();

        CHECK(looked(&a, 5) == 0);
        painted(&a, 0, ROWS, 0, 0);
        CHECK(looked(&a, 5) == 7);
        CHECK(looked(&b, 5) == 0);
        objects_make(&b);
        CHECK_EQUAL(shown(&b, "sample", 0, ROWS), 1);
        CHECK_EQUAL(shown(&a, "sample", 0, ROWS), 0);
        CHECK_OK(gs_detach(a.session));
        CHECK_OK(gs_detach(b.session));
        server_wait_tenants(server, 0, 5000);
    }
    server_stop(server);
}

/* Handles of the driver's change hands all the time; kernels that look at every number meanwhile
 * see their session's objects at most. */
static void objects_come_and_go_beside_kernels_that_look(void)
{
    struct server *server = server_start(NULL);
    struct tenant a = tenant_attach(), b = tenant_attach();
    gs_kernel look_a = kernels_get(a.module, "sample"), look_b = kernels_get(b.module, "sample");
    static float got[ROWS];
    uint64_t first = 0;
    float x = 0.5f;

    for (unsigned i = 0; i < 20; i++) {
        unsigned seen = 0;

        CHECK_OK(kernels_launch(NULL, look_a, ROWS, 1, (void *[]){&first, &a.out, &x}));
        CHECK_OK(kernels_launch(NULL, look_b, ROWS, 1, (void *[]){&first, &b.out, &x}));
        objects_make(&a); /* beside both kernels */
        CHECK_EQUAL(shown(&b, "sample", first, ROWS), 0);
        CHECK_OK(gs_memcpy_dtoh(a.session, got, a.out, sizeof(got)));
        for (unsigned k = 0; k < ROWS; k++)
            seen += got[k] != 0;
        CHECK(seen <= 1);
        CHECK_EQUAL(shown(&a, "sample", first, ROWS), 1);
        CHECK_OK(kernels_launch(NULL, look_b, ROWS, 1, (void *[]){&first, &b.out, &x}));
        CHECK_OK(gs_texture_destroy(a.session, a.texture));
        CHECK_OK(gs_surface_destroy(a.session, a.surface));
        CHECK_OK(gs_array_destroy(a.array));
        objects_make(&b); /* whose handles may be those that A had */
        CHECK_EQUAL(shown(&a, "sample", first, ROWS), 0);
        painted(&a, 0, ROWS, 0, 0);
        array_check(&b, 1);
        CHECK_OK(gs_texture_destroy(b.session, b.texture));
        CHECK_OK(gs_surface_destroy(b.session, b.surface));
        CHECK_OK(gs_array_destroy(b.array));
    }
    CHECK_OK(gs_detach(a.session));
    CHECK_OK(gs_detach(b.session));
    server_stop(server);
}

/* A table says nothing that the next worker could not: only textures end with theirs. */
static void a_module_with_textures_is_taken_up(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach();

    CHECK_EQUAL(shown(&t, "sample", 0, NUMBERS), 0);
    CHECK_EQUAL(kill(server_worker_pid(server), SIGKILL), 0);
    CHECK_WITHIN(20000, gs_memset(t.session, t.out, 1, 4) == GS_OK);
    CHECK_EQUAL(shown(&t, "sample", 0, NUMBERS), 0);
    objects_make(&t);
    CHECK_EQUAL(shown(&t, "sample", t.texture, 1), 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* A texture of memory, of which each word is `value`. */
static gs_texture linear_make(const struct tenant *t, gs_devptr memory, float value)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture texture;
    float words[W];

    for (unsigned i = 0; i < W; i++)
        words[i] = value;
    CHECK_OK(gs_memcpy_htod(t->session, memory, words, sizeof(words)));
    resource.type = GS_RESOURCE_LINEAR;
    resource.address = memory;
    resource.format = GS_FORMAT_FLOAT32;
    resource.channels = 1;
    resource.width = sizeof(words);
    CHECK_OK(gs_texture_create(t->session, &resource, NULL, &texture));
    return texture;
}

static void linear_check(const struct tenant *t, gs_texture texture, float value)
{
    float got[W];

    CHECK_OK(gs_memset(t->session, t->out, 0x7f, sizeof(got)));
    CHECK_OK(kernels_launch(NULL, kernels_get(t->module, "fetch"), W, 1,
                            (void *[]){&texture, (void *)(uintptr_t)&t->out}));
    CHECK_OK(gs_memcpy_dtoh(t->session, got, t->out, sizeof(got)));
    for (unsigned i = 0; i < W; i++)
        CHECK(got[i] == value);
}

/* Whatever the next worker's driver calls them, the tenant's numbers stay, and none is given a
 * second time: not in the row of the newest, which has gone, either. */
static void textures_of_memory_outlive_worker_after_worker(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach(), beside = tenant_attach();
    gs_texture texture[4], late;
    gs_devptr block[4], memory[4];

    for (unsigned i = 0; i < 4; i++) {
        CHECK_OK(gs_malloc(t.session, 1024, &block[i]));
        memory[i] = (block[i] + 511) & ~(gs_devptr)511;
        texture[i] = linear_make(&t, memory[i], 1.0f + (float)i);
    }
    CHECK_OK(gs_texture_destroy(t.session, texture[3]));
    CHECK_OK(gs_free(t.session, block[2])); /* its texture may not be used any more */
    for (unsigned round = 0; round < 3; round++) {
        const pid_t worker = server_worker_pid(server);
        const float value = 10.0f + (float)round;
        float words[W];

        CHECK_EQUAL(kill(worker, SIGKILL), 0);
        CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
        linear_check(&t, texture[0], round ? value - 1 : 1);
        linear_check(&t, texture[1], 2);
        linear_check(&t, texture[2], 0);
        linear_check(&t, texture[3], 0);
        linear_check(&beside, texture[0], 0); /* a number of another session's */
        for (unsigned i = 0; i < W; i++)
            words[i] = value;
        CHECK_OK(gs_memcpy_htod(t.session, memory[0], words, sizeof(words)));
        linear_check(&t, texture[0], value);
    }
    late = linear_make(&t, memory[3], 8);
    CHECK(late != texture[3]);
    linear_check(&t, late, 8);
    CHECK_STATUS(gs_texture_destroy(t.session, texture[3]), GS_ERR_INVALID_HANDLE);
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(gs_texture_destroy(t.session, texture[i]));
    linear_check(&t, texture[0], 0);
    linear_check(&t, late, 8);
    CHECK_OK(gs_detach(t.session));
    CHECK_OK(gs_detach(beside.session));
    server_stop(server);
}

static gs_status mipmap_play(gs_session session)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc how = GS_TEXTURE_DESC_INIT;
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    gs_texture texture;
    gs_surface surface;
    gs_array level;

    desc.width = desc.height = W;
    desc.levels = 3;
    TRY(gs_array_create(session, &desc, &resource.array));
    TRY(gs_array_level(resource.array, 2, &level));
    resource.type = GS_RESOURCE_MIPMAPPED;
    how.flags = GS_TEXTURE_NORMALIZED_COORDINATES;
    TRY(gs_texture_create(session, &resource, &how, &texture));
    TRY(gs_surface_create(session, level, &surface));
    TRY(gs_array_destroy(resource.array));
    TRY(gs_array_destroy(level));
    TRY(gs_texture_destroy(session, texture));
    return gs_surface_destroy(session, surface);
}

static gs_status texture_play(gs_session session)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    struct tenant t = {.session = session};

    desc.width = desc.height = W;
    desc.format = GS_FORMAT_FLOAT32;
    desc.channels = 1;
    desc.flags = GS_ARRAY_SURFACE;
    TRY(gs_malloc(session, ROWS * 4, &t.out));
    TRY(gs_module_load(session, texture_ptx, 0, &t.module));
    TRY(gs_array_create(session, &desc, &t.array));
    resource.array = t.array;
    TRY(gs_texture_create(session, &resource, NULL, &t.texture));
    TRY(gs_surface_create(session, t.array, &t.surface));
    painted(&t, t.surface, 1, 0, 0);
    CHECK_EQUAL(shown(&t, "sample", t.texture, 1), 1);
    TRY(gs_texture_destroy(session, t.texture));
    CHECK_EQUAL(shown(&t, "sample", t.texture, 1), 0);
    TRY(gs_surface_destroy(session, t.surface));
    return mipmap_play(session);
}

/* Objects that the driver refuses, rows that cannot be written: a status, and nobody's loss. */
static void a_driver_that_refuses_objects_harms_nobody(void)
{
    static const char *const functions[] = {"cuMipmappedArrayCreate", "cuMipmappedArrayGetLevel",
                                            "cuArray3DCreate_v2",     "cuMemcpy3DAsync_v2",
                                            "cuTexObjectCreate",      "cuSurfObjectCreate",
                                            "cuMemcpyHtoDAsync_v2"};
    struct driver_plan *plan;
    struct server *server = driver_server_start(NULL, 0, &plan);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    unsigned failed = 0;

    params.fence = GS_FENCE_ON;
    for (unsigned i = 0; i < ARRAY_SIZE(functions); i++) {
        gs_status status = GS_ERR_NO_DEVICE_MEMORY;

        snprintf(plan->only, sizeof(plan->only), "%s", functions[i]);
        for (uint32_t call = 0; status != GS_OK && call < 100; call++) {
            gs_session session;

            CHECK_OK(gs_attach(&params, &session));
            atomic_store(&plan->calls, call);
            atomic_store(&plan->failures, 0);
            atomic_store(&plan->armed, 1);
            status = texture_play(session);
            atomic_store(&plan->armed, 0);
            CHECK_EQUAL(status == GS_OK, atomic_load(&plan->failures) == 0);
            failed += status != GS_OK;
            CHECK_OK(texture_play(session)); /* as if nothing had been */
            CHECK_OK(gs_detach(session));
            server_wait_tenants(server, 0, 5000);
            CHECK_EQUAL(server_memory_used(server), 0);
        }
        CHECK_OK(status);
    }
    printf("# %u calls failed\n", failed);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(no_number_names_a_neighbours_object),
    TEST(no_number_names_a_neighbours_levels),
    TEST(an_object_of_another_geometry_is_none),
    TEST(a_place_outside_of_a_surface_ends_nobody),
    TEST(a_texture_that_is_destroyed_shows_zeros),
    TEST(the_next_session_finds_nothing_of_the_one_before),
    TEST(objects_come_and_go_beside_kernels_that_look),
    TEST(a_module_with_textures_is_taken_up),
    TEST(textures_of_memory_outlive_worker_after_worker),
    TEST_WITHIN(a_driver_that_refuses_objects_harms_nobody, 120),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
