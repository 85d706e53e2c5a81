/*
 * operator.c - what it costs that an operator looks: a tenant's launch and sync while `gsctl ps
 * --watch`, `gsctl top` and scrapes of /metrics ask the server each second, and without; and how
 * long one look takes. A thousand tenants are attached, which do nothing.
 *
 * Four turns, alone, looked at, looked at, alone, are one comparison, of which a steady drift takes
 * as much from one as from the other. How much the two turns alone differ from each other tells
 * what the machine does by itself. Where gsctl was built without libmicrohttpd or ncurses, `gsctl
 * metrics` and `gsctl top --json` stand for scrapes and for top, with a note.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/cpu_time.h"
#include "lib/device.h"
#include "lib/gsctl.h"
#include "lib/stats.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define TENANTS     1000
#define TURN_NS     1500000000u
#define SCRAPE_NS   1000000000u
#define COMPARISONS 8
#define WARM_UP     2000
#define TRIPS_MAX   (1u << 19) /* of a turn */
#define LOOKS       100
#define TOP_NS      6000000000u /* in which the time of top is taken ... */
#define TOP_S       "2"         /* ... at its own interval */

enum { ALONE, LOOKED_AT, MODES };
static const int quad[] = {ALONE, LOOKED_AT, LOOKED_AT, ALONE};
#define TURNS ARRAY_SIZE(quad)

/* ---- Tenants --------------------------------------------------------------------------------- */

static void attached_body(struct tenant *tenant)
{
    const struct device_ops *device = device_of_side();

    device->prepare();
    device->open();
    tenant_arrive(tenant, 1);
    device->close();
}

/* What the cell tells the tenant of its next turn. */
struct turn {
    uint64_t until;
    bool over; /* there is none */
};

static void trips_body(struct tenant *tenant)
{
    static double samples[TRIPS_MAX];
    const struct turn *turn = tenant->arg;
    const struct device_ops *device = device_start();
    struct kernel_args args = {1, 2, 3, 4};

    for (uint32_t step = 1;; step++) {
        size_t count = 0;

        for (int i = 0; i < WARM_UP / (plan.facts->soft ? 20 : 1); i++) {
            device->launch(KERNEL_NOP, &args);
            device->sync();
        }
        tenant_arrive(tenant, step);
        if (turn->over)
            break;
        while (count < TRIPS_MAX && (count == 0 || clock_ns() < turn->until)) {
            uint64_t start = clock_ns();

            device->launch(KERNEL_NOP, &args);
            device->sync();
            samples[count++] = (double)(clock_ns() - start);
        }
        stats_sort(samples, count);
        tenant->value[0] = stats_percentile(samples, count, 50);
        tenant->value[1] = stats_percentile(samples, count, 99);
    }
    device->close();
}

/* ---- Looks ----------------------------------------------------------------------------------- */

static void gsctl_end(pid_t pid, const char *what)
{
    int status;

    if (waitpid(pid, &status, WNOHANG) == pid)
        cell_fail("gsctl %s has ended by itself, with status %#x", what, status);
    kill(pid, SIGTERM);
    waitpid(pid, &status, 0);
}

struct looks {
    int null, terminal, own_end; /* of the terminal, top's and the cell's end */
    pid_t metrics;               /* which serves them; 0: gsctl can print them only */
    uint16_t port;
    bool top; /* gsctl can draw it; else it can print JSON only */
};

/* One that gsctl top draws on, of 24 lines. */
static void terminal_open(struct looks *looks)
{
    const struct winsize size = {.ws_row = 24, .ws_col = 80};
    char name[64];

    looks->own_end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (looks->own_end < 0 || grantpt(looks->own_end) != 0 || unlockpt(looks->own_end) != 0 ||
        ptsname_r(looks->own_end, name, sizeof(name)) != 0)
        cell_fail("a terminal: %s", strerror(errno));
    looks->terminal = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (looks->terminal < 0 || ioctl(looks->terminal, TIOCSWINSZ, &size) != 0)
        cell_fail("a terminal: %s", strerror(errno));
    setenv("TERM", "xterm", 1);
}

/* Where there is no terminal top is used wrongly (2), but for one that cannot draw (1). */
static bool top_draws(const struct looks *looks)
{
    static const char *const args[] = {"top", NULL};
    pid_t pid = gsctl_start(args, looks->null, looks->null, looks->null);
    int status;

    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || (WEXITSTATUS(status) != 1 && WEXITSTATUS(status) != 2))
        cell_fail("gsctl top: status %#x", status);
    if (WEXITSTATUS(status) == 1)
        cell_note("gsctl was built without ncurses: top --json");
    return WEXITSTATUS(status) == 2;
}

