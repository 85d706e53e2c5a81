// A launch that the device alone can refuse ends the session, as a fault does: each call says so, and stderr why.
#include "said.h"
#include "show.h"

__global__ void __launch_bounds__(64, 1, 2) two_at_most(int *out)
{
    out[blockIdx.x] = 1;
}

int main()
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};
    int *words, can = 0;
    void *p;

    MUST(cudaDeviceGetAttribute(&can, cudaDevAttrClusterLaunch, 0));
    if (!can) {
        printf("no clusters\n");
        return 77;
    }
    MUST(cudaMalloc(&words, 64));
    config.gridDim = 8;
    config.blockDim = 64;
    config.attrs = &attribute;
    config.numAttrs = 1;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 4;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    MUST(cudaLaunchKernelEx(&config, two_at_most, words));
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorLaunchFailure
    SHOW(cudaMalloc(&p, 4));       //> cudaMalloc(&p, 4): cudaErrorLaunchFailure
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaErrorLaunchFailure
    HOLDS(said_lines() == 1);      //> said_lines() == 1: yes
    HOLDS(said_times("the session has ended: kernel _Z11two_at_mostPi: ") == 1); //> said_times("the session has ended: kernel _Z11two_at_mostPi: ") == 1: yes
    HOLDS(said_times("CUDA_ERROR_INVALID_CLUSTER_SIZE") == 1); //> said_times("CUDA_ERROR_INVALID_CLUSTER_SIZE") == 1: yes
    return 0;
}
