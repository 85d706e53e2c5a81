/* vector.c - operations on vectors. */
#include "cublas/base/runtime.h"
#include "cublas/op/operators.h"

enum { THREADS = 512, BLOCKS_MOST = 1024 };

cublasStatus_t vector_check(const struct operation *op)
{
    (void)op; /* a vector of at most 0 elements leaves nothing to do */
    return CUBLAS_STATUS_SUCCESS;
}

static struct vector_params params_of(const struct operation *op)
{
    return (struct vector_params){
        .x = vector_of(&op->a, op->n).address,
        .y = vector_of(&op->b, op->n).address,
        .n = op->n,
        .incx = op->a.ld,
        .incy = op->b.ld,
        .alpha = op->alpha,
        .beta = op->beta,
        .wide_index = op->wide_index,
        .conjugated = op->transa == CUBLAS_OP_C,
    };
}

/* Runs a kernel that has a result for each element. */
static cublasStatus_t run_each(cublasHandle_t handle, const struct operation *op,
                               enum kernel_name kernel)
{
    struct vector_params params = params_of(op);
    unsigned grid = op->n < (int64_t)THREADS * BLOCKS_MOST ? blocks(op->n, THREADS) : BLOCKS_MOST;
    struct kernel_shape shape = {{grid, 1, 1}, {THREADS, 1, 1}};

    if (kernel == KERNEL_NONE)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (op->n <= 0)
        return CUBLAS_STATUS_SUCCESS;
    /* With an increment of 0 all elements have the same address, and the last one must win, so one
     * thread handles them in order. */
    if ((op->a.ld == 0 || op->b.ld == 0) && op->name != OPERATOR_SCAL)
        shape.grid.x = 1, shape.block.x = 1;
    return kernel_launch(kernel, shape, &params, handle->stream);
}

/* Runs a kernel of one block, with one result of `size` bytes. */
static cublasStatus_t run_result(cublasHandle_t handle, const struct operation *op,
                                 enum kernel_name kernel, size_t size)
{
    bool host = handle->pointer_mode == CUBLAS_POINTER_MODE_HOST;
    struct vector_params params = params_of(op);
    struct kernel_shape shape = {{1, 1, 1}, {THREADS, 1, 1}};
    cublasStatus_t status;

    if (kernel == KERNEL_NONE)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    if (op->result == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (op->name != OPERATOR_DOT && op->a.ld <= 0)
        params.n = 0;
    params.result = (uintptr_t)(host ? handle->result : op->result);
    status = kernel_launch(kernel, shape, &params, handle->stream);
    if (status == CUBLAS_STATUS_SUCCESS && host)
        status = handle_result(handle, op->result, size);
    return status;
}

cublasStatus_t axpy_run(cublasHandle_t handle, const struct operation *op)
{
    return run_each(handle, op, KERNEL_BY_TYPE_16(op->a.type, axpy));
}

cublasStatus_t scal_run(cublasHandle_t handle, const struct operation *op)
{
    return op->a.ld <= 0 ? CUBLAS_STATUS_SUCCESS
                         : run_each(handle, op, KERNEL_BY_TYPE_16(op->a.type, scal));
}

cublasStatus_t rot_run(cublasHandle_t handle, const struct operation *op)
{
    return run_each(handle, op, KERNEL_BY_TYPE_16(op->a.type, rot));
}

/* The kernel of a real type. */
#define KERNEL_OF_REALS(type, name)                                                                \
    kernel_by_type(type, KERNEL_##name##_f32, KERNEL_##name##_f64, KERNEL_NONE, KERNEL_NONE,       \
                   KERNEL_##name##_f16, KERNEL_##name##_bf16)

cublasStatus_t rotm_run(cublasHandle_t handle, const struct operation *op)
{
    return run_each(handle, op, KERNEL_OF_REALS(op->a.type, rotm));
}

static cublasStatus_t make_rotation(cublasHandle_t handle, enum kernel_name kernel,
                                    struct rotation_params params)
{
    return kernel_launch(kernel, (struct kernel_shape){{1, 1, 1}, {1, 1, 1}}, &params,
                         handle->stream);
}

cublasStatus_t rotg_run(cublasHandle_t handle, const struct operation *op)
{
    return make_rotation(handle, KERNEL_BY_TYPE_16(op->a.type, rotg),
                         (struct rotation_params){
                             {op->a.address, op->b.address, op->alpha.address, op->beta.address}});
}

cublasStatus_t rotmg_run(cublasHandle_t handle, const struct operation *op)
{
    return make_rotation(handle, KERNEL_OF_REALS(op->a.type, rotmg),
                         (struct rotation_params){{op->a.address, op->b.address, op->c.address,
                                                   op->alpha.address, op->beta.address}});
}

#define BY_SIZE(name)                                                                              \
    (type_size(op->a.type) == 2   ? KERNEL_##name##_2                                              \
     : type_size(op->a.type) == 4 ? KERNEL_##name##_4                                              \
     : type_size(op->a.type) == 8 ? KERNEL_##name##_8                                              \
                                  : KERNEL_##name##_16)

cublasStatus_t copy_run(cublasHandle_t handle, const struct operation *op)
{
    return run_each(handle, op, BY_SIZE(copy));
}

cublasStatus_t swap_run(cublasHandle_t handle, const struct operation *op)
{
    return run_each(handle, op, BY_SIZE(swap));
}

cublasStatus_t dot_run(cublasHandle_t handle, const struct operation *op)
{
    return run_result(handle, op, KERNEL_BY_TYPE_16(op->a.type, dot), type_size(op->a.type));
}

cublasStatus_t nrm2_run(cublasHandle_t handle, const struct operation *op)
{
    return run_result(handle, op, KERNEL_BY_TYPE_16(op->a.type, nrm2),
                      type_size(type_part(op->a.type)));
}

/* The sum of 16-bit numbers is computed in f32. */
cublasStatus_t asum_run(cublasHandle_t handle, const struct operation *op)
{
    const size_t size = type_size(type_part(op->a.type));

    return run_result(handle, op, KERNEL_BY_TYPE_16(op->a.type, asum), size == 2 ? 4 : size);
}

cublasStatus_t iamax_run(cublasHandle_t handle, const struct operation *op)
{
    return run_result(handle, op, KERNEL_BY_TYPE_16(op->a.type, iamax), op->wide_index ? 8 : 4);
}

cublasStatus_t iamin_run(cublasHandle_t handle, const struct operation *op)
{
    return run_result(handle, op, KERNEL_BY_TYPE_16(op->a.type, iamin), op->wide_index ? 8 : 4);
}
