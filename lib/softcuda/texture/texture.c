// Texture and surface objects: turns the driver's descriptions, which are checked here, into what
// the interpreter samples. No state except the objects.
#include "softcuda/texture/texture.h"

#include <math.h>
#include <stdlib.h>

#include "softcuda/device/device.h"
#include "softcuda/memory/memory.h"
#include "softcuda/texture/array.h"
#include "softcuda/texture/object.h"

struct texture_object {
    struct object object;
    struct texture texture;
    CUDA_RESOURCE_DESC resource; // as given by the caller
    CUDA_TEXTURE_DESC desc;
};

struct surface_object {
    struct object object;
    struct image image;
    CUDA_RESOURCE_DESC resource;
};

// ---- Resources

static int limit(CUdevice_attribute attribute)
{
    int value = 0;

    device_attribute(&value, attribute);
    return value;
}

// Makes an image of texels in ordinary memory.
static CUresult image_at(struct image *m, uint64_t address, CUarray_format format,
                         unsigned int channels)
{
    if (format >= 0x50)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!format_bytes(format) || (channels != 1 && channels != 2 && channels != 4) ||
        address % (unsigned)limit(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT))
        return CUDA_ERROR_INVALID_VALUE;
    *m = (struct image){.address = address,
                        .height = 1,
                        .depth = 1,
                        .format = format,
                        .channels = (uint8_t)channels,
                        .channel_bytes = (uint8_t)format_bytes(format),
                        .texel_bytes = (uint8_t)(format_bytes(format) * channels),
                        .dims = 1,
                        .levels = 1};
    return CUDA_SUCCESS;
}

static CUresult image_check(const struct image *m)
{
    enum memory_kind kind = memory_locate(m->address, m->bytes);

    return m->address && (kind == MEMORY_DEVICE || kind == MEMORY_HOST) ? CUDA_SUCCESS
                                                                        : CUDA_ERROR_INVALID_VALUE;
}

static CUresult image_linear(struct image *m, const CUDA_RESOURCE_DESC *r)
{
    CUresult result =
        image_at(m, r->res.linear.devPtr, r->res.linear.format, r->res.linear.numChannels);
    uint64_t width;

    if (result)
        return result;
    width = r->res.linear.sizeInBytes / m->texel_bytes;
    if (!width || width > (unsigned)limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH))
        return CUDA_ERROR_INVALID_VALUE;
    m->width = (uint32_t)width;
    m->bytes = m->pitch = m->slice = width * m->texel_bytes;
    return image_check(m);
}

static CUresult image_pitched(struct image *m, const CUDA_RESOURCE_DESC *r)
{
    CUresult result =
        image_at(m, r->res.pitch2D.devPtr, r->res.pitch2D.format, r->res.pitch2D.numChannels);
    size_t width = r->res.pitch2D.width, height = r->res.pitch2D.height;
    size_t pitch = r->res.pitch2D.pitchInBytes;

    if (result)
        return result;
    if (!width || width > (unsigned)limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH) ||
        !height || height > (unsigned)limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT) ||
        pitch > (unsigned)limit(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH) ||
        pitch % (unsigned)limit(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT) ||
        pitch < width * m->texel_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    m->width = (uint32_t)width;
    m->height = (uint32_t)height;
    m->dims = 2;
    m->pitch = pitch;
    m->bytes = m->slice = pitch * (height - 1) + width * m->texel_bytes;
    return image_check(m);
}

