/*
 * machine_memory.c - see machine_memory.h. A process is in one control group of each kind, which
 * /proc/self/cgroup names; each parent of the group bounds the process too. Within a container the
 * name may be the host's, while the container's mount shows that group as its root.
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

/* Returns the limit of one group; UINT64_MAX: no limit, or no such file. */
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

/* Returns the lowest limit of the group and of all its parents. Shortens the group's name. */
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

/* Returns the memory limit of the group in a line of /proc/self/cgroup, "NUMBER:CONTROLLERS:GROUP";
 * UINT64_MAX if there is none. */
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
