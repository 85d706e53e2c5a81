// A captured chain of programmatic dependent launches: a kernel begins before the one before it has
// ended, waits for it, and the graph's edges say so.
#include "dependent.h"

// Ends when the next kernel has begun; gives up after some seconds.
__global__ void first(volatile unsigned *flag, unsigned *p)
{
    cudaTriggerProgrammaticLaunchCompletion();
    const long long start = clock64();
    while (*flag == 0 && clock64() - start < 20000000000)
        ;
    p[0] = *flag;
}

__global__ void second(volatile unsigned *flag, unsigned *p)
{
    *flag = 9;
    cudaGridDependencySynchronize();
    p[1] = p[0] + 1;
}

static cudaGraphExec_t end(cudaStream_t stream, cudaGraph_t *graph)
{
    cudaGraphExec_t exec;

    MUST(cudaStreamEndCapture(stream, graph));
    MUST(cudaGraphInstantiate(&exec, *graph, 0));
    return exec;
}

int main()
{
    unsigned *p, expected = 0, seen[4];
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, 16));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (unsigned i = 0; i < 50; i++) {
        if (i % 10)
            MUST(launch(stream, step, p, i));
        else
            step<<<1, 1, 0, stream>>>(p, i);
    }
    exec = end(stream, &graph);
    MUST(cudaMemset(p, 0, 16));
    for (int round = 0; round < 5; round++) {
        MUST(cudaGraphLaunch(exec, stream));
        for (unsigned i = 0; i < 50; i++)
            expected = expected * 3 + i;
    }
    MUST(cudaMemcpyAsync(seen, p, 4, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    HOLDS(seen[0] == expected); //> seen[0] == expected: yes

    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    first<<<1, 1, 0, stream>>>(p + 2, p);
    MUST(launch(stream, second, p + 2, p));
    MUST(cudaMemsetAsync(p + 2, 0, 4, stream));
    MUST(launch(stream, step, p + 1, 1u));
    exec = end(stream, &graph);
    for (int round = 0; round < 3; round++) {
        MUST(cudaMemset(p, 0, 16));
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        MUST(cudaMemcpy(seen, p, 16, cudaMemcpyDeviceToHost));
        printf("%u %u %u\n", seen[0], seen[1], seen[2]); //> 9 31 0
                                                         //> 9 31 0
                                                         //> 9 31 0
    }

    cudaGraphNode_t from[4], to[4];
    cudaGraphEdgeData data[4];
    size_t count = 4;
    MUST(cudaGraphGetEdges(graph, from, to, data, &count));
    printf("%zu edges\n", count); //> 3 edges
    int programmatic = 0, of_the_memset = 0;
    for (size_t i = 0; i < count; i++) {
        cudaGraphNodeType source, target;

        MUST(cudaGraphNodeGetType(from[i], &source));
        MUST(cudaGraphNodeGetType(to[i], &target));
        of_the_memset += data[i].type == cudaGraphDependencyTypeDefault &&
                         (source == cudaGraphNodeTypeMemset || target == cudaGraphNodeTypeMemset);
        programmatic += data[i].type == cudaGraphDependencyTypeProgrammatic &&
                        data[i].from_port == cudaGraphKernelNodePortProgrammatic;
    }
    printf("%d programmatic, %d to and from the memset\n", programmatic, of_the_memset); //> 1 programmatic, 2 to and from the memset
    SHOW(cudaGraphGetEdges(graph, from, to, nullptr, &count)); //> cudaGraphGetEdges(graph, from, to, nullptr, &count): cudaErrorLossyQuery
}
