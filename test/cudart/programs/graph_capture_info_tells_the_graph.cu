// The graph of a capture in progress, and the nodes that the stream's next one comes after.
#include "show.h"

#if CUDART_VERSION >= 13000
#define INFO(...) cudaStreamGetCaptureInfo(__VA_ARGS__)
#else
#define INFO(...) cudaStreamGetCaptureInfo_v3(__VA_ARGS__)
#endif

__global__ void nothing()
{
}

int main()
{
    cudaStream_t stream;
    cudaStreamCaptureStatus status;
    unsigned long long id = 0, again = 0;
    const cudaGraphNode_t *deps;
    cudaGraph_t graph, ended;
    cudaGraphNodeType type;
    size_t count;

    MUST(cudaStreamCreate(&stream));
    MUST(INFO(stream, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
    HOLDS(status == cudaStreamCaptureStatusNone); //> status == cudaStreamCaptureStatusNone: yes
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    MUST(INFO(stream, &status, &id, &graph, &deps, nullptr, &count));
    HOLDS(id != 0);        //> id != 0: yes
    printf("%zu\n", count); //> 0
    nothing<<<1, 1, 0, stream>>>();
    MUST(INFO(stream, &status, &again, &graph, &deps, nullptr, &count));
    HOLDS(id == again);    //> id == again: yes
    printf("%zu\n", count); //> 1
    MUST(cudaGraphNodeGetType(deps[0], &type));
    HOLDS(type == cudaGraphNodeTypeKernel); //> type == cudaGraphNodeTypeKernel: yes
    MUST(cudaStreamEndCapture(stream, &ended));
    HOLDS(graph == ended); //> graph == ended: yes
}
