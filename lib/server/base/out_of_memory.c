/* out_of_memory.c - see out_of_memory.h. */
#include "server/base/out_of_memory.h"

#include <inttypes.h>
#include <stdio.h>

uint64_t out_of_memory_kills(void)
{
    FILE *file = fopen("/proc/vmstat", "re");
    char line[128];
    uint64_t kills = 0;

    while (file && fgets(line, sizeof(line), file)) {
        if (sscanf(line, "oom_kill %" SCNu64, &kills) == 1)
            break;
    }
    if (file)
        fclose(file);
    return kills;
}
