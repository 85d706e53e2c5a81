/* peer_access.c - see peer_access.h. */
#include "cudart/state/peer_access.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cudart/state/device.h"
#include "cudart/state/heaps.h"

/* The least size of an allocation that has device memory of its own and can be exported. */
#define EXPORTED_LEAST ((size_t)1 << 20)

struct allocation {
    gs_devptr base;
    size_t size;
};

enum ability { ABILITY_UNKNOWN, ABILITY_NONE, ABILITY_THERE };

/* The allocations of a device that share access: those of cudaMalloc, of managed memory, or of one
 * pool. */
struct owned {
    unsigned device;       /* its number */
    struct allocation *at; /* sorted by address */
    size_t count, room;
    bool reached_by[DEVICES_MAX]; /* by device: it has access */
};

/* Held for any change of the lists or mappings, also while that waits for the device. */
static pthread_mutex_t changing = PTHREAD_MUTEX_INITIALIZER;
/* Held only for the moment in which a list changes, so that copies, which only read the lists,
 * never wait for a device. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
#define OF_EACH_DEVICE                                                                             \
    {                                                                                              \
        {.device = 0}, {.device = 1}, {.device = 2}, {.device = 3}, {.device = 4}, {.device = 5},  \
            {.device = 6}, {.device = 7},                                                          \
    }
static struct owned of_malloc[DEVICES_MAX] = OF_EACH_DEVICE;
static struct owned of_managed[DEVICES_MAX] = OF_EACH_DEVICE;
static struct owned of_pools[POOLS_MAX]; /* by the pool's number less 1 */
/* Whether any device has ever been given access. Each cudaFree asks this, and most programs give
 * none. */
static _Atomic bool access_given;
/* [owner][device]: whether the device can have access to the owner's memory. */
static enum ability abilities[DEVICES_MAX][DEVICES_MAX];

static gs_session session_of(unsigned number)
{
    return atomic_load_explicit(&devices[number].session, memory_order_relaxed);
}

/* ---- Lists of a device's allocations: `changing` is held, or `lock` to look ------------------ */

/* Returns the list of the pool of the call's device. A list changes its device only while it is
 * empty; readers skip empty lists, so they never read a device number that is being written. */
static struct owned *owned_of(unsigned pool)
{
    const unsigned number = device_number();
    struct owned *own = pool == HEAP_OF_MALLOC    ? &of_malloc[number]
                        : pool == HEAP_OF_MANAGED ? &of_managed[number]
                                                  : &of_pools[pool - 1];

    if (own->device != device_number())
        own->device = device_number();
    return own;
}

/* Returns the device's list after `own`, or its first list if `own` is NULL. Skips pools without
 * memory. NULL: there are no more. */
static struct owned *owned_next(unsigned device, const struct owned *own)
{
    size_t pool = 0;

    if (own == NULL)
        return &of_malloc[device];
    if (own == &of_malloc[device])
        return &of_managed[device];
    if (own != &of_managed[device])
        pool = (size_t)(own - of_pools) + 1;
    while (pool < POOLS_MAX && (of_pools[pool].count == 0 || of_pools[pool].device != device))
        pool++;
    return pool < POOLS_MAX ? &of_pools[pool] : NULL;
}

