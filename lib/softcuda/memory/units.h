// An allocator for runs of equal units, which remembers the length of each run. cuMemAlloc's small
// allocations and the device heap use it. Its table is separate from the memory, so that no kernel
// reaches it.
//
// No lock of its own.
#ifndef GS_SOFTCUDA_MEMORY_UNITS_H
#define GS_SOFTCUDA_MEMORY_UNITS_H

#include <stdint.h>

#define UNITS_NONE UINT32_MAX

struct units {
    uint32_t count, free_count;
    uint32_t search_from;
    uint32_t length[]; // the length of a run at its first unit; all ones inside a run; 0: free
};

struct units *units_new(uint32_t count); // NULL: no memory
// The first unit of a run of WANTED units, or UNITS_NONE.
uint32_t units_take(struct units *u, uint32_t wanted);
// Frees the run that begins at FIRST. Its length; 0: none begins there.
uint32_t units_give(struct units *u, uint32_t first);
// First unit of the run that UNIT belongs to, or UNITS_NONE.
uint32_t units_run_of(const struct units *u, uint32_t unit);

#endif
