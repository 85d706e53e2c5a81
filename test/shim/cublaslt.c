/*
 * cublaslt.c - stands where cuBLASLt would, for tests on the software device: the few functions
 * that the worker calls, with kernels of libgshare_cublas below them. It has no algorithm where k
 * is NO_ALGORITHM, nor for s8 where leading dimensions are no multiples of 4. For f32 it splits k
 * where it may have a workspace: that holds the first half's product until the second half's is in
 * C. So two streams that had one at a time would spoil each other's C.
 */
#include <stdlib.h>
#include <string.h>

#include "cublas/kernels/params.h"
#include "worker/blas/cublaslt.h"

#define EXPORT       __attribute__((visibility("default")))
#define NO_ALGORITHM 7u
#define SPLIT_BATCH  4 /* one launch for each */

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
MODULE(gemm_s8)
MODULE(level3)

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
    CUmodule f16, f32, f64, s8, level3;
};

EXPORT int cublasLtCreate(lt_handle *handle)
{
    lt_handle made = calloc(1, sizeof(*made));

    if (!made || cuModuleLoadData(&made->f16, gemm_f16_ptx) ||
        cuModuleLoadData(&made->f32, gemm_f32_ptx) || cuModuleLoadData(&made->f64, gemm_f64_ptx) ||
        cuModuleLoadData(&made->s8, gemm_s8_ptx) || cuModuleLoadData(&made->level3, level3_ptx))
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

/* What splitting k takes; 0: it is not split. */
static size_t workspace_for(int type, uint64_t k, lt_layout c)
{
    if (type != LT_R_32F || k < 2 || c->batch > SPLIT_BATCH)
        return 0;
    return c->rows * c->columns * (uint64_t)c->batch * sizeof(float);
}

EXPORT int cublasLtMatmulAlgoGetHeuristic(lt_handle handle, lt_desc desc, lt_layout a, lt_layout b,
                                          lt_layout c, lt_layout d, lt_preference preference,
                                          int wanted, struct lt_heuristic results[], int *found)
{
    const uint64_t k = desc->trans_a ? a->rows : a->columns;
    const size_t workspace = workspace_for(a->type, k, c);

    (void)handle, (void)d, (void)wanted;
    *found = k != NO_ALGORITHM && (a->type != LT_R_8I || (a->ld | b->ld | c->ld) % 4 == 0);
    results[0] =
        (struct lt_heuristic){.workspace = workspace <= preference->workspace ? workspace : 0};
    results[0].algo.data[0] = (uint64_t)a->type;
    results[0].algo.data[1] = results[0].workspace;
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
    struct scalar scalar = {.type = desc->scale == LT_R_64F   ? SCALAR_F64
                                    : desc->scale == LT_R_32I ? SCALAR_S32
                                                              : SCALAR_F32};

    if (desc->pointer_mode == LT_POINTER_MODE_DEVICE)
        scalar.address = (uintptr_t)at;
    else
        memcpy(scalar.bits, at, desc->scale == LT_R_64F ? 8 : 4);
    return scalar;
}

static int product_launch(lt_handle handle, int type, const struct gemm_params *params,
                          CUstream stream)
{
    const int tile = type == LT_R_32F || type == LT_R_64F ? 32 : 64;
    const char *name = type == LT_R_32F   ? "gemm_f32"
                       : type == LT_R_64F ? "gemm_f64"
                       : type == LT_R_8I  ? "gemm_s8_s32"
                       : type == LT_R_16F ? (params->c_wide ? "gemm_f16_f32" : "gemm_f16")
                                          : (params->c_wide ? "gemm_bf16_f32" : "gemm_bf16");
    CUmodule module = type == LT_R_32F   ? handle->f32
                      : type == LT_R_64F ? handle->f64
                      : type == LT_R_8I  ? handle->s8
                                         : handle->f16;
    const unsigned tiles =
        (unsigned)((params->m + tile - 1) / tile * ((params->n + tile - 1) / tile));
    struct gemm_params copy = *params;
    void *arguments[] = {&copy};
    CUfunction function;

    return cuModuleGetFunction(&function, module, name) ||
           cuLaunchKernel(function, tiles, 1,
                          params->batch < 65535 ? (unsigned)params->batch : 65535,
                          tile == 64 ? 256 : 64, 1, 1, 0, stream, arguments, NULL);
}

/* C += what the workspace holds. */
static int sum_launch(lt_handle handle, const struct gemm_params *params,
                      const struct matrix *partial, CUstream stream)
{
    const float one = 1;
    struct elementwise_params sum = {.a = *partial,
                                     .b = params->c,
                                     .c = params->c,
                                     .alpha.type = SCALAR_F32,
                                     .beta.type = SCALAR_F32,
                                     .m = params->m,
                                     .n = params->n};
    void *arguments[] = {&sum};
    CUfunction function;

    memcpy(sum.alpha.bits, &one, sizeof(one));
    memcpy(sum.beta.bits, &one, sizeof(one));
    if (cuModuleGetFunction(&function, handle->level3, "geam_f32"))
        return LT_EXECUTION_FAILED;
    for (int batch = 0; batch < params->batch; batch++) {
        if (cuLaunchKernel(function, ((unsigned)params->m + 127) / 128, 1,
                           params->n < 65535 ? (unsigned)params->n : 65535, 128, 1, 1, 0, stream,
                           arguments, NULL))
            return LT_EXECUTION_FAILED;
        sum.a.address += (uint64_t)sum.a.stride * sizeof(float);
        sum.b.address += (uint64_t)sum.b.stride * sizeof(float);
        sum.c.address += (uint64_t)sum.c.stride * sizeof(float);
    }
    return LT_SUCCESS;
}

static int split_launch(lt_handle handle, const struct gemm_params *params, void *workspace,
                        CUstream stream)
{
    struct gemm_params first = *params, second = *params;

    first.k = params->k / 2;
    first.c = (struct matrix){.address = (uintptr_t)workspace,
                              .row = 1,
                              .column = params->m,
                              .stride = (long long)params->m * params->n};
    first.beta = (struct scalar){.type = SCALAR_F32};
    second.k -= first.k;
    second.a.address += (uint64_t)(first.k * params->a.column) * sizeof(float);
    second.b.address += (uint64_t)(first.k * params->b.row) * sizeof(float);
    return product_launch(handle, LT_R_32F, &first, stream) ||
           product_launch(handle, LT_R_32F, &second, stream) ||
           sum_launch(handle, params, &first.c, stream);
}

EXPORT int cublasLtMatmul(lt_handle handle, lt_desc desc, const void *alpha, const void *a,
                          lt_layout a_layout, const void *b, lt_layout b_layout, const void *beta,
                          const void *c, lt_layout c_layout, void *d, lt_layout d_layout,
                          const struct lt_algo *algo, void *workspace, size_t workspace_size,
                          CUstream stream)
{
    const int type = a_layout->type, half = type == LT_R_16F || type == LT_R_16BF;
    const struct gemm_params params = {
        .a = matrix_of(a, a_layout, desc->trans_a),
        .b = matrix_of(b, b_layout, desc->trans_b),
        .c = matrix_of(c, c_layout, 0),
        .alpha = scalar_of(alpha, desc),
        .beta = scalar_of(beta, desc),
        .m = (int)c_layout->rows,
        .n = (int)c_layout->columns,
        .k = (int)(desc->trans_a ? a_layout->rows : a_layout->columns),
        .batch = c_layout->batch,
        .c_wide = half && c_layout->type == LT_R_32F,
    };
    const size_t needed = algo->data[1];

    if (c != d || c_layout != d_layout || algo->data[0] != (uint64_t)type ||
        (needed && (!workspace || workspace_size < needed)))
        return LT_NOT_SUPPORTED;
    if (needed ? split_launch(handle, &params, workspace, stream)
               : product_launch(handle, type, &params, stream))
        return LT_EXECUTION_FAILED;
    return LT_SUCCESS;
}
