/* api_lt.c - cuBLASLt's functions: handles, descriptors, algorithms and the product. */
#include <stdlib.h>
#include <string.h>

#include "cublas/lt/matmul.h"

#ifdef GS_CUDART_TOOLKIT
#include <cublas_v2.h>
#else
cublasStatus_t cublasCreate_v2(cublasHandle_t *handle);
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle);
const char *cublasGetStatusName(cublasStatus_t status);
const char *cublasGetStatusString(cublasStatus_t status);
size_t cublasGetCudartVersion(void);
cublasStatus_t cublasGetProperty(libraryPropertyType type, int *value);
#endif

/* Programs may pass a cuBLAS handle as a cuBLASLt handle, so here they are the same. */
CUBLAS_API cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
    return cublasCreate_v2((cublasHandle_t *)handle);
}

CUBLAS_API cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
    return cublasDestroy_v2((cublasHandle_t)handle);
}

CUBLAS_API const char *cublasLtGetStatusName(cublasStatus_t status)
{
    return cublasGetStatusName(status);
}

CUBLAS_API const char *cublasLtGetStatusString(cublasStatus_t status)
{
    return cublasGetStatusString(status);
}

CUBLAS_API size_t cublasLtGetVersion(void)
{
    return CUBLAS_VERSION;
}

CUBLAS_API size_t cublasLtGetCudartVersion(void)
{
    return cublasGetCudartVersion();
}

CUBLAS_API cublasStatus_t cublasLtGetProperty(libraryPropertyType type, int *value)
{
    return cublasGetProperty(type, value);
}

/* ---- Descriptors: a program has them made, or keeps the words itself ------------------------- */

static cublasStatus_t descriptor_init(void *to, size_t size, size_t opaque_size, const void *value,
                                      size_t value_size)
{
    if (to == NULL || size < opaque_size)
        return CUBLAS_STATUS_ALLOC_FAILED;
    memset(to, 0, opaque_size);
    memcpy(to, value, value_size);
    return CUBLAS_STATUS_SUCCESS;
}

static cublasStatus_t layout_init(void *to, size_t size, cudaDataType type, uint64_t rows,
                                  uint64_t columns, int64_t ld)
{
    const struct lt_layout layout = {
        .type = type, .rows = rows, .columns = columns, .ld = ld, .batch = 1};

    return descriptor_init(to, size, sizeof(cublasLtMatrixLayoutOpaque_t), &layout, sizeof(layout));
}

static cublasStatus_t desc_init(void *to, size_t size, cublasComputeType_t compute,
                                cudaDataType scale)
{
    const struct lt_desc desc = {.compute = compute,
                                 .scale = scale,
                                 .fill = CUBLAS_FILL_MODE_FULL,
                                 .epilogue = CUBLASLT_EPILOGUE_DEFAULT,
                                 .aux_type = -1,
                                 .bias_type = -1};

    return descriptor_init(to, size, sizeof(cublasLtMatmulDescOpaque_t), &desc, sizeof(desc));
}

static cublasStatus_t preference_init(void *to, size_t size)
{
    const struct lt_preference preference = {.reduction_mask = UINT32_MAX,
                                             .alignment = {256, 256, 256, 256},
                                             .implementations = UINT64_MAX};

    return descriptor_init(to, size, sizeof(cublasLtMatmulPreferenceOpaque_t), &preference,
                           sizeof(preference));
}

/* The functions of each kind of descriptor besides Create and Init. */
#define DESCRIPTOR(Name, attributes, table)                                                        \
    CUBLAS_API cublasStatus_t cublasLt##Name##Destroy(cublasLt##Name##_t descriptor)               \
    {                                                                                              \
        free(descriptor);                                                                          \
        return CUBLAS_STATUS_SUCCESS;                                                              \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasLt##Name##SetAttribute(                                        \
        cublasLt##Name##_t descriptor, attributes number, const void *value, size_t size)          \
    {                                                                                              \
        return lt_attribute_set(table, descriptor, (int)number, value, size);                      \
    }                                                                                              \
    CUBLAS_API cublasStatus_t cublasLt##Name##GetAttribute(cublasLt##Name##_t descriptor,          \
                                                           attributes number, void *value,         \
                                                           size_t size, size_t *written)           \
    {                                                                                              \
        return lt_attribute_get(table, descriptor, (int)number, value, size, written);             \
    }
DESCRIPTOR(MatrixLayout, cublasLtMatrixLayoutAttribute_t, lt_layout_attributes)
DESCRIPTOR(MatmulDesc, cublasLtMatmulDescAttributes_t, lt_desc_attributes)
DESCRIPTOR(MatmulPreference, cublasLtMatmulPreferenceAttributes_t, lt_preference_attributes)

CUBLAS_API cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout,
                                                            size_t size, cudaDataType type,
                                                            uint64_t rows, uint64_t columns,
                                                            int64_t ld)
{
    return layout_init(layout, size, type, rows, columns, ld);
}

