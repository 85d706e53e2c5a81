/* api_graph.c - graphs, their edges, and their executable form. */
#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/capture.h"
#include "cudart/graph/condition.h"
#include "cudart/graph/exec.h"
#include "cudart/graph/graph.h"

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* Attaches, so that nodes can have the number of their device. */
CUDART_API cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    const cudaError_t error = device_use();

    if (error == cudaSuccess && (graph == NULL || flags != 0))
        return error_record(cudaErrorInvalidValue);
    return error_record(error == cudaSuccess ? graph_new(graph) : error);
}

CUDART_API cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    return error_record(graph_end(graph));
}

CUDART_API cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    return error_record(clone != NULL ? graph_clone(graph, clone) : cudaErrorInvalidValue);
}

CUDART_API cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *node, cudaGraphNode_t original,
                                                cudaGraph_t clone)
{
    return error_record(node != NULL ? node_in_clone(original, clone, node)
                                     : cudaErrorInvalidValue);
}

CUDART_API cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    return error_record(graph_nodes(graph, false, nodes, count));
}

CUDART_API cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                                             size_t *count)
{
    return error_record(graph_nodes(graph, true, nodes, count));
}

/* The handle of a condition may be a kernel's argument. */
static cudaError_t condition_create(cudaGraphConditionalHandle *handle, cudaGraph_t graph,
                                    unsigned value, unsigned flags)
{
    struct condition *condition;
    cudaError_t error;

    if (handle == NULL || !graph_is(graph) || (flags & ~(unsigned)cudaGraphCondAssignDefault) != 0)
        return cudaErrorInvalidValue;
    error = device_use();
    if (error == cudaSuccess)
        error = condition_new(value, flags == cudaGraphCondAssignDefault, &condition);
    if (error != cudaSuccess)
        return error;
    *handle = condition_handle(condition);
    error = graph_add_condition(graph, condition);
    if (error != cudaSuccess)
        condition_release(condition);
    return error;
}

CUDART_API cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle *handle,
                                                        cudaGraph_t graph, unsigned value,
                                                        unsigned flags)
{
    return error_record(condition_create(handle, graph, value, flags));
}

/* ---- Edges ----------------------------------------------------------------------------------- */

CUDART_API cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                                         cudaGraphNode_t *to, cudaGraphEdgeData *data,
                                         size_t *count)
{
    return error_record(graph_edges(graph, from, to, data, count));
}

CUDART_API cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                    cudaGraphEdgeData *data, size_t *count)
{
    return error_record(node_neighbours(node, false, nodes, data, count));
}

CUDART_API cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *nodes,
                                                      cudaGraphEdgeData *data, size_t *count)
{
    return error_record(node_neighbours(node, true, nodes, data, count));
}

CUDART_API cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                const cudaGraphNode_t *to,
                                                const cudaGraphEdgeData *data, size_t count)
{
    return error_record(graph_connect(graph, from, to, data, count, true));
}

CUDART_API cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                                   const cudaGraphNode_t *to,
                                                   const cudaGraphEdgeData *data, size_t count)
{
    return error_record(graph_connect(graph, from, to, data, count, false));
}

/* ---- Executable graphs ----------------------------------------------------------------------- */

static cudaError_t instantiate(cudaGraphExec_t *exec, cudaGraph_t graph, unsigned long long flags)
{
    const unsigned long long known = cudaGraphInstantiateFlagAutoFreeOnLaunch |
                                     cudaGraphInstantiateFlagUpload |
                                     cudaGraphInstantiateFlagUseNodePriority;
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error;
    if (exec == NULL || flags & ~(known | cudaGraphInstantiateFlagDeviceLaunch))
        return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return error_unsupported("cudaGraphInstantiateFlagDeviceLaunch");
    return exec_new(graph, flags, exec);
}

CUDART_API cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                            unsigned long long flags)
{
    return error_record(instantiate(exec, graph, flags));
}

CUDART_API cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                     unsigned long long flags)
{
    return error_record(instantiate(exec, graph, flags));
}

CUDART_API cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                      cudaGraphInstantiateParams *params)
{
    cudaError_t error =
        params != NULL ? instantiate(exec, graph, params->flags) : cudaErrorInvalidValue;

    if (params != NULL) {
        params->errNode_out = NULL;
        params->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess
                             : error == cudaErrorNotSupported
                                 ? cudaGraphInstantiateNodeOperationNotSupported
                                 : cudaGraphInstantiateError;
    }
    return error_record(error);
}

CUDART_API cudaError_t cudaGraphInstantiateWithParams_ptsz(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                           cudaGraphInstantiateParams *params)
{
    return cudaGraphInstantiateWithParams(exec, graph, params);
}

CUDART_API cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    return error_record(exec_end(exec));
}

CUDART_API cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    return error_record(flags != NULL ? exec_flags(exec, flags) : cudaErrorInvalidValue);
}

CUDART_API cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                           cudaGraphExecUpdateResultInfo *info)
{
    return error_record(info != NULL ? exec_update(exec, graph, info) : cudaErrorInvalidValue);
}

static cudaError_t launch(cudaGraphExec_t exec, cudaStream_t handle, bool per_thread)
{
    struct stream *stream;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    if (error == cudaSuccess)
        error = capture_forbids_legacy(stream);
    if (error != cudaSuccess)
        return error_record(error);
    return error_record(stream_capturing(stream) ? capture_refuse(stream)
                                                 : exec_launch(exec, stream));
}

CUDART_API cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    return launch(exec, stream, false);
}

CUDART_API cudaError_t cudaGraphLaunch_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
    return launch(exec, stream, true);
}

/* The server got what it needs when the graph was instantiated. */
static cudaError_t upload(cudaGraphExec_t exec, cudaStream_t handle, bool per_thread)
{
    struct stream *stream;
    unsigned long long flags;
    cudaError_t error = stream_find(handle, per_thread, &stream);

    return error_record(error == cudaSuccess ? exec_flags(exec, &flags) : error);
}

CUDART_API cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    return upload(exec, stream, false);
}

CUDART_API cudaError_t cudaGraphUpload_ptsz(cudaGraphExec_t exec, cudaStream_t stream)
{
    return upload(exec, stream, true);
}
