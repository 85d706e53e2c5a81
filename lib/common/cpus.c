/* cpus.c - see cpus.h. */
#include "common/cpus.h"

#include <sched.h>

#define CPUS_MANY 8

uint32_t cpus_allowed(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) ? 1 : (uint32_t)CPU_COUNT(&cpus);
}

bool cpus_to_spare(void)
{
    return cpus_allowed() >= CPUS_MANY;
}
