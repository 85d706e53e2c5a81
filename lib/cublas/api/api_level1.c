/* api_level1.c - vectors. */
#include "cublas/api/api.h"

static struct operation vectors(enum operator_name name, int64_t n, const void *x, int64_t incx,
                                const void *y, int64_t incy, cudaDataType type)
{
    struct operation op = operation_of(name);

    op.n = n;
    op.a = operand_of(x, incx, type);
    op.b = operand_of(y, incy, type);
    return op;
}

static cublasStatus_t axpy(cublasHandle_t handle, int64_t n, const void *alpha, const void *x,
                           int64_t incx, void *y, int64_t incy, cudaDataType type,
                           cudaDataType scalar_type)
{
    struct operation op = vectors(OPERATOR_AXPY, n, x, incx, y, incy, type);

    operation_scalars(&op, handle, alpha, alpha, scalar_type);
    return operation_run(handle, &op);
}

static cublasStatus_t scal(cublasHandle_t handle, int64_t n, const void *alpha, void *x,
                           int64_t incx, cudaDataType type, cudaDataType scalar_type)
{
    struct operation op = vectors(OPERATOR_SCAL, n, x, incx, NULL, 1, type);

    operation_scalars(&op, handle, alpha, alpha, scalar_type);
    return operation_run(handle, &op);
}

static cublasStatus_t transfer(enum operator_name name, cublasHandle_t handle, int64_t n,
                               const void *x, int64_t incx, void *y, int64_t incy,
                               cudaDataType type)
{
    struct operation op = vectors(name, n, x, incx, y, incy, type);

    return operation_run(handle, &op);
}

static cublasStatus_t reduce(enum operator_name name, cublasHandle_t handle, int64_t n,
                             const void *x, int64_t incx, const void *y, int64_t incy, void *result,
                             cudaDataType type, bool wide_index)
{
    struct operation op = vectors(name, n, x, incx, y, incy, type);

    op.result = result;
    op.wide_index = wide_index;
    return operation_run(handle, &op);
}

#define WIDE(N) (sizeof(N) == 8)

#define SUMS(form, N, S, T, type)                                                                  \
    CUBLAS_API cublasStatus_t cublas##S##axpy_v2##form(cublasHandle_t handle, N n, const T *alpha, \
                                                       const T *x, N incx, T *y, N incy)           \
    {                                                                                              \
        return axpy(handle, n, alpha, x, incx, y, incy, type, type);                               \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##scal_v2##form(cublasHandle_t handle, N n, const T *alpha, \
                                                       T *x, N incx)                               \
    {                                                                                              \
        return scal(handle, n, alpha, x, incx, type, type);                                        \
    }

/* R is the real type of the result. */
#define NORMS(form, N, X, T, R, type)                                                              \
    CUBLAS_API cublasStatus_t cublas##X##nrm2_v2##form(cublasHandle_t handle, N n, const T *x,     \
                                                       N incx, R *result)                          \
    {                                                                                              \
        return reduce(OPERATOR_NRM2, handle, n, x, incx, NULL, 1, result, type, false);            \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##X##asum_v2##form(cublasHandle_t handle, N n, const T *x,     \
                                                       N incx, R *result)                          \
    {                                                                                              \
        return reduce(OPERATOR_ASUM, handle, n, x, incx, NULL, 1, result, type, false);            \
    }

#define REAL(form, N, S, T, type)                                                                  \
    CUBLAS_API cublasStatus_t cublas##S##dot_v2##form(cublasHandle_t handle, N n, const T *x,      \
                                                      N incx, const T *y, N incy, T *result)       \
    {                                                                                              \
        return reduce(OPERATOR_DOT, handle, n, x, incx, y, incy, result, type, false);             \
    }

/* A result that is an index has the type of sizes. */
#define INDEX(form, N, s, T, type)                                                                 \
    CUBLAS_API cublasStatus_t cublasI##s##amax_v2##form(cublasHandle_t handle, N n, const T *x,    \
                                                        N incx, N *result)                         \
    {                                                                                              \
        return reduce(OPERATOR_IAMAX, handle, n, x, incx, NULL, 1, result, type, WIDE(N));         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasI##s##amin_v2##form(cublasHandle_t handle, N n, const T *x,    \
                                                        N incx, N *result)                         \
    {                                                                                              \
        return reduce(OPERATOR_IAMIN, handle, n, x, incx, NULL, 1, result, type, WIDE(N));         \
    }

