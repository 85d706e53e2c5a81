/* device_memory.c - see device_memory.h. */
#include "worker/memory/device_memory.h"

#include "worker/jobs/job.h"

CUresult device_create(uint64_t size, CUmemGenericAllocationHandle *handle)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, worker->device}};

    return DRV(cuMemCreate, handle, size, &prop, 0);
}

CUresult device_map(uint64_t address, uint64_t size, CUmemGenericAllocationHandle handle)
{
    const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, worker->device},
                                    CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUresult result = DRV(cuMemMap, address, size, 0, handle, 0);

    if (result)
        return result;
    result = DRV(cuMemSetAccess, address, size, &access, 1);
    if (result)
        DRV_MUST(cuMemUnmap, address, size);
    return result;
}

CUresult device_zero_begin(uint64_t address, uint64_t size)
{
    return DRV(cuMemsetD8Async, address, 0, size, service_stream());
}

CUresult device_zero_end(void)
{
    return DRV(cuStreamSynchronize, service_stream());
}

CUresult device_zero(uint64_t address, uint64_t size)
{
    CUresult result = device_zero_begin(address, size);

    return result ? result : device_zero_end();
}
