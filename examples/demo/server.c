/* server.c - see server.h. */
#include "server.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STOP_SECONDS 10

extern char **environ;

/* ---- Programs -------------------------------------------------------------------------------- */

/* The demo lies in BUILD/examples, they in BUILD/bin. */
static void programs_find(char *folder, size_t size)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    self[n > 0 ? n : 0] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (slash != NULL)
            *slash = '\0';
    }
    snprintf(folder, size, "%s/bin", self);
}

/* Its exit status is 0? */
static bool process_succeeds(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0) {
        if (errno != EINTR)
            return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Starts a program of the build; its output goes to `output` unless that is -1. 0: failed. */
static pid_t program_start(const struct server *server, const char *const arguments[], int output)
{
    posix_spawn_file_actions_t actions;
    char path[PATH_MAX + 128];
    pid_t pid;
    int error;

    snprintf(path, sizeof(path), "%s/%s", server->programs, arguments[0]);
    posix_spawn_file_actions_init(&actions);
    if (output >= 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    error = posix_spawn(&pid, path, &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0) {
        fprintf(stderr, "demo: %s: %s\n", path, strerror(error));
        return 0;
    }
    return pid;
}

/* ---- The server ------------------------------------------------------------------------------ */

bool server_start(struct server *server, const char *device)
{
    pid_t pid;

    memset(server, 0, sizeof(*server));
    programs_find(server->programs, sizeof(server->programs));
    snprintf(server->instance, sizeof(server->instance), "demo-%d", (int)getpid());
    setenv("GSHARE_INSTANCE", server->instance, 1);
    setenv("GSHARE_LOG", "warning", 0);
    /* The parent of the daemon returns when the server is ready. */
    pid = program_start(server,
                        (const char *[]){"gshared", "-d", "--instance", server->instance,
                                         "--device", device, "--log-file", "none", NULL},
                        -1);
    if (pid == 0 || !process_succeeds(pid)) {
        fprintf(stderr, "demo: gshared did not start\n");
        return false;
    }
    return true;
}

void server_note_processes(struct server *server, pid_t pid)
{
    char path[64];
    FILE *f;
    int child;

    if (pid <= 0)
        return;
    server->pid[0] = pid;
    server->pids = 1;
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
    f = fopen(path, "r");
    if (f == NULL)
        return;
    while (server->pids < SERVER_PIDS_MAX && fscanf(f, "%d", &child) == 1)
        server->pid[server->pids++] = child;
    fclose(f);
}

bool server_tool(const struct server *server, const char *command, const char *indent)
{
    char line[512];
    int pipe_fd[2];
    pid_t pid;
    FILE *f;

    if (pipe2(pipe_fd, O_CLOEXEC) < 0)
        return false;
    pid = program_start(server, (const char *[]){"gsctl", command, NULL}, pipe_fd[1]);
    close(pipe_fd[1]);
    f = fdopen(pipe_fd[0], "r");
    while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
        if (indent != NULL)
            printf("%s%s", indent, line);
    }
    if (f != NULL)
        fclose(f);
    return pid != 0 && process_succeeds(pid);
}

/* Running, or dead and reaped by nobody yet, which only a lazy init leaves. */
static bool process_runs(pid_t pid)
{
    char path[64], state = 'Z';
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (f == NULL)
        return false;
    if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = 'Z';
    fclose(f);
    return state != 'Z';
}

static unsigned processes_left(const struct server *server)
{
    unsigned left = 0;

    for (unsigned i = 0; i < server->pids; i++)
        left += process_runs(server->pid[i]);
    return left;
}

void server_kill(struct server *server)
{
    if (server->pids > 0 && process_runs(server->pid[0]))
        kill(server->pid[0], SIGKILL);
}

/* ---- What is left ---------------------------------------------------------------------------- */

/* Control queue and doorbells by name; replies to clients where the queues are mounted. */
static unsigned queues_left(const char *instance)
{
    char name[300], prefix[64];
    unsigned left = 0;
    struct dirent *entry;
    DIR *dir = opendir("/dev/mqueue");
    mqd_t queue;

    snprintf(prefix, sizeof(prefix), "gshare.%u.%s", (unsigned)geteuid(), instance);
    if (dir != NULL) {
        while ((entry = readdir(dir)) != NULL)
            left += strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
        closedir(dir);
        return left;
    }
    for (int device = -1; device < 8; device++) {
        if (device < 0)
            snprintf(name, sizeof(name), "/%s", prefix);
        else
            snprintf(name, sizeof(name), "/%s.bell.%d", prefix, device);
        queue = mq_open(name, O_WRONLY);
        left += queue >= 0 || errno != ENOENT;
        if (queue >= 0)
            mq_close(queue);
    }
    return left;
}

/* Every segment was made by the server or a worker of it. */
static unsigned segments_left(const struct server *server)
{
    unsigned left = 0;
    char line[512];
    FILE *f = fopen("/proc/sysvipc/shm", "r");

    if (f == NULL)
        return 0;
    while (fgets(line, sizeof(line), f) != NULL) {
        int creator;

        if (sscanf(line, "%*d %*d %*o %*u %d", &creator) != 1)
            continue;
        for (unsigned i = 0; i < server->pids; i++)
            left += server->pid[i] == creator;
    }
    fclose(f);
    return left;
}

bool server_stop(struct server *server)
{
    struct timespec pause = {0, 1000000};

    if (!server_tool(server, "quit", NULL)) {
        fprintf(stderr, "demo: gsctl quit failed\n");
        return false;
    }
    /* A process shows as ended a moment before its last thread has let go of its memory. */
    for (int i = 0; i < STOP_SECONDS * 1000; i++) {
        if (processes_left(server) == 0 && segments_left(server) == 0)
            return true;
        nanosleep(&pause, NULL);
    }
    return processes_left(server) == 0;
}

void server_leftovers(const struct server *server, struct leftovers *leftovers)
{
    leftovers->processes = processes_left(server);
    leftovers->queues = queues_left(server->instance);
    leftovers->segments = segments_left(server);
}
