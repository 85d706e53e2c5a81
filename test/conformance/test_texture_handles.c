// Textures that are not there, and instructions that are not: handles are looked up, never
// believed.
#include <pthread.h>
#include <string.h>

#include "texels.h"

static const char sample[] = "tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];";

// A handle of nothing ends the context; what another context made is nothing here.
static void wrong_handles_end_the_context(uint64_t handle)
{
    union words in = {.f = {0}}, out = {.u = {0}};
    CUresult result = run_result(sample, handle, &in, &out, 1);

    CHECK(result == CUDA_ERROR_ILLEGAL_ADDRESS, "%s", result_name(result));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cu.cuCtxSynchronize());
}

static CUtexObject some_texture(CUarray *array)
{
    struct texels t = texels_random(CU_AD_FORMAT_FLOAT, 4, 512, 2048, 1, 20);
    CUtexObject texture;

    *array = array_of(&t, 2, CUDA_ARRAY3D_SURFACE_LDST);
    texture = texture_of(*array, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT, 0);
    free(t.data);
    return texture;
}

// Textures of ARRAY until there are no more.
static void fill_the_table(CUarray array)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUDA_TEXTURE_DESC desc = {.flags = 0};
    CUresult result = CUDA_SUCCESS;
    CUtexObject texture;

    for (int i = 0; i < 1 << 20 && !result; i++)
        result = cu.cuTexObjectCreate(&texture, &resource, &desc, NULL);
    EXPECT(CUDA_ERROR_OUT_OF_MEMORY, result);
}

static void no_texture_has_this_handle(void)
{
    if (!on_software)
        skip("a GPU does not say what a wrong handle does");
    wrong_handles_end_the_context(0x123456789abc);
}

static void destroyed_texture(void)
{
    CUtexObject texture;
    CUarray a;

    if (!on_software)
        skip("a GPU does not say what a wrong handle does");
    texture = some_texture(&a);
    OK(cu.cuTexObjectDestroy(texture));
    fill_the_table(a); // others are in its place
    wrong_handles_end_the_context(texture);
}

struct destruction {
    CUtexObject texture;
    _Atomic uint64_t *started;
};

static void *destroy_when_started(void *argument)
{
    const struct destruction *d = argument;

    OK(cu.cuCtxSetCurrent(primary));
    host_wait(d->started, 1);
    OK(cu.cuTexObjectDestroy(d->texture));
    return NULL;
}

static void texture_destroyed_under_a_kernel(void)
{
    static const char endless[] = "mov.b64 %q0, {%c2, %c3};\nagain:\n"
                                  "    tex.2d.v4.f32.f32 {%d0, %d1, %d2, %d3}, [%t, {%x, %y}];\n"
                                  "    st.volatile.global.u64 [%q0], 1;\n    bra again;";
    struct destruction d;
    union words in[256], out[256] = {0};
    pthread_t thread;
    uint64_t word;
    CUarray a;

    if (!on_software)
        skip("a GPU does not say what a wrong handle does");
    d.texture = some_texture(&a);
    d.started = host_words();
    word = (uintptr_t)d.started;
    for (unsigned i = 0; i < ARRAY_SIZE(in); i++)
        in[i] = (union words){.u = {0, 0, (uint32_t)word, (uint32_t)(word >> 32)}};
    CHECK(!pthread_create(&thread, NULL, destroy_when_started, &d));
    EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, run_result(endless, d.texture, in, out, ARRAY_SIZE(in)));
    CHECK(!pthread_join(thread, NULL));
}

static void texture_of_another_context(void)
{
    CUresult (*create)(CUcontext *, unsigned int, CUdevice);
    CUcontext other;
    CUtexObject texture;
    CUarray a;

    if (!on_software)
        skip("a GPU does not say what a wrong handle does");
    OK(cu.cuGetProcAddress_v2("cuCtxCreate", (void **)&create, 11000, 0, NULL));
    OK(create(&other, 0, device));
    texture = some_texture(&a);
    OK(cu.cuCtxSetCurrent(primary));
    wrong_handles_end_the_context(texture);
}

// What a context made goes with it.
static void context_takes_its_objects_along(void)
{
    CUtexObject texture;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    CUarray a;

    if (!on_software)
        skip("a GPU does not say what a wrong handle does");
    texture = some_texture(&a);
    OK(cu.cuDevicePrimaryCtxReset_v2(device));
    context_open();
    EXPECT(CUDA_ERROR_INVALID_VALUE, cu.cuTexObjectDestroy(texture));
    EXPECT(CUDA_ERROR_INVALID_HANDLE, cu.cuArray3DGetDescriptor_v2(&desc, a));
}

static void surface_is_no_texture(void)
{
    CUarray a;

    if (!on_software)
        skip("a GPU does not say what a wrong handle does");
    some_texture(&a);
    wrong_handles_end_the_context(surface_of(a));
}

static void texture_without_its_array(void)
{
    CUtexObject texture;
    CUarray a;

    if (!on_software)
        skip("a GPU does not say what freed memory gives");
    texture = some_texture(&a);
    OK(cu.cuArrayDestroy(a));
    wrong_handles_end_the_context(texture);
}

static void left_out_instructions_are_refused_by_name(void)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [ref, {%f0, %f1}];", "a variable"},
        {"tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%t, {%f0, %f1}], {%r0, %r1};", "an offset"},
        {"txq.filter_mode.b32 %r0, [%t];", "this property"},
        {"suq.array_size.b32 %r0, [%t];", "this property"},
        {"sured.b.add.2d.u32.trap [%t, {%r0, %r1}], %r2;", "not supported"},
        {"sust.p.2d.v4.b32.trap [%t, {%r0, %r1}], {%r0, %r1, %r2, %r3};", "not supported"},
    };

    if (!on_software)
        skip("a GPU has them");
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        static char log[1024];
        CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
        void *values[] = {log, (void *)sizeof(log)};
        char source[1024];
        CUmodule module;

        snprintf(source, sizeof(source),
                 ".version 7.0\n.target sm_70\n.address_size 64\n.global .texref ref;\n"
                 ".visible .entry k()\n{\n    .reg .f32 %%f<4>;\n    .reg .b32 %%r<4>;\n"
                 "    .reg .b64 %%t;\n    mov.u64 %%t, 1;\n    %s\n    ret;\n}\n",
                 cases[i].text);
        EXPECT(CUDA_ERROR_NOT_SUPPORTED,
               cu.cuModuleLoadDataEx(&module, source, 2, options, values));
        CHECK(strstr(log, cases[i].says) && strstr(log, "line 11"), "%s", log);
    }
}

static const struct test tests[] = {
    {"a handle of nothing ends the context", no_texture_has_this_handle, false},
    {"a destroyed texture's handle ends the context", destroyed_texture, false},
    {"a texture destroyed under a kernel ends the context", texture_destroyed_under_a_kernel,
     false},
    {"a texture of another context is none in this", texture_of_another_context, false},
    {"a context takes its objects along", context_takes_its_objects_along, false},
    {"a surface's handle is no texture's", surface_is_no_texture, false},
    {"a texture whose array is gone ends the context", texture_without_its_array, false},
    {"instructions that are left out are refused by name and line",
     left_out_instructions_are_refused_by_name, false},
};

int main(void)
{
    return conform_main(tests, ARRAY_SIZE(tests));
}
