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

/* The CPUs of a list as the kernel writes it ("0-3,8,10-11"). False: it is no such list, or names a
 * CPU that cpu_set_t has no room for; *cpus is then undefined. */
bool numa_list_parse(const char *text, cpu_set_t *cpus);

/* Keeps the calling thread, and the threads that it starts from now on, on those of its CPUs that
 * are the node's, and has their memory taken from the node while it has some. Returns the number of
 * CPUs that the thread is kept on; 0: nothing has changed, since the node is unknown or none of the
 * thread's CPUs is the node's. */
int numa_bind(int node);

/* Has the pages of a mapping that nobody has touched yet taken from the node while it has some; for
 * shared memory that holds for every process that maps it. memory and size are multiples of the
 * page's size. */
void numa_prefer(void *memory, size_t size, int node);

#endif
