/* api_array.c - CUDA arrays and mipmapped arrays: making, describing and freeing them. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/state/array.h"
#include "cudart/state/mipmap.h"

CUDART_API struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                              enum cudaChannelFormatKind f)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, f};
}

/* Checks the parts of the description that libgshare does not check. array: where the handle is to
 * be stored. */
static cudaError_t desc_take(const void *array, const struct cudaChannelFormatDesc *channels,
                             struct cudaExtent extent, unsigned flags, gs_array_desc *desc)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess)
        error = capture_forbids_unsafe();
    if (error != cudaSuccess)
        return error;
    if (array == NULL || channels == NULL)
        return cudaErrorInvalidValue;
    if (flags & ~(unsigned)(cudaArrayLayered | cudaArraySurfaceLoadStore | cudaArrayCubemap |
                            cudaArrayTextureGather))
        return error_unsupported("a sparse or deferred array");
    desc->width = extent.width;
    desc->height = extent.height;
    desc->depth = extent.depth;
    desc->flags = flags;
    return array_format(channels, &desc->format, &desc->channels);
}

static cudaError_t array_new(cudaArray_t *array, const struct cudaChannelFormatDesc *channels,
                             struct cudaExtent extent, unsigned flags)
{
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    gs_array made;
    cudaError_t error = desc_take(array, channels, extent, flags, &desc);

    if (error == cudaSuccess)
        error = device_error(gs_array_create(device_session(), &desc, &made));
    if (error == cudaSuccess)
        *array = (cudaArray_t)(uintptr_t)made;
    return error;
}

CUDART_API cudaError_t cudaMallocArray(cudaArray_t *array, const struct cudaChannelFormatDesc *desc,
                                       size_t width, size_t height, unsigned int flags)
{
    return error_record(array_new(array, desc, (struct cudaExtent){width, height, 0}, flags));
}

CUDART_API cudaError_t cudaMalloc3DArray(cudaArray_t *array,
                                         const struct cudaChannelFormatDesc *desc,
                                         struct cudaExtent extent, unsigned int flags)
{
    return error_record(array_new(array, desc, extent, flags));
}

CUDART_API cudaError_t cudaFreeArray(cudaArray_t array)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && array != NULL)
        error = capture_forbids_unsafe();
    if (error == cudaSuccess && mipmap_has(array))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && array != NULL)
        error = device_error(gs_array_destroy((gs_array)(uintptr_t)array));
    return error_record(error);
}

/* ---- Mipmapped arrays ------------------------------------------------------------------------ */

/* The number of levels down to a single texel; layers and faces do not count. */
static size_t levels_most(const gs_array_desc *desc)
{
    const bool layers = desc->flags & (GS_ARRAY_LAYERED | GS_ARRAY_CUBEMAP);
    size_t sides = desc->width | desc->height | (layers ? 0 : desc->depth), levels = 1;

    while (sides >>= 1)
        levels++;
    return levels;
}

CUDART_API cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t *mipmap,
                                                const struct cudaChannelFormatDesc *channels,
                                                struct cudaExtent extent, unsigned int levels,
                                                unsigned int flags)
{
    gs_array_desc desc = GS_ARRAY_DESC_INIT;
    cudaError_t error = desc_take(mipmap, channels, extent, flags, &desc);

    if (error != cudaSuccess)
        return error_record(error);
    desc.levels = levels_most(&desc);
    if (levels < desc.levels)
        desc.levels = levels > 0 ? levels : 1;
    return error_record(mipmap_new(&desc, mipmap));
}

CUDART_API cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t mipmap)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && mipmap != NULL)
        error = capture_forbids_unsafe();
    if (error == cudaSuccess && mipmap != NULL)
        error = mipmap_end(mipmap);
    return error_record(error);
}

CUDART_API cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t *array,
                                                  cudaMipmappedArray_const_t mipmap,
                                                  unsigned int level)
{
    cudaError_t error = device_use();

    if (error == cudaSuccess && array == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        error = mipmap_level(mipmap, level, array);
    return error_record(error);
}

/* ---- What an array is ------------------------------------------------------------------------ */

CUDART_API cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *channels,
                                        struct cudaExtent *extent, unsigned int *flags,
                                        cudaArray_t array)
{
    gs_array_desc desc;
    cudaError_t error = device_use();

    if (error == cudaSuccess)
        error = array_describe(array, &desc);
    if (error != cudaSuccess)
        return error_record(error);
    if (channels != NULL)
        *channels = array_channels(&desc);
    if (extent != NULL)
        *extent = (struct cudaExtent){desc.width, desc.height, desc.depth};
    if (flags != NULL)
        *flags = desc.flags;
    return cudaSuccess;
}

CUDART_API cudaError_t cudaGetChannelDesc(struct cudaChannelFormatDesc *channels,
                                          cudaArray_const_t array)
{
    gs_array_desc desc;
    cudaError_t error = channels != NULL ? device_use() : cudaErrorInvalidValue;

    if (error == cudaSuccess)
        error = array_describe(array, &desc);
    if (error == cudaSuccess)
        *channels = array_channels(&desc);
    return error_record(error);
}
