// After fork the child's calls fail, as CUDA's do, and the parent's work.
#include "show.h"
#include <sys/wait.h>
#include <unistd.h>

int main()
{
    int *p, status;

    MUST(cudaMalloc(&p, 4));
    fflush(stdout);
    if (fork() == 0) {
        SHOW(cudaMemset(p, 0, 4)); //> cudaMemset(p, 0, 4): cudaErrorInitializationError
        fflush(stdout);
        _exit(0);
    }
    wait(&status);
    SHOW(cudaMemset(p, 0, 4)); //> cudaMemset(p, 0, 4): cudaSuccess
}
