// See capture.h.
#include "softcuda/launch/capture.h"

#include "softcuda/launch/graph.h"
#include "softcuda/module/module.h"
#include "softcuda/stream/stream.h"

CUresult capture_begin(CUstream stream)
{
    stream->capture.last = NULL;
    return stream->capture.graph ? CUDA_ERROR_ILLEGAL_STATE : graph_new(&stream->capture.graph);
}

CUresult capture_end(CUstream stream, CUgraph *graph)
{
    if (!stream->capture.graph)
        return CUDA_ERROR_ILLEGAL_STATE;
    *graph = stream->capture.graph;
    stream->capture.graph = NULL;
    return CUDA_SUCCESS;
}

// As on an H200, the kernel is bound to the stream's context, not to the calling thread's.
CUresult capture_kernel(CUstream stream, const struct launch *launch)
{
    struct node_work work = {.kind = OP_KERNEL, .context = stream->context, .kernel = *launch};
    const CUgraphNode last = stream->capture.last;

    module_reference(launch->function->module);
    const CUresult result =
        graph_add(stream->capture.graph, &last, last ? 1 : 0, &work, &stream->capture.last);
    if (result)
        node_work_free(&work);
    return result;
}
