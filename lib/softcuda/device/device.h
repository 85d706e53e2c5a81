// The virtual device of the process: its size, fixed when cuInit runs, what it reports about
// itself, sets of its SMs, and how it computes numbers (num.h).
//
// The process may see several devices, all alike, so that programs of which each process uses one
// device can choose. A process uses one of them: the first on which it makes a context.
//
// Owns the settings: device_configure writes them once, all threads read them afterwards.
//
// May include nothing of softcuda.
#ifndef GS_SOFTCUDA_DEVICE_DEVICE_H
#define GS_SOFTCUDA_DEVICE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"

// What one SM of compute capability 9.0 offers, and what a block may ask of it.
enum {
    SM_MAX_THREADS = 2048,
    SM_MAX_BLOCKS = 32,
    SM_REGISTERS = 65536,
    SM_SHARED_BYTES = 228 * 1024,
    BLOCK_MAX_THREADS = 1024,
    BLOCK_SHARED_DEFAULT = 48 * 1024,
    BLOCK_SHARED_MAX = 227 * 1024,
    BLOCK_SHARED_RESERVED = 1024, // of every resident block
    WARP_SIZE = 32,
    DEVICE_MAX_COUNT = 8,
    DEVICE_MAX_SMS = 256,
    DEVICE_MAX_THREADS = 256,
    DEVICE_MAX_GRIDS = 128, // resident at once
    DEVICE_LEAST_PRIORITY = 0,
    DEVICE_GREATEST_PRIORITY = -5,
};

// cuMemCreate and cuMemMap work in steps of this many bytes of device memory.
#define MEMORY_GRANULARITY ((size_t)2 << 20)

struct device_config {
    uint32_t count;        // GSHARE_SOFT_DEVICES
    uint32_t sm_count;     // GSHARE_SOFT_SMS
    uint32_t thread_count; // GSHARE_SOFT_THREADS
    uint32_t clock_khz;    // GSHARE_SOFT_CLOCK_KHZ
    uint64_t memory_bytes; // GSHARE_SOFT_MEM
    uint64_t timeout_ns;   // GSHARE_SOFT_TIMEOUT_MS: a grid's time limit; 0: none
    uint32_t graphs;       // GSHARE_SOFT_GRAPHS: executable graphs that there is memory for
    uint32_t greens;       // GSHARE_SOFT_GREENS: green contexts that there is memory for
    bool peers;            // GSHARE_SOFT_PEERS: each device reaches the others' memory
    bool counting;         // GSHARE_SOFT_COUNT: thread instructions
    uint32_t turn;         // GSHARE_SOFT_TURN: instructions of a warp's turn; 0: as many as is good
};

// Reads the settings, once, before any other thread may ask for them. A setting that makes no sense
// is reported on stderr and CUDA_ERROR_INVALID_VALUE.
CUresult device_configure(void);
// Whether calls find the device from now on. A release, which pairs with the acquire in
// device_ready: what was set up before is there for whoever finds it.
void device_set_ready(bool ready);

// Returns CUDA_SUCCESS, or CUDA_ERROR_NOT_INITIALIZED before cuInit and in a child after fork.
CUresult device_ready(void);
// Returns what device_ready does, and CUDA_ERROR_INVALID_DEVICE where no device has that number.
CUresult device_check(CUdevice device);
// Returns what device_check does, and CUDA_ERROR_DEVICE_UNAVAILABLE where the process uses another
// device. The process uses this device from now on.
CUresult device_use(CUdevice device);
// The device that the process uses.
CUdevice device_used(void);

const struct device_config *device_config(void);

CUresult device_attribute(int *value, CUdevice_attribute attribute);
extern const char device_name[];
// The counter of what kernels of all contexts run; NULL where the device does not count it.
// Relaxed.
_Atomic uint64_t *device_counter(void);
// The count so far; 0 where the device does not count.
uint64_t device_counted(void);
void device_uuid(CUuuid *uuid, CUdevice device);

// A set of SMs: a partition, or the whole device.
struct sm_set {
    uint64_t bits[DEVICE_MAX_SMS / 64];
};

static inline bool sm_set_has(const struct sm_set *set, uint32_t sm)
{
    return set->bits[sm / 64] >> (sm % 64) & 1;
}

static inline void sm_set_add(struct sm_set *set, uint32_t sm)
{
    set->bits[sm / 64] |= (uint64_t)1 << (sm % 64);
}

uint32_t sm_set_count(const struct sm_set *set);
void sm_set_fill(struct sm_set *set); // the whole device

#endif
