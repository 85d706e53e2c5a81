/* cpu_time.h - for tests of how a cost grows, which compare two sizes and so suit any machine. */
#ifndef GS_TEST_CPU_TIME_H
#define GS_TEST_CPU_TIME_H

#include <stdint.h>
#include <time.h>

/* Processor time of this thread until now. */
static inline uint64_t cpu_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
