/*
 * copy.c - see copy.h.
 *
 * A copy holds the stream's lock from its beginning to its end, so that another thread's work on
 * the stream comes before or after it. Addresses are checked under that lock and stay valid until
 * the records are committed (session.h).
 */
#include "client/memory/copy.h"

#include <string.h>

#include "client/base/error.h"
#include "client/memory/bulk.h"
#include "client/memory/memory.h"
#include "client/submit/submit.h"
#include "client/submit/wait.h"

uint64_t copy_slice(uint64_t size)
{
    uint64_t slice = size / STAGING_SLICES / STAGING_SLICE_MIN * STAGING_SLICE_MIN;

    if (slice < STAGING_SLICE_MIN)
        return STAGING_SLICE_MIN;
    return slice < STAGING_LARGE_CHUNK ? slice : STAGING_LARGE_CHUNK;
}

static gs_status copy_record(struct session *session, struct stream *stream,
                             enum rec_copy_kind kind, uint32_t host, uint64_t dst, uint64_t src,
                             uint64_t bytes)
{
    struct rec_copy *record;
    gs_status status = stream_reserve(session, stream, sizeof(*record), (void **)&record);

    if (status != GS_OK)
        return status;
    *record = (struct rec_copy){
        .h = {.op = REC_COPY, .size = sizeof(*record)},
        .kind = kind,
        .host = host,
        .dst = dst,
        .src = src,
        .bytes = bytes,
    };
    stream_commit(session, stream, sizeof(*record));
    return GS_OK;
}

/* ---- Ordinary memory ---- */

static gs_status staged_to_device(struct session *session, struct stream *stream,
                                  struct staging *staging, const struct copy *copy, uint64_t slice)
{
    for (uint64_t done = 0, bytes; done < copy->size; done += bytes) {
        uint32_t chunk;
        uint64_t offset;
        gs_status status = staging_take(session, staging, true, &chunk);

        if (status != GS_OK)
            return status;
        offset = (uint64_t)chunk * staging->chunk_bytes;
        bytes = copy->size - done < slice ? copy->size - done : slice;
        bulk_copy(BULK_IN, staging->base + offset, (const unsigned char *)copy->host + done, bytes,
                  copy->size);
        status = copy_record(session, stream, REC_HTOD, staging->block, copy->device + done, offset,
                             bytes);
        staging_give(staging, chunk, stream->number, stream->tail);
        if (status != GS_OK)
            return status;
    }
    return GS_OK;
}

/* Chunks that the device fills ahead while the oldest chunk is copied out. */
struct readahead {
    struct {
        uint32_t chunk;
        uint64_t bytes;
        uint64_t position;
    } entry[STAGING_CHUNKS_MAX];
    uint32_t first, count;
    uint64_t queued; /* bytes whose copies have been given to the stream */
};

static gs_status readahead_fill(struct session *session, struct stream *stream,
                                struct staging *staging, const struct copy *copy, uint64_t slice,
                                struct readahead *ahead)
{
    while (ahead->queued < copy->size && ahead->count < staging->count) {
        uint64_t left = copy->size - ahead->queued, bytes = left < slice ? left : slice;
        uint32_t chunk, n = (ahead->first + ahead->count) % STAGING_CHUNKS_MAX;
        gs_status status = staging_take(session, staging, ahead->count == 0, &chunk);

        if (status != GS_OK)
            return status;
        if (chunk == staging->count)
            return GS_OK;
        status = copy_record(session, stream, REC_DTOH, staging->block,
                             (uint64_t)chunk * staging->chunk_bytes, copy->device + ahead->queued,
                             bytes);
        if (status != GS_OK) {
            staging_give(staging, chunk, stream->number, stream->tail);
            return status;
        }
        ahead->entry[n].chunk = chunk;
        ahead->entry[n].bytes = bytes;
        ahead->entry[n].position = stream->tail;
        ahead->count++;
        ahead->queued += bytes;
    }
    return GS_OK;
}

