/* api_graph.c - records, changes, launches and destroys graphs. A graph of more than
 * SEG_GRAPH_NODES steps consists of sections, each of which is a graph of the server. */
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "client/memory/freed.h"
#include "client/memory/host_block.h"
#include "client/submit/graph_changes.h"
#include "client/submit/recording.h"
#include "client/submit/submit.h"
#include "client/submit/sync_request.h"
#include "client/submit/wait.h"

gs_status gs_graph_begin(gs_session session_handle, gs_stream handle)
{
    struct recording *recording;
    struct session *session;
    struct stream *stream;
    gs_status status = stream_call_begin(handle_decode(session_handle), HANDLE_SESSION, handle,
                                         "gs_graph_begin", &session, &stream);

    if (status != GS_OK)
        return status;
    recording = recording_new();
    if (recording)
        atomic_store_explicit(&stream->recording, recording, memory_order_relaxed);
    else
        status = error_set(GS_ERR_NO_MEMORY, "no memory for recording a graph");
    return stream_call_end(session, stream, status);
}

/* Calls `ask` with the stream's recording, under the stream's lock. */
static gs_status recording_ask(gs_session session_handle, gs_stream handle,
                               gs_status (*ask)(struct session *, struct stream *,
                                                struct recording *, void *),
                               void *argument)
{
    struct session *session;
    struct stream *stream;
    struct recording *recording;
    gs_status status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = stream_lock(session, handle, &stream);
    if (status == GS_OK) {
        recording = atomic_load_explicit(&stream->recording, memory_order_relaxed);
        status = recording ? ask(session, stream, recording, argument)
                           : error_set(GS_ERR_RECORDING, "stream %u is not recording a graph",
                                       stream->number);
        pthread_mutex_unlock(&stream->lock);
    }
    session_leave(session);
    return status;
}

static gs_status steps_tell(struct session *session, struct stream *stream,
                            struct recording *recording, void *steps)
{
    (void)session, (void)stream;
    *(unsigned *)steps = recording->steps;
    return GS_OK;
}

gs_status gs_graph_steps(gs_session session, gs_stream stream, unsigned *steps)
{
    if (!steps)
        return error_set(GS_ERR_INVALID_VALUE, "the pointer for the steps is NULL");
    return recording_ask(session, stream, steps_tell, steps);
}

struct steps {
    const unsigned *step;
    unsigned count;
};

/* Adds REC_AFTER records that name the steps; without steps, one record that names none. */
static gs_status order_put(struct session *session, struct stream *stream,
                           struct recording *recording, void *argument)
{
    const struct steps *steps = argument;
    unsigned put = 0;

    for (unsigned i = 0; i < steps->count; i++)
        if (steps->step[i] >= recording->steps)
            return error_set(GS_ERR_INVALID_VALUE, "step %u is not recorded yet: there are %u",
                             steps->step[i], recording->steps);
    do {
        struct rec_after *record;
        const unsigned rest = steps->count - put;
        const gs_status status = stream_reserve(session, stream, sizeof(*record), (void **)&record);

        if (status != GS_OK)
            return status;
        *record = (struct rec_after){.h = {.op = REC_AFTER, .size = sizeof(*record)},
                                     .count = rest < REC_AFTER_STEPS ? rest : REC_AFTER_STEPS};
        for (unsigned i = 0; i < record->count; i++)
            record->step[i] = steps->step[put++];
        stream_commit(session, stream, sizeof(*record));
    } while (put < steps->count);
    return GS_OK;
}

gs_status gs_graph_after(gs_session session, gs_stream stream, const unsigned *steps,
                         unsigned count)
{
    if (!steps && count)
        return error_set(GS_ERR_INVALID_VALUE, "the pointer to the steps is NULL");
    return recording_ask(session, stream, order_put, &(struct steps){steps, count});
}

/* Takes the recording away from the stream, whose calls are from then on submitted again. */
static gs_status recording_take(struct session *session, gs_stream handle,
                                struct recording **recording)
{
    struct stream *stream;
    gs_status status = stream_lock(session, handle, &stream);

    if (status != GS_OK)
        return status;
    *recording = atomic_load_explicit(&stream->recording, memory_order_relaxed);
    atomic_store_explicit(&stream->recording, NULL, memory_order_relaxed);
    pthread_mutex_unlock(&stream->lock);
    if (!*recording)
        return error_set(GS_ERR_RECORDING, "stream %u is not recording a graph", stream->number);
    return GS_OK;
}

static gs_status graph_destroy_request(struct session *session, const struct graph *graph)
{
    gs_status status = GS_OK;

    for (uint32_t i = 0; i < graph->count; i++) {
        struct sync_request request = {.op = REQ_GRAPH_DESTROY, .arg = {graph->id[i]}};
        const gs_status destroyed = sync_request(session, &request);

        status = status == GS_OK ? destroyed : status;
    }
    return status;
}

