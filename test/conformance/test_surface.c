// Surfaces: loads and stores of raw bytes by coordinate, inside and outside.
#include <string.h>

#include "texels.h"

enum { COUNT = 64 };

// Element sizes: one instruction each for a line, of which X is in bytes.
static const struct {
    CUarray_format format;
    unsigned channels;
    const char *load, *store;
} widths[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 1, "suld.b.1d.b8.trap {%d0}, [%t, {%c0}];",
     "sust.b.1d.b8.trap [%t, {%c0}], {%d0};"},
    {CU_AD_FORMAT_UNSIGNED_INT16, 1, "suld.b.1d.b16.trap {%h0}, [%t, {%c0}]; cvt.u32.u16 %d0, %h0;",
     "cvt.u16.u32 %h0, %d0; sust.b.1d.b16.trap [%t, {%c0}], {%h0};"},
    {CU_AD_FORMAT_UNSIGNED_INT8, 2,
     "suld.b.1d.v2.b8.trap {%h0, %h1}, [%t, {%c0}];\n    cvt.u32.u16 %d0, %h0;\n"
     "    cvt.u32.u16 %d1, %h1;\n    prmt.b32 %d0, %d0, %d1, 0x3340;\n    and.b32 %d0, %d0, "
     "0xffff;",
     "cvt.u16.u32 %h0, %d0;\n    shr.u16 %h1, %h0, 8;\n"
     "    sust.b.1d.v2.b8.trap [%t, {%c0}], {%h0, %h1};"},
    {CU_AD_FORMAT_FLOAT, 1, "suld.b.1d.b32.trap {%d0}, [%t, {%c0}];",
     "sust.b.1d.b32.trap [%t, {%c0}], {%d0};"},
    {CU_AD_FORMAT_HALF, 4,
     "suld.b.1d.v4.b16.trap {%h0, %h1, %h2, %h3}, [%t, {%c0}];\n    mov.b32 %d0, {%h0, %h1};\n"
     "    mov.b32 %d1, {%h2, %h3};",
     "mov.b32 {%h0, %h1}, %d0;\n    mov.b32 {%h2, %h3}, %d1;\n"
     "    sust.b.1d.v4.b16.trap [%t, {%c0}], {%h0, %h1, %h2, %h3};"},
    {CU_AD_FORMAT_SIGNED_INT32, 2,
     "suld.b.1d.b64.trap {%q0}, [%t, {%c0}];\n    mov.b64 {%d0, %d1}, %q0;",
     "mov.b64 %q0, {%d0, %d1};\n    sust.b.1d.b64.trap [%t, {%c0}], {%q0};"},
    {CU_AD_FORMAT_FLOAT, 4,
     "suld.b.1d.v2.b64.trap {%q0, %q1}, [%t, {%c0}];\n    mov.b64 {%d0, %d1}, %q0;\n"
     "    mov.b64 {%d2, %d3}, %q1;",
     "sust.b.1d.v4.b32.trap [%t, {%c0}], {%d0, %d1, %d2, %d3};"},
};

static void every_width_is_loaded_and_stored(void)
{
    for (size_t k = 0; k < ARRAY_SIZE(widths); k++) {
        struct texels t =
            texels_random(widths[k].format, widths[k].channels, COUNT, 1, 1, (unsigned)k);
        struct texels u =
            texels_random(widths[k].format, widths[k].channels, COUNT, 1, 1, (unsigned)k + 100);
        CUarray a = array_of(&t, 1, CUDA_ARRAY3D_SURFACE_LDST);
        CUsurfObject surface = surface_of(a);
        size_t bytes = texel_size(&t);
        union words in[COUNT] = {0}, out[COUNT] = {0};
        unsigned char got[COUNT * 16];

        for (unsigned i = 0; i < COUNT; i++)
            in[i].s[0] = (int32_t)((i * 5 % COUNT) * bytes);
        run(widths[k].load, surface, in, out, COUNT);
        for (unsigned i = 0; i < COUNT; i++)
            CHECK(!memcmp(&out[i], t.data + in[i].s[0], bytes), "%s: texel %u", widths[k].load,
                  i * 5 % COUNT);
        for (unsigned i = 0; i < COUNT; i++)
            memcpy(&out[i], u.data + in[i].s[0], bytes);
        run(widths[k].store, surface, in, out, COUNT);
        array_read(a, &t, got);
        CHECK(!memcmp(got, u.data, texels_size(&u)), "%s", widths[k].store);
        OK(cu.cuSurfObjectDestroy(surface));
        OK(cu.cuArrayDestroy(a));
        free(t.data);
        free(u.data);
    }
}

