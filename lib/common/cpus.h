/*
 * cpus.h - how many CPUs there are, and whether a thread may wait awake instead of sleeping.
 *
 * Waking a sleeping thread takes 100 to 300 us on a virtual machine with an H200, because the
 * thread's CPU sleeps too. A thread that expects work soon therefore waits awake for a millisecond
 * or two where there are many CPUs. Where there are few, the threads that prepare that work need
 * them.
 */
#ifndef GS_COMMON_CPUS_H
#define GS_COMMON_CPUS_H

#include <stdbool.h>
#include <stdint.h>

/* Returns the number of CPUs on which the calling thread may run, at least 1. One system call; any
 * thread. */
uint32_t cpus_allowed(void);
/* Returns true if the calling thread may run on enough CPUs for threads to wait awake. One system
 * call; any thread. */
bool cpus_to_spare(void);

#endif
