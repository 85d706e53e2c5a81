// CUDA arrays. An array is an ordinary allocation of its context, laid out row by row. A GPU
// places neighbours in two dimensions close together, which would gain nothing here.
//
// Checks every field of a descriptor. No state but the objects.
#include "softcuda/texture/array.h"

#include <stdlib.h>

#include "softcuda/device/device.h"
#include "softcuda/memory/memory.h"
#include "softcuda/texture/object.h"

enum { PITCH = 64 }; // rows begin at a cache line

struct array {
    struct object object;
    struct image image;
    CUDA_ARRAY3D_DESCRIPTOR desc;
};

uint32_t format_bytes(CUarray_format format)
{
    switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
        return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
        return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
        return 4;
    }
    return 0;
}

// ---- Which sizes there are

static bool within(size_t value, CUdevice_attribute limit)
{
    int most;

    return !device_attribute(&most, limit) && value <= (size_t)most;
}

static bool box_within(const CUDA_ARRAY3D_DESCRIPTOR *d, CUdevice_attribute width,
                       CUdevice_attribute height, CUdevice_attribute depth)
{
    return within(d->Width, width) && within(d->Height, height) && within(d->Depth, depth);
}

#define TEXTURE(what) CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE##what
#define SURFACE(what) CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE##what

static bool cube_fits(const CUDA_ARRAY3D_DESCRIPTOR *d, bool layered, bool surface)
{
    if (d->Width != d->Height || d->Depth == 0 || (layered ? d->Depth % 6 != 0 : d->Depth != 6))
        return false;
    if (!layered)
        return within(d->Width, TEXTURE(CUBEMAP_WIDTH)) &&
               (!surface || within(d->Width, SURFACE(CUBEMAP_WIDTH)));
    return box_within(d, TEXTURE(CUBEMAP_LAYERED_WIDTH), TEXTURE(CUBEMAP_LAYERED_WIDTH),
                      TEXTURE(CUBEMAP_LAYERED_LAYERS)) &&
           (!surface ||
            box_within(d, SURFACE(CUBEMAP_LAYERED_WIDTH), SURFACE(CUBEMAP_LAYERED_WIDTH),
                       SURFACE(CUBEMAP_LAYERED_LAYERS)));
}

static bool layers_fit(const CUDA_ARRAY3D_DESCRIPTOR *d, bool surface)
{
    if (d->Depth == 0)
        return false;
    if (d->Height == 0)
        return within(d->Width, TEXTURE(1D_LAYERED_WIDTH)) &&
               within(d->Depth, TEXTURE(1D_LAYERED_LAYERS)) &&
               (!surface || (within(d->Width, SURFACE(1D_LAYERED_WIDTH)) &&
                             within(d->Depth, SURFACE(1D_LAYERED_LAYERS))));
    return box_within(d, TEXTURE(2D_LAYERED_WIDTH), TEXTURE(2D_LAYERED_HEIGHT),
                      TEXTURE(2D_LAYERED_LAYERS)) &&
           (!surface || box_within(d, SURFACE(2D_LAYERED_WIDTH), SURFACE(2D_LAYERED_HEIGHT),
                                   SURFACE(2D_LAYERED_LAYERS)));
}

static bool plain_fits(const CUDA_ARRAY3D_DESCRIPTOR *d, bool surface)
{
    if (d->Depth)
        return d->Height &&
               (box_within(d, TEXTURE(3D_WIDTH), TEXTURE(3D_HEIGHT), TEXTURE(3D_DEPTH)) ||
                box_within(d, TEXTURE(3D_WIDTH_ALTERNATE), TEXTURE(3D_HEIGHT_ALTERNATE),
                           TEXTURE(3D_DEPTH_ALTERNATE))) &&
               (!surface ||
                box_within(d, SURFACE(3D_WIDTH), SURFACE(3D_HEIGHT), SURFACE(3D_DEPTH)));
    if (d->Height)
        return within(d->Width, TEXTURE(2D_WIDTH)) && within(d->Height, TEXTURE(2D_HEIGHT)) &&
               (!surface ||
                (within(d->Width, SURFACE(2D_WIDTH)) && within(d->Height, SURFACE(2D_HEIGHT))));
    return within(d->Width, TEXTURE(1D_WIDTH)) && (!surface || within(d->Width, SURFACE(1D_WIDTH)));
}

