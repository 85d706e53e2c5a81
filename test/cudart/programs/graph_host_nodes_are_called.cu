// A host node's function runs in the graph's order, at each launch.
#include "show.h"

static int host[1], seen;

__global__ void next(int *p)
{
    ++*p;
}

static void look(void *data)
{
    seen = *(int *)data * 10;
}

int main()
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t nodes[4];
    cudaGraphNodeType type;
    cudaHostNodeParams told;
    size_t count = 4;
    int *p;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaMemset(p, 0, sizeof(int)));
    MUST(cudaDeviceSynchronize());
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    next<<<1, 1, 0, stream>>>(p);
    MUST(cudaMemcpyAsync(host, p, sizeof(int), cudaMemcpyDeviceToHost, stream));
    SHOW(cudaLaunchHostFunc(stream, look, host)); //> cudaLaunchHostFunc(stream, look, host): cudaSuccess
    MUST(cudaStreamEndCapture(stream, &graph));
    printf("%d\n", seen); //> 0
    MUST(cudaGraphGetNodes(graph, nodes, &count));
    MUST(cudaGraphNodeGetType(nodes[count - 1], &type));
    HOLDS(count == 3 && type == cudaGraphNodeTypeHost); //> count == 3 && type == cudaGraphNodeTypeHost: yes
    MUST(cudaGraphHostNodeGetParams(nodes[2], &told));
    HOLDS(told.fn == look && told.userData == host); //> told.fn == look && told.userData == host: yes
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++) {
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        printf("%d\n", seen);
    }
    //> 10
    //> 20
    //> 30
}
