// Arrays of addresses are read when the product or system runs: what a kernel before it in the
// stream has written, also at each launch of a graph.
#include "blas.h"

static const int N = 40, BATCH = 6;

// Batch i takes the matrices (i + turn) % BATCH of a and b, and writes c's matrix i.
template <class T>
__global__ void point(const T **a, const T **b, T **c, T *a_at, T *b_at, T *c_at, const int *turn)
{
    const int i = threadIdx.x, from = (i + *turn) % BATCH;

    a[i] = a_at + from * N * N;
    b[i] = b_at + from * N * N;
    c[i] = c_at + i * N * N;
}

template <class T> struct pointers {
    const T **a, **b;
    T **c;
    int *turn;

    pointers()
    {
        MUST(cudaMalloc(&a, BATCH * sizeof(T *)));
        MUST(cudaMalloc(&b, BATCH * sizeof(T *)));
        MUST(cudaMalloc(&c, BATCH * sizeof(T *)));
        MUST(cudaMalloc(&turn, sizeof(int)));
    }
    ~pointers()
    {
        cudaFree(a);
        cudaFree(b);
        cudaFree(c);
        cudaFree(turn);
    }
    void set(int by) { MUST(cudaMemcpy(turn, &by, sizeof(by), cudaMemcpyHostToDevice)); }
};

template <class T>
static bool products_right(const array<T> &a, const array<T> &b, const array<T> &c, int turn,
                           double tolerance)
{
    bool right = true;

    for (int i = 0; i < BATCH; i++) {
        const int from = (i + turn) % BATCH * N * N;

        right &= gemm_right(CUBLAS_OP_T, CUBLAS_OP_N, N, N, N, 1, a, N, b, N, 0, c, N, tolerance,
                            from, from, i * N * N);
    }
    return right;
}

template <class T>
static void products(const char *name, cudaDataType type, double tolerance)
{
    blas_handle handle;
    pointers<T> at;
    array<T> a(BATCH * N * N, 1), b(BATCH * N * N, 2), c(BATCH * N * N, 3);
    const float one = 1, zero = 0;
    bool right = true;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    BLAS(cublasSetStream(handle, stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    point<<<1, BATCH, 0, stream>>>(at.a, at.b, at.c, a.device, b.device, c.device, at.turn);
    BLAS(cublasGemmBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, N, N, N, &one, (void **)at.a, type,
                             N, (void **)at.b, type, N, &zero, (void **)at.c, type, N, BATCH,
                             CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int turn = 0; turn < 3; turn++) {
        at.set(turn);
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        right &= products_right(a, b, c, turn, tolerance);
    }
    at.set(3);
    point<<<1, BATCH, 0, stream>>>(at.a, at.b, at.c, a.device, b.device, c.device, at.turn);
    BLAS(cublasGemmBatchedEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, N, N, N, &one, (void **)at.a, type,
                             N, (void **)at.b, type, N, &zero, (void **)at.c, type, N, BATCH,
                             CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
    MUST(cudaStreamSynchronize(stream));
    right &= products_right(a, b, c, 3, tolerance);
    printf("%s: %s\n", name, right ? "right" : "wrong");
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaStreamDestroy(stream));
}

// L X = B with a diagonal far from 0; B is over the matrix of c, which the kernel points to.
static void systems()
{
    blas_handle handle;
    pointers<float> at;
    array<float> a(BATCH * N * N, 1), b(BATCH * N * N, 2), x(BATCH * N * N, 3);
    const float one = 1;
    judge judge;

    for (int i = 0; i < BATCH; i++)
        for (int d = 0; d < N; d++)
            a.host[i * N * N + d * (N + 1)] = 16;
    a.upload();
    at.set(2);
    point<<<1, BATCH>>>(at.a, at.b, at.c, a.device, b.device, x.device, at.turn);
    BLAS(cublasStrsmBatched(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                            CUBLAS_DIAG_NON_UNIT, N, N, &one, at.a, N, at.c, N, BATCH));
    std::vector<float> got = x.download();
    for (int i = 0; i < BATCH; i++) {
        const int from = (i + 2) % BATCH * N * N;

        for (int j = 0; j < N; j++) {
            for (int r = 0; r < N; r++) {
                double sum = 0;

                for (int k = 0; k <= r; k++)
                    sum += a[from + r + k * N] * got[i * N * N + k + j * N];
                judge.see(sum, x[i * N * N + r + j * N], EXACT_F32);
            }
        }
    }
    printf("systems: %s\n", judge.right() ? "right" : "wrong");
}

int main()
{
    products<float>("f32", CUDA_R_32F, EXACT_F32);           //> f32: right
    products<__half>("f16", CUDA_R_16F, EXACT_F16);          //> f16: right
    products<__nv_bfloat16>("bf16", CUDA_R_16BF, EXACT_BF16); //> bf16: right
    systems();                                               //> systems: right
}
