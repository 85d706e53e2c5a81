/* out_of_memory.h - the kernel's out-of-memory killer: counts its victims, and protects this
 * process from it. */
#ifndef GS_SERVER_OUT_OF_MEMORY_H
#define GS_SERVER_OUT_OF_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Returns how many processes the kernel has killed for want of memory since the machine's start, in
 * whatever control group; 0: none, or the count cannot be read. */
uint64_t out_of_memory_kills(void);
/* Makes the kernel choose other processes before this one and those that it forks, which are small,
 * and with which all sessions end. With CAP_SYS_RESOURCE they are never chosen, like sshd; without
 * it the children are chosen before them (out_of_memory_spare_not). The protection survives an
 * exec. */
void out_of_memory_spare(void);
/* Makes the kernel choose a child, which can be replaced, first: gives it the score that this
 * process had before it was spared or, without CAP_SYS_RESOURCE, a higher score than this
 * process's. `pid`: 0 for the caller itself. */
void out_of_memory_spare_not(pid_t pid);

#endif
