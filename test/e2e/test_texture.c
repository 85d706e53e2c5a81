/* test_texture.c - arrays, the copies of boxes, textures and surfaces. */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "gsctl_run.h"
#include "harness/harness.h"

static const char texture_ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    /* one thread: out[0..3] = the texel at (x, y, z) */
    ".visible .entry sample1(.param .u64 t, .param .u64 out, .param .f32 x, .param .f32 y, "
    ".param .f32 z)\n"
    "{ .reg .b64 %t, %o; .reg .f32 %x, %f<4>; ld.param.u64 %t, [t]; ld.param.u64 %o, [out];\n"
    "  ld.param.f32 %x, [x]; tex.1d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x}];\n"
    "  st.global.v4.f32 [%o], {%f0, %f1, %f2, %f3}; ret; }\n"
    ".visible .entry sample2(.param .u64 t, .param .u64 out, .param .f32 x, .param .f32 y, "
    ".param .f32 z)\n"
    "{ .reg .b64 %t, %o; .reg .f32 %x, %y, %f<4>; ld.param.u64 %t, [t]; ld.param.u64 %o, [out];\n"
    "  ld.param.f32 %x, [x]; ld.param.f32 %y, [y];\n"
    "  tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y}];\n"
    "  st.global.v4.f32 [%o], {%f0, %f1, %f2, %f3}; ret; }\n"
    ".visible .entry sample3(.param .u64 t, .param .u64 out, .param .f32 x, .param .f32 y, "
    ".param .f32 z)\n"
    "{ .reg .b64 %t, %o; .reg .f32 %x, %y, %z, %f<4>; ld.param.u64 %t, [t];\n"
    "  ld.param.u64 %o, [out]; ld.param.f32 %x, [x]; ld.param.f32 %y, [y]; ld.param.f32 %z, [z];\n"
    "  tex.3d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%x, %y, %z, %z}];\n"
    "  st.global.v4.f32 [%o], {%f0, %f1, %f2, %f3}; ret; }\n"
    ".visible .entry layer2(.param .u64 t, .param .u64 out, .param .f32 x, .param .f32 y, "
    ".param .f32 z)\n"
    "{ .reg .b64 %t, %o; .reg .f32 %x, %y, %z, %f<4>; .reg .b32 %l; ld.param.u64 %t, [t];\n"
    "  ld.param.u64 %o, [out]; ld.param.f32 %x, [x]; ld.param.f32 %y, [y]; ld.param.f32 %z, [z];\n"
    "  cvt.rzi.u32.f32 %l, %z;\n"
    "  tex.a2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%l, %x, %y, %y}];\n"
    "  st.global.v4.f32 [%o], {%f0, %f1, %f2, %f3}; ret; }\n"
    /* thread i: out[i] = texel i */
    ".visible .entry fetch(.param .u64 t, .param .u64 out)\n"
    "{ .reg .b64 %t, %o; .reg .b32 %i, %r<4>; ld.param.u64 %t, [t]; ld.param.u64 %o, [out];\n"
    "  mov.u32 %i, %tid.x; tex.1d.v4.u32.s32 {%r0, %r1, %r2, %r3}, [%t, {%i}];\n"
    "  mad.wide.u32 %o, %i, 4, %o; st.global.u32 [%o], %r0; ret; }\n"
    /* thread x of block y: the texel becomes x + 100 * y */
    ".visible .entry paint(.param .u64 s)\n"
    "{ .reg .b64 %s; .reg .b32 %x, %y, %b, %v; ld.param.u64 %s, [s]; mov.u32 %x, %tid.x;\n"
    "  mov.u32 %y, %ctaid.x; mad.lo.u32 %v, %y, 100, %x; cvt.rn.f32.u32 %v, %v;\n"
    "  shl.b32 %b, %x, 2; sust.b.2d.b32.zero [%s, {%b, %y}], %v; ret; }\n";

struct scene {
    struct server *server;
    gs_session session;
    gs_devptr out;
};

static struct scene scene_set(void)
{
    struct scene s = {.server = server_start(NULL)};

    CHECK_OK(server_attach(s.server, &s.session));
    CHECK_OK(gs_malloc(s.session, 4096, &s.out));
    return s;
}

static void scene_end(const struct scene *s)
{
    CHECK_OK(gs_detach(s->session));
    server_wait_tenants(s->server, 0, 5000);
    CHECK_EQUAL(server_memory_used(s->server), 0);
    server_stop(s->server);
}

static gs_module module_of(const struct scene *s)
{
    gs_module module;

    CHECK_OK(gs_module_load(s->session, texture_ptx, 0, &module));
    return module;
}