static void looks_begin(struct looks *looks)
{
    static const char *const args[] = {"metrics", "--listen", "0", NULL};
    static const char serves[] = "http://127.0.0.1:";
    char line[256];
    const char *at;
    int ends[2];
    ssize_t n;

    looks->null = open("/dev/null", O_RDWR | O_CLOEXEC);
    looks->top = top_draws(looks);
    terminal_open(looks);
    if (pipe2(ends, O_CLOEXEC) < 0)
        cell_fail("a pipe for gsctl: %s", strerror(errno));
    looks->metrics = gsctl_start(args, looks->null, looks->null, ends[1]);
    close(ends[1]);
    n = read(ends[0], line, sizeof(line) - 1);
    close(ends[0]);
    line[n > 0 ? n : 0] = '\0';
    at = strstr(line, serves);
    if (at != NULL) {
        looks->port = (uint16_t)atoi(at + strlen(serves));
    } else if (strstr(line, "without libmicrohttpd") != NULL) {
        waitpid(looks->metrics, NULL, 0);
        looks->metrics = 0;
        cell_note("gsctl was built without libmicrohttpd: gsctl metrics, printed");
    } else {
        cell_fail("gsctl metrics --listen: %s", n > 0 ? line : "it ended");
    }
}

static void looks_end(struct looks *looks)
{
    if (looks->metrics != 0)
        gsctl_end(looks->metrics, "metrics");
    close(looks->null);
    close(looks->terminal);
    close(looks->own_end);
}

/* Both return how long it took; *bytes: of the answer. */
static double print_metrics(const struct looks *looks, size_t *bytes)
{
    static const char *const args[] = {"metrics", NULL};
    static char answer[1 << 16];
    uint64_t start = clock_ns();
    int ends[2], status;
    ssize_t n;
    pid_t pid;

    *bytes = 0;
    if (pipe2(ends, O_CLOEXEC) < 0)
        cell_fail("a pipe for gsctl: %s", strerror(errno));
    pid = gsctl_start(args, looks->null, ends[1], looks->null);
    close(ends[1]);
    while ((n = read(ends[0], answer, sizeof(answer))) > 0)
        *bytes += (size_t)n;
    close(ends[0]);
    waitpid(pid, &status, 0);
    if (status != 0)
        cell_fail("gsctl metrics: status %#x", status);
    return (double)(clock_ns() - start);
}

