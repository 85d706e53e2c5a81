/* op.c - see op.h. */
#include "cudart/graph/op.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/base/error.h"
#include "cudart/graph/condition.h"
#include "cudart/graph/graph.h"
#include "cudart/graph/graph_memory.h"
#include "cudart/state/array.h"
#include "cudart/state/event.h"
#include "cudart/state/host_call.h"
#include "cudart/state/launch.h"
#include "cudart/state/memory_map.h"
#include "cudart/state/module.h"
#include "cudart/state/peer.h"
#include "cudart/state/product.h"

/* ---- Making ---------------------------------------------------------------------------------- */

cudaError_t op_launch(struct op *op, struct kernel *kernel, dim3 grid, dim3 block, unsigned shared,
                      void **args)
{
    *op = (struct op){.type = cudaGraphNodeTypeKernel, .device = device_current()};
    op->launch.kernel = kernel;
    op->launch.grid = grid;
    op->launch.block = block;
    op->launch.shared = shared;
    return kernel_args_copy(kernel, args, &op->launch.args);
}

cudaError_t op_kernel_params(struct op *op, const struct cudaKernelNodeParams *params)
{
    struct kernel *kernel;
    cudaError_t error;

    *op = (struct op){.type = cudaGraphNodeTypeEmpty};
    if (params == NULL)
        return cudaErrorInvalidValue;
    kernel = kernel_find(params->func);
    if (kernel == NULL)
        return cudaErrorInvalidDeviceFunction;
    error = device_use();
    if (error != cudaSuccess)
        return error;
    if (params->extra != NULL)
        return error_unsupported("cudaKernelNodeParams.extra");
    return op_launch(op, kernel, params->gridDim, params->blockDim, params->sharedMemBytes,
                     params->kernelParams);
}

cudaError_t op_product(struct op *op, const gs_gemm_params *params)
{
    const size_t size = params->size < sizeof(*params) ? params->size : sizeof(*params);
    gs_gemm_params *product = calloc(1, sizeof(*product));

    *op = (struct op){.type = cudaGraphNodeTypeKernel, .device = device_current()};
    if (product == NULL)
        return cudaErrorMemoryAllocation;
    memcpy(product, params, size);
    product->size = size;
    op->launch.product = product;
    return cudaSuccess;
}

