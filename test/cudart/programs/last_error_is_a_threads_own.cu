// Each host thread has a last error of its own.
#include "show.h"
#include <thread>

int main()
{
    MUST(cudaFree(nullptr));
    SHOW(cudaSetDevice(-1)); //> cudaSetDevice(-1): cudaErrorInvalidDevice
    std::thread([] {
        SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
        SHOW(cudaSetDevice(-1));  //> cudaSetDevice(-1): cudaErrorInvalidDevice
    }).join();
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaErrorInvalidDevice
    SHOW(cudaGetLastError()); //> cudaGetLastError(): cudaSuccess
}
