/* out_of_memory.h - what the kernel has ended because the machine, or a control group, had no
 * memory left. */
#ifndef GS_SERVER_OUT_OF_MEMORY_H
#define GS_SERVER_OUT_OF_MEMORY_H

#include <stdint.h>

/* How many processes the kernel has killed for want of memory since the machine's start, wherever
 * the memory was short; 0: none, or that cannot be read. */
uint64_t out_of_memory_kills(void);

#endif
