// Handles of graphs, nodes and executable graphs that have ended are errors, and no crash.
#include "show.h"

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node, other;
    cudaGraphNodeType type;
    size_t count = 0;

    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddEmptyNode(&node, graph, nullptr, 0));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphDestroy(graph));
    MUST(cudaGraphExecDestroy(exec));
    SHOW(cudaGraphDestroy(graph));                           //> cudaGraphDestroy(graph): cudaErrorInvalidValue
    SHOW(cudaGraphGetNodes(graph, nullptr, &count));         //> cudaGraphGetNodes(graph, nullptr, &count): cudaErrorInvalidValue
    SHOW(cudaGraphAddEmptyNode(&other, graph, nullptr, 0));  //> cudaGraphAddEmptyNode(&other, graph, nullptr, 0): cudaErrorInvalidValue
    SHOW(cudaGraphNodeGetType(node, &type));                 //> cudaGraphNodeGetType(node, &type): cudaErrorInvalidValue
    SHOW(cudaGraphDestroyNode(node));                        //> cudaGraphDestroyNode(node): cudaErrorInvalidValue
    SHOW(cudaGraphInstantiate(&exec, graph, 0));             //> cudaGraphInstantiate(&exec, graph, 0): cudaErrorInvalidValue
    SHOW(cudaGraphLaunch(exec, 0));                          //> cudaGraphLaunch(exec, 0): cudaErrorInvalidValue
    SHOW(cudaGraphExecDestroy(exec));                        //> cudaGraphExecDestroy(exec): cudaErrorInvalidValue
    SHOW(cudaGraphLaunch((cudaGraphExec_t)0x1234567890, 0)); //> cudaGraphLaunch((cudaGraphExec_t)0x1234567890, 0): cudaErrorInvalidValue
}
