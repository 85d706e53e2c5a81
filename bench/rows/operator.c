/*
 * operator.c - what it costs that an operator looks: a tenant's launch and sync while `gsctl ps
 * --watch`, `gsctl top` and scrapes of /metrics ask the server each second, and without; and how
 * long one look takes. A thousand tenants are attached, which do nothing.
 *
 * All looks fall into the first quarter of a second or so: in between gsctl is stopped by a signal.
 * The p99 of all round trips is that of a tenant that is looked at each second, and the p99 of the
 * others that of one at whom nobody looks, in the same seconds, so that a drift of the machine is
 * in both. What a quarter without looks adds to the rest tells what the machine does by itself.
 * Where gsctl was built without libmicrohttpd or ncurses, `gsctl metrics` and `gsctl top --json`
 * stand for scrapes and for top, with a note.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
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
#include "lib/periods.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define TENANTS     1000
#define WARM_UP     2000
#define TRIPS_MAX   (1u << 25)
#define LOOKS       100
#define TOP_NS      6000000000u /* in which the time of top is taken ... */
#define TOP_S       "2"         /* ... at its own interval */
#define LOOK_NS     250000000u
#define REST_NS     300000000u
#define START_NS    1500000000u  /* of ps and top, which look for the first time by themselves */
#define LOOK_CPU_NS 100000       /* no look takes less of the processor; to be continued does */
#define END_NS      10000000000u /* left for the figures and the tenants' end */
#define PERIODS     90
#define PERIODS_MIN 10

/* The parts of a period, which is longer than gsctl's second, so that a look is due whenever gsctl
 * is continued. */
enum { LOOKED_AT, REST, ALONE, REST_TOO, PARTS };
_Static_assert(PARTS == PERIOD_PARTS, "periods.h");
static const uint64_t part_ns[PARTS] = {LOOK_NS, REST_NS, LOOK_NS, REST_NS};
#define PART(part)   (1u << (part))
#define RESTS        (PART(REST) | PART(REST_TOO))
#define NOBODY_LOOKS (RESTS | PART(ALONE))
#define ALL_PARTS    (NOBODY_LOOKS | PART(LOOKED_AT))

/* ---- Tenants --------------------------------------------------------------------------------- */

static void attached_body(struct tenant *tenant)
{
    const struct device_ops *device = device_of_side();

    device->prepare();
    device->open();
    tenant_arrive(tenant, 1);
    device->close();
}

/* What the cell tells the tenant, and what it is told. The phase counts the parts of all periods
 * from 1 on: which part of which period it is. */
enum { PHASE_BEFORE = 0, PHASE_OVER = -1 };
struct trips {
    _Atomic int phase;
    size_t count;
    size_t begin[PERIODS * PARTS + 2]; /* of each phase: its first trip */
    uint32_t ns[TRIPS_MAX];
};