static const struct rec_header *record_at(const struct recording *recording, size_t at)
{
    return (const void *)(recording->bytes + at);
}

/* Returns the size of the records from `from` on that one graph of the server takes, and sets
 * *steps to their number without REC_AFTERs. A REC_AFTER stays with the record behind it. */
static size_t section_bytes(const struct recording *recording, size_t from, uint32_t *steps)
{
    size_t to = from, at = from;

    for (*steps = 0; *steps < SEG_GRAPH_NODES && at < recording->size;) {
        const struct rec_header *record = record_at(recording, at);

        at += record->size;
        if (record->op == REC_AFTER && at < recording->size)
            continue;
        *steps += record->op != REC_AFTER;
        to = at;
    }
    return to - from;
}

/* Renumbers the steps that REC_AFTERs name to numbers within the section. Steps of earlier sections
 * are dropped, since those have ended. */
static void section_number(unsigned char *records, size_t bytes, uint32_t first)
{
    for (size_t at = 0; at < bytes; at += ((struct rec_header *)(void *)(records + at))->size) {
        struct rec_after *after = (void *)(records + at);
        uint32_t kept = 0;

        for (uint32_t i = 0; after->h.op == REC_AFTER && i < after->count; i++)
            if (after->step[i] >= first)
                after->step[kept++] = after->step[i] - first;
        if (after->h.op == REC_AFTER)
            after->count = kept;
    }
}

/* Returns the number of sections, and sets *largest to the bytes of the largest one. */
static uint32_t sections_count(const struct recording *recording, size_t *largest)
{
    uint32_t count = 0, steps;

    *largest = 0;
    for (size_t from = 0, bytes; from < recording->size; from += bytes) {
        bytes = section_bytes(recording, from, &steps);
        *largest = bytes > *largest ? bytes : *largest;
        count++;
    }
    return count;
}

static gs_status section_create(struct session *session, const struct host_block *block,
                                const unsigned char *records, size_t bytes, uint32_t first,
                                struct graph *graph)
{
    struct sync_request request = {.op = REQ_GRAPH_CREATE, .arg = {block->id, bytes}};
    gs_status status;

    memcpy(block->address, records, bytes);
    section_number(block->address, bytes, first);
    status = freed_request(session, &request);
    if (status == GS_OK)
        graph->id[graph->count++] = (uint32_t)request.ret[0];
    return status;
}

/* Makes the graph of each section on the server. A host block carries the records. */
static gs_status graph_create_request(struct session *session, const struct recording *recording,
                                      size_t largest, struct graph *graph)
{
    struct host_block block;
    gs_status status;
    uint32_t steps, first = 0;

    if (!largest)
        return GS_OK;
    status = host_block_new(session, largest, HOST_BLOCK_PLAIN, &block);
    if (status != GS_OK)
        return status;
    for (size_t from = 0, bytes; from < recording->size && status == GS_OK; from += bytes) {
        bytes = section_bytes(recording, from, &steps);
        status = section_create(session, &block, recording->bytes + from, bytes, first, graph);
        first += steps;
    }
    if (status != GS_OK) {
        char message[ERROR_MESSAGE_MAX];
        error_keep(message);
        host_block_free(session, &block);
        graph_destroy_request(session, graph);
        return error_server(status, message);
    }
    return host_block_free(session, &block);
}

static gs_status graph_publish(struct session *session, struct graph *graph, gs_graph *handle)
{
    char message[ERROR_MESSAGE_MAX];
    uint64_t made;
    gs_status status = object_publish(session, HANDLE_GRAPH, graph, &made);

    if (status != GS_OK) {
        error_keep(message);
        graph_destroy_request(session, graph);
        return error_server(status, message);
    }
    *handle = (gs_graph)(uintptr_t)made;
    return GS_OK;
}

static void graph_free(struct graph *graph)
{
    graph_changes_free(graph->changes);
    free(graph);
}

static gs_status graph_make(struct session *session, struct recording *recording, gs_graph *handle)
{
    struct graph *graph;
    gs_status status;
    uint32_t count;
    size_t largest;

    if (recording->failed != GS_OK)
        return error_set(recording->failed, "the recording failed: %s", recording->message);
    count = sections_count(recording, &largest);
    graph = calloc(1, sizeof(*graph) + count * sizeof(graph->id[0]));
    if (!graph)
        return error_set(GS_ERR_NO_MEMORY, "no memory for a graph");
    status = graph_create_request(session, recording, largest, graph);
    if (status == GS_OK && !(graph->changes = graph_changes_new(recording))) {
        status = GS_ERR_NO_MEMORY;
        graph_destroy_request(session, graph);
    }
    if (status == GS_OK)
        status = graph_publish(session, graph, handle);
    if (status != GS_OK)
        graph_free(graph);
    return status;
}

