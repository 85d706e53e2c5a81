/*
 * host_place.h - places: addresses in a session's window where host memory lies, which the device
 * reaches there; see host_place.c. Service threads, in the session's job in progress.
 */
#ifndef GS_WORKER_MEMORY_HOST_PLACE_H
#define GS_WORKER_MEMORY_HOST_PLACE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>

struct job;
struct session;

/* The size of the segment for a block of that size. */
uint64_t host_place_segment_size(uint64_t size);
/* How many bytes of addresses a segment of such a size takes. */
uint64_t host_place_room(uint64_t segment_size);
/* Attaches a segment at a place of the session's. address: of the place; 0: any. NULL: there is
 * none; the job has not failed. */
void *host_place_take(struct job *job, int id, uint64_t segment_size, uint64_t address);
/* Gives the place back, where the driver does not know the memory any more. */
void host_place_give(struct session *session, void *memory, uint64_t segment_size);

/* Attaches the segment at addresses that are reserved. Any thread. */
bool host_place_attach(int id, uint64_t segment_size, uint64_t address);
/* Detaches the segment; the addresses stay reserved. The call fails only where the process can have
 * no more mappings, and then the session's own segment stays attached there. Any thread. */
static inline void host_place_detach(void *memory, uint64_t room)
{
    mmap(memory, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

#endif