static gs_status staged_to_host(struct session *session, struct stream *stream,
                                struct staging *staging, const struct copy *copy, uint64_t slice)
{
    struct readahead ahead = {0};
    uint64_t done = 0;
    gs_status status = GS_OK;

    while (done < copy->size && status == GS_OK) {
        status = readahead_fill(session, stream, staging, copy, slice, &ahead);
        if (status == GS_OK)
            status = wait_position(session, stream->number, ahead.entry[ahead.first].position);
        if (status != GS_OK)
            break;
        uint32_t chunk = ahead.entry[ahead.first].chunk;
        uint64_t bytes = ahead.entry[ahead.first].bytes;
        bulk_copy(BULK_OUT, (unsigned char *)copy->host + done,
                  staging->base + (uint64_t)chunk * staging->chunk_bytes, bytes, copy->size);
        staging_give(staging, chunk, stream->number, ahead.entry[ahead.first].position);
        done += bytes;
        ahead.first = (ahead.first + 1) % STAGING_CHUNKS_MAX;
        ahead.count--;
    }
    for (; ahead.count; ahead.count--) {
        staging_give(staging, ahead.entry[ahead.first].chunk, stream->number,
                     ahead.entry[ahead.first].position);
        ahead.first = (ahead.first + 1) % STAGING_CHUNKS_MAX;
    }
    return status;
}

static gs_status copy_staged(struct session *session, struct stream *stream,
                             const struct copy *copy)
{
    bool small = copy->size <= STAGING_SMALL_CHUNK;
    struct staging *staging =
        small ? &session->memory->staging_small : &session->memory->staging_large;
    uint64_t slice = small ? copy->size : copy_slice(copy->size);
    gs_status status = stream_not_recording(stream, "a copy of ordinary host memory");

    if (status == GS_OK)
        status = staging_prepare(session, staging);
    if (status != GS_OK)
        return status;
    return copy->kind == REC_HTOD ? staged_to_device(session, stream, staging, copy, slice)
                                  : staged_to_host(session, stream, staging, copy, slice);
}

/* ---- All ---- */

static gs_status copy_with_host(struct session *session, struct stream *stream,
                                const struct copy *copy)
{
    enum host_kind kind;
    uint32_t id;
    uint64_t offset;
    gs_status status = memory_host_find(session, copy->host, copy->size, &kind, &id, &offset);

    if (status == GS_OK)
        status = memory_check(session, copy->device, copy->size,
                              copy->kind == REC_HTOD ? "destination" : "source");
    if (status != GS_OK)
        return status;
    if (kind == HOST_ORDINARY)
        return copy_staged(session, stream, copy);
    if (copy->kind == REC_HTOD)
        return copy_record(session, stream, REC_HTOD, id, copy->device, offset, copy->size);
    return copy_record(session, stream, REC_DTOH, id, offset, copy->device, copy->size);
}

static gs_status copy_in_device(struct session *session, struct stream *stream,
                                const struct copy *copy)
{
    gs_status status = memory_check(session, copy->device_to, copy->size, "destination");

    if (status == GS_OK)
        status = memory_check(session, copy->device, copy->size, "source");
    if (status == GS_OK)
        status =
            copy_record(session, stream, REC_DTOD, 0, copy->device_to, copy->device, copy->size);
    return status;
}

gs_status copy_run(struct session *session, gs_stream handle, const struct copy *copy, bool wait)
{
    struct stream *stream;
    gs_status status = stream_lock(session, handle, &stream);

    if (status != GS_OK)
        return status;
    if (wait)
        status = stream_not_recording(stream, "a copy that waits");
    if (status == GS_OK)
        status = copy->kind == REC_DTOD ? copy_in_device(session, stream, copy)
                                        : copy_with_host(session, stream, copy);
    return stream_finish(session, stream, status, wait);
}
