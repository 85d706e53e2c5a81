/* idle.c - processor time of gshared and its workers while 100 tenants that have worked do nothing.
 */
#include <ctype.h>
#include <dirent.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define TENANTS   100
#define LAUNCHES  100
#define SETTLE_MS 500 /* the end of the dispatcher's own spinning */
#define WORKERS   8

static void idle_body(struct tenant *tenant)
{
    struct kernel_args args = {1, 2, 3, 4};
    const struct device_ops *device = device_start();

    for (int i = 0; i < LAUNCHES; i++)
        device->launch(KERNEL_NOP, &args);
    device->sync();
    tenant_arrive(tenant, 1);
    device->close();
}

static pid_t parent_of(pid_t pid)
{
    char path[64], text[512], *end;
    int parent = 0;
    size_t n;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "r");
    if (f == NULL)
        return 0;
    n = fread(text, 1, sizeof(text) - 1, f);
    fclose(f);
    text[n] = '\0';
    end = strrchr(text, ')'); /* the name before it may hold anything */
    if (end == NULL || sscanf(end + 1, " %*c %d", &parent) != 1)
        return 0;
    return parent;
}

/* The server and its children. */
static unsigned processes_find(pid_t pid[1 + WORKERS])
{
    DIR *dir = opendir("/proc");
    const struct dirent *entry;
    unsigned count = 0;

    pid[count++] = plan.server_pid;
    while (dir != NULL && (entry = readdir(dir)) != NULL && count < 1 + WORKERS) {
        pid_t candidate = (pid_t)atoi(entry->d_name);

        if (isdigit((unsigned char)entry->d_name[0]) && parent_of(candidate) == plan.server_pid)
            pid[count++] = candidate;
    }
    if (dir != NULL)
        closedir(dir);
    return count;
}

static double cpu_ns(const pid_t *pid, unsigned count)
{
    double sum = 0;

    for (unsigned i = 0; i < count; i++) {
        struct timespec t;
        clockid_t clock;

        if (clock_getcpuclockid(pid[i], &clock) != 0 || clock_gettime(clock, &t) != 0)
            cell_fail("no processor time of process %d", (int)pid[i]);
        sum += (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
    }
    return sum;
}

void row_idle(void)
{
    struct tenants *group = tenants_start(TENANTS, idle_body, NULL);
    pid_t pid[1 + WORKERS];
    double before, used;
    unsigned count;
    uint64_t start;

    tenants_await(group, 1);
    poll(NULL, 0, SETTLE_MS);
    count = processes_find(pid);
    if (count < 2)
        cell_fail("gshared has no worker process");
    start = clock_ns();
    before = cpu_ns(pid, count);
    poll(NULL, 0, plan.quick ? 3000 : 10000); /* the time that is measured */
    used = cpu_ns(pid, count) - before;
    cell_metric(used / (double)(clock_ns() - start), "core_share");
    tenants_go(group, 1);
    tenants_join(group);
}