static gs_array array_of(const struct scene *s, size_t width, size_t height, size_t depth,
                         gs_format format, unsigned channels, unsigned flags)
{
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    gs_array array;

    desc.width = width;
    desc.height = height;
    desc.depth = depth;
    desc.format = format;
    desc.channels = channels;
    desc.flags = flags;
    CHECK_OK(gs_array_create(s->session, &desc, &array));
    return array;
}

static gs_memcpy_3d_params box_of(size_t width, size_t height, size_t depth)
{
    gs_memcpy_3d_params box = GS_MEMCPY_3D_PARAMS_INIT;

    box.width = width;
    box.height = height;
    box.depth = depth;
    return box;
}

/* Copies all of an array of that many bytes a row from or to packed host memory. */
static void array_write(const struct scene *s, gs_array array, const void *from, size_t width,
                        size_t height, size_t depth)
{
    gs_memcpy_3d_params box = box_of(width, height, depth);

    box.dst.array = array;
    box.src.host = (void *)(uintptr_t)from;
    CHECK_OK(gs_memcpy_3d(s->session, &box));
}

static void array_read(const struct scene *s, gs_array array, void *to, size_t width, size_t height,
                       size_t depth)
{
    gs_memcpy_3d_params box = box_of(width, height, depth);

    box.src.array = array;
    box.dst.host = to;
    CHECK_OK(gs_memcpy_3d(s->session, &box));
}

static unsigned char *random_bytes(size_t size)
{
    unsigned char *bytes = malloc(size);

    CHECK(bytes != NULL);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(test_random() >> 7);
    return bytes;
}

/* ---- Arrays and copies ---- */

static void an_array_begins_as_zeros_and_keeps_what_is_copied_to_it(void)
{
    /* bytes of a row, rows, slices; the last two are larger than a chunk of the staging area */
    static const struct {
        size_t texels, height, depth;
        unsigned channels, flags;
    } shapes[] = {{7, 0, 0, 1, 0},
                  {33, 9, 0, 2, 0},
                  {5, 6, 7, 4, 0},
                  {12, 0, 5, 1, GS_ARRAY_LAYERED},
                  {8, 3, 4, 1, GS_ARRAY_LAYERED},
                  {16, 16, 6, 1, GS_ARRAY_CUBEMAP},
                  {300, 310, 40, 1, 0},
                  {32000, 0, 3, 4, GS_ARRAY_LAYERED},
                  {1024, 700, 0, 4, 0}};
    struct scene s = scene_set();

    for (unsigned i = 0; i < ARRAY_SIZE(shapes); i++) {
        const size_t width = shapes[i].texels * shapes[i].channels * 4;
        const size_t height = shapes[i].height ? shapes[i].height : 1;
        const size_t depth = shapes[i].depth ? shapes[i].depth : 1;
        const size_t size = width * height * depth;
        unsigned char *in = random_bytes(size), *out = random_bytes(size), *zero = calloc(1, size);
        gs_array array = array_of(&s, shapes[i].texels, shapes[i].height, shapes[i].depth,
                                  GS_FORMAT_UINT32, shapes[i].channels, shapes[i].flags);
        gs_array_desc desc = GS_ARRAY_DESC_INIT;

        CHECK_OK(gs_array_info(array, &desc));
        CHECK_EQUAL(desc.width, shapes[i].texels);
        CHECK_EQUAL(desc.depth, shapes[i].depth);
        CHECK_EQUAL(desc.flags, shapes[i].flags);
        array_read(&s, array, out, width, height, depth);
        CHECK_MEMORY(out, zero, size);
        array_write(&s, array, in, width, height, depth);
        array_read(&s, array, out, width, height, depth);
        CHECK_MEMORY(out, in, size);
        CHECK_OK(gs_array_destroy(array));
        free(in);
        free(out);
        free(zero);
    }
    scene_end(&s);
}

