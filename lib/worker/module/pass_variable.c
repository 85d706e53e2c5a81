/* pass_variable.c - see pass_variable.h. */
#include "worker/module/pass_variable.h"

#include "worker/jobs/job.h"

CUresult pass_variable_write(const struct module *module, const char *name, const void *bytes,
                             size_t size, CUdeviceptr *address)
{
    CUdeviceptr found = 0;
    CUresult result = DRV(cuModuleGetGlobal_v2, &found, NULL, module->cu, name);

    if (result == CUDA_ERROR_NOT_FOUND) {
        found = 0;
        result = CUDA_SUCCESS;
    } else if (!result) {
        result = DRV(cuMemcpyHtoDAsync_v2, found, bytes, size, service_stream());
        if (!result)
            result = DRV(cuStreamSynchronize, service_stream());
    }
    if (!result && address)
        *address = found;
    return result;
}
