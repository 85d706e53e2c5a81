// A handle that names no memory of the current device is told on stderr, once, with what may be the reason.
#include "said.h"
#include "show.h"

int main()
{
    cudaIpcMemHandle_t none = {};
    void *p;

    SHOW(cudaIpcOpenMemHandle(&p, none, cudaIpcMemLazyEnablePeerAccess)); //> cudaIpcOpenMemHandle(&p, none, cudaIpcMemLazyEnablePeerAccess): cudaErrorInvalidResourceHandle
    SHOW(cudaIpcOpenMemHandle(&p, none, cudaIpcMemLazyEnablePeerAccess)); //> cudaIpcOpenMemHandle(&p, none, cudaIpcMemLazyEnablePeerAccess): cudaErrorInvalidResourceHandle
    HOLDS(said_times("cudaIpcOpenMemHandle: no export has that handle") == 1); //> said_times("cudaIpcOpenMemHandle: no export has that handle") == 1: yes
    HOLDS(said_lines() == 1); //> said_lines() == 1: yes
}
