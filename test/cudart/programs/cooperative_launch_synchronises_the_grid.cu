// A cooperative launch may synchronise its grid; one of too many blocks is refused.
#include "show.h"
#include <cooperative_groups.h>

__global__ void rounds(int *counters, int n)
{
    auto grid = cooperative_groups::this_grid();

    for (int i = 0; i < n; i++) {
        if (threadIdx.x == 0)
            atomicAdd(&counters[i], 1);
        grid.sync();
        if (grid.thread_rank() == 0 && counters[i] != gridDim.x)
            counters[n] = 1;
        grid.sync();
    }
}

int main()
{
    int *counters, host[6], n = 5;

    MUST(cudaMalloc(&counters, sizeof(host)));
    MUST(cudaMemset(counters, 0, sizeof(host)));
    void *args[] = {&counters, &n};
    SHOW(cudaLaunchCooperativeKernel((void *)rounds, dim3(4), dim3(64), args, 0, 0)); //> cudaLaunchCooperativeKernel((void *)rounds, dim3(4), dim3(64), args, 0, 0): cudaSuccess
    MUST(cudaMemcpy(host, counters, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d %d\n", host[0], host[4], host[5]); //> 4 4 0
    SHOW(cudaLaunchCooperativeKernel((void *)rounds, dim3(100000), dim3(1024), args, 0, 0)); //> cudaLaunchCooperativeKernel((void *)rounds, dim3(100000), dim3(1024), args, 0, 0): cudaErrorCooperativeLaunchTooLarge
}
