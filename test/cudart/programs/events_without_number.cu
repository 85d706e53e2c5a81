// Tens of thousands of events can be there at once, each with its time.
#include "show.h"

enum { EVENTS = 30000 };

__global__ void nothing() {}

static cudaEvent_t events[EVENTS];

int main()
{
    int made = 0, done = 0, ordered = 0, ended = 0;
    float milliseconds;

    for (int i = 0; i < EVENTS; i++)
        made += cudaEventCreate(&events[i]) == cudaSuccess;
    HOLDS(made == EVENTS); //> made == EVENTS: yes
    for (int i = 0; i < EVENTS; i++) {
        if (i % 1000 == 0)
            nothing<<<1, 1>>>();
        MUST(cudaEventRecord(events[i]));
    }
    MUST(cudaEventSynchronize(events[EVENTS - 1]));
    for (int i = 0; i < EVENTS; i++)
        done += cudaEventQuery(events[i]) == cudaSuccess;
    HOLDS(done == EVENTS); //> done == EVENTS: yes
    for (int i = 0; i + 1000 < EVENTS; i += 1000)
        ordered += cudaEventElapsedTime(&milliseconds, events[i], events[i + 1000]) == cudaSuccess &&
                   milliseconds >= 0;
    HOLDS(ordered == EVENTS / 1000 - 1); //> ordered == EVENTS / 1000 - 1: yes
    for (int i = 0; i < EVENTS; i++)
        ended += cudaEventDestroy(events[i]) == cudaSuccess;
    HOLDS(ended == EVENTS); //> ended == EVENTS: yes
}
