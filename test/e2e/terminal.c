/* terminal.c - see terminal.h. */
#include "terminal.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "harness/harness.h"

void terminal_start(struct terminal *terminal, unsigned columns, unsigned rows,
                    const char *const *arguments)
{
    struct winsize size = {.ws_col = (unsigned short)columns, .ws_row = (unsigned short)rows};
    char program[PATH_MAX];

    memset(terminal, 0, sizeof(*terminal));
    snprintf(program, sizeof(program), "%s",
             *arguments[0] == '/' ? arguments[0] : test_build_path(arguments[0]));
    terminal->fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    CHECK(terminal->fd >= 0 && grantpt(terminal->fd) == 0 && unlockpt(terminal->fd) == 0);
    CHECK(ioctl(terminal->fd, TIOCSWINSZ, &size) == 0);
    terminal->pid = fork();
    CHECK(terminal->pid >= 0);
    if (terminal->pid == 0) {
        int fd;

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        fd = open(ptsname(terminal->fd), O_RDWR); /* becomes the controlling terminal */
        if (fd < 0 || dup2(fd, 0) < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
            _exit(127);
        setenv("TERM", "xterm", 1);
        unsetenv("NO_COLOR");
        execv(program, (char *const *)(uintptr_t)arguments);
        _exit(127);
    }
}

void terminal_type(struct terminal *terminal, const char *keys)
{
    CHECK(write(terminal->fd, keys, strlen(keys)) == (ssize_t)strlen(keys));
}

bool terminal_read(struct terminal *terminal)
{
    struct pollfd poll_fd = {.fd = terminal->fd, .events = POLLIN};
    ssize_t n;

    if (poll(&poll_fd, 1, 100) <= 0)
        return true;
    CHECK(terminal->used + 1 < sizeof(terminal->text));
    n = read(terminal->fd, terminal->text + terminal->used,
             sizeof(terminal->text) - 1 - terminal->used);
    if (n <= 0) /* EIO: nobody has the other end */
        return false;
    /* Text that a test can search has no NUL. */
    for (ssize_t i = 0; i < n; i++) {
        if (terminal->text[terminal->used + (size_t)i] == 0)
            terminal->text[terminal->used + (size_t)i] = ' ';
    }
    terminal->used += (size_t)n;
    return true;
}

static bool more(struct terminal *terminal, uint64_t deadline)
{
    if (clock_ns() > deadline)
        test_fail(__FILE__, __LINE__, "no more of it within 30 s: %s",
                  terminal->text + terminal->from);
    return terminal_read(terminal);
}

void terminal_expect(struct terminal *terminal, const char *words)
{
    uint64_t deadline = test_deadline(30000);
    const char *found;

    while (!(found = strstr(terminal->text + terminal->from, words))) {
        if (!more(terminal, deadline))
            test_fail(__FILE__, __LINE__, "it has ended without \"%s\": %s", words,
                      terminal->text + terminal->from);
    }
    terminal->from = (size_t)(found - terminal->text) + strlen(words);
}

int terminal_end(struct terminal *terminal)
{
    uint64_t deadline = test_deadline(30000);
    int status;

    while (more(terminal, deadline))
        ;
    status = tenant_wait(terminal->pid, 30);
    close(terminal->fd);
    return status;
}
