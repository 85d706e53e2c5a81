// CUDA arrays and mipmapped arrays: texels in rows of device memory. Any thread.
#ifndef GS_SOFTCUDA_TEXTURE_ARRAY_H
#define GS_SOFTCUDA_TEXTURE_ARRAY_H

#include "cuda/abi.h"
#include "softcuda/texture/texel.h"

// Bytes of one channel; 0 for an unknown format.
uint32_t format_bytes(CUarray_format format);

CUresult array_new(CUcontext owner, const CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray *out);
CUresult array_free(CUarray array);
CUresult array_describe(CUarray array, CUDA_ARRAY3D_DESCRIPTOR *desc, struct image *image);

// LEVELS is bounded to 1 and what the sizes have. The arrays of the levels go with the whole.
CUresult mipmap_new(CUcontext owner, const CUDA_ARRAY3D_DESCRIPTOR *desc, unsigned int levels,
                    CUmipmappedArray *out);
CUresult mipmap_free(CUmipmappedArray mipmap);
// Returns the array of a level. CUDA_ERROR_INVALID_VALUE: there is no such level.
CUresult mipmap_level(CUmipmappedArray mipmap, unsigned int level, CUarray *out);
CUresult mipmap_describe(CUmipmappedArray mipmap, struct image *image);

#endif
