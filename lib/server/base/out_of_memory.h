/* out_of_memory.h - where the machine, or a control group, has no memory left: what the kernel has
 * ended, and what it is not to end. */
#ifndef GS_SERVER_OUT_OF_MEMORY_H
#define GS_SERVER_OUT_OF_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* How many processes the kernel has killed for want of memory since the machine's start, wherever
 * the memory was short; 0: none, or that cannot be read. */
uint64_t out_of_memory_kills(void);
/* Has the kernel choose others before this process and those that it forks: they are small, and all
 * sessions end with them. With the right for it (CAP_SYS_RESOURCE) they are never chosen, as an
 * sshd is not; without it the children go before them (out_of_memory_spare_not). A program that
 * this one becomes (exec) is spared too. */
void out_of_memory_spare(void);
/* Has a child, which can be replaced, go first: it stands as this process did before it was spared,
 * or, where that lacks the right, a step above it. pid: 0 for the caller itself. */
void out_of_memory_spare_not(pid_t pid);

#endif
