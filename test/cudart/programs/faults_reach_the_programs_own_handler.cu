// A fault that has nothing to do with managed memory goes to the handler that the program has.
#include <csetjmp>
#include <csignal>

#include "show.h"

static sigjmp_buf place;

static void handle(int)
{
    siglongjmp(place, 1);
}

__global__ void next(int *p)
{
    ++*p;
}

int main()
{
    int *p;

    signal(SIGSEGV, handle);
    MUST(cudaMallocManaged(&p, sizeof(int)));
    *p = 1;
    next<<<1, 1>>>(p);
    if (sigsetjmp(place, 1) == 0)
        *(volatile int *)nullptr = 1;
    else
        printf("handled\n"); //> handled
    MUST(cudaDeviceSynchronize());
    printf("%d\n", *p); //> 2
}
