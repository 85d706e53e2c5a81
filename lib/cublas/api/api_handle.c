/* api_handle.c - handles and their settings, versions and texts of statuses. */
#include "cublas/abi.h"
#include "cublas/api/api.h"
#include "cublas/base/handle.h"

CUBLAS_API cublasStatus_t cublasCreate_v2(cublasHandle_t *handle)
{
    return handle != NULL ? handle_new(handle) : CUBLAS_STATUS_INVALID_VALUE;
}

CUBLAS_API cublasStatus_t cublasDestroy_v2(cublasHandle_t handle)
{
    return handle != NULL ? handle_free(handle) : CUBLAS_STATUS_NOT_INITIALIZED;
}

/* Like cuBLAS, accepts a NULL handle. */
CUBLAS_API cublasStatus_t cublasGetVersion_v2(cublasHandle_t handle, int *version)
{
    (void)handle;
    if (version == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *version = CUBLAS_VERSION;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value)
{
    static const int version[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};

    if (value == NULL || (unsigned)type > PATCH_LEVEL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *value = version[type];
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API size_t cublasGetCudartVersion(void)
{
    return CUDART_VERSION;
}

CUBLAS_API const char *cublasGetStatusName(cublasStatus_t status)
{
    switch (status) {
#define STATUS(name, value, text)                                                                  \
    case value:                                                                                    \
        return #name;
#include "cublas/base/statuses.def"
#undef STATUS
    default:
        return "unrecognized status";
    }
}

CUBLAS_API const char *cublasGetStatusString(cublasStatus_t status)
{
    switch (status) {
#define STATUS(name, value, text)                                                                  \
    case value:                                                                                    \
        return text;
#include "cublas/base/statuses.def"
#undef STATUS
    default:
        return "unrecognized status";
    }
}

/* ---- Settings -------------------------------------------------------------------------------- */

/* Does nothing, since this library's kernels need no workspace. */
CUBLAS_API cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void *workspace, size_t size)
{
    (void)size;
    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    return (uintptr_t)workspace % 256 == 0 ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_INVALID_VALUE;
}

#define SETTING(name, type, member, valid)                                                         \
    SETTING_OF(cublas, cublasHandle_t, name, type, member, valid)

/* Returns whether the mode is valid. The flag that forbids narrow sums has no effect, since no
 * kernel here uses narrow sums. */
static bool math_valid(cublasMath_t mode)
{
    unsigned plain = (unsigned)mode & ~(unsigned)CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;

#ifndef GS_CUDART_12
    if (plain == CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH)
        return true;
#endif
    return plain <= CUBLAS_FP32_EMULATED_BF16X9_MATH;
}

SETTING(Stream_v2, cudaStream_t, stream, true)
SETTING(PointerMode_v2, cublasPointerMode_t, pointer_mode,
        value == CUBLAS_POINTER_MODE_HOST || value == CUBLAS_POINTER_MODE_DEVICE)
SETTING(AtomicsMode, cublasAtomicsMode_t, atomics_mode,
        value == CUBLAS_ATOMICS_NOT_ALLOWED || value == CUBLAS_ATOMICS_ALLOWED)
SETTING(MathMode, cublasMath_t, math_mode, math_valid(value))
SETTING(SmCountTarget, int, sm_count_target, value >= 0)