/* The same box by each way: what lies beside it stays. */
static void boxes_go_between_arrays_device_and_host(void)
{
    enum { W = 40, H = 10, D = 5, PITCH = 64, ROWS = 12, SIZE = PITCH * ROWS * D };
    struct scene s = scene_set();
    unsigned char *in = random_bytes(SIZE), *want = random_bytes(SIZE), *pinned, out[W * H * D];
    gs_array a = array_of(&s, W, H, D, GS_FORMAT_UINT8, 1, 0);
    gs_array b = array_of(&s, W, H, D, GS_FORMAT_UINT8, 1, 0);
    gs_devptr memory;
    gs_stream stream;

    CHECK_OK(gs_malloc(s.session, SIZE, &memory));
    CHECK_OK(gs_host_alloc(s.session, SIZE, (void **)&pinned));
    CHECK_OK(gs_stream_create(s.session, NULL, &stream));
    memcpy(pinned, in, SIZE);
    for (unsigned way = 0; way < 3; way++) {
        gs_memcpy_3d_params box = box_of(17, 4, 3);

        array_write(&s, a, want, W, H, D);
        array_write(&s, b, want, W, H, D);
        CHECK_OK(gs_memset(s.session, memory, 0, SIZE));
        /* host or device -> a -> b -> device -> host */
        box.src.host = way == 0 ? in : pinned;
        if (way == 2) {
            CHECK_OK(gs_memcpy_htod(s.session, memory, in, SIZE));
            box.src.device = memory;
        }
        box.src.x = 3;
        box.src.y = 2;
        box.src.z = 1;
        box.src.pitch = PITCH;
        box.src.rows = ROWS;
        box.dst.array = a;
        box.dst.x = 20;
        box.dst.y = 5;
        box.dst.z = 2;
        CHECK_OK(gs_memcpy_3d_async(s.session, &box, stream));
        box.src = box.dst;
        box.dst.array = b;
        box.dst.x = 0;
        CHECK_OK(gs_memcpy_3d_async(s.session, &box, stream));
        CHECK_OK(gs_stream_sync(s.session, stream));
        array_read(&s, b, out, W, H, D);
        for (unsigned i = 0; i < sizeof(out); i++) {
            const unsigned x = i % W, y = i / W % H, z = i / W / H;
            const bool inside = x < 17 && y >= 5 && y < 9 && z >= 2;
            const unsigned char it =
                inside ? in[((z - 1) * ROWS + (y - 3)) * PITCH + x + 3] : want[i];

            if (out[i] != it)
                test_fail(__FILE__, __LINE__, "way %u: byte %u, %u, %u is %u and not %u", way, x, y,
                          z, out[i], it);
        }
        box = box_of(W, H, D);
        box.src.array = b;
        box.dst.device = memory;
        box.dst.pitch = PITCH;
        CHECK_OK(gs_memcpy_3d(s.session, &box));
        box.src = (gs_memcpy_side){.device = memory, .pitch = PITCH};
        box.dst = (gs_memcpy_side){.host = way == 0 ? want : pinned, .pitch = W};
        CHECK_OK(gs_memcpy_3d(s.session, &box));
        CHECK_MEMORY(way == 0 ? want : pinned, out, sizeof(out));
        memcpy(pinned, in, SIZE);
    }
    CHECK_OK(gs_host_free(s.session, pinned));
    free(in);
    free(want);
    scene_end(&s);
}

static void an_array_counts_until_its_last_texture_goes(void)
{
    struct scene s = scene_set();
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    const uint64_t before = server_memory_used(s.server);
    gs_texture texture;
    gs_array array;

    array = array_of(&s, 1024, 1024, 0, GS_FORMAT_FLOAT32, 4, 0);
    CHECK_EQUAL(server_memory_used(s.server), before + (16 << 20));
    resource.array = array;
    CHECK_OK(gs_texture_create(s.session, &resource, NULL, &texture));
    CHECK_OK(gs_array_destroy(array));
    CHECK_STATUS(gs_array_destroy(array), GS_ERR_INVALID_HANDLE);
    CHECK_EQUAL(server_memory_used(s.server), before + (16 << 20));
    CHECK_OK(gs_texture_destroy(s.session, texture));
    CHECK_EQUAL(server_memory_used(s.server), before);
    /* What is left goes with the session. */
    array = array_of(&s, 64, 64, 0, GS_FORMAT_UINT8, 1, GS_ARRAY_SURFACE);
    resource.array = array;
    CHECK_OK(gs_texture_create(s.session, &resource, NULL, &texture));
    CHECK_OK(gs_surface_create(s.session, array, &texture));
    scene_end(&s);
}

static void an_array_beyond_the_limit_is_refused(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    gs_session session;
    gs_array array;

    params.mem_limit = 8 << 20;
    CHECK_OK(gs_attach(&params, &session));
    desc.width = desc.height = 1024;
    desc.channels = 4;
    CHECK_STATUS(gs_array_create(session, &desc, &array), GS_ERR_QUOTA);
    CHECK_TEXT(gs_last_error_message(),
               "16 MiB wanted; 0 bytes of the session's limit of 8 MiB are in use");
    desc.channels = 1;
    CHECK_OK(gs_array_create(session, &desc, &array));
    CHECK_EQUAL(server_memory_used(server), 4 << 20);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Beside a kernel that runs no quiet moment comes, in which the driver's array would go: until then
 * its user has it, else nothing would bound what a user makes and destroys. */
static void a_destroyed_array_counts_until_it_is_gone(void)
{
    static const char *const environment[] = {"GSHARE_SOFT_MEM=256M", NULL};
    static const char *const arguments[] = {"--fence", "never", NULL}; /* sinks take 128 MiB */
    const struct server_options options = {.environment = environment, .arguments = arguments};
    struct server *server = server_start(&options);
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    gs_session session, busy;
    gs_array array;
    gs_stream aside;
    gs_devptr flag;
    struct scene s;

    GSCTL_OK("set", "--user", "0", "--user-mem", "220M");
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(server_attach(server, &busy));
    CHECK_OK(gs_malloc(busy, 4096, &flag));
    CHECK_OK(gs_stream_create(busy, NULL, &aside));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(busy), "spin_until"), 1, 1,
                            (void *[]){&flag}));
    s = (struct scene){.server = server, .session = session};
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(gs_array_destroy(array_of(&s, 1024, 2048, 12, GS_FORMAT_FLOAT32, 1, 0)));
    desc.width = 1024;
    desc.height = 2048;
    desc.depth = 12;
    desc.format = GS_FORMAT_FLOAT32;
    desc.channels = 1;
    CHECK_STATUS(gs_array_create(session, &desc, &array), GS_ERR_QUOTA);
    CHECK_OK(gs_memset_async(busy, flag, 1, 4, aside));
    CHECK_WITHIN(10000, gs_array_create(session, &desc, &array) == GS_OK);
    CHECK_OK(gs_detach(busy));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Textures and surfaces ---- */

