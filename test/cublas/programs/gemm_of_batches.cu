// Batches by stride, also of 0, and by arrays of addresses on the device.
#include "blas.h"

static const int M = 9, N = 11, K = 6, BATCH = 5;
static const float alpha = 2, beta = 1;

static bool batches_right(const array<float> &a, const array<float> &b, const array<float> &c,
                          int a_stride)
{
    bool right = true;

    for (int i = 0; i < BATCH; i++)
        right &= gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, alpha, a, M, b, K, beta, c, M,
                            EXACT_F32, i * a_stride, i * K * N, i * M * N);
    return right;
}

int main()
{
    blas_handle handle;
    array<float> a(BATCH * M * K, 1), b(BATCH * K * N, 2), c(BATCH * M * N, 3);
    float *host[3][BATCH], **device;

    BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, a.device, M,
                                   M * K, b.device, K, K * N, &beta, c.device, M, M * N, BATCH));
    HOLDS(batches_right(a, b, c, M * K)); //> batches_right(a, b, c, M * K): yes
    c.upload();
    BLAS(cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, a.device, M,
                                   0, b.device, K, K * N, &beta, c.device, M, M * N, BATCH));
    HOLDS(batches_right(a, b, c, 0)); //> batches_right(a, b, c, 0): yes

    for (int i = 0; i < BATCH; i++) {
        host[0][i] = a.device + i * M * K;
        host[1][i] = b.device + i * K * N;
        host[2][i] = c.device + i * M * N;
    }
    MUST(cudaMalloc(&device, sizeof(host)));
    MUST(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
    c.upload();
    BLAS(cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, device, M,
                            device + BATCH, K, &beta, device + 2 * BATCH, M, BATCH));
    HOLDS(batches_right(a, b, c, M * K)); //> batches_right(a, b, c, M * K): yes
    c.upload();
    BLAS(cublasGemmBatchedEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, (void **)device,
                             CUDA_R_32F, M, (void **)device + BATCH, CUDA_R_32F, K, &beta,
                             (void **)device + 2 * BATCH, CUDA_R_32F, M, BATCH, CUBLAS_COMPUTE_32F,
                             CUBLAS_GEMM_DEFAULT));
    HOLDS(batches_right(a, b, c, M * K)); //> batches_right(a, b, c, M * K): yes
    STATUS_OF("no batch", cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, device, M, device + BATCH, K, &beta, device + 2 * BATCH, M, 0)); //> no batch: CUBLAS_STATUS_SUCCESS
    STATUS_OF("fewer", cublasSgemmBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, device, M, device + BATCH, K, &beta, device + 2 * BATCH, M, -1)); //> fewer: CUBLAS_STATUS_INVALID_VALUE
}
