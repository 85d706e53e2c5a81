// What the host reads and writes here and there of a large managed allocation stays apart.
#include "show.h"

__global__ void add(unsigned char *p, size_t size)
{
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
        p[i] += 1;
}

int main()
{
    const size_t size = (9 << 20) + 12345;
    unsigned char *p, *q;
    unsigned long sum = 0;

    MUST(cudaMallocManaged(&p, size));
    MUST(cudaMallocManaged(&q, 100));
    p[size - 1] = 40;
    q[99] = 7;
    add<<<8, 128>>>(p, size);
    MUST(cudaDeviceSynchronize());
    printf("%d %d %d\n", p[0], p[5 << 20], p[size - 1]); //> 1 1 41
    p[5 << 20] = 100;
    add<<<8, 128>>>(p, size);
    add<<<1, 32>>>(q, 100);
    MUST(cudaDeviceSynchronize());
    for (size_t i = 0; i < size; i++)
        sum += p[i];
    printf("%lu\n", sum == 2 * size + 40 + 99 ? 1ul : sum); //> 1
    printf("%d %d\n", q[0], q[99]); //> 1 8
    MUST(cudaFree(p));
    MUST(cudaFree(q));
}
