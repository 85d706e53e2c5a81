// See texels.h.
#include "texels.h"

#include <math.h>
#include <string.h>

// ---- Formats

unsigned format_size(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    default:
        return 4;
    }
}

bool format_is_float(CUarray_format format)
{
    return format == CU_AD_FORMAT_HALF || format == CU_AD_FORMAT_FLOAT;
}

const char *format_name(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return "u8";
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return "u16";
    case CU_AD_FORMAT_UNSIGNED_INT32:
        return "u32";
    case CU_AD_FORMAT_SIGNED_INT8:
        return "s8";
    case CU_AD_FORMAT_SIGNED_INT16:
        return "s16";
    case CU_AD_FORMAT_SIGNED_INT32:
        return "s32";
    case CU_AD_FORMAT_HALF:
        return "f16";
    case CU_AD_FORMAT_FLOAT:
        return "f32";
    }
    return "?";
}

size_t texel_size(const struct texels *t)
{
    return format_size(t->format) * t->channels;
}

size_t texels_size(const struct texels *t)
{
    return texel_size(t) * t->width * t->height * t->depth;
}

static uint64_t random_state = 1;

static uint32_t random_word(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 32);
}

double random_unit(void)
{
    return random_word() / 4294967296.0;
}

struct texels texels_random(CUarray_format format, unsigned channels, size_t width, size_t height,
                            size_t depth, unsigned seed)
{
    struct texels t = {format, channels, width, height, depth, NULL};
    size_t count = width * height * depth * channels;

    t.data = malloc(texels_size(&t));
    CHECK(t.data);
    random_state = seed;
    for (size_t i = 0; i < count; i++) {
        uint32_t r = random_word();

        if (format == CU_AD_FORMAT_FLOAT) {
            // 16 bits of fraction: sums of a few, weighted, are exact
            float f = (float)((int32_t)(r & 0x7ffff) - 0x40000) / 65536;

            memcpy(t.data + 4 * i, &f, 4);
        } else if (format == CU_AD_FORMAT_HALF) {
            // sign, exponent of 1/8 to 2, 10 bits of fraction
            uint16_t h = (uint16_t)((r & 0x83ff) | (12 + (r >> 16) % 5) << 10);

            memcpy(t.data + 2 * i, &h, 2);
        } else {
            if (i % 19 == 0) // the least of a signed format
                r = 1u << (8 * format_size(format) - 1);
            memcpy(t.data + format_size(format) * i, &r, format_size(format));
        }
    }
    return t;
}

static const unsigned char *channel_at(const struct texels *t, size_t x, size_t y, size_t z,
                                       unsigned c)
{
    CHECK(x < t->width && y < t->height && z < t->depth && c < t->channels);
    return t->data + ((z * t->height + y) * t->width + x) * texel_size(t) +
           format_size(t->format) * c;
}

int64_t texel_integer(const struct texels *t, size_t x, size_t y, size_t z, unsigned c)
{
    const unsigned char *at = channel_at(t, x, y, z, c);
    uint32_t v = 0;

    memcpy(&v, at, format_size(t->format));
    switch (t->format) {
    case CU_AD_FORMAT_SIGNED_INT8:
        return (int8_t)v;
    case CU_AD_FORMAT_SIGNED_INT16:
        return (int16_t)v;
    case CU_AD_FORMAT_SIGNED_INT32:
        return (int32_t)v;
    default:
        return v;
    }
}

double texel_number(const struct texels *t, size_t x, size_t y, size_t z, unsigned c)
{
    int64_t v = texel_integer(t, x, y, z, c);
    uint32_t bits = (uint32_t)v;
    float f;

    switch (t->format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
        return (double)v / 255;
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return (double)v / 65535;
    case CU_AD_FORMAT_SIGNED_INT8:
        return fmax((double)v / 127, -1);
    case CU_AD_FORMAT_SIGNED_INT16:
        return fmax((double)v / 32767, -1);
    case CU_AD_FORMAT_HALF: // a normal number: texels_random makes no others
        return (v & 0x8000 ? -1.0 : 1.0) *
               ldexp(1024 + (double)(v & 0x3ff), (int)(v >> 10 & 31) - 25);
    default:
        memcpy(&f, &bits, 4);
        return (double)f;
    }
}

// ---- Arrays and objects

static CUDA_MEMCPY3D whole_copy(const struct texels *t)
{
    return (CUDA_MEMCPY3D){.srcPitch = t->width * texel_size(t),
                           .srcHeight = t->height,
                           .dstPitch = t->width * texel_size(t),
                           .dstHeight = t->height,
                           .WidthInBytes = t->width * texel_size(t),
                           .Height = t->height,
                           .Depth = t->depth};
}

CUarray array_of(const struct texels *t, unsigned dims, unsigned flags)
{
    bool sliced = flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
    CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = t->width,
                                    .Height = dims > 1 ? t->height : 0,
                                    .Depth = dims > 2 || sliced ? t->depth : 0,
                                    .Format = t->format,
                                    .NumChannels = t->channels,
                                    .Flags = flags};
    CUDA_MEMCPY3D copy = whole_copy(t);
    CUarray array;

    OK(cu.cuArray3DCreate_v2(&array, &desc));
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = t->data;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    OK(cu.cuMemcpy3D_v2(&copy));
    return array;
}

