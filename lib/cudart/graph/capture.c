/*
 * capture.c - begins and ends captures, and adds the nodes of captured work; see capture.h.
 * capture_list.c has the list of captures and their lock.
 */
#include "cudart/graph/capture.h"

#include <stdlib.h>
#include <string.h>

#include "cudart/graph/capture_list.h"
#include "cudart/graph/graph.h"
#include "cudart/state/event.h"

/* ---- The streams of a capture: the lock is held ---------------------------------------------- */

/* Makes the stream's next node also depend on these nodes. */
static bool deps_add(struct stream *stream, const cudaGraphNode_t *nodes, size_t added)
{
    size_t wanted = stream->captured_count + added;

    if (wanted > stream->captured_room) {
        cudaGraphNode_t *larger = realloc(stream->captured, 2 * wanted * sizeof(*larger));

        if (larger == NULL)
            return false;
        stream->captured = larger;
        stream->captured_room = 2 * wanted;
    }
    for (size_t i = 0; i < added; i++) {
        bool known = false;

        for (size_t j = 0; j < stream->captured_count && !known; j++)
            known = stream->captured[j] == nodes[i];
        if (!known)
            stream->captured[stream->captured_count++] = nodes[i];
    }
    return true;
}

static void stream_join(struct capture *capture, struct stream *stream)
{
    stream->capture_next = capture->streams;
    capture->streams = stream;
    stream->captured_count = 0;
    atomic_store(&stream->capture, capture);
}

/* ---- Beginning and ending -------------------------------------------------------------------- */

static cudaError_t begin_locked(struct stream *stream, enum cudaStreamCaptureMode mode,
                                cudaGraph_t graph, const cudaGraphNode_t *deps, size_t dep_count)
{
    struct capture *capture;
    cudaError_t error = cudaSuccess;

    if (stream_capturing(stream))
        return cudaErrorIllegalState;
    if (graph != NULL && !graph_has_nodes(graph, deps, dep_count))
        return cudaErrorInvalidValue;
    capture = calloc(1, sizeof(*capture));
    if (capture == NULL)
        return cudaErrorMemoryAllocation;
    capture->graph_given = graph != NULL;
    capture->graph = graph;
    if (graph == NULL)
        error = graph_new(&capture->graph);
    if (error != cudaSuccess) {
        free(capture);
        return error;
    }
    capture->mode = mode;
    capture->thread = pthread_self();
    capture->origin = stream;
    capture_list(capture);
    stream_join(capture, stream);
    return deps_add(stream, deps, dep_count)
               ? cudaSuccess
               : capture_invalidate(capture, cudaErrorMemoryAllocation);
}

cudaError_t capture_begin(struct stream *stream, enum cudaStreamCaptureMode mode, cudaGraph_t graph,
                          const cudaGraphNode_t *deps, size_t dep_count)
{
    cudaError_t error;

    if ((unsigned)mode > cudaStreamCaptureModeRelaxed || (deps == NULL && dep_count != 0))
        return cudaErrorInvalidValue;
    if (stream_is_legacy(stream))
        return cudaErrorStreamCaptureUnsupported;
    captures_enter();
    error = begin_locked(stream, mode, graph, deps, dep_count);
    captures_leave();
    return error;
}

/* Whether the next node of the origin stream would depend on all of these nodes. */
static bool nodes_joined(const struct capture *capture, const cudaGraphNode_t *nodes, size_t n)
{
    return graph_joined(capture->graph, capture->origin->captured, capture->origin->captured_count,
                        nodes, n);
}

/* Whether the next node of the origin stream would depend on the work of all streams of the
 * capture. */
static bool capture_joined(const struct capture *capture)
{
    for (const struct stream *s = capture->streams; s != NULL; s = s->capture_next) {
        if (s != capture->origin && !nodes_joined(capture, s->captured, s->captured_count))
            return false;
    }
    return nodes_joined(capture, capture->left, capture->left_count);
}

static cudaError_t end_locked(struct stream *stream, cudaGraph_t *graph)
{
    struct capture *capture = stream_capture(stream);
    cudaError_t error = cudaSuccess;

    if (capture == NULL)
        return cudaErrorIllegalState;
    if (graph == NULL && !capture->graph_given)
        return cudaErrorInvalidValue;
    if (capture->origin != stream)
        return capture_invalidate(capture, cudaErrorStreamCaptureUnmatched);
    if (capture->mode != cudaStreamCaptureModeRelaxed &&
        !pthread_equal(capture->thread, pthread_self()))
        return cudaErrorStreamCaptureWrongThread;
    if (capture->invalid)
        error = cudaErrorStreamCaptureInvalidated;
    else if (!capture_joined(capture))
        error = cudaErrorStreamCaptureUnjoined;
    if (error == cudaSuccess && graph != NULL)
        *graph = capture->graph;
    else if (error != cudaSuccess && !capture->graph_given)
        graph_end(capture->graph);
    capture_free(capture);
    return error;
}

