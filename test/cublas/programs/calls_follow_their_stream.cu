// Calls go into the handle's stream, in order with its other work, and are captured into graphs.
#include "blas.h"

int main()
{
    blas_handle handle;
    const int n = 16;
    const float one = 1, zero = 0;
    array<float> a(n * n, 1), b(n * n, 2), c(n * n, 3), d(n * n, 4);
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    BLAS(cublasSetStream(handle, stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    STATUS_OF("captured", cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.device, n, b.device, n, &zero, c.device, n)); //> captured: CUBLAS_STATUS_SUCCESS
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, &one, c.device, n, a.device, n,
                     &zero, d.device, n));
    MUST(cudaStreamEndCapture(stream, &graph));
    HOLDS(c.download()[1] == c.host[1]); //> c.download()[1] == c.host[1]: yes
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        a.fill((float)(i + 1));
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        HOLDS(gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, 1, a, n, b, n, 0, c, n, EXACT_F32)); //> gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, 1, a, n, b, n, 0, c, n, EXACT_F32): yes
        array<float> product(n * n);
        product.host = c.download();
        HOLDS(gemm_right(CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, 1, product, n, a, n, 0, d, n, EXACT_F32)); //> gemm_right(CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, 1, product, n, a, n, 0, d, n, EXACT_F32): yes
    }
    //> gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, 1, a, n, b, n, 0, c, n, EXACT_F32): yes
    //> gemm_right(CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, 1, product, n, a, n, 0, d, n, EXACT_F32): yes
}
