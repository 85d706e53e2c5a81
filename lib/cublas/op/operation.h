/*
 * operation.h - a call as a record: the operator, sizes, operands by device address, scalars. All
 * calls go through operation_run, which finds the operator's row in operators.def. A record has no
 * host pointer except `result`, and lives as long as the call.
 */
#ifndef GS_CUBLAS_OPERATION_H
#define GS_CUBLAS_OPERATION_H

#include "cublas/abi.h"
#include "cublas/base/handle.h"
#include "cublas/kernels/params.h"

enum operator_name {
#define OPERATOR(name, check, run) OPERATOR_##name,
#include "cublas/operators.def"
#undef OPERATOR
    OPERATORS
};

/* A matrix with leading dimension ld, or a vector with increment ld. */
struct operand {
    uint64_t address;
    int64_t ld, stride; /* in elements; stride: from one matrix of a batch to the next */
    cudaDataType type;
    bool array; /* `address` is the address of an array of addresses */
};

struct operation {
    enum operator_name name;
    cublasOperation_t transa, transb;
    cublasSideMode_t side;
    unsigned fill;  /* enum fill */
    bool hermitian; /* the matrix of which `fill` is a triangle is Hermitian, not symmetric */
    cublasDiagType_t diag;
    int64_t m, n, k, batch;
    int64_t above; /* diagonals of a band above its main one, which has k below */
    bool packed;   /* the triangle of a, or of SPR's c, is stored without gaps */
    struct operand a, b, c;
    uint64_t pivots, info; /* of factorizations: device addresses, or 0 */
    struct scalar alpha, beta;
    cudaDataType scalar_type;
    cublasComputeType_t compute;
    bool wide_index; /* an index as the result has 64 bits */
    bool invalid;    /* a required argument is NULL, or an enum's value is invalid */
    void *result;    /* a host or device address, by the pointer mode; for getrs, geqrf and gels
                        the address of a number on the host */
};

/* Returns a record with a batch of one. */
struct operation operation_of(enum operator_name name);
struct operand operand_of(const void *address, int64_t ld, cudaDataType type);
/* Sets alpha and beta, which are on the host or the device by the handle's pointer mode. */
void operation_scalars(struct operation *op, cublasHandle_t handle, const void *alpha,
                       const void *beta, cudaDataType type);
/* Sets a beta whose type is not alpha's. */
void operation_beta(struct operation *op, cublasHandle_t handle, const void *beta,
                    cudaDataType type);
/* Sets alpha and beta to 1, whatever the pointer mode. */
void operation_ones(struct operation *op, cudaDataType type);

/* Checks the record and enqueues its operation. */
cublasStatus_t operation_run(cublasHandle_t handle, struct operation *op);

/* Sets the function that gets a line for each operation; NULL: none. */
void operation_log(void (*write_line)(const char *line));

size_t type_size(cudaDataType type);
bool type_complex(cudaDataType type);
/* Returns the type of a complex number's parts, and of its magnitude; a real type itself. */
cudaDataType type_part(cudaDataType type);
unsigned type_scalar(cudaDataType type); /* enum scalar_type */

#endif
