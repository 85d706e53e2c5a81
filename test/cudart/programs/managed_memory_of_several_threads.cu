// Threads of the host work on managed memory of their own, each with its stream.
#include <thread>
#include <vector>

#include "show.h"

__global__ void step(int *p)
{
    p[threadIdx.x] += threadIdx.x;
}

int main()
{
    std::vector<std::thread> threads;
    int wrong[4] = {};

    for (int t = 0; t < 4; t++)
        threads.emplace_back([t, &wrong] {
            cudaStream_t stream;
            int *p;

            MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
            MUST(cudaMallocManaged(&p, 64 * sizeof(int)));
            for (int i = 0; i < 64; i++)
                p[i] = t;
            for (int turn = 1; turn <= 50; turn++) {
                step<<<1, 64, 0, stream>>>(p);
                MUST(cudaStreamSynchronize(stream));
                for (int i = 0; i < 64; i++)
                    wrong[t] += p[i] != t + turn * i + turn - 1;
                for (int i = 0; i < 64; i++)
                    p[i] += 1;
            }
            MUST(cudaFree(p));
        });
    for (std::thread &thread : threads)
        thread.join();
    printf("%d %d %d %d\n", wrong[0], wrong[1], wrong[2], wrong[3]);  //> 0 0 0 0
}
