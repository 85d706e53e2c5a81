/* host_block.c - see host_block.h. */
#include "client/memory/host_block.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/shm.h>

#include "client/base/error.h"
#include "client/memory/memory.h"
#include "client/submit/sync_request.h"

#define ATTEMPTS 4u /* tries to get a block while one worker after the other is lost */

static gs_status host_block_free_request(struct session *session, uint64_t id)
{
    struct sync_request request = {.op = REQ_HOST_FREE, .arg = {id}};

    return sync_request(session, &request);
}

/* Returns whether the block is gone because its worker ended before this process had mapped it. The
 * next worker does not know the block. */
static bool block_gone(int id)
{
    struct shmid_ds about;

    return shmctl(id, IPC_STAT, &about) < 0 && (errno == EINVAL || errno == EIDRM);
}

/* Checks the block's number in the server's answer. */
static gs_status block_number(const struct sync_request *answered)
{
    return answered->ret[0] < SEG_HOSTS
               ? GS_OK
               : error_set(GS_ERR_PROTOCOL, "the server names host block %llu of %u",
                           (unsigned long long)answered->ret[0], SEG_HOSTS);
}

/* Asks for a block and maps it. Sets *again if the block is gone and the caller may ask for
 * another. */
static gs_status block_ask(struct session *session, uint64_t size, enum host_block_use use,
                           struct host_block *block, bool *again)
{
    struct sync_request request = {.op = REQ_HOST_ALLOC, .arg = {size, use}};
    gs_status status = sync_request(session, &request);
    void *address;

    if (status == GS_OK)
        status = block_number(&request);
    if (status != GS_OK)
        return status;
    status = session_map(session, (unsigned)request.ret[0], (int)request.ret[1], request.ret[2], 0,
                         "shmat of host memory", &address);
    if (status != GS_OK) {
        char message[ERROR_MESSAGE_MAX];
        error_keep(message);
        *again = block_gone((int)request.ret[1]);
        if (!*again)
            host_block_free_request(session, request.ret[0]);
        return error_server(status, message);
    }
    *block = (struct host_block){(uint32_t)request.ret[0], address, size, request.ret[2],
                                 (int)request.ret[1]};
    return GS_OK;
}

gs_status host_block_new(struct session *session, uint64_t size, enum host_block_use use,
                         struct host_block *block)
{
    gs_status status = GS_OK;
    bool again = true;

    pthread_mutex_lock(&session->memory->host_lock);
    for (unsigned i = 0; i < ATTEMPTS && again; i++) {
        again = false;
        status = block_ask(session, size, use, block, &again);
    }
    pthread_mutex_unlock(&session->memory->host_lock);
    return status;
}

gs_status host_block_join(struct session *session, const struct session *other,
                          const struct host_block *theirs, struct host_block *block)
{
    struct sync_request request = {
        .op = REQ_HOST_JOIN,
        .arg = {(uint64_t)theirs->segment, theirs->device, other->info.session_id}};
    gs_status status = sync_request(session, &request);

    if (status == GS_OK)
        status = block_number(&request);
    if (status == GS_OK)
        *block = (struct host_block){(uint32_t)request.ret[0], theirs->address, theirs->size,
                                     request.ret[2], HOST_BLOCK_JOINED};
    return status;
}

gs_status host_block_free(struct session *session, const struct host_block *block)
{
    gs_status status;

    /* The block stays mapped until the server has freed it, so that a worker that takes the session
     * up meanwhile still finds the segment. */
    pthread_mutex_lock(&session->memory->host_lock);
    status = host_block_free_request(session, block->id);
    if (block->segment != HOST_BLOCK_JOINED)
        session_unmap(session, block->id, block->address);
    pthread_mutex_unlock(&session->memory->host_lock);
    return status;
}
