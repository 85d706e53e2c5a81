/*
 * numa.h - places threads and memory on the NUMA node that a device hangs on.
 *
 * On a host of two sockets a thread of the far socket pays the link between the sockets for each
 * doorbell that it writes and for each completion word that the device has written: a launch and
 * its wait take 7.6 us there, and 5.8 to 6.0 us on a host of one socket.
 *
 * A node is the kernel's number of it; a negative one is no node. Where the kernel or a container's
 * filter of system calls refuses a placement, work goes on without it: only time is lost.
 */
#ifndef GS_COMMON_NUMA_H
#define GS_COMMON_NUMA_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#define NUMA_NONE      (-1)
#define NUMA_NODES_MAX 1024

/* Reads a list of CPUs as the kernel writes it ("0-3,8,10-11"). Returns false, with *cpus
 * undefined, if the text is no such list or names a CPU beyond cpu_set_t. */
bool numa_list_parse(const char *text, cpu_set_t *cpus);

/* Restricts the calling thread, and the threads that it starts from now on, to those of its CPUs
 * that belong to the node, and prefers the node for their memory. Returns the number of CPUs that
 * the thread may still run on; 0: nothing has changed, since the node is unknown or none of the
 * thread's CPUs belongs to it. */
int numa_bind(int node);

/* Prefers the node for the pages of a mapping that nobody has touched yet; in shared memory, for
 * every process that maps it. memory and size are multiples of the page size. */
void numa_prefer(void *memory, size_t size, int node);

#endif
