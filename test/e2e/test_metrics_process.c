/* test_metrics_process.c - `gshared --metrics`: gsctl serves the figures as long as there is the
 * server, and no longer, whoever of them is killed. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gsctl_run.h"
#include "harness/harness.h"

#define SERVES " url=http://127.0.0.1:"

static const struct server_options serving = {.arguments =
                                                  (const char *const[]){"--metrics", "0", NULL}};

/* ---- Helpers --------------------------------------------------------------------------------- */

/* The last line of the log that says who serves, and where. */
static bool served(const struct server *server, pid_t *pid, unsigned *port)
{
    char line[1024];
    FILE *log = fopen(server->log, "re");
    bool found = false;
    int process;

    CHECK(log != NULL);
    while (fgets(line, sizeof(line), log)) {
        const char *at = strstr(line, "event=metrics ");

        if (at && strstr(at, SERVES) && sscanf(at, "event=metrics process=%d", &process) == 1 &&
            sscanf(strstr(at, SERVES) + strlen(SERVES), "%u", port) == 1) {
            *pid = process;
            found = true;
        }
    }
    fclose(log);
    return found;
}

/* Asks for /metrics; false: nobody answers. */
static bool scrape(unsigned port, char *text, size_t size)
{
    static const char request[] = "GET /metrics HTTP/1.0\r\n\r\n";
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons((uint16_t)port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    size_t used = 0;
    ssize_t n = 0;

    if (connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) == 0 &&
        write(fd, request, strlen(request)) > 0) {
        while (used + 1 < size && (n = read(fd, text + used, size - 1 - used)) > 0)
            used += (size_t)n;
    }
    text[used] = 0;
    close(fd);
    return strstr(text, "gshare_up{") != NULL;
}

static bool up(unsigned port)
{
    static char text[65536];

    return scrape(port, text, sizeof(text)) && strstr(text, "} 1\n");
}

static pid_t parent_of(pid_t pid)
{
    char path[64], line[128];
    int parent = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "re");
    CHECK(file != NULL);
    while (fgets(line, sizeof(line), file) && sscanf(line, "PPid: %d", &parent) != 1)
        ;
    fclose(file);
    return parent;
}

/* A process that has ended and that nobody has waited for is gone, too. */
static bool gone(pid_t pid)
{
    char path[64], line[512] = "";

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (!file || !fgets(line, sizeof(line), file))
        line[0] = 0;
    if (file)
        fclose(file);
    return !line[0] || strstr(line, ") Z ");
}

