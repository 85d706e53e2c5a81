/*
 * weights.c - 2 to 16 tenants that saturate the device with kernels of 20 us to 20 ms, and how far
 * the share of the one that is furthest off is from its weight's.
 *
 * A tenant's share is the work that it gets done in 2 s, measured by what its kernels take with
 * nobody else there; parts of kernels are counted. An MPS client has no weight: it has the
 * percentage of SMs that is its weight's.
 *
 * Beside that stands what the server charged it: so a share that is off is either one that the
 * server meant to give otherwise, or one that it took for something else. Whole kernels are
 * charged, at their end, and a tenant may have three of them in 2 s. So what is read, shortly
 * before and after the 2 s, is what it was charged for each kernel that had ended; and that is
 * taken times the kernels of the 2 s.
 */
#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gsctl.h"
#include "lib/load.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define TENANTS_MAX 16
#define INTERVAL_NS 2000000000u
#define SETTLE_NS   200000000u
#define LENGTHS     4
#define LOG_MAX     16384 /* ends of runs; they take 1 ms and more */

/* Readings of the charges before and after the interval. */
#define EDGES       2
#define READINGS    3
#define READING_NS  15000000u /* from one to the next */
#define LEAD_NS     100000000u
#define CHARGES_MAX 64u
#define LAG_NS      1000000u /* from a kernel's end to its charge, and to its tenant's knowing */

/* Nanoseconds of the tenants' kernels. On the software device shorter ones do not fill it. */
static double length_of(unsigned tenant)
{
    static const double gpu[LENGTHS] = {20e3, 20e6, 200e3, 2e6};
    static const double soft[LENGTHS] = {1e6, 20e6, 2e6, 5e6};

    return (plan.facts->soft ? soft : gpu)[tenant % LENGTHS];
}

/* When a tenant's runs of kernels were known to have ended. */
struct log {
    unsigned count;
    struct {
        uint64_t ns, done; /* kernels */
    } at[LOG_MAX];
};

struct reading {
    uint64_t begin, end; /* in between */
    size_t count;
    struct charge charge[CHARGES_MAX];
};

struct contest {
    unsigned count;
    double alone_ns[LENGTHS]; /* what a kernel of that length takes */
    _Atomic uint32_t running; /* tenants of which a run has ended; a futex */
    _Atomic uint64_t from;    /* when the interval begins; 0: not all run yet */
    _Atomic uint32_t over;    /* tenants that have seen its end; and the cell */
    struct log log[TENANTS_MAX];
};

/* Every length meets every weight from 1 to 4. */
static unsigned weight_of(unsigned tenant)
{
    return 1 + (tenant / LENGTHS + tenant) % 4;
}

static unsigned weights_of_all(unsigned count)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += weight_of(i);
    return sum;
}

static void lengths_measure(struct tenant *tenant)
{
    struct contest *contest = (struct contest *)(uintptr_t)tenant->arg;
    const struct device_ops *device = device_start();
    uint64_t out = device->alloc(256);

    for (unsigned i = 0; i < LENGTHS; i++)
        contest->alone_ns[i] = load_measure(device, out, length_of(i));
}

static void log_add(struct log *log, const struct saturation *load)
{
    if (log->count == LOG_MAX)
        return;
    log->at[log->count].ns = load->done_ns;
    log->at[log->count++].done = load->done;
}

/* No tenant stops before all have seen the interval's end: the last ones would have more than their
 * share. */
static void contest_body(struct tenant *tenant)
{
    struct contest *contest = (struct contest *)(uintptr_t)tenant->arg;
    unsigned index = tenant->index, percent;
    uint64_t from = 0;
    double first = -1, last = -1;
    struct saturation load = {0};

    percent = 100 * weight_of(index) / weights_of_all(contest->count);
    const struct role role = {.weight = weight_of(index), .mps_percent = percent ? percent : 1};
    const struct device_ops *device = device_start_as(&role);
    load_wide(device, load.out = device->alloc(256), length_of(0));
    device->sync();
    tenant_arrive(tenant, 1);
    saturation_begin(&load, device, length_of(index));
    /* relaxed: numbers by themselves */
    for (bool seen = false;
         atomic_load_explicit(&contest->over, memory_order_relaxed) <= contest->count;) {
        saturation_step(&load);
        log_add(&contest->log[index], &load);
        if (!seen) {
            atomic_fetch_add_explicit(&contest->running, 1, memory_order_relaxed);
            futex_wake(&contest->running);
        }
        seen = true;
        from = atomic_load_explicit(&contest->from, memory_order_relaxed);
        if (from != 0 && first < 0 && load.done_ns > from)
            first = saturation_at(&load, from);
        if (from == 0 || last >= 0 || load.done_ns < from + INTERVAL_NS)
            continue;
        last = saturation_at(&load, from + INTERVAL_NS);
        atomic_fetch_add_explicit(&contest->over, 1, memory_order_relaxed);
    }
    tenant->value[0] = last - first;
    saturation_end(&load);
}

/* ---- Charges --------------------------------------------------------------------------------- */

static void edge_read(struct reading readings[READINGS], uint64_t ns)
{
    for (unsigned i = 0; i < READINGS; i++) {
        struct reading *r = &readings[i];

        cell_sleep_until(ns + i * READING_NS);
        r->begin = clock_ns();
        r->count = charges_read(r->charge, CHARGES_MAX);
        r->end = clock_ns();
    }
}

static double charged_of(const struct reading *reading, pid_t pid)
{
    for (size_t i = 0; i < reading->count; i++) {
        if (reading->charge[i].pid == pid)
            return (double)reading->charge[i].gpu_ns;
    }
    cell_fail("gsctl ps --json does not tell of process %d", (int)pid);
}

