/*
 * host_place.c - see host_place.h.
 *
 * Where host and device share an address space, the device reaches registered host memory at the
 * worker's own address. A place is part of the session's window, as a chunk's place is, so that
 * fenced kernels reach it, too. The addresses stay reserved throughout: the segment is attached
 * over the reservation (SHM_REMAP), and in the end an empty mapping over the segment, each in one
 * step of the kernel's. So there is no moment at which another thread's mapping could get these
 * addresses, and none of them is lost (fact 37; addresses freed by cuMemAddressFree are not always
 * granted again).
 *
 * A place begins and ends at the driver's granularity, since otherwise no sink could be mapped
 * beside it. A smaller segment is attached repeatedly until its place is full, so a stray access
 * there meets the session's own block.
 */
#include "worker/memory/host_place.h"

#include <sys/shm.h>

#include "worker/memory/chunk.h"
#include "worker/memory/device_memory.h"

/* The smallest segment is attached this many times, at 5 us each. */
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
