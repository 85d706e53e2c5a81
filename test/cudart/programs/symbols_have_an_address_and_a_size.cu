// cudaGetSymbolAddress gives a pointer that copies and kernels take.
#include "show.h"

__device__ int numbers[6];

__global__ void fill(int *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = i * 10;
}

int main()
{
    int *p, back[6];
    size_t size;

    MUST(cudaGetSymbolAddress((void **)&p, numbers));
    MUST(cudaGetSymbolSize(&size, numbers));
    printf("%zu\n", size); //> 24
    fill<<<1, 1>>>(p, 6);
    MUST(cudaMemcpyFromSymbol(back, numbers, sizeof(back)));
    printf("%d %d\n", back[1], back[5]); //> 10 50
    MUST(cudaMemset(p, 0, 4));
    MUST(cudaMemcpy(back, p, 8, cudaMemcpyDeviceToHost));
    printf("%d %d\n", back[0], back[1]); //> 0 10
}
