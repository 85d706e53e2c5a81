// cuMemAlloc: small allocations share chunks of 2 MiB, larger ones have a chunk of their own, as on
// the hardware. Accesses are checked against chunks, so an overrun is detected where the hardware
// detects it.
//
// Owns the list of chunks, under the memory lock. Any thread.
#include <stdlib.h>
#include <sys/mman.h>

#include "softcuda/memory/memory.h"
#include "softcuda/memory/units.h"

enum {
    UNIT = 512, // alignment and grain of small allocations
    CHUNK_UNITS = MEMORY_GRANULARITY / UNIT,
};

struct chunk {
    struct chunk *next;
    uint64_t base, size;
    CUcontext owner;
    uint64_t large;      // requested size, if the chunk is one allocation; else 0
    struct units *units; // of a shared chunk
};

static struct chunk *chunks;

static struct chunk *chunk_new(CUcontext owner, uint64_t size, bool shared)
{
    struct chunk *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->size = size;
    c->owner = owner;
    c->units = shared ? units_new(CHUNK_UNITS) : NULL;
    if ((shared && !c->units) || memory_charge(size))
        goto free_chunk;
    c->base = address_reserve(size, MEMORY_GRANULARITY, 0);
    if (!c->base)
        goto discharge;
    if (mprotect(mem_pointer(c->base), size, PROT_READ | PROT_WRITE))
        goto release;
    if (range_insert(&(struct range){.base = c->base,
                                     .size = size,
                                     .kind = RANGE_CHUNK,
                                     .access = MEM_READ | MEM_WRITE,
                                     .owner = owner}))
        goto release;
    c->next = chunks;
    chunks = c;
    return c;

release:
    address_release(c->base, size);
discharge:
    memory_discharge(size);
free_chunk:
    free(c->units);
    free(c);
    return NULL;
}

static void chunk_free(struct chunk *c)
{
    struct chunk **at = &chunks;

    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    range_remove(c->base);
    address_release(c->base, c->size);
    memory_discharge(c->size);
    free(c->units);
    free(c);
}

static uint64_t chunk_take(struct chunk *c, uint32_t count)
{
    uint32_t first = units_take(c->units, count);

    return first == UNITS_NONE ? 0 : c->base + (uint64_t)first * UNIT;
}

static uint64_t small_new(CUcontext owner, uint64_t size)
{
    uint32_t count = (size + UNIT - 1) / UNIT;
    struct chunk *c;

    for (c = chunks; c; c = c->next) {
        uint64_t address = c->owner == owner && c->units ? chunk_take(c, count) : 0;

        if (address)
            return address;
    }
    c = chunk_new(owner, MEMORY_GRANULARITY, true);
    return c ? chunk_take(c, count) : 0;
}

static uint64_t large_new(CUcontext owner, uint64_t size)
{
    uint64_t rounded = (size + MEMORY_GRANULARITY - 1) & ~((uint64_t)MEMORY_GRANULARITY - 1);
    struct chunk *c = rounded < size ? NULL : chunk_new(owner, rounded, false);

    if (!c)
        return 0;
    c->large = size;
    return c->base;
}

CUresult alloc_new(CUcontext owner, uint64_t size, uint64_t *address)
{
    uint64_t found;

    if (size == 0)
        return CUDA_ERROR_INVALID_VALUE;
    memory_lock();
    found = size <= MEMORY_GRANULARITY / 2 ? small_new(owner, size) : large_new(owner, size);
    memory_unlock();
    if (!found)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *address = found;
    return CUDA_SUCCESS;
}

static struct chunk *chunk_of(uint64_t address)
{
    struct chunk *c = chunks;

    while (c && (address < c->base || address - c->base >= c->size))
        c = c->next;
    return c;
}

CUresult alloc_free(uint64_t address)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    struct chunk *c;

    memory_lock();
    c = chunk_of(address);
    if (c && c->large && address == c->base) {
        chunk_free(c);
        result = CUDA_SUCCESS;
    } else if (c && c->units && (address - c->base) % UNIT == 0 &&
               units_give(c->units, (address - c->base) / UNIT)) {
        if (c->units->free_count == CHUNK_UNITS)
            chunk_free(c);
        result = CUDA_SUCCESS;
    }
    memory_unlock();
    return result;
}

CUresult alloc_range(uint64_t address, uint64_t *base, uint64_t *size)
{
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    const struct chunk *c;
    const struct range *r;

    memory_lock();
    c = chunk_of(address);
    r = range_find(address);
    if (c && c->large) {
        *base = c->base;
        *size = c->large;
        result = CUDA_SUCCESS;
    } else if (c) {
        uint32_t first = units_run_of(c->units, (address - c->base) / UNIT);

        if (first != UNITS_NONE) {
            *base = c->base + (uint64_t)first * UNIT;
            *size = (uint64_t)c->units->length[first] * UNIT;
            result = CUDA_SUCCESS;
        }
    } else if (r) {
        *base = r->base;
        *size = r->size;
        result = CUDA_SUCCESS;
    }
    memory_unlock();
    return result;
}

void alloc_release_owner(CUcontext owner)
{
    memory_lock();
    for (struct chunk *c = chunks, *next; c; c = next) {
        next = c->next;
        if (c->owner == owner)
            chunk_free(c);
    }
    memory_unlock();
}
