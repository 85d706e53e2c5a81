// A capture takes cudaMallocAsync and cudaFreeAsync as nodes, and copies of arrays.
#include "show.h"

__global__ void fill(float *to, int value)
{
    to[threadIdx.x] = value + threadIdx.x;
}

int main()
{
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();
    cudaGraphNode_t nodes[8];
    cudaGraphNodeType type;
    cudaGraphExec_t exec;
    cudaArray_t array;
    cudaStream_t stream;
    cudaGraph_t graph;
    float *scratch, *out, host[64] = {};
    size_t count = 8, allocs = 0, frees = 0;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMallocArray(&array, &desc, 8, 8));
    MUST(cudaMalloc(&out, sizeof(host)));
    MUST(cudaMemset(out, 0, sizeof(host)));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SHOW(cudaMallocAsync(&scratch, sizeof(host), stream)); //> cudaMallocAsync(&scratch, sizeof(host), stream): cudaSuccess
    fill<<<1, 64, 0, stream>>>(scratch, 10);
    SHOW(cudaMemcpy2DToArrayAsync(array, 0, 0, scratch, 32, 32, 8, cudaMemcpyDeviceToDevice, stream)); //> cudaMemcpy2DToArrayAsync(array, 0, 0, scratch, 32, 32, 8, cudaMemcpyDeviceToDevice, stream): cudaSuccess
    SHOW(cudaMemcpy2DFromArrayAsync(out, 32, array, 4, 1, 16, 7, cudaMemcpyDeviceToDevice, stream)); //> cudaMemcpy2DFromArrayAsync(out, 32, array, 4, 1, 16, 7, cudaMemcpyDeviceToDevice, stream): cudaSuccess
    SHOW(cudaFreeAsync(scratch, stream)); //> cudaFreeAsync(scratch, stream): cudaSuccess
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphGetNodes(graph, nodes, &count));
    printf("%zu\n", count); //> 5
    for (size_t i = 0; i < count; i++) {
        MUST(cudaGraphNodeGetType(nodes[i], &type));
        allocs += type == cudaGraphNodeTypeMemAlloc;
        frees += type == cudaGraphNodeTypeMemFree;
    }
    printf("%zu %zu\n", allocs, frees); //> 1 1
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", host[0], host[3], host[4], host[8]); //> 19 22 0 27

    /* What no graph has allocated, a capture cannot free. */
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    SHOW(cudaFreeAsync(out, stream)); //> cudaFreeAsync(out, stream): cudaErrorInvalidValue
    cudaStreamEndCapture(stream, &graph);
    MUST(cudaGraphExecDestroy(exec));
    SHOW(cudaFree(out)); //> cudaFree(out): cudaSuccess
}
