// An allocation that no device has room for is refused, whatever its size.
#include "gshare_cuda.h"
#include "show.h"

int main()
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    cudaStream_t stream;
    void *p;

    setvbuf(stdout, nullptr, _IONBF, 0);
    params.mem_limit = 64 << 20;
    if (gs_cuda_attach(&params) != GS_OK)
        return 1;
    MUST(cudaStreamCreate(&stream));
    SHOW(cudaMallocAsync(&p, (size_t)-1, stream)); //> cudaMallocAsync(&p, (size_t)-1, stream): cudaErrorMemoryAllocation
    //> libgshare_cudart: out of memory: 18446744073709551104 bytes (16.0 EiB) wanted, the session's limit is 64 MiB
    SHOW(cudaMallocAsync(&p, (size_t)-600, stream)); //> cudaMallocAsync(&p, (size_t)-600, stream): cudaErrorMemoryAllocation
    SHOW(cudaMalloc(&p, (size_t)-1)); //> cudaMalloc(&p, (size_t)-1): cudaErrorMemoryAllocation
    SHOW(cudaMallocManaged(&p, (size_t)-1)); //> cudaMallocManaged(&p, (size_t)-1): cudaErrorMemoryAllocation
    SHOW(cudaMallocAsync(&p, 100, stream)); //> cudaMallocAsync(&p, 100, stream): cudaSuccess
    SHOW(cudaFreeAsync(p, stream)); //> cudaFreeAsync(p, stream): cudaSuccess
}
