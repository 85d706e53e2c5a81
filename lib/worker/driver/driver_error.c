/* driver_error.c - failures of driver calls, for driver.h: the last call that failed on each
 * thread, and the meaning of its result. */
#include <stdio.h>

#include "worker/driver/driver.h"

static _Thread_local struct {
    const char *function;
    CUresult result;
} last_failure;

void driver_failed(const char *function, CUresult result)
{
    last_failure.function = function;
    last_failure.result = result;
}

void driver_describe(char *text, size_t size)
{
    const char *name = NULL;

    if (!last_failure.function) {
        snprintf(text, size, "no driver call failed");
        return;
    }
    if (!cu->cuGetErrorName || cu->cuGetErrorName(last_failure.result, &name) || !name)
        snprintf(text, size, "%s: error %d", last_failure.function, (int)last_failure.result);
    else
        snprintf(text, size, "%s: %s", last_failure.function, name);
}

gs_status driver_status(CUresult result)
{
    switch (result) {
    case CUDA_SUCCESS:
        return GS_OK;
    case CUDA_ERROR_OUT_OF_MEMORY:
        return GS_ERR_NO_DEVICE_MEMORY;
    case CUDA_ERROR_NOT_FOUND:
        return GS_ERR_NOT_FOUND;
    case CUDA_ERROR_NOT_SUPPORTED:
        return GS_ERR_NOT_SUPPORTED;
    case CUDA_ERROR_INVALID_IMAGE:
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION:
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND:
        return GS_ERR_BAD_IMAGE;
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
        return GS_ERR_LAUNCH_CONFIG;
    default:
        return GS_ERR_DRIVER;
    }
}

bool driver_fatal(CUresult result)
{
    switch (result) {
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_UNKNOWN:
        return true;
    default:
        return false;
    }
}
