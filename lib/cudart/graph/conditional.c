/* conditional.c - conditional nodes. Each has graphs of its own, its bodies, which run depending on
 * a condition (condition.h); see graph.h. */
#include <stdlib.h>

#include "cudart/graph/condition.h"
#include "cudart/graph/graph.h"
#include "cudart/graph/graph_parts.h"

/* Makes the bodies of an op whose condition, type and count are set: copies of those in `from` or,
 * if that is NULL, empty graphs. */
static cudaError_t bodies_make(struct op *op, struct graph *const *from)
{
    const unsigned count = op->conditional.count;
    cudaError_t error = cudaSuccess;

    op->conditional.bodies = calloc(count, sizeof(struct graph *));
    op->conditional.handles = calloc(count, sizeof(cudaGraph_t));
    if (op->conditional.bodies == NULL || op->conditional.handles == NULL)
        error = cudaErrorMemoryAllocation;
    for (unsigned i = 0; i < count && error == cudaSuccess; i++) {
        struct graph *body = from != NULL ? graph_copy(from[i]) : graph_make();

        if (body == NULL) {
            error = cudaErrorMemoryAllocation;
            break;
        }
        body->within_node = true;
        op->conditional.bodies[i] = body;
        op->conditional.handles[i] = body->handle;
    }
    if (error != cudaSuccess)
        op_free(op);
    return error;
}

cudaError_t graph_conditional_copy(struct op *op, const struct op *from)
{
    *op = *from;
    condition_hold(op->conditional.condition);
    return bodies_make(op, from->conditional.bodies);
}

static bool conditional_valid(const struct cudaConditionalNodeParams *params)
{
    switch ((int)params->type) {
    case cudaGraphCondTypeIf:
        return params->size == 1 || params->size == 2;
    case cudaGraphCondTypeWhile:
        return params->size == 1;
    case cudaGraphCondTypeSwitch:
        return params->size >= 1 && params->size <= GRAPHS_MAX;
    default:
        return false;
    }
}

cudaError_t graph_add_conditional(cudaGraph_t handle, const cudaGraphNode_t *deps,
                                  const cudaGraphEdgeData *data, size_t count,
                                  struct cudaConditionalNodeParams *params, cudaGraphNode_t *out)
{
    struct op op = {.type = cudaGraphNodeTypeConditional};
    cudaError_t error;

    if (out == NULL || !conditional_valid(params))
        return cudaErrorInvalidValue;
    op.conditional.condition = condition_find(params->handle);
    if (op.conditional.condition == NULL)
        return cudaErrorInvalidValue;
    op.conditional.type = params->type;
    op.conditional.count = params->size;
    graphs_enter();
    error = bodies_make(&op, NULL);
    if (error == cudaSuccess) {
        error = graph_add_locked(graph_find(handle), deps, data, count, &op, out);
        if (error == cudaSuccess)
            params->phGraph_out = op.conditional.handles;
        else
            op_free(&op);
    }
    graphs_leave();
    return error;
}
