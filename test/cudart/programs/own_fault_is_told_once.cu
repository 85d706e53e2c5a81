// The line on stderr that CUDA's code has no room for: whose kernel ended the session, and why.
#include "said.h"
#include "show.h"

__global__ void dies_here()
{
    __trap();
}

int main()
{
    void *p;

    dies_here<<<1, 1>>>();
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaErrorLaunchFailure
    SHOW(cudaMalloc(&p, 4));       //> cudaMalloc(&p, 4): cudaErrorLaunchFailure
    HOLDS(said_lines() == 1);                                 //> said_lines() == 1: yes
    HOLDS(said_times("the session has ended: ") == 1);        //> said_times("the session has ended: ") == 1: yes
    HOLDS(said_times("dies_here") == 1);                      //> said_times("dies_here") == 1: yes
}
