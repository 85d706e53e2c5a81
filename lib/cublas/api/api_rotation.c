/*
 * api_rotation.c - rotations of two vectors, and the functions that make them. A rotation of
 * numbers on the host is computed on the host at once.
 */
#include <math.h>
#include <string.h>

#include "cublas/api/api.h"
#include "cublas/base/float16.h"
#include "cublas/kernels/givens.h"

GIVENS(float, float, static, sqrtf)
GIVENS(double, double, static, sqrt)

static struct operation rotation(enum operator_name name, int64_t n, const void *x, int64_t incx,
                                 const void *y, int64_t incy, cudaDataType type)
{
    struct operation op = operation_of(name);

    op.n = n;
    op.a = operand_of(x, incx, type);
    op.b = operand_of(y, incy, type);
    return op;
}

static cublasStatus_t rot(cublasHandle_t handle, int64_t n, void *x, int64_t incx, void *y,
                          int64_t incy, const void *c, cudaDataType c_type, const void *s,
                          cudaDataType s_type, cudaDataType type)
{
    struct operation op = rotation(OPERATOR_ROT, n, x, incx, y, incy, type);

    operation_scalars(&op, handle, c, c, c_type);
    operation_beta(&op, handle, s, s_type);
    return operation_run(handle, &op);
}

/* R is the type of c, S the type of s. */
#define ROT(form, N, X, T, R, S, type, c_type, s_type)                                             \
    CUBLAS_API cublasStatus_t cublas##X##rot_v2##form(cublasHandle_t handle, N n, T *x, N incx,    \
                                                      T *y, N incy, const R *c, const S *s)        \
    {                                                                                              \
        return rot(handle, n, x, incx, y, incy, c, c_type, s, s_type, type);                       \
    }

BOTH_FORMS(ROT, S, float, float, float, CUDA_R_32F, CUDA_R_32F, CUDA_R_32F)
BOTH_FORMS(ROT, D, double, double, double, CUDA_R_64F, CUDA_R_64F, CUDA_R_64F)
BOTH_FORMS(ROT, C, cuComplex, float, cuComplex, CUDA_C_32F, CUDA_R_32F, CUDA_C_32F)
BOTH_FORMS(ROT, Z, cuDoubleComplex, double, cuDoubleComplex, CUDA_C_64F, CUDA_R_64F, CUDA_C_64F)
BOTH_FORMS(ROT, Cs, cuComplex, float, float, CUDA_C_32F, CUDA_R_32F, CUDA_R_32F)
BOTH_FORMS(ROT, Zd, cuDoubleComplex, double, double, CUDA_C_64F, CUDA_R_64F, CUDA_R_64F)

/* ---- Modified rotations ---------------------------------------------------------------------- */

/* Applies a modified rotation. With parameters on the host the matrix is `h`, NULL for the
 * identity. */
static cublasStatus_t rotm(cublasHandle_t handle, int64_t n, void *x, int64_t incx, void *y,
                           int64_t incy, const void *param, const void *h, size_t each,
                           cudaDataType type)
{
    struct operation op = rotation(OPERATOR_ROTM, n, x, incx, y, incy, type);

    if (handle != NULL && handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE) {
        operation_scalars(&op, handle, param, param, type);
    } else if (param == NULL) {
        op.invalid = true;
    } else {
        for (size_t i = 0; h != NULL && i < 4; i++)
            memcpy(&(i < 2 ? &op.alpha : &op.beta)->bits[i % 2], (const char *)h + i * each, each);
        op.n = h != NULL ? n : 0;
    }
    return operation_run(handle, &op);
}

static bool on_host(cublasHandle_t handle)
{
    return handle != NULL && handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
}

#define ROTM(form, N, S, T, type)                                                                  \
    CUBLAS_API cublasStatus_t cublas##S##rotm_v2##form(cublasHandle_t handle, N n, T *x, N incx,   \
                                                       T *y, N incy, const T *param)               \
    {                                                                                              \
        T h[4];                                                                                    \
        const bool turns = on_host(handle) && param != NULL && rotm_matrix_##T(param, h);          \
                                                                                                   \
        return rotm(handle, n, x, incx, y, incy, param, turns ? h : NULL, sizeof(T), type);        \
    }

