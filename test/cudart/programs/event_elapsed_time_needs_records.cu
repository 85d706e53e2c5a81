// Both events must have been recorded, be complete, and keep time.
#include "show.h"

int main()
{
    cudaEvent_t a, b, untimed;
    float ms;

    MUST(cudaEventCreate(&a));
    MUST(cudaEventCreate(&b));
    MUST(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
    SHOW(cudaEventElapsedTime(&ms, a, b)); //> cudaEventElapsedTime(&ms, a, b): cudaErrorInvalidResourceHandle
    MUST(cudaEventRecord(a));
    SHOW(cudaEventElapsedTime(&ms, a, b)); //> cudaEventElapsedTime(&ms, a, b): cudaErrorInvalidResourceHandle
    MUST(cudaEventRecord(b));
    MUST(cudaEventRecord(untimed));
    MUST(cudaDeviceSynchronize());
    SHOW(cudaEventElapsedTime(&ms, a, untimed)); //> cudaEventElapsedTime(&ms, a, untimed): cudaErrorInvalidResourceHandle
    SHOW(cudaEventElapsedTime(&ms, a, b));       //> cudaEventElapsedTime(&ms, a, b): cudaSuccess
}
