/* lt.h - a product by cublasLtMatmul, with the descriptors that it needs. */
#ifndef LT_H
#define LT_H

#include <cublasLt.h>

#include "blas.h"

template <class T> struct lt_type;
template <> struct lt_type<float> {
    static constexpr cudaDataType value = CUDA_R_32F;
};
template <> struct lt_type<__half> {
    static constexpr cudaDataType value = CUDA_R_16F;
};
template <> struct lt_type<__nv_bfloat16> {
    static constexpr cudaDataType value = CUDA_R_16BF;
};

struct lt_size {
    uint64_t rows, columns;
    int64_t ld;
};

template <class T> struct lt_matmul {
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t a, b, c, d;
    void *workspace;
    static constexpr size_t workspace_size = 4 << 20;

    lt_matmul(cublasOperation_t ta, cublasOperation_t tb, lt_size sa, lt_size sb, lt_size sd)
    {
        const cudaDataType type = lt_type<T>::value;

        BLAS(cublasLtCreate(&handle));
        BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
        set(CUBLASLT_MATMUL_DESC_TRANSA, ta);
        set(CUBLASLT_MATMUL_DESC_TRANSB, tb);
        BLAS(cublasLtMatrixLayoutCreate(&a, type, sa.rows, sa.columns, sa.ld));
        BLAS(cublasLtMatrixLayoutCreate(&b, type, sb.rows, sb.columns, sb.ld));
        BLAS(cublasLtMatrixLayoutCreate(&c, type, sd.rows, sd.columns, sd.ld));
        BLAS(cublasLtMatrixLayoutCreate(&d, type, sd.rows, sd.columns, sd.ld));
        MUST(cudaMalloc(&workspace, workspace_size));
    }
    ~lt_matmul()
    {
        cublasLtMatmulDescDestroy(desc);
        for (cublasLtMatrixLayout_t layout : {a, b, c, d})
            cublasLtMatrixLayoutDestroy(layout);
        cudaFree(workspace);
        cublasLtDestroy(handle);
    }

    template <class V> void set(cublasLtMatmulDescAttributes_t attribute, V value)
    {
        BLAS(cublasLtMatmulDescSetAttribute(desc, attribute, &value, sizeof(value)));
    }
    template <class V>
    void layouts(std::initializer_list<cublasLtMatrixLayout_t> which,
                 cublasLtMatrixLayoutAttribute_t attribute, V value)
    {
        for (cublasLtMatrixLayout_t layout : which)
            BLAS(cublasLtMatrixLayoutSetAttribute(layout, attribute, &value, sizeof(value)));
    }

    // As programs do it: the algorithm is asked for first.
    cublasStatus_t run(float alpha, const T *A, const T *B, float beta, const T *C, T *D)
    {
        cublasLtMatmulPreference_t preference;
        cublasLtMatmulHeuristicResult_t found;
        const size_t size = workspace_size;
        int count = 0;

        BLAS(cublasLtMatmulPreferenceCreate(&preference));
        BLAS(cublasLtMatmulPreferenceSetAttribute(
            preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &size, sizeof(size)));
        cublasStatus_t status =
            cublasLtMatmulAlgoGetHeuristic(handle, desc, a, b, c, d, preference, 1, &found, &count);
        BLAS(cublasLtMatmulPreferenceDestroy(preference));
        if (status != CUBLAS_STATUS_SUCCESS)
            return status;
        if (count != 1 || found.state != CUBLAS_STATUS_SUCCESS || found.workspaceSize > size)
            return CUBLAS_STATUS_INTERNAL_ERROR;
        return cublasLtMatmul(handle, desc, &alpha, A, a, B, b, &beta, C, c, D, d, &found.algo,
                              workspace, workspace_size, 0);
    }
};

#endif
