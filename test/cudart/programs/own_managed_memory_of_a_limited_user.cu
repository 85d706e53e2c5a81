// stderr says that it is the user's limit of host memory which managed memory has met: a part of it is copied by way of
// the host's (test_programs sets the limit).
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
    int *at;

    take();
    SHOW(cudaMallocManaged(&at, 4096)); //> cudaMallocManaged(&at, 4096): cudaErrorMemoryAllocation
    HOLDS(said_times("libgshare_cudart: out of host memory: 2 MiB of host memory wanted, the user's sessions have") == 1); //> said_times("libgshare_cudart: out of host memory: 2 MiB of host memory wanted, the user's sessions have") == 1: yes
}
