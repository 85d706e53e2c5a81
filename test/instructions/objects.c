// The textures and surfaces that instructions of the table name as %NAME: see instructions.h. Their
// texels are the same numbers each time.
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/abi.h"
#include "instructions.h"

enum kind { TEXTURE, LINEAR_MEMORY, SURFACE };

enum { CLAMP = CU_TR_ADDRESS_MODE_CLAMP, WRAP = CU_TR_ADDRESS_MODE_WRAP };
enum { MIRROR = CU_TR_ADDRESS_MODE_MIRROR, BORDER = CU_TR_ADDRESS_MODE_BORDER };
enum { U8 = CU_AD_FORMAT_UNSIGNED_INT8, S8 = CU_AD_FORMAT_SIGNED_INT8 };
enum { U16 = CU_AD_FORMAT_UNSIGNED_INT16, S16 = CU_AD_FORMAT_SIGNED_INT16 };
enum { U32 = CU_AD_FORMAT_UNSIGNED_INT32, S32 = CU_AD_FORMAT_SIGNED_INT32 };
enum { F16 = CU_AD_FORMAT_HALF, F32 = CU_AD_FORMAT_FLOAT };
enum { POINT = CU_TR_FILTER_MODE_POINT, LINEAR = CU_TR_FILTER_MODE_LINEAR };
enum { UNIT = CU_TRSF_NORMALIZED_COORDINATES, INTEGER = CU_TRSF_READ_AS_INTEGER };
enum { LAYERS = CUDA_ARRAY3D_LAYERED, CUBE = CUDA_ARRAY3D_CUBEMAP };

