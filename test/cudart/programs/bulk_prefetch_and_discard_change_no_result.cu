// Prefetching a range and discarding what is written next are advice: the results are the same.
#include "show.h"
#include <cuda/annotated_ptr>

enum { THREADS = 128, WORDS = 4096 };

__global__ void reverse(const int *in, int *out, int *scratch)
{
    if (threadIdx.x == 0) {
        unsigned bytes = WORDS * sizeof(*in);
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in), "r"(bytes) : "memory");
        cuda::discard_memory(scratch, WORDS * sizeof(*scratch));
    }
    __syncthreads();
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        scratch[i] = in[WORDS - 1 - i];
    __syncthreads();
    for (int i = threadIdx.x; i < WORDS; i += THREADS)
        out[i] = scratch[i] + 1;
}

int main()
{
    static int host[WORDS];
    int *in, *out, *scratch, wrong = 0;

    MUST(cudaMalloc(&in, sizeof host));
    MUST(cudaMalloc(&out, sizeof host));
    MUST(cudaMalloc(&scratch, sizeof host));
    for (int i = 0; i < WORDS; i++)
        host[i] = i * i;
    MUST(cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice));
    reverse<<<1, THREADS>>>(in, out, scratch);
    MUST(cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < WORDS; i++)
        wrong += host[i] != (WORDS - 1 - i) * (WORDS - 1 - i) + 1;
    printf("%d are wrong\n", wrong); //> 0 are wrong
    return 0;
}
