// A stream that has waited for an event of another stream and is done tells that the event, and the other stream, are
// done: queries say so, and the time between events of both can be asked for. So it is for blocking streams after a
// copy in the legacy stream.
#include "show.h"

__global__ void add(int *p)
{
    *p += 1;
}

enum { ROUNDS = 1000 };

int main()
{
    cudaStream_t first, second, blocking;
    cudaEvent_t start, middle, end;
    int *p, host, events = 0, streams = 0, times = 0, copies = 0;
    float ms;

    MUST(cudaMalloc(&p, sizeof(int)));
    MUST(cudaMemset(p, 0, sizeof(int)));
    MUST(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    MUST(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    MUST(cudaStreamCreate(&blocking));
    MUST(cudaEventCreate(&start));
    MUST(cudaEventCreate(&middle));
    MUST(cudaEventCreate(&end));
    MUST(cudaDeviceSynchronize());
    for (int i = 0; i < ROUNDS; i++) {
        MUST(cudaEventRecord(start, first));
        add<<<1, 1, 0, first>>>(p);
        MUST(cudaEventRecord(middle, first));
        MUST(cudaStreamWaitEvent(second, middle));
        add<<<1, 1, 0, second>>>(p);
        MUST(cudaEventRecord(end, second));
        MUST(cudaStreamSynchronize(second));
        events += cudaEventQuery(middle) == cudaSuccess && cudaEventQuery(start) == cudaSuccess;
        streams += cudaStreamQuery(first) == cudaSuccess;
        times += cudaEventElapsedTime(&ms, start, middle) == cudaSuccess &&
                 cudaEventElapsedTime(&ms, middle, end) == cudaSuccess && ms >= 0;

        MUST(cudaEventRecord(start, blocking));
        add<<<1, 1, 0, blocking>>>(p);
        MUST(cudaEventRecord(middle, blocking));
        MUST(cudaMemcpy(&host, p, sizeof(host), cudaMemcpyDeviceToHost));
        copies += host == 3 * (i + 1) && cudaStreamQuery(blocking) == cudaSuccess &&
                  cudaEventQuery(middle) == cudaSuccess && cudaEventElapsedTime(&ms, start, middle) == cudaSuccess;
    }
    HOLDS(events == ROUNDS);  //> events == ROUNDS: yes
    HOLDS(streams == ROUNDS); //> streams == ROUNDS: yes
    HOLDS(times == ROUNDS);   //> times == ROUNDS: yes
    HOLDS(copies == ROUNDS);  //> copies == ROUNDS: yes
}
