/* host_block.h - host memory shared with a tenant; see host_block.c. */
#ifndef GS_WORKER_MEMORY_HOST_BLOCK_H
#define GS_WORKER_MEMORY_HOST_BLOCK_H

#include "worker/journal/journal.h"
#include "worker/session_parts.h"

/* Returns the block with that number, or NULL. Called by the session's lane, or by a job, as
 * worker.h says. */
struct host_block *host_block_find(const struct session *session, uint64_t number);
/* How the device uses a block: not at all; for copies; from the server's own kernels; or from the
 * tenant's kernels as well, at an address that the tenant passes to them (host_place.h). */
enum host_use { HOST_PLAIN, HOST_COPIED, HOST_MAPPED, HOST_REACHED };

/* Returns the use of a block as the value in its JOURNAL_HOST entry: HOST_PLAIN, HOST_COPIED or,
 * for HOST_REACHED, the block's address, with the lowest bit set where the block is joined. A block
 * of HOST_MAPPED has no such entry. */
static inline uint64_t host_note(const struct host_block *block)
{
    return block->address  ? block->address | block->joined
           : block->pinned ? HOST_COPIED
                           : HOST_PLAIN;
}

/* Returns the use that a JOURNAL_HOST entry notes. *address: where the tenant's kernels reach the
 * block; 0: they do not reach it. */
static inline enum host_use host_noted(const struct journal_entry *entry, uint64_t *address)
{
    const uint64_t note = entry->value[2];

    *address = note > HOST_COPIED ? note & ~UINT64_C(1) : 0;
    return *address ? HOST_REACHED : (enum host_use)note;
}

static inline bool host_noted_joined(const struct journal_entry *entry)
{
    return entry->value[2] > HOST_COPIED && entry->value[2] & 1;
}

/* Returns the size of the System V segment for a block of that size. */
uint64_t host_segment_size(uint64_t size, enum host_use use);
/* Makes the session's table of blocks, unless it has one. On failure the job has failed. */
gs_status host_table_make(struct job *job);
/* Enters the block into the session's table of allocations, so that copies may name it by its
 * device address; does nothing for a block without such an address. false: no memory. */
bool host_block_enter(struct session *session, struct host_block *block);

/* Checks that `size` bytes more are within the session's limit. On failure the job has failed. */
gs_status host_block_admit(struct job *job, uint64_t size);
/* Makes a zeroed block of whole pages, owned by the session's user. *id is set to the System V
 * identifier. Where a block of HOST_REACHED finds no place in the window, it becomes one of
 * HOST_COPIED. NULL: the job has failed. Service thread. */
struct host_block *host_block_new(struct job *job, uint64_t size, enum host_use use, int *id);
/* Makes a joined block of a segment that belongs to the session's user and is attached at `memory`,
 * and moves it from there to its place. address: where the place is to be, in a peer window; 0, or
 * if that place cannot be taken: anywhere. NULL: the job has failed. Service thread. */
struct host_block *host_block_join(struct job *job, int id, void *memory, uint64_t size,
                                   uint64_t address);
/* Returns the size of a segment that the server has made for that user; 0: the id names no such
 * segment. The id of an attached segment is not used again. Any thread. */
uint64_t host_segment_bytes(int id, uint32_t uid);
/* Makes a block of a former worker's segment, which lives as long as a process has it attached; a
 * block of HOST_REACHED is made at its former address. NULL: the job has failed. Service thread. */
struct host_block *host_block_adopt(struct job *job, int id, uint64_t size, enum host_use use,
                                    uint64_t address);
/* Makes all blocks that the session's journal names. Blocks whose registering would keep the other
 * sessions waiting for too long are not registered yet, and the session is then late (resume.h). On
 * failure the job has failed, and host_blocks_deinit undoes what was done. */
gs_status host_blocks_resume(struct job *job);
/* Registers these blocks of a late session, while the other sessions go on. On failure the job has
 * failed. */
gs_status host_blocks_resume_late(struct job *job);
/* Frees a block, with which the device has finished. NULL is fine. Service thread. */
void host_block_free(struct session *session, struct host_block *block);
/* Frees all blocks of a session. Service thread, after the device has finished with them. */
void host_blocks_deinit(struct session *session);

#endif
