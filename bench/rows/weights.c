/*
 * weights.c - 2 to 16 tenants that saturate the device with kernels of 20 us to 20 ms: how far is
 * the share of the one that is furthest off from its weight's?
 *
 * A tenant's share is the work that it gets done in 2 s, measured by what its kernels take with
 * nobody else there; parts of kernels are counted. An MPS client has no weight: it has the
 * percentage of SMs that is its weight's.
 */
#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/load.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define TENANTS_MAX 16
#define WINDOW_NS   2000000000u
#define SETTLE_NS   200000000u
#define LENGTHS     4

/* Nanoseconds of the tenants' kernels. On the software device shorter ones do not fill it. */
static double length_of(unsigned tenant)
{
    static const double gpu[LENGTHS] = {20e3, 20e6, 200e3, 2e6};
    static const double soft[LENGTHS] = {1e6, 20e6, 2e6, 5e6};

    return (plan.facts->soft ? soft : gpu)[tenant % LENGTHS];
}

struct contest {
    unsigned count;
    double alone_ns[LENGTHS]; /* what a kernel of that length takes */
    _Atomic uint32_t running; /* tenants of which a run has ended */
    _Atomic uint64_t from;    /* when the window begins; 0: not all run yet */
    _Atomic uint32_t over;    /* tenants that have seen its end */
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

/* Nobody stops before all have seen the window's end: who is left would have more than its share.
 */
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
         atomic_load_explicit(&contest->over, memory_order_relaxed) < contest->count;) {
        saturation_step(&load);
        if (!seen && atomic_fetch_add_explicit(&contest->running, 1, memory_order_relaxed) + 1 ==
                         contest->count)
            atomic_store_explicit(&contest->from, clock_ns() + SETTLE_NS, memory_order_relaxed);
        seen = true;
        from = atomic_load_explicit(&contest->from, memory_order_relaxed);
        if (from != 0 && first < 0 && load.done_ns > from)
            first = saturation_at(&load, from);
        if (from == 0 || last >= 0 || load.done_ns < from + WINDOW_NS)
            continue;
        last = saturation_at(&load, from + WINDOW_NS);
        atomic_fetch_add_explicit(&contest->over, 1, memory_order_relaxed);
    }
    tenant->value[0] = (last - first) * contest->alone_ns[index % LENGTHS];
    saturation_end(&load);
}

static void contest_of(unsigned count, struct contest *contest)
{
    unsigned weights = weights_of_all(count);
    struct tenants *group;
    double work = 0, furthest = 0;

    contest->count = count;
    contest->running = contest->over = 0;
    contest->from = 0;
    group = tenants_start(count, contest_body, contest);
    tenants_await(group, 1);
    tenants_go(group, 1);
    tenants_join(group);
    for (unsigned i = 0; i < count; i++)
        work += group->tenant[i].value[0];
    for (unsigned i = 0; i < count; i++) {
        double share = group->tenant[i].value[0] / work;
        double off = share / ((double)weight_of(i) / weights) - 1;

        cell_metric(share, "share_%u_%u", count, i);
        if (off < 0)
            off = -off;
        if (off > furthest)
            furthest = off;
    }
    cell_metric(furthest, "off_%u", count);
    cell_metric(work / WINDOW_NS, "work_%u", count);
}

void row_weights(void)
{
    struct contest *contest = cell_shared(sizeof(*contest));

    load_calibrate();
    tenants_join(tenants_start(1, lengths_measure, contest));
    for (unsigned count = 2; count <= (plan.quick ? 4 : TENANTS_MAX); count *= 2)
        contest_of(count, contest);
}