BOTH_FORMS(ROTM, S, float, CUDA_R_32F)
BOTH_FORMS(ROTM, D, double, CUDA_R_64F)

/* ---- Making them ----------------------------------------------------------------------------- */

static cublasStatus_t rotg(cublasHandle_t handle, void *a, void *b, const void *c, const void *s,
                           cudaDataType type)
{
    struct operation op = rotation(OPERATOR_ROTG, 1, a, 1, b, 1, type);

    operation_scalars(&op, handle, c, s, type);
    op.invalid |= a == NULL || b == NULL;
    return operation_run(handle, &op);
}

static cublasStatus_t rotmg(cublasHandle_t handle, void *d1, void *d2, void *x1, const void *y1,
                            const void *param, cudaDataType type)
{
    struct operation op = rotation(OPERATOR_ROTMG, 1, d1, 1, d2, 1, type);

    op.c = operand_of(x1, 1, type);
    operation_scalars(&op, handle, y1, param, type);
    op.invalid |= d1 == NULL || d2 == NULL || x1 == NULL;
    return operation_run(handle, &op);
}

/* R is the type of c; `made` computes on the host. */
#define ROTG(S, T, R, type, made)                                                                  \
    CUBLAS_API cublasStatus_t cublas##S##rotg_v2(cublasHandle_t handle, T *a, T *b, R *c, T *s)    \
    {                                                                                              \
        if (!on_host(handle))                                                                      \
            return rotg(handle, a, b, c, s, type);                                                 \
        if (a == NULL || b == NULL || c == NULL || s == NULL)                                      \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        made;                                                                                      \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

ROTG(S, float, float, CUDA_R_32F, rotg_float(a, b, c, s))
ROTG(D, double, double, CUDA_R_64F, rotg_double(a, b, c, s))
ROTG(C, cuComplex, float, CUDA_C_32F, rotg_complex_float(&a->x, &b->x, c, &s->x))
ROTG(Z, cuDoubleComplex, double, CUDA_C_64F, rotg_complex_double(&a->x, &b->x, c, &s->x))

#define ROTMG(S, T, type)                                                                          \
    CUBLAS_API cublasStatus_t cublas##S##rotmg_v2(cublasHandle_t handle, T *d1, T *d2, T *x1,      \
                                                  const T *y1, T *param)                           \
    {                                                                                              \
        if (!on_host(handle))                                                                      \
            return rotmg(handle, d1, d2, x1, y1, param, type);                                     \
        if (d1 == NULL || d2 == NULL || x1 == NULL || y1 == NULL || param == NULL)                 \
            return CUBLAS_STATUS_INVALID_VALUE;                                                    \
        rotmg_##T(d1, d2, x1, *y1, param);                                                         \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }

ROTMG(S, float, CUDA_R_32F)
ROTMG(D, double, CUDA_R_64F)

/* ---- Types by parameter ---------------------------------------------------------------------- */

/* Checks the types of a rotation. c and s have the same type: that of the vectors or, for complex
 * numbers, of their parts. */
static bool types_agree(cudaDataType type, cudaDataType scalars, cudaDataType execution)
{
    switch (type) {
    case CUDA_R_16F:
    case CUDA_R_16BF:
        return execution == CUDA_R_32F && scalars == type;
    case CUDA_R_32F:
    case CUDA_R_64F:
        return execution == type && scalars == type;
    case CUDA_C_32F:
        return execution == type && (scalars == type || scalars == CUDA_R_32F);
    case CUDA_C_64F:
        return execution == type && (scalars == type || scalars == CUDA_R_64F);
    default:
        return false;
    }
}

#define TYPED(form, N, unused)                                                                     \
    CUBLAS_API cublasStatus_t cublasRotEx##form(                                                   \
        cublasHandle_t handle, N n, void *x, cudaDataType x_type, N incx, void *y,                 \
        cudaDataType y_type, N incy, const void *c, const void *s, cudaDataType scalar_type,       \
        cudaDataType execution)                                                                    \
    {                                                                                              \
        if (handle != NULL && (x_type != y_type || !types_agree(x_type, scalar_type, execution)))  \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        return rot(handle, n, x, incx, y, incy, c, scalar_type, s, scalar_type, x_type);           \
    }

BOTH_FORMS(TYPED, )

