/*
 * recorded.c - see recorded.h.
 *
 * What a step waits for is told by the calls that its dependencies have become. An empty node, a
 * child graph, an allocation has become none: what waits for it waits for what it waits for.
 */
#include "cudart/graph/recorded.h"

#include <pthread.h>
#include <stdlib.h>

#define EDGES_MAX 8192u /* that are told; gs_graph_after allows some more */

struct recording {
    const struct step *steps;
    size_t count;
    struct recorded_step *into;
    struct stream stream;
    /* By step: the steps whose ends are its own end, as a part of `lists`. */
    struct {
        size_t *at;
        size_t count;
    } * ends;
    size_t *lists, used;
    size_t *named; /* by step: 1 + the last step that names it */
    size_t edges;
};

static bool makes_calls(const struct op *op)
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

/* Each step has a place in the lists for itself, and all edges have one. */
static bool recording_init(struct recording *recording)
{
    const size_t count = recording->count;

    recording->ends = calloc(count, sizeof(*recording->ends));
    recording->lists = malloc((count + EDGES_MAX) * sizeof(size_t));
    recording->named = calloc(count, sizeof(size_t));
    return recording->ends != NULL && recording->lists != NULL && recording->named != NULL;
}

/* Makes the end of step i what the step waits for, each once. False: there are too many edges. */
static bool before_find(struct recording *recording, size_t i)
{
    const struct step *step = &recording->steps[i];
    size_t *list = recording->lists + recording->used, count = 0;

    for (size_t k = 0; k < step->before_count; k++) {
        const size_t *end = recording->ends[step->before[k]].at;

        for (size_t n = recording->ends[step->before[k]].count; n > 0; n--, end++) {
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

static unsigned last_call(const struct recording *recording, size_t step)
{
    return recording->into[step].first + recording->into[step].count - 1;
}

/* Says what the next call, which is step i's first, waits for, where it is not the call before. */
static bool before_tell(struct recording *recording, size_t i)
{
    const size_t *list = recording->ends[i].at, count = recording->ends[i].count;
    const unsigned next = recording->into[i].first;
    unsigned *calls;
    bool told;

    if (next == 0 || (count == 1 && last_call(recording, list[0]) + 1 == next))
        return true;
    calls = malloc((count + 1) * sizeof(unsigned));
    for (size_t k = 0; calls != NULL && k < count; k++)
        calls[k] = last_call(recording, list[k]);
    told = calls != NULL && gs_graph_after(device_session(), recording->stream.handle, calls,
                                           (unsigned)count) == GS_OK;
    free(calls);
    recording->edges += count;
    return told;
}

/* ---- Recording ------------------------------------------------------------------------------- */

/* Gives the step to the stream that records. */
static bool step_record(struct recording *recording, size_t i, bool branches)
{
    const struct op *op = &recording->steps[i].op;
    struct recorded_step *step = &recording->into[i];
    gs_stream stream = recording->stream.handle;
    unsigned end;

    if (gs_graph_steps(device_session(), stream, &step->first) != GS_OK ||
        (branches && makes_calls(op) && !before_tell(recording, i)) ||
        op_issue(op, &recording->stream, recording->steps[i].programmatic) != cudaSuccess ||
        gs_graph_steps(device_session(), stream, &end) != GS_OK)
        return false;
    step->count = end - step->first;
    return true;
}

/* Records a step of a graph with branches. gs_graph_after names what the next recorded call waits
 * for, so it comes before the step's calls. A step that should have made calls and has made none,
 * such as a memset of no bytes, fails: the next step's call would wait for what this step waits
 * for. */
static bool branch_record(struct recording *recording, size_t i)
{
    if (!before_find(recording, i) || !step_record(recording, i, true))
        return false;
    if (makes_calls(&recording->steps[i].op)) {
        recording->ends[i].at[0] = i;
        recording->ends[i].count = 1;
        recording->used++;
        return recording->into[i].count > 0;
    }
    recording->used += recording->ends[i].count;
    recording->edges += recording->ends[i].count;
    return true;
}

/* Records the steps with their branches, or one after the other. NULL: there is no graph. */
static gs_graph steps_record(struct recording *recording, bool branches)
{
    gs_stream stream = recording->stream.handle;
    bool done;
    gs_graph graph;

    if (gs_graph_begin(device_session(), stream) != GS_OK)
        return NULL;
    done = !branches || recording_init(recording);
    for (size_t i = 0; i < recording->count && done; i++)
        done = branches ? branch_record(recording, i) : step_record(recording, i, false);
    if (done)
        return gs_graph_end(device_session(), stream, &graph) == GS_OK ? graph : NULL;
    gs_graph_change(device_session(), stream, NULL, NULL, 0); /* ends it */
    return NULL;
}

static bool storage_make(struct recorded *recorded, size_t count)
{
    size_t calls = 0;

    for (size_t i = 0; i < count; i++)
        calls += recorded->steps[i].count;
    recorded->numbers = malloc((calls + 1) * sizeof(unsigned));
    return recorded->numbers != NULL;
}

/* A session's graph is recorded on a stream that nobody else uses. */
void recorded_make(struct recorded *recorded, struct step *steps, size_t count)
{
    static struct ring own = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* never shared */
    struct recording recording = {
        .steps = steps,
        .count = count,
        .stream = {.ring = &own, .device = device_number(), .records = true}};

    *recorded = (struct recorded){.device = device_number()};
    for (size_t i = 0; i < count; i++) {
        if (!op_recordable(&steps[i].op))
            return;
    }
    if (count == 0 || gs_stream_create(device_session(), NULL, &recording.stream.handle) != GS_OK)
        return;
    recorded->steps = recording.into = calloc(count, sizeof(*recording.into));
    if (recording.into != NULL) {
        recorded->graph = steps_record(&recording, true);
        if (recorded->graph == NULL)
            recorded->graph = steps_record(&recording, false);
    }
    recording_deinit(&recording);
    gs_stream_destroy(recording.stream.handle);
    if (recorded->graph == NULL || !storage_make(recorded, count))
        recorded_free(recorded);
    for (size_t i = 0; i < count; i++)
        steps[i].changed = false;
}

void recorded_free(struct recorded *recorded)
{
    if (recorded->graph != NULL)
        gs_graph_destroy(recorded->graph);
    free(recorded->steps);
    free(recorded->numbers);
    *recorded = (struct recorded){.graph = NULL};
}

/* ---- Telling --------------------------------------------------------------------------------- */

/* The streams that record what has changed, by the device's number: they stay, since making one
 * waits for the server. */
static struct ring tell_ring = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* never shared */
static struct stream tell_streams[DEVICES_MAX];
static pthread_mutex_t tell_lock = PTHREAD_MUTEX_INITIALIZER;

/* The one of the call's device; NULL: there is none. tell_lock is held, as below. */
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

static unsigned numbers_add(const struct recorded *recorded, size_t step, unsigned count)
{
    for (unsigned k = 0; k < recorded->steps[step].count; k++)
        recorded->numbers[count++] = recorded->steps[step].first + k;
    return count;
}

/* What a disabled step has become is told when it is enabled. */
static bool to_tell(const struct step *step)
{
    return step->changed && !step->disabled && makes_calls(&step->op);
}

static bool changes_record(const struct recorded *recorded, const struct step *steps, size_t count,
                           struct stream *stream, unsigned *calls)
{
    unsigned now;

    *calls = 0;
    for (size_t i = 0; i < count; i++) {
        if (!to_tell(&steps[i]))
            continue;
        *calls = numbers_add(recorded, i, *calls);
        if (!op_recordable(&steps[i].op) ||
            op_issue(&steps[i].op, stream, steps[i].programmatic) != cudaSuccess ||
            gs_graph_steps(device_session(), stream->handle, &now) != GS_OK || now != *calls)
            return false;
    }
    return true;
}

static bool changes_tell(const struct recorded *recorded, struct step *steps, size_t count)
{
    struct stream *stream = tell_stream();
    unsigned calls;
    bool told;

    if (stream == NULL || gs_graph_begin(device_session(), stream->handle) != GS_OK)
        return false;
    told = changes_record(recorded, steps, count, stream, &calls);
    told = gs_graph_change(device_session(), stream->handle, told ? recorded->graph : NULL,
                           recorded->numbers, calls) == GS_OK;
    for (size_t i = 0; i < count && told; i++)
        steps[i].changed = steps[i].changed && !to_tell(&steps[i]);
    return told;
}

static bool enabling_tell(struct recorded *recorded, const struct step *steps, size_t count,
                          bool enabled)
{
    unsigned calls = 0;

    for (size_t i = 0; i < count; i++) {
        if (steps[i].disabled != enabled && recorded->steps[i].off == enabled)
            calls = numbers_add(recorded, i, calls);
    }
    if (calls > 0 && gs_graph_enable(recorded->graph, recorded->numbers, calls, enabled) != GS_OK)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (steps[i].disabled != enabled)
            recorded->steps[i].off = !enabled;
    }
    return true;
}

bool recorded_tell(struct recorded *recorded, struct step *steps, size_t count)
{
    bool changed = false, told = true;

    for (size_t i = 0; i < count && !changed; i++)
        changed = to_tell(&steps[i]);
    if (changed) {
        pthread_mutex_lock(&tell_lock);
        told = changes_tell(recorded, steps, count);
        pthread_mutex_unlock(&tell_lock);
    }
    return told && enabling_tell(recorded, steps, count, false) &&
           enabling_tell(recorded, steps, count, true);
}

void recorded_forget(void)
{
    pthread_mutex_lock(&tell_lock);
    tell_streams[device_number()].handle = NULL;
    pthread_mutex_unlock(&tell_lock);
}
