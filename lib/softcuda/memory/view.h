// The addresses that a kernel may access: a table of extents that the device publishes and the
// interpreter reads.
//
// A device address is the host address of the same byte, so a lookup only decides whether an access
// is allowed; if so, it may be done through mem_pointer(). If not, the access is a fault of the
// guest.
//
// The device (memory.c, under its own lock) replaces the whole table at each change. An engine
// thread takes a view at the start of a turn and drops it at the end (mem_view_begin,
// mem_view_end). A range is only unmapped once no view that could contain it is open, so an access
// that was checked against a view cannot fault the host until the view ends. Nothing else needs a
// lock.
#ifndef GS_SOFTCUDA_MEMORY_VIEW_H
#define GS_SOFTCUDA_MEMORY_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The windows of a block's shared memory and a thread's local memory among generic addresses. No
// process can map these addresses, and the upper 32 bits distinguish the three kinds.
#define MEM_SHARED_WINDOW ((uint64_t)0x10000 << 32)
#define MEM_LOCAL_WINDOW  ((uint64_t)0x10001 << 32)

enum mem_access {
    MEM_READ = 1,
    MEM_WRITE = 2,
};

struct mem_extent {
    uint64_t base, end; // [base, end)
    uint32_t access;    // enum mem_access, or-ed
};

// Extents are sorted, do not overlap, and do not touch if they have equal access: a window backed
// by many chunks is one extent.
struct mem_map {
    size_t count;
    struct mem_extent extents[];
};

// The table that one engine thread sees in one turn, and the extents that it found last.
struct mem_view {
    const struct mem_map *map;
    struct mem_extent last[2];
};

// Finds the extent that contains ADDRESS. NULL: nothing is mapped there.
static inline const struct mem_extent *mem_map_find(const struct mem_map *map, uint64_t address)
{
    size_t low = 0, high = map->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (address >= map->extents[middle].end)
            low = middle + 1;
        else
            high = middle;
    }
    return low < map->count && address >= map->extents[low].base ? &map->extents[low] : NULL;
}

static inline bool mem_extent_allows(const struct mem_extent *e, uint64_t address, uint64_t size,
                                     uint32_t access)
{
    return address >= e->base && address < e->end && size <= e->end - address &&
           (e->access & access) == access;
}

// The slow path of mem_allows, which caches what it finds.
bool mem_view_search(struct mem_view *view, uint64_t address, uint64_t size, uint32_t access);

// Whether SIZE bytes at ADDRESS, a global or const address, may be accessed in this way. SIZE is
// not 0.
static inline bool mem_allows(struct mem_view *view, uint64_t address, uint64_t size,
                              uint32_t access)
{
    return mem_extent_allows(&view->last[0], address, size, access) ||
           mem_view_search(view, address, size, access);
}

static inline void *mem_pointer(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

#endif
