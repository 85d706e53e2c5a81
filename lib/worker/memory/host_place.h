/*
 * host_place.h - host places: ranges of addresses in a session's window at which host memory is
 * attached, so that the device reaches it there; see host_place.c. Service threads, in the
 * session's job in progress.
 */
#ifndef GS_WORKER_MEMORY_HOST_PLACE_H
#define GS_WORKER_MEMORY_HOST_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

struct job;
struct session;

/* Returns the size of the System V segment for a block of that size. */
uint64_t host_place_segment_size(uint64_t size);
/* Returns how many bytes of addresses a segment of that size takes. */
uint64_t host_place_room(uint64_t segment_size);
/* Attaches a segment at a place in the session's window. address: where the place is to begin; 0:
 * anywhere. NULL: there is no place, and the job has not failed. */
void *host_place_take(struct job *job, int id, uint64_t segment_size, uint64_t address);
/* Frees the place. The driver must not have the memory registered any more. */
void host_place_give(struct session *session, void *memory, uint64_t segment_size);

/* Attaches the segment at reserved addresses. Any thread. */
bool host_place_attach(int id, uint64_t segment_size, uint64_t address);
/* Detaches the segment; the addresses stay reserved. The call fails only where the process can have
 * no more mappings, and then this segment stays attached. Any thread. */
static inline void host_place_detach(void *memory, uint64_t room)
{
    mmap(memory, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

#endif