static const struct object {
    const char *name;
    enum kind kind;
    int format;
    unsigned channels, width, height, depth, array_flags;
    int mode, filter;
    unsigned flags;
} objects[] = {
    {"line_f32", TEXTURE, F32, 4, 64, 0, 0, 0, WRAP, LINEAR, UNIT},
    {"line_u8", TEXTURE, U8, 4, 64, 0, 0, 0, CLAMP, LINEAR, UNIT},
    {"line_one", TEXTURE, U8, 1, 64, 0, 0, 0, CLAMP, POINT, UNIT},
    {"line_two", TEXTURE, S16, 2, 64, 0, 0, 0, CLAMP, POINT, UNIT | INTEGER},
    {"point_wrap", TEXTURE, F32, 4, 32, 16, 0, 0, WRAP, POINT, UNIT},
    {"point_clamp", TEXTURE, F32, 4, 32, 16, 0, 0, CLAMP, POINT, UNIT},
    {"point_mirror", TEXTURE, F32, 4, 32, 16, 0, 0, MIRROR, POINT, UNIT},
    {"point_border", TEXTURE, F32, 4, 32, 16, 0, 0, BORDER, POINT, UNIT},
    {"linear_wrap", TEXTURE, F32, 4, 32, 16, 0, 0, WRAP, LINEAR, UNIT},
    {"linear_clamp", TEXTURE, F32, 4, 32, 16, 0, 0, CLAMP, LINEAR, UNIT},
    {"linear_mirror", TEXTURE, F32, 4, 32, 16, 0, 0, MIRROR, LINEAR, UNIT},
    {"linear_border", TEXTURE, F32, 4, 32, 16, 0, 0, BORDER, LINEAR, UNIT},
    {"texels_point", TEXTURE, F32, 2, 27, 13, 0, 0, CLAMP, POINT, 0},
    {"texels_linear", TEXTURE, F32, 2, 27, 13, 0, 0, CLAMP, LINEAR, 0},
    {"texels_border", TEXTURE, F32, 2, 27, 13, 0, 0, BORDER, LINEAR, 0},
    {"flat_u8", TEXTURE, U8, 4, 32, 16, 0, 0, CLAMP, LINEAR, UNIT},
    {"flat_s8", TEXTURE, S8, 4, 32, 16, 0, 0, CLAMP, LINEAR, UNIT},
    {"flat_u16", TEXTURE, U16, 4, 32, 16, 0, 0, CLAMP, LINEAR, UNIT},
    {"flat_s16", TEXTURE, S16, 4, 32, 16, 0, 0, CLAMP, LINEAR, UNIT},
    {"flat_f16", TEXTURE, F16, 4, 32, 16, 0, 0, CLAMP, LINEAR, UNIT},
    {"flat_srgb", TEXTURE, U8, 4, 32, 16, 0, 0, CLAMP, LINEAR, UNIT | CU_TRSF_SRGB},
    {"ints_u8", TEXTURE, U8, 4, 32, 16, 0, 0, BORDER, POINT, UNIT | INTEGER},
    {"ints_s16", TEXTURE, S16, 4, 32, 16, 0, 0, WRAP, POINT, UNIT | INTEGER},
    {"ints_u32", TEXTURE, U32, 1, 32, 16, 0, 0, MIRROR, POINT, UNIT},
    {"volume_f32", TEXTURE, F32, 1, 16, 8, 8, 0, WRAP, LINEAR, UNIT},
    {"volume_u8", TEXTURE, U8, 2, 16, 8, 8, 0, BORDER, LINEAR, UNIT},
    {"lines", TEXTURE, F32, 1, 32, 0, 5, LAYERS, CLAMP, LINEAR, UNIT},
    {"layers", TEXTURE, F32, 2, 16, 16, 5, LAYERS, WRAP, LINEAR, UNIT},
    {"cube", TEXTURE, F32, 1, 8, 8, 6, CUBE, CLAMP, POINT, UNIT},
    {"cubes", TEXTURE, U8, 4, 8, 8, 12, CUBE | LAYERS, CLAMP, POINT, UNIT | INTEGER},
    {"memory_s32", LINEAR_MEMORY, S32, 2, 60, 0, 0, 0, CLAMP, POINT, 0},
    {"memory_f16", LINEAR_MEMORY, F16, 4, 60, 0, 0, 0, CLAMP, POINT, 0},
    {"memory_u8", LINEAR_MEMORY, U8, 4, 60, 0, 0, 0, CLAMP, POINT, 0},
    {"surface_line", SURFACE, U32, 1, 60, 0, 0, 0, 0, 0, 0},
    {"surface_flat", SURFACE, U32, 1, 27, 13, 0, 0, 0, 0, 0},
    {"surface_wide", SURFACE, F32, 4, 27, 13, 0, 0, 0, 0, 0},
    {"surface_bytes", SURFACE, U8, 1, 27, 13, 0, 0, 0, 0, 0},
    {"surface_volume", SURFACE, U32, 1, 9, 8, 7, 0, 0, 0, 0},
    {"surface_layers", SURFACE, U32, 1, 9, 8, 7, LAYERS, 0, 0, 0},
    {"odd_wrap", TEXTURE, F32, 2, 29, 13, 0, 0, WRAP, LINEAR, UNIT},
    {"odd_mirror", TEXTURE, F32, 2, 29, 13, 0, 0, MIRROR, POINT, UNIT},
    {"border_u8", TEXTURE, U8, 4, 27, 13, 0, 0, BORDER, LINEAR, 0},
    {"border_s8", TEXTURE, S8, 4, 27, 13, 0, 0, BORDER, LINEAR, 0},
    {"border_srgb", TEXTURE, U8, 4, 27, 13, 0, 0, BORDER, LINEAR, CU_TRSF_SRGB},
    {"line_border", TEXTURE, F32, 1, 64, 0, 0, 0, BORDER, LINEAR, UNIT},
    {"volume_clamp", TEXTURE, S16, 1, 16, 8, 8, 0, CLAMP, LINEAR, UNIT},
    {"cube_wrap", TEXTURE, F32, 1, 8, 8, 6, CUBE, WRAP, LINEAR, UNIT},
    {"ints_linear", TEXTURE, S16, 2, 32, 16, 0, 0, CLAMP, LINEAR, UNIT | INTEGER},
};
_Static_assert(sizeof objects / sizeof objects[0] <= MAX_OBJECTS, "more than MAX_OBJECTS");

unsigned object_count(void)
{
    return sizeof objects / sizeof objects[0];
}

const char *object_name(unsigned k)
{
    return objects[k].name;
}

enum texture_column object_column(unsigned k)
{
    const struct object *o = &objects[k];
    bool cube = o->array_flags & CUDA_ARRAY3D_CUBEMAP,
         layered = o->array_flags & CUDA_ARRAY3D_LAYERED;

    if (o->kind == LINEAR_MEMORY)
        return TEXTURE_LINE;
    if (o->kind == SURFACE)
        return cube || layered ? (o->height ? SURFACE_A2D : SURFACE_A1D)
               : o->depth      ? SURFACE_3D
               : o->height     ? SURFACE_2D
                               : SURFACE_1D;
    if (cube)
        return layered ? TEXTURE_ACUBE : TEXTURE_CUBE;
    return layered     ? (o->height ? TEXTURE_A2D : TEXTURE_A1D)
           : o->depth  ? TEXTURE_3D
           : o->height ? TEXTURE_2D
                       : TEXTURE_1D;
}

