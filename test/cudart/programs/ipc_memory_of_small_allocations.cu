// Small allocations, which share a piece of memory, are opened by another process one by one.
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

__global__ void add(int *p, int value)
{
    p[threadIdx.x] += value;
}

static int child(int from)
{
    cudaIpcMemHandle_t handles[2];
    int *p[2];

    if (read(from, handles, sizeof(handles)) != sizeof(handles))
        return 1;
    for (int i = 0; i < 2; i++)
        if (cudaIpcOpenMemHandle((void **)&p[i], handles[i], cudaIpcMemLazyEnablePeerAccess) != cudaSuccess)
            return 2 + i;
    add<<<1, 32>>>(p[0], 5);
    add<<<1, 32>>>(p[1], 7);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 4;
    for (int i = 0; i < 2; i++)
        if (cudaIpcCloseMemHandle(p[i]) != cudaSuccess)
            return 5 + i;
    return 0;
}

int main()
{
    cudaIpcMemHandle_t handles[2];
    int pipes[2], status, host[32];
    int *p[3];
    pid_t pid;

    if (pipe(pipes) < 0)
        return 1;
    pid = fork();
    if (pid == 0)
        _exit(child(pipes[0]));
    for (int i = 0; i < 3; i++) {
        MUST(cudaMalloc(&p[i], sizeof(host)));
        MUST(cudaMemset(p[i], 1, sizeof(host)));
    }
    MUST(cudaDeviceSynchronize());
    SHOW(cudaIpcGetMemHandle(&handles[0], p[0])); //> cudaIpcGetMemHandle(&handles[0], p[0]): cudaSuccess
    SHOW(cudaIpcGetMemHandle(&handles[1], p[2])); //> cudaIpcGetMemHandle(&handles[1], p[2]): cudaSuccess
    if (write(pipes[1], handles, sizeof(handles)) != sizeof(handles) || waitpid(pid, &status, 0) != pid)
        return 1;
    printf("%d\n", status); //> 0
    for (int i = 0; i < 3; i++) {
        MUST(cudaMemcpy(host, p[i], sizeof(host), cudaMemcpyDeviceToHost));
        printf("%x %x\n", host[0], host[31]);
        MUST(cudaFree(p[i]));
    }
    //> 1010106 1010106
    //> 1010101 1010101
    //> 1010108 1010108
}
