// cudaMemcpyPeer takes the same device on both sides.
#include "show.h"

int main()
{
    int *a, *b, host = 77, back = 0;

    MUST(cudaMalloc(&a, 4));
    MUST(cudaMalloc(&b, 4));
    MUST(cudaMemcpy(a, &host, 4, cudaMemcpyHostToDevice));
    SHOW(cudaMemcpyPeer(b, 0, a, 0, 4)); //> cudaMemcpyPeer(b, 0, a, 0, 4): cudaSuccess
    MUST(cudaMemcpy(&back, b, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", back); //> 77
}
