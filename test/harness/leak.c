/*
 * leak.c - what a test left behind: processes, queues, System V segments. Runs in the program that
 * runs the tests. Other programs may use the same system at the same time, so only what can be told
 * to be the test's own counts.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/wait.h>

#include "common/names.h"
#include "internal.h"

/* Things may be on their way out when a test ends. */
#define GRACE_MS     2000u
#define DEVICES_MAX  8
#define QUEUES_MOUNT "/dev/mqueue"

int process_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

void process_close(const int *fd)
{
    if (*fd >= 0)
        syscall(SYS_close, *fd);
}

bool process_wait_end(pid_t pid, uint64_t deadline_ns)
{
    CLEANUP_PROCESS int fd = process_open(pid);
    struct pollfd p = {.fd = fd, .events = POLLIN};

    if (fd < 0)
        return errno == ESRCH;
    for (;;) {
        uint64_t now = clock_ns();
        int ms = now < deadline_ns ? (int)((deadline_ns - now + 999999u) / 1000000u) : 0;
        int n = poll(&p, 1, ms);

        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return false;
    }
}

/* ---- Processes: as the subreaper, this program is the parent of every orphan of the test ----- */

static void process_describe(pid_t pid, char *out, size_t size)
{
    char path[64];
    CLEANUP_FD int fd = -1;
    ssize_t n;

    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, out, size - 1) : 0;
    for (ssize_t i = 0; i + 1 < n; i++) {
        if (out[i] == '\0')
            out[i] = ' ';
    }
    out[n > 0 ? n : 0] = '\0';
}

/* A child of this process that still runs and that a test may have left; 0: none; -1: /proc does
 * not tell. */
static pid_t process_left(void)
{
    char path[64];
    FILE *f;
    int pid, found = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "r");
    if (f == NULL)
        return -1;
    while (found == 0 && fscanf(f, "%d", &pid) == 1)
        found = pid != common_server_pid() ? pid : 0;
    fclose(f);
    return found;
}

unsigned leak_processes(void)
{
    uint64_t deadline = test_deadline(GRACE_MS);
    unsigned found = 0;

    for (;;) {
        char command[256];
        pid_t pid = waitpid(-1, NULL, WNOHANG);

        if (pid > 0)
            continue;
        if (pid < 0 && errno == ECHILD)
            return found;
        pid = process_left();
        if (pid == 0 && common_server_pid() != 0)
            return found;
        if (clock_ns() < deadline) {
            test_pause();
            continue;
        }
        if (pid <= 0)
            return found + 1; /* a child that /proc does not show: cannot be ended by name */
        process_describe(pid, command, sizeof(command));
        fprintf(stderr, "# left running: process %d (%s)\n", (int)pid, command);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        found++;
    }
}

/* ---- Queues ---------------------------------------------------------------------------------- */

static bool queue_exists(const char *name)
{
    mqd_t queue = mq_open(name, O_RDONLY | O_CLOEXEC);

    if (queue >= 0)
        mq_close(queue);
    return queue >= 0 || errno != ENOENT;
}

static unsigned queue_report(const char *name)
{
    if (!queue_exists(name))
        return 0;
    fprintf(stderr, "# left behind: queue %s\n", name);
    mq_unlink(name);
    return 1;
}

unsigned leak_queues(uid_t owner, const char *instance)
{
    const char *mount = getenv("GSHARE_TEST_QUEUES"); /* of test/run */
    char name[WIRE_NAME_MAX], prefix[WIRE_NAME_MAX];
    unsigned found = 0;
    struct dirent *entry;
    DIR *dir;

    name_control(name, owner, instance);
    found += queue_report(name);
    name_lock(name, owner, instance);
    found += queue_report(name);
    for (int device = 0; device < DEVICES_MAX; device++) {
        name_bell(name, owner, instance, device);
        found += queue_report(name);
    }
    /* Reply queues have random names: they can be seen only where the queues are mounted. */
    snprintf(prefix, sizeof(prefix), "gshare.%u.%s.", (unsigned)owner, instance);
    dir = opendir(mount != NULL ? mount : QUEUES_MOUNT);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) == 0) {
            char path[300];
            snprintf(path, sizeof(path), "/%s", entry->d_name);
            found += queue_report(path);
        }
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

void leak_check_queues(const char *instance)
{
    if (leak_queues(geteuid(), instance) != 0)
        test_fail(__FILE__, __LINE__, "instance %s left queues", instance);
}

/* ---- Segments -------------------------------------------------------------------------------- */

struct segment_row {
    int id;
    int creator;
    unsigned long attached;
};

/* Calls visit for each line of /proc/sysvipc/shm. */
static void segments_visit(void (*visit)(const struct segment_row *, void *), void *context)
{
    char line[512];
    FILE *f = fopen("/proc/sysvipc/shm", "r");

    if (f == NULL)
        return;
    while (fgets(line, sizeof(line), f) != NULL) {
        struct segment_row row;

        /* key shmid perms size cpid lpid nattch ... */
        if (sscanf(line, "%*d %d %*o %*u %d %*d %lu", &row.id, &row.creator, &row.attached) == 3)
            visit(&row, context);
    }
    fclose(f);
}

static void segment_keep(const struct segment_row *row, void *context)
{
    struct segments *segments = context;
    int *id = realloc(segments->id, (segments->count + 1) * sizeof(*id));

    if (id == NULL)
        abort();
    segments->id = id;
    segments->id[segments->count++] = row->id;
}

void segments_take(struct segments *segments)
{
    *segments = (struct segments){0, NULL};
    segments_visit(segment_keep, segments);
}

void segments_free(struct segments *segments)
{
    free(segments->id);
    *segments = (struct segments){0, NULL};
}

struct segment_search {
    const struct segments *before;
    int id; /* of one that was left, -1: none */
    int creator;
};

/* All processes of the test are gone, so a segment of its own has nobody attached and a maker that
 * is no more. One with a living maker is another program's. */
static void segment_look(const struct segment_row *row, void *context)
{
    struct segment_search *search = context;

    for (size_t i = 0; i < search->before->count; i++) {
        if (search->before->id[i] == row->id)
            return;
    }
    if (row->attached == 0 && kill(row->creator, 0) < 0 && errno == ESRCH) {
        search->id = row->id;
        search->creator = row->creator;
    }
}

unsigned leak_segments(const struct segments *before)
{
    uint64_t deadline = test_deadline(GRACE_MS);
    unsigned found = 0;

    for (;;) {
        struct segment_search search = {before, -1, 0};

        segments_visit(segment_look, &search);
        if (search.id < 0)
            return found;
        if (clock_ns() < deadline) {
            test_pause();
            continue;
        }
        fprintf(stderr, "# left behind: System V segment %d of process %d\n", search.id,
                search.creator);
        shmctl(search.id, IPC_RMID, NULL);
        found++;
    }
}
