// A session that cannot be had: each reason is said once, and a later call tries again.
#include "said.h"
#include "show.h"

int main()
{
    void *p;
    int count = 7;

    setenv("GSHARE_RESERVATION", "none-such", 1);
    SHOW(cudaMalloc(&p, 16));                         //> cudaMalloc(&p, 16): cudaErrorInvalidValue
    SHOW(cudaGetDeviceCount(&count));                 //> cudaGetDeviceCount(&count): cudaErrorInvalidValue
    HOLDS(count == 0);                                //> count == 0: yes
    SHOW(cudaFree(0));                                //> cudaFree(0): cudaErrorInvalidValue
    HOLDS(said_lines() == 1);                         //> said_lines() == 1: yes
    HOLDS(said_times("none-such") > 0);               //> said_times("none-such") > 0: yes
    unsetenv("GSHARE_RESERVATION");
    SHOW(cudaMalloc(&p, 16));                         //> cudaMalloc(&p, 16): cudaSuccess
    SHOW(cudaGetDeviceCount(&count));                 //> cudaGetDeviceCount(&count): cudaSuccess
    HOLDS(count == 1);                                //> count == 1: yes
}
