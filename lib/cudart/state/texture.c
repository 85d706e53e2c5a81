/* texture.c - see texture.h. */
#include "cudart/state/texture.h"

#include <pthread.h>
#include <stdlib.h>

#include "cudart/state/array.h"
#include "cudart/state/device.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/mipmap.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct texture_object *objects; /* guarded by lock */

/* ---- What is asked for ----------------------------------------------------------------------- */

/* Checks the memory of a texture: device memory, with the bounds of its allocation. */
static cudaError_t memory_take(void *ptr, const struct cudaChannelFormatDesc *channels, size_t size,
                               gs_texture_resource *resource)
{
    cudaError_t error = array_format(channels, &resource->format, &resource->channels);

    if (error != cudaSuccess)
        return error;
    if (ptr == NULL || size == 0 || !memory_map_allows(ptr, size))
        return cudaErrorInvalidValue;
    resource->address = (uint64_t)(uintptr_t)ptr;
    return cudaSuccess;
}

static cudaError_t resource_take(const struct cudaResourceDesc *given,
                                 gs_texture_resource *resource)
{
    gs_array_desc desc;
    size_t size;
    cudaError_t error;

    switch (given->resType) {
    case cudaResourceTypeArray:
        resource->type = GS_RESOURCE_ARRAY;
        resource->array = (gs_array)(uintptr_t)given->res.array.array;
        error = array_describe(given->res.array.array, &desc);
        if (error == cudaSuccess)
            resource->format = desc.format; /* for the checks in texture_take */
        return error;
    case cudaResourceTypeLinear:
        resource->type = GS_RESOURCE_LINEAR;
        resource->width = given->res.linear.sizeInBytes;
        return memory_take(given->res.linear.devPtr, &given->res.linear.desc, resource->width,
                           resource);
    case cudaResourceTypePitch2D:
        resource->type = GS_RESOURCE_PITCHED;
        resource->width = given->res.pitch2D.width;
        resource->height = given->res.pitch2D.height;
        resource->pitch = given->res.pitch2D.pitchInBytes;
        /* The last row may be shorter than the pitch; libgshare knows how much of it is read. */
        if (resource->height == 0 ||
            __builtin_mul_overflow(resource->pitch, resource->height - 1, &size) ||
            __builtin_add_overflow(size, resource->width, &size))
            return cudaErrorInvalidValue;
        return memory_take(given->res.pitch2D.devPtr, &given->res.pitch2D.desc, size, resource);
    case cudaResourceTypeMipmappedArray:
        resource->type = GS_RESOURCE_MIPMAPPED;
        resource->array = (gs_array)(uintptr_t)given->res.mipmap.mipmap;
        error = mipmap_describe(given->res.mipmap.mipmap, &desc);
        if (error == cudaSuccess)
            resource->format = desc.format;
        return error;
    default:
        return cudaErrorInvalidValue;
    }
}

static bool format_is_float(gs_format format)
{
    return format == GS_FORMAT_FLOAT16 || format == GS_FORMAT_FLOAT32;
}

