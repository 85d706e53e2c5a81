// A device that cannot have another one's managed memory mapped for now says so, and reaches it at its next kernel
// when it can.
#include <vector>
#include "devices.h"
#include "gshare_cuda.h"
#include "said.h"

enum { COUNT = 64 };

__global__ void first(int *at)
{
    *at = 1;
}

// Imports memory of the session's own until it has as many imports as it may.
static std::vector<gs_devptr> all_imports(gs_session session, gs_devptr base)
{
    std::vector<gs_devptr> imports;
    gs_mem_handle handle;
    gs_devptr there;

    if (gs_mem_export(session, base, GS_EXPORT_TO_USER, &handle) != GS_OK)
        exit(1);
    while (gs_mem_import(session, &handle, &there, NULL) == GS_OK)
        imports.push_back(there);
    return imports;
}

// A kernel of the device finds no way to the owner's memory; later one works on it.
static void reach_later(int device, int owner)
{
    gs_session session;
    gs_devptr exported;
    int *at, *managed;

    MUST(cudaSetDevice(device));
    MUST(cudaMalloc(&at, sizeof(int)));
    if (gs_cuda_session(&session) != GS_OK || gs_malloc(session, 2 << 20, &exported) != GS_OK)
        exit(1);
    const std::vector<gs_devptr> imports = all_imports(session, exported);

    MUST(cudaSetDevice(owner));
    MUST(cudaMallocManaged(&managed, COUNT * sizeof(int)));
    managed[3] = -1;
    MUST(cudaSetDevice(device));
    first<<<1, 1>>>(at);
    MUST(cudaDeviceSynchronize());
    for (gs_devptr import : imports)
        gs_free(session, import);
    fill<<<1, COUNT>>>(managed, 100, COUNT);
    MUST(cudaDeviceSynchronize());
    printf("%d %d\n", managed[3], managed[COUNT - 1]);
    MUST(cudaFree(managed));
    gs_free(session, exported);
}

int main()
{
    reach_needed();
    reach_later(0, 1); //> 103 163
    printf("%d\n", said_times("kernels of device 0 do not reach managed memory of device 1 for now")); //> 1
    reach_later(1, 0); //> 103 163
    printf("%d\n", said_times("kernels of device 1 do not reach managed memory of device 0 for now")); //> 1
}
