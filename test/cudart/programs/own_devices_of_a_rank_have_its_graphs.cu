// In a job of MPI a graph that is a process's first call is the rank's device's.
#include "devices.h"

int main()
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    int from = 5, to = 0, device = -1;

    setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemcpyNode1D(&node, graph, nullptr, 0, &to, &from, sizeof(to), cudaMemcpyHostToHost));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    SHOW(cudaGraphLaunch(exec, 0)); //> cudaGraphLaunch(exec, 0): cudaSuccess
    MUST(cudaDeviceSynchronize());
    MUST(cudaGetDevice(&device));
    two_needed();
    printf("device %d: %d\n", device, to); //> device 1: 5
}
