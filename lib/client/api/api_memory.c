/* api_memory.c - device memory, host memory, copies and memsets. */
#include <string.h>

#include "client/base/error.h"
#include "client/memory/copy.h"
#include "client/memory/memory.h"
#include "client/submit/submit.h"
#include "client/submit/sync_request.h"
#include "client/submit/wait.h"

/* ---- Device memory ---- */

static gs_status device_free(struct session *session, uint64_t address)
{
    struct sync_request request = {.op = REQ_FREE, .arg = {address}};

    return sync_request(session, &request);
}

gs_status gs_malloc(gs_session handle, size_t size, gs_devptr *ptr)
{
    struct sync_request request = {.op = REQ_MALLOC, .arg = {size}};
    struct session *session;
    gs_status status;

    if (!ptr)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_devptr pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    if (!size)
        status = error_set(GS_ERR_INVALID_VALUE, "size is 0");
    if (status == GS_OK)
        status = sync_request(session, &request);
    if (status == GS_OK) {
        status = memory_add(session, request.ret[0], size, MEMORY_ALLOCATION);
        if (status == GS_OK)
            *ptr = request.ret[0];
        else if (status == GS_ERR_NO_MEMORY)
            device_free(session, request.ret[0]);
    }
    session_leave(session);
    return status;
}

gs_status gs_free(gs_session handle, gs_devptr ptr)
{
    struct session *session;
    uint64_t size;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    if (ptr) {
        status = memory_take(session, ptr, &size);
        if (status == GS_OK)
            status = session_quiesce(session);
        if (status == GS_OK)
            status = device_free(session, ptr);
    }
    session_leave(session);
    return status;
}

gs_status gs_mem_info(gs_session handle, size_t *free_bytes, size_t *total_bytes)
{
    struct sync_request request = {.op = REQ_MEM_INFO};
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = sync_request(session, &request);
    if (status == GS_OK && free_bytes)
        *free_bytes = request.ret[0];
    if (status == GS_OK && total_bytes)
        *total_bytes = request.ret[1];
    session_leave(session);
    return status;
}

/* ---- Sharing ---- */

static_assert(sizeof(gs_mem_handle) == sizeof(((struct sync_request *)0)->ret) &&
                  sizeof(gs_mem_handle) == sizeof(((struct sync_request *)0)->arg),
              "a handle is what a request and its answer carry");

gs_status gs_mem_export(gs_session handle, gs_devptr ptr, uint64_t receiver,
                        gs_mem_handle *exported)
{
    struct sync_request request = {.op = REQ_MEM_EXPORT, .arg = {ptr, receiver}};
    struct session *session;
    gs_status status;

    if (!exported)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_mem_handle pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = sync_request(session, &request);
    if (status == GS_OK)
        memcpy(exported->bytes, request.ret, sizeof(exported->bytes));
    session_leave(session);
    return status;
}

gs_status gs_mem_import(gs_session handle, const gs_mem_handle *exported, gs_devptr *ptr,
                        size_t *size)
{
    struct sync_request request = {.op = REQ_MEM_IMPORT};
    struct session *session;
    gs_status status;

    if (!exported || !ptr)
        return error_set(GS_ERR_INVALID_VALUE, "the %s pointer is NULL",
                         exported ? "gs_devptr" : "gs_mem_handle");
    memcpy(request.arg, exported->bytes, sizeof(request.arg));
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = sync_request(session, &request);
    if (status == GS_OK) {
        /* The remainder keeps the value that of an import, whatever number the server sends. */
        status = memory_add(session, request.ret[0], request.ret[1],
                            MEMORY_IMPORT + request.ret[2] % SEG_IMPORTS);
        if (status == GS_ERR_NO_MEMORY)
            device_free(session, request.ret[0]);
    }
    if (status == GS_OK) {
        *ptr = request.ret[0];
        if (size)
            *size = request.ret[1];
    }
    session_leave(session);
    return status;
}

gs_status gs_mem_revoke(gs_session handle, gs_devptr ptr)
{
    struct sync_request request = {.op = REQ_MEM_REVOKE, .arg = {ptr}};
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = sync_request(session, &request);
    session_leave(session);
    return status;
}

/* ---- Host memory ---- */

gs_status gs_host_alloc(gs_session handle, size_t size, void **ptr)
{
    struct session *session;
    struct host_block block;
    gs_status status;

    if (!ptr)
        return error_set(GS_ERR_INVALID_VALUE, "the pointer for host memory is NULL");
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    if (!size)
        status = error_set(GS_ERR_INVALID_VALUE, "size is 0");
    if (status == GS_OK)
        status = host_block_new(session, size, HOST_BLOCK_REACHED, &block);
    if (status == GS_OK) {
        status = memory_host_add(session, &block);
        if (status == GS_OK)
            *ptr = block.address;
        else
            host_block_free(session, &block);
    }
    session_leave(session);
    return status;
}

