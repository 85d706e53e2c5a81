// Compiled with --default-stream per-thread, stream 0 is the thread's own: kernels of two threads
// run at the same time.
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
    int *flags, host[2] = {};

    MUST(cudaMalloc(&flags, 8));
    MUST(cudaMemcpy(flags, host, 8, cudaMemcpyHostToDevice));
    auto body = [&](int mine, int other) {
        int seen;

        meet<<<1, 1>>>(flags + mine, flags + other);
        MUST(cudaMemcpy(&seen, flags + mine, 4, cudaMemcpyDeviceToHost));
        host[mine] = seen;
    };
    std::thread a(body, 0, 1), b(body, 1, 0);
    a.join();
    b.join();
    printf("%d %d\n", host[0], host[1]); //> 1 1
}
