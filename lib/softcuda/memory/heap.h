// The heap behind malloc and free in kernels: device memory whose table is on the host.
#ifndef GS_SOFTCUDA_MEMORY_HEAP_H
#define GS_SOFTCUDA_MEMORY_HEAP_H

#include <stdbool.h>
#include <stdint.h>

struct heap;

struct heap *heap_new(uint64_t base, uint64_t size); // NULL: no memory
void heap_free(struct heap *heap);
uint64_t heap_allocate(struct heap *heap, uint64_t size); // 0: full
bool heap_release(struct heap *heap, uint64_t address);   // false: not allocated here

#endif
