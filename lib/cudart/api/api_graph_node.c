/* api_graph_node.c - nodes of graphs, by kind: adding, querying and changing them, also in
 * executable graphs. Each kind makes an op (op.h) from the program's parameters. */
#include <string.h>

#include "cudart/abi.h"
#include "cudart/base/error.h"
#include "cudart/graph/exec.h"
#include "cudart/graph/graph.h"
#include "cudart/graph/graph_memory.h"
#include "cudart/state/device.h"
#include "cudart/state/module.h"

/* ---- What all kinds share -------------------------------------------------------------------- */

/* error: the result of making the op. */
static cudaError_t add(cudaError_t error, cudaGraphNode_t *node, cudaGraph_t graph,
                       const cudaGraphNode_t *deps, size_t count, struct op *op)
{
    return error_record(error == cudaSuccess ? graph_add(graph, deps, NULL, count, op, node)
                                             : error);
}

/* A kernel's attributes are not among its parameters, so they are kept. */
static void attributes_keep(cudaGraphNode_t node, struct op *op)
{
    struct op former;

    if (op->type == cudaGraphNodeTypeKernel && node_op(node, &former) == cudaSuccess &&
        former.type == cudaGraphNodeTypeKernel)
        op->launch.attributes = former.launch.attributes;
}

static cudaError_t set(cudaError_t error, cudaGraphNode_t node, struct op *op)
{
    if (error == cudaSuccess)
        attributes_keep(node, op);
    return error_record(error == cudaSuccess ? node_set(node, op) : error);
}

static cudaError_t set_exec(cudaError_t error, cudaGraphExec_t exec, cudaGraphNode_t node,
                            struct op *op)
{
    if (error == cudaSuccess)
        attributes_keep(node, op);
    return error_record(error == cudaSuccess ? exec_set(exec, node, op) : error);
}

/* Gets the op of a node, which must have the type. out: the address for the parameters, which must
 * not be NULL. */
static cudaError_t get(cudaGraphNode_t node, enum cudaGraphNodeType type, const void *out,
                       struct op *op)
{
    cudaError_t error = node_op(node, op);

    if (error == cudaSuccess && (op->type != type || out == NULL))
        error = cudaErrorInvalidValue;
    return error_record(error);
}

CUDART_API cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    struct op op;
    cudaError_t error = node_op(node, &op);

    if (error == cudaSuccess && type == NULL)
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess)
        *type = op.type;
    return error_record(error);
}

CUDART_API cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    return error_record(node_end(node));
}

CUDART_API cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               unsigned enabled)
{
    return error_record(exec_enable(exec, node, enabled != 0));
}

CUDART_API cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                               unsigned *enabled)
{
    return error_record(enabled != NULL ? exec_enabled(exec, node, enabled)
                                        : cudaErrorInvalidValue);
}

/* ---- Kernels, copies, memsets and host functions --------------------------------------------- */

/* These functions copy a node's parameters from its op. */
static cudaError_t kernel_params(const struct op *op, struct cudaKernelNodeParams *params)
{
    if (op->launch.product != NULL)
        return cudaErrorInvalidDeviceFunction; /* a node that cuBLAS has captured has no function */
    *params = (struct cudaKernelNodeParams){
        (void *)(uintptr_t)op->launch.kernel->stub, // NOLINT: without const
        op->launch.grid,
        op->launch.block,
        op->launch.shared,
        op->launch.args,
        NULL};
    return cudaSuccess;
}

static cudaError_t copy_params(const struct op *op, struct cudaMemcpy3DParms *params)
{
    *params = op->copy;
    return cudaSuccess;
}

static cudaError_t memset_params(const struct op *op, struct cudaMemsetParams *params)
{
    *params = op->set;
    return cudaSuccess;
}

static cudaError_t host_params(const struct op *op, struct cudaHostNodeParams *params)
{
    *params = op->host;
    return cudaSuccess;
}

/* Defines the four calls for a kind of node whose parameters are one struct. make: makes an op from
 * the parameters; params_of: gets the parameters of an op. */
