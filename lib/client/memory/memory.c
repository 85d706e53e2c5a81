/* memory.c - see memory.h. */
#include "client/memory/memory.h"

#include <stdlib.h>

#include "client/base/error.h"

typedef unsigned long long ull;

struct memory *memory_new(void)
{
    struct memory *memory = calloc(1, sizeof(*memory));

    if (!memory)
        return NULL;
    pthread_rwlock_init(&memory->lock, NULL);
    pthread_mutex_init(&memory->host_lock, NULL);
    freed_init(&memory->freed);
    stream_memory_init(&memory->of_streams);
    staging_init(&memory->staging_small, STAGING_SMALL_CHUNK, STAGING_SMALL_COUNT);
    staging_init(&memory->staging_large, STAGING_LARGE_CHUNK, STAGING_LARGE_COUNT);
    return memory;
}

void memory_free(struct memory *memory)
{
    if (!memory)
        return;
    range_map_deinit(&memory->device);
    range_map_deinit(&memory->host);
    staging_deinit(&memory->staging_small);
    staging_deinit(&memory->staging_large);
    freed_deinit(&memory->freed);
    stream_memory_deinit(&memory->of_streams);
    pthread_mutex_destroy(&memory->host_lock);
    pthread_rwlock_destroy(&memory->lock);
    free(memory);
}

static gs_status range_bad(const struct session *session, uint64_t address, uint64_t size,
                           const char *what)
{
    const struct range *near = range_map_near(&session->memory->device, address);

    if (address + size < address)
        return error_set(GS_ERR_INVALID_POINTER, "%s 0x%llx + %llu bytes wraps around", what,
                         (ull)address, (ull)size);
    if (near && address >= near->base)
        return error_set(GS_ERR_INVALID_POINTER,
                         "%s 0x%llx + %llu bytes runs past its allocation, which is 0x%llx + %llu",
                         what, (ull)address, (ull)size, (ull)near->base, (ull)near->size);
    return error_set(GS_ERR_INVALID_POINTER,
                     "%s 0x%llx is in no live allocation of this session (window 0x%llx + 0x%llx)",
                     what, (ull)address, (ull)session->info.window_base,
                     (ull)session->info.window_size);
}

/* Returns true if the range is an import that its owner has revoked. */
static bool import_revoked(const struct session *session, const struct range *range)
{
    uint64_t number = range->value - MEMORY_IMPORT;

    if (range->value < MEMORY_IMPORT || range->value >= MEMORY_MODULES)
        return false;
    /* relaxed: nothing depends on the order; a copy that comes too early still finds its memory */
    return atomic_load_explicit(&session->server_page->revoked[number / 64],
                                memory_order_relaxed) >>
               number % 64 &
           1;
}

gs_status memory_check(struct session *session, uint64_t address, uint64_t size, const char *what)
{
    const struct range *range;
    gs_status status = GS_OK;

    pthread_rwlock_rdlock(&session->memory->lock);
    range = range_map_near(&session->memory->device, address);
    if (!range || !range_holds(range, address, size))
        status = range_bad(session, address, size, what);
    else if (import_revoked(session, range))
        status = error_set(GS_ERR_INVALID_POINTER,
                           "%s 0x%llx + %llu bytes was imported, and its owner has revoked it",
                           what, (ull)address, (ull)size);
    pthread_rwlock_unlock(&session->memory->lock);
    return status;
}

static gs_status map_add(struct range_map *map, struct range range)
{
    const struct range *there = range_map_at(map, range.base);

    if (there && there->size == range.size && there->value == range.value)
        return GS_OK;
    if (!range_map_reserve(map))
        return error_set(GS_ERR_NO_MEMORY, "no memory for a list of %zu ranges", map->count + 1);
    if (!range_map_insert(map, range))
        return error_set(GS_ERR_PROTOCOL,
                         "the server gave 0x%llx + %llu bytes, which overlaps "
                         "memory that it gave before",
                         (ull)range.base, (ull)range.size);
    return GS_OK;
}

gs_status memory_add(struct session *session, uint64_t base, uint64_t size, uint64_t value)
{
    gs_status status;

    pthread_rwlock_wrlock(&session->memory->lock);
    status = map_add(&session->memory->device, (struct range){base, size, value});
    pthread_rwlock_unlock(&session->memory->lock);
    return status;
}

gs_status memory_take(struct session *session, uint64_t base, uint64_t *size, bool *own)
{
    const struct range *range;
    gs_status status = GS_OK;

    pthread_rwlock_wrlock(&session->memory->lock);
    range = range_map_at(&session->memory->device, base);
    if (range && range->value < MEMORY_MODULES) {
        *size = range->size;
        *own = range->value == MEMORY_ALLOCATION;
        range_map_remove(&session->memory->device, base);
    } else {
        status =
            error_set(GS_ERR_INVALID_POINTER,
                      "0x%llx is not the start of a live allocation of this session", (ull)base);
    }
    pthread_rwlock_unlock(&session->memory->lock);
    return status;
}

