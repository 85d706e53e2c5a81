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

#endif
