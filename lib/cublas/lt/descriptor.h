/*
 * descriptor.h - the contents of cuBLASLt's opaque descriptors, and tables of their attributes with
 * number and offset. A descriptor belongs to the program, which guards it.
 */
#ifndef GS_CUBLAS_DESCRIPTOR_H
#define GS_CUBLAS_DESCRIPTOR_H

#include "cublas/abi_lt.h"

struct lt_layout {
    cudaDataType type;
    int32_t order; /* cublasLtOrder_t */
    uint64_t rows, columns;
    int64_t ld;
    int32_t batch;
    uint32_t batch_mode;
    int64_t stride, plane;
};

struct lt_desc {
    cublasComputeType_t compute;
    cudaDataType scale; /* of alpha and beta */
    int32_t pointer_mode;
    cublasOperation_t transa, transb, transc;
    cublasFillMode_t fill;
    uint32_t epilogue;
    void *bias;
    int64_t bias_stride;
    void *aux;
    int64_t aux_ld, aux_stride;
    void *scales[5]; /* scales of A, B, C, D, and the address for D's largest magnitude: for
                        8-bit floats */
    int32_t sm_count_target;
    int32_t aux_type, bias_type; /* cudaDataType; -1: that of D */
    int8_t fast_accumulation;
};

struct lt_preference {
    uint32_t search_mode, reduction_mask;
    uint64_t workspace;
    uint32_t alignment[4];
    float waves;
    uint64_t implementations;
};

_Static_assert(sizeof(struct lt_layout) <= sizeof(cublasLtMatrixLayoutOpaque_t) &&
                   sizeof(struct lt_desc) <= sizeof(cublasLtMatmulDescOpaque_t) &&
                   sizeof(struct lt_preference) <= sizeof(cublasLtMatmulPreferenceOpaque_t),
               "descriptors fit what programs keep for them");

struct lt_attribute {
    int number;
    unsigned offset, size;
};
/* Each table ends with a size of 0. */
extern const struct lt_attribute lt_layout_attributes[], lt_desc_attributes[],
    lt_preference_attributes[];

/* Set and get an attribute. CUBLAS_STATUS_INVALID_VALUE: the table has no such attribute, or the
 * size is wrong. */
cublasStatus_t lt_attribute_set(const struct lt_attribute *table, void *descriptor, int number,
                                const void *value, size_t size);
cublasStatus_t lt_attribute_get(const struct lt_attribute *table, const void *descriptor,
                                int number, void *value, size_t size, size_t *written);

#endif
