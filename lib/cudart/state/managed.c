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

#include "cudart/state/device.h"
#include "cudart/state/heaps.h"
#include "cudart/state/pager.h"
#include "cudart/state/stream.h"

/* What moves at a time: 2 MiB are 100 us over the bus, and 512 faults for a GiB. */
#define BLOCK ((size_t)2 << 20)

struct region {
    struct region *next;
    char *base;       /* where host and device reach it; the beginning of a page */
    char *view;       /* the same pages, which the host can always reach here */
    unsigned device;  /* its number */
    gs_devptr memory; /* of gs_malloc; 0: a module's, which has a variable there */
    size_t size;      /* whole pages */
    size_t used;      /* of them, for which the device has memory: a variable's size */
    size_t blocks;
    struct managed_advice advice;
    bool host[]; /* whose each block is */
};

static _Atomic unsigned region_count;
const _Atomic unsigned *const managed_regions = &region_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;
static size_t host_blocks; /* of all regions, those that are the host's */

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

/* Waits until the stream is idle, NULL: all of them. gs_stream_sync would print what kernels print,
 * for which the thread that waits for the pager may have the lock. As libgshare's waits: spins,
 * yields, then sleeps in steps that grow. */
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

/* Copies a block back and gives it to the host. Where the session has ended, the host gets what it
 * had last. */
static void block_to_host(struct region *region, size_t block)
{
    const struct copier *copier = &copiers[region->device];
    const unsigned before = device_number();
    char *base = region->base + block * BLOCK;
    size_t size = block_size(region, block);
    gs_status status;

    device_enter(region->device);
    status = wait_idle(NULL);
    if (status == GS_OK)
        status = gs_memcpy_dtoh_async(device_session(), copier->bounce, (uint64_t)(uintptr_t)base,
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

static gs_status run_to_device(struct region *region, size_t first, size_t count)
{
    size_t at = first * BLOCK, size = (count - 1) * BLOCK + block_size(region, first + count - 1);

    /* From here on a thread that writes there waits for the lock. */
    mprotect(region->base + at, size, PROT_NONE);
    memset(&region->host[first], 0, count);
    host_blocks -= count;
    return gs_memcpy_htod_async(device_session(), (uint64_t)(uintptr_t)(region->base + at),
                                region->view + at, copy_size(region, region->base + at, size),
                                copiers[region->device].stream);
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

/* Device memory that begins with a page; that of a MiB and more does so as it comes. */
static gs_status memory_alloc(size_t size, size_t page, struct region *region)
{
    gs_status status = gs_malloc(device_session(), size, &region->memory);

    if (status == GS_OK && region->memory % page != 0) {
        gs_free(device_session(), region->memory);
        status = gs_malloc(device_session(), size + page, &region->memory);
    }
    if (status == GS_OK)
        region->base = (char *)(uintptr_t)((region->memory + page - 1) / page * page); // NOLINT
    return status;
}

/* NULL: no memory. */
static struct region *region_new(size_t size, size_t page)
{
    size_t whole = (size + page - 1) / page * page, blocks = (whole + BLOCK - 1) / BLOCK;
    struct region *region = whole >= size ? calloc(1, sizeof(*region) + blocks) : NULL;

    if (region == NULL)
        return NULL;
    region->device = device_number();
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
}

static cudaError_t region_make(void **out, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct region *region = region_new(size, page);
    cudaError_t error;

    if (region == NULL)
        return cudaErrorMemoryAllocation;
    lock_take();
    error = managed_start();
    if (error == cudaSuccess)
        error = device_error(memory_alloc(region->size, page, region));
    if (error == cudaSuccess && !region_map(region)) {
        gs_free(device_session(), region->memory);
        error = cudaErrorMemoryAllocation;
    }
    if (error == cudaSuccess) {
        /* Zeros on both sides; the program is about to fill it. */
        memset(region->host, true, region->blocks);
        host_blocks += region->blocks;
        region_add(region);
    }
    lock_give();
    if (error == cudaSuccess)
        *out = region->base;
    else
        free(region);
    return error;
}

cudaError_t managed_alloc(void **out, size_t size)
{
    cudaError_t error = region_make(out, size);

    /* Not under the lock: giving back waits for the session's work. */
    return error == cudaErrorMemoryAllocation && heaps_give_all() ? region_make(out, size) : error;
}

/* variable: whether it is one of a module's. */
static cudaError_t region_end(const void *ptr, bool variable)
{
    cudaError_t error = cudaErrorInvalidValue;
    struct region **link = &regions, *region;

    lock_take();
    while (*link != NULL && (*link)->base != ptr)
        link = &(*link)->next;
    region = *link;
    if (region != NULL && (region->memory == 0) == variable) {
        *link = region->next;
        region_unmap(region);
        error = variable ? cudaSuccess : device_error(gs_free(device_session(), region->memory));
        region_free(region);
    }
    lock_give();
    return error;
}

cudaError_t managed_free(void *ptr)
{
    return region_end(ptr, false);
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

void managed_remove_variable(void *base)
{
    region_end(base, true);
}

bool managed_has_slow(const void *ptr)
{
    bool found;

    lock_take();
    found = region_find(ptr) != NULL;
    lock_give();
    return found;
}

cudaError_t managed_work_begin_slow(void)
{
    gs_status status = GS_OK;

    lock_take();
    if (host_blocks != 0) {
        for (struct region *r = regions; r != NULL && status == GS_OK; r = r->next) {
            if (r->device == device_number())
                status = region_to_device(r);
        }
        /* Other streams' work may follow at once. */
        if (status == GS_OK && copiers[device_number()].stream != NULL)
            status = wait_idle(copiers[device_number()].stream);
    }
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

void managed_forget(void)
{
    lock_take();
    for (struct region **link = &regions, *region; (region = *link) != NULL;) {
        if (region->device != device_number()) {
            link = &region->next;
            continue;
        }
        *link = region->next;
        region_unmap(region);
        region_free(region);
    }
    copiers[device_number()] = (struct copier){NULL, NULL};
    lock_give();
}
