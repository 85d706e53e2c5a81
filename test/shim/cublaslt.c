/*
 * cublaslt.c - stands where cuBLASLt would, for tests on the software device: the few functions
 * that the worker calls, with kernels of libgshare_cublas below them. It has no algorithm where k
 * is NO_ALGORITHM, and for f32 takes a workspace where it may have one. It fills that with ones
 * first, as an algorithm that works in parts would.
 */
#include <stdlib.h>
#include <string.h>

#include "cublas/kernels/params.h"
#include "worker/blas/cublaslt.h"

#define EXPORT       __attribute__((visibility("default")))
#define NO_ALGORITHM 7u
#define WORKSPACE    65536u

#define DRIVER_PROTOTYPE(name, args) CUresult name args;
CUDA_ABI_FUNCTIONS(DRIVER_PROTOTYPE)

#define MODULE(module)                                                                             \
    extern const char module##_ptx[];                                                              \
    __asm__(".section .rodata\n"                                                                   \
            ".type " #module "_ptx, @object\n" #module "_ptx:\n"                                   \
            ".incbin \"" KERNELS_DIR "/" #module ".ptx\"\n"                                        \
            ".byte 0\n"                                                                            \
            ".size " #module "_ptx, . - " #module "_ptx\n"                                         \
            ".previous\n");
MODULE(gemm_f16)
MODULE(gemm_f32)
MODULE(gemm_f64)

struct lt_desc_opaque {
    int compute, scale, trans_a, trans_b, pointer_mode;
};

struct lt_layout_opaque {
    int type;
    uint64_t rows, columns;
    int64_t ld, stride;
    int32_t batch;
};

struct lt_preference_opaque {
    size_t workspace;
};

struct lt_context {
    CUmodule f16, f32, f64;
};

EXPORT int cublasLtCreate(lt_handle *handle)
{
    lt_handle made = calloc(1, sizeof(*made));

    if (!made || cuModuleLoadData(&made->f16, gemm_f16_ptx) ||
        cuModuleLoadData(&made->f32, gemm_f32_ptx) || cuModuleLoadData(&made->f64, gemm_f64_ptx))
        return LT_EXECUTION_FAILED;
    *handle = made;
    return LT_SUCCESS;
}

EXPORT int cublasLtMatmulDescCreate(lt_desc *desc, int compute, int scale_type)
{
    *desc = calloc(1, sizeof(**desc));
    (*desc)->compute = compute;
    (*desc)->scale = scale_type;
    return LT_SUCCESS;
}

EXPORT int cublasLtMatmulDescDestroy(lt_desc desc)
{
    free(desc);
    return LT_SUCCESS;
}

EXPORT int cublasLtMatmulDescSetAttribute(lt_desc desc, int attribute, const void *value,
                                          size_t size)
{
    int *to = attribute == LT_DESC_TRANSA   ? &desc->trans_a
              : attribute == LT_DESC_TRANSB ? &desc->trans_b
                                            : &desc->pointer_mode;

    memcpy(to, value, size);
    return LT_SUCCESS;
}

EXPORT int cublasLtMatrixLayoutCreate(lt_layout *layout, int type, uint64_t rows, uint64_t columns,
                                      int64_t ld)
{
    *layout = malloc(sizeof(**layout));
    **layout = (struct lt_layout_opaque){type, rows, columns, ld, 0, 1};
    return LT_SUCCESS;
}

EXPORT int cublasLtMatrixLayoutDestroy(lt_layout layout)
{
    free(layout);
    return LT_SUCCESS;
}

EXPORT int cublasLtMatrixLayoutSetAttribute(lt_layout layout, int attribute, const void *value,
                                            size_t size)
{
    if (attribute == LT_LAYOUT_BATCH_COUNT)
        memcpy(&layout->batch, value, size);
    else
        memcpy(&layout->stride, value, size);
    return LT_SUCCESS;
}

EXPORT int cublasLtMatmulPreferenceCreate(lt_preference *preference)
{
    *preference = calloc(1, sizeof(**preference));
    return LT_SUCCESS;
}

EXPORT int cublasLtMatmulPreferenceDestroy(lt_preference preference)
{
    free(preference);
    return LT_SUCCESS;
}

