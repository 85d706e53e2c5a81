// Eight threads launch and copy at the same time, each on a stream of its own.
#include "show.h"
#include <thread>
#include <vector>

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

int main()
{
    std::vector<std::thread> threads;
    int wrong[8] = {}, all = 0;

    for (int t = 0; t < 8; t++)
        threads.emplace_back([t, &wrong] {
            cudaStream_t stream;
            int *p, host[32];

            MUST(cudaStreamCreate(&stream));
            MUST(cudaMalloc(&p, sizeof(host)));
            MUST(cudaMemsetAsync(p, 0, sizeof(host), stream));
            for (int i = 0; i < 100; i++)
                add<<<1, 32, 0, stream>>>(p, t + 1);
            MUST(cudaMemcpyAsync(host, p, sizeof(host), cudaMemcpyDeviceToHost, stream));
            MUST(cudaStreamSynchronize(stream));
            for (int value : host)
                wrong[t] += value != 100 * (t + 1);
            MUST(cudaFree(p));
            MUST(cudaStreamDestroy(stream));
        });
    for (auto &thread : threads)
        thread.join();
    for (int count : wrong)
        all += count;
    printf("%d wrong\n", all);  //> 0 wrong
    SHOW(cudaGetLastError());   //> cudaGetLastError(): cudaSuccess
}
