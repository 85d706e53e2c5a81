// stderr says that it is the user's limit of host memory which registered memory has met when kernels were to reach it
// (test_programs sets the limit). Copies take it all the same.
#include "gshare_cuda.h"
#include "said.h"
#include "show.h"

// All of it but a MiB.
static void take()
{
    gs_session session;
    void *p;

    if (gs_cuda_session(&session) != GS_OK)
        exit(1);
    for (size_t size = 32 << 20; size >= 1 << 20; size /= 2) {
        if (gs_host_alloc(session, size, &p) != GS_OK)
            break;
    }
}

int main()
{
    const size_t size = 2 << 20;
    void *at = aligned_alloc(4096, size), *there;

    memset(at, 1, size);
    take();
    SHOW(cudaHostRegister(at, size, 0)); //> cudaHostRegister(at, size, 0): cudaSuccess
    SHOW(cudaHostGetDevicePointer(&there, at, 0)); //> cudaHostGetDevicePointer(&there, at, 0): cudaErrorMemoryAllocation
    HOLDS(said_times("libgshare_cudart: out of host memory: 2 MiB of host memory wanted, the user's sessions have") == 1); //> said_times("libgshare_cudart: out of host memory: 2 MiB of host memory wanted, the user's sessions have") == 1: yes
    SHOW(cudaHostUnregister(at)); //> cudaHostUnregister(at): cudaSuccess
}