static cublasStatus_t dot_conjugated(cublasHandle_t handle, int64_t n, const void *x, int64_t incx,
                                     const void *y, int64_t incy, void *result, cudaDataType type)
{
    struct operation op = vectors(OPERATOR_DOT, n, x, incx, y, incy, type);

    op.transa = CUBLAS_OP_C;
    op.result = result;
    return operation_run(handle, &op);
}

/* R is the real type; Y scales by a number of type R. */
#define COMPLEX(form, N, S, Y, T, R, type, real)                                                   \
    CUBLAS_API cublasStatus_t cublas##Y##scal_v2##form(cublasHandle_t handle, N n, const R *alpha, \
                                                       T *x, N incx)                               \
    {                                                                                              \
        return scal(handle, n, alpha, x, incx, type, real);                                        \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##dotu_v2##form(cublasHandle_t handle, N n, const T *x,     \
                                                       N incx, const T *y, N incy, T *result)      \
    {                                                                                              \
        return reduce(OPERATOR_DOT, handle, n, x, incx, y, incy, result, type, false);             \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##dotc_v2##form(cublasHandle_t handle, N n, const T *x,     \
                                                       N incx, const T *y, N incy, T *result)      \
    {                                                                                              \
        return dot_conjugated(handle, n, x, incx, y, incy, result, type);                          \
    }

/* Operations that compute nothing, for real and complex numbers. */
#define MOVES(form, N, S, T, type)                                                                 \
    CUBLAS_API cublasStatus_t cublas##S##copy_v2##form(cublasHandle_t handle, N n, const T *x,     \
                                                       N incx, T *y, N incy)                       \
    {                                                                                              \
        return transfer(OPERATOR_COPY, handle, n, x, incx, y, incy, type);                         \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublas##S##swap_v2##form(cublasHandle_t handle, N n, T *x, N incx,   \
                                                       T *y, N incy)                               \
    {                                                                                              \
        return transfer(OPERATOR_SWAP, handle, n, x, incx, y, incy, type);                         \
    }

BOTH_FORMS(SUMS, S, float, CUDA_R_32F)
BOTH_FORMS(SUMS, D, double, CUDA_R_64F)
BOTH_FORMS(SUMS, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(SUMS, Z, cuDoubleComplex, CUDA_C_64F)
BOTH_FORMS(NORMS, S, float, float, CUDA_R_32F)
BOTH_FORMS(NORMS, D, double, double, CUDA_R_64F)
BOTH_FORMS(NORMS, Sc, cuComplex, float, CUDA_C_32F)
BOTH_FORMS(NORMS, Dz, cuDoubleComplex, double, CUDA_C_64F)
BOTH_FORMS(REAL, S, float, CUDA_R_32F)
BOTH_FORMS(REAL, D, double, CUDA_R_64F)
BOTH_FORMS(INDEX, s, float, CUDA_R_32F)
BOTH_FORMS(INDEX, d, double, CUDA_R_64F)
BOTH_FORMS(INDEX, c, cuComplex, CUDA_C_32F)
BOTH_FORMS(INDEX, z, cuDoubleComplex, CUDA_C_64F)
BOTH_FORMS(COMPLEX, C, Cs, cuComplex, float, CUDA_C_32F, CUDA_R_32F)
BOTH_FORMS(COMPLEX, Z, Zd, cuDoubleComplex, double, CUDA_C_64F, CUDA_R_64F)
BOTH_FORMS(MOVES, S, float, CUDA_R_32F)
BOTH_FORMS(MOVES, D, double, CUDA_R_64F)
BOTH_FORMS(MOVES, C, cuComplex, CUDA_C_32F)
BOTH_FORMS(MOVES, Z, cuDoubleComplex, CUDA_C_64F)

/* ---- Types by parameter: one for all operands, sums of f32 for 16 bits ----------------------- */

static bool types_agree(cudaDataType type, cudaDataType other, cudaDataType execution)
{
    bool narrow = type == CUDA_R_16F || type == CUDA_R_16BF;

    return type == other && execution == (narrow ? CUDA_R_32F : type) &&
           (narrow || type == CUDA_R_32F || type == CUDA_R_64F || type_complex(type));
}

/* Checks the types of nrm2. A length has the real type, in which also the length of complex vectors
 * is computed. */
static bool nrm2_agrees(cudaDataType type, cudaDataType result, cudaDataType execution)
{
    return result == type_part(type) && types_agree(result, result, execution);
}

/* Checks the types of asum. The sum has the type in which it is computed or, of complex numbers,
 * the type of the parts. */
static bool asum_agrees(cudaDataType type, cudaDataType result, cudaDataType execution)
{
    return types_agree(type, type, execution) && result == type_part(execution);
}

#define DOT_TYPED(form, N, name, dot)                                                              \
    CUBLAS_API cublasStatus_t cublas##name##form(cublasHandle_t handle, N n, const void *x,        \
                                                 cudaDataType x_type, N incx, const void *y,       \
                                                 cudaDataType y_type, N incy, void *result,        \
                                                 cudaDataType result_type, cudaDataType execution) \
    {                                                                                              \
        if (handle != NULL && (!types_agree(x_type, y_type, execution) || result_type != x_type))  \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return dot;                                                                                \
    }

