/*
 * recorded.c - see recorded.h.
 *
 * A node's dependencies are passed to the session as the steps that resulted from them. An empty
 * node, a child graph or an allocation results in no step: its dependents depend on its
 * dependencies instead.
 */
#include "cudart/graph/recorded.h"

#include <pthread.h>
#include <stdlib.h>

#define EDGES_MAX 8192u /* the most edges of a recording; gs_graph_after allows more */

struct recording {
    struct exec_nodes *nodes;
    struct stream stream;
    /* For each node, a part of `lists`: the nodes whose ends are its own end. */
    struct {
        size_t *at;
        size_t count;
    } * ends;
    size_t *lists, used;
    size_t *named; /* for each node, 1 + the last node that refers to it */
    size_t edges;
};

static bool makes_steps(const struct op *op)
{
    return op->type == cudaGraphNodeTypeKernel || op->type == cudaGraphNodeTypeMemcpy ||
           op->type == cudaGraphNodeTypeMemset;
}

/* ---- Edges ----------------------------------------------------------------------------------- */

static void recording_deinit(struct recording *recording)
{
    free(recording->ends);
    free(recording->lists);
    free(recording->named);
}

/* Makes room in the lists for each node itself, and for all edges. */
static bool recording_init(struct recording *recording)
{
    const size_t count = recording->nodes->count;

    recording->ends = calloc(count, sizeof(*recording->ends));
    recording->lists = malloc((count + EDGES_MAX) * sizeof(size_t));
    recording->named = calloc(count, sizeof(size_t));
    return recording->ends != NULL && recording->lists != NULL && recording->named != NULL;
}

/* Sets the end of node i to its dependencies, without duplicates. False: there are too many edges.
 */
static bool before_find(struct recording *recording, size_t i)
{
    const struct exec_node *node = &recording->nodes->at[i];
    size_t *list = recording->lists + recording->used, count = 0;

    for (size_t k = 0; k < node->before_count; k++) {
        const size_t *end = recording->ends[node->before[k]].at;

        for (size_t n = recording->ends[node->before[k]].count; n > 0; n--, end++) {
            if (recording->named[*end] == i + 1)
                continue;
            if (recording->edges + count == EDGES_MAX)
                return false;
            recording->named[*end] = i + 1;
            list[count++] = *end;
        }
    }
    recording->ends[i].at = list;
    recording->ends[i].count = count;
    return true;
}

static unsigned last_step(const struct recording *recording, size_t node)
{
    return recording->nodes->at[node].first_step + recording->nodes->at[node].steps - 1;
}

/* Tells the session the dependencies of the next step, which is node i's first, unless it depends
 * just on the step before. */
