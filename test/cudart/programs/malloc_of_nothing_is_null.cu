// cudaMalloc of 0 bytes succeeds and gives no memory.
#include "show.h"

int main()
{
    void *p = (void *)1;

    SHOW(cudaMalloc(&p, 0)); //> cudaMalloc(&p, 0): cudaSuccess
    HOLDS(p == nullptr);     //> p == nullptr: yes
    SHOW(cudaFree(p));       //> cudaFree(p): cudaSuccess
}
