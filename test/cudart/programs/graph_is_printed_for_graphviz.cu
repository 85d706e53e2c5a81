// cudaGraphDebugDotPrint writes a graph's nodes and edges.
#include <string>
#include <unistd.h>

#include "show.h"

__global__ void a_kernel() {}

int main()
{
    char path[] = "/tmp/graph-XXXXXX";
    cudaGraphNode_t nodes[3];
    cudaKernelNodeParams kernel = {};
    cudaGraph_t graph;
    std::string text;
    char part[256];

    close(mkstemp(path));
    MUST(cudaGraphCreate(&graph, 0));
    kernel.func = (void *)a_kernel;
    kernel.gridDim = dim3(3);
    kernel.blockDim = dim3(32);
    MUST(cudaGraphAddKernelNode(&nodes[0], graph, nullptr, 0, &kernel));
    MUST(cudaGraphAddEmptyNode(&nodes[1], graph, &nodes[0], 1));
    MUST(cudaGraphAddEmptyNode(&nodes[2], graph, &nodes[0], 1));
    SHOW(cudaGraphDebugDotPrint(graph, path, 0)); //> cudaGraphDebugDotPrint(graph, path, 0): cudaSuccess
    if (FILE *in = fopen(path, "r")) {
        while (fgets(part, sizeof(part), in))
            text += part;
        fclose(in);
    }
    remove(path);
    HOLDS(text.find("digraph") != std::string::npos);  //> text.find("digraph") != std::string::npos: yes
    HOLDS(text.find("a_kernel") != std::string::npos); //> text.find("a_kernel") != std::string::npos: yes
    int edges = 0;
    for (size_t at = 0; (at = text.find("->", at)) != std::string::npos; at += 2)
        edges++;
    printf("%d\n", edges);                             //> 2
    SHOW(cudaGraphDebugDotPrint(graph, nullptr, 0));   //> cudaGraphDebugDotPrint(graph, nullptr, 0): cudaErrorInvalidValue
}