EXPORT int cublasLtMatmulPreferenceSetAttribute(lt_preference preference, int attribute,
                                                const void *value, size_t size)
{
    if (attribute == LT_PREFERENCE_MAX_WORKSPACE)
        memcpy(&preference->workspace, value, size);
    return LT_SUCCESS;
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(lt_handle handle, lt_desc desc, lt_layout a, lt_layout b,
                                          lt_layout c, lt_layout d, lt_preference preference,
                                          int wanted, struct lt_heuristic results[], int *found)
{
    (void)handle, (void)b, (void)c, (void)d, (void)wanted;
    *found = (desc->trans_a ? a->rows : a->columns) != NO_ALGORITHM;
    results[0] = (struct lt_heuristic){
        .workspace = a->type == LT_R_32F && preference->workspace >= WORKSPACE ? WORKSPACE : 0};
    results[0].algo.data[0] = (uint64_t)a->type;
    return LT_SUCCESS;
}

EXPORT int cublasLtMatmulAlgoConfigGetAttribute(const struct lt_algo *algo, int attribute,
                                                void *value, size_t size, size_t *written)
{
    const uint16_t one = LT_CLUSTER_1;

    (void)algo, (void)attribute;
    memcpy(value, &one, size);
    *written = size;
    return LT_SUCCESS;
}

static struct matrix matrix_of(const void *at, lt_layout layout, int transposed)
{
    struct matrix matrix = {
        .address = (uintptr_t)at, .row = 1, .column = layout->ld, .stride = layout->stride};

    if (transposed) {
        matrix.row = layout->ld;
        matrix.column = 1;
    }
    return matrix;
}

static struct scalar scalar_of(const void *at, lt_desc desc)
{
    struct scalar scalar = {0, 0};

    if (desc->pointer_mode == LT_POINTER_MODE_DEVICE)
        scalar.address = (uintptr_t)at;
    else
        memcpy(&scalar.bits, at, desc->scale == LT_R_64F ? 8 : 4);
    return scalar;
}

EXPORT int cublasLtMatmul(lt_handle handle, lt_desc desc, const void *alpha, const void *a,
                          lt_layout a_layout, const void *b, lt_layout b_layout, const void *beta,
                          const void *c, lt_layout c_layout, void *d, lt_layout d_layout,
                          const struct lt_algo *algo, void *workspace, size_t workspace_size,
                          CUstream stream)
{
    const int type = a_layout->type, tile = type == LT_R_32F || type == LT_R_64F ? 32 : 64;
    const int half = type == LT_R_16F || type == LT_R_16BF;
    const unsigned threads = half ? 256 : 64;
    const char *name = type == LT_R_32F   ? "gemm_f32"
                       : type == LT_R_64F ? "gemm_f64"
                       : type == LT_R_16F
                           ? (c_layout->type == LT_R_32F ? "gemm_f16_f32" : "gemm_f16")
                           : (c_layout->type == LT_R_32F ? "gemm_bf16_f32" : "gemm_bf16");
    struct gemm_params params = {
        .a = matrix_of(a, a_layout, desc->trans_a),
        .b = matrix_of(b, b_layout, desc->trans_b),
        .c = matrix_of(c, c_layout, 0),
        .alpha = scalar_of(alpha, desc),
        .beta = scalar_of(beta, desc),
        .m = (int)c_layout->rows,
        .n = (int)c_layout->columns,
        .k = (int)(desc->trans_a ? a_layout->rows : a_layout->columns),
        .batch = c_layout->batch,
        .scalar_type = desc->scale == LT_R_64F ? SCALAR_F64 : SCALAR_F32,
        .c_wide = half && c_layout->type == LT_R_32F,
    };
    const unsigned tiles =
        (unsigned)((params.m + tile - 1) / tile * ((params.n + tile - 1) / tile));
    void *arguments[] = {&params};
    CUfunction function;

    if (c != d || c_layout != d_layout || algo->data[0] != (uint64_t)type)
        return LT_NOT_SUPPORTED;
    if (workspace_size >= WORKSPACE &&
        cuMemsetD8Async((CUdeviceptr)(uintptr_t)workspace, 0xFF, WORKSPACE, stream))
        return LT_EXECUTION_FAILED;
    if (cuModuleGetFunction(&function,
                            half               ? handle->f16
                            : type == LT_R_32F ? handle->f32
                                               : handle->f64,
                            name) ||
        cuLaunchKernel(function, tiles, 1, params.batch < 65535 ? (unsigned)params.batch : 65535,
                       threads, 1, 1, 0, stream, arguments, NULL))
        return LT_EXECUTION_FAILED;
    return LT_SUCCESS;
}
