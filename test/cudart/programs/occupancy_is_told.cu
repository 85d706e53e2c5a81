// The occupancy calls say how many blocks an SM holds, and propose a block size.
#include "show.h"

__global__ void kernel(float *p)
{
    extern __shared__ float shared[];

    shared[threadIdx.x] = p[threadIdx.x];
    __syncthreads();
    p[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

struct Shared {
    __host__ __device__ size_t operator()(int threads) const { return threads * 64; }
};

int main()
{
    int blocks, more, grid, size;
    size_t smem;
    cudaDeviceProp p;

    MUST(cudaGetDeviceProperties(&p, 0));
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0));
    HOLDS(blocks >= 1);                                  //> blocks >= 1: yes
    HOLDS(blocks <= p.maxThreadsPerMultiProcessor / 1024); //> blocks <= p.maxThreadsPerMultiProcessor / 1024: yes
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&more, kernel, 128, 0));
    HOLDS(more > blocks);                                //> more > blocks: yes
    MUST(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 40000));
    HOLDS(blocks < more);                                //> blocks < more: yes
    MUST(cudaOccupancyMaxPotentialBlockSize(&grid, &size, kernel, 0, 0));
    HOLDS(size >= 32 && size <= 1024 && size % 32 == 0); //> size >= 32 && size <= 1024 && size % 32 == 0: yes
    HOLDS(grid >= p.multiProcessorCount);                //> grid >= p.multiProcessorCount: yes
    // Without the attribute a block has 48 KiB at the most.
    MUST(cudaOccupancyMaxPotentialBlockSizeVariableSMem(&grid, &size, kernel, Shared()));
    HOLDS(size >= 32 && size <= 768); //> size >= 32 && size <= 768: yes
    MUST(cudaOccupancyAvailableDynamicSMemPerBlock(&smem, kernel, 2, 128));
    HOLDS(smem > 0 && smem <= p.sharedMemPerMultiprocessor / 2); //> smem > 0 && smem <= p.sharedMemPerMultiprocessor / 2: yes
}
