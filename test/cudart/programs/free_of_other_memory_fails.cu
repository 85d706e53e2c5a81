// cudaFree takes what cudaMalloc gave, once.
#include "show.h"

int main()
{
    void *p = nullptr;
    int host;

    SHOW(cudaFree(nullptr)); //> cudaFree(nullptr): cudaSuccess
    MUST(cudaMalloc(&p, 100));
    SHOW(cudaFree((char *)p + 1)); //> cudaFree((char *)p + 1): cudaErrorInvalidValue
    SHOW(cudaFree(p));             //> cudaFree(p): cudaSuccess
    SHOW(cudaFree(p));             //> cudaFree(p): cudaErrorInvalidValue
    SHOW(cudaFree(&host));         //> cudaFree(&host): cudaErrorInvalidValue
}
