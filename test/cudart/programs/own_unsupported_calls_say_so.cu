// A call that gshare does not have says so, once on stderr where GSHARE_LOG=debug asks for it, and
// changes nothing else.
#include "said.h"
#include "show.h"

int main()
{
    void *p = nullptr;
    cudaArray_t plane;
    cudaChannelFormatDesc desc = cudaCreateChannelDesc<float>();

    printf("%d %d %d %d %d\n", desc.x, desc.y, desc.z, desc.w, desc.f); //> 32 0 0 0 2
    SHOW(cudaDestroyExternalMemory(nullptr));             //> cudaDestroyExternalMemory(nullptr): cudaErrorNotSupported
    HOLDS(said_lines() == 0);                         //> said_lines() == 0: yes
    setenv("GSHARE_LOG", "debug", 1);
    SHOW(cudaDestroyExternalSemaphore(nullptr));           //> cudaDestroyExternalSemaphore(nullptr): cudaErrorNotSupported
    SHOW(cudaDestroyExternalSemaphore(nullptr));           //> cudaDestroyExternalSemaphore(nullptr): cudaErrorNotSupported
    HOLDS(said_times("cudaDestroyExternalSemaphore is not supported\n") == 1); //> said_times("cudaDestroyExternalSemaphore is not supported\n") == 1: yes
    SHOW(cudaArrayGetPlane(&plane, nullptr, 0)); //> cudaArrayGetPlane(&plane, nullptr, 0): cudaErrorNotSupported
    HOLDS(said_times("is not supported") == 2); //> said_times("is not supported") == 2: yes
    SHOW(cudaGetLastError());                  //> cudaGetLastError(): cudaErrorNotSupported
    SHOW(cudaMalloc(&p, 16));                  //> cudaMalloc(&p, 16): cudaSuccess
}
