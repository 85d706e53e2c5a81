/*
 * server.c - a private server for a test: start, readiness, end, and what it says of itself. Runs
 * in the test's process.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "common/request.h"
#include "internal.h"

#define READY_MS       15000u
#define STOP_MS        10000u
#define ASK_MS         5000u
#define ARGUMENTS_MAX  32
#define PROGRAM_RUN_MS 30000u

/* ---- Start ----------------------------------------------------------------------------------- */

/* The socket on which the server says READY=1, as it does to systemd. Bound to a name that the
 * kernel chooses in the abstract space, so that nothing is left in a folder. */
static int ready_socket(char name[64])
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t size = sizeof(address);
    int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(sa_family_t)) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &size) < 0)
        test_fail(__FILE__, __LINE__, "a socket for the server's READY: %s", strerror(errno));
    snprintf(name, 64, "@%.*s", (int)(size - offsetof(struct sockaddr_un, sun_path) - 1),
             address.sun_path + 1);
    return fd;
}

const struct server_options server_unfenced = {.arguments =
                                                   (const char *const[]){"--fence", "never", NULL}};

static void __attribute__((noreturn))
server_exec(const struct server *server, const struct server_options *options, const char *notify)
{
    const char *device = options->device != NULL ? options->device : getenv("GSHARE_TEST_DEVICE");
    const char *fence = getenv("GSHARE_TEST_FENCE"); /* always: all sessions are fenced */
    const char *arguments[ARGUMENTS_MAX + 12] = {"gshared",    "-f",
                                                 "--instance", server->instance,
                                                 "--device",   device != NULL ? device : "soft",
                                                 "--config",   "none"};
    char program[PATH_MAX + 64];
    int n = 8, log;

    test_path(program, sizeof(program), "bin/gshared");
    if (options->program != NULL)
        snprintf(program, sizeof(program), "%s", options->program);
    if (fence != NULL) {
        arguments[n++] = "--fence";
        arguments[n++] = fence;
    }
    for (int i = 0; options->arguments != NULL && options->arguments[i] != NULL; i++) {
        if (i < ARGUMENTS_MAX)
            arguments[n++] = options->arguments[i];
    }
    for (int i = 0; options->environment != NULL && options->environment[i] != NULL; i++)
        putenv((char *)(uintptr_t)options->environment[i]);
    setenv("NOTIFY_SOCKET", notify, 1);
    setenv("GSHARE_CACHE", "none", 0); /* the user's own is no test's */
    log = open(server->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (log < 0 || dup2(log, STDERR_FILENO) < 0 || dup2(log, STDOUT_FILENO) < 0)
        _exit(127);
    execv(program, (char *const *)(uintptr_t)arguments);
    fprintf(stderr, "cannot run %s: %s\n", program, strerror(errno));
    _exit(127);
}

static void server_await_ready(const struct server *server, int socket)
{
    uint64_t deadline = test_deadline(READY_MS);
    CLEANUP_PROCESS int process = process_open(server->pid);
    struct pollfd p[2] = {{.fd = socket, .events = POLLIN}, {.fd = process, .events = POLLIN}};

    while (clock_ns() < deadline) {
        char text[512];
        ssize_t n;

        if (poll(p, 2, 100) <= 0)
            continue;
        if (p[1].revents != 0)
            test_fail(__FILE__, __LINE__, "the server ended before it was ready");
        n = recv(socket, text, sizeof(text) - 1, MSG_DONTWAIT);
        if (n > 0) {
            text[n] = '\0';
            if (strstr(text, "READY=1") != NULL)
                return;
        }
    }
    test_fail(__FILE__, __LINE__, "the server was not ready within %u ms", READY_MS);
}

struct server *server_start(const struct server_options *options)
{
    static const struct server_options none;
    char notify[64];
    CLEANUP_FD int socket = ready_socket(notify);
    uint32_t number = atomic_fetch_add(&test_run->servers, 1);
    pid_t parent = getpid(), pid;
    struct server *server;

    if (number >= RUN_SERVERS_MAX)
        test_fail(__FILE__, __LINE__, "more than %u servers in one test", RUN_SERVERS_MAX);
    if (options == NULL)
        options = &none;
    server = &test_run->server[number];
    server->owner = geteuid();
    if (options->instance != NULL)
        snprintf(server->instance, sizeof(server->instance), "%s", options->instance);
    else
        snprintf(server->instance, sizeof(server->instance), "test-%d-%u", (int)getpid(), number);
    snprintf(server->log, sizeof(server->log), "/tmp/gshare-test-%d-%u.log", (int)getpid(), number);
    /* Not into server->pid at once: it is shared memory, and the child would write its 0 there. */
    pid = fork();
    if (pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127);
        server_exec(server, options, notify);
    }
    if (pid < 0)
        test_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
    server->pid = pid;
    setpgid(pid, pid);
    server_await_ready(server, socket);
    server->notify = options->notified ? socket : -1;
    if (options->notified)
        socket = -1;
    setenv("GSHARE_INSTANCE", server->instance, 1);
    return server;
}

