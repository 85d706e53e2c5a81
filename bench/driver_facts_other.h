/*
 * A thread that launches an empty kernel and waits for it again and again, beside what a question
 * does: the longest of these times says whom a call of the driver holds up.
 */
#ifndef DRIVER_FACTS_OTHER_H
#define DRIVER_FACTS_OTHER_H

#include "driver_facts.h"

KIT struct {
    pthread_t thread;
    _Atomic int launching;       /* until it is 0 */
    _Atomic uint64_t longest_ns; /* of the launches and waits since it was set to 0 */
} other;

KIT void *other_main(void *unused)
{
    CUstream stream;

    (void)unused;
    if (cuCtxSetCurrent(context) || stream_new(&stream))
        return NULL;
    while (other.launching) {
        const double start = now_us();
        if (kernel_launch(nop, stream) || cuStreamSynchronize(stream))
            break;
        const uint64_t took = (uint64_t)((now_us() - start) * 1e3);
        if (took > other.longest_ns)
            other.longest_ns = took;
    }
    return NULL;
}

KIT void other_start(void)
{
    other.launching = 1;
    pthread_create(&other.thread, NULL, other_main, NULL);
}

KIT void other_end(void)
{
    other.launching = 0;
    pthread_join(other.thread, NULL);
}

#endif
