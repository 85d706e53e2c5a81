// Turns the driver's descriptions of copies and fills into operations' own, with their addresses
// checked. Any thread.
#ifndef GS_SOFTCUDA_API_COPY_H
#define GS_SOFTCUDA_API_COPY_H

#include "cuda/abi.h"
#include "softcuda/stream/op.h"

CUresult copy_from_3d(struct copy *c, const CUDA_MEMCPY3D *box);
CUresult fill_from(struct fill *f, uint64_t address, uint64_t pitch, uint32_t value,
                   uint32_t element, uint64_t width, uint64_t height);

#endif
