// Device memory: address space, ranges, quota, and the views through which kernels see it.
//
// memory.c owns the ranges, address_space.c the reservations, both under one lock. vmm.c
// (cuMemCreate and mapping), alloc.c (cuMemAlloc) and host.c (registered host memory) use them with
// that lock held; heap.c (malloc in kernels) has locks of its own. Any thread may call this. The
// lock is a leaf, except that removing a range waits for engine threads to end their turns: the
// caller must not hold the scheduling lock then, and no engine thread may take this lock inside a
// turn.
//
// May include: device.
#ifndef GS_SOFTCUDA_MEMORY_MEMORY_H
#define GS_SOFTCUDA_MEMORY_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "cuda/abi.h"
#include "softcuda/device/device.h"
#include "softcuda/memory/view.h"

CUresult memory_init(uint64_t quota);

// ---- Ranges: memory that exists, of any origin

enum range_kind {
    RANGE_CHUNK, // of cuMemAlloc: many small allocations, or one large
    RANGE_VMM,   // a mapping of a cuMemCreate allocation
    RANGE_HOST,  // registered or allocated host memory
};

struct vmm_allocation;

struct range {
    uint64_t base, size;
    enum range_kind kind;
    uint32_t access;                   // enum mem_access; 0: kernels have no access (yet)
    bool host_owned;                   // RANGE_HOST: from cuMemHostAlloc
    struct vmm_allocation *allocation; // RANGE_VMM
    CUcontext owner;                   // the root context that made it
};

void memory_lock(void);
void memory_unlock(void);

// The functions below are called with the lock held. Pointers into the table are valid until the
// next insert or remove.
struct range *range_find(uint64_t address);
bool range_is_free(uint64_t base, uint64_t size);
// The first range at or above ADDRESS, or NULL; for a walk over all ranges.
struct range *range_at_or_above(uint64_t address);
CUresult range_insert(const struct range *range);
// Removes it and waits until no engine thread can still see it; then the caller may unmap it.
void range_remove(uint64_t base);
CUresult range_set_access(uint64_t base, uint32_t access);
// Waits until every turn of an engine thread that is open now has ended.
void memory_wait_turns(void);

CUresult memory_charge(uint64_t bytes);
void memory_discharge(uint64_t bytes);

// Makes room for one more element in an array. False: no host memory.
bool array_grow(void **array, size_t *capacity, size_t count, size_t element);

// Address space (address_space.c) is reserved without memory. HINT 0: anywhere; otherwise there, if
// it is free. 0: no space left.
uint64_t address_reserve(uint64_t size, uint64_t alignment, uint64_t hint);
// BASE and SIZE must be those of a reservation, or the result is CUDA_ERROR_INVALID_VALUE or false.
CUresult address_release(uint64_t base, uint64_t size);
bool address_is_reserved(uint64_t base, uint64_t size);
// Makes part of a reservation inaccessible again.
void address_clear(uint64_t base, uint64_t size);

// ---- Without the lock

void memory_info(uint64_t *free_bytes, uint64_t *total_bytes);

enum memory_kind {
    MEMORY_UNKNOWN, // ordinary host memory, or not mapped
    MEMORY_DEVICE,
    MEMORY_HOST,   // registered
    MEMORY_BROKEN, // begins in a range but extends beyond it into something else
};

// Classifies SIZE bytes at ADDRESS. MEMORY_DEVICE and _HOST: kernels may access all of them.
enum memory_kind memory_locate(uint64_t address, uint64_t size);

// Whether kernels may read SIZE bytes at ADDRESS. Never waits, not even for a range that is being
// removed: for the calls that go with every launch.
bool memory_is_mapped(uint64_t address, uint64_t size);

CUresult alloc_new(CUcontext owner, uint64_t size, uint64_t *address);
CUresult alloc_free(uint64_t address);
CUresult alloc_range(uint64_t address, uint64_t *base, uint64_t *size);
// Both free what OWNER allocated or registered and never freed.
void alloc_release_owner(CUcontext owner);
void host_release_owner(CUcontext owner);

// ---- Views: see view.h

struct view_slot;

// Takes a slot for an engine thread, for its lifetime; NULL: all are in use.
struct view_slot *view_slot_new(void);
void view_slot_free(struct view_slot *slot);

void mem_view_begin(struct mem_view *view, struct view_slot *slot);
void mem_view_end(struct view_slot *slot);

#endif
