// cublasLt's descriptors: what they hold at first, what is set, and what is refused.
#include "lt.h"

template <class V>
static V layout_get(cublasLtMatrixLayout_t layout, cublasLtMatrixLayoutAttribute_t attribute)
{
    V value = 0;
    size_t written = 0;

    BLAS(cublasLtMatrixLayoutGetAttribute(layout, attribute, &value, sizeof(value), &written));
    return written == sizeof(value) ? value : V(99);
}

template <class V>
static V desc_get(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t attribute)
{
    V value = 0;

    BLAS(cublasLtMatmulDescGetAttribute(desc, attribute, &value, sizeof(value), NULL));
    return value;
}

int main()
{
    const auto LD = CUBLASLT_MATRIX_LAYOUT_LD;
    const auto TRANSA = CUBLASLT_MATMUL_DESC_TRANSA;
    cublasLtMatrixLayoutOpaque_t own;
    cublasLtMatrixLayout_t layout;
    cublasLtMatmulDesc_t desc;
    cublasHandle_t handle;
    int64_t ld = 24;
    size_t size = 0;

    BLAS(cublasLtMatrixLayoutInit(&own, CUDA_R_16F, 30, 20, 32));
    BLAS(cublasLtMatrixLayoutCreate(&layout, CUDA_R_32F, 10, 20, 16));
    BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    HOLDS(layout_get<uint64_t>(&own, CUBLASLT_MATRIX_LAYOUT_ROWS) == 30); //> layout_get<uint64_t>(&own, CUBLASLT_MATRIX_LAYOUT_ROWS) == 30: yes
    HOLDS(layout_get<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) == 1); //> layout_get<int32_t>(layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) == 1: yes
    STATUS(cublasLtMatrixLayoutSetAttribute(layout, LD, &ld, sizeof(ld))); //> cublasLtMatrixLayoutSetAttribute(layout, LD, &ld, sizeof(ld)): CUBLAS_STATUS_SUCCESS
    HOLDS(layout_get<int64_t>(layout, LD) == 24); //> layout_get<int64_t>(layout, LD) == 24: yes
    STATUS(cublasLtMatrixLayoutSetAttribute(layout, LD, &ld, 2)); //> cublasLtMatrixLayoutSetAttribute(layout, LD, &ld, 2): CUBLAS_STATUS_INVALID_VALUE
    STATUS(cublasLtMatrixLayoutSetAttribute(layout, LD, NULL, sizeof(ld))); //> cublasLtMatrixLayoutSetAttribute(layout, LD, NULL, sizeof(ld)): CUBLAS_STATUS_INVALID_VALUE
    HOLDS(desc_get<int32_t>(desc, TRANSA) == CUBLAS_OP_N); //> desc_get<int32_t>(desc, TRANSA) == CUBLAS_OP_N: yes
    HOLDS(desc_get<int32_t>(desc, CUBLASLT_MATMUL_DESC_EPILOGUE) == CUBLASLT_EPILOGUE_DEFAULT); //> desc_get<int32_t>(desc, CUBLASLT_MATMUL_DESC_EPILOGUE) == CUBLASLT_EPILOGUE_DEFAULT: yes
    STATUS(cublasLtMatmulDescGetAttribute(desc, TRANSA, NULL, 0, &size)); //> cublasLtMatmulDescGetAttribute(desc, TRANSA, NULL, 0, &size): CUBLAS_STATUS_SUCCESS
    HOLDS(size == sizeof(int32_t)); //> size == sizeof(int32_t): yes

    // Sizes that do not fit each other are no product.
    lt_matmul<float> bad(CUBLAS_OP_N, CUBLAS_OP_N, {8, 8, 8}, {9, 8, 9}, {8, 8, 8});
    lt_matmul<float> good(CUBLAS_OP_N, CUBLAS_OP_N, {8, 8, 8}, {8, 8, 8}, {8, 8, 8});
    array<float> m(192);
    HOLDS(bad.run(1, m.device, m.device, 0, m.device, m.device) != CUBLAS_STATUS_SUCCESS); //> bad.run(1, m.device, m.device, 0, m.device, m.device) != CUBLAS_STATUS_SUCCESS: yes
    // A handle of cuBLAS serves too.
    BLAS(cublasCreate(&handle));
    std::swap(good.handle, *(cublasLtHandle_t *)&handle);
    STATUS(good.run(1, m.device, m.device + 64, 0, m.device + 128, m.device + 128)); //> good.run(1, m.device, m.device + 64, 0, m.device + 128, m.device + 128): CUBLAS_STATUS_SUCCESS
    BLAS(cublasLtDestroy((cublasLtHandle_t)handle));
    BLAS(cublasDestroy((cublasHandle_t)good.handle));
    BLAS(cublasLtCreate(&good.handle));
    BLAS(cublasLtMatrixLayoutDestroy(layout));
    BLAS(cublasLtMatmulDescDestroy(desc));
}
