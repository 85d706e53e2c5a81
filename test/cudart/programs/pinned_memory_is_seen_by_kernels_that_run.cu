// A kernel that runs and the host see each other's stores to pinned memory, mapped or not.
#include "show.h"

__global__ void answer(volatile int *words, int rounds)
{
    for (int i = 1; i <= rounds; i++) {
        while (words[0] != i)
            ;
        __threadfence_system();
        words[32] = 2 * i;
        __threadfence_system();
        words[16] = i;
    }
}

static void ask(int *words, int *device)
{
    int right = 0;

    answer<<<1, 1>>>(device, 20);
    MUST(cudaGetLastError());
    for (int i = 1; i <= 20; i++) {
        __atomic_store_n(&words[0], i, __ATOMIC_SEQ_CST);
        while (__atomic_load_n(&words[16], __ATOMIC_SEQ_CST) != i)
            ;
        right += words[32] == 2 * i;
    }
    MUST(cudaDeviceSynchronize());
    printf("%d rounds\n", right);
}

int main()
{
    cudaPointerAttributes attributes;
    int *words, *device;

    MUST(cudaMallocHost(&words, 4096));
    words[0] = words[16] = 0;
    SHOW(cudaHostGetDevicePointer(&device, words, 0)); //> cudaHostGetDevicePointer(&device, words, 0): cudaSuccess
    HOLDS(device == words); //> device == words: yes
    ask(words, words);      //> 20 rounds
    MUST(cudaPointerGetAttributes(&attributes, words + 5));
    HOLDS(attributes.type == cudaMemoryTypeHost);   //> attributes.type == cudaMemoryTypeHost: yes
    HOLDS(attributes.devicePointer == words + 5);   //> attributes.devicePointer == words + 5: yes
    SHOW(cudaFreeHost(words)); //> cudaFreeHost(words): cudaSuccess

    MUST(cudaHostAlloc(&words, 4096, cudaHostAllocMapped));
    words[0] = words[16] = 0;
    MUST(cudaHostGetDevicePointer(&device, words, 0));
    ask(words, device);        //> 20 rounds
    SHOW(cudaFreeHost(words)); //> cudaFreeHost(words): cudaSuccess
}
