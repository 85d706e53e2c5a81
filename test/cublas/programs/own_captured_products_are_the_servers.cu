// Where the server has cuBLAS, a captured product is a node of it, whose kernel a program cannot ask
// for; else one of this library's kernels.
#include <gshare_cuda.h>

#include "blas.h"

int main()
{
    blas_handle handle;
    const int n = 64;
    const float one = 1, zero = 0;
    array<float> a(n * n, 1), b(n * n, 2), c(n * n, 3);
    gs_gemm_params params = GS_GEMM_PARAMS_INIT;
    cudaKernelNodeParams kernel;
    cudaGraphNode_t node[2];
    cudaGraphNodeType type;
    gs_session session;
    cudaStream_t stream;
    cudaGraph_t graph, clone;
    cudaGraphExec_t exec;
    size_t count = 2;

    params.m = params.n = params.k = n;
    params.a = {(gs_devptr)a.device, n, 0};
    params.b = {(gs_devptr)b.device, n, 0};
    params.c = {(gs_devptr)c.device, n, 0};
    if (gs_cuda_session(&session) != GS_OK)
        return 1;
    const bool by_server = gs_gemm_prepare(session, &params) == GS_OK;

    MUST(cudaStreamCreate(&stream));
    BLAS(cublasSetStream(handle, stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    BLAS(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.device, n, b.device, n,
                     &zero, c.device, n));
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphGetNodes(graph, node, &count));
    printf("%zu\n", count); //> 1
    MUST(cudaGraphNodeGetType(node[0], &type));
    HOLDS(type == cudaGraphNodeTypeKernel); //> type == cudaGraphNodeTypeKernel: yes
    const cudaError_t error = cudaGraphKernelNodeGetParams(node[0], &kernel);
    HOLDS(error == (by_server ? cudaErrorInvalidDeviceFunction : cudaSuccess)); //> error == (by_server ? cudaErrorInvalidDeviceFunction : cudaSuccess): yes
    cudaGetLastError();
    MUST(cudaGraphClone(&clone, graph));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphInstantiate(&exec, clone, 0));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    HOLDS(gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, 1, a, n, b, n, 0, c, n, EXACT_F32)); //> gemm_right(CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, 1, a, n, b, n, 0, c, n, EXACT_F32): yes
    MUST(cudaGraphDestroy(clone));
    MUST(cudaGraphExecDestroy(exec));
}
