/*
 * mps.c - NVIDIA's MPS daemon, started and ended for a cell; see service.h. Only its own
 * environment variables are used: compute mode, clocks and MIG stay as they are.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "common/util.h"
#include "lib/service.h"

#define PROGRAM    "nvidia-cuda-mps-control"
#define COMMAND_NS (20ull * 1000000000u)
#define END_NS     (10ull * 1000000000u)

extern char **environ;

bool mps_installed(void)
{
    const char *path = getenv("PATH");
    char file[4096];

    while (path != NULL && *path != '\0') {
        const char *end = strchrnul(path, ':');

        snprintf(file, sizeof(file), "%.*s/" PROGRAM, (int)(end - path), path);
        if (access(file, X_OK) == 0)
            return true;
        path = *end == ':' ? end + 1 : end;
    }
    return false;
}

bool mps_avoid(struct mps *mps, char *text, size_t size)
{
    char pipes[96];

    if (mps->folder[0] == '\0') {
        snprintf(mps->folder, sizeof(mps->folder), "/tmp/gshare-bench-XXXXXX");
        if (mkdtemp(mps->folder) == NULL) {
            snprintf(text, size, "mkdtemp %s: %s", mps->folder, strerror(errno));
            mps->folder[0] = '\0';
            return false;
        }
    }
    snprintf(pipes, sizeof(pipes), "%s/none", mps->folder);
    mkdir(pipes, 0700);
    setenv("CUDA_MPS_PIPE_DIRECTORY", pipes, 1);
    unsetenv("CUDA_MPS_LOG_DIRECTORY");
    return true;
}

/* Removes a folder of files. */
static void folder_remove(const char *path)
{
    DIR *dir = opendir(path);
    const struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        closedir(dir);
    rmdir(path);
}

/* Runs the control program with that input (NULL: none) and waits for its end. */
static bool control_run(char *const arguments[], const char *input, char *text, size_t size)
{
    uint64_t deadline = clock_ns() + COMMAND_NS;
    posix_spawn_file_actions_t actions;
    int ends[2], status = 0, error;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0) {
        snprintf(text, size, "pipe: %s", strerror(errno));
        return false;
    }
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[0], STDIN_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    error = posix_spawnp(&pid, PROGRAM, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[0]);
    if (error == 0 && input != NULL && write(ends[1], input, strlen(input)) < 0)
        error = errno;
    close(ends[1]);
    if (error != 0) {
        snprintf(text, size, PROGRAM ": %s", strerror(error));
        return false;
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_ns() > deadline) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            snprintf(text, size, PROGRAM " did not end");
            return false;
        }
        poll(NULL, 0, 5);
    }
    if (status != 0)
        snprintf(text, size, PROGRAM " ended with wait status %#x", (unsigned)status);
    return status == 0;
}

bool mps_start(struct mps *mps, const char *log_folder, char *text, size_t size)
{
    char pipes[96];

    snprintf(pipes, sizeof(pipes), "%s/pipe", mps->folder);
    folder_remove(pipes); /* what an earlier daemon left */
    mkdir(pipes, 0700);
    mkdir(log_folder, 0755);
    setenv("CUDA_MPS_PIPE_DIRECTORY", pipes, 1);
    setenv("CUDA_MPS_LOG_DIRECTORY", log_folder, 1);
    /* Even a start that failed may have left a daemon: from here on there is one to stop. */
    mps->running = true;
    return control_run((char *[]){PROGRAM, "-d", NULL}, NULL, text, size);
}

/* The daemon's pid, from the file it keeps beside its pipes; 0: none. */
static pid_t daemon_pid(const struct mps *mps)
{
    char path[128];
    int pid = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s/pipe/" PROGRAM ".pid", mps->folder);
    f = fopen(path, "r");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%d", &pid) != 1)
        pid = 0;
    fclose(f);
    return pid;
}

bool mps_stop(struct mps *mps, char *text, size_t size)
{
    pid_t pid;
    bool ended;

    if (!mps->running)
        return true;
    pid = daemon_pid(mps);
    ended = control_run((char *[]){PROGRAM, NULL}, "quit -t 5\n", text, size);
    if (pid > 0) {
        CLEANUP_FD int fd = (int)syscall(SYS_pidfd_open, pid, 0);
        struct pollfd p = {.fd = fd, .events = POLLIN};

        if (fd >= 0 && poll(&p, 1, (int)(END_NS / 1000000)) == 0) {
            kill(pid, SIGKILL);
            snprintf(text, size, "the MPS daemon did not end when asked, and was killed");
            ended = false;
        }
        waitpid(pid, NULL, WNOHANG); /* ours, since the runner is a subreaper */
    }
    mps->running = false;
    return mps_avoid(mps, text, size) && ended;
}

void mps_free(struct mps *mps)
{
    char path[96];

    if (mps->folder[0] == '\0')
        return;
    snprintf(path, sizeof(path), "%s/none", mps->folder);
    folder_remove(path);
    snprintf(path, sizeof(path), "%s/pipe", mps->folder);
    folder_remove(path);
    rmdir(mps->folder);
    mps->folder[0] = '\0';
}
