/* memory_group.c - see memory_group.h. */
#include "memory_group.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/harness.h"

/* Writes to a file that is there: below /sys/fs/cgroup itself one could be made. */
static bool file_write(const char *folder, const char *name, uint64_t value)
{
    char path[192];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "r+e");
    if (!file)
        return false;
    const bool written = fprintf(file, "%llu", (unsigned long long)value) > 0;
    return !fclose(file) && written;
}

static bool enter(struct memory_group *group, const char *mount, const char *limit, uint64_t bytes)
{
    group->mount = mount;
    snprintf(group->folder, sizeof(group->folder), "%s/gshare-test-%d", mount, (int)getpid());
    if (mkdir(group->folder, 0755))
        return false;
    if (file_write(group->folder, limit, bytes) &&
        file_write(group->folder, "cgroup.procs", (uint64_t)getpid()))
        return true;
    rmdir(group->folder);
    return false;
}

void memory_group_enter(struct memory_group *group, uint64_t bytes)
{
    if (!enter(group, "/sys/fs/cgroup", "memory.max", bytes) &&
        !enter(group, "/sys/fs/cgroup/memory", "memory.limit_in_bytes", bytes))
        test_skip("no right to make a control group of memory");
}

void memory_group_leave(const struct memory_group *group)
{
    CHECK(file_write(group->mount, "cgroup.procs", (uint64_t)getpid()));
}

void memory_group_remove(const struct memory_group *group)
{
    CHECK(rmdir(group->folder) == 0);
}
