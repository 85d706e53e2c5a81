// Driver calls about arrays, textures and surfaces.
#include "softcuda/texture/texture.h"
#include "softcuda/api/api.h"
#include "softcuda/context/context.h"
#include "softcuda/texture/array.h"

// ---- Arrays

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return array && desc ? array_new(context->root, desc, array) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *desc)
{
    CUDA_ARRAY3D_DESCRIPTOR full;

    if (!desc)
        return CUDA_ERROR_INVALID_VALUE;
    full = (CUDA_ARRAY3D_DESCRIPTOR){.Width = desc->Width,
                                     .Height = desc->Height,
                                     .Format = desc->Format,
                                     .NumChannels = desc->NumChannels};
    return cuArray3DCreate_v2(array, &full);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray array)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return desc ? array_describe(array, desc, NULL) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR *desc, CUarray array)
{
    CUDA_ARRAY3D_DESCRIPTOR full;
    CUresult result = cuArray3DGetDescriptor_v2(&full, array);

    if (result)
        return result;
    if (!desc)
        return CUDA_ERROR_INVALID_VALUE;
    *desc = (CUDA_ARRAY_DESCRIPTOR){full.Width, full.Height, full.Format, full.NumChannels};
    return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : array_free(array);
}

// ---- Mipmapped arrays

CUresult cuMipmappedArrayCreate(CUmipmappedArray *mipmap, const CUDA_ARRAY3D_DESCRIPTOR *desc,
                                unsigned int levels)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return mipmap && desc ? mipmap_new(context->root, desc, levels, mipmap)
                          : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMipmappedArrayGetLevel(CUarray *array, CUmipmappedArray mipmap, unsigned int level)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return array ? mipmap_level(mipmap, level, array) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray mipmap)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : mipmap_free(mipmap);
}

// ---- Copies of one row of an array

static CUDA_MEMCPY3D row_to_array(CUarray dst, size_t offset, size_t size)
{
    return (CUDA_MEMCPY3D){.dstMemoryType = CU_MEMORYTYPE_ARRAY,
                           .dstArray = dst,
                           .dstXInBytes = offset,
                           .WidthInBytes = size,
                           .Height = 1,
                           .Depth = 1};
}

static CUDA_MEMCPY3D row_from_array(CUarray src, size_t offset, size_t size)
{
    return (CUDA_MEMCPY3D){.srcMemoryType = CU_MEMORYTYPE_ARRAY,
                           .srcArray = src,
                           .srcXInBytes = offset,
                           .WidthInBytes = size,
                           .Height = 1,
                           .Depth = 1};
}

CUresult cuMemcpyDtoA_v2(CUarray dst, size_t offset, CUdeviceptr src, size_t size)
{
    CUDA_MEMCPY3D box = row_to_array(dst, offset, size);

    box.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = src;
    return cuMemcpy3D_v2(&box);
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr dst, CUarray src, size_t offset, size_t size)
{
    CUDA_MEMCPY3D box = row_from_array(src, offset, size);

    box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.dstDevice = dst;
    return cuMemcpy3D_v2(&box);
}

CUresult cuMemcpyHtoA_v2(CUarray dst, size_t offset, const void *src, size_t size)
{
    CUDA_MEMCPY3D box = row_to_array(dst, offset, size);

    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = src;
    return cuMemcpy3D_v2(&box);
}

CUresult cuMemcpyAtoH_v2(void *dst, CUarray src, size_t offset, size_t size)
{
    CUDA_MEMCPY3D box = row_from_array(src, offset, size);

    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = dst;
    return cuMemcpy3D_v2(&box);
}

CUresult cuMemcpyAtoA_v2(CUarray dst, size_t dst_offset, CUarray src, size_t src_offset,
                         size_t size)
{
    CUDA_MEMCPY3D box = row_from_array(src, src_offset, size);

    box.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    box.dstArray = dst;
    box.dstXInBytes = dst_offset;
    return cuMemcpy3D_v2(&box);
}

CUresult cuMemcpyHtoAAsync_v2(CUarray dst, size_t offset, const void *src, size_t size,
                              CUstream stream)
{
    CUDA_MEMCPY3D box = row_to_array(dst, offset, size);

    box.srcMemoryType = CU_MEMORYTYPE_HOST;
    box.srcHost = src;
    return cuMemcpy3DAsync_v2(&box, stream);
}

CUresult cuMemcpyAtoHAsync_v2(void *dst, CUarray src, size_t offset, size_t size, CUstream stream)
{
    CUDA_MEMCPY3D box = row_from_array(src, offset, size);

    box.dstMemoryType = CU_MEMORYTYPE_HOST;
    box.dstHost = dst;
    return cuMemcpy3DAsync_v2(&box, stream);
}

// ---- Textures

CUresult cuTexObjectCreate(CUtexObject *texture, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *desc,
                           const struct CUDA_RESOURCE_VIEW_DESC_st *view)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (!texture || !resource || !desc)
        return CUDA_ERROR_INVALID_VALUE;
    if (view)
        return CUDA_ERROR_NOT_SUPPORTED;
    return texture_new(context->root, resource, desc, texture);
}

CUresult cuTexObjectDestroy(CUtexObject texture)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : texture_free(texture);
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUtexObject texture)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return resource ? texture_describe(texture, resource, NULL) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC *desc, CUtexObject texture)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return desc ? texture_describe(texture, NULL, desc) : CUDA_ERROR_INVALID_VALUE;
}

// ---- Surfaces

CUresult cuSurfObjectCreate(CUsurfObject *surface, const CUDA_RESOURCE_DESC *resource)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return surface && resource ? surface_new(context->root, resource, surface)
                               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuSurfObjectDestroy(CUsurfObject surface)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : surface_free(surface);
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC *resource, CUsurfObject surface)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    return resource ? surface_describe(surface, resource) : CUDA_ERROR_INVALID_VALUE;
}