const char *server_notified(const struct server *server)
{
    static char text[1024];
    struct pollfd p = {.fd = server->notify, .events = POLLIN};
    uint64_t deadline = test_deadline(STOP_MS);

    while (clock_ns() < deadline) {
        ssize_t n = poll(&p, 1, 100) > 0 ? recv(p.fd, text, sizeof(text) - 1, MSG_DONTWAIT) : 0;

        if (n > 0) {
            text[n] = '\0';
            return text;
        }
    }
    test_fail(__FILE__, __LINE__, "the server said nothing of itself within %u ms", STOP_MS);
}

/* ---- End ------------------------------------------------------------------------------------- */

/* Returns the wait status; -1 where the server had ended before and was reaped with the orphans. */
static int server_reap(struct server *server)
{
    int status = -1;

    while (waitpid(server->pid, &status, 0) < 0 && errno == EINTR)
        ;
    server->pid = 0;
    return status;
}

const char *server_end(struct server *server)
{
    static char wrong[96];
    int status;

    kill(server->pid, SIGTERM);
    if (!process_wait_end(server->pid, test_deadline(STOP_MS))) {
        snprintf(wrong, sizeof(wrong), "the server did not end within %u ms of SIGTERM", STOP_MS);
        return wrong;
    }
    status = server_reap(server);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return NULL;
    snprintf(wrong, sizeof(wrong), "the server ended with wait status %#x after SIGTERM",
             (unsigned)status);
    return wrong;
}

void server_stop(struct server *server)
{
    const char *wrong = server_end(server);

    if (wrong)
        test_fail(__FILE__, __LINE__, "%s", wrong);
}

void server_kill(struct server *server)
{
    kill(server->pid, SIGKILL);
    server_reap(server);
}

/* ---- What it says of itself ------------------------------------------------------------------ */

gs_session attach_named(const char *name)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.name = name;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

gs_status server_attach(const struct server *server, gs_session *session)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    params.instance = server->instance;
    return gs_attach(&params, session);
}

gs_session attach_class(gs_class cls)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = GS_QOS_INIT;
    gs_session session;

    qos.cls = cls;
    params.qos = &qos;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

static void server_ask(const struct server *server, struct ctl_status_reply *reply)
{
    char message[REQUEST_MESSAGE_MAX] = "";
    uint64_t deadline = test_deadline(ASK_MS);
    struct ctl_admin request = {.cursor = 0};
    struct control control;
    gs_status status = control_open(&control, server->instance, message);

    if (status == GS_OK) {
        status = control_ask(&control, &request.h, CTL_STATUS, sizeof(request), reply,
                             sizeof(*reply), deadline, message);
        control_close(&control);
    }
    if (status != GS_OK)
        test_fail(__FILE__, __LINE__, "asking the server for its status: %s: %s",
                  gs_status_name(status), message);
}

unsigned server_tenants(const struct server *server)
{
    struct ctl_status_reply reply;

    server_ask(server, &reply);
    return reply.tenants;
}

unsigned server_log_lines(const struct server *server, const char *text)
{
    FILE *log = fopen(server->log, "r");
    char line[512];
    unsigned count = 0;

    CHECK(log != NULL);
    while (fgets(line, sizeof(line), log))
        count += strstr(line, text) != NULL;
    fclose(log);
    return count;
}

void server_wait_tenants(const struct server *server, unsigned count, unsigned milliseconds)
{
    uint64_t deadline = test_deadline(milliseconds);
    unsigned now;

    while ((now = server_tenants(server)) != count) {
        if (clock_ns() > deadline)
            test_fail(__FILE__, __LINE__, "the server has %u tenants after %u ms, not %u", now,
                      milliseconds, count);
        test_pause();
    }
}

uint64_t server_memory_used(const struct server *server)
{
    struct ctl_status_reply reply;
    uint64_t used = 0;

    server_ask(server, &reply);
    for (uint32_t i = 0; i < reply.device_count && i < ARRAY_SIZE(reply.device); i++)
        used += reply.device[i].memory_used;
    return used;
}

/* Returns the children of a process. */
static unsigned children_of(pid_t parent, pid_t pids[], unsigned room)
{
    char path[64], line[4096] = "";
    unsigned count = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
    file = fopen(path, "r");
    CHECK(file != NULL);
    if (fgets(line, sizeof(line), file)) {
        char *rest = line;
        for (char *pid; count < room && (pid = strtok_r(rest, " ", &rest));)
            pids[count++] = atoi(pid);
    }
    fclose(file);
    return count;
}

/* Reads what fits of a file of /proc/PID and ends it with a NUL. Returns its size: 0 where the
 * process has ended. */
static size_t proc_read(pid_t pid, const char *name, char *text, size_t room)
{
    char path[64];
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    file = fopen(path, "r");
    if (file) {
        size = fread(text, 1, room - 1, file);
        fclose(file);
    }
    text[size] = 0;
    return size;
}

/* A worker's command line says so. */
static bool process_is_worker(pid_t pid)
{
    char line[64];
    const size_t size = proc_read(pid, "cmdline", line, sizeof(line));

    return memmem(line, size, "--worker", sizeof("--worker")) != NULL;
}

