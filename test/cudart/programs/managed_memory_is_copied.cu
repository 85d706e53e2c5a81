// Copies and memsets take managed memory on either side, whatever the kind says.
#include "show.h"

int main()
{
    int *managed, *other, *device, host[4] = {1, 2, 3, 4};

    MUST(cudaMallocManaged(&managed, sizeof(host)));
    MUST(cudaMallocManaged(&other, sizeof(host)));
    MUST(cudaMalloc(&device, sizeof(host)));
    MUST(cudaMemcpy(managed, host, sizeof(host), cudaMemcpyDefault));
    printf("%d %d\n", managed[0], managed[3]); //> 1 4
    managed[3] = 5;
    SHOW(cudaMemcpy(device, managed, sizeof(host), cudaMemcpyHostToDevice)); //> cudaMemcpy(device, managed, sizeof(host), cudaMemcpyHostToDevice): cudaSuccess
    SHOW(cudaMemcpy(other, device, sizeof(host), cudaMemcpyDeviceToHost)); //> cudaMemcpy(other, device, sizeof(host), cudaMemcpyDeviceToHost): cudaSuccess
    printf("%d %d\n", other[0], other[3]); //> 1 5
    other[0] = 9;
    SHOW(cudaMemcpy(host, other, sizeof(host), cudaMemcpyHostToHost)); //> cudaMemcpy(host, other, sizeof(host), cudaMemcpyHostToHost): cudaSuccess
    printf("%d %d\n", host[0], host[3]); //> 9 5
    MUST(cudaMemset(other, 0xff, 8));
    MUST(cudaDeviceSynchronize());
    printf("%d %d %d\n", other[0], other[1], other[2]); //> -1 -1 3
    MUST(cudaMemcpyAsync(managed, other, sizeof(host), cudaMemcpyDefault, 0));
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", managed[0], managed[2]); //> -1 3
}
