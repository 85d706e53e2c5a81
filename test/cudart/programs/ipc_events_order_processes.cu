// Events of several processes: each of two waits for the other's work on memory that they share.
#include <sys/wait.h>
#include <unistd.h>

#include "show.h"

struct exchange {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t event;
};

/* Long enough to be seen unfinished by who does not wait. */
__global__ void step(int *p, int from, int to)
{
    unsigned value = 1;

    for (int i = 0; i < 20000; i++)
        value = value * 1664525u + 1013904223u;
    if (p[threadIdx.x] == from && value != 0)
        p[threadIdx.x] = to;
}

static int child(int in, int out)
{
    cudaEvent_t theirs, ours;
    exchange given, own;
    char go;
    int *p;

    if (read(in, &given, sizeof(given)) != sizeof(given))
        return 1;
    if (cudaIpcOpenMemHandle((void **)&p, given.memory, cudaIpcMemLazyEnablePeerAccess) ||
        cudaIpcOpenEventHandle(&theirs, given.event) ||
        cudaEventCreateWithFlags(&ours, cudaEventDisableTiming | cudaEventInterprocess) ||
        cudaIpcGetEventHandle(&own.event, ours))
        return 2;
    if (write(out, &own, sizeof(own)) != sizeof(own) || read(in, &go, 1) != 1)
        return 3;
    if (cudaStreamWaitEvent(0, theirs, 0))
        return 4;
    step<<<1, 32>>>(p, 1, 2);
    if (cudaEventRecord(ours, 0) || write(out, &go, 1) != 1)
        return 5;
    if (read(in, &go, 1) != 1 || cudaEventSynchronize(theirs) || cudaEventQuery(theirs))
        return 6;
    int got = 0;
    if (cudaMemcpy(&got, p, sizeof(got), cudaMemcpyDeviceToHost) || got != 3)
        return 7;
    return cudaEventDestroy(theirs) || cudaEventDestroy(ours) || cudaIpcCloseMemHandle(p) ? 8 : 0;
}

int main()
{
    cudaEvent_t ours, theirs, plain;
    int in[2], out[2], status;
    exchange own, given;
    char go = 0;
    int *p;
    pid_t pid;

    if (pipe(in) < 0 || pipe(out) < 0)
        return 1;
    pid = fork();
    if (pid == 0)
        _exit(child(out[0], in[1]));
    MUST(cudaMalloc(&p, 4 << 20));
    MUST(cudaMemset(p, 0, 4 << 20));
    SHOW(cudaEventCreateWithFlags(&ours, cudaEventInterprocess)); //> cudaEventCreateWithFlags(&ours, cudaEventInterprocess): cudaErrorInvalidValue
    MUST(cudaEventCreateWithFlags(&ours, cudaEventDisableTiming | cudaEventInterprocess));
    SHOW(cudaEventQuery(ours)); //> cudaEventQuery(ours): cudaSuccess
    MUST(cudaEventCreate(&plain));
    HOLDS(cudaIpcGetEventHandle(&own.event, plain) != cudaSuccess); //> cudaIpcGetEventHandle(&own.event, plain) != cudaSuccess: yes
    SHOW(cudaIpcGetEventHandle(&own.event, ours)); //> cudaIpcGetEventHandle(&own.event, ours): cudaSuccess
    MUST(cudaIpcGetMemHandle(&own.memory, p));
    MUST(cudaDeviceSynchronize());
    if (write(out[1], &own, sizeof(own)) != sizeof(own) || read(in[0], &given, sizeof(given)) != sizeof(given))
        return 1;
    SHOW(cudaIpcOpenEventHandle(&theirs, given.event)); //> cudaIpcOpenEventHandle(&theirs, given.event): cudaSuccess
    step<<<1, 32>>>(p, 0, 1);
    MUST(cudaEventRecord(ours, 0));
    if (write(out[1], &go, 1) != 1 || read(in[0], &go, 1) != 1)
        return 1;
    SHOW(cudaStreamWaitEvent(0, theirs, 0)); //> cudaStreamWaitEvent(0, theirs, 0): cudaSuccess
    step<<<1, 32>>>(p, 2, 3);
    MUST(cudaEventRecord(ours, 0));
    if (write(out[1], &go, 1) != 1 || waitpid(pid, &status, 0) != pid)
        return 1;
    printf("%d\n", status);          //> 0
    SHOW(cudaEventSynchronize(ours)); //> cudaEventSynchronize(ours): cudaSuccess
    SHOW(cudaEventDestroy(theirs));   //> cudaEventDestroy(theirs): cudaSuccess
}