static void sample_check(const struct scene *s, gs_kernel kernel, gs_texture texture, float x,
                         float y, float z, const float want[4])
{
    float got[4];

    CHECK_OK(kernels_launch(NULL, kernel, 1, 1,
                            (void *[]){&texture, (void *)(uintptr_t)&s->out, &x, &y, &z}));
    CHECK_OK(gs_memcpy_dtoh(s->session, got, s->out, sizeof(got)));
    for (unsigned i = 0; i < 4; i++) {
        if (got[i] < want[i] - 0.001f || got[i] > want[i] + 0.001f)
            test_fail(__FILE__, __LINE__, "channel %u at %g, %g, %g is %g and not %g", i, (double)x,
                      (double)y, (double)z, (double)got[i], (double)want[i]);
    }
}

static void sample_one(const struct scene *s, gs_kernel kernel, gs_texture texture, float x,
                       float y, float z, float want)
{
    /* A texel of one channel is (v, 0, 0, 1) as a texture of CUDA gives it: the others are not
     * looked at. */
    float got[4];

    CHECK_OK(kernels_launch(NULL, kernel, 1, 1,
                            (void *[]){&texture, (void *)(uintptr_t)&s->out, &x, &y, &z}));
    CHECK_OK(gs_memcpy_dtoh(s->session, got, s->out, sizeof(got)));
    if (got[0] < want - 0.001f || got[0] > want + 0.001f)
        test_fail(__FILE__, __LINE__, "at %g, %g, %g is %g and not %g", (double)x, (double)y,
                  (double)z, (double)got[0], (double)want);
}

static void textures_filter_and_bound_their_coordinates(void)
{
    struct scene s = scene_set();
    gs_kernel sample = kernels_get(module_of(&s), "sample2");
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc desc = GS_TEXTURE_DESC_INIT;
    float texels[4][4][4];
    gs_texture point, linear, border, wrap;

    for (unsigned i = 0; i < 16; i++)
        for (unsigned c = 0; c < 4; c++)
            texels[i / 4][i % 4][c] = (float)(10 * i + c);
    resource.array = array_of(&s, 4, 4, 0, GS_FORMAT_FLOAT32, 4, 0);
    array_write(&s, resource.array, texels, 64, 4, 1);
    CHECK_OK(gs_texture_create(s.session, &resource, NULL, &point));
    CHECK(point != 0);
    desc.filter_mode = GS_FILTER_LINEAR;
    CHECK_OK(gs_texture_create(s.session, &resource, &desc, &linear));
    desc.filter_mode = GS_FILTER_POINT;
    desc.address_mode[0] = desc.address_mode[1] = GS_ADDRESS_BORDER;
    desc.border[1] = 5;
    CHECK_OK(gs_texture_create(s.session, &resource, &desc, &border));
    desc.address_mode[0] = desc.address_mode[1] = GS_ADDRESS_WRAP;
    desc.flags = GS_TEXTURE_NORMALIZED_COORDINATES;
    CHECK_OK(gs_texture_create(s.session, &resource, &desc, &wrap));
    sample_check(&s, sample, point, 1.5f, 2.5f, 0, texels[2][1]);
    sample_check(&s, sample, point, 9, -3, 0, texels[0][3]); /* clamped */
    sample_check(&s, sample, linear, 1, 1, 0, (float[4]){25, 26, 27, 28});
    sample_check(&s, sample, border, 1.5f, 2.5f, 0, texels[2][1]);
    sample_check(&s, sample, border, 4.5f, 2.5f, 0, (float[4]){0, 5, 0, 0});
    sample_check(&s, sample, wrap, 0.625f, 0.125f, 0, texels[0][2]);
    sample_check(&s, sample, wrap, 1.375f, -0.125f, 0, texels[3][1]);
    CHECK_OK(gs_texture_destroy(s.session, point));
    CHECK_STATUS(gs_texture_destroy(s.session, point), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_surface_destroy(s.session, linear), GS_ERR_INVALID_HANDLE);
    scene_end(&s);
}

