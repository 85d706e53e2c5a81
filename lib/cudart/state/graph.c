/* graph.c - see graph.h. */
#include "cudart/state/graph.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "cudart/base/handles.h"
#include "cudart/state/device.h"

#define GRAPHS_MAX 4096u /* of each kind; a session has fewer graphs: gs_graph_end tells */

struct shared_graph {
    gs_graph graph;
    _Atomic unsigned users;
};

static struct handle_slot graph_slots[GRAPHS_MAX], exec_slots[GRAPHS_MAX];
static struct shared_graph *graphs[GRAPHS_MAX], *execs[GRAPHS_MAX];
static struct handles graph_handles = HANDLES_INIT(graph_slots, GRAPHS_MAX, 10);
static struct handles exec_handles = HANDLES_INIT(exec_slots, GRAPHS_MAX, 11);

static cudaError_t shared_leave(struct shared_graph *shared)
{
    gs_status status = GS_OK;

    if (atomic_fetch_sub(&shared->users, 1) > 1)
        return cudaSuccess;
    if (device_session() != NULL)
        status = gs_graph_destroy(shared->graph);
    free(shared);
    return device_error(status);
}

/* Gives a user of the graph a handle. */
static cudaError_t shared_open(struct handles *handles, struct shared_graph **objects,
                               struct shared_graph *shared, uint64_t *handle)
{
    int number = handles_take(handles, handle);

    if (number < 0) {
        shared_leave(shared);
        return cudaErrorMemoryAllocation;
    }
    objects[number] = shared;
    handles_open(handles, number);
    return cudaSuccess;
}

cudaError_t graph_new(gs_graph graph, cudaGraph_t *handle)
{
    struct shared_graph *shared = calloc(1, sizeof(*shared));
    uint64_t value;
    cudaError_t error;

    if (shared == NULL) {
        gs_graph_destroy(graph);
        return cudaErrorMemoryAllocation;
    }
    shared->graph = graph;
    atomic_init(&shared->users, 1);
    error = shared_open(&graph_handles, graphs, shared, &value);
    if (error == cudaSuccess)
        *handle = (cudaGraph_t)(uintptr_t)value; // NOLINT: a handle is a value
    return error;
}

cudaError_t graph_instantiate(cudaGraph_t graph, cudaGraphExec_t *handle)
{
    int number = handles_find(&graph_handles, (uint64_t)(uintptr_t)graph);
    uint64_t value;
    cudaError_t error;

    if (number < 0)
        return cudaErrorInvalidValue;
    atomic_fetch_add(&graphs[number]->users, 1);
    error = shared_open(&exec_handles, execs, graphs[number], &value);
    if (error == cudaSuccess)
        *handle = (cudaGraphExec_t)(uintptr_t)value; // NOLINT: a handle is a value
    return error;
}

cudaError_t graph_find(cudaGraphExec_t handle, gs_graph *graph)
{
    int number = handles_find(&exec_handles, (uint64_t)(uintptr_t)handle);

    if (number < 0)
        return cudaErrorInvalidValue;
    *graph = execs[number]->graph;
    return cudaSuccess;
}

static cudaError_t shared_close(struct handles *handles, struct shared_graph **objects,
                                uint64_t handle)
{
    int number = handles_close(handles, handle);
    struct shared_graph *shared;

    if (number < 0)
        return cudaErrorInvalidValue;
    shared = objects[number];
    handles_free(handles, number);
    return shared_leave(shared);
}

cudaError_t graph_end(cudaGraph_t handle)
{
    return shared_close(&graph_handles, graphs, (uint64_t)(uintptr_t)handle);
}

cudaError_t graph_exec_end(cudaGraphExec_t handle)
{
    return shared_close(&exec_handles, execs, (uint64_t)(uintptr_t)handle);
}

static void forget(struct handles *handles, struct shared_graph **objects)
{
    for (uint32_t i = 0; i < handles->fresh; i++) {
        uint64_t handle = handles_of(handles, (int)i);

        if (handle != 0)
            shared_close(handles, objects, handle);
    }
}

void graphs_forget(void)
{
    forget(&graph_handles, graphs);
    forget(&exec_handles, execs);
}
