// cudaLaunchKernelEx takes a configuration with attributes.
#include "show.h"

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

int main()
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1];
    int *p, host[32];

    MUST(cudaMalloc(&p, sizeof(host)));
    attribute[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute[0].val.programmaticStreamSerializationAllowed = 0;
    config.gridDim = 1;
    config.blockDim = 32;
    config.attrs = attribute;
    config.numAttrs = 1;
    SHOW(cudaLaunchKernelEx(&config, fill, p, 11)); //> cudaLaunchKernelEx(&config, fill, p, 11): cudaSuccess
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[31]); //> 11 11
}
