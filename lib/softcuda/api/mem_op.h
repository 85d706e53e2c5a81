// Turns the driver's list of value writes and waits into a checked copy for an operation. Defined
// in stream.c.
#ifndef GS_SOFTCUDA_API_MEM_OP_H
#define GS_SOFTCUDA_API_MEM_OP_H

#include "cuda/abi.h"
#include "softcuda/stream/op.h"

enum { MEM_OPS_MAX = 256 }; // limit for one batch, as the driver documents

CUresult mem_ops_copy(struct op_mem *to, const CUstreamBatchMemOpParams *params, unsigned int count,
                      unsigned int flags);

#endif