/* Converts numbers of 16 bits on the host to f32. */
static void widen(float *to, const void *from, cudaDataType type, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = float_of_16(((const uint16_t *)from)[i], type);
}

static void narrow(void *to, const float *from, cudaDataType type, int count)
{
    for (int i = 0; i < count; i++)
        ((uint16_t *)to)[i] = float_to_16(from[i], type);
}

/* Returns whether this is a real type that the functions below support, the same for numbers and
 * results. */
static bool reals_agree(cudaDataType type, cudaDataType results, cudaDataType execution)
{
    return !type_complex(type) && types_agree(type, results, execution);
}

CUBLAS_API cublasStatus_t cublasRotgEx(cublasHandle_t handle, void *a, void *b, cudaDataType type,
                                       void *c, void *s, cudaDataType scalar_type,
                                       cudaDataType execution)
{
    float r, z, cosine, sine;

    if (handle != NULL && !reals_agree(type, scalar_type, execution))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (type == CUDA_R_64F)
        return cublasDrotg_v2(handle, a, b, c, s);
    if (type == CUDA_R_32F)
        return cublasSrotg_v2(handle, a, b, c, s);
    if (!on_host(handle))
        return rotg(handle, a, b, c, s, type);
    if (a == NULL || b == NULL || c == NULL || s == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    widen(&r, a, type, 1);
    widen(&z, b, type, 1);
    rotg_float(&r, &z, &cosine, &sine);
    narrow(a, &r, type, 1);
    narrow(b, &z, type, 1);
    narrow(c, &cosine, type, 1);
    narrow(s, &sine, type, 1);
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasRotmgEx(cublasHandle_t handle, void *d1, cudaDataType type,
                                        void *d2, cudaDataType d2_type, void *x1,
                                        cudaDataType x1_type, const void *y1, cudaDataType y1_type,
                                        void *param, cudaDataType param_type,
                                        cudaDataType execution)
{
    float d[2], x, y, made[5];

    if (handle != NULL && (!reals_agree(type, param_type, execution) || d2_type != type ||
                           x1_type != type || y1_type != type))
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (type == CUDA_R_64F)
        return cublasDrotmg_v2(handle, d1, d2, x1, y1, param);
    if (type == CUDA_R_32F)
        return cublasSrotmg_v2(handle, d1, d2, x1, y1, param);
    if (!on_host(handle))
        return rotmg(handle, d1, d2, x1, y1, param, type);
    if (d1 == NULL || d2 == NULL || x1 == NULL || y1 == NULL || param == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    widen(&d[0], d1, type, 1);
    widen(&d[1], d2, type, 1);
    widen(&x, x1, type, 1);
    widen(&y, y1, type, 1);
    widen(made, param, type, 5);
    rotmg_float(&d[0], &d[1], &x, y, made);
    narrow(d1, &d[0], type, 1);
    narrow(d2, &d[1], type, 1);
    narrow(x1, &x, type, 1);
    narrow(param, made, type, 5);
    return CUBLAS_STATUS_SUCCESS;
}

#define ROTM_TYPED(form, N, unused)                                                                \
    CUBLAS_API cublasStatus_t cublasRotmEx##form(cublasHandle_t handle, N n, void *x,              \
                                                 cudaDataType type, N incx, void *y,               \
                                                 cudaDataType y_type, N incy, const void *param,   \
                                                 cudaDataType param_type, cudaDataType execution)  \
    {                                                                                              \
        float wide[5], h[4];                                                                       \
        bool turns = false;                                                                        \
                                                                                                   \
        if (handle != NULL && (y_type != type || !reals_agree(type, param_type, execution)))       \
            return CUBLAS_STATUS_NOT_SUPPORTED;                                                    \
        if (type == CUDA_R_64F)                                                                    \
            return cublasDrotm_v2##form(handle, n, x, incx, y, incy, param);                       \
        if (type == CUDA_R_32F)                                                                    \
            return cublasSrotm_v2##form(handle, n, x, incx, y, incy, param);                       \
        if (on_host(handle) && param != NULL) {                                                    \
            widen(wide, param, type, 5);                                                           \
            turns = rotm_matrix_float(wide, h);                                                    \
        }                                                                                          \
        return rotm(handle, n, x, incx, y, incy, param, turns ? h : NULL, sizeof(float), type);    \
    }

BOTH_FORMS(ROTM_TYPED, )
