/* log_file.c - see log_file.h. */
#include "server/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGE_BYTES (16 << 20)

/* Makes the folder and its missing parents. */
static bool folder_make(char *path, mode_t mode)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        const bool made = mkdir(path, mode) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return false;
    }
    return (mkdir(path, mode) == 0 || errno == EEXIST) && access(path, W_OK | X_OK) == 0;
}

/* Finds the folder of this user's logs. Returns false if there is none. */
static bool folder_find(char folder[PATH_MAX])
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = -1;

    if (geteuid() == 0)
        n = snprintf(folder, PATH_MAX, "/var/log/gshare");
    else if (state && state[0] == '/')
        n = snprintf(folder, PATH_MAX, "%s/gshare", state);
    else if (home && home[0] == '/')
        n = snprintf(folder, PATH_MAX, "%s/.local/state/gshare", home);
    return n > 0 && n < PATH_MAX;
}

bool log_file_default(char *path, size_t size, const char *instance)
{
    char folder[PATH_MAX], former[PATH_MAX + 8];
    struct stat st;

    if (!folder_find(folder) || snprintf(path, size, "%s/%s.log", folder, instance) >= (int)size ||
        !folder_make(folder, geteuid() == 0 ? 0755 : 0700))
        return false;
    if (stat(path, &st) == 0 && st.st_size > LARGE_BYTES) {
        snprintf(former, sizeof(former), "%s.1", path);
        rename(path, former);
    }
    return access(path, F_OK) != 0 || access(path, W_OK) == 0;
}

int log_file_open(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR | S_IRGRP);
}

void log_file_use(int fd)
{
    dup2(fd, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    close(fd);
}
