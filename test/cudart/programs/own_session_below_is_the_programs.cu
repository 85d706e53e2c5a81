// cuda* and gs_* calls mix: the same session, the same pointers.
#include "show.h"
#include <gshare_cuda.h>

__global__ void fill(int *p, int value)
{
    p[threadIdx.x] = value;
}

int main()
{
    gs_session session;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_devptr memory;
    int host[8];

    params.name = "mixed";
    printf("%s\n", gs_status_name(gs_cuda_attach(&params)));    //> GS_OK
    printf("%s\n", gs_status_name(gs_cuda_attach(&params)));    //> GS_ERR_INVALID_VALUE
    printf("%s\n", gs_status_name(gs_cuda_session(&session)));  //> GS_OK
    printf("%s\n", gs_status_name(gs_malloc(session, sizeof(host), &memory))); //> GS_OK
    fill<<<1, 8>>>((int *)memory, 6);
    printf("%s\n", gs_status_name(gs_memcpy_dtoh(session, host, memory, sizeof(host)))); //> GS_OK
    printf("%d %d\n", host[0], host[7]); //> 6 6
    SHOW(cudaFree((void *)memory));      //> cudaFree((void *)memory): cudaSuccess
}
