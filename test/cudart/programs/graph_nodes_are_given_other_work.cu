// A node of a copy, a symbol, a host function or an event can be given other work: in an executable graph, or in the graph for the next one.
#include "show.h"

#define N 16

__device__ int first[N], second[N];

__global__ void add(int *p, int v)
{
    p[threadIdx.x] += v;
}

static void CUDART_CB by_one(void *count)
{
    *(int *)count += 1;
}

static void CUDART_CB by_hundred(void *count)
{
    *(int *)count += 100;
}

static cudaMemcpy3DParms upload(int *device, int *host)
{
    cudaMemcpy3DParms copy = {};

    copy.srcPtr = make_cudaPitchedPtr(host, N * 4, N * 4, 1);
    copy.dstPtr = make_cudaPitchedPtr(device, N * 4, N * 4, 1);
    copy.extent = make_cudaExtent(N * 4, 1, 1);
    copy.kind = cudaMemcpyHostToDevice;
    return copy;
}

static void tell(const char *what, const int *from_symbol, const int *device, const int *count)
{
    int host[2 * N];

    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDefault));
    printf("%s: %d, %d %d, %d\n", what, from_symbol[1], host[1], host[N + 1], *count);
}

int main()
{
    static int numbers[N], others[N], out[N], count;
    int *work, *copies, by = 10;
    void *arguments[] = {&work, &by};
    cudaGraph_t graph;
    cudaGraphExec_t exec, next;
    cudaGraphNode_t up, kernel, to, from, copy, host, record, wait;
    cudaEvent_t event, other, told;
    cudaMemcpy3DParms params, had;
    cudaHostNodeParams function = {by_one, &count}, has;
    cudaGraphNodeParams any = {};
    cudaGraphInstantiateParams instantiate = {};
    unsigned long long flags = 0;

    for (int i = 0; i < N; i++) {
        numbers[i] = i;
        others[i] = 1000 + i;
    }
    MUST(cudaMalloc(&work, N * 4));
    MUST(cudaMalloc(&copies, 2 * N * 4));
    MUST(cudaMemset(copies, 0, 2 * N * 4));
    MUST(cudaEventCreate(&event));
    MUST(cudaEventCreate(&other));
    MUST(cudaGraphCreate(&graph, 0));
    params = upload(work, numbers);
    MUST(cudaGraphAddMemcpyNode(&up, graph, NULL, 0, &params));
    cudaKernelNodeParams launch = {(void *)add, dim3(1), dim3(N), 0, arguments, NULL};
    MUST(cudaGraphAddKernelNode(&kernel, graph, &up, 1, &launch));
    MUST(cudaGraphAddMemcpyNodeToSymbol(&to, graph, &kernel, 1, first, work, N * 4, 0, cudaMemcpyDeviceToDevice));
    MUST(cudaGraphAddMemcpyNodeFromSymbol(&from, graph, &to, 1, out, first, N * 4, 0, cudaMemcpyDeviceToHost));
    MUST(cudaGraphAddMemcpyNode1D(&copy, graph, &from, 1, copies, work, N * 4, cudaMemcpyDeviceToDevice));
    MUST(cudaGraphAddHostNode(&host, graph, &copy, 1, &function));
    MUST(cudaGraphAddEventRecordNode(&record, graph, &host, 1, event));
    MUST(cudaGraphAddEventWaitNode(&wait, graph, &record, 1, event));

    MUST(cudaGraphMemcpyNodeGetParams(up, &had));
    HOLDS(had.dstPtr.ptr == work && had.extent.width == N * 4); //> had.dstPtr.ptr == work && had.extent.width == N * 4: yes
    MUST(cudaGraphHostNodeGetParams(host, &has));
    HOLDS(has.fn == by_one && has.userData == &count); //> has.fn == by_one && has.userData == &count: yes
    MUST(cudaGraphEventWaitNodeGetEvent(wait, &told));
    HOLDS(told == event); //> told == event: yes

    instantiate.flags = cudaGraphInstantiateFlagUpload;
    MUST(cudaGraphInstantiateWithParams(&exec, graph, &instantiate));
    HOLDS(instantiate.result_out == cudaGraphInstantiateSuccess); //> instantiate.result_out == cudaGraphInstantiateSuccess: yes
    MUST(cudaGraphExecGetFlags(exec, &flags));
    HOLDS(!(flags & cudaGraphInstantiateFlagUpload)); //> !(flags & cudaGraphInstantiateFlagUpload): yes
    MUST(cudaGraphLaunch(exec, 0));
    tell("as made", out, copies, &count); //> as made: 11, 11 0, 1

    params = upload(work, others);
    function.fn = by_hundred;
    MUST(cudaGraphExecMemcpyNodeSetParams(exec, up, &params));
    MUST(cudaGraphExecMemcpyNodeSetParamsToSymbol(exec, to, second, work, N * 4, 0, cudaMemcpyDeviceToDevice));
    MUST(cudaGraphExecMemcpyNodeSetParamsFromSymbol(exec, from, out, second, N * 4, 0, cudaMemcpyDeviceToHost));
    MUST(cudaGraphExecMemcpyNodeSetParams1D(exec, copy, copies + N, work, N * 4, cudaMemcpyDeviceToDevice));
    MUST(cudaGraphExecHostNodeSetParams(exec, host, &function));
    MUST(cudaGraphExecEventRecordNodeSetEvent(exec, record, other));
    MUST(cudaGraphExecEventWaitNodeSetEvent(exec, wait, other));
    MUST(cudaGraphLaunch(exec, 0));
    tell("changed", out, copies, &count); //> changed: 1011, 11 1011, 101
    SHOW(cudaEventQuery(other));         //> cudaEventQuery(other): cudaSuccess
    any.type = cudaGraphNodeTypeKernel;
    any.kernel.func = (void *)add;
    any.kernel.gridDim = dim3(1);
    any.kernel.blockDim = dim3(N);
    any.kernel.kernelParams = arguments;
    by = 20;
    MUST(cudaGraphExecNodeSetParams(exec, kernel, &any));
    MUST(cudaGraphLaunch(exec, 0));
    tell("another sum", out, copies, &count); //> another sum: 1021, 11 1021, 201

    /* The graph has not changed with its executable graph. */
    MUST(cudaGraphInstantiate(&next, graph, 0));
    MUST(cudaGraphLaunch(next, 0));
    tell("as made", out, copies, &count); //> as made: 11, 11 1021, 202
    by = 30;
    MUST(cudaGraphNodeSetParams(kernel, &any));
    MUST(cudaGraphMemcpyNodeSetParams(up, &params));
    MUST(cudaGraphMemcpyNodeSetParamsToSymbol(to, second, work, N * 4, 0, cudaMemcpyDeviceToDevice));
    MUST(cudaGraphMemcpyNodeSetParamsFromSymbol(from, out, second, N * 4, 0, cudaMemcpyDeviceToHost));
    MUST(cudaGraphMemcpyNodeSetParams1D(copy, copies + N, work, N * 4, cudaMemcpyDeviceToDevice));
    MUST(cudaGraphHostNodeSetParams(host, &function));
    MUST(cudaGraphEventRecordNodeSetEvent(record, other));
    MUST(cudaGraphEventWaitNodeSetEvent(wait, other));
    MUST(cudaGraphEventRecordNodeGetEvent(record, &told));
    HOLDS(told == other); //> told == other: yes
    MUST(cudaGraphLaunch(next, 0));
    tell("not yet", out, copies, &count); //> not yet: 11, 11 1021, 203
    MUST(cudaGraphExecDestroy(next));
    MUST(cudaGraphInstantiate(&next, graph, 0));
    MUST(cudaGraphLaunch(next, 0));
    tell("the graph changed", out, copies, &count); //> the graph changed: 1031, 11 1031, 303

    SHOW(cudaGraphMemcpyNodeGetParams(kernel, &had));         //> cudaGraphMemcpyNodeGetParams(kernel, &had): cudaErrorInvalidValue
    SHOW(cudaGraphExecHostNodeSetParams(exec, up, &function)); //> cudaGraphExecHostNodeSetParams(exec, up, &function): cudaErrorInvalidValue
    SHOW(cudaGraphEventRecordNodeGetEvent(wait, &told));      //> cudaGraphEventRecordNodeGetEvent(wait, &told): cudaErrorInvalidValue
}