#define NODE_KIND(Kind, type, make, params_of)                                                     \
    CUDART_API cudaError_t cudaGraphAdd##Kind##Node(cudaGraphNode_t *node, cudaGraph_t graph,      \
                                                    const cudaGraphNode_t *deps, size_t count,     \
                                                    const type *params)                            \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return add(make(&op, params), node, graph, deps, count, &op);                              \
    }                                                                                              \
    CUDART_API cudaError_t cudaGraph##Kind##NodeGetParams(cudaGraphNode_t node, type *params)      \
    {                                                                                              \
        struct op op;                                                                              \
        cudaError_t error = get(node, cudaGraphNodeType##Kind, params, &op);                       \
                                                                                                   \
        return error == cudaSuccess ? error_record(params_of(&op, params)) : error;                \
    }                                                                                              \
    CUDART_API cudaError_t cudaGraph##Kind##NodeSetParams(cudaGraphNode_t node,                    \
                                                          const type *params)                      \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return set(make(&op, params), node, &op);                                                  \
    }                                                                                              \
    CUDART_API cudaError_t cudaGraphExec##Kind##NodeSetParams(                                     \
        cudaGraphExec_t exec, cudaGraphNode_t node, const type *params)                            \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return set_exec(make(&op, params), exec, node, &op);                                       \
    }

NODE_KIND(Kernel, struct cudaKernelNodeParams, op_kernel_params, kernel_params)
NODE_KIND(Memcpy, struct cudaMemcpy3DParms, op_copy3d, copy_params)
NODE_KIND(Memset, struct cudaMemsetParams, op_memset, memset_params)
NODE_KIND(Host, struct cudaHostNodeParams, op_host, host_params)

/* ---- Copies of one row, also to and from symbols --------------------------------------------- */

static cudaError_t copy1d(struct op *op, void *dst, const void *src, size_t size,
                          enum cudaMemcpyKind kind)
{
    if ((unsigned)kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    op_copy_rows(op, dst, size, src, size, size, 1, kind);
    return cudaSuccess;
}

static cudaError_t symbol_at(const void *symbol, size_t size, size_t offset, void **at)
{
    struct variable *variable;
    cudaError_t error = device_use();

    if (error != cudaSuccess)
        return error;
    variable = variable_find(symbol);
    if (variable == NULL)
        return cudaErrorInvalidSymbol;
    if (offset > variable->size || size > variable->size - offset)
        return cudaErrorInvalidValue;
    error = variable_load(variable);
    *at = (char *)variable_symbol_address(variable, device_number()) + offset;
    return error;
}

static cudaError_t to_symbol(struct op *op, const void *symbol, const void *src, size_t size,
                             size_t offset, enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = symbol_at(symbol, size, offset, &at);

    return error == cudaSuccess ? copy1d(op, at, src, size, kind) : error;
}

static cudaError_t from_symbol(struct op *op, void *dst, const void *symbol, size_t size,
                               size_t offset, enum cudaMemcpyKind kind)
{
    void *at;
    cudaError_t error = symbol_at(symbol, size, offset, &at);

    return error == cudaSuccess ? copy1d(op, dst, at, size, kind) : error;
}

/* Defines the three calls for one form of such copies. params: its parameters, in parentheses;
 * made: the expression that makes `op` from them. */
#define LIST(...) __VA_ARGS__
#define COPY_FORM(Form, params, made)                                                              \
    CUDART_API cudaError_t cudaGraphAddMemcpyNode##Form(cudaGraphNode_t *node, cudaGraph_t graph,  \
                                                        const cudaGraphNode_t *deps, size_t count, \
                                                        LIST params)                               \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return add(made, node, graph, deps, count, &op);                                           \
    }                                                                                              \
    CUDART_API cudaError_t cudaGraphMemcpyNodeSetParams##Form(cudaGraphNode_t node, LIST params)   \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return set(made, node, &op);                                                               \
    }                                                                                              \
    CUDART_API cudaError_t cudaGraphExecMemcpyNodeSetParams##Form(                                 \
        cudaGraphExec_t exec, cudaGraphNode_t node, LIST params)                                   \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return set_exec(made, exec, node, &op);                                                    \
    }

