// CUDA arrays: texels in rows of device memory. Any thread.
#ifndef GS_SOFTCUDA_TEXTURE_ARRAY_H
#define GS_SOFTCUDA_TEXTURE_ARRAY_H

#include "cuda/abi.h"
#include "softcuda/texture/texel.h"

// Bytes of one channel; 0 for an unknown format.
uint32_t format_bytes(CUarray_format format);

CUresult array_new(CUcontext owner, const CUDA_ARRAY3D_DESCRIPTOR *desc, CUarray *out);
CUresult array_destroy(CUarray array);
CUresult array_describe(CUarray array, CUDA_ARRAY3D_DESCRIPTOR *desc, struct image *image);

#endif
