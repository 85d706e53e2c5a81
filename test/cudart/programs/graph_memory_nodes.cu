// Memory that a graph allocates and frees: its address is known when the node is made, a launch
// that would allocate what is in use fails, and what no free node frees the program frees.
#include "show.h"

__global__ void add(int *to, int what)
{
    to[threadIdx.x] += what;
}

static unsigned long long used()
{
    unsigned long long value = 0;

    MUST(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &value));
    return value;
}

int main()
{
    cudaMemAllocNodeParams alloc = {}, asked = {};
    cudaKernelNodeParams kernel = {};
    cudaGraphNode_t nodes[6];
    cudaGraphNodeType type;
    cudaGraphExec_t exec;
    cudaGraph_t graph;
    int *p, what = 3, host[32] = {};
    void *freed = nullptr, *args[] = {&p, &what};
    unsigned long long high = 1;

    MUST(cudaGraphCreate(&graph, 0));
    alloc.poolProps.allocType = cudaMemAllocationTypePinned;
    alloc.poolProps.location.type = cudaMemLocationTypeDevice;
    alloc.bytesize = sizeof(host);
    MUST(cudaGraphAddMemAllocNode(&nodes[0], graph, nullptr, 0, &alloc));
    HOLDS(alloc.dptr != nullptr); //> alloc.dptr != nullptr: yes
    p = (int *)alloc.dptr;
    MUST(cudaGraphNodeGetType(nodes[0], &type));
    HOLDS(type == cudaGraphNodeTypeMemAlloc); //> type == cudaGraphNodeTypeMemAlloc: yes
    MUST(cudaGraphMemAllocNodeGetParams(nodes[0], &asked));
    HOLDS(asked.dptr == p && asked.bytesize == sizeof(host)); //> asked.dptr == p && asked.bytesize == sizeof(host): yes

    cudaMemsetParams set = {};
    set.dst = p;
    set.elementSize = 4;
    set.width = 32;
    set.height = 1;
    set.value = 5;
    MUST(cudaGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &set));
    kernel.func = (void *)add;
    kernel.gridDim = dim3(1);
    kernel.blockDim = dim3(32);
    kernel.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&nodes[2], graph, &nodes[1], 1, &kernel));
    MUST(cudaGraphAddMemcpyNode1D(&nodes[3], graph, &nodes[2], 1, host, p, sizeof(host), cudaMemcpyDeviceToHost));
    MUST(cudaGraphAddMemFreeNode(&nodes[4], graph, &nodes[3], 1, p));
    MUST(cudaGraphMemFreeNodeGetParams(nodes[4], &freed));
    HOLDS(freed == p); //> freed == p: yes
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        MUST(cudaGraphLaunch(exec, 0));
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", host[0], host[31]); //> 8 8
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
    high = 0;
    SHOW(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high)); //> cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &high): cudaSuccess
    SHOW(cudaDeviceGraphMemTrim(0)); //> cudaDeviceGraphMemTrim(0): cudaSuccess

    /* Without a node that frees it. */
    MUST(cudaGraphCreate(&graph, 0));
    MUST(cudaGraphAddMemAllocNode(&nodes[0], graph, nullptr, 0, &alloc));
    p = (int *)alloc.dptr;
    set.dst = p;
    MUST(cudaGraphAddMemsetNode(&nodes[1], graph, &nodes[0], 1, &set));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, 0));
    SHOW(cudaGraphLaunch(exec, 0)); //> cudaGraphLaunch(exec, 0): cudaErrorInvalidValue
    HOLDS(used() > 0);              //> used() > 0: yes
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d\n", host[7]);           //> 5
    SHOW(cudaFreeAsync(p, 0));         //> cudaFreeAsync(p, 0): cudaSuccess
    SHOW(cudaGraphLaunch(exec, 0));    //> cudaGraphLaunch(exec, 0): cudaSuccess
    SHOW(cudaFree(p));                 //> cudaFree(p): cudaSuccess
    MUST(cudaGraphExecDestroy(exec));

    MUST(cudaGraphInstantiate(&exec, graph, cudaGraphInstantiateFlagAutoFreeOnLaunch));
    MUST(cudaGraphLaunch(exec, 0));
    SHOW(cudaGraphLaunch(exec, 0)); //> cudaGraphLaunch(exec, 0): cudaSuccess
    MUST(cudaFree(p));
    MUST(cudaGraphExecDestroy(exec));
    MUST(cudaGraphDestroy(graph));
}
