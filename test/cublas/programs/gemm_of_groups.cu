// Groups of products, each group with its own sizes and factors.
#include "blas.h"

int main()
{
    blas_handle handle;
    const cublasOperation_t op[] = {CUBLAS_OP_N, CUBLAS_OP_T};
    const int m[] = {5, 8}, n[] = {6, 3}, k[] = {7, 4}, ld[] = {10, 10}, size[] = {2, 1};
    const float alpha[] = {1, 2}, beta[] = {0, 1};
    array<float> a(300, 1), b(300, 2), c(300, 3);
    float *host[3][3], **device;

    for (int i = 0; i < 3; i++)
        host[0][i] = a.device + 100 * i, host[1][i] = b.device + 100 * i, host[2][i] = c.device + 100 * i;
    MUST(cudaMalloc(&device, sizeof(host)));
    MUST(cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice));
    BLAS(cublasSgemmGroupedBatched(handle, op, op, m, n, k, alpha, device, ld, device + 3, ld, beta,
                                   device + 6, ld, 2, size));
    for (int i = 0; i < 3; i++) {
        int g = i == 2;

        printf("%d\n", gemm_right(op[g], op[g], m[g], n[g], k[g], alpha[g], a, 10, b, 10, beta[g], c, 10, EXACT_F32, 100 * i, 100 * i, 100 * i)); //> 1
    }
    //> 1
    //> 1
}
