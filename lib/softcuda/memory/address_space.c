// The address space: which device addresses are reserved, without memory. Guarded by the lock of
// memory.h.
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "common/sanitizers.h"
#include "softcuda/memory/memory.h"

// Where device addresses are allocated: far from where the kernel places libraries, stacks and
// heaps, so that a standby can map a window at the address that it had in another process. The
// thread sanitizer leaves less room.
#if THREAD_SANITIZER
#define AREA_BASE ((uint64_t)0x7e8000000000)
#define AREA_END  ((uint64_t)0x7ef000000000)
#else
#define AREA_BASE ((uint64_t)0x200000000000)
#define AREA_END  ((uint64_t)0x500000000000)
#endif

struct area {
    uint64_t base, size;
};

static struct area *areas; // reservations, sorted by address
static size_t area_count, area_capacity;

static void *map_nothing(uint64_t address, uint64_t size, int flags)
{
    return mmap((void *)(uintptr_t)address, size, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | flags, -1, 0);
}

static bool area_take(uint64_t base, uint64_t size)
{
    void *p = map_nothing(base, size, MAP_FIXED_NOREPLACE);

    if (p == MAP_FAILED)
        return false;
    // A kernel before 4.17 takes the address as a mere hint.
    if (p != mem_pointer(base)) {
        munmap(p, size);
        return false;
    }
    return true;
}

static size_t area_lower_bound(uint64_t address)
{
    size_t i = 0;

    while (i < area_count && areas[i].base + areas[i].size <= address)
        i++;
    return i;
}

static bool area_is_free(uint64_t base, uint64_t size)
{
    size_t i = area_lower_bound(base);

    return i == area_count || areas[i].base >= base + size;
}

// The first place in a gap between reservations, from BASE on, where the host has no mapping of its
// own; 0: none. Skips registered host memory; any other mapping ends the search.
static uint64_t gap_take(uint64_t base, uint64_t limit, uint64_t size, uint64_t alignment)
{
    for (;;) {
        const struct range *r;

        base = (base + alignment - 1) & ~(alignment - 1);
        if (base >= limit || limit - base < size)
            return 0;
        if (area_take(base, size))
            return base;
        r = range_at_or_above(base);
        if (!r || r->base >= base + size)
            return 0;
        base = r->base + r->size;
    }
}

// The first gap in the area; if the host has a mapping there, the next one.
static uint64_t area_find(uint64_t size, uint64_t alignment)
{
    uint64_t base = AREA_BASE;

    for (size_t i = area_lower_bound(AREA_BASE);; i++) {
        uint64_t limit = i < area_count && areas[i].base < AREA_END ? areas[i].base : AREA_END;

        uint64_t found = gap_take(base, limit, size, alignment);

        if (found)
            return found;
        if (i >= area_count || areas[i].base >= AREA_END)
            return 0;
        base = areas[i].base + areas[i].size;
    }
}

// Reserves at an address that the kernel selects.
static uint64_t area_anywhere(uint64_t size, uint64_t alignment)
{
    uint64_t padded, base;
    void *p;

    if (__builtin_add_overflow(size, alignment, &padded))
        return 0;
    p = map_nothing(0, padded, 0);
    if (p == MAP_FAILED)
        return 0;
    base = ((uint64_t)(uintptr_t)p + alignment - 1) & ~(alignment - 1);
    if (base > (uintptr_t)p)
        munmap(p, base - (uintptr_t)p);
    if ((uintptr_t)p + padded > base + size)
        munmap(mem_pointer(base + size), (uintptr_t)p + padded - (base + size));
    return base;
}

uint64_t address_reserve(uint64_t size, uint64_t alignment, uint64_t hint)
{
    uint64_t base = 0;
    size_t i;

    if (!array_grow((void **)&areas, &area_capacity, area_count, sizeof(areas[0])))
        return 0;
    if (hint && hint % alignment == 0 && hint + size > hint && area_is_free(hint, size) &&
        area_take(hint, size))
        base = hint;
    if (!base)
        base = area_find(size, alignment);
    if (!base)
        base = area_anywhere(size, alignment);
    if (!base)
        return 0;
    i = area_lower_bound(base);
    memmove(&areas[i + 1], &areas[i], (area_count - i) * sizeof(areas[0]));
    areas[i] = (struct area){base, size};
    area_count++;
    return base;
}

CUresult address_release(uint64_t base, uint64_t size)
{
    size_t i = area_lower_bound(base);

    if (i == area_count || areas[i].base != base || areas[i].size != size ||
        !range_is_free(base, size))
        return CUDA_ERROR_INVALID_VALUE;
    munmap(mem_pointer(base), size);
    memmove(&areas[i], &areas[i + 1], (area_count - i - 1) * sizeof(areas[0]));
    area_count--;
    return CUDA_SUCCESS;
}

bool address_is_reserved(uint64_t base, uint64_t size)
{
    size_t i = area_lower_bound(base);

    return i < area_count && areas[i].base <= base && areas[i].base + areas[i].size >= base + size;
}

void address_clear(uint64_t base, uint64_t size)
{
    // Replacing a mapping in place only fails if the process has too many mappings; making it
    // inaccessible still works then.
    if (map_nothing(base, size, MAP_FIXED) == MAP_FAILED)
        mprotect(mem_pointer(base), size, PROT_NONE);
}