cudaError_t capture_end(struct stream *stream, cudaGraph_t *graph)
{
    cudaError_t error;

    if (graph != NULL)
        *graph = NULL;
    captures_enter();
    error = end_locked(stream, graph);
    captures_leave();
    return error;
}

static bool left_add(struct capture *capture, const struct stream *stream)
{
    const size_t wanted = capture->left_count + stream->captured_count;
    cudaGraphNode_t *larger;

    if (stream->captured_count == 0)
        return true;
    larger = realloc(capture->left, wanted * sizeof(*larger));
    if (larger == NULL)
        return false;
    memcpy(larger + capture->left_count, stream->captured,
           stream->captured_count * sizeof(*larger));
    capture->left = larger;
    capture->left_count = wanted;
    return true;
}

/* Ends a capture whose graph nobody gets. */
static void capture_abandon(struct capture *capture)
{
    if (!capture->graph_given)
        graph_end(capture->graph);
    capture_free(capture);
}

static cudaError_t leave_locked(struct stream *stream)
{
    struct capture *capture = stream_capture(stream);
    struct stream **link;

    if (capture == NULL)
        return cudaSuccess;
    if (capture->origin == stream) {
        capture_abandon(capture);
        return cudaSuccess;
    }
    if (!left_add(capture, stream))
        return capture_invalidate(capture, cudaErrorMemoryAllocation);
    link = &capture->streams;
    while (*link != stream)
        link = &(*link)->capture_next;
    *link = stream->capture_next;
    atomic_store(&stream->capture, NULL);
    return cudaSuccess;
}

cudaError_t capture_leave(struct stream *stream)
{
    cudaError_t error;

    if (!stream_capturing(stream))
        return cudaSuccess;
    captures_enter();
    error = leave_locked(stream);
    captures_leave();
    return error;
}

/* Removes the streams of the call's device from a capture that began on another device. */
static void streams_remove(struct capture *capture)
{
    for (struct stream **link = &capture->streams; *link != NULL;) {
        struct stream *stream = *link;

        if (stream->device != device_number()) {
            link = &stream->capture_next;
            continue;
        }
        *link = stream->capture_next;
        atomic_store(&stream->capture, NULL);
        capture->invalid = true;
    }
}

void captures_forget(void)
{
    captures_enter();
    for (struct capture *capture = capture_first(), *next; capture != NULL; capture = next) {
        next = capture->next;
        if (capture->origin->device != device_number()) {
            streams_remove(capture);
            continue;
        }
        capture_abandon(capture);
    }
    captures_leave();
}

cudaError_t capture_info(struct stream *stream, struct capture_info *info)
{
    const struct capture *capture;
    cudaError_t error = capture_forbids_legacy(stream);

    if (error != cudaSuccess)
        return error;
    *info = (struct capture_info){.status = cudaStreamCaptureStatusNone};
    captures_enter();
    capture = stream_capture(stream);
    if (capture != NULL && capture->invalid) {
        info->status = cudaStreamCaptureStatusInvalidated;
    } else if (capture != NULL) {
        info->status = cudaStreamCaptureStatusActive;
        info->id = capture->id;
        info->graph = capture->graph;
        info->deps = stream->captured;
        info->count = stream->captured_count;
    }
    captures_leave();
    return cudaSuccess;
}

cudaError_t capture_set_deps(struct stream *stream, const cudaGraphNode_t *deps, size_t added,
                             bool replace)
{
    const struct capture *capture;
    cudaError_t error = cudaSuccess;

    captures_enter();
    capture = stream_capture(stream);
    if (capture == NULL)
        error = cudaErrorIllegalState;
    else if ((deps == NULL && added != 0) || !graph_has_nodes(capture->graph, deps, added))
        error = cudaErrorInvalidValue;
    if (error == cudaSuccess && replace)
        stream->captured_count = 0;
    if (error == cudaSuccess && !deps_add(stream, deps, added))
        error = cudaErrorMemoryAllocation;
    captures_leave();
    return error;
}

/* ---- Work ------------------------------------------------------------------------------------ */

