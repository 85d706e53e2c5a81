// cudaMemset2D sets width bytes of each row.
#include "show.h"

int main()
{
    unsigned char host[32], *p;

    MUST(cudaMalloc(&p, 32));
    MUST(cudaMemset(p, 1, 32));
    MUST(cudaMemset2D(p, 8, 7, 3, 4));
    MUST(cudaMemcpy(host, p, 32, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 32; i++)
        printf("%d%s", host[i], i % 8 == 7 ? "\n" : "");
    //> 77711111
    //> 77711111
    //> 77711111
    //> 77711111
}