static void volumes_and_layers_are_read_by_their_place(void)
{
    struct scene s = scene_set();
    gs_module module = module_of(&s);
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc desc = GS_TEXTURE_DESC_INIT;
    unsigned char bytes[6 * 5 * 4];
    gs_texture volume, layers;

    for (unsigned i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(255 - i);
    resource.array = array_of(&s, 4, 5, 6, GS_FORMAT_UINT8, 1, 0);
    array_write(&s, resource.array, bytes, 4, 5, 6);
    CHECK_OK(gs_texture_create(s.session, &resource, NULL, &volume));
    resource.array = array_of(&s, 4, 5, 6, GS_FORMAT_UINT8, 1, GS_ARRAY_LAYERED);
    array_write(&s, resource.array, bytes, 4, 5, 6);
    desc.filter_mode = GS_FILTER_LINEAR;
    CHECK_OK(gs_texture_create(s.session, &resource, &desc, &layers));
    for (unsigned i = 0; i < sizeof(bytes); i += 7) {
        const float x = (float)(i % 4) + 0.5f, y = (float)(i / 4 % 5) + 0.5f, z = (float)(i / 20);

        sample_one(&s, kernels_get(module, "sample3"), volume, x, y, z + 0.5f,
                   (float)bytes[i] / 255);
        sample_one(&s, kernels_get(module, "layer2"), layers, x, y, z, (float)bytes[i] / 255);
    }
    scene_end(&s);
}

static void textures_show_linear_and_pitched_memory(void)
{
    enum { PITCH = 512, H = 6 };
    struct scene s = scene_set();
    gs_module module = module_of(&s);
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    uint32_t words[64], got[64];
    float rows[H][PITCH / 4];
    gs_texture linear, pitched;
    gs_devptr memory;

    CHECK_OK(gs_malloc(s.session, 1 << 20, &memory));
    for (unsigned i = 0; i < 64; i++)
        words[i] = i * 1000003;
    for (unsigned i = 0; i < H * PITCH / 4; i++)
        rows[i / (PITCH / 4)][i % (PITCH / 4)] = (float)i;
    CHECK_OK(gs_memcpy_htod(s.session, memory, words, sizeof(words)));
    CHECK_OK(gs_memcpy_htod(s.session, memory + 512, rows, sizeof(rows)));
    resource.type = GS_RESOURCE_LINEAR;
    resource.address = memory;
    resource.format = GS_FORMAT_UINT32;
    resource.width = sizeof(words);
    CHECK_OK(gs_texture_create(s.session, &resource, NULL, &linear));
    resource.type = GS_RESOURCE_PITCHED;
    resource.address = memory + 512;
    resource.format = GS_FORMAT_FLOAT32;
    resource.width = 100;
    resource.height = H;
    resource.pitch = PITCH;
    CHECK_OK(gs_texture_create(s.session, &resource, NULL, &pitched));
    CHECK_OK(
        kernels_launch(NULL, kernels_get(module, "fetch"), 1, 64, (void *[]){&linear, &s.out}));
    CHECK_OK(gs_memcpy_dtoh(s.session, got, s.out, sizeof(got)));
    CHECK_MEMORY(got, words, sizeof(words));
    for (unsigned y = 0; y < H; y++)
        sample_one(&s, kernels_get(module, "sample2"), pitched, 31.5f, (float)y + 0.5f, 0,
                   rows[y][31]);
    scene_end(&s);
}

static void what_a_surface_writes_a_texture_reads(void)
{
    struct scene s = scene_set();
    gs_module module = module_of(&s);
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    float texels[8][16];
    gs_texture texture;
    gs_surface surface;

    resource.array = array_of(&s, 16, 8, 0, GS_FORMAT_FLOAT32, 1, GS_ARRAY_SURFACE);
    CHECK_OK(gs_surface_create(s.session, resource.array, &surface));
    CHECK_OK(gs_texture_create(s.session, &resource, NULL, &texture));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "paint"), 8, 16, (void *[]){&surface}));
    sample_one(&s, kernels_get(module, "sample2"), texture, 5.5f, 6.5f, 0, 605);
    array_read(&s, resource.array, texels, 64, 8, 1);
    for (unsigned y = 0; y < 8; y++)
        for (unsigned x = 0; x < 16; x++)
            CHECK(texels[y][x] == (float)(x + 100 * y));
    CHECK_OK(gs_surface_destroy(s.session, surface));
    CHECK_STATUS(gs_surface_destroy(s.session, surface), GS_ERR_INVALID_HANDLE);
    scene_end(&s);
}

