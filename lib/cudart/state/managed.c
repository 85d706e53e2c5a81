/* managed.c - see managed.h. One lock guards all of it; the pager holds it while it resolves a
 * fault. */
#include "cudart/state/managed.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cudart/base/report.h"
#include "cudart/state/device.h"
#include "cudart/state/heaps.h"
#include "cudart/state/managed_memory.h"
#include "cudart/state/pager.h"
#include "cudart/state/peer_access.h"
#include "cudart/state/stream.h"

/* What moves at a time: 2 MiB are 100 us over the bus, and 512 faults for a GiB. */
#define BLOCK ((size_t)2 << 20)

struct region {
    struct region *next;
    char *base;                    /* where host and device reach it; the beginning of a page */
    char *view;                    /* the same pages, which the host can always reach here */
    unsigned device;               /* its number */
    struct managed_memory memory;  /* base is 0: a module's, which has a variable there */
    unsigned holder;               /* the device that has the blocks which are not the host's */
    gs_devptr copies[DEVICES_MAX]; /* of a variable, where other devices' modules have theirs */
    size_t size;                   /* whole pages */
    size_t used;                   /* of them, for which the device has memory: a variable's size */
    size_t blocks;
    struct managed_advice advice;
    bool host[]; /* whose each block is */
};

static _Atomic unsigned region_count;
const _Atomic unsigned *const managed_regions = &region_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;
static size_t host_blocks; /* of all regions, those that are the host's */
static bool has_copies;    /* of variables, on other devices: blocks may have to move to them */

/* By the devices' numbers. */
static _Atomic bool has_managed[DEVICES_MAX];        /* memory that others can reach */
static _Atomic bool asked[DEVICES_MAX][DEVICES_MAX]; /* the one has asked for the other's */

/* What copies a device's blocks; NULL: not made yet. */
static struct copier {
    gs_stream stream;
    void *bounce; /* a block of pinned memory: copies to other memory wait, and print */
} copiers[DEVICES_MAX];

static void lock_take(void)
{
    pthread_mutex_lock(&lock);
    pager_exclude_begin();
}

static void lock_give(void)
{
    pager_exclude_end();
    pthread_mutex_unlock(&lock);
}

/* ---- Regions: the lock is held --------------------------------------------------------------- */

static struct region *region_find(const void *ptr)
{
    struct region *region = regions;

    while (region != NULL && (size_t)((const char *)ptr - region->base) >= region->size)
        region = region->next;
    return region;
}

static size_t block_size(const struct region *region, size_t block)
{
    size_t left = region->size - block * BLOCK;

    return left < BLOCK ? left : BLOCK;
}

/* Of a run of blocks, what is copied. */
static size_t copy_size(const struct region *region, const char *from, size_t size)
{
    size_t left = region->used - (size_t)(from - region->base);

    return left < size ? left : size;
}

static void region_free(struct region *region)
{
    for (size_t i = 0; i < region->blocks; i++)
        host_blocks -= region->host[i];
    munmap(region->view, region->size);
    free(region);
    atomic_fetch_sub(&region_count, 1);
}

/* The process's pages, at both addresses. */
static bool region_map(struct region *region)
{
    int fd = memfd_create("gshare-managed", MFD_CLOEXEC);
    int fixed = devices[region->device].host_range_reserved ? MAP_FIXED : MAP_FIXED_NOREPLACE;
    void *base = MAP_FAILED;

    region->view = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, (off_t)region->size) == 0)
        region->view = mmap(NULL, region->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (region->view != MAP_FAILED)
        base = mmap(region->base, region->size, PROT_READ | PROT_WRITE, MAP_SHARED | fixed, fd, 0);
    if (fd >= 0)
        close(fd);
    if (base == region->base)
        return true;
    if (base != MAP_FAILED)
        munmap(base, region->size);
    if (region->view != MAP_FAILED)
        munmap(region->view, region->size);
    return false;
}

