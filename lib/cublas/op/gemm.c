/* gemm.c - products of matrices: chooses the kernel by types, and its tiles. */
#include "cublas/op/operators.h"
#include "cublas/op/vendor.h"

/* A kernel, the size of its tiles of C, and the threads of a block. */
struct tiling {
    enum kernel_name kernel;
    int rows, columns;
    unsigned threads;
};

/* The tensor-core kernels of a type, by how A and B are stored: nn, nt, tn, tt. All have the same
 * tiles. */
struct tensor {
    enum kernel_name kernel[4];
};
#define TENSOR(type)                                                                               \
    {                                                                                              \
        {                                                                                          \
            KERNEL_tensor_##type##_nn, KERNEL_tensor_##type##_nt, KERNEL_tensor_##type##_tn,       \
                KERNEL_tensor_##type##_tt                                                          \
        }                                                                                          \
    }
static const struct tensor tensor_f16 = TENSOR(f16), tensor_bf16 = TENSOR(bf16),
                           tensor_tf32 = TENSOR(tf32);
enum { TENSOR_TILE = 128, TENSOR_THREADS = 256 };

/* The types that cublasGemmEx documents, except 8-bit floats and 8-bit complex numbers. `wide`: the
 * kernel for a C of many tiles. `tensor`: kernels for tensor cores; NULL: none. */
static const struct gemm_types {
    cublasComputeType_t compute;
    cudaDataType inputs, c, scalars;
    const struct tensor *tensor;
    struct tiling small, wide;
} gemm_table[] = {
// clang-format off
#define ONE(name) {KERNEL_##name, 64, 64, 256}, {KERNEL_NONE, 0, 0, 0}
#define PRODUCT   {KERNEL_NONE, 0, 0, 0}, {KERNEL_NONE, 0, 0, 0} /* see product.c */
    {CUBLAS_COMPUTE_16F, CUDA_R_16F,  CUDA_R_16F,  CUDA_R_16F, &tensor_f16,  ONE(gemm_f16)},
    {CUBLAS_COMPUTE_32I, CUDA_R_8I,   CUDA_R_32I,  CUDA_R_32I, NULL,         ONE(gemm_s8_s32)},
    {CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, &tensor_bf16, ONE(gemm_bf16)},
    {CUBLAS_COMPUTE_32F, CUDA_R_16F,  CUDA_R_16F,  CUDA_R_32F, &tensor_f16,  ONE(gemm_f16)},
    {CUBLAS_COMPUTE_32F, CUDA_R_8I,   CUDA_R_32F,  CUDA_R_32F, NULL,         ONE(gemm_s8_f32)},
    {CUBLAS_COMPUTE_32F, CUDA_R_16BF, CUDA_R_32F,  CUDA_R_32F, &tensor_bf16, ONE(gemm_bf16_f32)},
    {CUBLAS_COMPUTE_32F, CUDA_R_16F,  CUDA_R_32F,  CUDA_R_32F, &tensor_f16,  ONE(gemm_f16_f32)},
    {CUBLAS_COMPUTE_32F, CUDA_R_32F,  CUDA_R_32F,  CUDA_R_32F, &tensor_tf32,
     {KERNEL_gemm_f32, 32, 32, 64}, {KERNEL_gemm_f32_wide, 128, 128, 256}},
    {CUBLAS_COMPUTE_64F, CUDA_R_64F,  CUDA_R_64F,  CUDA_R_64F, NULL,
     {KERNEL_gemm_f64, 32, 32, 64}, {KERNEL_gemm_f64_wide, 64, 64, 256}},
    {CUBLAS_COMPUTE_32F, CUDA_C_32F,  CUDA_C_32F,  CUDA_C_32F, NULL,         PRODUCT},
    {CUBLAS_COMPUTE_64F, CUDA_C_64F,  CUDA_C_64F,  CUDA_C_64F, NULL,         PRODUCT},
#undef ONE
#undef PRODUCT
    // clang-format on
};

/* Wide tiles are used when C has at least this many, half of a large device's SMs. */
#define WIDE_TILES      64
/* In a smaller matrix most of a tensor core's tile would be wasted. */
#define TENSOR_SIZE_MIN 32

/* Returns the exact compute type of a fast one, which may be computed exactly too. */
static cublasComputeType_t compute_plain(cublasComputeType_t compute)
{
    switch (compute) {
    case CUBLAS_COMPUTE_16F_PEDANTIC:
        return CUBLAS_COMPUTE_16F;
    case CUBLAS_COMPUTE_32F_PEDANTIC:
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
        return CUBLAS_COMPUTE_32F;
    case CUBLAS_COMPUTE_64F_PEDANTIC:
#ifndef GS_CUDART_12
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
#endif
        return CUBLAS_COMPUTE_64F;
    case CUBLAS_COMPUTE_32I_PEDANTIC:
        return CUBLAS_COMPUTE_32I;
    default:
        return compute;
    }
}

static const struct gemm_types *types_find(const struct operation *op)
{
    cublasComputeType_t compute = compute_plain(op->compute);

    for (size_t i = 0; i < sizeof(gemm_table) / sizeof(gemm_table[0]); i++) {
        const struct gemm_types *types = &gemm_table[i];

        if (types->compute == compute && types->inputs == op->a.type &&
            types->inputs == op->b.type && types->c == op->c.type &&
            types->scalars == op->scalar_type)
            return types;
    }
    return NULL;
}

