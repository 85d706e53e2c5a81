/*
 * capture_forbid.c - calls that are forbidden while streams capture; see capture.h. Such a call
 * invalidates the capture.
 */
#include "cudart/graph/capture.h"
#include "cudart/graph/capture_list.h"
#include "cudart/state/event.h"

static _Thread_local enum cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

cudaError_t capture_mode_exchange(enum cudaStreamCaptureMode *mode)
{
    enum cudaStreamCaptureMode former = thread_mode;

    if (mode == NULL || (unsigned)*mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    thread_mode = *mode;
    *mode = former;
    return cudaSuccess;
}

cudaError_t capture_refuse(struct stream *stream)
{
    struct capture *capture;

    captures_enter();
    capture = stream_capture(stream);
    if (capture != NULL)
        capture->invalid = true;
    captures_leave();
    return cudaErrorStreamCaptureUnsupported;
}

cudaError_t capture_forbids_event(cudaEvent_t event)
{
    const struct event_nodes *nodes;
    struct capture *capture;

    if (event_captured(event) == NULL)
        return cudaSuccess;
    captures_enter();
    nodes = event_captured(event);
    capture = nodes != NULL ? capture_find(nodes->capture) : NULL;
    if (capture != NULL)
        capture->invalid = true;
    captures_leave();
    return nodes != NULL ? cudaErrorCapturedEvent : cudaSuccess;
}

/* Invalidates the captures of the device's streams, or only of its blocking streams, and returns
 * `error`. cudaSuccess: no such stream captures. */
static cudaError_t captures_refuse(unsigned device, bool blocking, cudaError_t error)
{
    cudaError_t result = cudaSuccess;

    captures_enter();
    for (struct capture *capture = capture_first(); capture != NULL; capture = capture->next) {
        for (const struct stream *s = capture->streams; s != NULL; s = s->capture_next) {
            if (s->device == device && (s->blocking || !blocking))
                result = capture_invalidate(capture, error);
        }
    }
    captures_leave();
    return result;
}

cudaError_t capture_forbids_device(void)
{
    if (captures_none())
        return cudaSuccess;
    return captures_refuse(device_number(), false, cudaErrorStreamCaptureUnsupported);
}

/* Whether the capture forbids the calling thread an unsafe call. A thread in global mode may not
 * make one while a capture of its own, or a global one of another thread, is in progress; a thread
 * in thread-local mode, while one of its own is. Captures in relaxed mode forbid nothing. */
static bool capture_forbids(const struct capture *capture)
{
    bool own = pthread_equal(capture->thread, pthread_self());

    if (capture->mode == cudaStreamCaptureModeRelaxed ||
        thread_mode == cudaStreamCaptureModeRelaxed)
        return false;
    return own || (capture->mode == cudaStreamCaptureModeGlobal &&
                   thread_mode == cudaStreamCaptureModeGlobal);
}

cudaError_t capture_forbids_unsafe(void)
{
    cudaError_t error = cudaSuccess;

    if (captures_none())
        return cudaSuccess;
    captures_enter();
    for (struct capture *capture = capture_first(); capture != NULL; capture = capture->next) {
        if (capture_forbids(capture))
            error = capture_invalidate(capture, cudaErrorStreamCaptureUnsupported);
    }
    captures_leave();
    return error;
}

cudaError_t capture_forbids_legacy(const struct stream *stream)
{
    if (!stream_is_legacy(stream) || captures_none())
        return cudaSuccess;
    return captures_refuse(stream->device, true, cudaErrorStreamCaptureImplicit);
}