static void every_geometry_is_loaded_and_stored(void)
{
    static const struct {
        unsigned dims, flags;
        size_t width, height, depth;
        const char *load, *store;
    } shapes[] = {
        {2, 0, 12, 9, 1, "suld.b.2d.b32.trap {%d0}, [%t, {%c0, %c1}];",
         "sust.b.2d.b32.trap [%t, {%c0, %c1}], {%d0};"},
        {3, 0, 6, 5, 4, "suld.b.3d.b32.trap {%d0}, [%t, {%c0, %c1, %c2, %c2}];",
         "sust.b.3d.b32.trap [%t, {%c0, %c1, %c2, %c2}], {%d0};"},
        {1, CUDA_ARRAY3D_LAYERED, 10, 1, 7, "suld.b.a1d.b32.trap {%d0}, [%t, {%c2, %c0}];",
         "sust.b.a1d.b32.trap [%t, {%c2, %c0}], {%d0};"},
        {2, CUDA_ARRAY3D_LAYERED, 10, 4, 3,
         "suld.b.a2d.b32.trap {%d0}, [%t, {%c2, %c0, %c1, %c1}];",
         "sust.b.a2d.b32.trap [%t, {%c2, %c0, %c1, %c1}], {%d0};"},
        {2, CUDA_ARRAY3D_CUBEMAP, 5, 5, 6, "suld.b.a2d.b32.trap {%d0}, [%t, {%c2, %c0, %c1, %c1}];",
         "sust.b.a2d.b32.trap [%t, {%c2, %c0, %c1, %c1}], {%d0};"},
    };

    for (size_t k = 0; k < ARRAY_SIZE(shapes); k++) {
        struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT32, 1, shapes[k].width,
                                        shapes[k].height, shapes[k].depth, (unsigned)k);
        unsigned count = (unsigned)(t.width * t.height * t.depth);
        CUarray a = array_of(&t, shapes[k].dims, shapes[k].flags | CUDA_ARRAY3D_SURFACE_LDST);
        CUsurfObject surface = surface_of(a);
        union words in[256], out[256] = {0};
        uint32_t got[256];

        CHECK(count <= ARRAY_SIZE(in));
        for (unsigned i = 0; i < count; i++)
            in[i] =
                (union words){.u = {(uint32_t)(i % t.width * 4), (uint32_t)(i / t.width % t.height),
                                    (uint32_t)(i / t.width / t.height), 0}};
        run(shapes[k].load, surface, in, out, count);
        for (unsigned i = 0; i < count; i++) {
            CHECK(!memcmp(&out[i].u[0], t.data + 4 * i, 4), "%s: texel %u", shapes[k].load, i);
            out[i].u[0] = ~out[i].u[0];
        }
        run(shapes[k].store, surface, in, out, count);
        array_read(a, &t, got);
        for (unsigned i = 0; i < count; i++)
            CHECK(got[i] == out[i].u[0], "%s: texel %u", shapes[k].store, i);
        free(t.data);
    }
}

// ---- Outside

// Around a surface of 8 texels by 4 rows.
enum { W = 8, H = 4, SPREAD = 3, AROUND = (W + 2 * SPREAD) * (H + 2 * SPREAD) };

static void places_around(union words in[AROUND])
{
    for (int i = 0; i < AROUND; i++)
        in[i] = (union words){
            .s = {4 * (i % (W + 2 * SPREAD) - SPREAD), i / (W + 2 * SPREAD) - SPREAD, 0, 0}};
}

static bool inside(const union words *in)
{
    return in->s[0] >= 0 && in->s[0] < 4 * W && in->s[1] >= 0 && in->s[1] < H;
}

static int clamped(int v, int n)
{
    return v < 0 ? 0 : v >= n ? n - 1 : v;
}

static void loads_outside_are_clamped_or_zero(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT32, 1, W, H, 1, 1);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_SURFACE_LDST);
    CUsurfObject surface = surface_of(a);
    union words in[AROUND], out[AROUND] = {0};

    places_around(in);
    run("suld.b.2d.b32.zero {%d0}, [%t, {%c0, %c1}];", surface, in, out, AROUND);
    for (unsigned i = 0; i < AROUND; i++) {
        int64_t want = inside(&in[i])
                           ? texel_integer(&t, (size_t)in[i].s[0] / 4, (size_t)in[i].s[1], 0, 0)
                           : 0;

        CHECK(out[i].u[0] == want, "at %d, %d: 0x%x", in[i].s[0], in[i].s[1], out[i].u[0]);
    }
    run("suld.b.2d.b32.clamp {%d0}, [%t, {%c0, %c1}];", surface, in, out, AROUND);
    for (unsigned i = 0; i < AROUND; i++) {
        int64_t want = texel_integer(&t, (size_t)clamped(in[i].s[0] / 4, W),
                                     (size_t)clamped(in[i].s[1], H), 0, 0);

        CHECK(out[i].u[0] == want, "at %d, %d: 0x%x", in[i].s[0], in[i].s[1], out[i].u[0]);
    }
    free(t.data);
}

