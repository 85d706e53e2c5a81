// cublasXt multiplies matrices of the host, pageable or pinned, and of the device, and a call is
// complete when it returns. Other elements of C are kept.
#include <cublasXt.h>

#include "blas.h"

static const int M = 70, N = 45, K = 33, LDA = 75, LDB = 50, LDC = 73;

int main()
{
    cublasXtHandle_t handle;
    int devices[] = {0}, dim = 0;
    const double alpha = 1.5, beta = -0.5;
    array<double> a(LDA * M, 1), b(LDB * N, 2), c(LDC * N, 3);
    std::vector<double> pageable = c.host;
    double *pinned;
    judge judge;

    STATUS(cublasXtCreate(&handle));                    //> cublasXtCreate(&handle): CUBLAS_STATUS_SUCCESS
    STATUS(cublasXtDeviceSelect(handle, 1, devices));   //> cublasXtDeviceSelect(handle, 1, devices): CUBLAS_STATUS_SUCCESS
    STATUS(cublasXtSetBlockDim(handle, 64));            //> cublasXtSetBlockDim(handle, 64): CUBLAS_STATUS_SUCCESS
    STATUS(cublasXtGetBlockDim(handle, &dim));          //> cublasXtGetBlockDim(handle, &dim): CUBLAS_STATUS_SUCCESS
    HOLDS(dim == 64);                                   //> dim == 64: yes
    MUST(cudaMallocHost(&pinned, c.host.size() * sizeof(double)));
    for (size_t i = 0; i < c.host.size(); i++)
        pinned[i] = c.host[i];
    for (cublasOperation_t ta : {CUBLAS_OP_N, CUBLAS_OP_T})
        for (double *to : {pageable.data(), pinned, c.device}) {
            std::vector<double> is(c.host.size());

            MUST(cudaMemcpy(to, c.host.data(), is.size() * sizeof(double), cudaMemcpyDefault));
            BLAS(cublasXtDgemm(handle, ta, CUBLAS_OP_N, M, N, K, &alpha,
                               to == c.device ? a.device : a.host.data(), LDA, b.host.data(), LDB,
                               &beta, to, LDC));
            MUST(cudaMemcpy(is.data(), to, is.size() * sizeof(double), cudaMemcpyDefault));
            for (int j = 0; j < N; j++)
                for (int i = 0; i < LDC; i++) {
                    double should = c[i + j * LDC], sum = 0;

                    for (int k = 0; i < M && k < K; k++)
                        sum += element(a, ta, LDA, i, k) * b[k + j * LDB];
                    if (i < M)
                        should = alpha * sum + beta * should;
                    judge.see(is[i + j * LDC], should, EXACT_F64);
                }
        }
    HOLDS(judge.right()); //> judge.right(): yes
    STATUS_OF("lda", cublasXtDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha,
                                   a.host.data(), M - 1, b.host.data(), LDB, &beta, pinned, LDC));
    //> lda: CUBLAS_STATUS_INVALID_VALUE
    STATUS(cublasXtDestroy(handle)); //> cublasXtDestroy(handle): CUBLAS_STATUS_SUCCESS
    cudaFreeHost(pinned);
}
