/* managed.c - see managed.h. Owns the allocations, the access of other devices to them, and the
 * steps before and after work. */
#include "cudart/state/managed.h"

#include <stdlib.h>
#include <unistd.h>

#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/heaps.h"
#include "cudart/state/managed_blocks.h"
#include "cudart/state/managed_variable.h"
#include "cudart/state/peer_access.h"

#define PATIENCE_MAX 63u

/* For each device: it has managed memory that other devices may reach. */
static _Atomic bool has_managed[DEVICES_MAX];
/* What one device was told when it asked for access to another one's managed memory. */
static struct {
    _Atomic bool asked;        /* the answer stays */
    _Atomic unsigned wait;     /* it may change: how much work goes before the next attempt */
    _Atomic unsigned patience; /* how much to wait for after the next refusal */
} answers[DEVICES_MAX][DEVICES_MAX];

static cudaError_t region_make(void **out, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct region *region = region_new(size, page);
    cudaError_t error;

    if (region == NULL)
        return cudaErrorMemoryAllocation;
    error = device_error(managed_memory_alloc(region->size, page, &region->memory));
    if (error != cudaSuccess) {
        free(region);
        return error;
    }
    region->base = (char *)(uintptr_t)region->memory.base; // NOLINT: an address of the device
    managed_lock();
    error = blocks_start();
    if (error == cudaSuccess && !region_map(region))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        /* Both sides are zero, and the program is about to fill it. */
        region_give(region, 0, region->blocks, true);
        region_add(region);
        atomic_store(&has_managed[region->device], true);
    }
    managed_unlock();
    if (error == cudaSuccess) {
        *out = region->base;
        return cudaSuccess;
    }
    managed_memory_free(&region->memory);
    free(region);
    return error;
}

cudaError_t managed_alloc(void **out, size_t size)
{
    cudaError_t error = region_make(out, size);

    /* Without the lock, because heaps_give_all waits for the session's work. */
    return error == cudaErrorMemoryAllocation && heaps_give_all() ? region_make(out, size) : error;
}

cudaError_t managed_free(void *ptr)
{
    struct managed_memory memory;
    gs_status status = gs_sync(device_session());

    peer_accessors_sync();
    if (!region_end(ptr, false, &memory))
        return cudaErrorInvalidValue;
    if (status != GS_OK)
        return device_error(status);
    return device_error(managed_memory_free(&memory));
}

bool managed_has_slow(const void *ptr)
{
    bool found;

    managed_lock();
    found = region_find(ptr) != NULL;
    managed_unlock();
    return found;
}

/* Whether the device is to ask for the owner's managed memory before this work. An attempt takes
 * several requests, so that one that is refused each time is made ever more seldom. */
static bool asks_now(unsigned number, unsigned owner)
{
    const unsigned wait = atomic_load(&answers[number][owner].wait);

    if (atomic_load(&answers[number][owner].asked))
        return false;
    if (wait > 0)
        atomic_store(&answers[number][owner].wait, wait - 1);
    return wait == 0;
}

static void answers_forget(unsigned number, unsigned owner)
{
    atomic_store(&answers[number][owner].asked, false);
    atomic_store(&answers[number][owner].wait, 0);
    atomic_store(&answers[number][owner].patience, 0);
}

static void refusal_note(unsigned number, unsigned owner)
{
    const unsigned patience = atomic_load(&answers[number][owner].patience);

    atomic_store(&answers[number][owner].wait, patience);
    atomic_store(&answers[number][owner].patience,
                 patience < PATIENCE_MAX ? 2 * patience + 1 : patience);
}

/* Gives the call's device access to the managed memory of the process's other devices. What a limit
 * or memory refuses now is asked for again before later work. */
static void others_reach(void)
{
    const unsigned number = device_number();
    cudaError_t error;

    for (unsigned owner = 0; owner < DEVICES_MAX; owner++) {
        if (owner == number || !atomic_load(&has_managed[owner]) || !asks_now(number, owner))
            continue;
        error = peer_access_managed(owner);
        device_enter(number);
        if (error != cudaSuccess)
            report_once("kernels of device %u do not reach managed memory of device %u%s", number,
                        owner, error == cudaErrorPeerAccessUnsupported ? "" : " for now");
        if (error == cudaSuccess || error == cudaErrorPeerAccessUnsupported)
            atomic_store(&answers[number][owner].asked, true);
        else
            refusal_note(number, owner);
    }
}

/* Returns the status of copies to the call's device before work of device `number`. If the session
 * of another device has ended, its own calls report that, and its memory no longer exists. */
static gs_status copies_status(unsigned number, gs_status status)
{
    gs_status now;

    if (status == GS_OK || device_number() == number)
        return status;
    now = gs_stream_query(device_session(), NULL);
    return now == GS_OK || now == GS_NOT_READY ? status : GS_OK;
}

/* Gives all blocks of the regions that the device reaches to their holders. The lock is held. */
static gs_status reached_to_device(unsigned number)
{
    gs_status status = GS_OK;

    for (struct region *r = NULL; status == GS_OK && (r = region_next(r)) != NULL;) {
        if (!region_is_reached(r, number))
            continue;
        if (region_is_variable(r))
            region_holder_change(r, number);
        device_enter(r->holder);
        status = copies_status(number, region_to_device(r));
    }
    /* Work of other streams and devices may follow at once. */
    for (unsigned i = 0; i < DEVICES_MAX && status == GS_OK; i++) {
        const gs_status copied = blocks_wait(i);

        status = copies_status(number, copied);
    }
    device_enter(number);
    return status;
}

gs_status managed_work_begin_slow(void)
{
    gs_status status = GS_OK;

    if (device_count() > 1)
        others_reach();
    managed_lock();
    if (regions_have_host_blocks() || managed_variables_have_copies())
        status = reached_to_device(device_number());
    if (status != GS_OK)
        managed_unlock();
    return status;
}

void managed_work_end_slow(void)
{
    managed_unlock();
}

cudaError_t managed_to_host(const void *ptr, size_t size)
{
    struct region *region;
    size_t first, last;

    managed_lock();
    region = region_find(ptr);
    if (region != NULL && size != 0) {
        first = (size_t)((const char *)ptr - region->base);
        last = size <= region->size - first ? first + size - 1 : region->size - 1;
        for (size_t block = first / MANAGED_BLOCK; block <= last / MANAGED_BLOCK; block++) {
            if (!region->host[block])
                block_to_host(region, block);
        }
    }
    managed_unlock();
    return region != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

void managed_forget(void)
{
    const unsigned gone = device_number();

    managed_lock();
    atomic_store(&has_managed[gone], false);
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        answers_forget(gone, i);
        answers_forget(i, gone);
    }
    for (struct region *r = region_next(NULL), *next; r != NULL; r = next) {
        next = region_next(r);
        if (r->device == gone) {
            region_remove(r);
            continue;
        }
        r->copies[gone] = 0;
        if (r->holder == gone)
            r->holder = r->device;
    }
    blocks_forget(gone);
    managed_unlock();
    managed_memory_forget();
}
