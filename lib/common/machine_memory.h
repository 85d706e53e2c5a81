/* machine_memory.h - how much memory there is for this process and those that it starts. */
#ifndef GS_COMMON_MACHINE_MEMORY_H
#define GS_COMMON_MACHINE_MEMORY_H

#include <stdint.h>

/* The machine's bytes, or what the process's control groups let it have where that is less: in a
 * container, or by systemd's MemoryMax. Reads some files; any thread. */
uint64_t machine_memory(void);

#endif
