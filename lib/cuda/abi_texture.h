// The part of the driver's binary interface that is about arrays, textures and surfaces. Included
// by abi.h; see there. The software device exports all of it. The worker's table has the calls of
// CUDA_ABI_TEXTURE_WORKER_FUNCTIONS (CUDA_ABI_OPTIONAL_FUNCTIONS, abi_functions.h); where a driver
// lacks one of them, the worker serves no arrays.
#ifndef GS_CUDA_ABI_TEXTURE_H
#define GS_CUDA_ABI_TEXTURE_H

typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct CUmipmappedArray_st *CUmipmappedArray;

typedef enum {
    CU_AD_FORMAT_UNSIGNED_INT8 = 0x01,
    CU_AD_FORMAT_UNSIGNED_INT16 = 0x02,
    CU_AD_FORMAT_UNSIGNED_INT32 = 0x03,
    CU_AD_FORMAT_SIGNED_INT8 = 0x08,
    CU_AD_FORMAT_SIGNED_INT16 = 0x09,
    CU_AD_FORMAT_SIGNED_INT32 = 0x0a,
    CU_AD_FORMAT_HALF = 0x10,
    CU_AD_FORMAT_FLOAT = 0x20,
} CUarray_format;

typedef enum {
    CU_TR_ADDRESS_MODE_WRAP = 0,
    CU_TR_ADDRESS_MODE_CLAMP = 1,
    CU_TR_ADDRESS_MODE_MIRROR = 2,
    CU_TR_ADDRESS_MODE_BORDER = 3,
} CUaddress_mode;

typedef enum {
    CU_TR_FILTER_MODE_POINT = 0,
    CU_TR_FILTER_MODE_LINEAR = 1,
} CUfilter_mode;

typedef enum {
    CU_RESOURCE_TYPE_ARRAY = 0,
    CU_RESOURCE_TYPE_MIPMAPPED_ARRAY = 1,
    CU_RESOURCE_TYPE_LINEAR = 2,
    CU_RESOURCE_TYPE_PITCH2D = 3,
} CUresourcetype;

enum {
    CUDA_ARRAY3D_LAYERED = 0x01,
    CUDA_ARRAY3D_SURFACE_LDST = 0x02,
    CUDA_ARRAY3D_CUBEMAP = 0x04,
    CUDA_ARRAY3D_TEXTURE_GATHER = 0x08,
    CU_TRSF_READ_AS_INTEGER = 0x01,
    CU_TRSF_NORMALIZED_COORDINATES = 0x02,
    CU_TRSF_SRGB = 0x10,
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION = 0x20,
    CU_TRSF_SEAMLESS_CUBEMAP = 0x40,
};

typedef struct {
    size_t Width, Height;
    CUarray_format Format;
    unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
    size_t Width, Height, Depth;
    CUarray_format Format;
    unsigned int NumChannels;
    unsigned int Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

typedef struct {
    CUresourcetype resType;
    union {
        struct {
            CUarray hArray;
        } array;
        struct {
            CUmipmappedArray hMipmappedArray;
        } mipmap;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned int numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            CUarray_format format;
            unsigned int numChannels;
            size_t width, height;
            size_t pitchInBytes;
        } pitch2D;
        struct {
            int reserved[32];
        } reserved;
    } res;
    unsigned int flags;
} CUDA_RESOURCE_DESC;

typedef struct {
    CUaddress_mode addressMode[3];
    CUfilter_mode filterMode;
    unsigned int flags;
    unsigned int maxAnisotropy;
    CUfilter_mode mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
} CUDA_TEXTURE_DESC;

struct CUDA_RESOURCE_VIEW_DESC_st; // never looked into

typedef struct {
    size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D;

#define CUDA_ABI_TEXTURE_FUNCTIONS(X)                                                              \
    CUDA_ABI_TEXTURE_WORKER_FUNCTIONS(X)                                                           \
    CUDA_ABI_TEXTURE_OTHER_FUNCTIONS(X)

#define CUDA_ABI_TEXTURE_WORKER_FUNCTIONS(X)                                                       \
    X(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *desc))                  \
    X(cuArrayDestroy, (CUarray array))                                                             \
    X(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream))                            \
    X(cuTexObjectCreate,                                                                           \
      (CUtexObject * texture, const CUDA_RESOURCE_DESC *resource, const CUDA_TEXTURE_DESC *desc,   \
       const struct CUDA_RESOURCE_VIEW_DESC_st *view))                                             \
    X(cuTexObjectDestroy, (CUtexObject texture))                                                   \
    X(cuSurfObjectCreate, (CUsurfObject * surface, const CUDA_RESOURCE_DESC *resource))            \
    X(cuSurfObjectDestroy, (CUsurfObject surface))                                                 \
    X(cuMipmappedArrayCreate,                                                                      \
      (CUmipmappedArray * mipmap, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels))       \
    X(cuMipmappedArrayGetLevel, (CUarray * array, CUmipmappedArray mipmap, unsigned int level))    \
    X(cuMipmappedArrayDestroy, (CUmipmappedArray mipmap))

#define CUDA_ABI_TEXTURE_OTHER_FUNCTIONS(X)                                                        \
    X(cuArrayCreate_v2, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR *desc))                      \
    X(cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR * desc, CUarray array))                      \
    X(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * desc, CUarray array))                  \
    X(cuMemcpyDtoA_v2, (CUarray dst, size_t offset, CUdeviceptr src, size_t size))                 \
    X(cuMemcpyAtoD_v2, (CUdeviceptr dst, CUarray src, size_t offset, size_t size))                 \
    X(cuMemcpyHtoA_v2, (CUarray dst, size_t offset, const void *src, size_t size))                 \
    X(cuMemcpyAtoH_v2, (void *dst, CUarray src, size_t offset, size_t size))                       \
    X(cuMemcpyAtoA_v2,                                                                             \
      (CUarray dst, size_t dst_offset, CUarray src, size_t src_offset, size_t size))               \
    X(cuMemcpyHtoAAsync_v2,                                                                        \
      (CUarray dst, size_t offset, const void *src, size_t size, CUstream stream))                 \
    X(cuMemcpyAtoHAsync_v2, (void *dst, CUarray src, size_t offset, size_t size, CUstream stream)) \
    X(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *copy))                                                  \
    X(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *copy))                                         \
    X(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream))                            \
    X(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *copy))                                                  \
    X(cuTexObjectGetResourceDesc, (CUDA_RESOURCE_DESC * resource, CUtexObject texture))            \
    X(cuTexObjectGetTextureDesc, (CUDA_TEXTURE_DESC * desc, CUtexObject texture))                  \
    X(cuSurfObjectGetResourceDesc, (CUDA_RESOURCE_DESC * resource, CUsurfObject surface))

#endif
