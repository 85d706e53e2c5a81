/*
 * api.h - helpers of the exported functions. Most of these come in two forms: with sizes of type
 * int, and, with _64 behind the name, with sizes of type int64_t.
 */
#ifndef GS_CUBLAS_API_H
#define GS_CUBLAS_API_H

#include "cublas/op/operation.h"

/* Expands X(suffix of the name, type of sizes, ...) for both forms. */
#define BOTH_FORMS(X, ...)                                                                         \
    X(, int, __VA_ARGS__)                                                                          \
    X(_64, int64_t, __VA_ARGS__)

/* Returns the enum fill of uplo. Marks the record invalid if uplo is neither triangle. */
static inline unsigned fill_of(struct operation *op, cublasFillMode_t uplo)
{
    if (uplo != CUBLAS_FILL_MODE_LOWER && uplo != CUBLAS_FILL_MODE_UPPER)
        op->invalid = true;
    return uplo == CUBLAS_FILL_MODE_UPPER ? FILL_UPPER : FILL_LOWER;
}

/* Defines the functions that set and get a member of a handle. */
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
