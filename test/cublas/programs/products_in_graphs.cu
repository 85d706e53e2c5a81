// Captured products run at each launch of their graph, in whichever stream, with the values that
// scalars on the host had at the capture; an update gives the graph other matrices.
#include "blas.h"

static const int n = 96;

// C = alpha A B in one branch, D = alpha A A' in the other, then C += alpha D B.
template <class T>
static cudaGraph_t captured(cublasHandle_t handle, cudaDataType type, cublasComputeType_t compute,
                            const array<T> &a, const array<T> &b, const array<T> &c,
                            const array<T> &d, double scale)
{
    cudaStream_t first, second;
    cudaEvent_t fork, join;
    cudaGraph_t graph;
    double alpha64 = scale, zero64 = 0, one64 = 1;
    float alpha32 = (float)scale, zero32 = 0, one32 = 1;
    const void *alpha = type == CUDA_R_64F ? (void *)&alpha64 : &alpha32;
    const void *zero = type == CUDA_R_64F ? (void *)&zero64 : &zero32;
    const void *one = type == CUDA_R_64F ? (void *)&one64 : &one32;

    MUST(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    MUST(cudaEventCreate(&fork));
    MUST(cudaEventCreate(&join));
    MUST(cudaStreamBeginCapture(first, cudaStreamCaptureModeThreadLocal));
    MUST(cudaEventRecord(fork, first));
    MUST(cudaStreamWaitEvent(second, fork, 0));
    BLAS(cublasSetStream(handle, second));
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_T, n, n, n, alpha, a.device, type, n, a.device,
                      type, n, zero, d.device, type, n, compute, CUBLAS_GEMM_DEFAULT));
    MUST(cudaEventRecord(join, second));
    BLAS(cublasSetStream(handle, first));
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, alpha, a.device, type, n, b.device,
                      type, n, zero, c.device, type, n, compute, CUBLAS_GEMM_DEFAULT));
    MUST(cudaStreamWaitEvent(first, join, 0));
    BLAS(cublasGemmEx(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, alpha, d.device, type, n, b.device,
                      type, n, one, c.device, type, n, compute, CUBLAS_GEMM_DEFAULT));
    alpha64 = alpha32 = -7;
    MUST(cudaStreamEndCapture(first, &graph));
    MUST(cudaEventDestroy(fork));
    MUST(cudaEventDestroy(join));
    MUST(cudaStreamDestroy(first));
    MUST(cudaStreamDestroy(second));
    return graph;
}

template <class T>
static bool right(const array<T> &a, const array<T> &b, const array<T> &c, double scale,
                  double tolerance)
{
    std::vector<T> got = c.download();
    std::vector<double> d(n * n);
    judge judge;

    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++)
            for (int l = 0; l < n; l++)
                d[i + j * n] += scale * a[i + l * n] * a[j + l * n];
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double sum = 0;

            for (int l = 0; l < n; l++)
                sum += scale * (a[i + l * n] + plain(value<T>(d[i + l * n]))) * b[l + j * n];
            judge.see(plain(got[i + j * n]), sum, tolerance);
        }
    }
    return judge.right();
}

template <class T>
static void check(cublasHandle_t handle, cudaDataType type, cublasComputeType_t compute,
                  double tolerance)
{
    array<T> a(n * n, 1), b(n * n, 2), c(n * n, 3), d(n * n, 4), a2(n * n, 5), c2(n * n, 6);
    cudaGraph_t graph = captured(handle, type, compute, a, b, c, d, 0.5);
    cudaGraph_t other = captured(handle, type, compute, a2, b, c2, d, 0.25);
    cudaGraphExecUpdateResultInfo info;
    cudaGraphExec_t exec;
    cudaStream_t stream[2];
    bool all = c.download() == c.host;

    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        MUST(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking));
        for (int launch = 0; launch < 4; launch++)
            MUST(cudaGraphLaunch(exec, stream[i]));
        MUST(cudaStreamSynchronize(stream[i]));
        all = all && right(a, b, c, 0.5, tolerance);
        c.upload();
    }
    MUST(cudaGraphExecUpdate(exec, other, &info));
    MUST(cudaGraphLaunch(exec, stream[0]));
    MUST(cudaStreamSynchronize(stream[0]));
    all = all && right(a2, b, c2, 0.25, tolerance) && c.download() == c.host;
    printf("%s\n", all ? "right" : "wrong");
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphDestroy(other));
    for (int i = 0; i < 2; i++)
        MUST(cudaStreamDestroy(stream[i]));
}

int main()
{
    blas_handle handle;

    check<float>(handle, CUDA_R_32F, CUBLAS_COMPUTE_32F, EXACT_F32);      //> right
    check<float>(handle, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 2e-2); //> right
    check<double>(handle, CUDA_R_64F, CUBLAS_COMPUTE_64F, EXACT_F64);     //> right
}
