/* managed_variable.c - see managed_variable.h. Owns the parts of a region that only variables have:
 * the copies, and which device keeps the value. */
#include "cudart/state/managed_variable.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/state/device.h"
#include "cudart/state/managed_blocks.h"

static bool has_copies; /* some variable has a copy, to which blocks may have to move */

cudaError_t managed_add_variable(void *base, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct region *region = (uintptr_t)base % page == 0 && device_has(device_here(), base)
                                ? region_new(size, page)
                                : NULL;
    cudaError_t error;

    if (region == NULL)
        return cudaErrorNotSupported;
    region->base = base;
    region->used = size;
    managed_lock();
    error = blocks_start();
    if (error == cudaSuccess && !region_map(region))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        /* The device has the initial value. */
        mprotect(region->base, region->size, PROT_NONE);
        region_add(region);
    }
    managed_unlock();
    if (error != cudaSuccess)
        free(region);
    return error;
}

cudaError_t managed_copy_variable(const void *base, gs_devptr copy)
{
    struct region *region;
    cudaError_t error;

    managed_lock();
    region = region_find(base);
    error = region != NULL && region_is_variable(region) ? blocks_start() : cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        region->copies[device_number()] = copy;
        has_copies = true;
    }
    managed_unlock();
    return error;
}

void managed_remove_variable(void *base)
{
    struct managed_memory none;

    region_end(base, true, &none);
}

bool managed_variables_have_copies(void)
{
    return has_copies;
}

/* Returns the device that keeps a variable which device `gone` loses; `gone` if there is none. */
static unsigned device_left(const struct region *region, unsigned gone)
{
    unsigned number = 0;

    if (region->device != gone)
        return region->device;
    while (number < DEVICES_MAX && (number == gone || region->copies[number] == 0))
        number++;
    return number < DEVICES_MAX ? number : gone;
}

void managed_variables_give(void)
{
    const unsigned gone = device_number();

    managed_lock();
    for (struct region *r = NULL; (r = region_next(r)) != NULL;) {
        if (!region_is_variable(r) || (r->device != gone && r->holder != gone) ||
            device_left(r, gone) == gone)
            continue;
        region_holder_change(r, device_left(r, gone));
        device_enter(r->holder);
        if (region_to_device(r) == GS_OK)
            blocks_wait(r->holder);
        device_enter(gone);
    }
    managed_unlock();
}
