// Bytes go to the device, within it, back, and from host to host.
#include "show.h"

int main()
{
    static int from[100000], to[100000], last[100000];
    int *a, *b;

    for (int i = 0; i < 100000; i++)
        from[i] = i * i;
    MUST(cudaMalloc(&a, sizeof(from)));
    MUST(cudaMalloc(&b, sizeof(from)));
    SHOW(cudaMemcpy(a, from, sizeof(from), cudaMemcpyHostToDevice)); //> cudaMemcpy(a, from, sizeof(from), cudaMemcpyHostToDevice): cudaSuccess
    SHOW(cudaMemcpy(b, a, sizeof(from), cudaMemcpyDeviceToDevice));  //> cudaMemcpy(b, a, sizeof(from), cudaMemcpyDeviceToDevice): cudaSuccess
    SHOW(cudaMemcpy(to, b, sizeof(from), cudaMemcpyDeviceToHost));   //> cudaMemcpy(to, b, sizeof(from), cudaMemcpyDeviceToHost): cudaSuccess
    SHOW(cudaMemcpy(last, to, sizeof(from), cudaMemcpyHostToHost));  //> cudaMemcpy(last, to, sizeof(from), cudaMemcpyHostToHost): cudaSuccess
    HOLDS(memcmp(from, last, sizeof(from)) == 0);                    //> memcmp(from, last, sizeof(from)) == 0: yes
}