/* The window's addresses stay the process's, without pages, where they were. */
static void region_unmap(const struct region *region)
{
    if (!devices[region->device].host_range_reserved) {
        munmap(region->base, region->size);
        return;
    }
    mmap(region->base, region->size, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static bool fault_resolve(const void *address);

/* What the first region of the call's device needs. */
static cudaError_t managed_start(void)
{
    struct copier *here = &copiers[device_number()];
    gs_status status = GS_OK;

    if (!pager_start(fault_resolve, NULL))
        return cudaErrorOperatingSystem;
    if (here->stream == NULL)
        status = gs_stream_create(device_session(), NULL, &here->stream);
    if (status == GS_OK && here->bounce == NULL)
        status = gs_host_alloc(device_session(), BLOCK, &here->bounce);
    return device_error(status);
}

/* ---- Copies: the lock is held ---------------------------------------------------------------- */

/* Waits until the stream is idle, NULL: all of the call's device. gs_stream_sync would print what
 * kernels print, for which the thread that waits for the pager may have the lock. As libgshare's
 * waits: spins, yields, then sleeps in steps that grow. */
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

static bool is_variable(const struct region *region)
{
    return region->memory.base == 0;
}

/* Whether the device's kernels reach the region: its memory, or a copy of the variable. */
static bool is_reached(const struct region *region, unsigned number)
{
    if (is_variable(region))
        return number == region->device || region->copies[number] != 0;
    return peer_access_to_managed(number, region->device);
}

/* Where the region's holder has what the host has at the address. */
static gs_devptr at_holder(const struct region *region, const char *address)
{
    const gs_devptr base = region->holder == region->device ? (gs_devptr)(uintptr_t)region->base
                                                            : region->copies[region->holder];

    return base + (gs_devptr)(address - region->base);
}

/* Waits for the work of all devices that reach the region; one whose session has ended has none.
 * The call's device becomes the region's holder. */
static void wait_idle_devices(const struct region *region)
{
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        if (!is_reached(region, i))
            continue;
        device_enter(i);
        wait_idle(NULL);
    }
    device_enter(region->holder);
}

/* Copies a block back and gives it to the host. Where the session has ended, the host gets what it
 * had last. */
static void block_to_host(struct region *region, size_t block)
{
    const struct copier *copier = &copiers[region->holder];
    const unsigned before = device_number();
    char *base = region->base + block * BLOCK;
    size_t size = block_size(region, block);
    gs_status status;

    wait_idle_devices(region);
    status = gs_memcpy_dtoh_async(device_session(), copier->bounce, at_holder(region, base),
                                  copy_size(region, base, size), copier->stream);
    if (status == GS_OK)
        status = wait_idle(copier->stream);
    if (status == GS_OK)
        memcpy(region->view + block * BLOCK, copier->bounce, copy_size(region, base, size));
    device_enter(before);
    region->host[block] = true;
    host_blocks++;
    mprotect(base, size, PROT_READ | PROT_WRITE);
}

/* The call's device is the region's holder, as below. */
static gs_status run_to_device(struct region *region, size_t first, size_t count)
{
    size_t at = first * BLOCK, size = (count - 1) * BLOCK + block_size(region, first + count - 1);

    /* From here on a thread that writes there waits for the lock. */
    mprotect(region->base + at, size, PROT_NONE);
    memset(&region->host[first], 0, count);
    host_blocks -= count;
    return gs_memcpy_htod_async(device_session(), at_holder(region, region->base + at),
                                region->view + at, copy_size(region, region->base + at, size),
                                copiers[region->holder].stream);
}

static gs_status region_to_device(struct region *region)
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

/* Makes the device the holder of a variable: it gets all blocks by way of the host. */
static void holder_change(struct region *region, unsigned number)
{
    for (size_t i = 0; i < region->blocks && region->holder != number; i++) {
        if (!region->host[i])
            block_to_host(region, i);
    }
    region->holder = number;
}

/* The pager's: a fault at the address. */
static bool fault_resolve(const void *address)
{
    struct region *region;
    size_t block;

    lock_take();
    region = region_find(address);
    if (region != NULL && atomic_load(&devices[region->device].session) == NULL)
        region = NULL;
    if (region != NULL) {
        block = (size_t)((const char *)address - region->base) / BLOCK;
        if (!region->host[block])
            block_to_host(region, block);
    }
    lock_give();
    return region != NULL;
}

/* ---- What is called -------------------------------------------------------------------------- */

/* NULL: no memory. */
static struct region *region_new(size_t size, size_t page)
{
    size_t whole = (size + page - 1) / page * page, blocks = (whole + BLOCK - 1) / BLOCK;
    struct region *region = whole >= size ? calloc(1, sizeof(*region) + blocks) : NULL;

    if (region == NULL)
        return NULL;
    region->device = region->holder = device_number();
    region->size = region->used = whole;
    region->blocks = blocks;
    region->advice.preferred = region->advice.prefetched = cudaInvalidDeviceId;
    return region;
}

static void region_add(struct region *region)
{
    atomic_fetch_add(&region_count, 1);
    region->next = regions;
    regions = region;
    if (!is_variable(region))
        atomic_store(&has_managed[region->device], true);
}

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
    lock_take();
    error = managed_start();
    if (error == cudaSuccess && !region_map(region))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        /* Zeros on both sides; the program is about to fill it. */
        memset(region->host, true, region->blocks);
        host_blocks += region->blocks;
        region_add(region);
    }
    lock_give();
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

    /* Not under the lock: giving back waits for the session's work. */
    return error == cudaErrorMemoryAllocation && heaps_give_all() ? region_make(out, size) : error;
}

