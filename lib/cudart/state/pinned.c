/* pinned.c - see pinned.h. */
#include "cudart/state/pinned.h"

#include <pthread.h>

#include "cudart/base/error.h"
#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/memory_map.h"

/* Held while a device joins, and while a range comes or goes, so that a removed range is never
 * joined. The holder waits as long as the server makes a join wait, which is behind the kernels of
 * the joining device, 10 s at most. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool has_kernels[DEVICES_MAX]; /* likewise */
static bool missed[DEVICES_MAX]; /* by device number: the device has failed to join something */

/* NULL: not attached. */
static gs_session session_of(unsigned number)
{
    /* acquire: makes desc visible */
    return atomic_load_explicit(&devices[number].session, memory_order_acquire);
}

static void report_unreached(unsigned number, const struct memory_range *range, const char *why)
{
    report_once("kernels of device %u do not reach all pinned memory of device %u: %s", number,
                range->device, why);
}

/* Joins the range and records that. A failure is retried at the next opportunity. The lock is held.
 */
static gs_status join(unsigned number, const struct memory_range *range)
{
    void *base = (void *)range->base; // NOLINT: as it was allocated
    const gs_status status = gs_host_join(session_of(number), session_of(range->device), base);
    gs_devptr there = 0;

    if (status != GS_OK) {
        report_unreached(number, range, gs_status_name(status));
        report_debug("%zu bytes: %s", range->size, gs_last_error_message());
        memory_map_unjoin(range, number);
        missed[number] = true;
    } else if (!devices[number].desc.fenced &&
               (gs_host_device_ptr(session_of(number), base, &there) != GS_OK ||
                there != range->base)) {
        report_unreached(number, range, "the server has no room at the host's address");
    }
    return status;
}

/* Makes the device join everything that it has not joined; after a join that has timed out, the
 * rest waits for the next opportunity, too. The lock is held. */
static void join_all(unsigned number)
{
    struct memory_range range = {0};

    missed[number] = false;
    while (memory_map_join_next(number, range.base, &range) &&
           join(number, &range) != GS_ERR_TIMEOUT)
        ;
}

bool pinned_add(void *base, size_t size, unsigned flags)
{
    struct memory_range range;
    bool added;

    pthread_mutex_lock(&lock);
    added = memory_map_add(base, size, MEMORY_PINNED, flags);
    for (unsigned i = 0; added && i < DEVICES_MAX; i++) {
        if (i != device_number() && has_kernels[i] && memory_map_join(base, i, &range) &&
            join(i, &range) == GS_OK && missed[i])
            join_all(i);
    }
    pthread_mutex_unlock(&lock);
    return added;
}

void pinned_begin(void)
{
    const unsigned number = device_number();

    if (device_here()->desc.fenced)
        return;
    pthread_mutex_lock(&lock);
    if (!has_kernels[number] || missed[number])
        join_all(number);
    has_kernels[number] = true;
    pthread_mutex_unlock(&lock);
}

/* Makes all devices leave the range that they have joined. */
static void leave(const struct memory_range *range)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (range->joined >> i & 1 && session_of(i) != NULL)
            gs_host_free(session_of(i), (void *)range->base); // NOLINT: as it was allocated
    }
}

cudaError_t pinned_free(void *base, unsigned device)
{
    struct memory_range range = {0};

    pthread_mutex_lock(&lock);
    memory_map_find(base, &range);
    memory_map_remove(base);
    pthread_mutex_unlock(&lock);
    leave(&range);
    device_enter(device);
    return device_error(gs_host_free(device_session(), base));
}

bool pinned_reach(const void *ptr, gs_devptr *there)
{
    struct memory_range range;

    if (gs_host_device_ptr(device_session(), ptr, there) == GS_OK)
        return true;
    pthread_mutex_lock(&lock);
    if (memory_map_join(ptr, device_number(), &range))
        join(device_number(), &range);
    pthread_mutex_unlock(&lock);
    return gs_host_device_ptr(device_session(), ptr, there) == GS_OK;
}

bool pinned_reached(unsigned number, const void *ptr)
{
    struct memory_range range;
    gs_devptr there;

    return memory_map_find(ptr, &range) && range.kind == MEMORY_PINNED &&
           gs_host_device_ptr(session_of(number), ptr, &there) == GS_OK && there == (uintptr_t)ptr;
}

void pinned_forget(void)
{
    struct memory_range range;
    const unsigned gone = device_number();
    bool more = true;

    while (more) {
        pthread_mutex_lock(&lock);
        has_kernels[gone] = false;
        more = memory_map_take_pinned(gone, &range);
        pthread_mutex_unlock(&lock);
        if (more)
            leave(&range);
    }
}
