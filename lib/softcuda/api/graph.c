// Driver calls about graphs.
#include "softcuda/launch/graph.h"
#include "softcuda/api/api.h"
#include "softcuda/api/copy.h"
#include "softcuda/api/mem_op.h"
#include "softcuda/context/context.h"
#include "softcuda/launch/capture.h"
#include "softcuda/module/module.h"
#include "softcuda/stream/stream.h"

CUresult cuGraphCreate(CUgraph *graph, unsigned int flags)
{
    CUresult result = device_ready();

    if (result)
        return result;
    return graph && !flags ? graph_new(graph) : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphDestroy(CUgraph graph)
{
    CUresult result = device_ready();

    return result ? result : graph_free(graph);
}

// ---- From the driver's parameters to a node's work

// A node runs in the context that it names or, without one, in the calling thread's.
static CUresult node_context(CUcontext named, CUcontext *context)
{
    CUresult result;

    if (!named)
        return context_current(context);
    result = context_check(named);
    if (!result)
        result = atomic_load(&named->root->error);
    if (!result)
        *context = named;
    return result;
}

static CUresult kernel_work(struct node_work *work, const CUDA_KERNEL_NODE_PARAMS *p)
{
    CUresult result;

    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    if (!p->func)
        return p->kern ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_VALUE;
    *work = (struct node_work){
        .kind = OP_KERNEL,
        .kernel = {.function = p->func,
                   .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
                   .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
                   .dynamic_shared = p->sharedMemBytes},
    };
    // As on an H200, the kernel runs in the current context, not in the one in the parameters.
    result = context_current(&work->context);
    if (!result)
        result = launch_check(work->context, &work->kernel);
    if (!result)
        result = launch_params(&work->kernel, p->kernelParams, p->extra);
    if (!result)
        module_reference(p->func->module);
    return result;
}

static CUresult copy_work(struct node_work *work, const CUDA_MEMCPY3D *p, CUcontext context)
{
    CUresult result;

    *work = (struct node_work){.kind = OP_COPY};
    result = node_context(context, &work->context);
    return result ? result : copy_from_3d(&work->copy, p);
}

static CUresult fill_work(struct node_work *work, const CUDA_MEMSET_NODE_PARAMS *p,
                          CUcontext context)
{
    CUresult result;

    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    *work = (struct node_work){.kind = OP_FILL};
    result = node_context(context, &work->context);
    return result ? result
                  : fill_from(&work->fill, p->dst, p->pitch, p->value, p->elementSize, p->width,
                              p->height);
}

static CUresult mem_work(struct node_work *work, const CUDA_BATCH_MEM_OP_NODE_PARAMS *p)
{
    CUresult result;

    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    *work = (struct node_work){.kind = OP_MEM};
    result = node_context(p->ctx, &work->context);
    return result ? result : mem_ops_copy(&work->mem, p->paramArray, p->count, p->flags);
}

// ---- Nodes

// RESULT is the status of making WORK.
static CUresult node_add(CUresult result, struct node_work *work, CUgraphNode *node, CUgraph graph,
                         const CUgraphNode *dependencies, size_t count)
{
    if (result)
        return result;
    result = node ? graph_add(graph, dependencies, count, work, node) : CUDA_ERROR_INVALID_VALUE;
    if (result)
        node_work_free(work);
    return result;
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct node_work work;

    return node_add(kernel_work(&work, params), &work, node, graph, dependencies, count);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_MEMCPY3D *params, CUcontext context)
{
    struct node_work work;

    return node_add(copy_work(&work, params, context), &work, node, graph, dependencies, count);
}

CUresult cuGraphAddMemsetNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS *params,
                              CUcontext context)
{
    struct node_work work;

    return node_add(fill_work(&work, params, context), &work, node, graph, dependencies, count);
}

CUresult cuGraphAddBatchMemOpNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                                  size_t count, const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct node_work work;

    return node_add(mem_work(&work, params), &work, node, graph, dependencies, count);
}

CUresult cuGraphAddEmptyNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *dependencies,
                             size_t count)
{
    struct node_work work = {.kind = OP_EMPTY};

    return node_add(device_ready(), &work, node, graph, dependencies, count);
}

CUresult cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                size_t count)
{
    return graph_add_edges(graph, from, to, NULL, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                                   const CUgraphEdgeData *edges, size_t count)
{
    for (size_t i = 0; edges && i < count; i++) {
        if (edges[i].from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER)
            return CUDA_ERROR_NOT_SUPPORTED;
        if (edges[i].type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC || edges[i].to_port ||
            edges[i].from_port != (edges[i].type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC
                                       ? CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC
                                       : CU_GRAPH_KERNEL_NODE_PORT_DEFAULT))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return graph_add_edges(graph, from, to, edges, count);
}

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUlaunchAttributeID attribute,
                                       const CUlaunchAttributeValue *value)
{
    struct launch *kernel;
    CUresult result = graph_node_kernel(node, &kernel);

    if (result)
        return result;
    return value ? launch_attribute(kernel, attribute, value) : CUDA_ERROR_INVALID_VALUE;
}

// ---- Capture

static CUresult capture_stream(CUstream handle, CUstream *stream)
{
    CUcontext context;
    CUresult result = context_current(&context);

    return result ? result : stream_of(context, handle, stream);
}

CUresult cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode)
{
    CUstream stream;
    CUresult result = capture_stream(handle, &stream);

    if (result)
        return result;
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == stream->context->legacy)
        return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    return capture_begin(stream);
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph *graph)
{
    CUstream stream;
    CUresult result = capture_stream(handle, &stream);

    if (result)
        return result;
    return graph ? capture_end(stream, graph) : CUDA_ERROR_INVALID_VALUE;
}

// ---- Executable graphs

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (result)
        return result;
    if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (!exec || flags & ~(unsigned long long)(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                               CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                               CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY))
        return CUDA_ERROR_INVALID_VALUE;
    return graph_instantiate(graph, flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY, exec);
}

CUresult cuGraphExecDestroy(CUgraphExec exec)
{
    CUresult result = device_ready();

    return result ? result : graph_exec_free(exec);
}

static CUresult launch_find(CUgraphExec exec, CUstream handle, CUstream *stream)
{
    CUcontext context;
    CUresult result = context_current(&context);

    if (!result)
        result = graph_exec_check(exec);
    return result ? result : stream_of(context, handle, stream);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream handle)
{
    CUstream stream;
    CUresult result = launch_find(exec, handle, &stream);

    return result ? result : graph_exec_launch(exec, stream);
}

// Nothing has to be uploaded, so the call only checks its arguments.
CUresult cuGraphUpload(CUgraphExec exec, CUstream handle)
{
    CUstream stream;

    return launch_find(exec, handle, &stream);
}

static CUresult exec_set(CUresult result, struct node_work *work, CUgraphExec exec,
                         CUgraphNode node)
{
    if (result)
        return result;
    result = graph_exec_set(exec, node, work);
    if (result)
        node_work_free(work);
    return result;
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *params)
{
    struct node_work work;

    return exec_set(kernel_work(&work, params), &work, exec, node);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *params, CUcontext context)
{
    struct node_work work;

    return exec_set(copy_work(&work, params, context), &work, exec, node);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *params, CUcontext context)
{
    struct node_work work;

    return exec_set(fill_work(&work, params, context), &work, exec, node);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *params)
{
    struct node_work work;

    return exec_set(mem_work(&work, params), &work, exec, node);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int enabled)
{
    CUresult result = device_ready();

    return result ? result : graph_exec_enable(exec, node, enabled);
}
