// CUDA arrays. An array is an ordinary allocation of its context, laid out row by row. A GPU
// places neighbours in two dimensions close together, which would gain nothing here. The levels of
// a mipmapped array lie one behind the other in one allocation, each an array of its own.
//
// Checks every field of a descriptor. No state but the objects.
#include "softcuda/texture/array.h"

#include <stdlib.h>

#include "softcuda/device/device.h"
#include "softcuda/memory/memory.h"
#include "softcuda/texture/object.h"

struct array {
    struct object object;
    struct image image;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    bool is_level; // of a mipmapped array, with which it goes
};

enum { MOST_LEVELS = 18 }; // of 2^17 texels

struct mipmap {
    struct object object;
    struct image image;
    CUarray level[MOST_LEVELS]; // as many as the image has
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

// Arrays of one and two dimensions have limits of their own where they have levels.
static bool flat_fits(const CUDA_ARRAY3D_DESCRIPTOR *d, bool levels)
{
    if (!d->Height)
        return within(d->Width, levels ? TEXTURE(1D_MIPMAPPED_WIDTH) : TEXTURE(1D_WIDTH));
    return within(d->Width, levels ? TEXTURE(2D_MIPMAPPED_WIDTH) : TEXTURE(2D_WIDTH)) &&
           within(d->Height, levels ? TEXTURE(2D_MIPMAPPED_HEIGHT) : TEXTURE(2D_HEIGHT));
}

static bool plain_fits(const CUDA_ARRAY3D_DESCRIPTOR *d, bool surface, bool levels)
{
    if (d->Depth)
        return d->Height &&
               (box_within(d, TEXTURE(3D_WIDTH), TEXTURE(3D_HEIGHT), TEXTURE(3D_DEPTH)) ||
                box_within(d, TEXTURE(3D_WIDTH_ALTERNATE), TEXTURE(3D_HEIGHT_ALTERNATE),
                           TEXTURE(3D_DEPTH_ALTERNATE))) &&
               (!surface ||
                box_within(d, SURFACE(3D_WIDTH), SURFACE(3D_HEIGHT), SURFACE(3D_DEPTH)));
    return flat_fits(d, levels) &&
           (!surface || (d->Height ? within(d->Width, SURFACE(2D_WIDTH)) &&
                                         within(d->Height, SURFACE(2D_HEIGHT))
                                   : within(d->Width, SURFACE(1D_WIDTH))));
}

static bool gather_fits(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return d->Height && !d->Depth && within(d->Width, TEXTURE(2D_GATHER_WIDTH)) &&
           within(d->Height, TEXTURE(2D_GATHER_HEIGHT));
}

static CUresult desc_check(const CUDA_ARRAY3D_DESCRIPTOR *d, bool levels)
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
                                           : plain_fits(d, surface, levels);
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
                      .cube = d->Flags & CUDA_ARRAY3D_CUBEMAP,
                      .levels = 1};

    if (d->Depth && !m.layered && !m.cube)
        m.dims = 3;
    image_lay_out(&m);
    return m;
}

