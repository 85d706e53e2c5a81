/* region.c - see region.h. */
#include "worker/memory/region.h"

#include <pthread.h>

#include "common/sanitizers.h"
#include "worker/driver/worker.h"
#include "worker/memory/space.h"

/* The regions of all devices. They lie far from where a driver places windows by itself, which is
 * at the lowest addresses, and from where the kernel places programs, libraries and stacks. The
 * thread sanitizer leaves less room. */
#if THREAD_SANITIZER
#define REGIONS_BASE UINT64_C(0x7e8000000000)
#define REGIONS_END  UINT64_C(0x7ef000000000)
#else
#define REGIONS_BASE UINT64_C(0x200000000000)
#define REGIONS_END  UINT64_C(0x500000000000)
#endif

static struct {
    pthread_mutex_t lock;
    struct space space; /* size 0: not known yet */
} region = {.lock = PTHREAD_MUTEX_INITIALIZER};

uint64_t region_size(void)
{
    const uint64_t count = worker->info.device_count;

    return count > 1 ? (REGIONS_END - REGIONS_BASE) / count : 0;
}

/* Returns the region's space, which is initialized by the first call; NULL: the device has no
 * region. The caller holds the lock. */
static struct space *space_here(void)
{
    const uint64_t size = region_size();

    if (region.space.size == 0 && size > 0)
        space_init(&region.space, REGIONS_BASE + (uint64_t)worker->device * size, size);
    return region.space.size ? &region.space : NULL;
}

uint64_t region_take(uint64_t size, uint64_t align)
{
    const struct place *place;
    struct space *space;
    uint64_t address;

    pthread_mutex_lock(&region.lock);
    space = space_here();
    place = space ? space_take(space, size, align) : NULL;
    address = place ? place->address : 0;
    pthread_mutex_unlock(&region.lock);
    return address;
}

void region_put(uint64_t address, uint64_t size)
{
    struct space *space;

    pthread_mutex_lock(&region.lock);
    space = space_here();
    if (space)
        space_put(space, address, size, NULL);
    pthread_mutex_unlock(&region.lock);
}

void region_give(uint64_t address)
{
    struct space *space;
    struct place *place;

    pthread_mutex_lock(&region.lock);
    space = space_here();
    place = space ? space_at(space, address) : NULL;
    if (place)
        space_remove(space, place);
    pthread_mutex_unlock(&region.lock);
}