static struct {
#define MEMBER(name, arguments) CUresult(*name) arguments;
    CUDA_ABI_COPY_FUNCTIONS(MEMBER)
    CUDA_ABI_MEMORY_FUNCTIONS(MEMBER)
    CUDA_ABI_TEXTURE_FUNCTIONS(MEMBER)
#undef MEMBER
} cu;

static unsigned channel_bytes(int format)
{
    return format == U8 || format == S8                      ? 1
           : format == U16 || format == S16 || format == F16 ? 2
                                                             : 4;
}

static unsigned at_least_one(unsigned n)
{
    return n ? n : 1;
}

// Floats from -4 to 4 of few significant bits, halves about 1, any integers.
static void *texels(const struct object *o, size_t *bytes)
{
    size_t n = (size_t)o->width * at_least_one(o->height) * at_least_one(o->depth) * o->channels;
    unsigned each = channel_bytes(o->format);
    unsigned char *data = calloc(n, each);

    for (size_t i = 0; data && i < n; i++) {
        uint64_t r = operand("b64", (unsigned)(o - objects) + 100, (unsigned)i * 4 + 3);
        float f = (float)((int32_t)(r & 0x7ffff) - 0x40000) / 65536;

        if (o->format == F32)
            memcpy(&r, &f, 4);
        if (o->format == F16)
            r = (r & 0x83ff) | (12 + (r >> 16) % 5) << 10;
        memcpy(data + i * each, &r, each);
    }
    *bytes = n * each;
    return data;
}

static bool array_make(const struct object *o, const void *data, CUarray *out)
{
    size_t row = (size_t)o->width * o->channels * channel_bytes(o->format);
    CUDA_ARRAY3D_DESCRIPTOR desc = {
        .Width = o->width,
        .Height = o->height,
        .Depth = o->depth,
        .Format = (CUarray_format)o->format,
        .NumChannels = o->channels,
        .Flags = o->array_flags | (o->kind == SURFACE ? CUDA_ARRAY3D_SURFACE_LDST : 0u) |
                 (o->kind == TEXTURE && o->height && !o->depth ? CUDA_ARRAY3D_TEXTURE_GATHER : 0u)};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = data,
                          .srcPitch = row,
                          .srcHeight = at_least_one(o->height),
                          .dstMemoryType = CU_MEMORYTYPE_ARRAY,
                          .WidthInBytes = row,
                          .Height = at_least_one(o->height),
                          .Depth = at_least_one(o->depth)};

    if (cu.cuArray3DCreate_v2(out, &desc))
        return false;
    copy.dstArray = *out;
    return !cu.cuMemcpy3D_v2(&copy);
}

static bool object_make(const struct object *o, uint64_t *handle)
{
    CUaddress_mode mode = (CUaddress_mode)o->mode;
    CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
    CUDA_TEXTURE_DESC desc = {.addressMode = {mode, mode, mode},
                              .filterMode = (CUfilter_mode)o->filter,
                              .flags = o->flags,
                              .borderColor = {0.25f, 0.5f, 0.75f, 0.125f}};
    CUtexObject made = 0;
    size_t bytes;
    void *data = texels(o, &bytes);
    bool ok;

    if (!data)
        return false;
    if (o->kind == LINEAR_MEMORY) {
        resource.resType = CU_RESOURCE_TYPE_LINEAR;
        resource.res.linear.format = (CUarray_format)o->format;
        resource.res.linear.numChannels = o->channels;
        resource.res.linear.sizeInBytes = bytes;
        ok = !cu.cuMemAlloc_v2(&resource.res.linear.devPtr, bytes) &&
             !cu.cuMemcpyHtoD_v2(resource.res.linear.devPtr, data, bytes);
    } else {
        ok = array_make(o, data, &resource.res.array.hArray);
    }
    free(data);
    if (ok)
        ok = o->kind == SURFACE ? !cu.cuSurfObjectCreate(&made, &resource)
                                : !cu.cuTexObjectCreate(&made, &resource, &desc, NULL);
    *handle = made;
    return ok;
}

const char *objects_make(void *library, uint64_t handles[MAX_OBJECTS])
{
#define RESOLVE(function, arguments)                                                               \
    *(void **)&cu.function = dlsym(library, #function);                                            \
    if (!cu.function)                                                                              \
        return #function;
    CUDA_ABI_COPY_FUNCTIONS(RESOLVE)
    CUDA_ABI_MEMORY_FUNCTIONS(RESOLVE)
    CUDA_ABI_TEXTURE_FUNCTIONS(RESOLVE)
#undef RESOLVE
    for (unsigned k = 0; k < object_count(); k++)
        if (!object_make(&objects[k], &handles[k]))
            handles[k] = 0;
    return NULL;
}
