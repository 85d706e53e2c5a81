// Memory that is freed in the legacy stream and taken again there comes after the work of all blocking
// streams, also for a blocking stream that uses it then.
#include "show.h"

__global__ void write_late(volatile int *p, int value, int rounds)
{
    for (int i = 0; i < rounds; i++)
        __threadfence();
    p[threadIdx.x] = value;
}

int main()
{
    cudaStream_t first, second;
    int *freed, *taken, host[32];

    MUST(cudaStreamCreate(&first));
    MUST(cudaStreamCreate(&second));
    MUST(cudaMallocAsync(&freed, sizeof(host), 0));
    write_late<<<1, 32, 0, first>>>(freed, -1, 20000);
    SHOW(cudaFreeAsync(freed, 0)); //> cudaFreeAsync(freed, 0): cudaSuccess
    MUST(cudaMallocAsync(&taken, sizeof(host), 0));
    write_late<<<1, 32, 0, second>>>(taken, 7, 1);
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpy(host, taken, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[31]); //> 7 7
}
