// cudaMemGetInfo tells less free memory after an allocation, and as much as before after its end.
#include "show.h"

int main()
{
    size_t before, during, after, total;
    void *p;

    MUST(cudaFree(nullptr));
    MUST(cudaMemGetInfo(&before, &total));
    MUST(cudaMalloc(&p, 64 << 20));
    MUST(cudaMemGetInfo(&during, &total));
    MUST(cudaFree(p));
    MUST(cudaMemGetInfo(&after, &total));
    HOLDS(before <= total);            //> before <= total: yes
    HOLDS(before - during >= 64 << 20); //> before - during >= 64 << 20: yes
    HOLDS(after > during);             //> after > during: yes
}
