// A kernel that cannot be had leaves the others of its module alone, and its own launch fails, which a line on stderr explains. With a fence that is what
// the fence refuses; on the software device also what it does not know.
#include "said.h"
#include "show.h"

#include <gshare.h>
#include <gshare_cuda.h>

__global__ void good(int *out)
{
    out[threadIdx.x] = threadIdx.x + 1;
}

__global__ void refused(int *out)
{
    asm volatile("{ .reg .b64 stack; stacksave.u64 stack; }" ::: "memory");
    *out = 1;
}

int main()
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    int *out, host[4];

    params.fence = GS_FENCE_ON;
    if (gs_cuda_attach(&params) != GS_OK)
        return 1;
    MUST(cudaMalloc(&out, 4096));
    refused<<<1, 1>>>(out);
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorNotPermitted
    HOLDS(said_times("cannot be had") == 1); //> said_times("cannot be had") == 1: yes
    good<<<1, 4>>>(out);
    SHOW(cudaGetLastError());      //> cudaGetLastError(): cudaSuccess
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    MUST(cudaMemcpy(host, out, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d %d %d\n", host[0], host[1], host[2], host[3]); //> 1 2 3 4
}
