// Two files, compiled with -rdc=true: what one declares and the other defines is one thing, and
// what is static in both is not. The other file is ../separate/ of the same name.
#include "../separate/shared.h"
#include "show.h"

static __device__ int hidden = 1;
static __device__ int own() { return 3; }

static __global__ void fill(int *p)
{
    p[threadIdx.x] = (int)threadIdx.x;
}

__global__ void use(int *p, int which)
{
    extern __shared__ int words[];

    words[threadIdx.x] = other_twice(p[threadIdx.x]) + own() + table[which];
    __syncthreads();
    p[threadIdx.x] = words[blockDim.x - 1 - threadIdx.x] + operations[which](100) + larger(1, 2);
    atomicAdd(&counter, hidden);
}

int main()
{
    int host[4], total, *p;
    const int changed[2] = {1000, 2000};

    MUST(cudaMalloc(&p, sizeof(host)));
    fill<<<1, 4>>>(p);
    use<<<1, 4, sizeof(host)>>>(p, 0);
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]); //> 122 120 118 116
    MUST(cudaMemcpyToSymbol(table, changed, sizeof(changed)));
    fill<<<1, 4>>>(p);
    use<<<1, 4, sizeof(host)>>>(p, 1);
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]); //> 2115 2113 2111 2109
    //> counted
    other_count(p, 5);
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[3]); //> 5 8
    MUST(cudaMemcpyFromSymbol(&total, counter, sizeof(total)));
    printf("%d\n", total); //> 48
}