static bool before_tell(struct recording *recording, size_t i)
{
    const size_t *list = recording->ends[i].at, count = recording->ends[i].count;
    const unsigned next = recording->nodes->at[i].first_step;
    unsigned *steps;
    bool told;

    if (next == 0 || (count == 1 && last_step(recording, list[0]) + 1 == next))
        return true;
    steps = malloc((count + 1) * sizeof(unsigned));
    for (size_t k = 0; steps != NULL && k < count; k++)
        steps[k] = last_step(recording, list[k]);
    told = steps != NULL && gs_graph_after(device_session(), recording->stream.handle, steps,
                                           (unsigned)count) == GS_OK;
    free(steps);
    recording->edges += count;
    return told;
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* If nodes are recorded one after the other, a launch may start early only if the previous node is
 * the one on which it depends. */
static bool begins_early(const struct exec_node *node, size_t i, bool branches)
{
    return node->programmatic && (branches || node->before[0] + 1 == i);
}

/* Gives the node to the recording stream. */
static bool node_record(struct recording *recording, size_t i, bool branches)
{
    struct exec_node *node = &recording->nodes->at[i];
    gs_stream stream = recording->stream.handle;
    unsigned end;

    if (gs_graph_steps(device_session(), stream, &node->first_step) != GS_OK ||
        (branches && makes_steps(&node->op) && !before_tell(recording, i)) ||
        op_issue(&node->op, &recording->stream, begins_early(node, i, branches)) != cudaSuccess ||
        gs_graph_steps(device_session(), stream, &end) != GS_OK)
        return false;
    node->steps = end - node->first_step;
    return true;
}

/* Records a node of a graph with branches. gs_graph_after sets the dependencies of the next
 * recorded step, so it comes before the node's steps. A node that should have resulted in steps and
 * did not, such as a memset of no bytes, is a failure: the next node's step would get this node's
 * dependencies. */
static bool branch_record(struct recording *recording, size_t i)
{
    if (!before_find(recording, i) || !node_record(recording, i, true))
        return false;
    if (makes_steps(&recording->nodes->at[i].op)) {
        recording->ends[i].at[0] = i;
        recording->ends[i].count = 1;
        recording->used++;
        return recording->nodes->at[i].steps > 0;
    }
    recording->used += recording->ends[i].count;
    recording->edges += recording->ends[i].count;
    return true;
}

/* Records the nodes with their branches, or one after the other. NULL: failed. */
static gs_graph nodes_record(struct recording *recording, bool branches)
{
    gs_stream stream = recording->stream.handle;
    bool done;
    gs_graph graph;

    if (gs_graph_begin(device_session(), stream) != GS_OK)
        return NULL;
    done = !branches || recording_init(recording);
    for (size_t i = 0; i < recording->nodes->count && done; i++)
        done = branches ? branch_record(recording, i) : node_record(recording, i, false);
    if (done)
        return gs_graph_end(device_session(), stream, &graph) == GS_OK ? graph : NULL;
    gs_graph_change(device_session(), stream, NULL, NULL, 0); /* ends it */
    return NULL;
}

/* Whether one session's graph can hold the nodes: all are on its device. */
static bool nodes_recordable(const struct exec_nodes *nodes)
{
    for (size_t i = 0; i < nodes->count; i++) {
        const int device = op_device(&nodes->at[i].op);

        if (!op_recordable(&nodes->at[i].op) ||
            (device != OP_ANYWHERE && device != (int)device_number()))
            return false;
    }
    return nodes->count > 0;
}

/* Marks all nodes as known to the session, and none as skipped. */
static bool storage_make(struct recorded *recorded, struct exec_nodes *nodes)
{
    size_t steps = 0;

    for (size_t i = 0; i < nodes->count; i++) {
        steps += nodes->at[i].steps;
        nodes->at[i].changed = nodes->at[i].off = false;
    }
    recorded->numbers = malloc((steps + 1) * sizeof(unsigned));
    return recorded->numbers != NULL;
}

/* Uses a stream for recording that nothing else uses. */
void recorded_make(struct recorded *recorded, struct exec_nodes *nodes)
{
    static struct ring own = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* never shared */
    struct recording recording = {
        .nodes = nodes, .stream = {.ring = &own, .device = device_number(), .records = true}};

    recorded_free(recorded);
    recorded->device = device_number();
    if (!nodes_recordable(nodes) ||
        gs_stream_create(device_session(), NULL, &recording.stream.handle) != GS_OK)
        return;
    recorded->graph = nodes_record(&recording, true);
    if (recorded->graph == NULL)
        recorded->graph = nodes_record(&recording, false);
    recording_deinit(&recording);
    gs_stream_destroy(recording.stream.handle);
    if (recorded->graph == NULL || !storage_make(recorded, nodes))
        recorded_free(recorded);
}

void recorded_free(struct recorded *recorded)
{
    if (recorded->graph != NULL)
        gs_graph_destroy(recorded->graph);
    free(recorded->numbers);
    *recorded = (struct recorded){.graph = NULL};
}

/* ---- Telling --------------------------------------------------------------------------------- */

/* The streams that record changes, by device number. They are kept, since making one waits for the
 * server. */
static struct ring tell_ring = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* never shared */
static struct stream tell_streams[DEVICES_MAX];
static pthread_mutex_t tell_lock = PTHREAD_MUTEX_INITIALIZER;

/* The stream of the call's device; NULL: there is none. tell_lock is held here and below. */
static struct stream *tell_stream(void)
{
    struct stream *stream = &tell_streams[device_number()];

    stream->ring = &tell_ring;
    stream->device = device_number();
    stream->records = true;
    return stream->handle != NULL ||
                   gs_stream_create(device_session(), NULL, &stream->handle) == GS_OK
               ? stream
               : NULL;
}

static unsigned numbers_add(const struct recorded *recorded, const struct exec_node *node,
                            unsigned count)
{
    for (unsigned k = 0; k < node->steps; k++)
        recorded->numbers[count++] = node->first_step + k;
    return count;
}

/* Whether the session should get the node's op now. The op of a disabled node is sent when the node
 * is enabled. */
static bool to_tell(const struct exec_node *node)
{
    return node->changed && !node->disabled && makes_steps(&node->op);
}

static bool changes_record(const struct recorded *recorded, const struct exec_nodes *nodes,
                           struct stream *stream, unsigned *steps)
{
    unsigned now;

    *steps = 0;
    for (size_t i = 0; i < nodes->count; i++) {
        const struct exec_node *node = &nodes->at[i];

        if (!to_tell(node))
            continue;
        *steps = numbers_add(recorded, node, *steps);
        if (!op_recordable(&node->op) ||
            op_issue(&node->op, stream, node->programmatic) != cudaSuccess ||
            gs_graph_steps(device_session(), stream->handle, &now) != GS_OK || now != *steps)
            return false;
    }
    return true;
}

static bool changes_tell(const struct recorded *recorded, struct exec_nodes *nodes)
{
    struct stream *stream = tell_stream();
    unsigned steps;
    bool told;

    if (stream == NULL || gs_graph_begin(device_session(), stream->handle) != GS_OK)
        return false;
    told = changes_record(recorded, nodes, stream, &steps);
    told = gs_graph_change(device_session(), stream->handle, told ? recorded->graph : NULL,
                           recorded->numbers, steps) == GS_OK;
    for (size_t i = 0; i < nodes->count && told; i++)
        nodes->at[i].changed = nodes->at[i].changed && !to_tell(&nodes->at[i]);
    return told;
}

static bool enabling_tell(const struct recorded *recorded, struct exec_nodes *nodes, bool off)
{
    unsigned steps = 0;

    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->at[i].disabled == off && nodes->at[i].off != off)
            steps = numbers_add(recorded, &nodes->at[i], steps);
    }
    if (steps > 0 && gs_graph_enable(recorded->graph, recorded->numbers, steps, !off) != GS_OK)
        return false;
    for (size_t i = 0; i < nodes->count; i++) {
        if (nodes->at[i].disabled == off)
            nodes->at[i].off = off;
    }
    return true;
}

bool recorded_tell(const struct recorded *recorded, struct exec_nodes *nodes)
{
    bool changed = false, told = true;

    for (size_t i = 0; i < nodes->count && !changed; i++)
        changed = to_tell(&nodes->at[i]);
    if (changed) {
        pthread_mutex_lock(&tell_lock);
        told = changes_tell(recorded, nodes);
        pthread_mutex_unlock(&tell_lock);
    }
    return told && enabling_tell(recorded, nodes, true) && enabling_tell(recorded, nodes, false);
}

void recorded_forget(void)
{
    pthread_mutex_lock(&tell_lock);
    tell_streams[device_number()].handle = NULL;
    pthread_mutex_unlock(&tell_lock);
}
