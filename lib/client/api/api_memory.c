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

static gs_status device_malloc(struct session *session, uint64_t size, gs_devptr *ptr)
{
    struct sync_request request = {.op = REQ_MALLOC, .arg = {size}};
    gs_status status =
        size ? freed_request(session, &request) : error_set(GS_ERR_INVALID_VALUE, "size is 0");

    if (status != GS_OK)
        return status;
    status = memory_add(session, request.ret[0], size, MEMORY_ALLOCATION);
    if (status == GS_OK)
        *ptr = request.ret[0];
    else if (status == GS_ERR_NO_MEMORY)
        device_free(session, request.ret[0]);
    return status;
}

gs_status gs_malloc(gs_session handle, size_t size, gs_devptr *ptr)
{
    struct session *session;
    gs_status status;

    if (!ptr)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_devptr pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = device_malloc(session, size, ptr);
    session_leave(session);
    return status;
}

gs_status gs_free(gs_session handle, gs_devptr ptr)
{
    struct session *session;
    uint64_t size;
    bool own;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    if (ptr) {
        status = memory_take(session, ptr, &size, &own);
        if (status == GS_OK)
            status = freed_give(session, REQ_FREE, ptr, size);
    }
    session_leave(session);
    return status;
}

/* Takes a block that stream_memory.h keeps. *ptr stays 0 if there is none. */
static gs_status kept_take(struct session *session, gs_stream handle, uint64_t size, gs_devptr *ptr)
{
    struct stream *stream;
    uint64_t address;
    bool taken;
    gs_status status = stream_lock(session, handle, &stream);

    if (status != GS_OK)
        return status;
    status = stream_not_recording(stream, "gs_malloc_async");
    taken = status == GS_OK && stream_memory_take(session, stream, size, &address);
    pthread_mutex_unlock(&stream->lock);
    if (!taken)
        return status;
    status = memory_add(session, address, size, MEMORY_ALLOCATION);
    if (status == GS_OK)
        *ptr = address;
    else
        freed_give(session, REQ_FREE, address, size);
    return status;
}

gs_status gs_malloc_async(gs_session handle, size_t size, gs_stream stream, gs_devptr *ptr)
{
    const uint64_t whole = stream_memory_size(size);
    struct session *session;
    gs_devptr taken = 0;
    gs_status status;

    if (!ptr)
        return error_set(GS_ERR_INVALID_VALUE, "the gs_devptr pointer is NULL");
    status = session_use(handle_decode(handle), HANDLE_SESSION, &session);
    if (status != GS_OK)
        return status;
    status = kept_take(session, stream, whole, &taken);
    if (status == GS_OK && !taken)
        status = device_malloc(session, whole, &taken);
    if (status == GS_OK)
        *ptr = taken;
    session_leave(session);
    return status;
}

static gs_status device_free_async(struct session *session, gs_devptr ptr, gs_stream handle)
{
    struct stream *stream;
    uint64_t size = 0, position = 0;
    uint32_t number = 0;
    bool own = false;
    gs_status status = stream_lock(session, handle, &stream);

    if (status != GS_OK)
        return status;
    status = stream_not_recording(stream, "gs_free_async");
    if (status == GS_OK)
        status = memory_take(session, ptr, &size, &own);
    number = stream->number;
    position = stream->tail;
    pthread_mutex_unlock(&stream->lock);
    if (status != GS_OK)
        return status;
    return own && size == stream_memory_size(size)
               ? stream_memory_give(session, number, position, ptr, size)
               : freed_give(session, REQ_FREE, ptr, size);
}

gs_status gs_free_async(gs_session handle, gs_devptr ptr, gs_stream stream)
{
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    if (ptr)
        status = device_free_async(session, ptr, stream);
    session_leave(session);
    return status;
}

/* Makes a request that returns only a status. */
static gs_status session_request(gs_session handle, struct sync_request request)
{
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = sync_request(session, &request);
    session_leave(session);
    return status;
}

gs_status gs_kernel_heap(gs_session handle, uint64_t bytes)
{
    return session_request(handle, (struct sync_request){.op = REQ_KERNEL_HEAP, .arg = {bytes}});
}

gs_status gs_kernel_stack(gs_session handle, uint64_t bytes)
{
    return session_request(handle, (struct sync_request){.op = REQ_KERNEL_STACK, .arg = {bytes}});
}

