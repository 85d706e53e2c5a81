// Small allocations are blocks of memory that the session has already: a copy keeps to its block, gs_free
// refuses one, and memory that is kept back is given up when there is no other.
#include "gshare_cuda.h"
#include "show.h"

int main()
{
    static char host[8192];
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    char *first, *p, *large;
    void *small[200];

    params.mem_limit = 64 << 20;
    if (gs_cuda_attach(&params) != GS_OK || gs_cuda_session(&session) != GS_OK)
        return 1;
    MUST(cudaMalloc(&first, 1));
    MUST(cudaMalloc(&p, 1000));
    SHOW(cudaMemcpy(p, host, 1000, cudaMemcpyHostToDevice)); //> cudaMemcpy(p, host, 1000, cudaMemcpyHostToDevice): cudaSuccess
    SHOW(cudaMemcpy(p, host, 1001, cudaMemcpyHostToDevice)); //> cudaMemcpy(p, host, 1001, cudaMemcpyHostToDevice): cudaErrorInvalidValue
    SHOW(cudaMemcpy(host, p + 990, 11, cudaMemcpyDeviceToHost)); //> cudaMemcpy(host, p + 990, 11, cudaMemcpyDeviceToHost): cudaErrorInvalidValue
    SHOW(cudaMemset2D(p, 400, 1, 200, 3)); //> cudaMemset2D(p, 400, 1, 200, 3): cudaSuccess
    SHOW(cudaMemset2D(p, 400, 1, 201, 3)); //> cudaMemset2D(p, 400, 1, 201, 3): cudaErrorInvalidValue
    HOLDS(gs_free(session, (gs_devptr)first) == GS_ERR_INVALID_POINTER); //> gs_free(session, (gs_devptr)first) == GS_ERR_INVALID_POINTER: yes
    HOLDS(gs_free(session, (gs_devptr)p) == GS_ERR_INVALID_POINTER); //> gs_free(session, (gs_devptr)p) == GS_ERR_INVALID_POINTER: yes
    SHOW(cudaFree(first)); //> cudaFree(first): cudaSuccess
    SHOW(cudaMemset(first, 0, 1)); //> cudaMemset(first, 0, 1): cudaErrorInvalidValue

    for (void *&s : small)
        MUST(cudaMalloc(&s, 100000));
    for (void *s : small)
        MUST(cudaFree(s));
    SHOW(cudaMalloc(&large, 58 << 20)); //> cudaMalloc(&large, 58 << 20): cudaSuccess
    SHOW(cudaFree(p)); //> cudaFree(p): cudaSuccess
    SHOW(cudaFree(large)); //> cudaFree(large): cudaSuccess
    SHOW(cudaDeviceReset()); //> cudaDeviceReset(): cudaSuccess
    SHOW(cudaFree(large)); //> cudaFree(large): cudaErrorInvalidValue
}
