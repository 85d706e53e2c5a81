// A warpgroup that gives registers away (setmaxnreg) leaves the others more than a thread of so large a block could have, so that
// nothing is spilled: what kernels do whose other warps multiply.
#include "wgmma.h"

enum { BLOCK = 384, GROUP = 128, HELD = 200, ROUNDS = 3 };

__global__ void __launch_bounds__(BLOCK, 1) sums(int *words, int rounds)
{
    int a[HELD];

    if (threadIdx.x < GROUP) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        return;
    }
    asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
#pragma unroll
    for (int i = 0; i < HELD; i++)
        a[i] = words[i * BLOCK + threadIdx.x];
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int i = 0; i < HELD; i++)
            a[i] += a[(i * 7 + 3) % HELD];
#pragma unroll
    for (int i = 0; i < HELD; i++)
        words[i * BLOCK + threadIdx.x] = a[i];
}

int main()
{
    static int words[HELD * BLOCK], got[HELD * BLOCK];
    cudaFuncAttributes attributes;
    int *memory, wrong = 0;

    need_wgmma();
    for (int i = 0; i < HELD * BLOCK; i++)
        words[i] = i * 2654435761u >> 8;
    MUST(cudaMalloc(&memory, sizeof(words)));
    MUST(cudaMemcpy(memory, words, sizeof(words), cudaMemcpyDefault));
    sums<<<1, BLOCK>>>(memory, ROUNDS);
    MUST(cudaMemcpy(got, memory, sizeof(got), cudaMemcpyDefault));
    for (int t = GROUP; t < BLOCK; t++)
        for (int r = 0; r < ROUNDS; r++)
            for (int i = 0; i < HELD; i++)
                words[i * BLOCK + t] += words[(i * 7 + 3) % HELD * BLOCK + t];
    for (int i = 0; i < HELD * BLOCK; i++)
        wrong += got[i] != words[i];
    printf("%d wrong\n", wrong); //> 0 wrong
    MUST(cudaFuncGetAttributes(&attributes, sums));
    printf("%d bytes spilled\n", (int)attributes.localSizeBytes); //> 0 bytes spilled
    return 0;
}