static cudaError_t texture_take(const struct cudaTextureDesc *given, gs_format format,
                                gs_texture_desc *desc)
{
    const bool fraction = given->readMode == cudaReadModeNormalizedFloat;

    if ((unsigned)given->filterMode > cudaFilterModeLinear ||
        (unsigned)given->readMode > cudaReadModeNormalizedFloat)
        return cudaErrorInvalidValue;
    if (given->filterMode == cudaFilterModeLinear && !fraction && !format_is_float(format))
        return cudaErrorInvalidFilterSetting;
    if (fraction && (format == GS_FORMAT_UINT32 || format == GS_FORMAT_INT32))
        return cudaErrorInvalidNormSetting;
    for (int i = 0; i < 3; i++) {
        if ((unsigned)given->addressMode[i] > cudaAddressModeBorder)
            return cudaErrorInvalidValue;
        desc->address_mode[i] = (gs_address_mode)given->addressMode[i];
    }
    for (int i = 0; i < 4; i++)
        desc->border[i] = given->borderColor[i];
    desc->mipmap_filter = (gs_filter_mode)given->mipmapFilterMode;
    desc->mipmap_bias = given->mipmapLevelBias;
    desc->mipmap_min = given->minMipmapLevelClamp;
    desc->mipmap_max = given->maxMipmapLevelClamp;
    desc->filter_mode = (gs_filter_mode)given->filterMode;
    desc->max_anisotropy = given->maxAnisotropy < 16 ? given->maxAnisotropy : 16;
    desc->flags = (fraction ? 0 : GS_TEXTURE_READ_AS_INTEGER) |
                  (given->normalizedCoords ? GS_TEXTURE_NORMALIZED_COORDINATES : 0) |
                  (given->sRGB ? GS_TEXTURE_SRGB : 0) |
                  (given->disableTrilinearOptimization ? GS_TEXTURE_NO_TRILINEAR_OPTIMIZATION : 0) |
                  (given->seamlessCubemap ? GS_TEXTURE_SEAMLESS_CUBEMAP : 0);
    return cudaSuccess;
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* For these calls, an invalid array handle is an invalid value. */
static cudaError_t made(gs_status status)
{
    return status == GS_ERR_INVALID_HANDLE ? cudaErrorInvalidValue : device_error(status);
}

static cudaError_t object_make(struct texture_object *object, const struct cudaTextureDesc *given)
{
    gs_texture_resource resource = GS_TEXTURE_RESOURCE_INIT;
    gs_texture_desc desc = GS_TEXTURE_DESC_INIT;
    cudaError_t error;

    if (object->surface) {
        if (object->resource.resType != cudaResourceTypeArray)
            return cudaErrorInvalidValue;
        return made(gs_surface_create(device_session(),
                                      (gs_array)(uintptr_t)object->resource.res.array.array,
                                      &object->handle));
    }
    object->desc = *given;
    error = resource_take(&object->resource, &resource);
    if (error == cudaErrorInvalidResourceHandle)
        return cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = texture_take(given, resource.format, &desc);
    if (error != cudaSuccess)
        return error;
    return made(gs_texture_create(device_session(), &resource, &desc, &object->handle));
}

cudaError_t texture_new(const struct cudaResourceDesc *resource, const struct cudaTextureDesc *desc,
                        unsigned long long *handle)
{
    struct texture_object *object = calloc(1, sizeof(*object));
    cudaError_t error;

    if (object == NULL)
        return cudaErrorMemoryAllocation;
    object->surface = desc == NULL;
    object->device = device_number();
    object->resource = *resource;
    error = object_make(object, desc);
    if (error != cudaSuccess) {
        free(object);
        return error;
    }
    *handle = object->handle;
    pthread_mutex_lock(&lock);
    object->next = objects;
    objects = object;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

/* The link that points to the object of the call's device, since devices may use the same handle;
 * or the last link, which is NULL. lock is held. */
static struct texture_object **link_of(unsigned long long handle, bool surface)
{
    struct texture_object **link = &objects;

    while (*link != NULL && ((*link)->handle != handle || (*link)->surface != surface ||
                             (*link)->device != device_number()))
        link = &(*link)->next;
    return link;
}

cudaError_t texture_end(unsigned long long handle, bool surface)
{
    struct texture_object **link, *object;

    pthread_mutex_lock(&lock);
    link = link_of(handle, surface);
    object = *link;
    if (object != NULL)
        *link = object->next;
    pthread_mutex_unlock(&lock);
    if (object == NULL)
        return cudaErrorInvalidValue;
    free(object);
    return device_error(surface ? gs_surface_destroy(device_session(), handle)
                                : gs_texture_destroy(device_session(), handle));
}

cudaError_t texture_find(unsigned long long handle, bool surface, struct texture_object *found)
{
    const struct texture_object *object;

    pthread_mutex_lock(&lock);
    object = *link_of(handle, surface);
    if (object != NULL)
        *found = *object;
    pthread_mutex_unlock(&lock);
    return object != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

void textures_forget(void)
{
    pthread_mutex_lock(&lock);
    for (struct texture_object **link = &objects, *object; (object = *link) != NULL;) {
        if (object->device != device_number()) {
            link = &object->next;
            continue;
        }
        *link = object->next;
        free(object);
    }
    pthread_mutex_unlock(&lock);
}