/* Returns the number of allocations that begin at or before the address. */
static size_t allocations_before(const struct owned *own, gs_devptr address)
{
    size_t low = 0, high = own->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;

        if (own->at[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the allocation that contains the address; NULL: there is none. */
static struct allocation *allocation_of(const struct owned *own, gs_devptr address)
{
    const size_t before = allocations_before(own, address);
    struct allocation *found = before ? &own->at[before - 1] : NULL;

    return found != NULL && address - found->base < found->size ? found : NULL;
}

/* Returns the device's list with the allocation that contains the address; NULL: there is none. */
static struct owned *owned_with(unsigned device, gs_devptr address)
{
    struct owned *own = NULL;

    do
        own = owned_next(device, own);
    while (own != NULL && allocation_of(own, address) == NULL);
    return own;
}

static bool allocation_add(struct owned *own, gs_devptr base, size_t size)
{
    const size_t room = own->room ? 2 * own->room : 64, index = allocations_before(own, base);

    struct allocation *more = own->at;

    pthread_mutex_lock(&lock);
    if (own->count == own->room)
        more = realloc(own->at, room * sizeof(*more));
    if (more != NULL) {
        own->room = own->count == own->room ? room : own->room;
        own->at = more;
        memmove(&more[index + 1], &more[index], (own->count - index) * sizeof(*more));
        more[index] = (struct allocation){base, size};
        own->count++;
    }
    pthread_mutex_unlock(&lock);
    return more != NULL;
}

static void allocation_remove(struct owned *own, struct allocation *gone)
{
    const size_t behind = own->count - (size_t)(gone - own->at) - 1;

    pthread_mutex_lock(&lock);
    memmove(gone, gone + 1, behind * sizeof(*gone));
    own->count--;
    pthread_mutex_unlock(&lock);
}

static void reached_set(struct owned *own, unsigned number, bool reached)
{
    pthread_mutex_lock(&lock);
    own->reached_by[number] = reached;
    pthread_mutex_unlock(&lock);
}

static bool is_reached_by(const struct owned *own, unsigned number)
{
    bool reached;

    pthread_mutex_lock(&lock);
    reached = own->reached_by[number];
    pthread_mutex_unlock(&lock);
    return reached;
}

static bool is_reached(const struct owned *own)
{
    bool any = false;

    for (unsigned i = 0; i < DEVICES_MAX; i++)
        any = any || own->reached_by[i];
    return any;
}

/* ---- Mapping: `changing` is held ------------------------------------------------------------- */

static gs_status allocation_map(unsigned number, unsigned owner, gs_devptr base)
{
    gs_mem_handle handle;
    gs_devptr there;
    gs_status status = gs_mem_export(session_of(owner), base, GS_EXPORT_TO_USER, &handle);

    if (status == GS_OK)
        status = gs_mem_import(session_of(number), &handle, &there, NULL);
    if (status != GS_OK || there == base)
        return status;
    gs_free(session_of(number), there);
    return GS_ERR_NOT_SUPPORTED;
}

/* Waits for the device first, so that the address is free when the call returns. */
static void allocation_unmap(unsigned number, gs_devptr base)
{
    gs_sync(session_of(number));
    gs_free(session_of(number), base);
}

/* Unmaps the allocation from all devices with access whose number is below `end`. */
static void unmap_below(const struct owned *own, unsigned end, gs_devptr base)
{
    for (unsigned i = 0; i < end; i++) {
        if (own->reached_by[i])
            allocation_unmap(i, base);
    }
}

/* Maps the allocation on all devices with access, or, if that fails, on none. */
static gs_status map_to_all(const struct owned *own, gs_devptr base)
{
    gs_status status = GS_OK;
    unsigned i = 0;

    for (; i < DEVICES_MAX && status == GS_OK; i++) {
        if (own->reached_by[i])
            status = allocation_map(i, own->device, base);
    }
    if (status != GS_OK)
        unmap_below(own, i - 1, base);
    return status;
}

/* Unmaps the first `count` allocations of the list from the device. */
static void unmap_first(unsigned number, const struct owned *own, size_t count)
{
    for (size_t i = 0; i < count; i++)
        allocation_unmap(number, own->at[i].base);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

gs_status peer_malloc(unsigned pool, size_t size, gs_devptr *base)
{
    struct owned *own;
    gs_status status;

    if (device_count() < 2)
        return gs_malloc(device_session(), size, base);
    pthread_mutex_lock(&changing);
    own = owned_of(pool);
    if (is_reached(own) && size < EXPORTED_LEAST)
        size = EXPORTED_LEAST;
    status = gs_malloc(device_session(), size, base);
    if (status == GS_OK) {
        status = map_to_all(own, *base);
        if (status == GS_OK && !allocation_add(own, *base, size)) {
            unmap_below(own, DEVICES_MAX, *base);
            status = GS_ERR_NO_MEMORY;
        }
        if (status != GS_OK)
            gs_free(device_session(), *base);
    }
    pthread_mutex_unlock(&changing);
    return status;
}

gs_status peer_free(gs_devptr base)
{
    struct allocation *found;
    struct owned *own;

    pthread_mutex_lock(&changing);
    own = owned_with(device_number(), base);
    found = own != NULL ? allocation_of(own, base) : NULL;
    if (found != NULL && found->base == base) {
        unmap_below(own, DEVICES_MAX, base);
        allocation_remove(own, found);
    }
    pthread_mutex_unlock(&changing);
    return gs_free(device_session(), base);
}

/* Sets reaching[] for each device that has access to any of the owner's memory. */
static void accessors_find(unsigned owner, bool reaching[DEVICES_MAX])
{
    pthread_mutex_lock(&lock);
    for (const struct owned *own = NULL; (own = owned_next(owner, own)) != NULL;) {
        for (unsigned i = 0; i < DEVICES_MAX; i++)
            reaching[i] = reaching[i] || own->reached_by[i];
    }
    pthread_mutex_unlock(&lock);
}

void peer_accessors_sync(void)
{
    bool reaching[DEVICES_MAX] = {0};

    if (!atomic_load_explicit(&access_given, memory_order_relaxed))
        return;
    pthread_mutex_lock(&changing);
    accessors_find(device_number(), reaching);
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (reaching[i])
            gs_sync(session_of(i));
    }
    pthread_mutex_unlock(&changing);
}

bool peer_access_reaches(unsigned number, unsigned owner, const void *ptr)
{
    const struct owned *own;
    bool reaches;

    pthread_mutex_lock(&lock);
    own = owned_with(owner, (uint64_t)(uintptr_t)ptr);
    reaches = own != NULL && own->reached_by[number];
    pthread_mutex_unlock(&lock);
    return reaches;
}

/* ---- Access ---------------------------------------------------------------------------------- */

/* Attaches to both devices. */
static cudaError_t both_use(unsigned number, unsigned owner)
{
    const unsigned own = device_number();
    cudaError_t error = device_use_number((int)number);

    if (error == cudaSuccess)
        error = device_use_number((int)owner);
    device_enter(own);
    return error;
}

/* Whether a mapping has failed for good. The cause of any other status, such as a limit, may pass.
 */
static bool is_refused(gs_status status)
{
    return status == GS_ERR_NOT_SUPPORTED || status == GS_ERR_PERMISSION;
}

/* Finds by a trial whether the device can have access, because that depends on the driver, on
 * fences, on the server and on free addresses. `changing` is held. */
static gs_status ability_find(unsigned number, unsigned owner)
{
    enum ability *ability = &abilities[owner][number];
    gs_devptr base;
    gs_status status = gs_malloc(session_of(owner), EXPORTED_LEAST, &base);

    if (status != GS_OK)
        return status;
    status = allocation_map(number, owner, base);
    if (status == GS_OK)
        allocation_unmap(number, base);
    gs_free(session_of(owner), base);
    if (status != GS_OK && !is_refused(status))
        return status;
    *ability = status == GS_OK ? ABILITY_THERE : ABILITY_NONE;
    return GS_OK;
}

/* Like peer_access_can, after both_use. cudaErrorMemoryAllocation: a limit or a lack of memory
 * prevented the trial. `changing` is held. */
static cudaError_t ability_ask(unsigned number, unsigned owner, bool *can)
{
    gs_status status = GS_OK;

    if (abilities[owner][number] == ABILITY_UNKNOWN)
        status = ability_find(number, owner);
    *can = abilities[owner][number] == ABILITY_THERE;
    return device_error(status);
}

cudaError_t peer_access_can(unsigned number, unsigned owner, bool *can)
{
    cudaError_t error = both_use(number, owner);

    if (error != cudaSuccess)
        return error;
    pthread_mutex_lock(&changing);
    error = ability_ask(number, owner, can);
    pthread_mutex_unlock(&changing);
    return error == cudaErrorMemoryAllocation ? cudaSuccess : error;
}

/* Maps all allocations of the list on the device, or, if that fails, none. `changing` is held. */
static gs_status map_list(unsigned number, const struct owned *own)
{
    gs_status status = GS_OK;
    size_t done = 0;

    for (; done < own->count && status == GS_OK; done++)
        status = allocation_map(number, own->device, own->at[done].base);
    if (status != GS_OK)
        unmap_first(number, own, done - 1);
    return status;
}

/* Gives the device access to the list. Only for an empty list does it ask first whether that is
 * possible: otherwise the mapping shows it, and the owner may have no memory left for a trial.
 * `changing` is held. */
static cudaError_t enable(unsigned number, struct owned *own)
{
    cudaError_t error = cudaSuccess;
    bool can = true;
    gs_status status;

    if (own->reached_by[number])
        return cudaErrorPeerAccessAlreadyEnabled;
    if (own->count == 0)
        error = ability_ask(number, own->device, &can);
    if (error != cudaSuccess)
        return error;
    status = can ? map_list(number, own) : GS_ERR_NOT_SUPPORTED;
    if (status != GS_OK)
        return is_refused(status) ? cudaErrorPeerAccessUnsupported : device_error(status);
    atomic_store_explicit(&access_given, true, memory_order_relaxed);
    reached_set(own, number, true);
    return cudaSuccess;
}

/* Takes the device's access to the list away. `changing` is held. */
static cudaError_t disable(unsigned number, struct owned *own)
{
    if (!own->reached_by[number])
        return cudaErrorPeerAccessNotEnabled;
    reached_set(own, number, false);
    unmap_first(number, own, own->count);
    return cudaSuccess;
}

/* Gives the call's device access to a list of the owner's. */
static cudaError_t access_give(unsigned owner, struct owned *own)
{
    const unsigned number = device_number();
    cudaError_t error = both_use(number, owner);

    if (error != cudaSuccess)
        return error;
    pthread_mutex_lock(&changing);
    error = enable(number, own);
    pthread_mutex_unlock(&changing);
    return error;
}

cudaError_t peer_access_enable(unsigned owner)
{
    return access_give(owner, &of_malloc[owner]);
}

cudaError_t peer_access_disable(unsigned owner)
{
    cudaError_t error;

    pthread_mutex_lock(&changing);
    error = disable(device_number(), &of_malloc[owner]);
    pthread_mutex_unlock(&changing);
    return error;
}

cudaError_t peer_access_managed(unsigned owner)
{
    const cudaError_t error = access_give(owner, &of_managed[owner]);

    return error == cudaErrorPeerAccessAlreadyEnabled ? cudaSuccess : error;
}

bool peer_access_to_managed(unsigned number, unsigned owner)
{
    if (number == owner)
        return true;
    return atomic_load_explicit(&access_given, memory_order_relaxed) &&
           is_reached_by(&of_managed[owner], number);
}

cudaError_t peer_access_pool(unsigned pool, unsigned number, bool access)
{
    bool can;
    cudaError_t error = peer_access_can(number, device_number(), &can);

    if (error == cudaSuccess && access && !can)
        error = cudaErrorInvalidDevice;
    if (error != cudaSuccess || access == peer_access_to_pool(pool, number))
        return error;
    pthread_mutex_lock(&changing);
    error = access ? enable(number, owned_of(pool)) : disable(number, owned_of(pool));
    pthread_mutex_unlock(&changing);
    return error;
}

bool peer_access_to_pool(unsigned pool, unsigned number)
{
    return is_reached_by(&of_pools[pool - 1], number);
}

void peer_access_pool_end(unsigned pool)
{
    pthread_mutex_lock(&changing);
    for (unsigned i = 0; i < DEVICES_MAX; i++)
        reached_set(&of_pools[pool - 1], i, false);
    pthread_mutex_unlock(&changing);
}

/* Takes away the access of device `gone` to the list; if the list is that device's, the access of
 * all devices. */
static void owned_forget(struct owned *own, unsigned gone)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (i == gone || own->device == gone)
            disable(i, own);
    }
    if (own->device != gone)
        return;
    pthread_mutex_lock(&lock);
    own->count = 0;
    pthread_mutex_unlock(&lock);
}

void peer_access_forget(void)
{
    const unsigned gone = device_number();

    pthread_mutex_lock(&changing);
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        owned_forget(&of_malloc[i], gone);
        owned_forget(&of_managed[i], gone);
        abilities[gone][i] = abilities[i][gone] = ABILITY_UNKNOWN;
    }
    for (unsigned i = 0; i < POOLS_MAX; i++)
        owned_forget(&of_pools[i], gone);
    pthread_mutex_unlock(&changing);
}