gs_status gs_mem_info(gs_session handle, size_t *free_bytes, size_t *total_bytes)
{
    struct sync_request request = {.op = REQ_MEM_INFO};
    struct session *session;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    freed_settle(session);
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
    status = memory_check(session, ptr, 1, "the export of");
    if (status == GS_OK)
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
    status = freed_request(session, &request);
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
    return session_request(handle, (struct sync_request){.op = REQ_MEM_REVOKE, .arg = {ptr}});
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

/* Finds the block at `ptr` that the other session has made and that this session is to join. */
static gs_status block_of_other(struct session *session, gs_session handle, void *ptr,
                                struct session **other, struct host_block *block)
{
    enum host_kind kind = HOST_ORDINARY;
    uint64_t offset;
    uint32_t id;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, other);

    if (status != GS_OK)
        return status;
    status = memory_host_find(session, ptr, 1, &kind, &id, &offset);
    if (status == GS_OK && kind == HOST_IN_BLOCK)
        status = error_set(GS_ERR_INVALID_VALUE, "the session has the block at %p already", ptr);
    if (status == GS_OK)
        status = memory_host_own(*other, ptr, block);
    if (status == GS_OK && !block->device)
        status = error_set(GS_ERR_NOT_SUPPORTED,
                           "kernels do not reach the gs_host_alloc block at %p", ptr);
    if (status != GS_OK)
        session_leave(*other);
    return status;
}

gs_status gs_host_join(gs_session handle, gs_session theirs, void *ptr)
{
    struct session *session, *other;
    struct host_block made, block;
    bool joined;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    /* If two threads join the same block, the second finds that the session has it. */
    pthread_mutex_lock(&session->memory->host_lock);
    status = block_of_other(session, theirs, ptr, &other, &made);
    if (status == GS_OK) {
        status = host_block_join(session, other, &made, &block);
        session_leave(other);
    }
    joined = status == GS_OK;
    if (joined)
        status = memory_host_add(session, &block);
    pthread_mutex_unlock(&session->memory->host_lock);
    if (joined && status != GS_OK)
        host_block_free(session, &block);
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
        if (status == GS_OK) {
            streams_pass(session);
            status = wait_all(session);
        }
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

/* A memset: `element` bytes of `value`, repeated over `bytes` from `dst` on. */
struct fill {
    gs_devptr dst;
    uint32_t value, element; /* bytes of an element: 1, 2 or 4 */
    uint64_t bytes;
};

/* Submits a memset. The caller holds the stream's lock. */
static gs_status memset_record(struct session *session, struct stream *stream,
                               const struct fill *fill)
{
    struct rec_memset *record;
    gs_status status;

    if (fill->dst % fill->element)
        return error_set(GS_ERR_INVALID_VALUE,
                         "the memory begins at 0x%llx, no multiple of the %u bytes of an element",
                         (unsigned long long)fill->dst, fill->element);
    status = memory_check(session, fill->dst, fill->bytes, "destination");
    if (status == GS_OK)
        status = stream_reserve(session, stream, sizeof(*record), (void **)&record);
    if (status != GS_OK)
        return status;
    *record = (struct rec_memset){
        .h = {.op = REC_MEMSET, .size = sizeof(*record)},
        .value = fill->value,
        .element = fill->element,
        .dst = fill->dst,
        .bytes = fill->bytes,
    };
    stream_commit(session, stream, sizeof(*record));
    return GS_OK;
}

static gs_status memset_run(gs_session handle, const struct fill *fill, gs_stream stream_handle,
                            bool wait)
{
    struct session *session;
    struct stream *stream;
    gs_status status = session_use(handle_decode(handle), HANDLE_SESSION, &session);

    if (status != GS_OK)
        return status;
    status = stream_lock(session, stream_handle, &stream);
    if (status == GS_OK) {
        if (wait)
            status = stream_not_recording(stream, "a memset that waits");
        if (status == GS_OK && fill->bytes)
            status = memset_record(session, stream, fill);
        status = stream_finish(session, stream, status, wait && fill->bytes);
    }
    session_leave(session);
    return status;
}

/* Returns the size of `count` elements in bytes; if that overflows, more than any memory has. */
static uint64_t element_bytes(size_t count, uint32_t element)
{
    return count > UINT64_MAX / element ? UINT64_MAX : (uint64_t)count * element;
}

gs_status gs_memset(gs_session session, gs_devptr dst, int value, size_t size)
{
    return memset_run(session, &(struct fill){dst, (unsigned char)value, 1, size}, NULL, true);
}

gs_status gs_memset_async(gs_session session, gs_devptr dst, int value, size_t size,
                          gs_stream stream)
{
    return memset_run(session, &(struct fill){dst, (unsigned char)value, 1, size}, stream, false);
}

gs_status gs_memset_d16(gs_session session, gs_devptr dst, uint16_t value, size_t count)
{
    return memset_run(session, &(struct fill){dst, value, 2, element_bytes(count, 2)}, NULL, true);
}

gs_status gs_memset_d16_async(gs_session session, gs_devptr dst, uint16_t value, size_t count,
                              gs_stream stream)
{
    return memset_run(session, &(struct fill){dst, value, 2, element_bytes(count, 2)}, stream,
                      false);
}

gs_status gs_memset_d32(gs_session session, gs_devptr dst, uint32_t value, size_t count)
{
    return memset_run(session, &(struct fill){dst, value, 4, element_bytes(count, 4)}, NULL, true);
}

gs_status gs_memset_d32_async(gs_session session, gs_devptr dst, uint32_t value, size_t count,
                              gs_stream stream)
{
    return memset_run(session, &(struct fill){dst, value, 4, element_bytes(count, 4)}, stream,
                      false);
}
