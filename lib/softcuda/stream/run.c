// Runs of graphs. Everything that a launch needs is copied into a run, which its operation owns. So
// parameters may be changed and handles destroyed while earlier launches are in progress.
#include "softcuda/stream/run.h"

#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "softcuda/sched/grid.h"

struct run_node {
    struct op *op;
    uint32_t pending; // nodes for which it still waits
    uint32_t awaited; // nodes with early edges to it that are not complete
    bool let_go, done;
};

struct graph_run {
    struct topology *topology;
    struct op *whole;
    uint32_t remaining;
    struct run_node nodes[];
};

// ---- Topology

void topology_release(struct topology *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->references, 1, memory_order_acq_rel) != 1)
        return;
    free(t->indegree);
    free(t->first_successor);
    free(t->successors);
    free(t->early);
    free(t);
}

// Checks that the edges form no cycle: each node must become ready once.
static CUresult topology_check(const struct topology *t)
{
    CLEANUP_FREE uint32_t *pending = malloc((t->count + 1) * sizeof(*pending));
    CLEANUP_FREE uint32_t *order = malloc((t->count + 1) * sizeof(*order));
    uint32_t known = 0;

    if (!pending || !order)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(pending, t->indegree, t->count * sizeof(*pending));
    for (uint32_t i = 0; i < t->count; i++) {
        if (!pending[i])
            order[known++] = i;
    }
    for (uint32_t done = 0; done < known; done++) {
        for (uint32_t j = t->first_successor[order[done]]; j < t->first_successor[order[done] + 1];
             j++) {
            if (--pending[t->successors[j]] == 0)
                order[known++] = t->successors[j];
        }
    }
    return known == t->count ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult topology_new(uint32_t count, const struct edge *edges, size_t edge_count,
                      struct topology **out)
{
    struct topology *t = calloc(1, sizeof(*t));
    CLEANUP_FREE uint32_t *filled = calloc((size_t)count + 1, sizeof(*filled));
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;

    if (!t)
        return result;
    t->references = 1;
    if (!filled)
        goto fail;
    t->count = count;
    t->indegree = calloc((size_t)count + 1, sizeof(*t->indegree));
    t->first_successor = calloc((size_t)count + 2, sizeof(*t->first_successor));
    t->successors = calloc(edge_count + 1, sizeof(*t->successors));
    t->early = calloc(edge_count + 1, sizeof(*t->early));
    if (!t->indegree || !t->first_successor || !t->successors || !t->early)
        goto fail;
    for (size_t i = 0; i < edge_count; i++) {
        t->indegree[edges[i].to]++;
        t->first_successor[edges[i].from + 1]++;
    }
    for (uint32_t i = 0; i < count; i++)
        t->first_successor[i + 1] += t->first_successor[i];
    for (size_t i = 0; i < edge_count; i++) {
        uint32_t from = edges[i].from, at = t->first_successor[from] + filled[from]++;

        t->successors[at] = edges[i].to;
        t->early[at] = edges[i].early;
    }
    result = topology_check(t);
    if (!result) {
        *out = t;
        return CUDA_SUCCESS;
    }
fail:
    topology_release(t);
    return result;
}

// ---- Runs

struct graph_run *graph_run_new(struct topology *t)
{
    struct graph_run *run = calloc(1, sizeof(*run) + t->count * sizeof(run->nodes[0]));

    if (!run)
        return NULL;
    atomic_fetch_add_explicit(&t->references, 1, memory_order_relaxed);
    run->topology = t;
    run->remaining = t->count;
    for (uint32_t i = 0; i < t->count; i++)
        run->nodes[i].pending = t->indegree[i];
    return run;
}

void graph_run_set(struct graph_run *run, uint32_t node, struct op *op)
{
    run->nodes[node].op = op;
}

void graph_run_free(struct graph_run *run)
{
    if (!run)
        return;
    for (uint32_t i = 0; i < run->topology->count; i++)
        op_free(run->nodes[i].op);
    topology_release(run->topology);
    free(run);
}

// Adds MORE, which may be negative by wrapping, to the number of grids that the operation awaits. A
// node that is left out of the launch has no grid.
static void awaited_add(struct op *op, uint32_t more)
{
    // release: a grid that no longer awaits another one sees what that has written
    if (op && op->kind == OP_KERNEL)
        atomic_fetch_add_explicit(&op->grid->exec.awaited, more, memory_order_release);
}

static void awaited_begin(struct graph_run *run)
{
    const struct topology *t = run->topology;

    for (uint32_t i = 0; i < t->first_successor[t->count]; i++) {
        if (!t->early[i])
            continue;
        run->nodes[t->successors[i]].awaited++;
        awaited_add(run->nodes[t->successors[i]].op, 1);
    }
}

bool graph_run_start(struct op *whole, struct op_list *ready)
{
    struct graph_run *run = whole->graph;
    uint32_t count = run->topology->count;

    run->whole = whole;
    awaited_begin(run);
    for (uint32_t i = 0; i < count; i++) {
        struct op *node = run->nodes[i].op;

        node->stream = whole->stream;
        node->run = run;
        node->node = i;
        // Nothing starts before the caller takes it from READY, so the run is complete before its
        // first node starts.
        if (!run->nodes[i].pending)
            op_list_push(ready, node);
    }
    return count != 0;
}

static void node_release(struct run_node *next, struct op_list *ready)
{
    if (--next->pending == 0)
        op_list_push(ready, next->op);
}

void graph_run_node_lets_go(struct graph_run *run, uint32_t node, struct op_list *ready)
{
    const struct topology *t = run->topology;

    run->nodes[node].let_go = true;
    for (uint32_t i = t->first_successor[node]; i < t->first_successor[node + 1]; i++) {
        if (t->early[i])
            node_release(&run->nodes[t->successors[i]], ready);
    }
}

// The node is done, and so are the nodes that it awaited.
static void node_complete(struct graph_run *run, uint32_t node, struct op_list *ready)
{
    const struct topology *t = run->topology;

    run->remaining--;
    for (uint32_t i = t->first_successor[node]; i < t->first_successor[node + 1]; i++) {
        struct run_node *next = &run->nodes[t->successors[i]];

        if (!t->early[i] || !run->nodes[node].let_go)
            node_release(next, ready);
        if (!t->early[i])
            continue;
        awaited_add(next->op, UINT32_MAX); // one less
        if (--next->awaited == 0 && next->done)
            node_complete(run, t->successors[i], ready);
    }
}

struct op *graph_run_node_done(struct graph_run *run, uint32_t node, struct op_list *ready)
{
    run->nodes[node].op = NULL;
    run->nodes[node].done = true;
    // As on an H200, a grid ends no earlier than those that it depends on, whether or not it called
    // griddepcontrol.wait.
    if (run->nodes[node].awaited == 0)
        node_complete(run, node, ready);
    return run->remaining == 0 ? run->whole : NULL;
}
