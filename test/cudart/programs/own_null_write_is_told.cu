// A store to a null pointer: by GSHARE_FENCE=strict it is CUDA's error, by report the program goes on and is told at
// its session's end.
#include "said.h"
#include "show.h"

__global__ void store_at(int *place)
{
    place[threadIdx.x] = 7;
}

int main()
{
    int *good;

    setenv("GSHARE_FENCE", "report", 1);
    SHOW(cudaMalloc(&good, 64));                       //> cudaMalloc(&good, 64): cudaSuccess
    store_at<<<1, 1>>>(good);
    SHOW(cudaDeviceSynchronize());                     //> cudaDeviceSynchronize(): cudaSuccess
    SHOW(cudaDeviceReset());                           //> cudaDeviceReset(): cudaSuccess
    HOLDS(said_lines() == 0);                          //> said_lines() == 0: yes
    store_at<<<1, 4>>>(nullptr);
    SHOW(cudaDeviceSynchronize());                     //> cudaDeviceSynchronize(): cudaSuccess
    SHOW(cudaDeviceReset());                           //> cudaDeviceReset(): cudaSuccess
    HOLDS(said_lines() == 1);                          //> said_lines() == 1: yes
    HOLDS(said_times("4 accesses outside") == 1);      //> said_times("4 accesses outside") == 1: yes
    HOLDS(said_times("store_at") == 1);                //> said_times("store_at") == 1: yes

    setenv("GSHARE_FENCE", "strict", 1);
    store_at<<<1, 1>>>(nullptr);
    SHOW(cudaDeviceSynchronize());                     //> cudaDeviceSynchronize(): cudaErrorIllegalAddress
    HOLDS(said_times("went to 0x0, outside") == 1);    //> said_times("went to 0x0, outside") == 1: yes
    HOLDS(said_lines() == 2);                          //> said_lines() == 2: yes
}