void array_read(CUarray array, const struct texels *t, void *data)
{
    CUDA_MEMCPY3D copy = whole_copy(t);

    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = data;
    OK(cu.cuMemcpy3D_v2(&copy));
}

CUtexObject texture_with(const CUDA_RESOURCE_DESC *resource, CUaddress_mode address,
                         CUfilter_mode filter, unsigned flags)
{
    CUDA_TEXTURE_DESC desc = {.addressMode = {address, address, address},
                              .filterMode = filter,
                              .flags = flags,
                              .borderColor = {0.25f, 0.5f, 0.75f, 0.125f}};
    CUtexObject texture;

    OK(cu.cuTexObjectCreate(&texture, resource, &desc, NULL));
    return texture;
}

CUtexObject texture_of(CUarray array, CUaddress_mode address, CUfilter_mode filter, unsigned flags)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};

    return texture_with(&resource, address, filter, flags);
}

CUsurfObject surface_of(CUarray array)
{
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY, .res.array.hArray = array};
    CUsurfObject surface;

    OK(cu.cuSurfObjectCreate(&surface, &resource));
    return surface;
}

// ---- A kernel around one instruction

static CUmodule module_load(const char *text)
{
    static const char frame[] =
        ".version 7.1\n.target sm_70\n.address_size 64\n"
        ".visible .entry around(.param .u64 object, .param .u64 in, .param .u64 out,"
        " .param .u32 count)\n{\n"
        "    .reg .pred %%p, %%end;\n    .reg .b16 %%h<4>;\n    .reg .f32 %%x, %%y, %%z, %%w;\n"
        "    .reg .b32 %%i, %%n, %%r<4>, %%c<4>, %%d<4>;\n"
        "    .reg .b64 %%t, %%in, %%out, %%at, %%q<4>;\n"
        "    ld.param.u64 %%t, [object];\n    ld.param.u64 %%in, [in];\n"
        "    ld.param.u64 %%out, [out];\n    ld.param.u32 %%n, [count];\n"
        "    mov.u32 %%r0, %%ctaid.x;\n    mov.u32 %%r1, %%ntid.x;\n    mov.u32 %%r2, %%tid.x;\n"
        "    mad.lo.u32 %%i, %%r0, %%r1, %%r2;\n    setp.ge.u32 %%end, %%i, %%n;\n"
        "    @%%end exit;\n"
        "    mul.wide.u32 %%at, %%i, 16;\n    add.u64 %%in, %%in, %%at;\n"
        "    add.u64 %%out, %%out, %%at;\n"
        "    ld.global.v4.b32 {%%c0, %%c1, %%c2, %%c3}, [%%in];\n"
        "    ld.global.v4.b32 {%%d0, %%d1, %%d2, %%d3}, [%%out];\n"
        "    mov.b32 %%x, %%c0;\n    mov.b32 %%y, %%c1;\n    mov.b32 %%z, %%c2;\n"
        "    mov.b32 %%w, %%c3;\n"
        "    %s\n"
        "    st.global.v4.b32 [%%out], {%%d0, %%d1, %%d2, %%d3};\n    ret;\n}\n";
    static char source[sizeof(frame) + 1024], log[1024];
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    CUmodule module;
    CUresult result;

    CHECK((size_t)snprintf(source, sizeof(source), frame, text) < sizeof(source));
    result = cu.cuModuleLoadDataEx(&module, source, 2, options, values);
    CHECK(result == CUDA_SUCCESS, "%s: %s: %s", text, result_name(result), log);
    return module;
}

// Each text is compiled once; a test has a few.
static CUmodule module_around(const char *text)
{
    static struct {
        const char *text;
        CUmodule module;
    } known[32];
    size_t i = 0;

    while (i < ARRAY_SIZE(known) && known[i].text && strcmp(known[i].text, text))
        i++;
    CHECK(i < ARRAY_SIZE(known), "too many texts");
    if (!known[i].text) {
        known[i].text = text;
        known[i].module = module_load(text);
    }
    return known[i].module;
}

CUresult run_result(const char *text, uint64_t object, const union words *in, union words *out,
                    unsigned count)
{
    CUmodule module = module_around(text);
    CUdeviceptr din = device_alloc(count * sizeof(*in)), dout = device_alloc(count * sizeof(*out));
    void *params[] = {&object, &din, &dout, &count};
    CUfunction f;
    CUresult result;

    OK(cu.cuMemcpyHtoD_v2(din, in, count * sizeof(*in)));
    OK(cu.cuMemcpyHtoD_v2(dout, out, count * sizeof(*out)));
    OK(cu.cuModuleGetFunction(&f, module, "around"));
    OK(cu.cuLaunchKernel(f, (count + 63) / 64, 1, 1, 64, 1, 1, 0, NULL, params, NULL));
    result = cu.cuCtxSynchronize();
    if (result)
        return result;
    OK(cu.cuMemcpyDtoH_v2(out, dout, count * sizeof(*out)));
    OK(cu.cuMemFree_v2(din));
    OK(cu.cuMemFree_v2(dout));
    return CUDA_SUCCESS;
}

void run(const char *text, uint64_t object, const union words *in, union words *out, unsigned count)
{
    CUresult result = run_result(text, object, in, out, count);

    CHECK(result == CUDA_SUCCESS, "%s: %s", text, result_name(result));
}
