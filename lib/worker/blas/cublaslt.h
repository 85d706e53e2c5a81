/*
 * cublaslt.h - the part of cuBLASLt's binary interface that the worker calls, of versions 12 and
 * 13. The library is loaded at run time (library.c); test/shim/cublaslt_abi.c compares with
 * NVIDIA's own header where there is one.
 */
#ifndef GS_WORKER_BLAS_CUBLASLT_H
#define GS_WORKER_BLAS_CUBLASLT_H

#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"

enum lt_status { LT_SUCCESS = 0, LT_EXECUTION_FAILED = 13, LT_NOT_SUPPORTED = 15 };
enum lt_type {
    LT_R_32F = 0,
    LT_R_64F = 1,
    LT_R_16F = 2,
    LT_R_8I = 3,
    LT_R_32I = 10,
    LT_R_16BF = 14
};
enum lt_compute {
    LT_COMPUTE_32F = 68,
    LT_COMPUTE_64F = 70,
    LT_COMPUTE_32I = 72,
    LT_COMPUTE_32F_FAST_TF32 = 77
};
enum lt_operation { LT_OP_N = 0, LT_OP_T = 1 };
enum lt_pointer_mode { LT_POINTER_MODE_HOST = 0, LT_POINTER_MODE_DEVICE = 1 };
enum lt_desc_attribute { LT_DESC_POINTER_MODE = 2, LT_DESC_TRANSA = 3, LT_DESC_TRANSB = 4 };
enum lt_layout_attribute { LT_LAYOUT_BATCH_COUNT = 5, LT_LAYOUT_STRIDE = 6 };
enum lt_config_attribute { LT_CONFIG_CLUSTER_SHAPE = 8 };
/* The blocks of a cluster: the kernel's default, one, two in a row, two in a column. */
enum lt_cluster_shape {
    LT_CLUSTER_AUTO = 0,
    LT_CLUSTER_1 = 2,
    LT_CLUSTER_2X1 = 3,
    LT_CLUSTER_1X2 = 5
};
enum lt_preference_attribute {
    LT_PREFERENCE_MAX_WORKSPACE = 1,
    LT_PREFERENCE_ALIGN_A = 5,
    LT_PREFERENCE_ALIGN_B = 6,
    LT_PREFERENCE_ALIGN_C = 7,
    LT_PREFERENCE_ALIGN_D = 8
};

typedef struct lt_context *lt_handle;
typedef struct lt_desc_opaque *lt_desc;
typedef struct lt_layout_opaque *lt_layout;
typedef struct lt_preference_opaque *lt_preference;

/* A kernel of the library, and into how many parts it splits the product; a value that may be kept
 * and copied. */
struct lt_algo {
    uint64_t data[8];
};

struct lt_heuristic {
    struct lt_algo algo;
    size_t workspace;
    int state; /* enum lt_status */
    float waves;
    int reserved[4];
};

#define LT_FUNCTIONS(X)                                                                            \
    X(cublasLtCreate, (lt_handle * handle))                                                        \
    X(cublasLtMatmulDescCreate, (lt_desc * desc, int compute, int scale_type))                     \
    X(cublasLtMatmulDescDestroy, (lt_desc desc))                                                   \
    X(cublasLtMatmulDescSetAttribute,                                                              \
      (lt_desc desc, int attribute, const void *value, size_t size))                               \
    X(cublasLtMatrixLayoutCreate,                                                                  \
      (lt_layout * layout, int type, uint64_t rows, uint64_t columns, int64_t ld))                 \
    X(cublasLtMatrixLayoutDestroy, (lt_layout layout))                                             \
    X(cublasLtMatrixLayoutSetAttribute,                                                            \
      (lt_layout layout, int attribute, const void *value, size_t size))                           \
    X(cublasLtMatmulPreferenceCreate, (lt_preference * preference))                                \
    X(cublasLtMatmulPreferenceDestroy, (lt_preference preference))                                 \
    X(cublasLtMatmulPreferenceSetAttribute,                                                        \
      (lt_preference preference, int attribute, const void *value, size_t size))                   \
    X(cublasLtMatmulAlgoGetHeuristic,                                                              \
      (lt_handle handle, lt_desc desc, lt_layout a, lt_layout b, lt_layout c, lt_layout d,         \
       lt_preference preference, int wanted, struct lt_heuristic results[], int *found))           \
    X(cublasLtMatmulAlgoConfigGetAttribute,                                                        \
      (const struct lt_algo *algo, int attribute, void *value, size_t size, size_t *written))      \
    X(cublasLtMatmul,                                                                              \
      (lt_handle handle, lt_desc desc, const void *alpha, const void *a, lt_layout a_layout,       \
       const void *b, lt_layout b_layout, const void *beta, const void *c, lt_layout c_layout,     \
       void *d, lt_layout d_layout, const struct lt_algo *algo, void *workspace,                   \
       size_t workspace_size, CUstream stream))

#endif