static double scrape(const struct looks *looks, size_t *bytes)
{
    static const char request[] =
        "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        "Accept: application/openmetrics-text\r\n\r\n";
    static const char good[] = "HTTP/1.1 200";
    const struct sockaddr_in address = {.sin_family = AF_INET,
                                        .sin_port = htons(looks->port),
                                        .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    static char answer[1 << 16];
    uint64_t start = clock_ns();
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ssize_t n;

    *bytes = 0;
    if (connect(fd, (const struct sockaddr *)(const void *)&address, sizeof(address)) != 0 ||
        write(fd, request, sizeof(request) - 1) != sizeof(request) - 1)
        cell_fail("asking for /metrics: %s", strerror(errno));
    while ((n = read(fd, answer, sizeof(answer))) > 0) {
        if (*bytes == 0 && strncmp(answer, good, sizeof(good) - 1) != 0)
            cell_fail("/metrics: %.40s", answer);
        *bytes += (size_t)n;
    }
    close(fd);
    if (*bytes == 0)
        cell_fail("/metrics: no answer");
    return (double)(clock_ns() - start);
}

static double metrics_look(const struct looks *looks, size_t *bytes)
{
    return looks->metrics != 0 ? scrape(looks, bytes) : print_metrics(looks, bytes);
}

/* Takes what top draws. A terminal that nobody reads would stop it. */
static void drawings_drop(const struct looks *looks, uint64_t until)
{
    struct pollfd terminal = {.fd = looks->own_end, .events = POLLIN};
    char drawn[4096];

    for (uint64_t now; (now = clock_ns()) < until;) {
        if (poll(&terminal, 1, (int)((until - now) / 1000000 + 1)) > 0 &&
            read(looks->own_end, drawn, sizeof(drawn)) < 0 && errno != EAGAIN && errno != EINTR)
            cell_fail("the terminal of gsctl top: %s", strerror(errno));
    }
}

static pid_t top_start(const struct looks *looks, const char *seconds)
{
    const char *const draw[] = {"top", "--watch", seconds, NULL};
    const char *const print[] = {"top", "--json", "--watch", seconds, NULL};

    if (!looks->top)
        return gsctl_start(print, looks->null, looks->null, looks->null);
    return gsctl_start(draw, looks->terminal, looks->terminal, looks->null);
}

/* Looks in all ways at once until that time. */
static void look_until(const struct looks *looks, uint64_t until)
{
    static const char *const ps_args[] = {"ps", "--watch", "1", NULL};
    pid_t ps = gsctl_start(ps_args, looks->null, looks->null, looks->null);
    pid_t top = top_start(looks, "1");

    for (uint64_t due = clock_ns(); due < until; due += SCRAPE_NS) {
        size_t bytes;

        metrics_look(looks, &bytes);
        drawings_drop(looks, due + SCRAPE_NS < until ? due + SCRAPE_NS : until);
    }
    gsctl_end(ps, "ps");
    gsctl_end(top, "top");
}

/* ---- What is measured ------------------------------------------------------------------------ */

static void turns_run(const struct looks *looks, struct tenants *tenant, struct turn *turn)
{
    static double p50[MODES][2 * COMPARISONS], p99[MODES][2 * COMPARISONS];
    static double more[COMPARISONS], apart[COMPARISONS];
    size_t count[MODES] = {0};

    for (unsigned step = 1; step <= COMPARISONS * TURNS; step++) {
        const int mode = quad[(step - 1) % TURNS];

        tenants_await(tenant, step);
        turn->until = clock_ns() + TURN_NS;
        tenants_go(tenant, step);
        if (mode == LOOKED_AT)
            look_until(looks, turn->until);
        tenants_await(tenant, step + 1);
        p50[mode][count[mode]] = tenant->tenant[0].value[0];
        p99[mode][count[mode]++] = tenant->tenant[0].value[1];
    }
    turn->over = true;
    tenants_go(tenant, COMPARISONS * TURNS + 1);
    for (unsigned i = 0; i < COMPARISONS; i++) {
        const double *looked = &p99[LOOKED_AT][2 * i], *alone = &p99[ALONE][2 * i];

        more[i] = (looked[0] + looked[1]) / (alone[0] + alone[1]) - 1;
        apart[i] = fabs(alone[1] / alone[0] - 1);
    }
    cell_metric(stats_median(p50[ALONE], count[ALONE]), "alone_p50");
    cell_metric(stats_median(p99[ALONE], count[ALONE]), "alone_p99");
    cell_metric(stats_median(p50[LOOKED_AT], count[LOOKED_AT]), "looked_p50");
    cell_metric(stats_median(p99[LOOKED_AT], count[LOOKED_AT]), "looked_p99");
    cell_metric(stats_median(more, COMPARISONS), "more_p99");
    cell_metric(stats_median_error(more, COMPARISONS), "more_p99_error");
    cell_metric(stats_median(apart, COMPARISONS), "apart_p99");
}

static void looks_time(const struct looks *looks)
{
    static const char *const args[] = {"ps", NULL};
    double ps[LOOKS], metrics[LOOKS];
    size_t bytes = 0;

    for (int i = 0; i < LOOKS; i++) {
        uint64_t start = clock_ns();
        pid_t pid = gsctl_start(args, looks->null, looks->null, looks->null);
        int status;

        waitpid(pid, &status, 0);
        if (status != 0)
            cell_fail("gsctl ps: status %#x", status);
        ps[i] = (double)(clock_ns() - start);
        metrics[i] = metrics_look(looks, &bytes);
    }
    cell_summary(ps, LOOKS, "ps");
    cell_summary(metrics, LOOKS, "metrics");
    cell_metric((double)bytes, "metrics_bytes");
}

/* The processor time of top and what its questions take of the server's. */
static void top_time(const struct looks *looks)
{
    struct cpu_servers servers;
    double top_ns, server_ns;
    pid_t top = top_start(looks, TOP_S);

    cpu_servers_find(&servers);
    drawings_drop(looks, clock_ns() + 1000000000u); /* its start is not measured */
    top_ns = cpu_process_ns(top);
    server_ns = cpu_servers_ns(&servers);
    drawings_drop(looks, clock_ns() + TOP_NS);
    cell_metric((cpu_process_ns(top) - top_ns) / (double)TOP_NS, "top_cpu");
    cell_metric((cpu_servers_ns(&servers) - server_ns) / (double)TOP_NS, "top_server_cpu");
    gsctl_end(top, "top");
}

void row_operator(void)
{
    struct turn *turn = cell_shared(sizeof(*turn));
    struct tenants *attached = tenants_start(TENANTS, attached_body, NULL);
    struct tenants *tenant = tenants_start(1, trips_body, turn);
    struct looks looks;

    tenants_await(attached, 1);
    tenants_await(tenant, 1);
    looks_begin(&looks);
    cell_metric(TENANTS, "tenants");
    /* What takes longest comes last: a run with little time left has the others. */
    looks_time(&looks);
    top_time(&looks);
    turns_run(&looks, tenant, turn);
    tenants_join(tenant);
    looks_end(&looks);
    tenants_go(attached, 1);
    tenants_join(attached);
}
