// What comes after an empty node comes after all that the empty node comes after, however many there are, also when
// parameters change between launches.
#include <vector>

#include "show.h"

__global__ void put(int *at, int value)
{
    for (int i = 0; i < value % 7 * 100; i++) /* some take longer */
        *(volatile int *)at = -1;
    *at = value;
}

__global__ void sum(const int *values, int count, int *at)
{
    int total = 0;

    for (int i = 0; i < count; i++)
        total += values[i];
    *at = total;
}

static void run(int width)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t join;
    std::vector<cudaGraphNode_t> first(width), second(width);
    std::vector<int> host(width);
    cudaKernelNodeParams putting = {}, summing = {};
    int *values, *sums, *at, value, right = 0;
    void *put_args[] = {&at, &value}, *sum_args[] = {&values, &width, &at};

    MUST(cudaMalloc(&values, width * sizeof(int)));
    MUST(cudaMalloc(&sums, width * sizeof(int)));
    MUST(cudaGraphCreate(&graph, 0));
    putting.func = (void *)put;
    summing.func = (void *)sum;
    putting.gridDim = putting.blockDim = summing.gridDim = summing.blockDim = dim3(1);
    putting.kernelParams = put_args;
    summing.kernelParams = sum_args;
    for (int i = 0; i < width; i++) {
        at = values + i, value = i;
        MUST(cudaGraphAddKernelNode(&first[i], graph, nullptr, 0, &putting));
    }
    MUST(cudaGraphAddEmptyNode(&join, graph, first.data(), width));
    for (int i = 0; i < width; i++) {
        at = sums + i;
        MUST(cudaGraphAddKernelNode(&second[i], graph, &join, 1, &summing));
    }
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < width; i++) {
            at = values + i, value = i + round;
            MUST(cudaGraphExecKernelNodeSetParams(exec, first[i], &putting));
        }
        MUST(cudaGraphLaunch(exec, 0));
        MUST(cudaMemcpy(host.data(), sums, width * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < width; i++)
            right += host[i] == width * (width - 1) / 2 + width * round;
    }
    printf("%d of %d\n", right, 5 * width);
}

int main()
{
    run(3);   //> 15 of 15
    run(50);  //> 250 of 250
    run(120); //> 600 of 600
}