cudaError_t op_copy3d(struct op *op, const struct cudaMemcpy3DParms *params)
{
    *op = (struct op){.type = cudaGraphNodeTypeEmpty};
    if (params == NULL)
        return cudaErrorInvalidValue;
    if ((unsigned)params->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    op->type = cudaGraphNodeTypeMemcpy;
    op->device = device_current();
    op->copy = *params;
    variables_note(params->dstPtr.ptr);
    variables_note(params->srcPtr.ptr);
    return cudaSuccess;
}

void op_copy_rows(struct op *op, void *dst, size_t dst_pitch, const void *src, size_t src_pitch,
                  size_t width, size_t height, enum cudaMemcpyKind kind)
{
    *op = (struct op){.type = cudaGraphNodeTypeMemcpy, .device = device_current()};
    op->copy.dstPtr = (struct cudaPitchedPtr){dst, dst_pitch, width, height};
    op->copy.srcPtr =
        (struct cudaPitchedPtr){(void *)(uintptr_t)src, src_pitch, width, height}; // NOLINT
    op->copy.extent = (struct cudaExtent){width, height, 1};
    op->copy.kind = kind;
    variables_note(dst);
    variables_note(src);
}

cudaError_t op_memset(struct op *op, const struct cudaMemsetParams *params)
{
    *op = (struct op){.type = cudaGraphNodeTypeEmpty};
    if (params == NULL ||
        (params->elementSize != 1 && params->elementSize != 2 && params->elementSize != 4))
        return cudaErrorInvalidValue;
    if (params->height > 1 && params->pitch < params->width * params->elementSize)
        return cudaErrorInvalidValue;
    op->type = cudaGraphNodeTypeMemset;
    op->device = device_current();
    op->set = *params;
    variables_note(params->dst);
    return cudaSuccess;
}

cudaError_t op_host(struct op *op, const struct cudaHostNodeParams *params)
{
    *op = (struct op){.type = cudaGraphNodeTypeEmpty};
    if (params == NULL || params->fn == NULL)
        return cudaErrorInvalidValue;
    op->type = cudaGraphNodeTypeHost;
    op->host = *params;
    return cudaSuccess;
}

cudaError_t op_event(struct op *op, enum cudaGraphNodeType type, cudaEvent_t event)
{
    gs_event found;

    *op = (struct op){.type = type};
    op->event = event;
    return event_find(event, &found);
}

cudaError_t op_alloc(struct op *op, size_t size, void **out)
{
    cudaError_t error;

    *op = (struct op){.type = cudaGraphNodeTypeMemAlloc};
    error = graph_memory_new(size, &op->memory);
    if (error == cudaSuccess)
        *out = graph_memory_at(op->memory);
    return error;
}

cudaError_t op_free_memory(struct op *op, const void *ptr)
{
    *op = (struct op){.type = cudaGraphNodeTypeMemFree};
    op->memory = graph_memory_find(ptr);
    return op->memory != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

bool op_has_memory(const struct op *op)
{
    return op->type == cudaGraphNodeTypeMemAlloc || op->type == cudaGraphNodeTypeMemFree;
}

/* The size of the copy that kernel_args_copy has made, and the offset of the values in it. */
static size_t args_bytes(const struct kernel *kernel, size_t *values)
{
    *values = (kernel_signature(kernel)->param_count * sizeof(void *) + 15) / 16 * 16;
    return *values + kernel_signature(kernel)->param_bytes;
}

static cudaError_t args_clone(const struct kernel *kernel, void **args, void ***out)
{
    size_t values;
    const size_t bytes = args_bytes(kernel, &values);
    void **copy = args != NULL ? malloc(bytes) : NULL;

    if (args != NULL && copy == NULL)
        return cudaErrorMemoryAllocation;
    if (args != NULL) {
        memcpy(copy, args, bytes);
        for (size_t i = 0; i < kernel_signature(kernel)->param_count; i++)
            copy[i] = (char *)copy + ((char *)args[i] - (char *)args);
    }
    *out = copy;
    return cudaSuccess;
}

cudaError_t op_clone_condition(struct op *op, const struct op *from)
{
    const size_t size = from->conditional.count * sizeof(cudaGraph_t);

    *op = *from;
    op->conditional.bodies = NULL;
    op->conditional.handles = malloc(size);
    if (op->conditional.handles == NULL)
        return cudaErrorMemoryAllocation;
    memcpy(op->conditional.handles, from->conditional.handles, size);
    condition_hold(op->conditional.condition);
    return cudaSuccess;
}

cudaError_t op_clone(struct op *op, const struct op *from)
{
    *op = *from;
    if (from->type == cudaGraphNodeTypeConditional)
        return graph_conditional_copy(op, from);
    if (op_has_memory(op))
        graph_memory_hold(op->memory);
    if (from->type == cudaGraphNodeTypeKernel && from->launch.product != NULL) {
        const cudaError_t error = op_product(op, from->launch.product);

        op->device = from->device;
        return error;
    }
    if (from->type == cudaGraphNodeTypeKernel)
        return args_clone(from->launch.kernel, from->launch.args, &op->launch.args);
    if (from->type != cudaGraphNodeTypeGraph)
        return cudaSuccess;
    op->child = graph_copy(from->child);
    return op->child != NULL ? cudaSuccess : cudaErrorMemoryAllocation;
}

void op_free(struct op *op)
{
    if (op->type == cudaGraphNodeTypeKernel) {
        free(op->launch.args);
        free(op->launch.product);
    } else if (op->type == cudaGraphNodeTypeGraph && op->child != NULL) {
        graph_free(op->child);
    } else if (op->type == cudaGraphNodeTypeConditional) {
        for (unsigned i = 0; op->conditional.bodies != NULL && i < op->conditional.count; i++) {
            if (op->conditional.bodies[i] != NULL)
                graph_free(op->conditional.bodies[i]);
        }
        free(op->conditional.bodies);
        free(op->conditional.handles);
        condition_release(op->conditional.condition);
    } else if (op_has_memory(op) && op->memory != NULL) {
        graph_memory_release(op->memory);
    }
    *op = (struct op){.type = cudaGraphNodeTypeEmpty};
}

static bool dim_same(dim3 a, dim3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool launch_same(const struct op *a, const struct op *b)
{
    const struct kernel *kernel = a->launch.kernel;
    size_t values, bytes;

    if (a->launch.product != NULL || b->launch.product != NULL || kernel != b->launch.kernel ||
        !dim_same(a->launch.grid, b->launch.grid) || !dim_same(a->launch.block, b->launch.block) ||
        a->launch.shared != b->launch.shared ||
        memcmp(&a->launch.attributes, &b->launch.attributes, sizeof(a->launch.attributes)) != 0)
        return false;
    bytes = args_bytes(kernel, &values);
    return a->launch.args == NULL || memcmp((char *)a->launch.args + values,
                                            (char *)b->launch.args + values, bytes - values) == 0;
}

/* Another block of pinned memory may be at the same address by now. */
static bool copy_same(const struct cudaMemcpy3DParms *a, const struct cudaMemcpy3DParms *b)
{
    return memcmp(a, b, sizeof(*a)) == 0 && copy_is_device(a->srcPtr.ptr) &&
           copy_is_device(a->dstPtr.ptr);
}

bool op_same(const struct op *a, const struct op *b)
{
    if (a->type != b->type || op_device(a) != op_device(b))
        return false;
    switch (a->type) {
    case cudaGraphNodeTypeKernel:
        return launch_same(a, b);
    case cudaGraphNodeTypeMemcpy:
        return copy_same(&a->copy, &b->copy);
    case cudaGraphNodeTypeMemset:
        return memcmp(&a->set, &b->set, sizeof(a->set)) == 0;
    default:
        return a->type == cudaGraphNodeTypeEmpty || a->type == cudaGraphNodeTypeGraph;
    }
}

/* ---- Use ------------------------------------------------------------------------------------- */

int op_device(const struct op *op)
{
    switch (op->type) {
    case cudaGraphNodeTypeKernel:
    case cudaGraphNodeTypeMemcpy:
    case cudaGraphNodeTypeMemset:
        return (int)op->device;
    case cudaGraphNodeTypeEventRecord:
        return (int)event_device(op->event);
    case cudaGraphNodeTypeConditional:
        return (int)condition_device(op->conditional.condition);
    default:
        return OP_ANYWHERE;
    }
}

static cudaError_t launch_issue(const struct op *op, struct stream *stream, bool programmatic)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;

    if (op->launch.product != NULL)
        return stream_error(stream, product_issue(stream, op->launch.product));
    /* The image may have been unregistered meanwhile. */
    if (kernel_find(op->launch.kernel) != op->launch.kernel)
        return cudaErrorInvalidDeviceFunction;
    config.grid = (gs_dim3){op->launch.grid.x, op->launch.grid.y, op->launch.grid.z};
    config.block = (gs_dim3){op->launch.block.x, op->launch.block.y, op->launch.block.z};
    config.dynamic_smem = op->launch.shared;
    config.cooperative = op->launch.attributes.cooperative;
    config.programmatic = programmatic;
    config.cluster = launch_cluster(&op->launch.attributes);
    return kernel_launch(op->launch.kernel, &config, op->launch.shared, op->launch.args, stream);
}

static cudaError_t memset_issue(const struct cudaMemsetParams *set, struct stream *stream)
{
    const struct pattern pattern = {set->value, set->elementSize};
    const size_t width = set->width * set->elementSize;

    return peer_set_rows(stream, set->dst, set->height > 1 ? set->pitch : width, &pattern, width,
                         set->height);
}

static cudaError_t event_record_issue(const struct op *op, struct stream *stream)
{
    gs_event event;
    cudaError_t error = event_find(op->event, &event);
    gs_status status;

    if (error != cudaSuccess)
        return error;
    status = stream_enter(stream);
    if (status == GS_OK)
        status = gs_event_record(event, stream->handle);
    if (status == GS_OK)
        stream_leave(stream);
    return stream_error(stream, status);
}

cudaError_t op_issue(const struct op *op, struct stream *stream, bool programmatic)
{
    switch (op->type) {
    case cudaGraphNodeTypeKernel:
        return launch_issue(op, stream, programmatic);
    case cudaGraphNodeTypeMemcpy:
        return array_copy_box(stream, &op->copy, false);
    case cudaGraphNodeTypeMemset:
        return memset_issue(&op->set, stream);
    case cudaGraphNodeTypeHost:
        return host_call_launch(stream, op->host.fn, op->host.userData);
    case cudaGraphNodeTypeEventRecord:
        return event_record_issue(op, stream);
    case cudaGraphNodeTypeWaitEvent:
        return event_let_wait(op->event, stream);
    default: /* Empty nodes, memory and what exec.c does itself; and a child graph, whose nodes
                follow it. */
        return cudaSuccess;
    }
}

/* Whether a side of a copy is device memory or pinned memory. */
static bool direct(const void *ptr)
{
    struct memory_range range;

    return copy_is_device(ptr) || (memory_map_find(ptr, &range) && range.kind == MEMORY_PINNED);
}

bool op_recordable(const struct op *op)
{
    switch (op->type) {
    case cudaGraphNodeTypeKernel:
        return !op->launch.attributes.cooperative && op->launch.product == NULL;
    case cudaGraphNodeTypeMemcpy:
        return op->copy.kind != cudaMemcpyHostToHost && direct(op->copy.srcPtr.ptr) &&
               direct(op->copy.dstPtr.ptr) &&
               (copy_is_device(op->copy.srcPtr.ptr) || copy_is_device(op->copy.dstPtr.ptr));
    case cudaGraphNodeTypeMemset:
    case cudaGraphNodeTypeEmpty:
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeMemFree:
        return true;
    default:
        return false;
    }
}
