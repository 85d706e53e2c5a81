// A kernel takes up to 32,764 bytes of parameters: launched, captured, and in a graph's node.
#include "show.h"

struct table {
    int values[8000];
};

__global__ void sum(const __grid_constant__ table t, long long *out)
{
    long long all = 0;

    for (int i = threadIdx.x; i < 8000; i += blockDim.x)
        all += (long long)t.values[i] * (i % 7 + 1);
    atomicAdd((unsigned long long *)out, (unsigned long long)all);
}

static long long *out;

static void fill(table *t, int factor)
{
    for (int i = 0; i < 8000; i++)
        t->values[i] = i * factor;
}

static void show_sum()
{
    long long value;

    MUST(cudaMemcpy(&value, out, sizeof(value), cudaMemcpyDeviceToHost));
    MUST(cudaMemset(out, 0, sizeof(value)));
    printf("%lld\n", value);
}

static void launch_in_a_graph(table *t)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t node;
    size_t nodes = 1;
    void *args[] = {t, &out};
    cudaKernelNodeParams params = {};

    MUST(cudaStreamCreate(&stream));
    MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    sum<<<1, 64, 0, stream>>>(*t, out);
    MUST(cudaStreamEndCapture(stream, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    fill(t, 99);
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    show_sum();
    fill(t, 4);
    MUST(cudaGraphGetNodes(graph, &node, &nodes));
    MUST(cudaGraphKernelNodeGetParams(node, &params));
    params.kernelParams = args;
    MUST(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    fill(t, 99);
    MUST(cudaGraphLaunch(exec, stream));
    MUST(cudaStreamSynchronize(stream));
    show_sum();
}

int main()
{
    static table t;

    MUST(cudaMalloc(&out, sizeof(*out)));
    MUST(cudaMemset(out, 0, sizeof(*out)));
    for (int factor = 1; factor <= 3; factor++) {
        fill(&t, factor);
        sum<<<2, 32>>>(t, out);
        fill(&t, 99);
        show_sum();
    }
    //> 255984008
    //> 511968016
    //> 767952024
    fill(&t, 3);
    launch_in_a_graph(&t);
    //> 383976012
    //> 511968016
}
