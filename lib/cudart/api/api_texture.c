/* api_texture.c - texture and surface objects. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/state/array.h"
#include "cudart/state/device.h"
#include "cudart/state/texture.h"

CUDART_API cudaError_t cudaCreateTextureObject(cudaTextureObject_t *texture,
                                               const struct cudaResourceDesc *resource,
                                               const struct cudaTextureDesc *desc,
                                               const struct cudaResourceViewDesc *view)
{
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error_record(error);
    if (texture == NULL || resource == NULL || desc == NULL)
        return error_record(cudaErrorInvalidValue);
    if (view != NULL)
        return error_record(error_unsupported("a texture with a resource view"));
    return error_record(texture_new(resource, desc, texture));
}

/* 0 is not an object, and destroying it does nothing. */
static cudaError_t destroy(unsigned long long handle, bool surface)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && handle != 0)
        error = texture_end(handle, surface);
    return error_record(error);
}

CUDART_API cudaError_t cudaDestroyTextureObject(cudaTextureObject_t texture)
{
    return destroy(texture, false);
}

CUDART_API cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *surface,
                                               const struct cudaResourceDesc *resource)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && (surface == NULL || resource == NULL))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = texture_new(resource, NULL, surface);
    return error_record(error);
}

CUDART_API cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t surface)
{
    return destroy(surface, true);
}

/* ---- What they were made of ------------------------------------------------------------------ */

static cudaError_t look(unsigned long long handle, bool surface, struct texture_object *object)
{
    cudaError_t error = device_use();

    return error == cudaSuccess ? texture_find(handle, surface, object) : error;
}

CUDART_API cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *resource,
                                                        cudaTextureObject_t texture)
{
    struct texture_object object;
    cudaError_t error = resource != NULL ? look(texture, false, &object) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        *resource = object.resource;
    return error_record(error);
}

CUDART_API cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *desc,
                                                       cudaTextureObject_t texture)
{
    struct texture_object object;
    cudaError_t error = desc != NULL ? look(texture, false, &object) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        *desc = object.desc;
    return error_record(error);
}

/* Views are not supported, and CUDA returns this error for a texture without one. */
CUDART_API cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *view,
                                                            cudaTextureObject_t texture)
{
    (void)view;
    (void)texture;
    return error_record(cudaErrorInvalidValue);
}

CUDART_API cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *resource,
                                                        cudaSurfaceObject_t surface)
{
    struct texture_object object;
    cudaError_t error = resource != NULL ? look(surface, true, &object) : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        *resource = object.resource;
    return error_record(error);
}

enum {
#define TEXTURE_LIMIT(name, number, value) LIMIT_##name = value,
#include "cudart/base/texture_limits.def"
#undef TEXTURE_LIMIT
};

CUDART_API cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(
    size_t *width, const struct cudaChannelFormatDesc *channels, int number)
{
    gs_format format;
    unsigned count;
    cudaError_t error = device_use_number(number);

    if (error == cudaSuccess && (width == NULL || channels == NULL))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = array_format(channels, &format, &count);
    if (error == cudaSuccess)
        *width = LIMIT_Texture1DLinearWidth;
    return error_record(error);
}
