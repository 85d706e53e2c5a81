// A device's fault takes nothing from the managed memory of another one that it reaches, nor from that one's calls.
#include "devices.h"
#include "said.h"

__global__ void store(int *at, int value)
{
    *at = value;
}

int main()
{
    int *word, *of_second, *plain;

    reach_needed();
    MUST(cudaMallocManaged(&word, sizeof(int)));
    MUST(cudaMalloc(&plain, sizeof(int)));
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceEnablePeerAccess(0, 0));
    MUST(cudaMallocManaged(&of_second, sizeof(int)));
    *word = *of_second = 1;
    store<<<1, 1>>>(word, 2);
    MUST(cudaDeviceSynchronize());
    printf("%d\n", *word); //> 2
    MUST(cudaSetDevice(0));
    store<<<1, 1>>>(word, 3);
    store<<<1, 1>>>(of_second, 3);
    MUST(cudaDeviceSynchronize());

    MUST(cudaSetDevice(1));
    store<<<1, 1>>>((int *)16, 1);
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorIllegalAddress
    printf("%d\n", *word); //> 3
    cudaGetLastError();
    MUST(cudaSetDevice(0));
    for (int round = 0; round < 2; round++) {
        *word = *of_second = 4;
        store<<<1, 1>>>(word, 5 + round);
        SHOW(cudaGetLastError());
        //> cudaGetLastError(): cudaSuccess
        //> 5
        //> cudaGetLastError(): cudaSuccess
        //> 6
        MUST(cudaDeviceSynchronize());
        printf("%d\n", *word);
    }
    SHOW(cudaFree(plain)); //> cudaFree(plain): cudaSuccess
    SHOW(cudaFree(word)); //> cudaFree(word): cudaSuccess
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    HOLDS(said_times("session has ended") == 1); //> said_times("session has ended") == 1: yes
}
