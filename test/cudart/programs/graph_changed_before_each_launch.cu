// Parameters of an executable graph's nodes change before each launch: arguments, grids and blocks, what is set and
// what is copied. Branches still overlap.
#include "show.h"

__global__ void fill(int *p, int count, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        p[i] = value + i;
}

/* Says that it is there, and waits a while for the other one. */
__global__ void meet(volatile int *own, volatile int *other, int *met)
{
    *own = 1;
    __threadfence();
    for (int i = 0; i < 1 << 22 && !*met; i++)
        *met = *other;
}

int main()
{
    const int size = 64;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t clear, filled, moved, out, flags_clear, left, right;
    cudaKernelNodeParams launch = {}, meeting = {};
    cudaMemsetParams set = {};
    int *p, *q, *flags, *pinned, *own, *other, *met, count = size, value = 0, right_count = 0, meetings = 0;
    void *args[] = {&p, &count, &value}, *meeting_args[] = {&own, &other, &met};

    MUST(cudaStreamCreate(&stream));
    MUST(cudaMalloc(&p, size * sizeof(int)));
    MUST(cudaMalloc(&q, size * sizeof(int)));
    MUST(cudaMalloc(&flags, 64 * sizeof(int)));
    MUST(cudaMallocHost(&pinned, size * sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    set.dst = p;
    set.elementSize = 4;
    set.width = size;
    set.height = 1;
    MUST(cudaGraphAddMemsetNode(&clear, graph, nullptr, 0, &set));
    launch.func = (void *)fill;
    launch.gridDim = dim3(2);
    launch.blockDim = dim3(32);
    launch.kernelParams = args;
    MUST(cudaGraphAddKernelNode(&filled, graph, &clear, 1, &launch));
    MUST(cudaGraphAddMemcpyNode1D(&moved, graph, &filled, 1, q, p, size * sizeof(int), cudaMemcpyDeviceToDevice));
    MUST(cudaGraphAddMemcpyNode1D(&out, graph, &moved, 1, pinned, q, size * sizeof(int), cudaMemcpyDeviceToHost));
    set.dst = flags;
    MUST(cudaGraphAddMemsetNode(&flags_clear, graph, nullptr, 0, &set));
    meeting.func = (void *)meet;
    meeting.gridDim = meeting.blockDim = dim3(1);
    meeting.kernelParams = meeting_args;
    own = flags, other = flags + 1, met = flags + 2;
    MUST(cudaGraphAddKernelNode(&left, graph, &flags_clear, 1, &meeting));
    own = flags + 1, other = flags, met = flags + 3;
    MUST(cudaGraphAddKernelNode(&right, graph, &flags_clear, 1, &meeting));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 20; round++) {
        int host[64], first = round % 8;

        if (round > 0) {
            set.dst = p + first;
            set.value = 1000 + round;
            set.width = size - first;
            MUST(cudaGraphExecMemsetNodeSetParams(exec, clear, &set));
            count = 20 + round;
            value = 100 * round;
            launch.gridDim = dim3(1 << round % 4);
            launch.blockDim = dim3(64 >> round % 4);
            MUST(cudaGraphExecKernelNodeSetParams(exec, filled, &launch));
            MUST(cudaGraphExecMemcpyNodeSetParams1D(exec, moved, q + first, p + first, (size - first) * sizeof(int),
                                                    cudaMemcpyDeviceToDevice));
            MUST(cudaGraphExecMemcpyNodeSetParams1D(exec, out, pinned + first, q + first, (size - first) * sizeof(int),
                                                    cudaMemcpyDeviceToHost));
            int *at = flags + 4 * (round % 8);

            own = at, other = at + 1, met = at + 2;
            MUST(cudaGraphExecKernelNodeSetParams(exec, left, &meeting));
            own = at + 1, other = at, met = at + 3;
            MUST(cudaGraphExecKernelNodeSetParams(exec, right, &meeting));
        }
        for (int i = 0; i < size; i++)
            pinned[i] = -1;
        MUST(cudaGraphLaunch(exec, stream));
        MUST(cudaStreamSynchronize(stream));
        for (int i = 0; i < size; i++)
            right_count += pinned[i] == (i < first ? -1 : i < count ? value + i : round ? 1000 + round : 0);
        MUST(cudaMemcpy(host, flags, sizeof(host), cudaMemcpyDeviceToHost));
        meetings += host[4 * (round % 8) + 2] + host[4 * (round % 8) + 3];
    }
    printf("%d of %d, %d met\n", right_count, 20 * size, meetings); //> 1280 of 1280, 40 met
}