static struct server *start(pid_t *pid, unsigned *port)
{
    if (gsctl("metrics", "--listen", "300.0.0.0:1", NULL) == 1)
        test_skip("gsctl was built without libmicrohttpd");
    struct server *server = server_start(&serving);
    CHECK(served(server, pid, port));
    CHECK(up(*port));
    return server;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void the_figures_are_served_until_the_server_ends(void)
{
    unsigned port;
    pid_t pid;
    struct server *server = start(&pid, &port);

    GSCTL_OK("quit");
    CHECK(gone(pid)); /* at once: the next server may want the port */
    CHECK(!up(port));
    server->pid = 0;
}

static void whoever_serves_has_nothing_of_the_server(void)
{
    char path[64], target[64];
    unsigned port;
    pid_t pid;
    struct server *server = start(&pid, &port);

    /* Beside the pipe and libmicrohttpd's own sockets and queues. */
    for (int fd = 0; fd < 64; fd++) {
        ssize_t n;

        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
        n = readlink(path, target, sizeof(target) - 1);
        target[n > 0 ? n : 0] = 0;
        if (n > 0 && strcmp(target, "/dev/null") != 0 && strncmp(target, "pipe:", 5) != 0 &&
            strncmp(target, "socket:", 7) != 0 && strncmp(target, "anon_inode:", 11) != 0)
            test_fail(__FILE__, __LINE__, "descriptor %d is %s", fd, target);
    }
    server_stop(server);
}

static void who_serves_is_started_again_when_it_is_killed(void)
{
    unsigned port, next_port;
    pid_t pid, next, watcher;
    struct server *server = start(&pid, &port);

    watcher = parent_of(pid);
    CHECK_EQUAL(parent_of(watcher), server->pid);
    CHECK(kill(pid, SIGKILL) == 0);
    CHECK_WITHIN(10000, served(server, &next, &next_port) && next != pid);
    CHECK(up(next_port));
    CHECK_EQUAL(server_log_lines(server, "killed by signal 9; it is started again"), 1);
    pid = next;
    /* It has lived for that second by now. */
    CHECK(kill(watcher, SIGKILL) == 0);
    CHECK_WITHIN(10000, served(server, &next, &next_port) && next != pid);
    CHECK(up(next_port));
    CHECK_WITHIN(10000, gone(pid));
    server_stop(server);
    CHECK(gone(next));
}

static void a_supervisor_that_is_killed_concerns_nobody(void)
{
    unsigned port, same;
    pid_t pid, still;
    struct server *server = start(&pid, &port);

    CHECK(kill(server_supervisor(server), SIGKILL) == 0);
    CHECK_WITHIN(10000, server_log_lines(server, "has taken the place") == 1);
    CHECK_WITHIN(10000, up(port));
    CHECK(served(server, &still, &same) && still == pid && same == port);
    server_stop(server);
    CHECK(gone(pid));
}

static void none_is_left_when_the_keeper_is_killed(void)
{
    unsigned port;
    pid_t pid, watcher;
    struct server *server = start(&pid, &port);

    watcher = parent_of(pid);
    server_kill(server);
    CHECK_WITHIN(10000, gone(pid) && gone(watcher));
    CHECK(!up(port));
}

static void an_upgrade_serves_anew(void)
{
    unsigned port, next_port;
    pid_t pid, next;
    struct server *server = start(&pid, &port);

    CHECK(kill(server->pid, SIGUSR2) == 0);
    CHECK_WITHIN(10000, served(server, &next, &next_port) && next != pid);
    CHECK_WITHIN(10000, up(next_port));
    CHECK(gone(pid));
    server_stop(server);
    CHECK(gone(next));
}

static void the_policy_file_can_say_it_too(void)
{
    const char *path;
    int fd = test_file_open(&path);
    const char *const arguments[] = {"--config", path, NULL};
    const char *const none[] = {"--config", path, "--metrics", "none", NULL};
    unsigned port;
    pid_t pid;

    if (gsctl("metrics", "--listen", "300.0.0.0:1", NULL) == 1)
        test_skip("gsctl was built without libmicrohttpd");
    CHECK(dprintf(fd, "[server]\nmetrics = 127.0.0.1:0\n") > 0);
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    CHECK(served(server, &pid, &port) && up(port));
    CHECK(ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0);
    CHECK(dprintf(fd, "[server]\nmetrics = 9\n") > 0);
    CHECK(kill(server->pid, SIGHUP) == 0);
    CHECK_WITHIN(10000, server_log_lines(server, "metrics = 9 holds from the server's next start "
                                                 "on; now: 127.0.0.1:0") == 1);
    server_stop(server);
    server = server_start(&(struct server_options){.arguments = none});
    CHECK_EQUAL(server_log_lines(server, "event=metrics"), 0);
    server_stop(server);
    close(fd);
}

/* A folder with this gshared, and gsctl as the script says; none if it is NULL. Runs gshared -d
 * there, and gives its exit status. */
static int run_beside(const char *script)
{
    char folder[] = "/tmp/gshare-metrics-XXXXXX", command[4096];
    FILE *sh;
    size_t n;
    int status;

    CHECK(mkdtemp(folder) != NULL);
    setenv("SCRIPT", script ? script : "", 1);
    setenv("FOLDER", folder, 1);
    setenv("GSHARED", test_build_path("bin/gshared"), 1);
    snprintf(
        command, sizeof(command),
        "cp \"$GSHARED\" $FOLDER && { [ -z \"$SCRIPT\" ] || { echo \"$SCRIPT\" >$FOLDER/gsctl && "
        "chmod 755 $FOLDER/gsctl; }; } && $FOLDER/gshared -d --instance metrics-%d --device "
        "soft --metrics 0 2>&1; status=$?; rm -r $FOLDER; exit $status",
        (int)getpid());
    sh = popen(command, "r");
    CHECK(sh != NULL);
    n = fread(output, 1, sizeof(output) - 1, sh);
    output[n] = 0;
    status = pclose(sh);
    return WEXITSTATUS(status);
}

static void what_keeps_it_from_serving_is_said_at_the_start(void)
{
    CHECK_EQUAL(run_beside("#!/bin/sh\necho 'gsctl: this gsctl was built without libmicrohttpd: "
                           "install it' >&2; exit 1"),
                1);
    CHECK_TEXT(output, "gshared: --metrics 0: this gsctl was built without libmicrohttpd: install");
    CHECK_EQUAL(run_beside("#!/bin/sh\nexit 7"), 1);
    CHECK_TEXT(output, "gshared: --metrics 0: it ended with status 7");
    CHECK_EQUAL(run_beside(NULL), 1);
    CHECK_TEXT(output, "/gsctl: No such file or directory");
}

static const struct test tests[] = {
    TEST(the_figures_are_served_until_the_server_ends),
    TEST(whoever_serves_has_nothing_of_the_server),
    TEST(who_serves_is_started_again_when_it_is_killed),
    TEST(a_supervisor_that_is_killed_concerns_nobody),
    TEST(none_is_left_when_the_keeper_is_killed),
    TEST(an_upgrade_serves_anew),
    TEST(the_policy_file_can_say_it_too),
    TEST(what_keeps_it_from_serving_is_said_at_the_start),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
