/*
 * carveout.c - that one tenant's kernel does not keep the others' off its SMs.
 *
 * An SM divides its memory between cache and shared memory anew only when it is empty, and takes
 * blocks only of kernels that can do with the carveout it has. Left to itself the driver divides
 * for as many blocks as the SM can hold, a KiB for each and their shared memory. Measured on an
 * H200 (bench/driver_facts, 17): beside blocks of 1,024 threads, of which two fit, no block of
 * fewer than 256 threads had a place, however empty the SM was: an endless kernel with such a block
 * on every SM kept everybody's small kernels off the device, and the kernels that tell completions.
 * With a KiB for each block that an SM can ever hold, everybody's have one.
 *
 * So kernels of few blocks an SM, and little shared memory, ask for that much; the rest has what
 * the driver gives it. (All asking for the same would be simpler, but who asks has a place beside
 * equal or narrower carveouts only: not beside kernels with shared memory.)
 */
#include "worker/partition/carveout.h"

#include "common/log.h"

#define FEW_BLOCKS 8u /* from so many an SM on the driver divides wide enough */

enum { CARVEOUT_DRIVER, CARVEOUT_ASKED, CARVEOUT_OWN /* for shared memory, from then on */ };

static struct {
    uint32_t threads, registers, blocks; /* an SM can hold */
    uint32_t block_bytes;                /* of shared memory that a block takes besides its own */
    uint32_t wanted_bytes;               /* so much for as many blocks as an SM can hold */
    int percent;                         /* the same as a share of its shared memory */
} sm;

CUresult carveout_init(void)
{
    int threads = 0, registers = 0, blocks = 0, block_bytes = 0, bytes = 0;
    CUresult result;

    if ((result = DRV(cuDeviceGetAttribute, &threads,
                      CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, worker.device)) ||
        (result = DRV(cuDeviceGetAttribute, &registers,
                      CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, worker.device)) ||
        (result = DRV(cuDeviceGetAttribute, &blocks,
                      CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, worker.device)) ||
        (result = DRV(cuDeviceGetAttribute, &block_bytes,
                      CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, worker.device)) ||
        (result = DRV(cuDeviceGetAttribute, &bytes,
                      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, worker.device)))
        return result;
    sm.threads = (uint32_t)threads;
    sm.registers = (uint32_t)registers;
    sm.blocks = (uint32_t)blocks;
    sm.block_bytes = (uint32_t)block_bytes;
    sm.wanted_bytes = (uint32_t)(blocks * block_bytes);
    /* Rounded down: the driver takes the next larger carveout that there is. */
    sm.percent = bytes > 0 ? blocks * block_bytes * 100 / bytes : 0;
    return CUDA_SUCCESS;
}

static void divide(const struct kernel *kernel, int percent)
{
    /* A hint; a context that is lost is met again by the launch. */
    if (DRV(cuFuncSetAttribute, kernel->function,
            CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent))
        log_debug("no carveout of %d %% for kernel %s", percent, kernel->name);
}

uint32_t carveout_threads(uint32_t registers)
{
    return registers > 0 && sm.registers / registers < sm.threads ? sm.registers / registers
                                                                  : sm.threads;
}

/* How many blocks of so many of its threads an SM can hold: one, if it can be launched at all. */
static uint32_t blocks_of(const struct kernel *kernel, uint32_t threads)
{
    const uint32_t blocks = kernel->sm_threads > threads ? kernel->sm_threads / threads : 1;

    return blocks < sm.blocks ? blocks : sm.blocks;
}

void carveout_fit(struct kernel *kernel, uint32_t threads, uint32_t dynamic_smem)
{
    const uint64_t bytes = (uint64_t)sm.block_bytes + kernel->static_smem + dynamic_smem;
    const uint32_t blocks = blocks_of(kernel, threads);

    /* relaxed: of two launches at a time either may be the one that asks */
    if (blocks * bytes > sm.wanted_bytes) {
        if (atomic_load_explicit(&kernel->carveout, memory_order_relaxed) != CARVEOUT_OWN &&
            atomic_exchange_explicit(&kernel->carveout, CARVEOUT_OWN, memory_order_relaxed) ==
                CARVEOUT_ASKED)
            divide(kernel, -1);
    } else if (blocks < FEW_BLOCKS &&
               atomic_load_explicit(&kernel->carveout, memory_order_relaxed) == CARVEOUT_DRIVER) {
        atomic_store_explicit(&kernel->carveout, CARVEOUT_ASKED, memory_order_relaxed);
        divide(kernel, sm.percent);
    }
}
