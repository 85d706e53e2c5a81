// What kernels print appears when the host synchronises.
#include "show.h"

__global__ void hello(int n)
{
    printf("thread %d of %d: %s %5.2f\n", threadIdx.x, n, "hello", 1.5 * n);
}

int main()
{
    hello<<<1, 1>>>(3);
    MUST(cudaDeviceSynchronize()); //> thread 0 of 3: hello  4.50
    fflush(stdout);
    printf("after\n"); //> after
}
