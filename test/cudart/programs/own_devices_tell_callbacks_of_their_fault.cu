// A callback is told of the fault of its stream's device, which is said once, though another device goes on.
#include <cassert>
#include <semaphore.h>
#include "devices.h"
#include "said.h"

static sem_t called;

__global__ void fail()
{
    assert(false);
}

static void CUDART_CB tell(cudaStream_t, cudaError_t error, void *told)
{
    *(cudaError_t *)told = error;
    sem_post(&called);
}

int main()
{
    cudaError_t told = cudaSuccess;
    cudaStream_t stream[2];

    two_needed();
    sem_init(&called, 0, 0);
    for (int d = 0; d < 2; d++) {
        MUST(cudaSetDevice(d));
        MUST(cudaStreamCreate(&stream[d]));
    }
    fail<<<1, 1, 0, stream[1]>>>();
    cudaStreamAddCallback(stream[1], tell, &told, 0);
    sem_wait(&called);
    printf("%s\n", cudaGetErrorName(told)); //> cudaErrorAssert
    SHOW(cudaStreamSynchronize(stream[1])); //> cudaStreamSynchronize(stream[1]): cudaErrorAssert
    SHOW(cudaStreamSynchronize(stream[0])); //> cudaStreamSynchronize(stream[0]): cudaSuccess
    HOLDS(said_times("the session has ended") == 1); //> said_times("the session has ended") == 1: yes
}
