/*
 * host_place.c - see host_place.h.
 *
 * With one address space for host and device, the device reaches registered host memory at the
 * address that it has in the worker. A place is part of the session's window, as a chunk's is, so
 * that kernels that are fenced reach it too. The window stays reserved there: the segment is
 * attached over the reservation (SHM_REMAP), and an empty mapping over the segment in the end, each
 * in one step of the kernel's. So no moment comes at which another thread's mapping could get the
 * addresses, and none is lost (fact 37; what is given up by cuMemAddressFree is not always granted
 * again).
 *
 * A place begins and ends at the driver's granularity, or sinks could not be mapped beside it. A
 * smaller segment is attached again and again until its place is full, so a kernel that strays
 * there meets the session's own block.
 */
#include "worker/memory/host_place.h"

#include <sys/shm.h>

#include "worker/memory/chunk.h"
#include "worker/memory/device_memory.h"

/* The smallest segment: it is attached so many times, at 5 us each. */
#define TIMES_MAX 32u

uint64_t host_place_segment_size(uint64_t size)
{
    uint64_t part = worker->granularity / TIMES_MAX;

    if (size > worker->granularity / 2)
        return device_rounded(size);
    while (part < size)
        part *= 2;
    return part;
}

uint64_t host_place_room(uint64_t segment_size)
{
    return segment_size < worker->granularity ? worker->granularity : segment_size;
}

bool host_place_attach(int id, uint64_t segment_size, uint64_t address)
{
    const uint64_t room = host_place_room(segment_size);

    for (uint64_t at = address; at < address + room; at += segment_size) {
        // NOLINTNEXTLINE: an address of the window
        if (shmat(id, (void *)(uintptr_t)at, SHM_REMAP) != (void *)-1)
            continue;
        // NOLINTNEXTLINE: likewise
        host_place_detach((void *)(uintptr_t)address, room);
        return false;
    }
    return true;
}

void *host_place_take(struct job *job, int id, uint64_t segment_size, uint64_t address)
{
    struct chunk *chunk = chunk_place_new(job, address, host_place_room(segment_size));

    if (!chunk) {
        job->status = GS_OK;
        return NULL;
    }
    if (host_place_attach(id, segment_size, chunk->address))
        return (void *)(uintptr_t)chunk->address; // NOLINT: an address of the window
    chunk_place_free(chunk);
    return NULL;
}

void host_place_give(struct session *session, void *memory, uint64_t segment_size)
{
    host_place_detach(memory, host_place_room(segment_size));
    chunk_place_free(chunk_at(session, (uintptr_t)memory));
}