BOTH_FORMS(DOT_TYPED, DotEx,
           reduce(OPERATOR_DOT, handle, n, x, incx, y, incy, result, x_type, false))
BOTH_FORMS(DOT_TYPED, DotcEx, dot_conjugated(handle, n, x, incx, y, incy, result, x_type))

#define LENGTH_TYPED(form, N, name, operator, agrees)                                              \
    CUBLAS_API cublasStatus_t cublas##name##form(cublasHandle_t handle, N n, const void *x,        \
                                                 cudaDataType x_type, N incx, void *result,        \
                                                 cudaDataType result_type, cudaDataType execution) \
    {                                                                                              \
        if (handle != NULL && !agrees(x_type, result_type, execution))                             \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return reduce(operator, handle, n, x, incx, NULL, 1, result, x_type, false);               \
    }

BOTH_FORMS(LENGTH_TYPED, Nrm2Ex, OPERATOR_NRM2, nrm2_agrees)
BOTH_FORMS(LENGTH_TYPED, AsumEx, OPERATOR_ASUM, asum_agrees)

#define INDEX_TYPED(form, N, name, operator)                                                       \
    CUBLAS_API cublasStatus_t cublas##name##form(cublasHandle_t handle, N n, const void *x,        \
                                                 cudaDataType x_type, N incx, N *result)           \
    {                                                                                              \
        return reduce(operator, handle, n, x, incx, NULL, 1, result, x_type, WIDE(N));             \
    }

BOTH_FORMS(INDEX_TYPED, IamaxEx, OPERATOR_IAMAX)
BOTH_FORMS(INDEX_TYPED, IaminEx, OPERATOR_IAMIN)

#define TYPED(form, N, unused)                                                                     \
    CUBLAS_API cublasStatus_t cublasAxpyEx##form(                                                  \
        cublasHandle_t handle, N n, const void *alpha, cudaDataType alpha_type, const void *x,     \
        cudaDataType x_type, N incx, void *y, cudaDataType y_type, N incy, cudaDataType execution) \
    {                                                                                              \
        if (handle != NULL &&                                                                      \
            (!types_agree(x_type, y_type, execution) || alpha_type != execution))                  \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return axpy(handle, n, alpha, x, incx, y, incy, x_type, alpha_type);                       \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasScalEx##form(                                                  \
        cublasHandle_t handle, N n, const void *alpha, cudaDataType alpha_type, void *x,           \
        cudaDataType x_type, N incx, cudaDataType execution)                                       \
    {                                                                                              \
        if (handle != NULL &&                                                                      \
            (!types_agree(x_type, x_type, execution) || alpha_type != execution))                  \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return scal(handle, n, alpha, x, incx, x_type, alpha_type);                                \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasCopyEx##form(cublasHandle_t handle, N n, const void *x,        \
                                                 cudaDataType x_type, N incx, void *y,             \
                                                 cudaDataType y_type, N incy)                      \
    {                                                                                              \
        if (handle != NULL && (x_type != y_type || type_size(x_type) < 2))                         \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return transfer(OPERATOR_COPY, handle, n, x, incx, y, incy, x_type);                       \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasSwapEx##form(cublasHandle_t handle, N n, void *x,              \
                                                 cudaDataType x_type, N incx, void *y,             \
                                                 cudaDataType y_type, N incy)                      \
    {                                                                                              \
        if (handle != NULL && (x_type != y_type || type_size(x_type) < 2))                         \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return transfer(OPERATOR_SWAP, handle, n, x, incx, y, incy, x_type);                       \
    }

BOTH_FORMS(TYPED, )
