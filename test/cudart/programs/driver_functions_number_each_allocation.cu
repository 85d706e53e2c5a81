// CU_POINTER_ATTRIBUTE_BUFFER_ID is the same at each address of an allocation, and of no other one, also not of one
// that was freed before.
#include <set>
#include "driver_function.h"

int main()
{
    DRIVER(cuPointerGetAttribute, 4000);
    std::set<unsigned long long> ids;
    unsigned long long id, inside;
    char *memory[5], plain;
    size_t count = 0;

    for (int round = 0; round < 3; round++) {
        MUST(cudaMalloc(&memory[0], 1000));
        MUST(cudaMalloc(&memory[1], 8 << 20));
        MUST(cudaMallocHost(&memory[2], 1000));
        MUST(cudaMallocManaged(&memory[3], 1000));
        MUST(cudaMallocAsync(&memory[4], 1000, 0));
        for (char *at : memory) {
            if (cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, (CUdeviceptr)at) != CUDA_SUCCESS ||
                cuPointerGetAttribute(&inside, CU_POINTER_ATTRIBUTE_BUFFER_ID, (CUdeviceptr)(at + 999)) != CUDA_SUCCESS ||
                id != inside)
                printf("%p: no number of its own\n", (void *)at);
            ids.insert(id);
            count++;
        }
        MUST(cudaFree(memory[0]));
        MUST(cudaFree(memory[1]));
        MUST(cudaFreeHost(memory[2]));
        MUST(cudaFree(memory[3]));
        MUST(cudaFreeAsync(memory[4], 0));
        MUST(cudaDeviceSynchronize());
    }
    HOLDS(ids.size() == count); //> ids.size() == count: yes
    HOLDS(cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, (CUdeviceptr)&plain) == CUDA_ERROR_INVALID_VALUE); //> cuPointerGetAttribute(&id, CU_POINTER_ATTRIBUTE_BUFFER_ID, (CUdeviceptr)&plain) == CUDA_ERROR_INVALID_VALUE: yes
}
