// What cudaMallocManaged refuses.
#include "show.h"

int main()
{
    void *p;

    SHOW(cudaMallocManaged(&p, 0));          //> cudaMallocManaged(&p, 0): cudaSuccess
    SHOW(cudaMallocManaged(&p, 64, 0));      //> cudaMallocManaged(&p, 64, 0): cudaErrorInvalidValue
    SHOW(cudaMallocManaged(&p, 64, cudaMemAttachSingle)); //> cudaMallocManaged(&p, 64, cudaMemAttachSingle): cudaErrorInvalidValue
    SHOW(cudaMallocManaged((void **)nullptr, 64)); //> cudaMallocManaged((void **)nullptr, 64): cudaErrorInvalidValue
    SHOW(cudaMallocManaged(&p, 64, cudaMemAttachHost)); //> cudaMallocManaged(&p, 64, cudaMemAttachHost): cudaSuccess
    SHOW(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachGlobal)); //> cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachGlobal): cudaSuccess
    SHOW(cudaFree(p)); //> cudaFree(p): cudaSuccess
    SHOW(cudaFree(p)); //> cudaFree(p): cudaErrorInvalidValue
}
