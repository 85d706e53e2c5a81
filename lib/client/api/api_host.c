/* api_host.c - host functions in a stream's order. */
#include "client/base/error.h"
#include "client/submit/host_call.h"
#include "client/submit/submit.h"

/* Submits the record of a host function. The call is added first, since a record without its call
 * would hold the stream for ever. In an idle stream the function may return before the record is
 * committed; the record then holds nothing back. */
static gs_status host_record(struct session *session, struct stream *stream, gs_host_fn fn,
                             void *data)
{
    struct rec_host *record;
    gs_status status = stream_reserve(session, stream, sizeof(*record), (void **)&record);

    if (status != GS_OK)
        return status;
    *record = (struct rec_host){.h = {.op = REC_HOST, .size = sizeof(*record)}};
    status = host_call_add(session, stream->number,
                           stream->tail + ring_pad(stream->tail, sizeof(*record)), fn, data);
    if (status == GS_OK)
        stream_commit(session, stream, sizeof(*record));
    return status;
}

gs_status gs_launch_host(gs_session session_handle, gs_stream stream_handle, gs_host_fn fn,
                         void *data)
{
    struct session *session;
    struct stream *stream;
    gs_status status;

    if (!fn)
        return error_set(GS_ERR_INVALID_VALUE, "the host function is NULL");
    status = stream_call_begin(handle_decode(session_handle), HANDLE_SESSION, stream_handle,
                               "gs_launch_host", &session, &stream);
    if (status != GS_OK)
        return status;
    return stream_call_end(session, stream, host_record(session, stream, fn, data));
}
