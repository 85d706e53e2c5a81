// Programmatic dependent launches in a stream: each sees what the one before has written, and what
// follows waits for all, also for a kernel that its dependent does not wait for.
#include "dependent.h"

__global__ void lasts(unsigned *p)
{
    cudaTriggerProgrammaticLaunchCompletion();
    const long long start = clock64();
    while (clock64() - start < 20000000)
        ;
    *p = 77;
}

__global__ void brief(unsigned *p)
{
    *p = 5;
}

int main()
{
    unsigned *p, expected = 0, seen[2];
    cudaStream_t stream;
    cudaEvent_t event;

    MUST(cudaStreamCreate(&stream));
    MUST(cudaEventCreate(&event));
    MUST(cudaMalloc(&p, 8));
    MUST(cudaMemsetAsync(p, 0, 8, stream));
    for (unsigned i = 0; i < 500; i++) {
        MUST(launch(stream, step, p, i));
        expected = expected * 3 + i;
        if (i % 50 == 49)
            MUST(cudaStreamSynchronize(stream)); // the same launches come again
    }
    MUST(cudaMemcpyAsync(seen, p, 4, cudaMemcpyDeviceToHost, stream));
    MUST(cudaStreamSynchronize(stream));
    HOLDS(seen[0] == expected); //> seen[0] == expected: yes

    for (int round = 0; round < 4; round++) {
        MUST(cudaMemset(p, 0, 8));
        MUST(launch(stream, lasts, p));
        MUST(launch(stream, brief, p + 1));
        MUST(cudaEventRecord(event, stream));
        MUST(cudaEventSynchronize(event));
        MUST(cudaMemcpy(seen, p, 8, cudaMemcpyDeviceToHost));
        printf("%u %u\n", seen[0], seen[1]); //> 77 5
                                             //> 77 5
                                             //> 77 5
                                             //> 77 5
    }
    SHOW(cudaFree(p)); //> cudaFree(p): cudaSuccess
}
