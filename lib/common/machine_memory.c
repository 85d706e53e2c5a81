/*
 * machine_memory.c - see machine_memory.h. A process is in one control group of each kind, named in
 * /proc/self/cgroup, and each group above that bounds it too. Within a container the name may be
 * the machine's, of which the container sees only the end: as its mount's top.
 */
#include "common/machine_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_BYTES 1024

struct group_kind {
    const char *mount, *limit;
};
static const struct group_kind unified = {"/sys/fs/cgroup", "memory.max"};
static const struct group_kind separate = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"};

/* The limit of one group; UINT64_MAX: none, or there is no such file. */
static uint64_t group_limit(const struct group_kind *kind, const char *group)
{
    char path[PATH_BYTES + 64];
    uint64_t bytes;
    FILE *file;

    snprintf(path, sizeof(path), "%s%s/%s", kind->mount, group, kind->limit);
    file = fopen(path, "re");
    if (!file)
        return UINT64_MAX;
    if (fscanf(file, "%" SCNu64, &bytes) != 1) /* "max" */
        bytes = UINT64_MAX;
    fclose(file);
    return bytes;
}

/* The least limit of the group and of all above it. Shortens the group's name. */
static uint64_t groups_limit(const struct group_kind *kind, char *group)
{
    uint64_t least = UINT64_MAX;
    char *end = group + strlen(group);

    while (end) {
        *end = '\0';
        const uint64_t bytes = group_limit(kind, group);
        least = bytes < least ? bytes : least;
        end = strrchr(group, '/');
    }
    return least;
}

/* What a line of /proc/self/cgroup, "NUMBER:CONTROLLERS:GROUP", says. */
static uint64_t line_limit(char *line)
{
    char *controllers = strchr(line, ':'),
         *group = controllers ? strchr(controllers + 1, ':') : NULL;

    if (!group)
        return UINT64_MAX;
    *controllers++ = *group++ = '\0';
    group[strcspn(group, "\n")] = '\0';
    if (!strcmp(controllers, "memory"))
        return groups_limit(&separate, group);
    return *controllers ? UINT64_MAX : groups_limit(&unified, group);
}

uint64_t machine_memory(void)
{
    uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    FILE *file = fopen("/proc/self/cgroup", "re");
    char line[PATH_BYTES];

    while (file && fgets(line, sizeof(line), file)) {
        const uint64_t limit = line_limit(line);
        bytes = limit < bytes ? limit : bytes;
    }
    if (file)
        fclose(file);
    return bytes;
}
