/* constant.c - see constant.h. */
#include "worker/module/constant.h"

#include "worker/jobs/job.h"

CUresult module_constant_write(const struct module *module, const char *name, const void *bytes,
                               size_t size, CUdeviceptr *address)
{
    CUdeviceptr found = 0;
    CUresult result = DRV(cuModuleGetGlobal_v2, &found, NULL, module->cu, name);

    if (result == CUDA_ERROR_NOT_FOUND) {
        *address = 0;
        return CUDA_SUCCESS;
    }
    if (!result)
        result = DRV(cuMemcpyHtoDAsync_v2, found, bytes, size, service_stream());
    if (!result)
        result = DRV(cuStreamSynchronize, service_stream());
    if (!result)
        *address = found;
    return result;
}
