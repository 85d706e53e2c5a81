/* memory.c - see memory.h. */
#include <stdio.h>
#include <stdlib.h>

#include "gsctl/base/memory.h"

void *memory_more(void *memory, size_t count, size_t size)
{
    memory = reallocarray(memory, count ? count : 1, size);
    if (!memory) {
        fputs("gsctl: out of memory\n", stderr);
        exit(EXIT_ERROR);
    }
    return memory;
}
