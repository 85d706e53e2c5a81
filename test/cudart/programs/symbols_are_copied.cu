// Variables are read and written by name, in whole and in part.
#include "show.h"

__device__ int numbers[4] = {1, 2, 3, 4};
__constant__ float factor = 0.5f;
static __device__ double lonely = 2.25;

__global__ void scale(float *out)
{
    for (int i = 0; i < 4; i++)
        out[i] = numbers[i] * factor + (float)lonely;
}

int main()
{
    int two[2] = {30, 40}, back[4];
    float two_point_five = 2.5f, *out, host[4];
    double seen;

    MUST(cudaMemcpyFromSymbol(back, numbers, sizeof(back)));
    printf("%d %d %d %d\n", back[0], back[1], back[2], back[3]); //> 1 2 3 4
    MUST(cudaMemcpyToSymbol(numbers, two, sizeof(two), 8));
    MUST(cudaMemcpyToSymbol(factor, &two_point_five, sizeof(float)));
    MUST(cudaMemcpyFromSymbol(&seen, lonely, sizeof(seen)));
    printf("%g\n", seen); //> 2.25
    MUST(cudaMalloc(&out, sizeof(host)));
    scale<<<1, 1>>>(out);
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%g %g %g %g\n", host[0], host[1], host[2], host[3]); //> 4.75 7.25 77.25 102.25
}
