// NULL is no event.
#include "show.h"

int main()
{
    cudaEvent_t event;

    MUST(cudaFree(nullptr));
    SHOW(cudaEventRecord(nullptr));                  //> cudaEventRecord(nullptr): cudaErrorInvalidResourceHandle
    SHOW(cudaEventQuery(nullptr));                   //> cudaEventQuery(nullptr): cudaErrorInvalidResourceHandle
    SHOW(cudaEventDestroy(nullptr));                 //> cudaEventDestroy(nullptr): cudaErrorInvalidResourceHandle
    SHOW(cudaEventCreateWithFlags(&event, 0x100));   //> cudaEventCreateWithFlags(&event, 0x100): cudaErrorInvalidValue
}
