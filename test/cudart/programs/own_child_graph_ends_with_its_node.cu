// The graph within a child graph's node is the node's: a program cannot destroy it.
#include "show.h"

int main()
{
    cudaGraph_t graph, inner, child;
    cudaGraphNode_t node;
    size_t count = 0;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphCreate(&inner, 0));
    MUST(cudaGraphAddEmptyNode(&node, inner, nullptr, 0));
    MUST(cudaGraphAddChildGraphNode(&node, graph, nullptr, 0, inner));
    MUST(cudaGraphDestroy(inner));
    MUST(cudaGraphChildGraphNodeGetGraph(node, &child));
    SHOW(cudaGraphDestroy(child)); //> cudaGraphDestroy(child): cudaErrorInvalidValue
    MUST(cudaGraphGetNodes(child, nullptr, &count));
    printf("%zu node\n", count);                     //> 1 node
    SHOW(cudaGraphDestroy(graph));                   //> cudaGraphDestroy(graph): cudaSuccess
    SHOW(cudaGraphGetNodes(child, nullptr, &count)); //> cudaGraphGetNodes(child, nullptr, &count): cudaErrorInvalidValue
}
