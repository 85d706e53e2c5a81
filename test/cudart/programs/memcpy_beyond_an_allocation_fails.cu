// A copy that runs over the end of device memory is refused.
#include "show.h"

int main()
{
    static char host[64 << 20];
    char *p;

    MUST(cudaMalloc(&p, 2 << 20));
    SHOW(cudaMemcpy(p, host, sizeof(host), cudaMemcpyHostToDevice)); //> cudaMemcpy(p, host, sizeof(host), cudaMemcpyHostToDevice): cudaErrorInvalidValue
    SHOW(cudaGetLastError());                                        //> cudaGetLastError(): cudaErrorInvalidValue
    SHOW(cudaDeviceSynchronize());                                   //> cudaDeviceSynchronize(): cudaSuccess
}
