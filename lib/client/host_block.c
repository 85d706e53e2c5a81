/* host_block.c - see host_block.h. */
#include "client/host_block.h"

#include <errno.h>
#include <sys/shm.h>

#include "client/error.h"
#include "client/sync_request.h"

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
    address = shmat((int)request.ret[1], NULL, 0);
    if (address == (void *)-1) {
        int error = errno;
        host_block_drop(session, request.ret[0]);
        errno = error;
        return error_system("shmat of host memory");
    }
    atomic_store_explicit(&session->host_mapped[request.ret[0]], address, memory_order_relaxed);
    *block = (struct host_block){(uint32_t)request.ret[0], address, size};
    return GS_OK;
}

gs_status host_block_free(struct session *session, const struct host_block *block)
{
    atomic_store_explicit(&session->host_mapped[block->id], NULL, memory_order_relaxed);
    shmdt(block->address);
    return host_block_drop(session, block->id);
}
