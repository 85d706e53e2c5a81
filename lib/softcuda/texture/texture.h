// Textures and surfaces, the arrays that they show, and what their texels mean.
//
// Owns arrays (array.h), texture and surface objects, and the table of them all by number
// (object.h); texel.h is pure functions. Any thread runs it; engine threads look objects up inside
// a turn, without a lock.
//
// May include: memory, device.
#ifndef GS_SOFTCUDA_TEXTURE_TEXTURE_H
#define GS_SOFTCUDA_TEXTURE_TEXTURE_H

#include "cuda/abi.h"
#include "softcuda/texture/texel.h"

CUresult texture_new(CUcontext owner, const CUDA_RESOURCE_DESC *resource,
                     const CUDA_TEXTURE_DESC *desc, CUtexObject *out);
CUresult texture_free(CUtexObject texture);
CUresult texture_describe(CUtexObject texture, CUDA_RESOURCE_DESC *resource,
                          CUDA_TEXTURE_DESC *desc);

CUresult surface_new(CUcontext owner, const CUDA_RESOURCE_DESC *resource, CUsurfObject *out);
CUresult surface_free(CUsurfObject surface);
CUresult surface_describe(CUsurfObject surface, CUDA_RESOURCE_DESC *resource);

// For the interpreter, inside a turn: what OWNER's object of that handle is; NULL where there is
// none. OWNER is a CUcontext.
const struct texture *texture_look_up(void *owner, uint64_t handle);
const struct image *surface_look_up(void *owner, uint64_t handle);

#endif
