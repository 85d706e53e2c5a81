// What was added to a graph can be asked for: nodes, roots, edges, and neighbours of a node.
#include "show.h"

#if CUDART_VERSION >= 13000
#define NO_DATA nullptr,
#else
#define NO_DATA
#endif

int main()
{
    cudaGraph_t graph;
    cudaGraphNode_t a, b, c, list[4], from[4], to[4];
    cudaGraphNodeType type;
    size_t count;

    SHOW(cudaGraphCreate(&graph, 0)); //> cudaGraphCreate(&graph, 0): cudaSuccess
    MUST(cudaGraphAddEmptyNode(&a, graph, nullptr, 0));
    MUST(cudaGraphAddEmptyNode(&b, graph, &a, 1));
    MUST(cudaGraphAddEmptyNode(&c, graph, nullptr, 0));
    MUST(cudaGraphNodeGetType(b, &type));
    HOLDS(type == cudaGraphNodeTypeEmpty); //> type == cudaGraphNodeTypeEmpty: yes
    MUST(cudaGraphAddDependencies(graph, &a, &c, NO_DATA 1));
    SHOW(cudaGraphAddDependencies(graph, &a, &c, NO_DATA 1) == cudaSuccess ? cudaSuccess : cudaErrorInvalidValue); //> cudaGraphAddDependencies(graph, &a, &c, NO_DATA 1) == cudaSuccess ? cudaSuccess : cudaErrorInvalidValue: cudaErrorInvalidValue
    count = 4;
    MUST(cudaGraphGetNodes(graph, list, &count));
    printf("%zu %d %d %d %d\n", count, list[0] == a, list[1] == b, list[2] == c, list[3] == nullptr); //> 3 1 1 1 1
    count = 4;
    MUST(cudaGraphGetRootNodes(graph, list, &count));
    printf("%zu %d\n", count, list[0] == a); //> 1 1
    count = 4;
    MUST(cudaGraphGetEdges(graph, from, to, NO_DATA &count));
    printf("%zu %d %d\n", count, from[0] == a && from[1] == a, to[0] != to[1]); //> 2 1 1
    MUST(cudaGraphNodeGetDependentNodes(a, nullptr, NO_DATA &count));
    printf("%zu\n", count); //> 2
    count = 4;
    MUST(cudaGraphNodeGetDependencies(b, list, NO_DATA &count));
    printf("%zu %d\n", count, list[0] == a); //> 1 1
    MUST(cudaGraphRemoveDependencies(graph, &a, &b, NO_DATA 1));
    MUST(cudaGraphGetRootNodes(graph, nullptr, &count));
    printf("%zu\n", count);          //> 2
    SHOW(cudaGraphDestroyNode(a));   //> cudaGraphDestroyNode(a): cudaSuccess
    MUST(cudaGraphGetNodes(graph, nullptr, &count));
    printf("%zu\n", count);          //> 2
    SHOW(cudaGraphDestroy(graph));   //> cudaGraphDestroy(graph): cudaSuccess
}
