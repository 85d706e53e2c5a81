/* fence.c - see fence.h. */
#include "worker/sched/fence.h"

#include <sys/mman.h>

/* Set once at the start. */
static struct {
    _Atomic uint64_t *fences;
    CUdeviceptr address; /* the same memory, as the device sees it */
} memory;

CUresult fences_init(void)
{
    size_t size = FENCES * sizeof(uint64_t);
    void *fences = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (fences == MAP_FAILED) {
        driver_failed("mmap of the fences", CUDA_ERROR_OUT_OF_MEMORY);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memory.fences = fences;
    CUresult result = DRV(cuMemHostRegister_v2, fences, size, CU_MEMHOSTREGISTER_DEVICEMAP);
    return result ? result : DRV(cuMemHostGetDevicePointer_v2, &memory.address, fences, 0);
}

const _Atomic uint64_t *fence_at(size_t number)
{
    return &memory.fences[number];
}

CUdeviceptr fence_address(size_t number)
{
    return memory.address + number * sizeof(uint64_t);
}
