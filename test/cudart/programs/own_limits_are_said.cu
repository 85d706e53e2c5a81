// What CUDA's codes do not tell of gshare's limits is a line on stderr, once.
#include "said.h"
#include "show.h"

int main()
{
    cudaEvent_t event;
    cudaError_t error = cudaSuccess;
    int count;

    for (count = 0; count < 100000 && error == cudaSuccess; count++)
        error = cudaEventCreate(&event);
    HOLDS(count > 60000 && count < 100000); //> count > 60000 && count < 100000: yes
    SHOW(error);                            //> error: cudaErrorMemoryAllocation
    SHOW(cudaEventCreate(&event));          //> cudaEventCreate(&event): cudaErrorMemoryAllocation
    HOLDS(said_times("no more events: ") == 1); //> said_times("no more events: ") == 1: yes
    HOLDS(said_lines() == 1);                   //> said_lines() == 1: yes
}
