/* numa.c - see numa.h. The system calls are made by number, because libc has no functions for them.
 */
#include "common/numa.h"

#include <ctype.h>
#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define LIST_MAX  4096
#define LONG_BITS (8 * sizeof(unsigned long))

struct node_mask {
    unsigned long bits[NUMA_NODES_MAX / LONG_BITS];
};

static bool number_parse(const char **text, long *number)
{
    char *end;

    if (!isdigit((unsigned char)**text))
        return false;
    *number = strtol(*text, &end, 10);
    *text = end;
    return *number >= 0 && *number < CPU_SETSIZE;
}

bool numa_list_parse(const char *text, cpu_set_t *cpus)
{
    long first, last;

    CPU_ZERO(cpus);
    if (*text == '\n' || *text == '\0')
        return true; /* a node of memory alone */
    for (;; text++) {
        if (!number_parse(&text, &first))
            return false;
        last = first;
        if (*text == '-' && (text++, !number_parse(&text, &last)))
            return false;
        for (long cpu = first; cpu <= last; cpu++)
            CPU_SET((size_t)cpu, cpus);
        if (last < first || *text != ',')
            break;
    }
    return last >= first && (*text == '\n' || *text == '\0');
}

static bool node_cpus(int node, cpu_set_t *cpus)
{
    char path[64], text[LIST_MAX];
    bool read;
    FILE *file;

    snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
    file = fopen(path, "re");
    if (!file)
        return false;
    read = fgets(text, sizeof(text), file) != NULL;
    fclose(file);
    return read && numa_list_parse(text, cpus);
}

static bool node_mask(int node, struct node_mask *mask)
{
    if (node < 0 || node >= NUMA_NODES_MAX)
        return false;
    memset(mask, 0, sizeof(*mask));
    mask->bits[(size_t)node / LONG_BITS] = 1ul << (size_t)node % LONG_BITS;
    return true;
}

int numa_bind(int node)
{
    struct node_mask mask;
    cpu_set_t cpus, allowed;

    if (!node_mask(node, &mask) || !node_cpus(node, &cpus) ||
        sched_getaffinity(0, sizeof(allowed), &allowed) < 0)
        return 0;
    CPU_AND(&cpus, &cpus, &allowed);
    if (CPU_COUNT(&cpus) == 0 || sched_setaffinity(0, sizeof(cpus), &cpus) < 0)
        return 0;
    /* The kernel counts one bit less than it is told. */
    syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask.bits, NUMA_NODES_MAX + 1);
    return CPU_COUNT(&cpus);
}

void numa_prefer(void *memory, size_t size, int node)
{
    struct node_mask mask;

    if (node_mask(node, &mask))
        syscall(SYS_mbind, memory, size, MPOL_PREFERRED, mask.bits, NUMA_NODES_MAX + 1, 0);
}
