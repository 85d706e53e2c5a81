/* device_memory.h - the driver's calls that make, map and clear pieces of device memory
 * (physical.h). Service threads. */
#ifndef GS_WORKER_MEMORY_DEVICE_MEMORY_H
#define GS_WORKER_MEMORY_DEVICE_MEMORY_H

#include <stdint.h>

#include "common/util.h"
#include "worker/driver/worker.h"

/* Rounds the bytes up to the driver's granularity. */
static inline uint64_t device_rounded(uint64_t bytes)
{
    return round_up(bytes, worker->granularity);
}

/* Makes a piece that can be exported as a descriptor. size: a multiple of the granularity. */
CUresult device_create(uint64_t size, CUmemGenericAllocationHandle *handle);
/* Maps a whole piece and lets the device read and write it. On failure nothing is mapped. */
CUresult device_map(uint64_t address, uint64_t size, CUmemGenericAllocationHandle handle);
/* Clears mapped memory, because the driver may hand out memory that another tenant has just freed.
 * Waits for the device. */
CUresult device_zero(uint64_t address, uint64_t size);
/* Clear mapped memory in two steps: between them the device clears it while the caller works. */
CUresult device_zero_begin(uint64_t address, uint64_t size);
CUresult device_zero_end(void);

#endif
