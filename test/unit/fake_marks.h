/*
 * fake_marks.h - the page of marks of worker/flight.c, for tests that write them as a kernel would.
 * Its address on the device is 0: a mark's is its offset.
 */
#ifndef GS_TEST_FAKE_MARKS_H
#define GS_TEST_FAKE_MARKS_H

#include "worker/flight.h"

static _Atomic uint64_t *marks;

static CUresult host_register(void *memory, size_t size, unsigned int flags)
{
    (void)size;
    (void)flags;
    marks = memory;
    return CUDA_SUCCESS;
}

static CUresult device_pointer(CUdeviceptr *address, void *memory, unsigned int flags)
{
    (void)memory;
    (void)flags;
    *address = 0;
    return CUDA_SUCCESS;
}

/* Once for the process, however often it is called. */
static CUresult marks_open(void)
{
    cu.cuMemHostRegister_v2 = host_register;
    cu.cuMemHostGetDevicePointer_v2 = device_pointer;
    return marks ? CUDA_SUCCESS : flights_init();
}

#endif
