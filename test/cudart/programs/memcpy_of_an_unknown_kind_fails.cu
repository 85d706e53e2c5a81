// A kind that is none is an invalid direction.
#include "show.h"

int main()
{
    int host = 1, *p;

    MUST(cudaMalloc(&p, 4));
    SHOW(cudaMemcpy(p, &host, 4, (cudaMemcpyKind)7)); //> cudaMemcpy(p, &host, 4, (cudaMemcpyKind)7): cudaErrorInvalidMemcpyDirection
}
