/* host_block.h - host memory shared with a tenant; see host_block.c. */
#ifndef GS_WORKER_MEMORY_HOST_BLOCK_H
#define GS_WORKER_MEMORY_HOST_BLOCK_H

#include "worker/journal/journal.h"
#include "worker/session_parts.h"

/* The block with that number, or NULL. The session's lane; or a job, as worker.h says. */
struct host_block *host_block_find(const struct session *session, uint64_t number);
/* How the device uses a block: not at all; for copies; from the server's own kernels; or from the
 * tenant's, at an address that the tenant may give them (host_place.h). */
enum host_use { HOST_PLAIN, HOST_COPIED, HOST_MAPPED, HOST_REACHED };

/* What an entry of JOURNAL_HOST notes of the use of its block, in one value: HOST_PLAIN or
 * HOST_COPIED, or of HOST_REACHED the address, and in its lowest bit whether the block is joined. A
 * block of HOST_MAPPED has no such entry. */
static inline uint64_t host_note(const struct host_block *block)
{
    return block->address  ? block->address | block->joined
           : block->pinned ? HOST_COPIED
                           : HOST_PLAIN;
}

/* The use that such an entry notes. *address: where the tenant's kernels reach the block; 0: they
 * do not. */
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

/* The size of the segment for a block of that size. */
uint64_t host_segment_size(uint64_t size, enum host_use use);
/* Makes the session's table of blocks where there is none. On failure the job has failed. */
gs_status host_table_make(struct job *job);
/* From now on copies may name the block by its device address. false: no memory for that. */
bool host_block_enter(struct session *session, struct host_block *block);

/* Checks that the session may have `size` bytes more. On failure the job has failed. */
gs_status host_block_admit(struct job *job, uint64_t size);
/* Makes a zeroed block of whole pages, given to the session's user. NULL: the job has failed. *id
 * is the System V identifier. A block of HOST_REACHED that has no place is one for copies.
 * Service thread. */
struct host_block *host_block_new(struct job *job, uint64_t size, enum host_use use, int *id);
/* Makes a joined block of a segment that the session's user has and that is attached at `memory`,
 * from where it moves to its place. address: where that is to be, in a peer window; 0, or if it
 * cannot be there: anywhere. NULL: the job has failed. Service thread. */
struct host_block *host_block_join(struct job *job, int id, void *memory, uint64_t size,
                                   uint64_t address);
/* The bytes of a segment that the server has made for that user; 0: it is none. While it is
 * attached its number is its own. Any thread. */
uint64_t host_segment_bytes(int id, uint32_t uid);
/* Makes a block of the segment that a former worker has made, as long as a process maps it; of
 * HOST_REACHED, at the address that it had. NULL: the job has failed. Service thread. */
struct host_block *host_block_adopt(struct job *job, int id, uint64_t size, enum host_use use,
                                    uint64_t address);
/* Makes all blocks that the session's journal names. Those that the others would wait for too long
 * for are not registered yet, and the session is late (resume.h). On failure the job has failed,
 * and host_blocks_deinit undoes what was done. */
gs_status host_blocks_resume(struct job *job);
/* Registers the rest, while the others go on. */
gs_status host_blocks_resume_late(struct job *job);
/* Frees a block that the device has finished with. NULL is fine. Service thread. */
void host_block_free(struct session *session, struct host_block *block);
/* Frees all blocks of a session. Service thread, after the device has finished with them. */
void host_blocks_deinit(struct session *session);

#endif
