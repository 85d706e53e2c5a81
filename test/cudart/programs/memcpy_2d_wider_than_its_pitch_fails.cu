// A row cannot be wider than the pitch.
#include "show.h"

int main()
{
    char host[64], *p;

    MUST(cudaMalloc(&p, 64));
    SHOW(cudaMemcpy2D(p, 4, host, 8, 8, 2, cudaMemcpyHostToDevice)); //> cudaMemcpy2D(p, 4, host, 8, 8, 2, cudaMemcpyHostToDevice): cudaErrorInvalidPitchValue
    SHOW(cudaMemcpy2D(p, 8, host, 4, 8, 2, cudaMemcpyHostToDevice)); //> cudaMemcpy2D(p, 8, host, 4, 8, 2, cudaMemcpyHostToDevice): cudaErrorInvalidPitchValue
}
