/*
 * test_privileges.c - the worker, which compiles and runs what tenants send, has no privilege that
 * it does not need: whatever a tenant made of it, the machine would be no more open than before.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bystander.h"
#include "harness/harness.h"

#define STRANGER 65534u

/* ---- What the kernel says of a thread ---- */

struct status {
    char text[4096];
};

/* False: the thread has ended. */
static bool status_read(const char *path, struct status *status)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = fd < 0 ? -1 : read(fd, status->text, sizeof(status->text) - 1);

    if (fd >= 0)
        close(fd);
    status->text[n < 0 ? 0 : n] = '\0';
    return n > 0;
}

/* The value of a line, from base 16 or 10. Fails the test where there is none. */
static uint64_t status_value(const struct status *status, const char *name, int base)
{
    char begin[32];
    const char *value;

    snprintf(begin, sizeof(begin), "\n%s:", name);
    value = strstr(status->text, begin);
    CHECK(value != NULL);
    return strtoull(value + strlen(begin), NULL, base);
}

/* The lanes' priority needs the limit, else the capability, if the server has that. */
static uint64_t nice_capability(pid_t worker)
{
    struct status own;
    unsigned nice = 0;
    char path[64], line[256];

    snprintf(path, sizeof(path), "/proc/%d/limits", (int)worker);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) && sscanf(line, "Max nice priority %u", &nice) != 1)
        ;
    fclose(file);
    CHECK(status_read("/proc/self/status", &own));
    return nice >= 30 ? 0 : status_value(&own, "CapEff", 16) & UINT64_C(1) << CAP_SYS_NICE;
}

/* False: it has ended, as the one that loads the driver's compiler does. */
static bool thread_check(const char *path, uint64_t capabilities, uid_t uid)
{
    struct status status;

    if (!status_read(path, &status))
        return false;
    CHECK_EQUAL(status_value(&status, "CapEff", 16), capabilities);
    CHECK_EQUAL(status_value(&status, "CapPrm", 16), capabilities);
    CHECK_EQUAL(status_value(&status, "CapInh", 16), 0);
    CHECK_EQUAL(status_value(&status, "CapAmb", 16), 0);
    if (geteuid() == 0)
        CHECK_EQUAL(status_value(&status, "CapBnd", 16), 0);
    CHECK_EQUAL(status_value(&status, "NoNewPrivs", 10), 1);
    CHECK_EQUAL(status_value(&status, "Uid", 10), uid);
    return true;
}

/* Its threads are started once it is the device's. */
static unsigned threads_of(pid_t pid)
{
    struct status status;
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    CHECK(status_read(path, &status));
    return (unsigned)status_value(&status, "Threads", 10);
}

/* Each thread of the worker, those of the driver too. */
static void worker_check(const struct server *server, uint64_t capabilities, uid_t uid)
{
    const pid_t pid = server_worker_pid(server);
    const uint64_t kept = capabilities | nice_capability(pid);
    struct status status;
    char path[400];
    const struct dirent *entry;
    unsigned threads = 0;

    CHECK_WITHIN(10000, threads_of(pid) > 4);
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    CHECK(tasks != NULL);
    while ((entry = readdir(tasks))) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, entry->d_name);
        threads += thread_check(path, kept, uid);
    }
    closedir(tasks);
    CHECK(threads > 4);
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    CHECK(status_read(path, &status));
    printf("# worker of uid %u: %u threads, CapEff %016llx, CapBnd %016llx, NoNewPrivs %llu\n",
           (unsigned)uid, threads, (unsigned long long)status_value(&status, "CapEff", 16),
           (unsigned long long)status_value(&status, "CapBnd", 16),
           (unsigned long long)status_value(&status, "NoNewPrivs", 10));
}

/* What a tenant needs of the worker: segments of its own and host blocks, compiling, memory. */
static void tenant_run(void)
{
    gs_session session;
    gs_devptr memory;
    void *host;
    uint32_t n = 1024;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_malloc(session, n * sizeof(uint32_t), &memory));
    CHECK_OK(gs_host_alloc(session, n * sizeof(uint32_t), &host));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(session), "fill"), n / 128, 128,
                            (void *[]){&memory, &(uint32_t){7}, &n}));
    CHECK_OK(gs_memcpy_dtoh(session, host, memory, n * sizeof(uint32_t)));
    for (uint32_t i = 0; i < n; i++)
        CHECK_EQUAL(((uint32_t *)host)[i], 7 + i);
    CHECK_OK(gs_detach(session));
}

static void become(uid_t uid)
{
    CHECK(setgid(uid) == 0 && setuid(uid) == 0);
}

