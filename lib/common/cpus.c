/* cpus.c - see cpus.h. */
#include "common/cpus.h"

#include <sched.h>

#define CPUS_MANY 8

bool cpus_to_spare(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) >= CPUS_MANY;
}