/* Whether the next node of the stream depends on exactly one node, a kernel. */
static bool follows_kernel(const struct stream *stream)
{
    struct op op;

    return stream->captured_count == 1 && node_op(stream->captured[0], &op) == cudaSuccess &&
           op.type == cudaGraphNodeTypeKernel;
}

/* programmatic: the op is a programmatic dependent launch. Its edge is programmatic if it depends
 * on one kernel only; otherwise it waits for all of its dependencies to complete, as CUDA allows.
 */
static cudaError_t capture_add(struct stream *stream, struct op *op, bool programmatic)
{
    static const cudaGraphEdgeData early = {.from_port = cudaGraphKernelNodePortProgrammatic,
                                            .type = cudaGraphDependencyTypeProgrammatic};
    struct capture *capture;
    cudaError_t error;
    cudaGraphNode_t node;

    captures_enter();
    op->device = stream->device;
    capture = stream_capture(stream);
    if (capture == NULL || capture->invalid) {
        op_free(op);
        error = cudaErrorStreamCaptureInvalidated;
    } else {
        error = graph_add(capture->graph, stream->captured,
                          programmatic && follows_kernel(stream) ? &early : NULL,
                          stream->captured_count, op, &node);
        stream->captured_count = 0;
        if (error != cudaSuccess || !deps_add(stream, &node, 1))
            error = capture_invalidate(capture, cudaErrorMemoryAllocation);
    }
    captures_leave();
    return error;
}

cudaError_t capture_op(struct stream *stream, struct op *op)
{
    return capture_add(stream, op, false);
}

cudaError_t capture_launch(struct stream *stream, struct kernel *kernel,
                           const gs_launch_config *config, size_t shared, void **args,
                           const struct launch_attributes *attributes)
{
    dim3 grid = {config->grid.x, config->grid.y, config->grid.z};
    dim3 block = {config->block.x, config->block.y, config->block.z};
    struct op op;
    cudaError_t error = op_launch(&op, kernel, grid, block, (unsigned)shared, args);

    if (attributes != NULL)
        op.launch.attributes = *attributes;
    else
        op.launch.attributes = (struct launch_attributes){.cooperative = config->cooperative,
                                                          .priority = stream->priority};
    return error == cudaSuccess ? capture_add(stream, &op, config->programmatic) : error;
}

cudaError_t capture_node(struct stream *stream, enum cudaGraphNodeType type, cudaEvent_t event)
{
    struct op op;
    cudaError_t error = op_event(&op, type, event);

    if (error == cudaSuccess && !stream_capturing(stream))
        error = cudaErrorIllegalState;
    return error == cudaSuccess ? capture_op(stream, &op) : error;
}

cudaError_t capture_record(struct stream *stream, cudaEvent_t event)
{
    struct capture *capture;
    cudaError_t error = cudaErrorStreamCaptureInvalidated;

    captures_enter();
    capture = stream_capture(stream);
    if (capture != NULL && !capture->invalid)
        error = event_capture(event, capture->id, stream->captured, stream->captured_count);
    captures_leave();
    return error;
}

void capture_event_remove(cudaEvent_t event)
{
    if (event_captured(event) == NULL)
        return;
    captures_enter();
    event_uncapture(event);
    captures_leave();
}

static cudaError_t wait_locked(struct stream *stream, cudaEvent_t event, bool *done)
{
    struct capture *capture = stream_capture(stream), *other;
    const struct event_nodes *nodes = event_captured(event);

    *done = capture != NULL || nodes != NULL;
    if (!*done)
        return cudaSuccess;
    if (capture != NULL && capture->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (nodes == NULL)
        return capture_invalidate(capture, cudaErrorStreamCaptureIsolation);
    other = capture_find(nodes->capture);
    if (other == NULL)
        return capture != NULL ? capture_invalidate(capture, cudaErrorCapturedEvent)
                               : cudaErrorCapturedEvent;
    if (capture != NULL && capture != other) {
        other->invalid = true;
        return capture_invalidate(capture, cudaErrorStreamCaptureMerge);
    }
    if (other->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (stream_is_legacy(stream))
        return capture_invalidate(other, cudaErrorStreamCaptureImplicit);
    if (capture == NULL)
        stream_join(other, stream);
    return deps_add(stream, nodes->nodes, nodes->count)
               ? cudaSuccess
               : capture_invalidate(other, cudaErrorMemoryAllocation);
}

cudaError_t capture_wait(struct stream *stream, cudaEvent_t event, bool *done)
{
    cudaError_t error;

    *done = false;
    if (captures_none() && event_captured(event) == NULL)
        return cudaSuccess;
    captures_enter();
    error = wait_locked(stream, event, done);
    captures_leave();
    return error;
}