gs_status gs_host_device_ptr(gs_session handle, const void *ptr, gs_devptr *device)
{
    struct session *session;
    gs_status status;

    if (!device)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_devptr pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = memory_host_device(session, ptr, device);
    session_leave(session);
    return status;
}

gs_status gs_host_free(gs_session handle, void *ptr)
{
    struct session *session;
    struct host_block block;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    if (ptr) {
        status = memory_host_take(session, ptr, &block);
        if (status == GS_OK)
            status = session_quiesce(session);
        if (status == GS_OK)
            status = host_block_free(session, &block);
    }
    session_leave(session);
    return status;
}

/* ---- Copies ---- */

static gs_status copy_checked(gs_session handle, gs_stream stream, const struct copy *copy,
                              bool wait)
{
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    if (copy->size && copy->kind != REC_DTOD && !copy->host)
        status = error_set(GS_ERR_INVALID_VALUE, "the host pointer is NULL");
    else if (copy->size)
        status = copy_run(session, stream, copy, wait);
    session_leave(session);
    return status;
}

static gs_status copy_htod(gs_session session, gs_devptr dst, const void *src, size_t size,
                           gs_stream stream, bool wait)
{
    /* REC_HTOD only reads the host memory, so the cast is safe. */
    struct copy copy = {
        .kind = REC_HTOD, .device = dst, .host = (void *)(uintptr_t)src, .size = size};

    return copy_checked(session, stream, &copy, wait);
}

static gs_status copy_dtoh(gs_session session, void *dst, gs_devptr src, size_t size,
                           gs_stream stream, bool wait)
{
    struct copy copy = {.kind = REC_DTOH, .device = src, .host = dst, .size = size};

    return copy_checked(session, stream, &copy, wait);
}

static gs_status copy_dtod(gs_session session, gs_devptr dst, gs_devptr src, size_t size,
                           gs_stream stream, bool wait)
{
    struct copy copy = {.kind = REC_DTOD, .device = src, .device_to = dst, .size = size};

    return copy_checked(session, stream, &copy, wait);
}

gs_status gs_memcpy_htod(gs_session session, gs_devptr dst, const void *src, size_t size)
{
    return copy_htod(session, dst, src, size, NULL, true);
}

gs_status gs_memcpy_dtoh(gs_session session, void *dst, gs_devptr src, size_t size)
{
    return copy_dtoh(session, dst, src, size, NULL, true);
}

gs_status gs_memcpy_dtod(gs_session session, gs_devptr dst, gs_devptr src, size_t size)
{
    return copy_dtod(session, dst, src, size, NULL, true);
}

gs_status gs_memcpy_htod_async(gs_session session, gs_devptr dst, const void *src, size_t size,
                               gs_stream stream)
{
    return copy_htod(session, dst, src, size, stream, false);
}

gs_status gs_memcpy_dtoh_async(gs_session session, void *dst, gs_devptr src, size_t size,
                               gs_stream stream)
{
    return copy_dtoh(session, dst, src, size, stream, false);
}

gs_status gs_memcpy_dtod_async(gs_session session, gs_devptr dst, gs_devptr src, size_t size,
                               gs_stream stream)
{
    return copy_dtod(session, dst, src, size, stream, false);
}

/* ---- Memsets ---- */

/* Under the stream's lock. */
static gs_status memset_record(struct session *session, struct stream *stream, gs_devptr dst,
                               int value, size_t size)
{
    struct rec_memset *record;
    gs_status status = memory_check(session, dst, size, "destination");

    if (status == GS_OK)
        status = stream_reserve(session, stream, sizeof(*record), (void **)&record);
    if (status != GS_OK)
        return status;
    *record = (struct rec_memset){
        .h = {.op = REC_MEMSET, .size = sizeof(*record)},
        .value = (uint32_t)value & 0xFFu,
        .dst = dst,
        .bytes = size,
    };
    stream_commit(session, stream, sizeof(*record));
    return GS_OK;
}

static gs_status memset_run(gs_session handle, gs_devptr dst, int value, size_t size,
                            gs_stream stream_handle, bool wait)
{
    struct session *session;
    struct stream *stream;
    uint64_t position = 0;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = stream_lock(session, stream_handle, &stream);
    if (status == GS_OK) {
        if (wait)
            status = stream_not_recording(stream, "a memset that waits");
        if (status == GS_OK && size)
            status = memset_record(session, stream, dst, value, size);
        position = stream->tail;
        status = stream_unlock(stream, status);
    }
    if (status == GS_OK && wait && size)
        status = wait_position(session, stream->number, position);
    if (wait)
        status = wait_end(session, status);
    session_leave(session);
    return status;
}

gs_status gs_memset(gs_session session, gs_devptr dst, int value, size_t size)
{
    return memset_run(session, dst, value, size, NULL, true);
}

gs_status gs_memset_async(gs_session session, gs_devptr dst, int value, size_t size,
                          gs_stream stream)
{
    return memset_run(session, dst, value, size, stream, false);
}
