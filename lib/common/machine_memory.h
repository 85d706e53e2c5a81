/* machine_memory.h - tells how much memory this process and those that it starts may use. */
#ifndef GS_COMMON_MACHINE_MEMORY_H
#define GS_COMMON_MACHINE_MEMORY_H

#include <stdint.h>

/* Returns the machine's memory in bytes, or the limit of the process's control groups if that is
 * lower, as in a container or by systemd's MemoryMax. Reads some files; any thread. */
uint64_t machine_memory(void);

#endif