static void stranger_run(void *argument)
{
    (void)argument;
    become(STRANGER);
    tenant_run();
}

/* ---- Tests ---- */

static void the_worker_has_no_capability_that_it_does_not_need(void)
{
    struct server *server = server_start(NULL);

    worker_check(server, 0, geteuid());
    tenant_run();
    if (geteuid() == 0)
        tenant_join(tenant_start(stranger_run, NULL));
    worker_check(server, 0, geteuid());
    server_stop(server);
}

/* A user that this machine has: the first one that is neither root nor nobody. */
static const struct passwd *some_user(void)
{
    const struct passwd *user;

    setpwent();
    while ((user = getpwent()) && (user->pw_uid == 0 || user->pw_uid == STRANGER))
        ;
    endpwent();
    return user;
}

static void roots_worker_becomes_the_user_that_it_is_told(void)
{
    if (geteuid() != 0)
        test_skip("only root's worker can become another user");
    const struct passwd *user = some_user();
    if (!user)
        test_skip("the machine has no user besides root and nobody");
    const uid_t uid = user->pw_uid;
    struct server_options options = {
        .arguments = (const char *const[]){"--worker-user", user->pw_name, NULL}};
    struct server *server = server_start(&options);

    worker_check(server, UINT64_C(1) << CAP_IPC_OWNER, uid);
    tenant_run();
    tenant_join(tenant_start(stranger_run, NULL));
    struct bystanders *bystanders = bystanders_start(2);
    bystanders_stop(bystanders);
    /* It dies with its supervisor, as root's does. */
    CLEANUP_FD int worker = (int)syscall(SYS_pidfd_open, server_worker_pid(server), 0);
    CHECK(worker >= 0);
    server_kill(server);
    CHECK(poll(&(struct pollfd){.fd = worker, .events = POLLIN}, 1, 10000) == 1);
    /* The next one cleans up. */
    options.instance = server->instance;
    server_stop(server_start(&options));
}

static void a_user_that_is_none_is_refused(void)
{
    static char output[4096];

    CHECK_EQUAL(
        program_run((const char *const[]){"bin/gshared", "-f", "--device", "soft", "--instance",
                                          "none-such", "--worker-user", "no-such-user", NULL},
                    output, sizeof(output)),
        2);
    CHECK_TEXT(output, "no user of that name");
}

/* A process of the worker's own user, without root's privileges. */
static void look_into_worker(void *argument)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    const struct __user_cap_data_struct data[2] = {{0}};
    const pid_t worker = *(const pid_t *)argument;
    char path[64];

    CHECK(!syscall(SYS_capset, &header, data));
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)worker);
    CHECK(open(path, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)worker);
    CHECK(open(path, O_RDONLY | O_CLOEXEC) < 0 && errno == EACCES);
    CHECK(ptrace(PTRACE_ATTACH, worker, 0, 0) < 0 && errno == EPERM);
}

static void nobody_of_the_same_user_looks_into_the_worker(void)
{
    struct server *server = server_start(NULL);
    pid_t *worker = shared_alloc(sizeof(*worker));

    *worker = server_worker_pid(server);
    tenant_join(tenant_start(look_into_worker, worker));
    server_stop(server);
}

/* A descriptor that whoever starts the server has left open. */
static void the_worker_has_no_descriptor_of_the_servers_parent(void)
{
    const char *path;
    int fd = test_file_open(&path), open_there = 0;
    char link[400], to[256];
    const struct dirent *entry;

    CHECK(fcntl(fd, F_SETFD, 0) == 0);
    struct server *server = server_start(NULL);
    snprintf(link, sizeof(link), "/proc/%d/fd", (int)server_worker_pid(server));
    DIR *descriptors = opendir(link);
    if (!descriptors)
        server_stop(server);
    if (!descriptors)
        test_skip("this user cannot look at the worker's descriptors");
    while ((entry = readdir(descriptors))) {
        ssize_t n;
        snprintf(link, sizeof(link), "/proc/%d/fd/%s", (int)server_worker_pid(server),
                 entry->d_name);
        n = readlink(link, to, sizeof(to) - 1);
        to[n > 0 ? n : 0] = '\0';
        open_there += !strcmp(to, path);
    }
    closedir(descriptors);
    CHECK_EQUAL(open_there, 0);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(the_worker_has_no_capability_that_it_does_not_need),
    TEST(roots_worker_becomes_the_user_that_it_is_told),
    TEST(a_user_that_is_none_is_refused),
    TEST(nobody_of_the_same_user_looks_into_the_worker),
    TEST(the_worker_has_no_descriptor_of_the_servers_parent),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
