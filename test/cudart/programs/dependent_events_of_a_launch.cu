// Events of a launch: a stream that waits for one goes on no earlier than the kernel's trigger, and sees what came before it.
#include "dependent.h"

__global__ void produce(unsigned *p, unsigned value)
{
    *p = value;
    __threadfence();
    cudaTriggerProgrammaticLaunchCompletion();
}

__global__ void follow(const unsigned *from, unsigned *to)
{
    cudaGridDependencySynchronize();
    *to = *from * 2;
}

static cudaError_t launch_with(cudaStream_t stream, cudaLaunchAttribute attribute, unsigned *p, unsigned value)
{
    cudaLaunchConfig_t config = {};

    config.gridDim = config.blockDim = 1;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, produce, p, value);
}

static cudaLaunchAttribute trigger(cudaEvent_t event, int flags = 0)
{
    cudaLaunchAttribute attribute = {};

    attribute.id = cudaLaunchAttributeProgrammaticEvent;
    attribute.val.programmaticEvent.event = event;
    attribute.val.programmaticEvent.flags = flags;
    return attribute;
}

static cudaLaunchAttribute begun(cudaEvent_t event)
{
    cudaLaunchAttribute attribute = {};

    attribute.id = cudaLaunchAttributeLaunchCompletionEvent;
    attribute.val.launchCompletionEvent.event = event;
    return attribute;
}

int main()
{
    cudaStream_t one, other;
    cudaEvent_t event, timed, joined;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    unsigned *words, host[2];

    MUST(cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
    MUST(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));
    MUST(cudaEventCreate(&timed));
    MUST(cudaMalloc(&words, sizeof(host)));

    MUST(launch_with(one, trigger(event), words, 21));
    MUST(cudaStreamWaitEvent(other, event));
    follow<<<1, 1, 0, other>>>(words, words + 1);
    MUST(cudaStreamSynchronize(other));
    MUST(cudaMemcpy(host, words, sizeof(host), cudaMemcpyDefault));
    printf("%u %u\n", host[0], host[1]); //> 21 42

    MUST(launch_with(one, begun(event), words, 5));
    SHOW(cudaEventSynchronize(event)); //> cudaEventSynchronize(event): cudaSuccess
    MUST(cudaStreamSynchronize(one));

    /* In a capture the other stream joins by the event. */
    MUST(cudaStreamBeginCapture(one, cudaStreamCaptureModeGlobal));
    MUST(launch_with(one, trigger(event), words, 30));
    MUST(cudaStreamWaitEvent(other, event));
    follow<<<1, 1, 0, other>>>(words, words + 1);
    MUST(cudaEventRecord(joined, other));
    MUST(cudaStreamWaitEvent(one, joined));
    MUST(cudaStreamEndCapture(one, &graph));
    MUST(cudaGraphInstantiate(&exec, graph, 0));
    MUST(cudaGraphLaunch(exec, one));
    MUST(cudaStreamSynchronize(one));
    MUST(cudaMemcpy(host, words, sizeof(host), cudaMemcpyDefault));
    printf("%u %u\n", host[0], host[1]); //> 30 60

    SHOW(launch_with(one, trigger(timed), words, 1)); //> launch_with(one, trigger(timed), words, 1): cudaErrorNotSupported
    SHOW(launch_with(one, trigger(event, cudaEventRecordExternal), words, 1)); //> launch_with(one, trigger(event, cudaEventRecordExternal), words, 1): cudaErrorIllegalState
    MUST(cudaStreamSynchronize(one));
    MUST(cudaMemcpy(host, words, sizeof(host), cudaMemcpyDefault));
    printf("%u\n", host[0]); //> 30
    return 0;
}
