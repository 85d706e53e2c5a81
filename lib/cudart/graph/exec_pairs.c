/* exec_pairs.c - see exec_pairs.h. */
#include "cudart/graph/exec_pairs.h"

#include <stdint.h>
#include <stdlib.h>

#define NONE SIZE_MAX

/* One of the two lists of nodes that are paired, from an index on. */
struct side {
    const struct exec_node *at;
    size_t first, count;
    /* The nodes on which no node depends, by their index in the order of creation; or NONE. */
    size_t *exits;
};

struct pairing {
    struct side own, other;
    size_t *own_of, *other_of;
    size_t *queue; /* nodes of the other side that are paired and not compared yet */
    size_t queued;
    cudaGraphExecUpdateResultInfo *info;
};

/* The number of nodes of the side on which the node depends. A child graph's first nodes depend on
 * the node that stands for the child graph, which is not in the side. */
static size_t before_count(const struct side *side, const struct exec_node *node)
{
    return node->before_count > 0 && node->before[0] < side->first ? 0 : node->before_count;
}

static bool exits_find(struct side *side)
{
    bool *waited = calloc(side->count + 1, sizeof(bool));

    side->exits = malloc((side->count + 1) * sizeof(size_t));
    if (waited == NULL || side->exits == NULL) {
        free(waited);
        return false;
    }
    for (size_t i = 0; i < side->count; i++) {
        const struct exec_node *node = &side->at[side->first + i];

        side->exits[i] = NONE;
        for (size_t j = 0; j < before_count(side, node); j++)
            waited[node->before[j] - side->first] = true;
    }
    for (size_t i = 0; i < side->count; i++) {
        if (!waited[i])
            side->exits[side->at[side->first + i].made] = i;
    }
    free(waited);
    return true;
}

static cudaError_t differ(struct pairing *p, enum cudaGraphExecUpdateResult result, size_t other,
                          cudaGraphNode_t from)
{
    *p->info = (cudaGraphExecUpdateResultInfo){result, p->other.at[other].node, from};
    return cudaErrorGraphExecUpdateFailure;
}

/* Whether the two nodes can be a pair; if so, pairs them. */
static bool pair(struct pairing *p, size_t own, size_t other)
{
    if (p->own_of[other] != NONE || p->other_of[own] != NONE)
        return p->own_of[other] == own;
    p->own_of[other] = own;
    p->other_of[own] = other;
    p->queue[p->queued++] = other;
    return true;
}

static cudaError_t exits_pair(struct pairing *p)
{
    size_t next = 0;

    for (size_t i = 0; i < p->other.count; i++) {
        if (p->other.exits[i] == NONE)
            continue;
        while (next < p->own.count && p->own.exits[next] == NONE)
            next++;
        if (next == p->own.count)
            return differ(p, cudaGraphExecUpdateErrorTopologyChanged, p->other.exits[i], NULL);
        pair(p, p->own.exits[next++], p->other.exits[i]);
    }
    return cudaSuccess;
}

static cudaError_t pair_compare(struct pairing *p, size_t other)
{
    const struct exec_node *own = &p->own.at[p->own.first + p->own_of[other]];
    const struct exec_node *node = &p->other.at[other];
    const size_t count = before_count(&p->own, own);

    if (own->op.type != node->op.type || own->ends_child != node->ends_child)
        return differ(p, cudaGraphExecUpdateErrorNodeTypeChanged, other, NULL);
    if (own->op.type == cudaGraphNodeTypeConditional)
        return differ(p, cudaGraphExecUpdateErrorNotSupported, other, NULL);
    if (own->op.device != node->op.device && own->op.type == cudaGraphNodeTypeKernel)
        return differ(p, cudaGraphExecUpdateErrorUnsupportedFunctionChange, other, NULL);
    if (own->op.device != node->op.device && own->op.type == cudaGraphNodeTypeMemset)
        return differ(p, cudaGraphExecUpdateErrorParametersChanged, other, NULL);
    if (count != node->before_count || own->programmatic != node->programmatic)
        return differ(p, cudaGraphExecUpdateErrorTopologyChanged, other, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!pair(p, own->before[i] - p->own.first, node->before[i]))
            return differ(p, cudaGraphExecUpdateErrorTopologyChanged, other,
                          p->other.at[node->before[i]].node);
    }
    return cudaSuccess;
}

/* Pairs all nodes of the other side: on each of them either no node depends, or a node that is
 * paired already. */
static cudaError_t pairs_find(struct pairing *p)
{
    cudaError_t error = exits_pair(p);

    for (size_t i = 0; i < p->queued && error == cudaSuccess; i++)
        error = pair_compare(p, p->queue[i]);
    for (size_t i = 0; i < p->other.count && error == cudaSuccess; i++)
        p->own_of[i] += p->own.first;
    return error;
}

static size_t *numbers_new(size_t count)
{
    size_t *numbers = malloc((count + 1) * sizeof(*numbers));

    for (size_t i = 0; i < count && numbers != NULL; i++)
        numbers[i] = NONE;
    return numbers;
}

cudaError_t exec_pairs_make(const struct exec_nodes *own, size_t first,
                            const struct exec_nodes *other, size_t **own_of,
                            cudaGraphExecUpdateResultInfo *info)
{
    struct pairing p = {
        .own = {.at = own->at, .first = first, .count = other->count},
        .other = {.at = other->at, .count = other->count},
        .own_of = numbers_new(other->count),
        .other_of = numbers_new(other->count),
        .queue = numbers_new(other->count),
        .info = info,
    };
    cudaError_t error = cudaErrorMemoryAllocation;

    *info = (cudaGraphExecUpdateResultInfo){cudaGraphExecUpdateError, NULL, NULL};
    if (p.own_of != NULL && p.other_of != NULL && p.queue != NULL && exits_find(&p.own) &&
        exits_find(&p.other))
        error = pairs_find(&p);
    if (error == cudaSuccess) {
        info->result = cudaGraphExecUpdateSuccess;
        *own_of = p.own_of;
    } else {
        free(p.own_of);
    }
    free(p.own.exits);
    free(p.other.exits);
    free(p.other_of);
    free(p.queue);
    return error;
}
