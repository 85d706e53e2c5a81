/* zero.c - see zero.h. */
#include "worker/memory/zero.h"

#include "worker/jobs/job.h"

CUresult device_zero(uint64_t address, uint64_t size)
{
    CUresult result = DRV(cuMemsetD8Async, address, 0, size, service_stream());

    return result ? result : DRV(cuStreamSynchronize, service_stream());
}
