/*
 * fake_fences.h - the page of fences of worker/sched/fence.c, for tests that write fences as a
 * kernel would. The page's address on the device is 0, so a fence's address is its offset.
 */
#ifndef GS_TEST_FAKE_FENCES_H
#define GS_TEST_FAKE_FENCES_H

#include "fake_driver.h"
#include "worker/sched/fence.h"
#include "worker/sched/inflight.h"

static _Atomic uint64_t *fences;

static CUresult host_register(void *memory, size_t size, unsigned int flags)
{
    (void)size;
    (void)flags;
    fences = memory;
    return CUDA_SUCCESS;
}

static CUresult device_pointer(CUdeviceptr *address, void *memory, unsigned int flags)
{
    (void)memory;
    (void)flags;
    *address = 0;
    return CUDA_SUCCESS;
}

/* Called once for the process or more often; the first call makes the page. */
static CUresult fences_open(void)
{
    fake_cu.cuMemHostRegister_v2 = host_register;
    fake_cu.cuMemHostGetDevicePointer_v2 = device_pointer;
    return fences ? CUDA_SUCCESS : fences_init();
}

#endif
