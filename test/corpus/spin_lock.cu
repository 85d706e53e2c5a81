/* A lock taken lane by lane: lanes of one warp must make progress against each other. */
#include "corpus.h"

#ifdef DEVICE_CODE
KERNEL count_locked(int *lock, volatile int *counter, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        bool done = false;
        while (!done) {
            if (atomicCAS(lock, 0, 1) == 0) {
                __threadfence();
                *counter = *counter + 1;
                __threadfence();
                atomicExch(lock, 0);
                done = true;
            }
        }
    }
}

/* The classic deadlock of lock-step lanes: whoever has the lock leaves the loop first. */
KERNEL count_locked_outside(int *lock, volatile int *counter)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *counter = *counter + 1;
    __threadfence();
    atomicExch(lock, 0);
}
#else
CASE(spin_lock)
{
    int rounds = 3, got;
    device_ptr lock = zeros(4), counter = zeros(4);

    RUN("count_locked", 3, 64, &lock, &counter, &rounds);
    download(&got, counter, 4);
    expect_u32((uint32_t *)&got, (uint32_t[]){3 * 64 * 3}, 1);
    RUN("count_locked_outside", 2, 64, &lock, &counter);
    download(&got, counter, 4);
    expect_u32((uint32_t *)&got, (uint32_t[]){3 * 64 * 3 + 128}, 1);
}
#endif