static bool gather_fits(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Height && !d->Depth && within(d->Width, TEXTURE(2D_GATHER_WIDTH)) &&
           within(d->Height, TEXTURE(2D_GATHER_HEIGHT));
}

static CUresult desc_check(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    static const unsigned int known = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST |
                                      CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_TEXTURE_GATHER;
    bool layered = d->Flags & CUDA_ARRAY3D_LAYERED, surface = d->Flags & CUDA_ARRAY3D_SURFACE_LDST;
    bool fits;

    // Compressed, planar and packed formats have numbers from 0x50 on; flags above the known ones
    // ask for depth, sparse and video arrays.
    if (d->Format >= 0x50 || d->Flags & ~known)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!format_bytes(d->Format) || !d->Width ||
        (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4))
        return CUDA_ERROR_INVALID_VALUE;
    fits = d->Flags & CUDA_ARRAY3D_CUBEMAP ? cube_fits(d, layered, surface)
           : layered                       ? layers_fit(d, surface)
                                           : plain_fits(d, surface);
    if (d->Flags & CUDA_ARRAY3D_TEXTURE_GATHER)
        fits = fits && gather_fits(d);
    return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// ---- Life

static struct image image_of(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    struct image m = {.width = (uint32_t)d->Width,
                      .height = d->Height ? (uint32_t)d->Height : 1,
                      .depth = d->Depth ? (uint32_t)d->Depth : 1,
                      .format = d->Format,
                      .channels = (uint8_t)d->NumChannels,
                      .channel_bytes = (uint8_t)format_bytes(d->Format),
                      .texel_bytes = (uint8_t)(format_bytes(d->Format) * d->NumChannels),
                      .dims = d->Height ? 2 : 1,
                      .layered = d->Flags & CUDA_ARRAY3D_LAYERED,
                      .cube = d->Flags & CUDA_ARRAY3D_CUBEMAP};

    if (d->Depth && !m.layered && !m.cube)
        m.dims = 3;
    // No product here passes 64 bits: 2^17 texels of 16 bytes, 2^16 rows, 2^15 slices.
    m.pitch = ((uint64_t)m.width * m.texel_bytes + PITCH - 1) & ~(uint64_t)(PITCH - 1);
    m.slice = m.pitch * m.height;
    m.bytes = m.slice * m.depth;
    return m;
}

CUresult array_new(CUcontext owner, const CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray *out)
{
    CUresult result = desc_check(desc);
    struct array *a;

    if (result)
        return result;
    a = calloc(1, sizeof(*a));
    if (!a)
        return CUDA_ERROR_OUT_OF_MEMORY;
    a->object = (struct object){.owner = owner, .kind = OBJECT_ARRAY};
    a->desc = *desc;
    a->image = image_of(desc);
    result = alloc_new(owner, a->image.bytes, &a->image.address);
    if (result) {
        free(a);
        return result;
    }
    if (!object_add(&a->object)) {
        alloc_free(a->image.address);
        free(a);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = (CUarray)(uintptr_t)a->object.handle;
    return CUDA_SUCCESS;
}

// Work that still reads the array faults on unmapped memory, as after cuMemFree.
CUresult array_destroy(CUarray array)
{
    struct array *a = (struct array *)object_take((uintptr_t)array, OBJECT_ARRAY);
    CUresult result;

    if (!a)
        return CUDA_ERROR_INVALID_HANDLE;
    result = alloc_free(a->image.address);
    free(a);
    return result;
}

CUresult array_describe(CUarray array, CUDA_ARRAY3D_DESCRIPTOR *desc, struct image *image)
{
    const struct array *a;

    object_lock();
    a = (const struct array *)object_find((uintptr_t)array, OBJECT_ARRAY);
    if (a && desc)
        *desc = a->desc;
    if (a && image)
        *image = a->image;
    object_unlock();
    return a ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