void memory_forget_module(struct session *session, uint64_t module)
{
    pthread_rwlock_wrlock(&session->memory->lock);
    range_map_remove_value(&session->memory->device, module);
    pthread_rwlock_unlock(&session->memory->lock);
}

gs_status memory_host_find(struct session *session, const void *address, uint64_t size,
                           enum host_kind *kind, uint32_t *id, uint64_t *offset)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    const struct range *range;
    gs_status status = GS_OK;

    if (at + size < at)
        return error_set(GS_ERR_INVALID_POINTER, "host memory %p + %llu bytes wraps around",
                         address, (ull)size);
    *kind = HOST_ORDINARY;
    pthread_rwlock_rdlock(&session->memory->lock);
    range = range_map_near(&session->memory->host, at);
    if (range && range_holds(range, at, size)) {
        *kind = HOST_IN_BLOCK;
        *id = (uint32_t)range->value;
        *offset = at - range->base;
    } else if (range && range->base < at + size) {
        status = error_set(GS_ERR_INVALID_POINTER,
                           "host memory %p + %llu bytes runs over an end of the gs_host_alloc "
                           "block 0x%llx + %llu",
                           address, (ull)size, (ull)range->base, (ull)range->size);
    }
    pthread_rwlock_unlock(&session->memory->lock);
    return status;
}

gs_status memory_host_device(struct session *session, const void *address, uint64_t *device)
{
    uint64_t at = (uint64_t)(uintptr_t)address;
    const struct range *range;
    gs_status status = GS_OK;

    pthread_rwlock_rdlock(&session->memory->lock);
    range = range_map_near(&session->memory->host, at);
    if (!range || !range_holds(range, at, 1))
        status = error_set(GS_ERR_INVALID_POINTER, "%p is in no gs_host_alloc block", address);
    else if (!session->memory->host_device[range->value])
        status = error_set(GS_ERR_NOT_SUPPORTED,
                           "kernels do not reach the gs_host_alloc block at "
                           "0x%llx",
                           (ull)range->base);
    else
        *device = session->memory->host_device[range->value] + (at - range->base);
    pthread_rwlock_unlock(&session->memory->lock);
    return status;
}

/* Adds a host block to the maps. The caller holds the lock. */
static gs_status host_add(struct memory *memory, const struct host_block *block)
{
    const struct range there = {(uint64_t)(uintptr_t)block->address, block->size, block->id};
    gs_status status = map_add(&memory->host, there);

    if (status != GS_OK)
        return status;
    memory->host_segment[block->id] = block->segment;
    if (!block->device)
        return status;
    status =
        map_add(&memory->device, (struct range){block->device, block->size, MEMORY_HOST_BLOCK});
    if (status == GS_OK)
        memory->host_device[block->id] = block->device;
    else
        range_map_remove(&memory->host, there.base);
    return status;
}

gs_status memory_host_add(struct session *session, const struct host_block *block)
{
    gs_status status;

    pthread_rwlock_wrlock(&session->memory->lock);
    status = host_add(session->memory, block);
    pthread_rwlock_unlock(&session->memory->lock);
    return status;
}

gs_status memory_host_own(struct session *session, void *address, struct host_block *block)
{
    const struct memory *memory = session->memory;
    const struct range *range;
    gs_status status = GS_OK;

    pthread_rwlock_rdlock(&session->memory->lock);
    range = range_map_at(&memory->host, (uint64_t)(uintptr_t)address);
    if (range && memory->host_segment[range->value] != HOST_BLOCK_JOINED)
        *block = (struct host_block){(uint32_t)range->value, address, range->size,
                                     memory->host_device[range->value],
                                     memory->host_segment[range->value]};
    else
        status = error_set(GS_ERR_INVALID_POINTER,
                           "%p is not the start of a gs_host_alloc block of that session", address);
    pthread_rwlock_unlock(&session->memory->lock);
    return status;
}

gs_status memory_host_take(struct session *session, void *address, struct host_block *block)
{
    const struct range *range;
    gs_status status = GS_OK;

    pthread_rwlock_wrlock(&session->memory->lock);
    range = range_map_at(&session->memory->host, (uint64_t)(uintptr_t)address);
    if (range) {
        uint64_t *device = &session->memory->host_device[range->value];

        *block = (struct host_block){(uint32_t)range->value, address, range->size, *device,
                                     session->memory->host_segment[range->value]};
        range_map_remove(&session->memory->host, range->base);
        if (*device)
            range_map_remove(&session->memory->device, *device);
        *device = 0;
    } else {
        status = error_set(GS_ERR_INVALID_POINTER, "%p is not the start of a gs_host_alloc block",
                           address);
    }
    pthread_rwlock_unlock(&session->memory->lock);
    return status;
}
