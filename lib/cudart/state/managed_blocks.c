/* managed_blocks.c - see managed_blocks.h. Owns each device's stream for these copies, and the
 * handling of faults. The pager holds the lock while it resolves a fault. */
#include "cudart/state/managed_blocks.h"

#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "cudart/state/pager.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/stream.h"

/* For each device: what its copies need. The stream is NULL before they are made. */
static struct copier {
    gs_stream stream;
    void *bounce; /* a block of pinned memory: copies to other memory would wait, and print */
} copiers[DEVICES_MAX];

/* Returns how many bytes of a run of blocks are copied. */
static size_t copy_size(const struct region *region, const char *from, size_t size)
{
    size_t left = region->used - (size_t)(from - region->base);

    return left < size ? left : size;
}

/* Waits until the stream is idle, or, if it is NULL, the call's device. gs_stream_sync would also
 * print the output of kernels, and the thread that waits for the pager may hold the lock for that.
 * Like libgshare's own waits it spins, yields, then sleeps for growing times. */
static gs_status wait_idle(gs_stream only)
{
    struct timespec pause = {0, 10000};
    gs_status status;

    for (unsigned turn = 0;; turn++) {
        status = only != NULL ? gs_stream_query(device_session(), only) : streams_query();
        if (status != GS_NOT_READY)
            return status;
        if (turn < 1000)
            continue;
        if (turn < 2000) {
            sched_yield();
            continue;
        }
        nanosleep(&pause, NULL);
        if (pause.tv_nsec < 500000)
            pause.tv_nsec *= 2;
    }
}

bool region_is_reached(const struct region *region, unsigned number)
{
    if (region_is_variable(region))
        return number == region->device || region->copies[number] != 0;
    return peer_access_to_managed(number, region->device);
}

/* Returns the holder's address for the host's address `at`. */
static gs_devptr at_holder(const struct region *region, const char *address)
{
    const gs_devptr base = region->holder == region->device ? (gs_devptr)(uintptr_t)region->base
                                                            : region->copies[region->holder];

    return base + (gs_devptr)(address - region->base);
}

/* Waits for the work of all devices that reach the region; a device whose session has ended has
 * none. Makes the region's holder the call's device. */
static void wait_idle_devices(const struct region *region)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (!region_is_reached(region, i))
            continue;
        device_enter(i);
        wait_idle(NULL);
    }
    device_enter(region->holder);
}

void block_to_host(struct region *region, size_t block)
{
    const struct copier *copier = &copiers[region->holder];
    const unsigned before = device_number();
    char *base = region->base + block * MANAGED_BLOCK;
    size_t size = region_block_size(region, block);
    gs_status status;

    wait_idle_devices(region);
    status = gs_memcpy_dtoh_async(device_session(), copier->bounce, at_holder(region, base),
                                  copy_size(region, base, size), copier->stream);
    if (status == GS_OK)
        status = wait_idle(copier->stream);
    if (status == GS_OK)
        memcpy(region->view + block * MANAGED_BLOCK, copier->bounce, copy_size(region, base, size));
    device_enter(before);
    region_give(region, block, 1, true);
    mprotect(base, size, PROT_READ | PROT_WRITE);
}

/* Copies a run of blocks to the region's holder, the call's device, and gives them to it. If the
 * copy is refused, the host keeps the blocks, because only it has the written content. */
static gs_status run_to_device(struct region *region, size_t first, size_t count)
{
    size_t at = first * MANAGED_BLOCK;
    size_t size = (count - 1) * MANAGED_BLOCK + region_block_size(region, first + count - 1);
    gs_status status;

    /* From here on a thread that writes there faults, and waits for the lock. */
    mprotect(region->base + at, size, PROT_NONE);
    status = gs_memcpy_htod_async(device_session(), at_holder(region, region->base + at),
                                  region->view + at, copy_size(region, region->base + at, size),
                                  copiers[region->holder].stream);
    if (status == GS_OK)
        region_give(region, first, count, false);
    else
        mprotect(region->base + at, size, PROT_READ | PROT_WRITE);
    return status;
}

gs_status region_to_device(struct region *region)
{
    gs_status status = GS_OK;

    for (size_t i = 0, count; i < region->blocks && status == GS_OK; i += count) {
        for (count = 0; i + count < region->blocks && region->host[i + count]; count++)
            continue;
        if (count != 0)
            status = run_to_device(region, i, count);
        else
            count = 1;
    }
    return status;
}

void region_holder_change(struct region *region, unsigned number)
{
    for (size_t i = 0; i < region->blocks && region->holder != number; i++) {
        if (!region->host[i])
            block_to_host(region, i);
    }
    region->holder = number;
}

/* Resolves a fault at the address. On the pager. */
static bool fault_resolve(const void *address)
{
    struct region *region;
    size_t block;

    managed_lock();
    region = region_find(address);
    if (region != NULL && atomic_load(&devices[region->device].session) == NULL)
        region = NULL;
    if (region != NULL) {
        block = (size_t)((const char *)address - region->base) / MANAGED_BLOCK;
        if (!region->host[block])
            block_to_host(region, block);
    }
    managed_unlock();
    return region != NULL;
}

cudaError_t blocks_start(void)
{
    struct copier *here = &copiers[device_number()];
    gs_status status = GS_OK;

    if (!pager_start(fault_resolve, NULL))
        return cudaErrorOperatingSystem;
    if (here->stream == NULL)
        status = gs_stream_create(device_session(), NULL, &here->stream);
    if (status != GS_OK || here->bounce != NULL)
        return device_error(status);
    return device_host_error(gs_host_alloc(device_session(), MANAGED_BLOCK, &here->bounce));
}

gs_status blocks_wait(unsigned number)
{
    if (copiers[number].stream == NULL)
        return GS_OK;
    device_enter(number);
    return wait_idle(copiers[number].stream);
}

void blocks_forget(unsigned number)
{
    copiers[number] = (struct copier){NULL, NULL};
}
