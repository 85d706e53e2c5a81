// cublasLtMatmul of 8-bit floats: both kinds for A and B, results of 8, 16 and 32 bits, with a C of
// its own, scales of all four matrices, and the largest magnitude of the result before its scale.
// NVIDIA's cublasLtMatmul on an H200 does not support the first of them; which of its values it
// refuses is not known.
#include <cuda_fp8.h>

#include "lt.h"

static const int M = 64, N = 48, K = 96;

template <> struct lt_type<__nv_fp8_e4m3> {
    static constexpr cudaDataType value = CUDA_R_8F_E4M3;
};
template <> struct lt_type<__nv_fp8_e5m2> {
    static constexpr cudaDataType value = CUDA_R_8F_E5M2;
};

template <class T> struct floats {
    T *at;

    floats(int count, unsigned seed, float factor)
    {
        MUST(cudaMallocManaged(&at, count * sizeof(T)));
        for (int i = 0; i < count; i++) {
            seed = seed * 1664525u + 1013904223u;
            at[i] = T((float)(int)seed / 2147483648.0f * factor);
        }
    }
    ~floats() { cudaFree(at); }
    double operator()(int i) const { return (double)(float)at[i]; }
};

/* tolerance: of D's type, relative. */
template <class A, class B, class C, class D>
void product(const char *name, double tolerance, bool scaled)
{
    floats<A> a(M * K, 1, 2);
    floats<B> b(K * N, 2, 3);
    floats<C> c(M * N, 3, 4);
    floats<D> d(M * N, 4, 1);
    floats<float> scales(5, 5, 1);
    const float alpha = 1.5f, beta = -0.5f;
    cublasLtHandle_t handle;
    cublasLtMatmulDesc_t desc;
    cublasLtMatrixLayout_t la, lb, lc, ld;
    cublasLtMatmulPreference_t preference;
    cublasLtMatmulHeuristicResult_t found;
    const cublasOperation_t trans = CUBLAS_OP_T;
    size_t workspace_size = 4 << 20;
    void *workspace;
    int count = 0;
    double largest = 0;
    judge judge;
    auto pointer = [&](cublasLtMatmulDescAttributes_t attribute, int which) {
        float *at = scales.at + which;

        BLAS(cublasLtMatmulDescSetAttribute(desc, attribute, &at, sizeof(at)));
    };

    scales.at[0] = 2, scales.at[1] = 0.25f, scales.at[2] = 3, scales.at[3] = 0.5f;
    if (!scaled)
        scales.at[0] = scales.at[1] = scales.at[2] = scales.at[3] = 1;
    BLAS(cublasLtCreate(&handle));
    BLAS(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    BLAS(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &trans, sizeof(trans)));
    if (scaled) {
        pointer(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, 0);
        pointer(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, 1);
        pointer(CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, 2);
        pointer(CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, 3);
        pointer(CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, 4);
    }
    BLAS(cublasLtMatrixLayoutCreate(&la, lt_type<A>::value, K, M, K));
    BLAS(cublasLtMatrixLayoutCreate(&lb, lt_type<B>::value, K, N, K));
    BLAS(cublasLtMatrixLayoutCreate(&lc, lt_type<C>::value, M, N, M));
    BLAS(cublasLtMatrixLayoutCreate(&ld, lt_type<D>::value, M, N, M));
    BLAS(cublasLtMatmulPreferenceCreate(&preference));
    BLAS(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                              &workspace_size, sizeof(workspace_size)));
    MUST(cudaMalloc(&workspace, workspace_size));
    BLAS(cublasLtMatmulAlgoGetHeuristic(handle, desc, la, lb, lc, ld, preference, 1, &found,
                                        &count));
    BLAS(cublasLtMatmul(handle, desc, &alpha, a.at, la, b.at, lb, &beta, c.at, lc, d.at, ld,
                        &found.algo, workspace, workspace_size, nullptr));
    MUST(cudaDeviceSynchronize());
    for (int j = 0; j < N; j++)
        for (int i = 0; i < M; i++) {
            double sum = 0;

            for (int k = 0; k < K; k++)
                sum += a(k + i * K) * b(k + j * K);
            sum = alpha * scales(0) * scales(1) * sum + beta * scales(2) * c(i + j * M);
            largest = std::max(largest, std::fabs(sum));
            judge.see(d(i + j * M), sum * scales(3), tolerance);
        }
    if (scaled)
        judge.see(scales(4), largest, 1e-3);
    printf("%s: %d %d\n", name, count, judge.right());
    cublasLtMatmulPreferenceDestroy(preference);
    for (cublasLtMatrixLayout_t layout : {la, lb, lc, ld})
        cublasLtMatrixLayoutDestroy(layout);
    cublasLtMatmulDescDestroy(desc);
    cublasLtDestroy(handle);
    cudaFree(workspace);
}

int main()
{
    typedef __nv_fp8_e4m3 e4m3;
    typedef __nv_fp8_e5m2 e5m2;
    typedef __nv_bfloat16 bf16;

    product<e4m3, e4m3, bf16, e4m3>("e4m3", 0.07, true);           //> e4m3: 1 1
    product<e5m2, e4m3, bf16, e5m2>("e5m2", 0.13, true);           //> e5m2: 1 1
    product<e4m3, e5m2, bf16, bf16>("to 16 bits", 0.01, false);    //> to 16 bits: 1 1
    product<e4m3, e4m3, __half, __half>("to halves", 2e-3, false); //> to halves: 1 1
    product<e4m3, e4m3, float, float>("to 32 bits", 1e-3, false);  //> to 32 bits: 1 1
}
