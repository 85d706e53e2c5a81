// Copies between devices go on after cudaDeviceReset of one of them.
#include "devices.h"

int main()
{
    int *at[2], value[4] = {};

    two_needed();
    for (int round = 0; round < 3; round++) {
        MUST(cudaSetDevice(1));
        MUST(cudaMalloc(&at[1], 4096));
        MUST(cudaSetDevice(0));
        MUST(cudaMalloc(&at[0], 4096));
        fill<<<1, 32>>>(at[0], 10 * round, 32);
        MUST(cudaMemcpy(at[1], at[0], 128, cudaMemcpyDefault));
        MUST(cudaMemset(at[0], 0, 4096));
        SHOW(cudaMemcpy(at[0], at[1] + 2, 64, cudaMemcpyDefault));
        MUST(cudaMemcpy(value, at[0], sizeof(value), cudaMemcpyDefault));
        printf("%d %d\n", value[0], value[3]);
        MUST(cudaSetDevice(round % 2));
        MUST(cudaDeviceReset());
        //> cudaMemcpy(at[0], at[1] + 2, 64, cudaMemcpyDefault): cudaSuccess
        //> 2 5
        //> cudaMemcpy(at[0], at[1] + 2, 64, cudaMemcpyDefault): cudaSuccess
        //> 12 15
        //> cudaMemcpy(at[0], at[1] + 2, 64, cudaMemcpyDefault): cudaSuccess
        //> 22 25
    }
}
