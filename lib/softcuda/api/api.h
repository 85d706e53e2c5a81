// The exported face of the library: declares every driver function of cuda/abi.h, visible.
//
// The api_*.c files define them: they check arguments and the calling thread's context, and hand
// on. Any thread may call any of them.
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