/* Kernels that had ended at the reading. False: a kernel may have ended just then, since its tenant
 * learns of the end late, by the 128th of its wait or a little more. */
static bool ended_at(const struct log *log, const struct reading *reading, double *ended)
{
    uint64_t middle = reading->begin + (reading->end - reading->begin) / 2, former = 0;
    bool sure = true;

    *ended = 0;
    for (unsigned i = 0; i < log->count; i++) {
        uint64_t ns = log->at[i].ns, waited = i > 0 ? ns - former : 0;

        if (ns <= middle)
            *ended = (double)log->at[i].done;
        if (ns - waited / 100 - LAG_NS <= reading->end && ns + LAG_NS >= reading->begin)
            sure = false;
        former = ns;
    }
    return sure;
}

struct sum {
    double charged, ended;
    unsigned readings;
};

static void sum_add(struct sum *sum, double charged, double ended)
{
    sum->charged += charged;
    sum->ended += ended;
    sum->readings++;
}

/* The sum over the readings that are sure. Where none is, as with short kernels, it is over all
 * readings: so many kernels have ended then that a run more or less does not matter. */
static struct sum edge_sum(const struct reading readings[READINGS], const struct log *log,
                           pid_t pid)
{
    struct sum sure = {0}, all = {0};

    for (unsigned i = 0; i < READINGS; i++) {
        double charged = charged_of(&readings[i], pid), ended;

        if (ended_at(log, &readings[i], &ended))
            sum_add(&sure, charged, ended);
        sum_add(&all, charged, ended);
    }
    return sure.readings > 0 ? sure : all;
}

/* Nanoseconds for each kernel; 0: none ended in between, or too many to note. */
static double charge_of_kernel(const struct reading readings[EDGES][READINGS],
                               const struct log *log, pid_t pid)
{
    double charged[EDGES], ended[EDGES];

    for (int edge = 0; edge < EDGES; edge++) {
        struct sum sum = edge_sum(readings[edge], log, pid);

        charged[edge] = sum.charged / sum.readings;
        ended[edge] = sum.ended / sum.readings;
    }
    if (log->count == LOG_MAX || ended[1] <= ended[0])
        return 0;
    return (charged[1] - charged[0]) / (ended[1] - ended[0]);
}

/* ---- The contest ----------------------------------------------------------------------------- */

/* Begins the measured interval when all run, and ends it. */
static void interval_run(struct contest *contest, struct tenants *group,
                         struct reading readings[EDGES][READINGS])
{
    uint32_t running;
    uint64_t from;

    while ((running = atomic_load_explicit(&contest->running, memory_order_relaxed)) <
           group->count) {
        futex_wait(&contest->running, running, 20000000u);
        tenants_check(group);
    }
    from = clock_ns() + SETTLE_NS;
    atomic_store_explicit(&contest->from, from, memory_order_relaxed);
    if (plan.side == SIDE_GSHARE) {
        edge_read(readings[0], from - LEAD_NS);
        edge_read(readings[1], from + INTERVAL_NS);
    }
    atomic_fetch_add_explicit(&contest->over, 1, memory_order_relaxed);
}

/* Each one's share of the time; and which is furthest from its weight's. */
static void shares_tell(const double *ns, unsigned count, const char *share_name,
                        const char *off_name, const char *sum_name)
{
    unsigned weights = weights_of_all(count);
    double sum = 0, furthest = 0;

    for (unsigned i = 0; i < count; i++)
        sum += ns[i];
    for (unsigned i = 0; i < count; i++) {
        double share = ns[i] / sum;
        double off = share / ((double)weight_of(i) / weights) - 1;

        cell_metric(share, "%s_%u_%u", share_name, count, i);
        if (off < 0)
            off = -off;
        if (off > furthest)
            furthest = off;
    }
    cell_metric(furthest, "%s_%u", off_name, count);
    cell_metric(sum / INTERVAL_NS, "%s_%u", sum_name, count);
}

static void contest_of(unsigned count, struct contest *contest)
{
    static struct reading readings[EDGES][READINGS];
    double work[TENANTS_MAX], charged[TENANTS_MAX];
    struct tenants *group;
    bool told = plan.side == SIDE_GSHARE;

    contest->count = count;
    contest->running = contest->over = 0;
    contest->from = 0;
    for (unsigned i = 0; i < count; i++)
        contest->log[i].count = 0;
    group = tenants_start(count, contest_body, contest);
    tenants_await(group, 1);
    tenants_go(group, 1);
    interval_run(contest, group, readings);
    tenants_join(group);
    for (unsigned i = 0; i < count; i++) {
        const struct tenant *t = &group->tenant[i];

        work[i] = t->value[0] * contest->alone_ns[i % LENGTHS];
        if (plan.side != SIDE_GSHARE)
            continue;
        charged[i] = t->value[0] * charge_of_kernel(readings, &contest->log[i], t->pid);
        told &= charged[i] > 0;
    }
    shares_tell(work, count, "share", "off", "work");
    if (told)
        shares_tell(charged, count, "share_charged", "off_charged", "charged");
    else if (plan.side == SIDE_GSHARE)
        cell_note("%u tenants: not told by time charged: one had no kernel that ended", count);
}

void row_weights(void)
{
    struct contest *contest = cell_shared(sizeof(*contest));

    load_calibrate();
    tenants_join(tenants_start(1, lengths_measure, contest));
    for (unsigned count = 2; count <= (plan.quick ? 4 : TENANTS_MAX); count *= 2)
        contest_of(count, contest);
}
