// A copy or memset of 0 bytes does nothing.
#include "show.h"

int main()
{
    int host = 1, *p;

    MUST(cudaMalloc(&p, 4));
    SHOW(cudaMemcpy(p, &host, 0, cudaMemcpyHostToDevice)); //> cudaMemcpy(p, &host, 0, cudaMemcpyHostToDevice): cudaSuccess
    SHOW(cudaMemset(p, 1, 0));                             //> cudaMemset(p, 1, 0): cudaSuccess
}