static void trips_body(struct tenant *tenant)
{
    struct trips *trips = *(struct trips *const *)tenant->arg;
    const struct device_ops *device = device_start();
    struct kernel_args args = {1, 2, 3, 4};
    int phase, last = PHASE_BEFORE;

    memset(trips->ns, 0, sizeof(trips->ns)); /* its pages are there before they are measured */
    for (int i = 0; i < WARM_UP / (plan.facts->soft ? 20 : 1); i++) {
        device->launch(KERNEL_NOP, &args);
        device->sync();
    }
    tenant_arrive(tenant, 1);
    while ((phase = atomic_load_explicit(&trips->phase, memory_order_relaxed)) != PHASE_OVER) {
        uint64_t start = clock_ns(), took;

        device->launch(KERNEL_NOP, &args);
        device->sync();
        took = clock_ns() - start;
        while (last != phase)
            trips->begin[++last] = trips->count;
        if (trips->count == TRIPS_MAX)
            cell_fail("more than %u round trips", TRIPS_MAX);
        trips->ns[trips->count++] = took < UINT32_MAX ? (uint32_t)took : UINT32_MAX;
    }
    trips->begin[last + 1] = trips->count;
    tenant_arrive(tenant, 2);
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

/* One of gsctl's that looks each second while it is not stopped. */
struct watcher {
    const char *name;
    pid_t pid;
    double cpu_ns;  /* when it was continued */
    unsigned looks; /* in as many periods it has looked */
};

static void watcher_stop(struct watcher *watcher)
{
    int status;

    kill(watcher->pid, SIGSTOP);
    if (waitpid(watcher->pid, &status, WUNTRACED) != watcher->pid || !WIFSTOPPED(status))
        cell_fail("gsctl %s has ended by itself, with status %#x", watcher->name, status);
    watcher->looks += cpu_process_ns(watcher->pid) - watcher->cpu_ns > LOOK_CPU_NS;
}

static void watcher_continue(struct watcher *watcher)
{
    watcher->cpu_ns = cpu_process_ns(watcher->pid);
    kill(watcher->pid, SIGCONT);
}

static void watcher_end(struct watcher *watcher, unsigned periods)
{
    watcher_continue(watcher);
    gsctl_end(watcher->pid, watcher->name);
    cell_metric(watcher->looks, "looks_%s", watcher->name);
    if (watcher->looks < periods - periods / 10)
        cell_fail("gsctl %s has looked in %u of %u periods", watcher->name, watcher->looks,
                  periods);
}

/* A wait of poll goes on with what was left of it when it was stopped; a key that says nothing ends
 * it, and top looks when its time has come. */
static void top_wake(const struct looks *looks)
{
    if (looks->top && write(looks->own_end, " ", 1) != 1)
        cell_fail("the terminal of gsctl top: %s", strerror(errno));
}

/* ---- What is measured ------------------------------------------------------------------------ */

/* As many periods as fit into the time. */
static unsigned periods_fitting(void)
{
    uint64_t period_ns = 0, now = clock_ns() + START_NS + END_NS;
    uint64_t fitting;

    for (int part = 0; part < PARTS; part++)
        period_ns += part_ns[part];
    fitting = plan.until > now ? (plan.until - now) / period_ns : 0;
    if (fitting < PERIODS_MIN)
        cell_fail("time is left for %u periods, and %u are the fewest", (unsigned)fitting,
                  PERIODS_MIN);
    return fitting < PERIODS ? (unsigned)fitting : PERIODS;
}

/* Looks in all ways in the first part of each period, at once. */
static void periods_run(const struct looks *looks, struct trips *trips, unsigned periods)
{
    static const char *const ps_args[] = {"ps", "--watch", "1", NULL};
    struct watcher ps = {"ps", gsctl_start(ps_args, looks->null, looks->null, looks->null), 0, 0};
    struct watcher top = {"top", top_start(looks, "1"), 0, 0};
    uint64_t until = clock_ns() + START_NS;
    int phase = PHASE_BEFORE;

    drawings_drop(looks, until);
    watcher_stop(&ps);
    watcher_stop(&top);
    ps.looks = top.looks = 0;
    for (unsigned i = 0; i < periods * PARTS; i++) {
        until += part_ns[i % PARTS];
        atomic_store_explicit(&trips->phase, ++phase, memory_order_relaxed);
        if (i % PARTS == LOOKED_AT) {
            size_t bytes;

            watcher_continue(&ps);
            watcher_continue(&top);
            top_wake(looks);
            metrics_look(looks, &bytes);
            drawings_drop(looks, until);
            watcher_stop(&ps);
            watcher_stop(&top);
        } else {
            cell_sleep_until(until);
        }
    }
    atomic_store_explicit(&trips->phase, PHASE_OVER, memory_order_relaxed);
    watcher_end(&ps, periods);
    watcher_end(&top, periods);
}

static void trips_compare(struct trips *trips, unsigned count)
{
    static struct period periods[PERIODS];
    struct shift looked_at, by_itself;

    for (unsigned i = 0; i < count * PARTS; i++) {
        size_t begin = trips->begin[i + 1], end = trips->begin[i + 2];

        periods[i / PARTS].part[i % PARTS] =
            (struct samples){.at = trips->ns + begin, .count = end - begin};
    }
    periods_sort(periods, count);
    if (trips->count == 0)
        cell_fail("no round trip");
    looked_at = periods_shift(periods, count, ALL_PARTS, NOBODY_LOOKS, 99);
    by_itself = periods_shift(periods, count, NOBODY_LOOKS, RESTS, 99);
    cell_metric(count, "periods");
    cell_metric((double)trips->count, "trips");
    cell_metric(periods_percentile(periods, count, NOBODY_LOOKS, 50), "alone_p50");
    cell_metric(looked_at.without, "alone_p99");
    cell_metric(periods_percentile(periods, count, ALL_PARTS, 50), "looked_p50");
    cell_metric(looked_at.with, "looked_p99");
    cell_metric(looked_at.more, "more_p99");
    cell_metric(looked_at.error, "more_p99_error");
    cell_metric(by_itself.more, "apart_p99");
    cell_metric(by_itself.error, "apart_p99_error");
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
    struct trips *trips = cell_shared(sizeof(*trips));
    struct tenants *attached = tenants_start(TENANTS, attached_body, NULL);
    struct tenants *tenant = tenants_start(1, trips_body, &trips);
    struct looks looks;
    unsigned periods;

    tenants_await(attached, 1);
    tenants_await(tenant, 1);
    looks_begin(&looks);
    cell_metric(TENANTS, "tenants");
    /* What takes longest comes last: a run with little time left has the others. */
    looks_time(&looks);
    top_time(&looks);
    periods = periods_fitting();
    tenants_go(tenant, 1);
    periods_run(&looks, trips, periods);
    tenants_await(tenant, 2);
    trips_compare(trips, periods);
    tenants_go(tenant, 2);
    tenants_join(tenant);
    looks_end(&looks);
    tenants_go(attached, 1);
    tenants_join(attached);
}
