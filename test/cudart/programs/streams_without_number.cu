// A program may have hundreds of streams. Each keeps its order, waits for the others' events, and
// can be waited for alone.
#include "show.h"

enum { STREAMS = 300 };

__global__ void add(int *p, int value)
{
    *p = *p * 3 + value;
}

__global__ void pass(int *to, const int *from)
{
    *to = *from + 1;
}

static cudaStream_t streams[STREAMS];
static cudaEvent_t events[STREAMS];
static int host[STREAMS];

static int all_are(int value)
{
    for (int i = 0; i < STREAMS; i++)
        if (host[i] != value + i)
            return 0;
    return 1;
}

int main()
{
    int *p, *chain, waited = 0, idle = 0, last;

    MUST(cudaMalloc(&p, sizeof(host)));
    MUST(cudaMemset(p, 0, sizeof(host)));
    MUST(cudaMalloc(&chain, sizeof(host)));
    MUST(cudaMemset(chain, 0, sizeof(host)));
    for (int i = 0; i < STREAMS; i++) {
        MUST(cudaStreamCreateWithFlags(&streams[i], i % 2 ? cudaStreamNonBlocking : cudaStreamDefault));
        MUST(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
    }
    MUST(cudaDeviceSynchronize());

    // order within each
    for (int round = 1; round <= 3; round++)
        for (int i = 0; i < STREAMS; i++)
            add<<<1, 1, 0, streams[i]>>>(p + i, round);
    for (int i = 0; i < STREAMS; i++)
        MUST(cudaMemcpyAsync(host + i, p + i, 4, cudaMemcpyDeviceToHost, streams[i]));
    for (int i = 0; i < STREAMS; i++) {
        MUST(cudaStreamSynchronize(streams[i]));
        waited += host[i] == (1 * 3 + 2) * 3 + 3;
    }
    HOLDS(waited == STREAMS); //> waited == STREAMS: yes
    for (int i = 0; i < STREAMS; i++)
        idle += cudaStreamQuery(streams[i]) == cudaSuccess;
    HOLDS(idle == STREAMS); //> idle == STREAMS: yes

    // each stream waits for the one before, and then for the one after it, backwards
    for (int i = 0; i < STREAMS; i++) {
        if (i > 0)
            MUST(cudaStreamWaitEvent(streams[i], events[i - 1], 0));
        pass<<<1, 1, 0, streams[i]>>>(chain + i, chain + (i > 0 ? i - 1 : 0));
        MUST(cudaEventRecord(events[i], streams[i]));
    }
    for (int i = STREAMS - 1; i >= 0; i--) {
        if (i < STREAMS - 1)
            MUST(cudaStreamWaitEvent(streams[i], events[i + 1], 0));
        pass<<<1, 1, 0, streams[i]>>>(chain + i, chain + (i < STREAMS - 1 ? i + 1 : i));
        MUST(cudaEventRecord(events[i], streams[i]));
    }
    MUST(cudaEventSynchronize(events[0]));
    MUST(cudaMemcpyAsync(&last, chain, 4, cudaMemcpyDeviceToHost, streams[0]));
    MUST(cudaStreamSynchronize(streams[0]));
    HOLDS(last == 2 * STREAMS); //> last == 2 * STREAMS: yes

    // the legacy stream waits for the blocking ones, also for those that are destroyed meanwhile
    for (int i = 0; i < STREAMS; i++) {
        MUST(cudaMemsetAsync(p + i, 0, 4, streams[i]));
        if (i % 2 == 0) {
            add<<<1, 1, 0, streams[i]>>>(p + i, 7 + i);
            MUST(cudaStreamDestroy(streams[i]));
        }
    }
    MUST(cudaMemcpy(host, p, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 1; i < STREAMS; i += 2)
        host[i] = 7 + i;
    HOLDS(all_are(7)); //> all_are(7): yes
    for (int i = 0; i < STREAMS; i++) {
        if (i % 2)
            MUST(cudaStreamDestroy(streams[i]));
        MUST(cudaEventDestroy(events[i]));
    }
    // as many again, many times
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < STREAMS; i++)
            MUST(cudaStreamCreate(&streams[i]));
        for (int i = 0; i < STREAMS; i++)
            MUST(cudaStreamDestroy(streams[i]));
    }
    SHOW(cudaDeviceSynchronize()); //> cudaDeviceSynchronize(): cudaSuccess
    SHOW(cudaMallocManaged(&p, 4)); //> cudaMallocManaged(&p, 4): cudaSuccess
}