CUBLAS_API cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t *layout,
                                                     cudaDataType type, uint64_t rows,
                                                     uint64_t columns, int64_t ld)
{
    if (layout == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *layout = malloc(sizeof(**layout));
    return layout_init(*layout, sizeof(**layout), type, rows, columns, ld);
}

CUBLAS_API cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t desc, size_t size,
                                                          cublasComputeType_t compute,
                                                          cudaDataType_t scale)
{
    return desc_init(desc, size, compute, scale);
}

CUBLAS_API cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t *desc,
                                                   cublasComputeType_t compute,
                                                   cudaDataType_t scale)
{
    if (desc == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *desc = malloc(sizeof(**desc));
    return desc_init(*desc, sizeof(**desc), compute, scale);
}

CUBLAS_API cublasStatus_t
cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference, size_t size)
{
    return preference_init(preference, size);
}

CUBLAS_API cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t *preference)
{
    if (preference == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *preference = malloc(sizeof(**preference));
    return preference_init(*preference, sizeof(**preference));
}

/* ---- Algorithms: there is one, which needs no workspace -------------------------------------- */

static cublasStatus_t matmul_of(struct lt_matmul *matmul, cublasLtMatmulDesc_t desc,
                                cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d)
{
    *matmul = (struct lt_matmul){(const struct lt_desc *)desc, (const struct lt_layout *)a,
                                 (const struct lt_layout *)b, (const struct lt_layout *)c,
                                 (const struct lt_layout *)d};
    if (desc == NULL || a == NULL || b == NULL || c == NULL || d == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    return CUBLAS_STATUS_SUCCESS;
}

static void result_fill(cublasLtMatmulHeuristicResult_t *result)
{
    result->workspaceSize = 0;
    result->state = CUBLAS_STATUS_SUCCESS;
    result->wavesCount = 1;
}

CUBLAS_API cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    cublasLtMatmulPreference_t preference, int requested, cublasLtMatmulHeuristicResult_t results[],
    int *returned)
{
    struct lt_matmul matmul;
    cublasStatus_t status = matmul_of(&matmul, desc, a, b, c, d);

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (status != CUBLAS_STATUS_SUCCESS || preference == NULL || requested <= 0 ||
        results == NULL || returned == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    *returned = 0;
    status = lt_matmul_check(&matmul);
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    memset(&results[0], 0, sizeof(results[0]));
    result_fill(&results[0]);
    *returned = 1;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasLtMatmulAlgoGetIds(
    cublasLtHandle_t handle, cublasComputeType_t compute, cudaDataType_t scale, cudaDataType_t a,
    cudaDataType_t b, cudaDataType_t c, cudaDataType_t d, int requested, int ids[], int *returned)
{
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (requested <= 0 || ids == NULL || returned == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    ids[0] = 0;
    *returned = 1;
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasLtMatmulAlgoInit(cublasLtHandle_t handle,
                                                 cublasComputeType_t compute, cudaDataType_t scale,
                                                 cudaDataType_t a, cudaDataType_t b,
                                                 cudaDataType_t c, cudaDataType_t d, int id,
                                                 cublasLtMatmulAlgo_t *algo)
{
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (id != 0 || algo == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    memset(algo, 0, sizeof(*algo));
    return CUBLAS_STATUS_SUCCESS;
}

CUBLAS_API cublasStatus_t cublasLtMatmulAlgoCheck(
    cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
    const cublasLtMatmulAlgo_t *algo, cublasLtMatmulHeuristicResult_t *result)
{
    struct lt_matmul matmul;
    cublasStatus_t status = matmul_of(&matmul, desc, a, b, c, d);

    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (status != CUBLAS_STATUS_SUCCESS || algo == NULL || result == NULL)
        return CUBLAS_STATUS_INVALID_VALUE;
    status = lt_matmul_check(&matmul);
    if (status == CUBLAS_STATUS_SUCCESS)
        result_fill(result);
    return status;
}

/* ---- The product. Which algorithm is asked for does not matter, nor is the workspace used ---- */

CUBLAS_API cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                         const void *alpha, const void *a,
                                         cublasLtMatrixLayout_t a_layout, const void *b,
                                         cublasLtMatrixLayout_t b_layout, const void *beta,
                                         const void *c, cublasLtMatrixLayout_t c_layout, void *d,
                                         cublasLtMatrixLayout_t d_layout,
                                         const cublasLtMatmulAlgo_t *algo, void *workspace,
                                         size_t workspace_size, cudaStream_t stream)
{
    const struct lt_operands operands = {alpha, a, b, beta, c, d};
    struct lt_matmul matmul;
    cublasStatus_t status = matmul_of(&matmul, desc, a_layout, b_layout, c_layout, d_layout);

    (void)algo, (void)workspace, (void)workspace_size;
    if (handle == NULL)
        return CUBLAS_STATUS_NOT_INITIALIZED;
    if (status != CUBLAS_STATUS_SUCCESS)
        return status;
    return lt_matmul_run(&matmul, &operands, stream);
}