/* gshared --metrics: the process that watches gsctl. */
static bool process_is_watcher(pid_t pid)
{
    char name[32];

    proc_read(pid, "comm", name, sizeof(name));
    return !strcmp(name, "gshared-metrics\n");
}

/* A worker that a killed supervisor was starting is the keeper's child too, and has the
 * supervisor's command line until it has its own. So of two that could be it, one is to show that
 * it is not. */
pid_t server_supervisor(const struct server *server)
{
    const uint64_t deadline = test_deadline(10000);

    for (;;) {
        pid_t pids[SERVER_WORKERS_MAX], found = 0;
        const unsigned count = children_of(server->pid, pids, SERVER_WORKERS_MAX);
        unsigned others = 0;

        for (unsigned i = 0; i < count; i++) {
            if (!process_is_worker(pids[i]) && !process_is_watcher(pids[i])) {
                found = pids[i];
                others++;
            }
        }
        if (others <= 1 || clock_ns() > deadline)
            return found;
        test_pause();
    }
}

/* Those of a supervisor that was killed are the keeper's children. */
unsigned server_workers(const struct server *server, pid_t pids[SERVER_WORKERS_MAX])
{
    const pid_t parents[] = {server->pid, server_supervisor(server)};
    pid_t found[SERVER_WORKERS_MAX];
    unsigned count = 0;

    for (unsigned p = 0; p < ARRAY_SIZE(parents) && parents[p]; p++) {
        const unsigned n = children_of(parents[p], found, SERVER_WORKERS_MAX);

        for (unsigned i = 0; i < n && count < SERVER_WORKERS_MAX; i++) {
            if (process_is_worker(found[i]))
                pids[count++] = found[i];
        }
    }
    return count;
}

pid_t server_worker_pid_of(const struct server *server, unsigned device)
{
    struct ctl_status_reply reply;

    server_ask(server, &reply);
    return device < reply.device_count ? reply.device[device].worker_pid : 0;
}

pid_t server_worker_pid(const struct server *server)
{
    return server_worker_pid_of(server, 0);
}

pid_t server_standby_pid(const struct server *server)
{
    struct ctl_status_reply reply;

    server_ask(server, &reply);
    return reply.device[0].standby_pid;
}

bool server_worker_other(const struct server *server, unsigned device, pid_t former)
{
    const pid_t worker = server_worker_pid_of(server, device);

    return worker != 0 && worker != former;
}

void server_worker_replace(const struct server *server, unsigned device)
{
    pid_t worker = 0;

    CHECK_WITHIN(20000, (worker = server_worker_pid_of(server, device)) != 0);
    CHECK_EQUAL(kill(worker, SIGKILL), 0);
    CHECK_WITHIN(20000, server_worker_other(server, device, worker));
}

void server_worker_restart(const struct server *server, unsigned device)
{
    const pid_t worker = server_worker_pid_of(server, device);
    char number[16], output[256];

    snprintf(number, sizeof(number), "%u", device);
    CHECK_EQUAL(
        program_run((const char *[]){"bin/gsctl", "restart-worker", "--device", number, NULL},
                    output, sizeof(output)),
        0);
    CHECK(server_worker_other(server, device, worker));
}

/* ---- Programs -------------------------------------------------------------------------------- */

/* Reads until the pipe's writers are gone or the deadline has passed. */
static bool output_read(int fd, char *output, size_t size, uint64_t deadline)
{
    size_t used = 0;

    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        char text[4096];
        ssize_t n;

        if (clock_ns() > deadline)
            return false;
        if (poll(&p, 1, 100) <= 0)
            continue;
        n = read(fd, text, sizeof(text));
        if (n <= 0)
            break;
        for (ssize_t i = 0; i < n && used + 1 < size; i++)
            output[used++] = text[i];
    }
    if (size > 0)
        output[used] = '\0';
    return true;
}

int program_run(const char *const *arguments, char *output, size_t size)
{
    uint64_t deadline = test_deadline(PROGRAM_RUN_MS);
    char program[PATH_MAX + 256];
    int pipe_fd[2], status;
    pid_t pid;

    test_path(program, sizeof(program), arguments[0]);
    if (pipe2(pipe_fd, O_CLOEXEC) < 0)
        test_fail(__FILE__, __LINE__, "pipe2: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(pipe_fd[1], STDOUT_FILENO);
        dup2(pipe_fd[1], STDERR_FILENO);
        execv(program, (char *const *)(uintptr_t)arguments);
        fprintf(stderr, "cannot run %s: %s\n", program, strerror(errno));
        _exit(127);
    }
    if (pid < 0)
        test_fail(__FILE__, __LINE__, "fork: %s", strerror(errno));
    close(pipe_fd[1]);
    /* A daemon that the program leaves may hold the pipe open: then its end counts. */
    bool read_all = output_read(pipe_fd[0], output, output != NULL ? size : 0, deadline);
    close(pipe_fd[0]);
    if (!read_all && !process_wait_end(pid, clock_ns())) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        test_fail(__FILE__, __LINE__, "%s did not end within %u ms", arguments[0], PROGRAM_RUN_MS);
    }
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}
