/* host_block.c - see host_block.h. */
#include "client/memory/host_block.h"

#include "client/base/error.h"
#include "client/submit/sync_request.h"

static gs_status host_block_drop(struct session *session, uint64_t id)
{
    struct sync_request request = {.op = REQ_HOST_FREE, .arg = {id}};

    return sync_request(session, &request);
}

gs_status host_block_new(struct session *session, uint64_t size, enum host_block_use use,
                         struct host_block *block)
{
    struct sync_request request = {.op = REQ_HOST_ALLOC, .arg = {size, use}};
    gs_status status = sync_request(session, &request);
    void *address;

    if (status != GS_OK)
        return status;
    if (request.ret[0] >= SEG_HOSTS)
        return error_set(GS_ERR_PROTOCOL, "the server names host block %llu of %u",
                         (unsigned long long)request.ret[0], SEG_HOSTS);
    status = session_map(session, (unsigned)request.ret[0], (int)request.ret[1], 0,
                         "shmat of host memory", &address);
    if (status != GS_OK) {
        char message[ERROR_MESSAGE_MAX];
        error_keep(message);
        host_block_drop(session, request.ret[0]);
        return error_server(status, message);
    }
    *block = (struct host_block){(uint32_t)request.ret[0], address, size};
    return GS_OK;
}

gs_status host_block_free(struct session *session, const struct host_block *block)
{
    /* Mapped until the server has freed it: a worker that takes the session up meanwhile finds it.
     * The server may then give another thread a block of the same number. */
    gs_status status = host_block_drop(session, block->id);

    session_unmap(session, block->id, block->address);
    return status;
}
