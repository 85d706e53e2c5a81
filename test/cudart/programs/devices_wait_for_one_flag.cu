// Kernels of two devices wait for one flag in pinned memory, which the host sets; each answers in the same memory.
#include "devices.h"

__global__ void wait_for(volatile int *flag, volatile int *answer, int value)
{
    while (*flag == 0)
        ;
    __threadfence_system();
    *answer = value;
}

int main()
{
    cudaStream_t stream[2];
    volatile int *words;
    int waiting = 0, answers = 0;

    reach_needed();
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreateWithFlags(&stream[d], cudaStreamNonBlocking));
    }
    MUST(cudaHostAlloc((void **)&words, 4096, cudaHostAllocPortable));
    for (int round = 0; round < 3; round++) {
        words[0] = words[32] = words[64] = 0;
        for (int d = 0; d < 2; d++) {
            MUST(cudaSetDevice(d));
            wait_for<<<1, 1, 0, stream[d]>>>(words, &words[32 + 32 * d], 10 + d);
            MUST(cudaGetLastError());
        }
        waiting += cudaStreamQuery(stream[0]) == cudaErrorNotReady;
        __atomic_store_n(&words[0], 1, __ATOMIC_SEQ_CST);
        for (int d = 0; d < 2; d++)
            MUST(cudaStreamSynchronize(stream[d]));
        answers += words[32] + words[64];
    }
    printf("%d times waiting, answers %d\n", waiting, answers); //> 3 times waiting, answers 63
    MUST(cudaFreeHost((void *)words));
}
