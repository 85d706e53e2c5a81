// The current device is the thread's. Threads of several devices work at the same time.
#include <thread>
#include <vector>

#include "devices.h"

static int sums[8];

static void work(int i)
{
    enum { N = 4096 };
    std::vector<int> host(N);
    int *at, current = -1, sum = 0;

    MUST(cudaGetDevice(&current));
    if (current != 0)
        exit(1); // a new thread has the first one
    MUST(cudaSetDevice(i % 2));
    MUST(cudaMalloc(&at, N * sizeof(int)));
    for (int round = 0; round < 50; round++) {
        fill<<<N / 256, 256>>>(at, i + round, N);
        MUST(cudaMemcpy(host.data(), at, N * sizeof(int), cudaMemcpyDeviceToHost));
        sum += host[N - 1] - (N - 1);
    }
    MUST(cudaGetDevice(&current));
    sums[i] = current == i % 2 ? sum : -1;
    MUST(cudaFree(at));
}

int main()
{
    std::vector<std::thread> threads;
    int current = -1;

    two_needed();
    MUST(cudaSetDevice(1));
    for (int i = 0; i < 8; i++)
        threads.emplace_back(work, i);
    for (std::thread &thread : threads)
        thread.join();
    for (int i = 0; i < 8; i += 7)
        printf("%d\n", sums[i]); //> 1225
                                 //> 1575
    MUST(cudaGetDevice(&current));
    printf("%d\n", current); //> 1
}