cublasStatus_t gemm_check(const struct operation *op)
{
    if (!trans_valid(op->transa) || !trans_valid(op->transb) || op->m < 0 || op->n < 0 ||
        op->k < 0 || op->batch < 0)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (!ld_valid(op->a.ld, op->transa == CUBLAS_OP_N ? op->m : op->k) ||
        !ld_valid(op->b.ld, op->transb == CUBLAS_OP_N ? op->k : op->n) ||
        !ld_valid(op->c.ld, op->m))
        return CUBLAS_STATUS_INVALID_VALUE;
    return types_find(op) != NULL ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

static int64_t tiles(const struct tiling *tiling, const struct operation *op)
{
    return (int64_t)blocks(op->m, (unsigned)tiling->rows) *
           blocks(op->n, (unsigned)tiling->columns);
}

/* Returns whether tensor cores may compute the product. They do not round 16-bit inputs; f32 loses
 * bits, so the caller must allow that. */
static bool tensor_allowed(const struct gemm_types *types, const struct operation *op)
{
    if (types->tensor == NULL || op->m < TENSOR_SIZE_MIN || op->n < TENSOR_SIZE_MIN)
        return false;
    if (types->inputs != CUDA_R_32F)
        return op->compute == types->compute;
    return op->compute == CUBLAS_COMPUTE_32F_FAST_TF32 ||
           op->compute == CUBLAS_COMPUTE_32F_FAST_16F ||
           op->compute == CUBLAS_COMPUTE_32F_FAST_16BF;
}

static struct tiling tiling_choose(const struct gemm_types *types, const struct operation *op)
{
    const struct tiling *wide = &types->wide;

    if (tensor_allowed(types, op)) {
        unsigned stored = (op->transa != CUBLAS_OP_N ? 2 : 0) + (op->transb != CUBLAS_OP_N ? 1 : 0);

        return (struct tiling){types->tensor->kernel[stored], TENSOR_TILE, TENSOR_TILE,
                               TENSOR_THREADS};
    }
    if (wide->kernel == KERNEL_NONE || op->m * 2 <= wide->rows || op->n * 2 <= wide->columns)
        return types->small;
    return tiles(wide, op) * op->batch >= WIDE_TILES ? *wide : types->small;
}

/* Returns whether C has one row or column. The product is then a matrix times a vector, whose
 * kernel reads the matrix once and wastes no part of a tile. */
static bool gemm_is_gemv(const struct operation *op)
{
    return (op->m == 1 || op->n == 1) && op->k > 0 && op->fill == FILL_ALL &&
           op->a.type != CUDA_R_8I;
}

static struct operation gemm_as_gemv(const struct operation *op)
{
    struct operation gemv = *op;
    bool column = op->n == 1;
    bool stored = column ? op->transa == CUBLAS_OP_N : op->transb != CUBLAS_OP_N;
    int64_t rows = column ? op->m : op->n;

    /* If C is a row, C' = op(B)' op(A)'. */
    gemv.name = OPERATOR_GEMV;
    gemv.a = column ? op->a : op->b;
    gemv.b = column ? op->b : op->a;
    if (column)
        gemv.b.ld = op->transb == CUBLAS_OP_N ? 1 : op->b.ld;
    else
        gemv.b.ld = op->transa == CUBLAS_OP_N ? op->a.ld : 1;
    gemv.c.ld = column ? 1 : op->c.ld;
    gemv.transa = stored ? CUBLAS_OP_N : column ? op->transa : CUBLAS_OP_T;
    gemv.m = stored ? rows : op->k;
    gemv.n = stored ? op->k : rows;
    return gemv;
}

static cublasStatus_t gemm_run_real(cublasHandle_t handle, const struct operation *op)
{
    struct tiling tiling = tiling_choose(types_find(op), op);
    struct gemm_params params = {
        .a = matrix_of(&op->a, op->transa != CUBLAS_OP_N),
        .b = matrix_of(&op->b, op->transb != CUBLAS_OP_N),
        .c = matrix_of(&op->c, false),
        .alpha = op->alpha,
        .beta = op->beta,
        .m = (int)op->m,
        .n = (int)op->n,
        .k = (int)op->k,
        .batch = (int)op->batch,
        .fill = op->fill,
        .c_wide = op->c.type == CUDA_R_32F,
    };
    struct kernel_shape shape = {{1, 1, 1}, {tiling.threads, 1, 1}};

    if (op->m == 0 || op->n == 0 || op->batch == 0)
        return CUBLAS_STATUS_SUCCESS;
    if (op->k > 0 && vendor_gemm(handle, op))
        return CUBLAS_STATUS_SUCCESS;
    if (gemm_is_gemv(op)) {
        struct operation gemv = gemm_as_gemv(op);

        return gemv_run(handle, &gemv);
    }
    if (tiles(&tiling, op) > SIZE_MOST)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    shape.grid.x = (unsigned)tiles(&tiling, op);
    shape.grid.z = layers(op->batch);
    return kernel_launch(tiling.kernel, shape, &params, handle->stream);
}

cublasStatus_t gemm_run(cublasHandle_t handle, const struct operation *op)
{
    struct operation gemv;

    if (!type_complex(op->a.type))
        return gemm_run_real(handle, op);
    if (op->m == 0 || op->n == 0 || op->batch == 0)
        return CUBLAS_STATUS_SUCCESS;
    /* gemv conjugates no vector, and no matrix that it does not transpose. */
    if (!gemm_is_gemv(op) || op->transb == CUBLAS_OP_C || (op->transa == CUBLAS_OP_C && op->n != 1))
        return product_launch(handle, op, FILL_ALL, FILL_ALL);
    gemv = gemm_as_gemv(op);
    return gemv_run(handle, &gemv);
}
