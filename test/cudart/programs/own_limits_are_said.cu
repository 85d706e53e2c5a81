// What CUDA's codes do not tell of gshare's limits is a line on stderr, once.
#include "said.h"
#include "show.h"

int main()
{
    cudaStream_t stream;
    cudaError_t error = cudaSuccess;
    int count;

    for (count = 0; count < 200 && error == cudaSuccess; count++)
        error = cudaStreamCreate(&stream);
    HOLDS(count > 32 && count < 200); //> count > 32 && count < 200: yes
    SHOW(error);                      //> error: cudaErrorMemoryAllocation
    SHOW(cudaStreamCreate(&stream));  //> cudaStreamCreate(&stream): cudaErrorMemoryAllocation
    HOLDS(said_times("no more streams: ") == 1); //> said_times("no more streams: ") == 1: yes
    HOLDS(said_lines() == 1);                    //> said_lines() == 1: yes
}
