/* upgrade.c - see upgrade.h. */
#include "server/upgrade.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/descriptors.h"

#define QUESTION    "--takes-up"
#define MEMORY_NAME "GSHARE_KEPT_MEMORY"
#define PATIENCE_MS 5000

static struct {
    char path[PATH_MAX];
    char **arguments;
} program;

void upgrade_init(char **arguments)
{
    ssize_t n = readlink("/proc/self/exe", program.path, sizeof(program.path) - 1);

    program.path[n > 0 ? n : 0] = '\0';
    program.arguments = arguments;
}

/* Returns, as text, the layouts on which two programs have to agree. */
static const char *layout(void)
{
#define BODY_SIZE(type, name) sizeof(type),
    static const size_t sizes[] = {sizeof(struct server_memory), sizeof(struct session),
                                   sizeof(struct link_stats), LINK_BODIES(BODY_SIZE)};
#undef BODY_SIZE
    static char text[256];
    int length = snprintf(text, sizeof(text), "%u:%u", UPGRADE_LAYOUT, WIRE_VERSION);

    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
        length += snprintf(text + length, sizeof(text) - (size_t)length, ":%zu", sizes[i]);
    return text;
}

bool upgrade_asked(int count, char **arguments, int *status)
{
    if (count != 3 || strcmp(arguments[1], QUESTION) != 0)
        return false;
    *status = strcmp(arguments[2], layout()) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    return true;
}

bool upgrade_possible(void)
{
    char *arguments[] = {program.path, QUESTION, (char *)(uintptr_t)layout(), NULL};
    struct pollfd process = {-1, POLLIN, 0};
    pid_t pid;
    int status = -1, r = posix_spawn(&pid, program.path, NULL, NULL, arguments, environ);

    if (r) {
        log_error("event=upgrade-failed program=%s reason=%s", program.path, strerror(r));
        return false;
    }
    process.fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (process.fd < 0 || poll(&process, 1, PATIENCE_MS) <= 0)
        kill(pid, SIGKILL);
    close(process.fd);
    waitpid(pid, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS)
        return true;
    log_error("event=upgrade-failed program=%s reason=\"it cannot go on with what this server has: "
              "it takes a restart, which ends all sessions\"",
              program.path);
    return false;
}

static void flags_set(int fd, const void *flags)
{
    fcntl(fd, F_SETFD, *(const int *)flags);
}

/* Sets whether an exec closes the descriptors that this program has opened. */
static void descriptors_close_on_exec(bool on)
{
    const int flags = on ? FD_CLOEXEC : 0;

    descriptors_visit(flags_set, &flags);
}

void upgrade_now(int memory)
{
    char number[16];

    snprintf(number, sizeof(number), "%d", memory);
    setenv(MEMORY_NAME, number, 1);
    descriptors_close_on_exec(false);
    execv(program.path, program.arguments);
    log_error("event=upgrade-failed program=%s reason=%s", program.path, strerror(errno));
    descriptors_close_on_exec(true);
    unsetenv(MEMORY_NAME);
}

int upgrade_memory(void)
{
    const char *number = getenv(MEMORY_NAME);
    const int memory = number ? atoi(number) : -1;

    unsetenv(MEMORY_NAME);
    if (memory >= 0)
        descriptors_close_on_exec(true);
    return memory;
}

static void texts_take(struct server_options *options, const struct server_options *from)
{
    options->instance = from->instance;
    options->kind = from->kind;
    options->policy_file = from->policy_file;
    options->state_file = from->state_file;
    options->log_file = from->log_file;
}

bool upgrade_adopt(struct server_memory *memory, const struct server_options *options,
                   void (*on_ready)(struct server *server))
{
    struct server *server = &memory->server;
    const ptrdiff_t moved = (char *)memory - (char *)memory->here;
    int r = 0;

    texts_take(&server->options, options);
    texts_take(&server->given, options);
    for (unsigned i = 0; i < ARRAY_SIZE(memory->committed.at); i++)
        texts_take(&memory->committed.at[i].options, options);
    server->on_ready = on_ready;
    for (int i = 0; i < server->device_count; i++)
        server->device[i].server = server;
    for (uint32_t i = 0; i < server->options.max_tenants; i++) {
        struct session *session = &memory->session[i];

        session->server = server;
        if (session->device)
            session->device = (void *)((char *)session->device + moved);
    }
    if (status_page_restore(&server->status))
        r = status_page_go_on(&server->status);
    else
        r = status_page_init(&server->status, server->options.instance,
                             server_serves_others(&server->options));
    if (r < 0)
        server_fail(server, "the status page: %s", strerror(-r));
    return r == 0;
}
