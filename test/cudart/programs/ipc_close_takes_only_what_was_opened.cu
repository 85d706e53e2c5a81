// Memory of the process itself is no opened handle, and stays.
#include "show.h"

int main()
{
    int *large, *small, host;

    MUST(cudaMalloc(&large, 4 << 20));
    MUST(cudaMalloc(&small, sizeof(*small)));
    SHOW(cudaIpcCloseMemHandle(large));     //> cudaIpcCloseMemHandle(large): cudaErrorInvalidValue
    SHOW(cudaIpcCloseMemHandle(small));     //> cudaIpcCloseMemHandle(small): cudaErrorInvalidValue
    SHOW(cudaIpcCloseMemHandle(large + 1)); //> cudaIpcCloseMemHandle(large + 1): cudaErrorInvalidValue
    MUST(cudaMemset(large, 1, 4 << 20));
    MUST(cudaMemcpy(&host, large, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%x\n", host); //> 1010101
    SHOW(cudaFree(large)); //> cudaFree(large): cudaSuccess
    SHOW(cudaFree(small)); //> cudaFree(small): cudaSuccess
}
