/* descriptors.c - see descriptors.h. */
#include "server/base/descriptors.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

void descriptors_visit(void (*visit)(int fd, const void *with), const void *with)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        const int fd = atoi(entry->d_name);

        if (fd > STDERR_FILENO && fd != dirfd(folder))
            visit(fd, with);
    }
    if (folder)
        closedir(folder);
}