/* variable: whether it is one of a module's; else *memory is what the region had. */
static bool region_end(const void *ptr, bool variable, struct managed_memory *memory)
{
    struct region **link = &regions, *region;
    bool found;

    lock_take();
    while (*link != NULL && (*link)->base != ptr)
        link = &(*link)->next;
    region = *link;
    found = region != NULL && is_variable(region) == variable;
    if (found) {
        *link = region->next;
        *memory = region->memory;
        region_unmap(region);
        region_free(region);
    }
    lock_give();
    return found;
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
    lock_take();
    error = managed_start();
    if (error == cudaSuccess && !region_map(region))
        error = cudaErrorMemoryAllocation;
    if (error == cudaSuccess) {
        /* The device has its initial value. */
        mprotect(region->base, region->size, PROT_NONE);
        region_add(region);
    }
    lock_give();
    if (error != cudaSuccess)
        free(region);
    return error;
}

cudaError_t managed_copy_variable(const void *base, gs_devptr copy)
{
    struct region *region;
    cudaError_t error;

    lock_take();
    region = region_find(base);
    error = region != NULL && is_variable(region) ? managed_start() : cudaErrorInvalidValue;
    if (error == cudaSuccess) {
        region->copies[device_number()] = copy;
        has_copies = true;
    }
    lock_give();
    return error;
}

void managed_remove_variable(void *base)
{
    struct managed_memory none;

    region_end(base, true, &none);
}

bool managed_has_slow(const void *ptr)
{
    bool found;

    lock_take();
    found = region_find(ptr) != NULL;
    lock_give();
    return found;
}

/* Gives the call's device access to the managed memory of the process's other devices. Each is
 * asked for once. */
static void others_reach(void)
{
    const unsigned number = device_number();

    for (unsigned owner = 0; owner < DEVICES_MAX; owner++) {
        if (owner == number || !atomic_load(&has_managed[owner]) ||
            atomic_load(&asked[number][owner]))
            continue;
        if (peer_access_managed(owner) != cudaSuccess)
            report_once("kernels of device %u do not reach managed memory of device %u", number,
                        owner);
        device_enter(number);
        atomic_store(&asked[number][owner], true);
    }
}

/* The status of copies to the call's device, before work of the device of that number. The end of
 * another device's session is for that device's calls to tell: its memory has ended with it. */