gs_status gs_graph_end(gs_session session_handle, gs_stream stream, gs_graph *handle)
{
    struct session *session;
    struct recording *recording = NULL;
    gs_status status;

    if (!handle)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_graph pointer is NULL");
    status = session_use(handle_decode(session_handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = recording_take(session, stream, &recording);
    if (status == GS_OK)
        status = graph_make(session, recording, handle);
    recording_free(recording);
    session_leave(session);
    return status;
}

/* ---- Changing -------------------------------------------------------------------------------- */

/* Finds a graph. The caller holds a lock that gs_graph_destroy takes after it has retired the
 * handle. */
static gs_status graph_find(struct session *session, gs_graph handle, struct graph **graph)
{
    *graph = object_find(session, HANDLE_GRAPH, handle);
    return *graph ? GS_OK : handle_unknown(handle_decode(handle), "graph");
}

struct change {
    gs_graph graph;
    const unsigned *steps;
    unsigned count;
};

/* Applies the recording's calls as a change of the graph, and ends the recording even if that
 * fails. */
static gs_status recording_put(struct session *session, struct stream *stream,
                               struct recording *recording, void *argument)
{
    const struct change *change = argument;
    struct graph *graph;
    gs_status status = graph_find(session, change->graph, &graph);

    if (status == GS_OK && recording->failed != GS_OK)
        status = error_set(recording->failed, "the recording failed: %s", recording->message);
    if (status == GS_OK)
        status = graph_changes_put(graph->changes, recording, change->steps, change->count);
    atomic_store_explicit(&stream->recording, NULL, memory_order_relaxed);
    recording_free(recording);
    return status;
}

gs_status gs_graph_change(gs_session session, gs_stream stream, gs_graph graph,
                          const unsigned *steps, unsigned count)
{
    return recording_ask(session, stream, recording_put, &(struct change){graph, steps, count});
}

gs_status gs_graph_enable(gs_graph handle, const unsigned *steps, unsigned count, unsigned enabled)
{
    struct session *session;
    struct graph *graph;
    gs_status status = session_use(handle_decode(handle), HANDLE_GRAPH, &session);

    if (status != GS_OK)
        return status;
    pthread_mutex_lock(&session->object_lock);
    status = graph_find(session, handle, &graph);
    if (status == GS_OK)
        status = graph_changes_enable(graph->changes, steps, count, enabled);
    pthread_mutex_unlock(&session->object_lock);
    session_leave(session);
    return status;
}

/* ---- Launching and destroying ---------------------------------------------------------------- */

/* Submits the launch of one section with its difference. A change that another thread makes while
 * this thread waits for the ring takes effect. */
static gs_status section_record(struct session *session, struct stream *stream, struct graph *graph,
                                uint32_t section)
{
    struct rec_graph *record;
    uint32_t changes, size;
    gs_status status;

    do {
        changes = graph_difference_size(graph->changes, section);
        size = ring_round((uint32_t)sizeof(*record) + changes);
        status = stream_reserve(session, stream, size, (void **)&record);
        if (status != GS_OK)
            return status;
    } while (!graph_difference_copy(graph->changes, section, record + 1, changes));
    *record = (struct rec_graph){
        .h = {.op = REC_GRAPH, .size = size}, .graph = graph->id[section], .changes = changes};
    stream_commit(session, stream, size);
    return GS_OK;
}

/* Submits the launch of a graph. The caller holds the stream's lock, which keeps the graph
 * alive. */
static gs_status graph_record(struct session *session, struct stream *stream, gs_graph handle)
{
    struct graph *graph;
    gs_status status = graph_find(session, handle, &graph);

    for (uint32_t i = 0; status == GS_OK && i < graph->count; i++)
        status = section_record(session, stream, graph, i);
    return status;
}

gs_status gs_graph_launch(gs_graph handle, gs_stream stream_handle)
{
    struct session *session;
    struct stream *stream;
    gs_status status = stream_call_begin(handle_decode(handle), HANDLE_GRAPH, stream_handle,
                                         "gs_graph_launch", &session, &stream);

    if (status != GS_OK)
        return status;
    return stream_call_end(session, stream, graph_record(session, stream, handle));
}

gs_status gs_graph_destroy(gs_graph handle)
{
    struct handle h = handle_decode(handle);
    struct session *session;
    struct graph *graph;
    gs_status status = session_use(h, HANDLE_GRAPH, &session);

    if (status != GS_OK)
        return status;
    graph = object_retire(session, h);
    if (graph) {
        streams_pass(session);
        for (uint32_t i = 0; i < graph->count && status == GS_OK; i++)
            status = freed_give(session, REQ_GRAPH_DESTROY, graph->id[i], 0);
        object_release(session, h);
        graph_free(graph);
        status = wait_end(session, status);
    } else {
        status = handle_unknown(h, "graph");
    }
    session_leave(session);
    return status;
}
