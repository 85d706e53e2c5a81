// Capturing streams: their kernels become a graph's nodes, one after the other, and nothing runs.
// Only kernels can be captured, and no other stream can join. As in CUDA, one thread at a time uses
// a capturing stream.
#ifndef GS_SOFTCUDA_LAUNCH_CAPTURE_H
#define GS_SOFTCUDA_LAUNCH_CAPTURE_H

#include "cuda/abi.h"
#include "softcuda/launch/launch.h"

CUresult capture_begin(CUstream stream);
// The caller owns the graph. CUDA_ERROR_ILLEGAL_STATE: the stream does not capture.
CUresult capture_end(CUstream stream, CUgraph *graph);
// Adds a launch to the graph of a capturing stream. Takes ownership of its parameters.
CUresult capture_kernel(CUstream stream, const struct launch *launch);

#endif