static gs_status copies_status(unsigned number, gs_status status)
{
    gs_status now;

    if (status == GS_OK || device_number() == number)
        return status;
    now = gs_stream_query(device_session(), NULL);
    return now == GS_OK || now == GS_NOT_READY ? status : GS_OK;
}

/* Gives what the device reaches to the region's holder. The lock is held. */
static gs_status reached_to_device(unsigned number)
{
    gs_status status = GS_OK;

    for (struct region *r = regions; r != NULL && status == GS_OK; r = r->next) {
        if (!is_reached(r, number))
            continue;
        if (is_variable(r))
            holder_change(r, number);
        device_enter(r->holder);
        status = copies_status(number, region_to_device(r));
    }
    /* Other streams' work may follow at once, and that of other devices. */
    for (unsigned i = 0; i < DEVICES_MAX && status == GS_OK; i++) {
        if (copiers[i].stream == NULL)
            continue;
        device_enter(i);
        status = copies_status(number, wait_idle(copiers[i].stream));
    }
    device_enter(number);
    return status;
}

cudaError_t managed_work_begin_slow(void)
{
    gs_status status = GS_OK;

    if (device_count() > 1)
        others_reach();
    lock_take();
    if (host_blocks != 0 || has_copies)
        status = reached_to_device(device_number());
    if (status != GS_OK)
        lock_give();
    return device_error(status);
}

void managed_work_end_slow(void)
{
    lock_give();
}

cudaError_t managed_to_host(const void *ptr, size_t size)
{
    struct region *region;
    size_t first, last;

    lock_take();
    region = region_find(ptr);
    if (region != NULL && size != 0) {
        first = (size_t)((const char *)ptr - region->base);
        last = size <= region->size - first ? first + size - 1 : region->size - 1;
        for (size_t block = first / BLOCK; block <= last / BLOCK; block++) {
            if (!region->host[block])
                block_to_host(region, block);
        }
    }
    lock_give();
    return region != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- Advice ---------------------------------------------------------------------------------- */

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

    lock_take();
    region = region_find(ptr);
    if (region != NULL)
        error = advice_take(&region->advice, advice, location);
    lock_give();
    return error;
}

cudaError_t managed_advice_of(const void *ptr, struct managed_advice *advice)
{
    const struct region *region;

    lock_take();
    region = region_find(ptr);
    if (region != NULL)
        *advice = region->advice;
    lock_give();
    return region != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

cudaError_t managed_prefetched(const void *ptr, int location)
{
    struct region *region;

    lock_take();
    region = region_find(ptr);
    if (region != NULL)
        region->advice.prefetched = location;
    lock_give();
    return region != NULL ? cudaSuccess : cudaErrorInvalidValue;
}

/* The device that keeps a variable when the one that is gone has lost it; that one: there is none.
 */
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

    lock_take();
    for (struct region *r = regions; r != NULL; r = r->next) {
        if (!is_variable(r) || (r->device != gone && r->holder != gone) ||
            device_left(r, gone) == gone)
            continue;
        holder_change(r, device_left(r, gone));
        device_enter(r->holder);
        if (region_to_device(r) == GS_OK)
            wait_idle(copiers[r->holder].stream);
        device_enter(gone);
    }
    lock_give();
}

void managed_forget(void)
{
    const unsigned gone = device_number();

    lock_take();
    atomic_store(&has_managed[gone], false);
    for (unsigned i = 0; i < DEVICES_MAX; i++) {
        atomic_store(&asked[gone][i], false);
        atomic_store(&asked[i][gone], false);
    }
    for (struct region **link = &regions, *region; (region = *link) != NULL;) {
        if (region->device != gone) {
            region->copies[gone] = 0;
            if (region->holder == gone)
                region->holder = region->device;
            link = &region->next;
            continue;
        }
        *link = region->next;
        region_unmap(region);
        region_free(region);
    }
    copiers[gone] = (struct copier){NULL, NULL};
    lock_give();
    managed_memory_forget();
}
