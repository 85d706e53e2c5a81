// cudaMemset takes the low byte of its value.
#include "show.h"

int main()
{
    unsigned host[4], *p;

    MUST(cudaMalloc(&p, sizeof(host)));
    MUST(cudaMemset(p, 0x1ab, 16));
    MUST(cudaMemset((char *)p + 6, 1, 3));
    MUST(cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
    printf("%08x %08x %08x %08x\n", host[0], host[1], host[2], host[3]); //> abababab 0101abab ababab01 abababab
}
