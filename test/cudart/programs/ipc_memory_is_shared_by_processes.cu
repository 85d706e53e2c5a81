// Memory of one process is opened by another, which sees what was written and writes itself.
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

static const size_t size = 4 << 20;

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

static int child(int from)
{
    cudaIpcMemHandle_t handle;
    int *p;

    if (read(from, &handle, sizeof(handle)) != sizeof(handle))
        return 1;
    if (cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
        return 2;
    add<<<1, 32>>>(p, 5);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 3;
    return cudaIpcCloseMemHandle(p) == cudaSuccess ? 0 : 4;
}

int main()
{
    cudaIpcMemHandle_t handle;
    int pipes[2], status, host[32];
    int *p;
    pid_t pid;

    if (pipe(pipes) < 0)
        return 1;
    pid = fork();
    if (pid == 0)
        _exit(child(pipes[0]));
    MUST(cudaMalloc(&p, size));
    MUST(cudaMemset(p, 1, size));
    MUST(cudaDeviceSynchronize());
    SHOW(cudaIpcGetMemHandle(&handle, p)); //> cudaIpcGetMemHandle(&handle, p): cudaSuccess
    if (write(pipes[1], &handle, sizeof(handle)) != sizeof(handle) || waitpid(pid, &status, 0) != pid)
        return 1;
    printf("%d\n", status); //> 0
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%x %x\n", host[0], host[31]); //> 1010106 1010106
    SHOW(cudaIpcOpenMemHandle((void **)&p, handle, 0)); //> cudaIpcOpenMemHandle((void **)&p, handle, 0): cudaErrorInvalidValue
}
