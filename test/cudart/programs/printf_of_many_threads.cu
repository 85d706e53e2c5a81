// Every thread's line comes out once.
#include "show.h"

__global__ void tell(int n)
{
    if (threadIdx.x < n)
        printf("line\n");
}

int main()
{
    tell<<<1, 64>>>(3);
    SHOW(cudaDeviceSynchronize());
    //> line
    //> line
    //> line
    //> cudaDeviceSynchronize(): cudaSuccess
}
