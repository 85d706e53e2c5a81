/*
 * takeover.c - how long tenants stand still when their worker or the supervisor is lost or
 * replaced: four that launch and wait all the time, one of which holds much memory, beside a
 * neighbour whose kernel faults or does not end. gshare only; with a server of its own, whose log
 * says when a standby is ready and how long the sessions have waited.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "gshare.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gsctl.h"
#include "lib/gshare_call.h"
#include "lib/server_log.h"
#include "lib/service.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define TENANTS    4
#define REPEATS    5
#define BLOCK      ((size_t)1 << 30)
#define NOWHERE    256 /* an address of nobody's */
#define BREAK_WORD 0x67736861u

struct page {
    _Atomic uint32_t stop, epoch; /* a new epoch begins with a gap of 0 */
    struct {
        _Atomic uint32_t epoch;
        _Atomic uint64_t gap_ns; /* the longest between two completions */
        _Atomic uint64_t done;   /* launches that have completed */
    } tenant[TENANTS];
    _Atomic uint32_t launched; /* harmful kernels */
    size_t blocks;             /* that the first tenant holds */
};
static struct page *page;
static struct tenants *innocents;

enum harm { HARM_FAULT, HARM_ENDLESS };

/* ---- Tenants --------------------------------------------------------------------------------- */

struct program {
    gs_session session;
    gs_kernel kernel[KERNEL_COUNT];
};

static void program_open(struct program *program, gs_on_fault on_fault)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_module module;

    params.on_fault = on_fault;
    GS(gs_attach, &params, &program->session);
    GS(gs_module_load, program->session, kernels_ptx, 0, &module);
    for (int i = 0; i < KERNEL_COUNT; i++)
        GS(gs_kernel_get, module, kernel_names[i], &program->kernel[i]);
}

static void program_launch(struct program *program, enum kernel kernel, struct kernel_args args)
{
    static const gs_launch_config config = GS_LAUNCH_CONFIG_INIT;
    void *params[] = {&args.a, &args.b, &args.c, &args.d};

    GS(gs_launch, NULL, program->kernel[kernel], &config, params);
}

static void innocent_body(struct tenant *tenant)
{
    const size_t blocks = tenant->index == 0 ? page->blocks : 1;
    const size_t size = tenant->index == 0 ? BLOCK : sizeof(uint32_t);
    struct program program;
    gs_devptr block[128];
    uint64_t last, now;
    uint32_t word;

    program_open(&program, GS_ON_FAULT_REPLAY);
    for (size_t i = 0; i < blocks; i++) {
        word = BREAK_WORD + (uint32_t)i;
        GS(gs_malloc, program.session, size, &block[i]);
        GS(gs_memcpy_htod, program.session, block[i] + size - sizeof(word), &word, sizeof(word));
    }
    tenant_arrive(tenant, 1);
    last = clock_ns();
    while (!atomic_load(&page->stop)) {
        const uint32_t epoch = atomic_load(&page->epoch);
        gs_status status;

        program_launch(&program, KERNEL_NOP, (struct kernel_args){0});
        status = gs_stream_sync(program.session, NULL);
        if (status != GS_OK)
            cell_fail("a neighbour was told %s: %s", gs_status_name(status),
                      gs_last_error_message());
        now = clock_ns();
        if (epoch != atomic_load(&page->tenant[tenant->index].epoch)) {
            atomic_store(&page->tenant[tenant->index].gap_ns, 0);
            atomic_store(&page->tenant[tenant->index].epoch, epoch);
        } else if (now - last > atomic_load(&page->tenant[tenant->index].gap_ns)) {
            atomic_store(&page->tenant[tenant->index].gap_ns, now - last);
        }
        atomic_fetch_add(&page->tenant[tenant->index].done, 1);
        last = now;
    }
    for (size_t i = 0; i < blocks; i++) {
        GS(gs_memcpy_dtoh, program.session, &word, block[i] + size - sizeof(word), sizeof(word));
        if (word != BREAK_WORD + (uint32_t)i)
            cell_fail("block %zu of a neighbour has the word %08x", i, word);
    }
    GS(gs_detach, program.session);
}

static void culprit_body(struct tenant *tenant)
{
    const enum harm *harm = tenant->arg;
    struct program program;
    gs_devptr word;

    program_open(&program, GS_ON_FAULT_INTERRUPT);
    GS(gs_malloc, program.session, sizeof(uint32_t), &word);
    tenant_arrive(tenant, 1);
    if (*harm == HARM_FAULT)
        program_launch(&program, KERNEL_ADD, (struct kernel_args){.a = NOWHERE, .d = 1});
    else
        program_launch(&program, KERNEL_CHAINS, (struct kernel_args){.a = word, .d = UINT32_MAX});
    atomic_fetch_add(&page->launched, 1);
    if (gs_stream_sync(program.session, NULL) == GS_OK)
        cell_fail("the harmful kernel did no harm");
    gs_detach(program.session);
}

/* Waits a moment; fails the cell where an innocent tenant has failed. */
static void rest(void)
{
    poll(NULL, 0, 1);
    tenants_check(innocents);
}

/* ---- The server's log ------------------------------------------------------------------------ */

/* Returns the time from the loss as the supervisor saw it, in ns. */
static double takeover_await(FILE *log)
{
    char line[512];
    double ms = 0;

    server_log_await(log, "event=takeover", line, sizeof(line), rest);
    if (sscanf(strstr(line, " ms="), " ms=%lf", &ms) != 1)
        cell_fail("the server's log has no time: %s", line);
    return ms * 1e6;
}

/* ---- What is measured ------------------------------------------------------------------------ */

