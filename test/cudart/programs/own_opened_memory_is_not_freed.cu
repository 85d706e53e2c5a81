// Memory that another process has made is not freed, of whichever size: it stays until it is closed.
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

static int child(int from)
{
    cudaIpcMemHandle_t handle;
    int *p, host;

    for (int i = 0; i < 2; i++) {
        if (read(from, &handle, sizeof(handle)) != sizeof(handle))
            return 1;
        MUST(cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess));
        SHOW(cudaFree(p));
        SHOW(cudaFreeAsync(p, 0));
        MUST(cudaMemcpy(&host, p, sizeof(host), cudaMemcpyDeviceToHost));
        printf("%x\n", host);
        SHOW(cudaIpcCloseMemHandle(p));
        SHOW(cudaIpcCloseMemHandle(p));
    }
    //> cudaFree(p): cudaErrorInvalidValue
    //> cudaFreeAsync(p, 0): cudaErrorInvalidValue
    //> 1010101
    //> cudaIpcCloseMemHandle(p): cudaSuccess
    //> cudaIpcCloseMemHandle(p): cudaErrorInvalidValue
    //> cudaFree(p): cudaErrorInvalidValue
    //> cudaFreeAsync(p, 0): cudaErrorInvalidValue
    //> 2020202
    //> cudaIpcCloseMemHandle(p): cudaSuccess
    //> cudaIpcCloseMemHandle(p): cudaErrorInvalidValue
    fflush(stdout);
    return 0;
}

int main()
{
    cudaIpcMemHandle_t handle;
    int pipes[2], status;
    char *block, *large;
    pid_t pid;

    if (pipe(pipes) < 0)
        return 1;
    pid = fork();
    if (pid == 0)
        _exit(child(pipes[0]));
    MUST(cudaMalloc(&large, 256)); /* so that the next one does not begin its slab */
    MUST(cudaMalloc(&block, 256));
    MUST(cudaMalloc(&large, 4 << 20));
    MUST(cudaMemset(block, 1, 256));
    MUST(cudaMemset(large, 2, 4 << 20));
    MUST(cudaDeviceSynchronize());
    for (char *p : {block, large}) {
        MUST(cudaIpcGetMemHandle(&handle, p));
        if (write(pipes[1], &handle, sizeof(handle)) != sizeof(handle))
            return 1;
    }
    if (waitpid(pid, &status, 0) != pid)
        return 1;
    printf("%d\n", status); //> 0
}
