// cudaDeviceReset ends what the current device has, and nothing of another one.
#include "devices.h"

int main()
{
    int *at[2], value = 0;
    cudaStream_t stream[2];

    two_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
        MUST(cudaMalloc(&at[d], 4096));
        fill<<<1, 32, 0, stream[d]>>>(at[d], 10 * d, 32);
    }
    SHOW(cudaDeviceReset()); //> cudaDeviceReset(): cudaSuccess
    MUST(cudaSetDevice(0));
    fill<<<1, 32, 0, stream[0]>>>(at[0], 20, 32);
    SHOW(cudaStreamSynchronize(stream[0])); //> cudaStreamSynchronize(stream[0]): cudaSuccess
    MUST(cudaMemcpy(&value, at[0] + 5, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", value); //> 25
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&at[1], 4096));
    fill<<<1, 32>>>(at[1], 30, 32);
    MUST(cudaMemcpy(&value, at[1] + 5, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", value); //> 35
}