static void stores_outside_are_dropped(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT32, 1, W, H, 1, 2);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_SURFACE_LDST);
    union words in[AROUND], out[AROUND];
    uint32_t got[H][W];

    places_around(in);
    for (unsigned i = 0; i < AROUND; i++)
        out[i].u[0] = i;
    run("sust.b.2d.b32.zero [%t, {%c0, %c1}], {%d0};", surface_of(a), in, out, AROUND);
    array_read(a, &t, got);
    for (unsigned i = 0; i < AROUND; i++)
        if (inside(&in[i]))
            CHECK(got[in[i].s[1]][in[i].s[0] / 4] == i, "at %d, %d", in[i].s[0], in[i].s[1]);
    free(t.data);
}

static void outside_traps(int32_t x, int32_t y, const char *text)
{
    struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT32, 1, W, H, 1, 3);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_SURFACE_LDST);
    union words in = {.s = {x, y, 0, 0}}, out = {.u = {0}};

    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, run_result(text, surface_of(a), &in, &out, 1));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuArrayDestroy(a));
}

static void load_beside_traps(void)
{
    outside_traps(4 * W, 0, "suld.b.2d.b32.trap {%d0}, [%t, {%c0, %c1}];");
}

static void store_above_traps(void)
{
    outside_traps(0, -1, "sust.b.2d.b32.trap [%t, {%c0, %c1}], {%d0};");
}

static void misaligned_access_ends_the_context(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_UNSIGNED_INT32, 1, W, H, 1, 5);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_SURFACE_LDST);
    union words in = {.s = {2, 0, 0, 0}}, out = {.u = {0}};

    EXPECT(CUDA_ERROR_MISALIGNED_ADDRESS,
           run_result("suld.b.2d.b32.clamp {%d0}, [%t, {%c0, %c1}];", surface_of(a), &in, &out, 1));
    EXPECT(CUDA_ERROR_MISALIGNED_ADDRESS, cu.cuCtxSynchronize());
}

static void no_surface_has_this_handle(void)
{
    union words in = {.s = {0}}, out = {.u = {0}};

    if (!on_software)
        skip("a GPU does not say what a wrong handle does");
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS,
           run_result("sust.b.1d.b32.clamp [%t, {%c0}], {%d0};", 77, &in, &out, 1));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
}

// ---- With textures

static void stores_show_in_the_next_kernels_texture(void)
{
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 1, W, H, 1, 4);
    CUarray a = array_of(&t, 2, CUDA_ARRAY3D_SURFACE_LDST);
    CUsurfObject surface = surface_of(a);
    CUtexObject texture = texture_of(a, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    union words in[W * H], out[W * H];

    for (unsigned i = 0; i < W * H; i++) {
        in[i] = (union words){.u = {i % W * 4, i / W, 0, 0}};
        out[i].f[0] = (float)i;
    }
    run("sust.b.2d.b32.trap [%t, {%c0, %c1}], {%d0};", surface, in, out, W * H);
    for (unsigned i = 0; i < W * H; i++) {
        in[i].f[0] = (float)(i % W) + 0.5f;
        in[i].f[1] = (float)(i / W) + 0.5f;
    }
    run("tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];", texture, in, out, W * H);
    for (unsigned i = 0; i < W * H; i++)
        CHECK(out[i].f[0] == (float)i, "texel %u: %g", i, (double)out[i].f[0]);
    free(t.data);
}

static const struct test tests[] = {
    {"elements of every width are loaded and stored", every_width_is_loaded_and_stored, false},
    {"every geometry is loaded and stored", every_geometry_is_loaded_and_stored, false},
    {"loads outside are clamped or zero", loads_outside_are_clamped_or_zero, false},
    {"stores outside are dropped", stores_outside_are_dropped, false},
    {"a load beside the surface ends the context", load_beside_traps, false},
    {"a store above the surface ends the context", store_above_traps, false},
    {"a misaligned access ends the context", misaligned_access_ends_the_context, false},
    {"a handle of nothing ends the context", no_surface_has_this_handle, false},
    {"stores show in the next kernel's texture", stores_show_in_the_next_kernels_texture, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
