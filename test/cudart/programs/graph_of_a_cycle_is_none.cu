// Edges that form a cycle cannot be launched.
#include "show.h"

#if CUDART_VERSION >= 13000
#define NO_DATA nullptr,
#else
#define NO_DATA
#endif

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t a, b;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    MUST(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    cudaGraphAddDependencies(graph, &b, &a, NO_DATA 1);
    HOLDS(cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess); //> cudaGraphInstantiate(&exec, graph, 0) != cudaSuccess: yes
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphCreate(&graph, 0));
    SHOW(cudaGraphInstantiate(&exec, graph, 0)); //> cudaGraphInstantiate(&exec, graph, 0): cudaSuccess
    SHOW(cudaGraphLaunch(exec, 0));              //> cudaGraphLaunch(exec, 0): cudaSuccess
    SHOW(cudaDeviceSynchronize());               //> cudaDeviceSynchronize(): cudaSuccess
}