/* Holds the stream until the test lets it go on. */
static void stream_hold(void *flag, gs_status status)
{
    (void)status;
    while (!atomic_load((_Atomic bool *)flag))
        test_pause();
}

/* All three calls return while the work waits, which ends only when the test lets it. */
static void work_given_before_uses_what_is_destroyed_to_its_end(void)
{
    struct scene s = scene_set();
    gs_module module = module_of(&s);
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_kernel sample = kernels_get(module, "sample2");
    float x = 5.5f, y = 6.5f, z = 0, got;
    _Atomic bool go;
    gs_texture texture;
    gs_surface surface;

    for (unsigned i = 0; i < 20; i++) {
        resource.array = array_of(&s, 16, 8, 0, GS_FORMAT_FLOAT32, 1, GS_ARRAY_SURFACE);
        CHECK_OK(gs_surface_create(s.session, resource.array, &surface));
        CHECK_OK(gs_texture_create(s.session, &resource, NULL, &texture));
        CHECK_OK(gs_memset(s.session, s.out, 0, 4));
        atomic_store(&go, false);
        CHECK_OK(gs_launch_host(s.session, NULL, stream_hold, &go));
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "paint"), 8, 16, (void *[]){&surface}));
        CHECK_OK(kernels_launch(NULL, sample, 1, 1, (void *[]){&texture, &s.out, &x, &y, &z}));
        CHECK_OK(gs_surface_destroy(s.session, surface));
        CHECK_OK(gs_texture_destroy(s.session, texture));
        CHECK_OK(gs_array_destroy(resource.array));
        CHECK_STATUS(gs_array_destroy(resource.array), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_stream_query(s.session, NULL), GS_NOT_READY);
        CHECK_STATUS(gs_texture_destroy(s.session, 12345), GS_ERR_INVALID_HANDLE);
        atomic_store(&go, true);
        CHECK_OK(gs_sync(s.session));
        CHECK_OK(gs_memcpy_dtoh(s.session, &got, s.out, 4));
        CHECK(got == 605);
    }
    scene_end(&s);
}

/* ---- What is refused ---- */

static void wrong_arrays_are_refused(void)
{
    static const struct {
        size_t width, height, depth;
        int format;
        unsigned channels, flags;
    } wrong[] = {{0, 4, 0, GS_FORMAT_UINT8, 1, 0},
                 {4, 4, 0, 0x50, 1, 0},
                 {4, 4, 0, 0x10001, 1, 0},
                 {4, 4, 0, GS_FORMAT_UINT8, 3, 0},
                 {4, 4, 0, GS_FORMAT_UINT8, 65537, 0},
                 {4, 4, 0, GS_FORMAT_UINT8, 1, 0x100},
                 {131073, 0, 0, GS_FORMAT_UINT8, 1, 0},
                 {4, (size_t)1 << 60, 0, GS_FORMAT_UINT8, 1, 0},
                 {4, 0, 4, GS_FORMAT_UINT8, 1, 0},
                 {4, 4, 0, GS_FORMAT_UINT8, 1, GS_ARRAY_LAYERED},
                 {4, 5, 6, GS_FORMAT_UINT8, 1, GS_ARRAY_CUBEMAP},
                 {4, 4, 8, GS_FORMAT_UINT8, 1, GS_ARRAY_CUBEMAP | GS_ARRAY_LAYERED},
                 {131072, 131072, 0, GS_FORMAT_UINT8, 1, 0}};
    struct scene s = scene_set();
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    gs_array array;

    for (unsigned i = 0; i < ARRAY_SIZE(wrong); i++) {
        desc.width = wrong[i].width;
        desc.height = wrong[i].height;
        desc.depth = wrong[i].depth;
        desc.format = (gs_format)wrong[i].format;
        desc.channels = wrong[i].channels;
        desc.flags = wrong[i].flags;
        gs_status status = gs_array_create(s.session, &desc, &array);
        if (status != GS_ERR_INVALID_VALUE && !(i == 12 && status == GS_ERR_QUOTA))
            test_fail(__FILE__, __LINE__, "wrong array %u: %s", i, gs_status_name(status));
    }
    CHECK_STATUS(gs_array_create(s.session, NULL, &array), GS_ERR_INVALID_VALUE);
    desc.size = 8;
    CHECK_STATUS(gs_array_create(s.session, &desc, &array), GS_ERR_INVALID_VALUE);
    scene_end(&s);
}

