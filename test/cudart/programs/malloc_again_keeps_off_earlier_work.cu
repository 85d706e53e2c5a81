// Memory that is freed while kernels of two streams write to it, and allocated again, has what is
// written to it then.
#include "show.h"

__global__ void write_late(int *p, int value)
{
    for (int i = 0; i < 20000; i++)
        __threadfence();
    p[threadIdx.x] = value;
}

int main()
{
    const int rounds = 8;
    cudaStream_t a, b;
    bool kept = true;

    MUST(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    for (int round = 0; round < rounds; round++) {
        int *first, *second, *again[2], host[32];

        MUST(cudaMalloc(&first, sizeof(host)));
        MUST(cudaMalloc(&second, sizeof(host)));
        write_late<<<1, 32, 0, a>>>(first, -1);
        write_late<<<1, 32, 0, b>>>(second, -2);
        MUST(cudaFree(first));
        MUST(cudaFree(second));
        for (int i = 0; i < 2; i++) {
            MUST(cudaMalloc(&again[i], sizeof(host)));
            MUST(cudaMemset(again[i], round, sizeof(host)));
        }
        MUST(cudaDeviceSynchronize());
        for (int i = 0; i < 2; i++) {
            MUST(cudaMemcpy(host, again[i], sizeof(host), cudaMemcpyDeviceToHost));
            kept = kept && host[0] == round * 0x01010101 && host[31] == round * 0x01010101;
            MUST(cudaFree(again[i]));
        }
    }
    HOLDS(kept); //> kept: yes
}
