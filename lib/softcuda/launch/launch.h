// Launches: kernels, from a caller's arguments to a grid, and graphs (graph.h).
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
    uint32_t cluster[3]; // zeros if neither the launch nor its kernel has clusters
    bool cooperative;
    bool has_priority;
    int priority;
    uint32_t stack;  // the stack limit with which the launch was made; 0: the context's current one
    uint8_t *params; // packed; the launch's own copy
};

// Checks everything except the parameters. CUDA_ERROR_INVALID_VALUE, _INVALID_HANDLE,
// _LAUNCH_OUT_OF_RESOURCES, _COOPERATIVE_LAUNCH_TOO_LARGE.
CUresult launch_check(CUcontext context, const struct launch *launch);
// The number of the launch's clusters that CONTEXT's SMs hold at once. Errors as for launch_check.
CUresult launch_clusters_at_once(CUcontext context, const struct launch *launch, int *clusters);
// Copies the parameters from PARAMS or EXTRA to launch->params; the caller frees it.
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
