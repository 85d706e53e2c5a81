// Memory is freed once, whatever its size; other memory stays.
#include "show.h"

int main()
{
    static const size_t sizes[] = {1, 4096, 1 << 20, 5 << 20};
    char *p[4], *other, byte = 0;

    MUST(cudaMalloc(&other, 64));
    MUST(cudaMemset(other, 3, 64));
    for (int i = 0; i < 4; i++)
        MUST(cudaMalloc(&p[i], sizes[i]));
    for (int i = 0; i < 4; i++) {
        SHOW(cudaFree(p[i]));
        SHOW(cudaFree(p[i]));
    }
    //> cudaFree(p[i]): cudaSuccess
    //> cudaFree(p[i]): cudaErrorInvalidValue
    //> cudaFree(p[i]): cudaSuccess
    //> cudaFree(p[i]): cudaErrorInvalidValue
    //> cudaFree(p[i]): cudaSuccess
    //> cudaFree(p[i]): cudaErrorInvalidValue
    //> cudaFree(p[i]): cudaSuccess
    //> cudaFree(p[i]): cudaErrorInvalidValue
    MUST(cudaMemcpy(&byte, other + 63, 1, cudaMemcpyDeviceToHost));
    printf("%d\n", byte); //> 3
    SHOW(cudaFree(other + 32)); //> cudaFree(other + 32): cudaErrorInvalidValue
    SHOW(cudaFree(other));      //> cudaFree(other): cudaSuccess
}
