// Managed memory is a copy's source and destination as host memory is, whichever device's it is, and is set from
// every device.
#include "devices.h"

int main()
{
    int *managed, *at, got = 0;

    two_needed();
    MUST(cudaSetDevice(1));
    MUST(cudaMallocManaged(&managed, 4096));
    MUST(cudaSetDevice(0));
    MUST(cudaMalloc(&at, 4096));
    for (int i = 0; i < 32; i++)
        managed[i] = 100 + i;
    SHOW(cudaMemcpy(at, managed, 128, cudaMemcpyHostToDevice)); //> cudaMemcpy(at, managed, 128, cudaMemcpyHostToDevice): cudaSuccess
    MUST(cudaMemcpy(&got, at + 3, sizeof(got), cudaMemcpyDeviceToHost));
    printf("%d\n", got); //> 103
    fill<<<1, 32>>>(at, 200, 32);
    SHOW(cudaMemcpy(managed, at, 128, cudaMemcpyDeviceToHost)); //> cudaMemcpy(managed, at, 128, cudaMemcpyDeviceToHost): cudaSuccess
    printf("%d\n", managed[4]); //> 204
    fill<<<1, 32>>>(at, 300, 32);
    SHOW(cudaMemcpy(managed, at, 128, cudaMemcpyDefault)); //> cudaMemcpy(managed, at, 128, cudaMemcpyDefault): cudaSuccess
    printf("%d\n", managed[5]); //> 305
    SHOW(cudaMemset(managed, 1, 128)); //> cudaMemset(managed, 1, 128): cudaSuccess
    MUST(cudaDeviceSynchronize());
    printf("%x\n", managed[31]); //> 1010101
}
