/*
 * carveout.c - the shared-memory carveout: keeps one tenant's kernel from shutting the others'
 * kernels out of its SMs.
 *
 * An SM changes the carveout, the division of its memory between cache and shared memory, only when
 * it is empty, and takes only blocks of kernels that can run with the present carveout. By default
 * the driver sets the carveout for as many blocks of the kernel as the SM can hold: a KiB for each,
 * and their shared memory. Measured on an H200 (bench/driver_facts, 17): beside blocks of 1,024
 * threads, of which an SM holds two, no block of fewer than 256 threads found a place, however
 * empty the SM was. An endless kernel with one such block on every SM kept everybody's small
 * kernels off the device, completing kernels included. With a KiB for each block that an SM can
 * ever hold, all these kernels find a place.
 *
 * So kernels that have few blocks on an SM and little shared memory ask for that carveout; other
 * kernels keep the driver's choice. It would be simpler if all kernels asked for the same carveout,
 * but a kernel that asks finds a place only beside equal or narrower carveouts: not beside kernels
 * with shared memory.
 */
#include "worker/partition/carveout.h"

#include "common/log.h"

#define FEW_BLOCKS 8u /* blocks on an SM for which the driver's carveout is wide enough */

/* CARVEOUT_OWN: the driver's choice again, from now on, because a launch needed more shared memory.
 */
enum { CARVEOUT_DRIVER, CARVEOUT_ASKED, CARVEOUT_OWN };

static struct {
    uint32_t threads, registers, blocks; /* the most that an SM can hold */
    uint32_t block_bytes;                /* shared memory that a block takes besides its own */
    /* the carveout that leaves room for as many blocks as an SM can hold */
    uint32_t wanted_bytes;
    int percent; /* the same carveout in percent of an SM's shared memory */
} sm;

CUresult carveout_init(void)
{
    int threads = 0, registers = 0, blocks = 0, block_bytes = 0, bytes = 0;
    CUresult result;

    if ((result = DRV(cuDeviceGetAttribute, &threads,
                      CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, worker->device)) ||
        (result = DRV(cuDeviceGetAttribute, &registers,
                      CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, worker->device)) ||
        (result = DRV(cuDeviceGetAttribute, &blocks,
                      CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, worker->device)) ||
        (result = DRV(cuDeviceGetAttribute, &block_bytes,
                      CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, worker->device)) ||
        (result = DRV(cuDeviceGetAttribute, &bytes,
                      CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, worker->device)))
        return result;
    sm.threads = (uint32_t)threads;
    sm.registers = (uint32_t)registers;
    sm.blocks = (uint32_t)blocks;
    sm.block_bytes = (uint32_t)block_bytes;
    sm.wanted_bytes = (uint32_t)(blocks * block_bytes);
    /* Rounded down: the driver takes the next larger carveout that the device has. */
    sm.percent = bytes > 0 ? blocks * block_bytes * 100 / bytes : 0;
    return CUDA_SUCCESS;
}

/* Asks the driver for this carveout, in percent of an SM's shared memory; -1: its own choice. */
static void carveout_set(const struct kernel *kernel, int percent)
{
    /* The carveout is a hint, so a failure is not passed on. The launch meets a lost context
     * again. */
    if (DRV(cuFuncSetAttribute, kernel->function,
            CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent))
        log_debug("no carveout of %d %% for kernel %s", percent, kernel->name);
}

uint32_t carveout_threads(uint32_t registers)
{
    return registers > 0 && sm.registers / registers < sm.threads ? sm.registers / registers
                                                                  : sm.threads;
}

/* Returns how many blocks of `threads` threads of the kernel an SM can hold: at least one, since
 * the kernel can be launched. */
static uint32_t blocks_of(const struct kernel *kernel, uint32_t threads)
{
    const uint32_t blocks = kernel->sm_threads > threads ? kernel->sm_threads / threads : 1;

    return blocks < sm.blocks ? blocks : sm.blocks;
}

void carveout_fit(struct kernel *kernel, uint32_t threads, uint32_t dynamic_smem)
{
    const uint64_t bytes = (uint64_t)sm.block_bytes + kernel->static_smem + dynamic_smem;
    const uint32_t blocks = blocks_of(kernel, threads);

    /* relaxed: when two threads launch at a time, either of them may set the carveout */
    if (blocks * bytes > sm.wanted_bytes) {
        if (atomic_load_explicit(&kernel->carveout, memory_order_relaxed) != CARVEOUT_OWN &&
            atomic_exchange_explicit(&kernel->carveout, CARVEOUT_OWN, memory_order_relaxed) ==
                CARVEOUT_ASKED)
            carveout_set(kernel, -1);
    } else if (blocks < FEW_BLOCKS &&
               atomic_load_explicit(&kernel->carveout, memory_order_relaxed) == CARVEOUT_DRIVER) {
        atomic_store_explicit(&kernel->carveout, CARVEOUT_ASKED, memory_order_relaxed);
        carveout_set(kernel, sm.percent);
    }
}
