// The exported calls of the library: every driver function of cuda/abi.h, declared visible.
//
// Owns no state. Any thread may make any call: a call checks its arguments and the calling thread's
// context, and hands on to the folders below.
//
// May include: everything of softcuda.
#ifndef GS_SOFTCUDA_API_API_H
#define GS_SOFTCUDA_API_API_H

#include "cuda/abi.h"

#define CUAPI __attribute__((visibility("default")))

#define CUAPI_DECLARE(name, arguments) CUAPI CUresult name arguments;
CUDA_ABI_FUNCTIONS(CUAPI_DECLARE)
CUDA_ABI_FUNCTIONS_NEWER(CUAPI_DECLARE)
CUDA_ABI_TEXTURE_FUNCTIONS(CUAPI_DECLARE)
#undef CUAPI_DECLARE

#endif
