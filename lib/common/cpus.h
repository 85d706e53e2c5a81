/*
 * cpus.h - may a thread wait awake?
 *
 * Waking a thread that slept for longer than a moment takes 100 to 300 us on a virtual machine with
 * an H200, for its processor sleeps too. Where there are many processors, a thread that knows that
 * it will be wanted waits awake for a millisecond or two. With few, whom it waits for needs them.
 */
#ifndef GS_COMMON_CPUS_H
#define GS_COMMON_CPUS_H

#include <stdbool.h>

/* Has this process processors to spare? One system call; any thread. */
bool cpus_to_spare(void);

#endif
