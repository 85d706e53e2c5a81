/* gsctl.c - see gsctl.h. */
#include "lib/gsctl.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "common/util.h"
#include "lib/cell.h"

#define ARGS_MAX   8
#define OUTPUT_MAX (64u << 10)

extern char **environ;

/* Reads to the end; false when there is more than fits, with the NUL behind it. */
static bool output_read(int fd, char *output, size_t size)
{
    size_t used = 0;
    ssize_t n;

    while (used < size) {
        n = read(fd, output + used, size - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            output[used] = '\0';
            return n == 0;
        }
        used += (size_t)n;
    }
    return false;
}

pid_t gsctl_start(const char *const *args, int in, int out, int err)
{
    const int given[] = {in, out, err};
    const char *argv[ARGS_MAX + 2] = {plan.gsctl};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int error;

    for (size_t i = 0; args[i] != NULL && i < ARGS_MAX; i++)
        argv[i + 1] = args[i];
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd < 3; fd++) {
        if (given[fd] >= 0)
            posix_spawn_file_actions_adddup2(&actions, given[fd], fd);
    }
    error = posix_spawn(&pid, plan.gsctl, &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (error != 0)
        cell_fail("%s: %s", plan.gsctl, strerror(error));
    return pid;
}

bool gsctl_run(const char *const *args, char *output, size_t size)
{
    bool good = true;
    int ends[2], status;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) < 0)
        cell_fail("a pipe for gsctl: %s", strerror(errno));
    pid = gsctl_start(args, -1, output != NULL ? ends[1] : -1, -1);
    close(ends[1]);
    if (output != NULL)
        good = output_read(ends[0], output, size);
    close(ends[0]); /* a gsctl that goes on writing ends by SIGPIPE */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return good && status == 0;
}

/* The number behind the name, which is looked for from *at on; *at is set behind it. A name is
 * quoted, and quotes within texts are not: so it is found only where it is one. */
static bool number_next(const char **at, const char *name, uint64_t *value)
{
    const char *found = strstr(*at, name);
    char *end;

    if (found == NULL)
        return false;
    found += strlen(name);
    *value = strtoull(found, &end, 10);
    *at = end;
    return end != found;
}

size_t charges_read(struct charge *charges, size_t max)
{
    static const char *const args[] = {"ps", "--json", NULL};
    CLEANUP_FREE char *output = malloc(OUTPUT_MAX);
    const char *at = output;
    uint64_t pid, gpu_ns;
    size_t count = 0;

    if (output == NULL || !gsctl_run(args, output, OUTPUT_MAX))
        cell_fail("gsctl ps --json: no answer");
    while (count < max && number_next(&at, "\"pid\":", &pid)) {
        if (!number_next(&at, "\"gpu_ns\":", &gpu_ns))
            cell_fail("gsctl ps --json: a tenant without gpu_ns");
        charges[count++] = (struct charge){.pid = (pid_t)pid, .gpu_ns = gpu_ns};
    }
    return count;
}
