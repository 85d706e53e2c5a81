/* managed_region.c - see managed_region.h. Owns the list of regions and its lock, the process's
 * pages of each region, and the count of blocks that the host has. */
#include "cudart/state/managed_region.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cudart/state/managed.h"
#include "cudart/state/pager.h"

static _Atomic unsigned region_count;
const _Atomic unsigned *const managed_regions = &region_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct region *regions;
static size_t host_blocks; /* how many blocks of all regions the host has */

void managed_lock(void)
{
    pthread_mutex_lock(&lock);
    pager_exclude_begin();
}

void managed_unlock(void)
{
    pager_exclude_end();
    pthread_mutex_unlock(&lock);
}

/* ---- The list -------------------------------------------------------------------------------- */

struct region *region_next(const struct region *region)
{
    return region == NULL ? regions : region->next;
}

struct region *region_find(const void *ptr)
{
    struct region *region = regions;

    while (region != NULL && (size_t)((const char *)ptr - region->base) >= region->size)
        region = region->next;
    return region;
}

struct region *region_new(size_t size, size_t page)
{
    size_t whole = (size + page - 1) / page * page,
           blocks = (whole + MANAGED_BLOCK - 1) / MANAGED_BLOCK;
    struct region *region = whole >= size ? calloc(1, sizeof(*region) + blocks) : NULL;

    if (region == NULL)
        return NULL;
    region->device = region->holder = device_number();
    region->size = region->used = whole;
    region->blocks = blocks;
    region->advice.preferred = region->advice.prefetched = cudaInvalidDeviceId;
    return region;
}

void region_add(struct region *region)
{
    atomic_fetch_add(&region_count, 1);
    region->next = regions;
    regions = region;
}

/* ---- The process's pages --------------------------------------------------------------------- */

bool region_map(struct region *region)
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

/* Unmaps the pages. Where the process has reserved the window's addresses, they stay reserved. */
static void region_unmap(const struct region *region)
{
    if (!devices[region->device].host_range_reserved) {
        munmap(region->base, region->size);
        return;
    }
    mmap(region->base, region->size, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static void region_free(struct region *region)
{
    for (size_t i = 0; i < region->blocks; i++)
        host_blocks -= region->host[i];
    munmap(region->view, region->size);
    free(region);
    atomic_fetch_sub(&region_count, 1);
}

void region_remove(struct region *region)
{
    struct region **link = &regions;

    while (*link != region)
        link = &(*link)->next;
    *link = region->next;
    region_unmap(region);
    region_free(region);
}

bool region_end(const void *ptr, bool variable, struct managed_memory *memory)
{
    struct region *region;
    bool found;

    managed_lock();
    region = region_find(ptr);
    found = region != NULL && region->base == ptr && region_is_variable(region) == variable;
    if (found) {
        *memory = region->memory;
        region_remove(region);
    }
    managed_unlock();
    return found;
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

size_t region_block_size(const struct region *region, size_t block)
{
    size_t left = region->size - block * MANAGED_BLOCK;

    return left < MANAGED_BLOCK ? left : MANAGED_BLOCK;
}

void region_give(struct region *region, size_t first, size_t count, bool to_host)
{
    memset(&region->host[first], to_host, count);
    host_blocks += to_host ? count : 0;
    host_blocks -= to_host ? 0 : count;
}

bool regions_have_host_blocks(void)
{
    return host_blocks != 0;
}
