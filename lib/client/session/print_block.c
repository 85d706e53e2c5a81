/* print_block.c - see print_block.h. */
#include "client/session/print_block.h"

#include <stdlib.h>
#include <sys/shm.h>

#include "client/base/error.h"
#include "common/print_ring.h"

/* Maps the block. The caller holds the printing's lock. */
static gs_status block_map(struct session *session, int id)
{
    struct printing *printing = &session->printing;
    struct shmid_ds about;
    void *block;
    gs_status status;

    if (!printing->reader.record)
        printing->reader.record = malloc(PRINT_RECORD_MAX);
    if (!printing->reader.record)
        return error_set(GS_ERR_NO_MEMORY, "no memory for what kernels print");
    if (shmctl(id, IPC_STAT, &about))
        return error_system("shmctl(IPC_STAT) of the block that kernels print to");
    if (about.shm_segsz < PRINT_BLOCK_BYTES)
        return error_set(GS_ERR_PROTOCOL, "the block that kernels print to has %zu bytes, not %u",
                         about.shm_segsz, PRINT_BLOCK_BYTES);
    status = session_map(session, MAPPED_PRINT, id, 0, 0,
                         "shmat of the block that kernels print to", &block);
    if (status != GS_OK)
        return status;
    printing->reader.block = block;
    /* release: pairs with print_deliver; the block is mapped before it. */
    atomic_store_explicit(&printing->block, block, memory_order_release);
    return GS_OK;
}

gs_status print_adopt(struct session *session, uint64_t id, uint64_t bytes)
{
    struct printing *printing = &session->printing;
    gs_status status = GS_OK;

    if (bytes != PRINT_BLOCK_BYTES || id > INT32_MAX)
        return error_set(GS_ERR_PROTOCOL,
                         "the server's block for what kernels print has %llu bytes, not %u",
                         (unsigned long long)bytes, PRINT_BLOCK_BYTES);
    pthread_mutex_lock(&printing->lock);
    if (!printing->reader.block)
        status = block_map(session, (int)id);
    pthread_mutex_unlock(&printing->lock);
    return status;
}
