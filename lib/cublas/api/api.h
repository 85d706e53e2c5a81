/*
 * api.h - what the exported functions have in common. Most come in two forms: with sizes of int,
 * and with sizes of int64_t and _64 behind the name.
 */
#ifndef GS_CUBLAS_API_H
#define GS_CUBLAS_API_H

#include "cublas/op/operation.h"

/* X(suffix of the name, type of sizes, ...) for both forms. */
#define BOTH_FORMS(X, ...)                                                                         \
    X(, int, __VA_ARGS__)                                                                          \
    X(_64, int64_t, __VA_ARGS__)

/* The enum fill of uplo; a record with another uplo becomes invalid. */
static inline unsigned fill_of(struct operation *op, cublasFillMode_t uplo)
{
    if (uplo != CUBLAS_FILL_MODE_LOWER && uplo != CUBLAS_FILL_MODE_UPPER)
        op->invalid = true;
    return uplo == CUBLAS_FILL_MODE_UPPER ? FILL_UPPER : FILL_LOWER;
}

/* The functions that set and get a handle's member. */
#define SETTING_OF(prefix, H, name, type, member, valid)                                           \
    CUBLAS_API cublasStatus_t prefix##Set##name(H handle, type value)                              \
    {                                                                                              \
        if (handle == NULL)                                                                        \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        if (!(valid))                                                                              \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        handle->member = value;                                                                    \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    CUBLAS_API cublasStatus_t prefix##Get##name(H handle, type *value)                             \
    {                                                                                              \
        if (handle == NULL)                                                                        \
            return CUBLAS_STATUS_NOT_INITIALIZED;                                                  \
        if (value == NULL)                                                                         \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        *value = handle->member;                                                                   \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

#endif
