/* cpu_time.c - see cpu_time.h. */
#include "lib/cpu_time.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/cell.h"

/* What the kernel keeps of the names nvidia-cuda-mps-control and nvidia-cuda-mps-server. */
static const char mps_name[] = "nvidia-cuda-mps";

/* The server's worker is a child of the supervisor, and that of the keeper, which is started. */
enum { GENERATIONS = 2 };

struct process {
    char name[32];
    int parent;
};

/* In stat the name is in brackets and may hold anything; the state and the parent follow it. */
static bool process_read(pid_t pid, struct process *process)
{
    char path[64], text[512], *start, *end;
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    if (f == NULL)
        return false;
    n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    start = strchr(text, '(');
    end = strrchr(text, ')');
    if (start == NULL || end == NULL || sscanf(end + 1, " %*c %d", &process->parent) != 1)
        return false;
    *end = '\0';
    snprintf(process->name, sizeof(process->name), "%.31s", start + 1);
    return true;
}

static bool serves(pid_t pid)
{
    struct process process;

    if (plan.side == SIDE_MPS)
        return process_read(pid, &process) && strcmp(process.name, mps_name) == 0;
    for (unsigned i = 0; i < GENERATIONS && pid != plan.server_pid; i++)
        pid = process_read(pid, &process) ? process.parent : 0;
    return pid == plan.server_pid;
}

/* Nanoseconds of the process; false: it has ended, or its time is not to be read. */
static bool time_read(pid_t pid, double *ns)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return false;
    *ns = (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
    return true;
}

void cpu_servers_find(struct cpu_servers *servers)
{
    const struct dirent *entry;
    DIR *dir;

    servers->count = 0;
    if (plan.side != SIDE_MPS && plan.side != SIDE_GSHARE)
        return;
    dir = opendir("/proc");
    while (dir != NULL && (entry = readdir(dir)) != NULL && servers->count < CPU_SERVERS_MAX) {
        pid_t pid = (pid_t)atoi(entry->d_name);
        double ignored;

        if (isdigit((unsigned char)entry->d_name[0]) && serves(pid) && time_read(pid, &ignored))
            servers->pid[servers->count++] = pid;
    }
    if (dir != NULL)
        closedir(dir);
}

double cpu_process_ns(pid_t pid)
{
    double ns;

    if (!time_read(pid, &ns))
        cell_fail("no processor time of process %d", (int)pid);
    return ns;
}

double cpu_servers_ns(const struct cpu_servers *servers)
{
    double sum = 0;

    for (unsigned i = 0; i < servers->count; i++)
        sum += cpu_process_ns(servers->pid[i]);
    return sum;
}

double cpu_self_ns(void)
{
    return cpu_process_ns(getpid());
}