static CUresult image_of(struct image *m, const CUDA_RESOURCE_DESC *r)
{
    CUresult result;

    if (r->flags)
        return CUDA_ERROR_INVALID_VALUE;
    switch (r->resType) {
    case CU_RESOURCE_TYPE_ARRAY:
        result = array_describe(r->res.array.hArray, NULL, m);
        return result ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    case CU_RESOURCE_TYPE_LINEAR:
        return image_linear(m, r);
    case CU_RESOURCE_TYPE_PITCH2D:
        return image_pitched(m, r);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
        result = mipmap_describe(r->res.mipmap.hMipmappedArray, m);
        return result ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

// ---- Textures

// Only normalized coordinates wrap and mirror.
static CUaddress_mode address_mode(CUaddress_mode asked, bool normalized)
{
    return normalized || asked == CU_TR_ADDRESS_MODE_BORDER ? asked : CU_TR_ADDRESS_MODE_CLAMP;
}

static enum texel_reading reading_of(CUarray_format format, bool as_integer)
{
    switch (format) {
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT:
        return READ_FLOAT;
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_UNSIGNED_INT16:
        return as_integer ? READ_BITS : READ_UNSIGNED;
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
        return as_integer ? READ_BITS : READ_SIGNED;
    default:
        return READ_BITS;
    }
}

// Converts a level to 256ths; a NaN becomes 0. The bound is beyond any sum of a level and a bias.
static int32_t level_fixed(float level)
{
    static const float most = 1 << 16;

    if (isnan(level))
        return 0;
    return (int32_t)lrintf(256 * (level < -most ? -most : level > most ? most : level));
}

// How a mipmapped array's levels are chosen.
static CUresult levels_of(struct texture *t, const CUDA_TEXTURE_DESC *desc)
{
    if (!(desc->flags & CU_TRSF_NORMALIZED_COORDINATES) ||
        (unsigned)desc->mipmapFilterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    t->linear_levels = desc->mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR;
    t->bias = level_fixed(desc->mipmapLevelBias);
    t->least = level_fixed(desc->minMipmapLevelClamp);
    t->most = level_fixed(desc->maxMipmapLevelClamp);
    return CUDA_SUCCESS;
}

static CUresult texture_of(struct texture *t, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *desc)
{
    static const unsigned int known = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                      CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
    CUresult result = image_of(&t->image, resource);
    bool linear;

    if (result)
        return result;
    if (desc->flags & CU_TRSF_SEAMLESS_CUBEMAP)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (desc->flags & ~known || (unsigned)desc->filterMode > CU_TR_FILTER_MODE_LINEAR)
        return CUDA_ERROR_INVALID_VALUE;
    // Linear memory has neither filter nor modes.
    linear = resource->resType == CU_RESOURCE_TYPE_LINEAR;
    t->reading = reading_of(t->image.format, desc->flags & CU_TRSF_READ_AS_INTEGER);
    t->linear = desc->filterMode == CU_TR_FILTER_MODE_LINEAR && !linear;
    // A cube's coordinates are always normalized, and a point beyond a face is not on the next
    // face.
    t->normalized = (desc->flags & CU_TRSF_NORMALIZED_COORDINATES && !linear) || t->image.cube;
    t->srgb = desc->flags & CU_TRSF_SRGB && t->reading == READ_UNSIGNED &&
              t->image.format == CU_AD_FORMAT_UNSIGNED_INT8;
    for (int i = 0; i < 3; i++) {
        if ((unsigned)desc->addressMode[i] > CU_TR_ADDRESS_MODE_BORDER)
            return CUDA_ERROR_INVALID_VALUE;
        t->address[i] = address_mode(desc->addressMode[i], t->normalized);
    }
    for (unsigned c = 0; c < t->image.channels; c++)
        t->border[c] = texel_border(t, c, desc->borderColor[c]);
    return resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY ? levels_of(t, desc)
                                                                 : CUDA_SUCCESS;
}

CUresult texture_new(CUcontext owner, const CUDA_RESOURCE_DESC *resource,
                     const CUDA_TEXTURE_DESC *desc, CUtexObject *out)
{
    struct texture_object *o = calloc(1, sizeof(*o));
    CUresult result;

    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    o->object = (struct object){.owner = owner, .kind = OBJECT_TEXTURE};
    o->resource = *resource;
    o->desc = *desc;
    result = texture_of(&o->texture, resource, desc);
    if (!result && !object_add(&o->object))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result) {
        free(o);
        return result;
    }
    *out = o->object.handle;
    return CUDA_SUCCESS;
}

CUresult texture_free(CUtexObject texture)
{
    struct object *o = object_take(texture, OBJECT_TEXTURE);

    free(o);
    return o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult texture_describe(CUtexObject texture, CUDA_RESOURCE_DESC *resource,
                          CUDA_TEXTURE_DESC *desc)
{
    const struct texture_object *o;

    object_lock();
    o = (const struct texture_object *)object_find(texture, OBJECT_TEXTURE);
    if (o && resource)
        *resource = o->resource;
    if (o && desc)
        *desc = o->desc;
    object_unlock();
    return o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

const struct texture *texture_look_up(void *owner, uint64_t handle)
{
    const struct texture_object *o =
        (const struct texture_object *)object_find(handle, OBJECT_TEXTURE);

    return o && o->object.owner == owner ? &o->texture : NULL;
}

// ---- Surfaces

CUresult surface_new(CUcontext owner, const CUDA_RESOURCE_DESC *resource, CUsurfObject *out)
{
    struct surface_object *o;

    if (resource->flags || resource->resType != CU_RESOURCE_TYPE_ARRAY)
        return CUDA_ERROR_INVALID_VALUE;
    o = calloc(1, sizeof(*o));
    if (!o)
        return CUDA_ERROR_OUT_OF_MEMORY;
    o->object = (struct object){.owner = owner, .kind = OBJECT_SURFACE};
    o->resource = *resource;
    // An array made without CUDA_ARRAY3D_SURFACE_LDST will do, as it does for NVIDIA's driver.
    if (array_describe(resource->res.array.hArray, NULL, &o->image)) {
        free(o);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!object_add(&o->object)) {
        free(o);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = o->object.handle;
    return CUDA_SUCCESS;
}

CUresult surface_free(CUsurfObject surface)
{
    struct object *o = object_take(surface, OBJECT_SURFACE);

    free(o);
    return o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult surface_describe(CUsurfObject surface, CUDA_RESOURCE_DESC *resource)
{
    const struct surface_object *o;

    object_lock();
    o = (const struct surface_object *)object_find(surface, OBJECT_SURFACE);
    if (o)
        *resource = o->resource;
    object_unlock();
    return o ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

const struct image *surface_look_up(void *owner, uint64_t handle)
{
    const struct surface_object *o =
        (const struct surface_object *)object_find(handle, OBJECT_SURFACE);

    return o && o->object.owner == owner ? &o->image : NULL;
}
