// A single row of an array is copied with 0 as the pitch of the memory, which counts only between rows.
#include "show.h"

int main()
{
    const cudaChannelFormatDesc desc = cudaCreateChannelDesc<int>();
    int row[8] = {3, 1, 4, 1, 5, 9, 2, 6}, back[8] = {}, *device;
    cudaArray_t array;

    MUST(cudaMalloc(&device, sizeof(row)));
    MUST(cudaMallocArray(&array, &desc, 8, 2));
    SHOW(cudaMemcpy2DToArray(array, 0, 1, row, 0, sizeof(row), 1, cudaMemcpyHostToDevice)); //> cudaMemcpy2DToArray(array, 0, 1, row, 0, sizeof(row), 1, cudaMemcpyHostToDevice): cudaSuccess
    MUST(cudaMemcpy2DFromArray(device, 0, array, 0, 1, sizeof(row), 1, cudaMemcpyDeviceToDevice));
    MUST(cudaMemcpy(back, device, sizeof(back), cudaMemcpyDeviceToHost));
    HOLDS(memcmp(row, back, sizeof(row)) == 0); //> memcmp(row, back, sizeof(row)) == 0: yes
}
