/* operation.c - see operation.h. */
#include "cublas/op/operation.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "cublas/op/operators.h"

static const struct {
    const char *name;
    cublasStatus_t (*check)(const struct operation *op);
    cublasStatus_t (*run)(cublasHandle_t handle, const struct operation *op);
} operators[OPERATORS] = {
#define OPERATOR(name, check, run) [OPERATOR_##name] = {#name, check, run},
#include "cublas/operators.def"
#undef OPERATOR
};

static _Atomic(void (*)(const char *)) log_line;

void operation_log(void (*write_line)(const char *line))
{
    atomic_store(&log_line, write_line);
}

struct operation operation_of(enum operator_name name)
{
    return (struct operation){.name = name, .batch = 1};
}

struct operand operand_of(const void *address, int64_t ld, cudaDataType type)
{
    return (struct operand){.address = (uintptr_t)address, .ld = ld, .type = type};
}

static struct scalar scalar_of(struct operation *op, cublasHandle_t handle, const void *value,
                               cudaDataType type)
{
    struct scalar scalar = {.type = type_scalar(type)};

    if (value == NULL)
        op->invalid = true;
    else if (handle != NULL && handle->pointer_mode == CUBLAS_POINTER_MODE_DEVICE)
        scalar.address = (uintptr_t)value;
    else
        memcpy(scalar.bits, value, type_size(type));
    return scalar;
}

void operation_scalars(struct operation *op, cublasHandle_t handle, const void *alpha,
                       const void *beta, cudaDataType type)
{
    op->scalar_type = type;
    op->alpha = scalar_of(op, handle, alpha, type);
    op->beta = scalar_of(op, handle, beta, type);
}

void operation_beta(struct operation *op, cublasHandle_t handle, const void *beta,
                    cudaDataType type)
{
    op->beta = scalar_of(op, handle, beta, type);
}

void operation_ones(struct operation *op, cudaDataType type)
{
    static const double one = 1;
    static const float one_f32 = 1;

    if (type == CUDA_R_64F || type == CUDA_C_64F)
        operation_scalars(op, NULL, &one, &one, CUDA_R_64F);
    else
        operation_scalars(op, NULL, &one_f32, &one_f32, CUDA_R_32F);
    op->scalar_type = type;
}

static void operation_note(const struct operation *op)
{
    void (*write_line)(const char *) = atomic_load(&log_line);
    char line[160];

    if (write_line == NULL)
        return;
    snprintf(line, sizeof(line), "libgshare_cublas: %s m %lld n %lld k %lld batch %lld\n",
             operators[op->name].name, (long long)op->m, (long long)op->n, (long long)op->k,
             (long long)op->batch);
    write_line(line);
}

cublasStatus_t operation_run(cublasHandle_t handle, struct operation *op)
{
    cublasStatus_t status;

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    operation_note(op);
    status = operators[op->name].check(op);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    if (op->invalid)
        return CUBLAS_STATUS_INVALID_VALUE;
    if (op->m > SIZE_MOST || op->n > SIZE_MOST || op->k > SIZE_MOST || op->batch > SIZE_MOST)
        return CUBLAS_STATUS_NOT_SUPPORTED;
    return operators[op->name].run(handle, op);
}