COPY_FORM(1D, (void *dst, const void *src, size_t size, enum cudaMemcpyKind kind),
          copy1d(&op, dst, src, size, kind))
COPY_FORM(ToSymbol,
          (const void *symbol, const void *src, size_t size, size_t offset,
           enum cudaMemcpyKind kind),
          to_symbol(&op, symbol, src, size, offset, kind))
COPY_FORM(FromSymbol,
          (void *dst, const void *symbol, size_t size, size_t offset, enum cudaMemcpyKind kind),
          from_symbol(&op, dst, symbol, size, offset, kind))

/* ---- Events ---------------------------------------------------------------------------------- */

/* Defines the four calls for each of the two kinds whose parameter is an event. */
#define EVENT_KIND(Kind, node_type)                                                                \
    CUDART_API cudaError_t cudaGraphAdd##Kind##Node(cudaGraphNode_t *node, cudaGraph_t graph,      \
                                                    const cudaGraphNode_t *deps, size_t count,     \
                                                    cudaEvent_t event)                             \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return add(op_event(&op, node_type, event), node, graph, deps, count, &op);                \
    }                                                                                              \
    CUDART_API cudaError_t cudaGraph##Kind##NodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event) \
    {                                                                                              \
        struct op op;                                                                              \
        cudaError_t error = get(node, node_type, event, &op);                                      \
                                                                                                   \
        if (error == cudaSuccess)                                                                  \
            *event = op.event;                                                                     \
        return error;                                                                              \
    }                                                                                              \
    CUDART_API cudaError_t cudaGraph##Kind##NodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)  \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return set(op_event(&op, node_type, event), node, &op);                                    \
    }                                                                                              \
    CUDART_API cudaError_t cudaGraphExec##Kind##NodeSetEvent(                                      \
        cudaGraphExec_t exec, cudaGraphNode_t node, cudaEvent_t event)                             \
    {                                                                                              \
        struct op op;                                                                              \
                                                                                                   \
        return set_exec(op_event(&op, node_type, event), exec, node, &op);                         \
    }

EVENT_KIND(EventRecord, cudaGraphNodeTypeEventRecord)
EVENT_KIND(EventWait, cudaGraphNodeTypeWaitEvent)

/* ---- Memory ---------------------------------------------------------------------------------- */

static cudaError_t op_of_alloc(struct op *op, struct cudaMemAllocNodeParams *params)
{
    const struct cudaMemPoolProps *props = params != NULL ? &params->poolProps : NULL;
    cudaError_t error;

    if (props == NULL || (params->accessDescs == NULL && params->accessDescCount != 0) ||
        props->allocType != cudaMemAllocationTypePinned ||
        props->handleTypes != cudaMemHandleTypeNone)
        return cudaErrorInvalidValue;
    if (props->location.type != cudaMemLocationTypeDevice)
        return error_unsupported("memory of a graph that is not of the device");
    error = device_use_number(props->location.id);
    return error == cudaSuccess ? op_alloc(op, params->bytesize, &params->dptr) : error;
}

CUDART_API cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                const cudaGraphNode_t *deps, size_t count,
                                                struct cudaMemAllocNodeParams *params)
{
    cudaError_t error = device_use();
    struct op op;

    if (error == cudaSuccess)
        error = op_of_alloc(&op, params);
    return add(error, node, graph, deps, count, &op);
}

CUDART_API cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                      struct cudaMemAllocNodeParams *params)
{
    struct op op;
    cudaError_t error = get(node, cudaGraphNodeTypeMemAlloc, params, &op);

    if (error == cudaSuccess)
        *params = (struct cudaMemAllocNodeParams){
            .poolProps = {.allocType = cudaMemAllocationTypePinned,
                          .location = {.type = cudaMemLocationTypeDevice,
                                       .id = (int)graph_memory_device(op.memory)}},
            .bytesize = graph_memory_size(op.memory),
            .dptr = graph_memory_at(op.memory)};
    return error;
}