static void wrong_boxes_are_refused(void)
{
    struct scene s = scene_set();
    gs_array array = array_of(&s, 8, 4, 2, GS_FORMAT_UINT32, 1, 0);
    unsigned char host[8 * 4 * 4 * 2];
    gs_memcpy_3d_params good = box_of(32, 4, 2), box;

    good.dst.array = array;
    good.src.host = host;
    memset(host, 1, sizeof(host));
    CHECK_OK(gs_memcpy_3d(s.session, &good));
#define REFUSED(change, status)                                                                    \
    do {                                                                                           \
        box = good;                                                                                \
        change;                                                                                    \
        CHECK_STATUS(gs_memcpy_3d(s.session, &box), status);                                       \
    } while (0)
    REFUSED(box.width = 36, GS_ERR_INVALID_VALUE);
    REFUSED(box.height = 5, GS_ERR_INVALID_VALUE);
    REFUSED(box.depth = 3, GS_ERR_INVALID_VALUE);
    REFUSED(box.dst.x = 4, GS_ERR_INVALID_VALUE);
    REFUSED(box.dst.y = 1, GS_ERR_INVALID_VALUE);
    REFUSED(box.dst.z = SIZE_MAX, GS_ERR_INVALID_VALUE);
    REFUSED(box.width = 30, GS_ERR_INVALID_VALUE);
    REFUSED((box.dst.x = 2, box.width = 8), GS_ERR_INVALID_VALUE);
    REFUSED(box.src.pitch = 31, GS_ERR_INVALID_VALUE);
    REFUSED(box.src.pitch = (size_t)1 << 31, GS_ERR_INVALID_VALUE);
    REFUSED(box.src.rows = 3, GS_ERR_INVALID_VALUE);
    REFUSED(box.src.y = SIZE_MAX, GS_ERR_INVALID_VALUE);
    REFUSED(box.src.host = NULL, GS_ERR_INVALID_VALUE);
    REFUSED(box.dst.array = (gs_array)(uintptr_t)12345, GS_ERR_INVALID_HANDLE);
    REFUSED(box.src.device = s.out + 4096 - 255, GS_ERR_INVALID_POINTER);
    REFUSED((box.dst.array = NULL, box.dst.host = host), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_array_destroy(array));
    CHECK_STATUS(gs_memcpy_3d(s.session, &good), GS_ERR_INVALID_HANDLE);
    box = good;
    box.width = 0;
    CHECK_OK(gs_memcpy_3d(s.session, &box));
    scene_end(&s);
}

static void wrong_textures_are_refused(void)
{
    struct scene s = scene_set();
    gs_texture_resource good = GS_TEXTURE_RESOURCE_INIT, resource;
    gs_texture_desc plain = GS_TEXTURE_DESC_INIT, desc;
    gs_texture texture;
    gs_surface surface;

    good.type = GS_RESOURCE_PITCHED;
    good.address = s.out;
    good.width = 16;
    good.height = 8;
    good.pitch = 512;
    CHECK_OK(gs_texture_create(s.session, &good, &plain, &texture));
#undef REFUSED
#define REFUSED(change, status)                                                                    \
    do {                                                                                           \
        resource = good;                                                                           \
        desc = plain;                                                                              \
        change;                                                                                    \
        CHECK_STATUS(gs_texture_create(s.session, &resource, &desc, &texture), status);            \
    } while (0)
    REFUSED(resource.height = 9, GS_ERR_INVALID_POINTER);
    REFUSED(resource.address += 512, GS_ERR_INVALID_POINTER);
    REFUSED(resource.address += 256, GS_ERR_INVALID_VALUE);
    REFUSED(resource.address = 0, GS_ERR_INVALID_POINTER);
    REFUSED(resource.address = UINT64_MAX - 511, GS_ERR_INVALID_POINTER);
    REFUSED(resource.pitch = 500, GS_ERR_INVALID_VALUE);
    REFUSED(resource.pitch = 32, GS_ERR_INVALID_VALUE);
    REFUSED(resource.pitch = SIZE_MAX - 31, GS_ERR_INVALID_VALUE);
    REFUSED(resource.width = 0, GS_ERR_INVALID_VALUE);
    REFUSED(resource.width = SIZE_MAX / 2, GS_ERR_INVALID_VALUE);
    REFUSED(resource.height = SIZE_MAX, GS_ERR_INVALID_VALUE);
    REFUSED(resource.channels = 3, GS_ERR_INVALID_VALUE);
    REFUSED(resource.format = (gs_format)0x50, GS_ERR_INVALID_VALUE);
    REFUSED(resource.type = (gs_resource_type)4, GS_ERR_INVALID_VALUE);
    REFUSED((resource.type = GS_RESOURCE_LINEAR, resource.width = 4097), GS_ERR_INVALID_POINTER);
    REFUSED((resource.type = GS_RESOURCE_LINEAR, resource.width = 3), GS_ERR_INVALID_VALUE);
    REFUSED(resource.type = GS_RESOURCE_ARRAY, GS_ERR_INVALID_HANDLE);
    REFUSED(resource.type = GS_RESOURCE_MIPMAPPED, GS_ERR_INVALID_HANDLE);
    REFUSED(desc.flags = 0x80, GS_ERR_INVALID_VALUE);
    REFUSED(desc.max_anisotropy = 17, GS_ERR_INVALID_VALUE);
    REFUSED(desc.filter_mode = (gs_filter_mode)2, GS_ERR_INVALID_VALUE);
    REFUSED(desc.address_mode[2] = (gs_address_mode)4, GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_surface_create(s.session, NULL, &surface), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_texture_destroy(s.session, 0), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_texture_destroy(s.session, texture + 1), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_texture_destroy(s.session, texture));
    scene_end(&s);
}

