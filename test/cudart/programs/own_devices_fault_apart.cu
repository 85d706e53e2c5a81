// A kernel's fault ends the session of its device: the calls of another one go on. (NVIDIA's runtime fails them too.)
#include "devices.h"
#include "said.h"

__global__ void fault()
{
    __trap();
}

int main()
{
    int *at[2], value = 0;

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaMalloc(&at[d], 4096));
    }
    fault<<<1, 1>>>();
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorLaunchFailure
    SHOW(cudaMalloc(&at[1], 4096)); //> cudaMalloc(&at[1], 4096): cudaErrorLaunchFailure
    MUST(cudaSetDevice(0));
    fill<<<1, 32>>>(at[0], 3, 32);
    SHOW(cudaMemcpy(&value, at[0] + 4, 4, cudaMemcpyDeviceToHost)); //> cudaMemcpy(&value, at[0] + 4, 4, cudaMemcpyDeviceToHost): cudaSuccess
    printf("%d\n", value); //> 7
    HOLDS(said_times("a trap in line") == 1); //> said_times("a trap in line") == 1: yes

    // Of two devices with a fault one is reset: the other's stays, and is not said again.
    fault<<<1, 1>>>();
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorLaunchFailure
    MUST(cudaSetDevice(1));
    MUST(cudaDeviceReset());
    MUST(cudaSetDevice(0));
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorLaunchFailure
    HOLDS(said_times("a trap in line") == 2); //> said_times("a trap in line") == 2: yes
}