CUDART_API cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *deps, size_t count, void *ptr)
{
    struct op op;

    return add(op_free_memory(&op, ptr), node, graph, deps, count, &op);
}

CUDART_API cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *ptr)
{
    struct op op;
    cudaError_t error = get(node, cudaGraphNodeTypeMemFree, ptr, &op);

    if (error == cudaSuccess)
        *(void **)ptr = graph_memory_at(op.memory);
    return error;
}

/* ---- Empty nodes and child graphs ------------------------------------------------------------ */

CUDART_API cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *deps, size_t count)
{
    struct op op = {.type = cudaGraphNodeTypeEmpty};

    return add(cudaSuccess, node, graph, deps, count, &op);
}

CUDART_API cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *deps, size_t count,
                                                  cudaGraph_t child)
{
    return error_record(graph_add_child(graph, deps, NULL, count, child, node));
}

CUDART_API cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    return error_record(graph != NULL ? node_child(node, graph) : cudaErrorInvalidValue);
}

CUDART_API cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t exec,
                                                            cudaGraphNode_t node, cudaGraph_t child)
{
    return error_record(exec_set_child(exec, node, child));
}

/* ---- Any kind -------------------------------------------------------------------------------- */

static cudaError_t op_of_params(struct op *op, struct cudaGraphNodeParams *params)
{
    struct cudaKernelNodeParams kernel;

    if (params == NULL)
        return cudaErrorInvalidValue;
    switch ((int)params->type) {
    case cudaGraphNodeTypeKernel:
        memcpy(&kernel, &params->kernel, sizeof(kernel));
        return op_kernel_params(op, &kernel);
    case cudaGraphNodeTypeMemcpy:
        return op_copy3d(op, &params->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return op_memset(op, (const struct cudaMemsetParams *)&params->memset);
    case cudaGraphNodeTypeHost:
        return op_host(op, (const struct cudaHostNodeParams *)&params->host);
    case cudaGraphNodeTypeEmpty:
        *op = (struct op){.type = cudaGraphNodeTypeEmpty};
        return cudaSuccess;
    case cudaGraphNodeTypeEventRecord:
        return op_event(op, cudaGraphNodeTypeEventRecord, params->eventRecord.event);
    case cudaGraphNodeTypeWaitEvent:
        return op_event(op, cudaGraphNodeTypeWaitEvent, params->eventWait.event);
    case cudaGraphNodeTypeMemAlloc:
        return op_of_alloc(op, (struct cudaMemAllocNodeParams *)&params->alloc);
    case cudaGraphNodeTypeMemFree:
        return op_free_memory(op, params->free.dptr);
    case cudaGraphNodeTypeConditional:
        return error_unsupported("another condition of a conditional node");
    default: /* semaphores */
        return error_unsupported("a node of this kind");
    }
}

CUDART_API cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *deps, const cudaGraphEdgeData *data,
                                        size_t count, struct cudaGraphNodeParams *params)
{
    struct op op;
    cudaError_t error;

    if (params != NULL && params->type == cudaGraphNodeTypeGraph)
        return error_record(graph_add_child(graph, deps, data, count, params->graph.graph, node));
    if (params != NULL && params->type == cudaGraphNodeTypeConditional)
        return error_record(
            graph_add_conditional(graph, deps, data, count, &params->conditional, node));
    error = op_of_params(&op, params);
    return error_record(error == cudaSuccess ? graph_add(graph, deps, data, count, &op, node)
                                             : error);
}

CUDART_API cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node,
                                              struct cudaGraphNodeParams *params)
{
    struct op op;

    return set(op_of_params(&op, params), node, &op);
}

CUDART_API cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  struct cudaGraphNodeParams *params)
{
    struct op op;

    if (params != NULL && params->type == cudaGraphNodeTypeGraph)
        return cudaGraphExecChildGraphNodeSetParams(exec, node, params->graph.graph);
    return set_exec(op_of_params(&op, params), exec, node, &op);
}
