// The legacy stream is idle after a blocking stream's work that the program has waited for.
#include "show.h"

int main()
{
    cudaStream_t stream;
    int *p;

    MUST(cudaMalloc(&p, 16));
    MUST(cudaStreamCreate(&stream));
    MUST(cudaMemsetAsync(p, 0, 16, stream));
    MUST(cudaStreamSynchronize(stream));
    SHOW(cudaStreamQuery(nullptr)); //> cudaStreamQuery(nullptr): cudaSuccess
}
