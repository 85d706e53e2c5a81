// cudaDeviceReset frees what the process had on the device; variables have their first values again.
#include "show.h"

__device__ int variable = 17;

__global__ void get(int *p)
{
    *p = variable++;
}

static int run()
{
    int *p, host;

    MUST(cudaMalloc(&p, 4));
    get<<<1, 1>>>(p);
    MUST(cudaMemcpy(&host, p, 4, cudaMemcpyDeviceToHost));
    return host;
}

int main()
{
    printf("%d\n", run());   //> 17
    printf("%d\n", run());   //> 18
    SHOW(cudaDeviceReset()); //> cudaDeviceReset(): cudaSuccess
    printf("%d\n", run());   //> 17
}
