// Copies and fills on one device's stream have managed memory that another device has allocated, and the host sees them.
#include "devices.h"

enum { COUNT = 1 << 20 };

int main()
{
    int *managed, *plain, found = 0;

    reach_needed();
    MUST(cudaMallocManaged(&managed, COUNT * sizeof(int)));
    MUST(cudaSetDevice(1));
    MUST(cudaMalloc(&plain, COUNT * sizeof(int)));
    fill<<<COUNT / 256, 256>>>(plain, 5, COUNT);
    MUST(cudaMemcpy(managed, plain, COUNT * sizeof(int), cudaMemcpyDeviceToDevice));
    for (int i = 0; i < COUNT; i++)
        found += managed[i] != i + 5;
    printf("%d wrong\n", found); //> 0 wrong
    for (int i = 0; i < COUNT; i++)
        managed[i] = -i;
    MUST(cudaMemcpy(plain, managed, COUNT * sizeof(int), cudaMemcpyDefault));
    MUST(cudaMemset(managed, 0, COUNT * sizeof(int)));
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++)
        found += managed[i] != 0;
    MUST(cudaMemcpy(managed, plain, COUNT * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < COUNT; i++)
        found += managed[i] != -i;
    printf("%d wrong\n", found); //> 0 wrong
}