/* A texture, an array and a handle of one session are nothing to another. */
static void a_neighbours_memory_and_objects_are_refused(void)
{
    struct scene s = scene_set();
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_memcpy_3d_params box = box_of(4, 1, 1);
    gs_session other;
    gs_devptr memory;
    gs_texture mine, texture;
    unsigned char host[4];

    CHECK_OK(server_attach(s.server, &other));
    CHECK_OK(gs_malloc(other, 4096, &memory));
    resource.type = GS_RESOURCE_LINEAR;
    resource.address = memory;
    resource.width = 4096;
    CHECK_STATUS(gs_texture_create(s.session, &resource, NULL, &texture), GS_ERR_INVALID_POINTER);
    resource.address = s.out;
    CHECK_OK(gs_texture_create(s.session, &resource, NULL, &mine));
    CHECK_STATUS(gs_texture_destroy(other, mine), GS_ERR_INVALID_HANDLE);
    resource.type = GS_RESOURCE_ARRAY;
    resource.array = array_of(&s, 4, 4, 0, GS_FORMAT_UINT8, 1, 0);
    CHECK_STATUS(gs_texture_create(other, &resource, NULL, &texture), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_surface_create(other, resource.array, &texture), GS_ERR_INVALID_HANDLE);
    box.src.array = resource.array;
    box.dst.host = host;
    CHECK_STATUS(gs_memcpy_3d(other, &box), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_detach(other));
    scene_end(&s);
}

static void a_recording_takes_no_box(void)
{
    struct scene s = scene_set();
    gs_memcpy_3d_params box = box_of(4, 1, 1);
    gs_stream stream;
    gs_graph graph;

    box.src.device = s.out;
    box.dst.device = s.out + 16;
    CHECK_OK(gs_stream_create(s.session, NULL, &stream));
    CHECK_OK(gs_graph_begin(s.session, stream));
    CHECK_STATUS(gs_memcpy_3d_async(s.session, &box, stream), GS_ERR_RECORDING);
    CHECK_STATUS(gs_graph_end(s.session, stream, &graph), GS_ERR_RECORDING);
    CHECK_OK(gs_memcpy_3d_async(s.session, &box, stream));
    scene_end(&s);
}

static void a_worker_that_is_lost_ends_a_session_with_arrays(void)
{
    struct scene s = scene_set();
    gs_fault fault = GS_FAULT_INIT;
    gs_session other;
    gs_devptr memory;

    CHECK_OK(server_attach(s.server, &other));
    CHECK_OK(gs_malloc(other, 4096, &memory));
    array_of(&s, 4, 4, 0, GS_FORMAT_UINT8, 1, 0);
    CHECK_EQUAL(kill(server_worker_pid(s.server), SIGKILL), 0);
    CHECK_WITHIN(20000, gs_sync(s.session) == GS_ERR_INTERRUPTED);
    CHECK_OK(gs_last_fault(s.session, &fault));
    CHECK_TEXT(fault.message, "arrays");
    CHECK_OK(gs_memset(other, memory, 1, 4096));
    CHECK_EQUAL(gs_detach(s.session), GS_ERR_INTERRUPTED);
    CHECK_OK(gs_detach(other));
    server_stop(s.server);
}

static const struct test tests[] = {
    TEST(an_array_begins_as_zeros_and_keeps_what_is_copied_to_it),
    TEST(boxes_go_between_arrays_device_and_host),
    TEST(an_array_counts_until_its_last_texture_goes),
    TEST(an_array_beyond_the_limit_is_refused),
    TEST(a_destroyed_array_counts_until_it_is_gone),
    TEST(textures_filter_and_bound_their_coordinates),
    TEST(volumes_and_layers_are_read_by_their_place),
    TEST(textures_show_linear_and_pitched_memory),
    TEST(what_a_surface_writes_a_texture_reads),
    TEST(work_given_before_uses_what_is_destroyed_to_its_end),
    TEST(wrong_arrays_are_refused),
    TEST(wrong_boxes_are_refused),
    TEST(wrong_textures_are_refused),
    TEST(a_neighbours_memory_and_objects_are_refused),
    TEST(a_recording_takes_no_box),
    TEST(a_worker_that_is_lost_ends_a_session_with_arrays),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
