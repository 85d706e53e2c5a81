/* managed_advice.c - see managed_advice.h. */
#include "cudart/state/managed_advice.h"

#include "cudart/state/managed_region.h"

static cudaError_t advice_take(struct managed_advice *advice, enum cudaMemoryAdvise what,
                               int location)
{
    size_t index = 0;

    switch (what) {
    case cudaMemAdviseSetReadMostly:
    case cudaMemAdviseUnsetReadMostly:
        advice->read_mostly = what == cudaMemAdviseSetReadMostly;
        return cudaSuccess;
    case cudaMemAdviseSetPreferredLocation:
        advice->preferred = location;
        return cudaSuccess;
    case cudaMemAdviseUnsetPreferredLocation:
        advice->preferred = cudaInvalidDeviceId;
        return cudaSuccess;
    case cudaMemAdviseSetAccessedBy:
    case cudaMemAdviseUnsetAccessedBy:
        while (index < advice->accessed_count && advice->accessed[index] != location)
            index++;
        if (index < advice->accessed_count && what == cudaMemAdviseUnsetAccessedBy)
            advice->accessed[index] = advice->accessed[--advice->accessed_count];
        else if (index == advice->accessed_count && what == cudaMemAdviseSetAccessedBy)
            advice->accessed[advice->accessed_count++] = location;
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

cudaError_t managed_advise(const void *ptr, enum cudaMemoryAdvise advice, int location)
{
    struct region *region;
    cudaError_t error = cudaErrorInvalidValue;

    managed_lock();
    region = region_find(ptr);
    if (region != NULL)
        error = advice_take(&region->advice, advice, location);
    managed_unlock();
    return error;
}

cudaError_t managed_advice_of(const void *ptr, struct managed_advice *advice)
{
    const struct region *region;

    managed_lock();
    region = region_find(ptr);
    if (region != NULL)
        *advice = region->advice;
    managed_unlock();
    return region != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t managed_prefetched(const void *ptr, int location)
{
    struct region *region;

    managed_lock();
    region = region_find(ptr);
    if (region != NULL)
        region->advice.prefetched = location;
    managed_unlock();
    return region != NULL ? cudaSuccess : cudaErrorInvalidValue;
}
