// What is launched: kernels, from what a caller passes to a grid, and graphs (graph.h).
//
// Owns graphs and executable graphs; a launch itself becomes an operation, which its stream owns.
// Any thread runs it.
//
// May include: stream, sched, module, context, interp, memory, device.
#ifndef GS_SOFTCUDA_LAUNCH_LAUNCH_H
#define GS_SOFTCUDA_LAUNCH_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/sched/grid.h"
#include "softcuda/stream/op.h"

struct launch {
    CUfunction function;
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared;
    uint32_t cluster[3]; // zeros where neither the launch nor its kernel says so
    bool cooperative;
    bool has_priority;
    int priority;
    uint32_t stack;  // the limit of the stack that the launch was made for; 0: the context's now
    uint8_t *params; // packed; the launch's own copy
};

// Checks all but the parameters. CUDA_ERROR_INVALID_VALUE, _INVALID_HANDLE,
// _LAUNCH_OUT_OF_RESOURCES, _COOPERATIVE_LAUNCH_TOO_LARGE.
CUresult launch_check(CUcontext context, const struct launch *launch);
// How many of the launch's clusters CONTEXT's SMs hold at once. Errors as launch_check.
CUresult launch_clusters_at_once(CUcontext context, const struct launch *launch, int *clusters);
// Copies the parameters out of PARAMS or EXTRA into launch->params; the caller frees it.
CUresult launch_params(struct launch *launch, void **params, void **extra);
// CUDA_ERROR_NOT_SUPPORTED for attributes that the device does not have, or does not know.
CUresult launch_attribute(struct launch *launch, CUlaunchAttributeID id,
                          const CUlaunchAttributeValue *value);
// The operation that runs the launch in CONTEXT, with PRIORITY unless the launch has one of its
// own.
CUresult launch_op(CUcontext context, const struct launch *launch, int priority, struct op **out);

void launch_cost(CUfunction function, uint32_t threads, uint32_t dynamic_shared,
                 struct block_cost *cost);

#endif
