// An allocation that no device has room for is refused, whatever its size.
#include "show.h"

int main()
{
    cudaStream_t stream;
    void *p;

    MUST(cudaStreamCreate(&stream));
    SHOW(cudaMallocAsync(&p, (size_t)-1, stream)); //> cudaMallocAsync(&p, (size_t)-1, stream): cudaErrorMemoryAllocation
    SHOW(cudaMallocAsync(&p, (size_t)-600, stream)); //> cudaMallocAsync(&p, (size_t)-600, stream): cudaErrorMemoryAllocation
    SHOW(cudaMalloc(&p, (size_t)-1)); //> cudaMalloc(&p, (size_t)-1): cudaErrorMemoryAllocation
    SHOW(cudaMallocManaged(&p, (size_t)-1)); //> cudaMallocManaged(&p, (size_t)-1): cudaErrorMemoryAllocation
    SHOW(cudaMallocAsync(&p, 100, stream)); //> cudaMallocAsync(&p, 100, stream): cudaSuccess
    SHOW(cudaFreeAsync(p, stream)); //> cudaFreeAsync(p, stream): cudaSuccess
}
