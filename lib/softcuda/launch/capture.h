// Streams under capture: their kernels become a graph's nodes, one behind the other, and nothing
// runs. Nothing but kernels can be captured, and no other stream can join. As in CUDA, one thread
// at a time uses a stream under capture.
#ifndef GS_SOFTCUDA_LAUNCH_CAPTURE_H
#define GS_SOFTCUDA_LAUNCH_CAPTURE_H

#include "cuda/abi.h"
#include "softcuda/launch/launch.h"

CUresult capture_begin(CUstream stream);
// The graph is the caller's. CUDA_ERROR_ILLEGAL_STATE: the stream is not under capture.
CUresult capture_end(CUstream stream, CUgraph *graph);
// Adds a launch to the graph of a stream under capture. Takes over its parameters.
CUresult capture_kernel(CUstream stream, const struct launch *launch);

#endif
