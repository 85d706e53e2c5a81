// Threads allocate, use and free memory at the same time.
#include "show.h"
#include <atomic>
#include <thread>

static std::atomic<int> wrong;

static void work(int number)
{
    cudaStream_t stream;

    MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 40; i++) {
        unsigned char *p, *q, value = (unsigned char)(number * 40 + i), host[2];
        size_t size = 100 + (size_t)(number * 7 + i) % 11 * 9000;

        MUST(cudaMalloc(&p, size));
        MUST(cudaMallocAsync(&q, size, stream));
        MUST(cudaMemsetAsync(p, value, size, stream));
        MUST(cudaMemcpyAsync(q, p, size, cudaMemcpyDeviceToDevice, stream));
        MUST(cudaMemcpyAsync(host, q, 1, cudaMemcpyDeviceToHost, stream));
        MUST(cudaMemcpyAsync(host + 1, q + size - 1, 1, cudaMemcpyDeviceToHost, stream));
        MUST(cudaFreeAsync(q, stream));
        MUST(cudaStreamSynchronize(stream));
        wrong += host[0] != value || host[1] != value;
        MUST(cudaFree(p));
    }
    MUST(cudaStreamDestroy(stream));
}

int main()
{
    std::thread threads[4];

    for (int i = 0; i < 4; i++)
        threads[i] = std::thread(work, i);
    for (std::thread &thread : threads)
        thread.join();
    printf("%d\n", (int)wrong); //> 0
}
