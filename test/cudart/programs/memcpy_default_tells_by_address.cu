// With unified addressing cudaMemcpyDefault infers the direction from the pointers.
#include "show.h"

int main()
{
    int from[64], to[64] = {};
    int *a, *b;

    for (int i = 0; i < 64; i++)
        from[i] = 3 * i;
    MUST(cudaMalloc(&a, sizeof(from)));
    MUST(cudaMalloc(&b, sizeof(from)));
    MUST(cudaMemcpy(a, from, sizeof(from), cudaMemcpyDefault));
    MUST(cudaMemcpy(b, a, sizeof(from), cudaMemcpyDefault));
    MUST(cudaMemcpy(to, b, sizeof(from), cudaMemcpyDefault));
    HOLDS(memcmp(from, to, sizeof(from)) == 0); //> memcmp(from, to, sizeof(from)) == 0: yes
}
