/*
 * unsupported.c - the functions of cuBLAS that this library does not implement. Each returns
 * CUBLAS_STATUS_NOT_SUPPORTED for all parameters, and prints its name at its first call. Some
 * functions of cuBLAS' old interface return a number instead of a status; that number is undefined.
 */
#include "cublas/abi.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static cublasStatus_t unsupported(const char *name, atomic_flag *said)
{
    char line[160];
    int length = snprintf(line, sizeof(line), "libgshare_cublas: %s is not supported\n", name);

    if (!atomic_flag_test_and_set(said) && write(STDERR_FILENO, line, (size_t)length) < 0)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return CUBLAS_STATUS_NOT_SUPPORTED;
}

#define SUPPORTED(name)
#define UNSUPPORTED(name)                                                                          \
    CUBLAS_API cublasStatus_t name(void)                                                           \
    {                                                                                              \
        static atomic_flag said = ATOMIC_FLAG_INIT;                                                \
                                                                                                   \
        return unsupported(#name, &said);                                                          \
    }
#ifdef GS_CUDART_12
#define UNSUPPORTED_13(name)
#else
#define UNSUPPORTED_13 UNSUPPORTED
#endif
#include "cublas/functions.def"
#include "cublas/functions_lt.def"
