/*
 * host_place.c - see host_place.h.
 *
 * With one address space for host and device, the device reaches registered host memory at the
 * address that it has in the worker. Which addresses are free for that, in the tenant's process and
 * in a next worker too, the driver knows best: it places reservations of device addresses where no
 * process has its own memory, which is what windows rest on as well. So a reservation is made and
 * given up, and the segment takes its place. Another thread's reservation may come between the two;
 * then there is another place.
 */
#include "worker/memory/host_place.h"

#include <sys/shm.h>

#include "worker/session_parts.h"

#define ATTEMPTS 8u
/* A driver takes and gives up the process's addresses for its reservations in pieces: 32 MiB on an
 * H200 (bench/results/h200-driver-facts-host.txt). A segment can be attached where a whole piece
 * has been given up. */
#define PIECE    (UINT64_C(64) << 20) /* the size of a piece in that measurement */

/* Finds free addresses for so many bytes. false: the driver has none. */
static bool place_find(uint64_t size, CUdeviceptr *address)
{
    const uint64_t reserved = (size + PIECE - 1) / PIECE * PIECE;

    if (DRV(cuMemAddressReserve, address, reserved, PIECE, 0, 0))
        return false;
    DRV_MUST(cuMemAddressFree, *address, reserved);
    return true;
}

bool host_place_move(struct session *session, int id, uint64_t size, void **memory)
{
    CUdeviceptr address;

    /* Kernels that are fenced reach nothing outside the window. */
    if (session->fenced)
        return false;
    for (unsigned i = 0; i < ATTEMPTS && place_find(size, &address); i++) {
        void *there = shmat(id, (void *)(uintptr_t)address, 0); // NOLINT: the driver's address

        if (there == (void *)-1)
            continue;
        shmdt(*memory);
        *memory = there;
        return true;
    }
    return false;
}
