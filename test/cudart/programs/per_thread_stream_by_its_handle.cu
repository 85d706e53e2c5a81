// cudaStreamPerThread is a blocking stream of the calling thread's own.
#include "show.h"
#include <thread>

__global__ void meet(volatile int *mine, volatile int *other)
{
    *mine = 1;
    while (*other == 0)
        ;
}

int main()
{
    int *flags, host[2];
    unsigned stream_flags;

    MUST(cudaMalloc(&flags, 8));
    MUST(cudaMemset(flags, 0, 8));
    MUST(cudaDeviceSynchronize());
    auto body = [&](int mine, int other) {
        meet<<<1, 1, 0, cudaStreamPerThread>>>(flags + mine, flags + other);
        MUST(cudaStreamSynchronize(cudaStreamPerThread));
    };
    std::thread a(body, 0, 1), b(body, 1, 0);
    a.join();
    b.join();
    MUST(cudaMemcpy(host, flags, 8, cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[1]); //> 1 1
    MUST(cudaStreamGetFlags(cudaStreamPerThread, &stream_flags));
    HOLDS(stream_flags == cudaStreamDefault); //> stream_flags == cudaStreamDefault: yes
}