static void epoch_begin(void)
{
    const uint32_t epoch = atomic_fetch_add(&page->epoch, 1) + 1;

    for (unsigned i = 0; i < TENANTS; i++) {
        while (atomic_load(&page->tenant[i].epoch) != epoch)
            rest();
    }
}

/* The longest pause of a tenant since the epoch began, once each has gone on. */
static double epoch_gap(void)
{
    uint64_t done[TENANTS], gap = 0;

    for (unsigned i = 0; i < TENANTS; i++)
        done[i] = atomic_load(&page->tenant[i].done);
    for (unsigned i = 0; i < TENANTS; i++) {
        while (atomic_load(&page->tenant[i].done) < done[i] + 2)
            rest();
        if (atomic_load(&page->tenant[i].gap_ns) > gap)
            gap = atomic_load(&page->tenant[i].gap_ns);
    }
    return (double)gap;
}

static double harm_run(FILE *log, enum harm harm, double *gap)
{
    struct tenants *culprit;
    uint32_t launched;
    double taken_up;

    server_log_standby(log, rest);
    culprit = tenants_start(1, culprit_body, &harm);
    tenants_await(culprit, 1);
    epoch_begin();
    launched = atomic_load(&page->launched);
    tenants_go(culprit, 1);
    while (atomic_load(&page->launched) == launched)
        rest();
    if (harm == HARM_ENDLESS) {
        char pid[16], said[256];

        snprintf(pid, sizeof(pid), "%d", (int)culprit->tenant[0].pid);
        gsctl_run((const char *[]){"kill", "--pid", pid, "--grace", "1", NULL}, said, sizeof(said));
    }
    taken_up = takeover_await(log);
    *gap = epoch_gap();
    tenants_join(culprit);
    return taken_up;
}

static double restart_run(FILE *log, double *gap)
{
    char said[256];
    double taken_up;

    server_log_standby(log, rest);
    epoch_begin();
    if (!gsctl_run((const char *[]){"restart-worker", NULL}, said, sizeof(said)))
        cell_fail("gsctl restart-worker failed");
    taken_up = takeover_await(log);
    *gap = epoch_gap();
    return taken_up;
}

/* Sends the signal that ends the supervisor to `pid`. Returns how long the next one has taken to
 * take its place; *supervisor: which process that is. */
static double supervisor_run(FILE *log, pid_t pid, int signal, pid_t *supervisor, double *gap)
{
    static const char text[] = "event=supervisor-replaced";
    char line[512];
    double ms = 0;
    int next = 0;

    epoch_begin();
    kill(pid, signal);
    server_log_await(log, text, line, sizeof(line), rest);
    if (sscanf(strstr(line, text), "event=supervisor-replaced supervisor=%d", &next) != 1 ||
        sscanf(strstr(line, " ms="), " ms=%lf", &ms) != 1)
        cell_fail("the server's log has no time: %s", line);
    *supervisor = next;
    *gap = epoch_gap();
    return ms * 1e6;
}

static void summary(double *seen, double *gaps, unsigned count, const char *what, size_t gib)
{
    char name[METRIC_NAME_MAX];

    snprintf(name, sizeof(name), "%s_seen_%zu", what, gib);
    cell_summary(seen, count, name);
    snprintf(name, sizeof(name), "%s_pause_%zu", what, gib);
    cell_summary(gaps, count, name);
}

static void measure(FILE *log, const struct server *server, size_t gib)
{
    const unsigned repeats = plan.quick ? 2 : REPEATS;
    double seen[REPEATS], gaps[REPEATS];
    pid_t supervisor;

    memset(page, 0, sizeof(*page));
    page->blocks = gib;
    innocents = tenants_start(TENANTS, innocent_body, NULL);
    tenants_await(innocents, 1);
    tenants_go(innocents, 1);
    for (unsigned i = 0; i < repeats; i++)
        seen[i] = harm_run(log, HARM_FAULT, &gaps[i]);
    summary(seen, gaps, repeats, "fault", gib);
    if (gib == 1) {
        for (unsigned i = 0; i < repeats; i++)
            seen[i] = harm_run(log, HARM_ENDLESS, &gaps[i]);
        summary(seen, gaps, repeats, "endless", gib);
        for (unsigned i = 0; i < repeats; i++)
            seen[i] = supervisor_run(log, server->pid, SIGUSR2, &supervisor, &gaps[i]);
        summary(seen, gaps, repeats, "upgrade", gib);
        for (unsigned i = 0; i < repeats; i++)
            seen[i] = supervisor_run(log, supervisor, SIGKILL, &supervisor, &gaps[i]);
        summary(seen, gaps, repeats, "supervisor", gib);
    }
    if (gib <= 16) {
        for (unsigned i = 0; i < repeats; i++)
            seen[i] = restart_run(log, &gaps[i]);
        summary(seen, gaps, repeats, "restart", gib);
    }
    atomic_store(&page->stop, 1);
    tenants_join(innocents);
}

void row_takeover(void)
{
    static const char *const options[] = {"--log", "debug", NULL};
    static const size_t sizes[] = {1, 16, 64};
    const size_t count = plan.facts->soft || plan.quick ? 1 : ARRAY_SIZE(sizes);
    char path[4200], text[FAILURE_TEXT_MAX];
    struct server server;
    FILE *log;

    page = cell_shared(sizeof(*page));
    snprintf(path, sizeof(path), "%s/gshared-takeover.log", plan.output);
    if (!server_start(&server, plan.gshared, plan.facts->soft ? "soft" : "cuda", options, path,
                      text, sizeof(text)))
        cell_fail("%s", text);
    log = server_log_open(path);
    for (size_t i = 0; i < count; i++)
        measure(log, &server, sizes[i]);
    fclose(log);
    if (!server_stop(&server, text, sizeof(text)))
        cell_fail("%s", text);
}
