// cudaMallocAsync gives memory while a kernel of the process waits for what comes after it, and
// kernels use the memory meanwhile: a little, and much.
#include "pool.h"

__global__ void wait_for(volatile int *flag)
{
    while (*flag == 0)
        ;
}

__global__ void store(int *at, int value)
{
    *at = value;
}

int main()
{
    const size_t sizes[] = {4096, (size_t)8 << 20, (size_t)24 << 20};
    const cudaMemPool_t pool = pool_make(0);
    cudaFuncAttributes loaded;
    cudaStream_t waiting, working;
    int *flag, *memory[3], word;

    MUST(cudaStreamCreateWithFlags(&waiting, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&working, cudaStreamNonBlocking));
    MUST(cudaMalloc(&flag, 4));
    MUST(cudaMemset(flag, 0, 4));
    MUST(cudaDeviceSynchronize());
    // A kernel that is loaded at its first launch may wait for the other to end.
    MUST(cudaFuncGetAttributes(&loaded, wait_for));
    MUST(cudaFuncGetAttributes(&loaded, store));
    wait_for<<<1, 1, 0, waiting>>>(flag);
    for (int i = 0; i < 3; i++) {
        MUST(cudaMallocFromPoolAsync((void **)&memory[i], sizes[i], pool, working));
        store<<<1, 1, 0, working>>>(memory[i] + sizes[i] / 4 - 1, 10 + i);
        MUST(cudaMemcpyAsync(&word, memory[i] + sizes[i] / 4 - 1, 4, cudaMemcpyDefault, working));
        MUST(cudaStreamSynchronize(working));
        printf("%d\n", word);
    }
    //> 10
    //> 11
    //> 12
    SHOW(cudaStreamQuery(waiting)); //> cudaStreamQuery(waiting): cudaErrorNotReady
    store<<<1, 1, 0, working>>>(flag, 1);
    SHOW(cudaStreamSynchronize(waiting)); //> cudaStreamSynchronize(waiting): cudaSuccess
    for (int i = 0; i < 3; i++)
        MUST(cudaFreeAsync(memory[i], working));
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemPoolDestroy(pool));
}