CUresult array_new(CUcontext owner, const CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray *out)
{
    CUresult result = desc_check(desc, false);
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

static bool array_is_level(CUarray array)
{
    const struct array *a;

    object_lock();
    a = (const struct array *)object_find((uintptr_t)array, OBJECT_ARRAY);
    object_unlock();
    return a && a->is_level; // which no array becomes or ceases to be
}

// Work that still reads the array faults on unmapped memory, as after cuMemFree.
CUresult array_free(CUarray array)
{
    struct array *a;
    CUresult result;

    if (array_is_level(array))
        return CUDA_ERROR_INVALID_HANDLE;
    a = (struct array *)object_take((uintptr_t)array, OBJECT_ARRAY);
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

// ---- Mipmapped arrays

// Counts the levels down to the one of a single texel, by the formula of cuMipmappedArrayCreate.
// Layers and faces are no side of it: the number of layers stays the same on every level.
static unsigned levels_of(const struct image *m)
{
    uint32_t side = m->width > m->height ? m->width : m->height;
    unsigned levels = 1;

    if (m->dims == 3 && m->depth > side)
        side = m->depth;
    for (; side > 1; side /= 2)
        levels++;
    return levels;
}

// What cuArray3DGetDescriptor tells of a level whose image is M.
static CUDA_ARRAY3D_DESCRIPTOR level_desc(const CUDA_ARRAY3D_DESCRIPTOR *whole,
                                          const struct image *m)
{
    CUDA_ARRAY3D_DESCRIPTOR desc = *whole;

    desc.Width = m->width;
    desc.Height = whole->Height ? m->height : 0;
    desc.Depth = whole->Depth ? m->depth : 0;
    return desc;
}

static bool level_new(struct mipmap *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned level)
{
    struct array *a = calloc(1, sizeof(*a));

    if (!a)
        return false;
    a->object = (struct object){.owner = mipmap->object.owner, .kind = OBJECT_ARRAY};
    a->image = image_level(&mipmap->image, level);
    a->desc = level_desc(desc, &a->image);
    a->is_level = true;
    if (!object_add(&a->object)) {
        free(a);
        return false;
    }
    mipmap->level[level] = (CUarray)(uintptr_t)a->object.handle;
    return true;
}

static CUresult mipmap_memory_free(struct mipmap *mipmap)
{
    CUresult result = CUDA_SUCCESS;

    for (unsigned l = 0; l < mipmap->image.levels; l++)
        free(object_take((uintptr_t)mipmap->level[l], OBJECT_ARRAY)); // a handle of 0 is none
    if (mipmap->image.address)
        result = alloc_free(mipmap->image.address);
    free(mipmap);
    return result;
}

static CUresult levels_new(struct mipmap *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    struct image last = image_level(&mipmap->image, mipmap->image.levels - 1u);
    CUresult result;

    mipmap->image.bytes = last.address + last.bytes; // as long as the first is at 0
    result = alloc_new(mipmap->object.owner, mipmap->image.bytes, &mipmap->image.address);
    for (unsigned l = 0; l < mipmap->image.levels && !result; l++)
        if (!level_new(mipmap, desc, l))
            result = CUDA_ERROR_OUT_OF_MEMORY;
    if (!result && !object_add(&mipmap->object))
        result = CUDA_ERROR_OUT_OF_MEMORY;
    return result;
}

CUresult mipmap_new(CUcontext owner, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels,
                    CUmipmappedArray *out)
{
    CUresult result = desc_check(desc, true);
    struct mipmap *mipmap;
    unsigned most;

    if (result)
        return result;
    mipmap = calloc(1, sizeof(*mipmap));
    if (!mipmap)
        return CUDA_ERROR_OUT_OF_MEMORY;
    mipmap->object = (struct object){.owner = owner, .kind = OBJECT_MIPMAP};
    mipmap->image = image_of(desc);
    most = levels_of(&mipmap->image);
    mipmap->image.levels = (uint8_t)(levels < 1 ? 1 : levels > most ? most : levels);
    result = levels_new(mipmap, desc);
    if (result) {
        mipmap_memory_free(mipmap);
        return result;
    }
    *out = (CUmipmappedArray)(uintptr_t)mipmap->object.handle;
    return CUDA_SUCCESS;
}

CUresult mipmap_free(CUmipmappedArray mipmap)
{
    struct mipmap *m = (struct mipmap *)object_take((uintptr_t)mipmap, OBJECT_MIPMAP);

    return m ? mipmap_memory_free(m) : CUDA_ERROR_INVALID_HANDLE;
}

CUresult mipmap_level(CUmipmappedArray mipmap, unsigned int level, CUarray *out)
{
    const struct mipmap *m;
    CUresult result = CUDA_ERROR_INVALID_HANDLE;

    object_lock();
    m = (const struct mipmap *)object_find((uintptr_t)mipmap, OBJECT_MIPMAP);
    if (m) {
        result = level < m->image.levels ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
        if (!result)
            *out = m->level[level];
    }
    object_unlock();
    return result;
}

CUresult mipmap_describe(CUmipmappedArray mipmap, struct image *image)
{
    const struct mipmap *m;

    object_lock();
    m = (const struct mipmap *)object_find((uintptr_t)mipmap, OBJECT_MIPMAP);
    if (m)
        *image = m->image;
    object_unlock();
    return m ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
