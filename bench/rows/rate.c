/*
 * rate.c - launches a second of all tenants together: pipelined (a sync after each 1,000), and each
 * with a sync of its own; how long the worst tenant waits then; and the processor time that a
 * launch takes, the tenants' and the server's.
 */
#include <assert.h>
#include <string.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/cpu_time.h"
#include "lib/device.h"
#include "lib/stats.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define PIPELINE    1000
#define SAMPLES_MAX 65536 /* of a tenant's waits: the last ones */
#define MPS_TRIED   64

enum { MODE_PIPELINED, MODE_SYNCED, MODES };
static const char *const mode_names[MODES] = {"pipelined", "synced"};

/* A tenant's values in each mode: launches, first and last moment, processor time, and p50 and p99
 * of launch and sync where each launch has a sync. */
enum { VALUE_COUNT, VALUE_START, VALUE_END, VALUE_CPU, VALUE_P50, VALUE_P99, VALUES };
static_assert(MODES * VALUES <= TENANT_VALUES, "a tenant has room for both modes");

/* What the tenants of a measurement do. */
struct work {
    bool modes[MODES];
};
static const struct work both = {{true, true}}, waiting = {{[MODE_SYNCED] = true}};

/* A process has one tenant, so each tenant has samples of its own. */
static double samples[SAMPLES_MAX];

static void rate_measure(const struct device_ops *device, int batch, double *value)
{
    struct kernel_args args = {1, 2, 3, 4};
    uint64_t duration = plan.quick ? 300000000u : 1000000000u, start, now, deadline;
    size_t count = 0;
    double cpu = cpu_self_ns();

    start = now = clock_ns();
    deadline = start + duration;
    while (now < deadline) {
        uint64_t before = now;

        for (int i = 0; i < batch; i++)
            device->launch(KERNEL_NOP, &args);
        device->sync();
        now = clock_ns();
        samples[count++ % SAMPLES_MAX] = (double)(now - before);
    }
    value[VALUE_CPU] = cpu_self_ns() - cpu;
    value[VALUE_COUNT] = (double)count * batch;
    value[VALUE_START] = (double)start;
    value[VALUE_END] = (double)now;
    count = count < SAMPLES_MAX ? count : SAMPLES_MAX;
    stats_sort(samples, count);
    value[VALUE_P50] = stats_percentile(samples, count, 50);
    value[VALUE_P99] = stats_percentile(samples, count, 99);
}

/* Each mode is a step, also where it is left out. */
static void rate_body(struct tenant *tenant)
{
    const struct work *work = tenant->arg;
    const struct device_ops *device = device_start();
    struct kernel_args args = {1, 2, 3, 4};

    memset(samples, 1, sizeof(samples)); /* its pages are there before time counts */
    for (int i = 0; i < 100; i++)
        device->launch(KERNEL_NOP, &args);
    device->sync();
    for (int mode = 0; mode < MODES; mode++) {
        tenant_arrive(tenant, (uint32_t)mode + 1);
        if (work->modes[mode])
            rate_measure(device, mode == MODE_PIPELINED ? PIPELINE : 1,
                         tenant->value + mode * VALUES);
    }
    /* All tenants finish before any leaves, so that no tenant's detaching is measured. */
    tenant_arrive(tenant, MODES + 1);
    device->close();
}

/* Over the tenants that were there; NAME_N is named for the tenants that were started. */
static void mode_tell(const struct tenants *group, int mode, const struct cpu_servers *servers,
                      double server_cpu)
{
    const char *name = mode_names[mode];
    double launches = 0, first = 0, last = 0, cpu = 0, p50 = 0, p99 = 0;

    for (unsigned i = 0; i < group->count; i++) {
        const double *value = group->tenant[i].value + mode * VALUES;

        if (value[VALUE_COUNT] == 0)
            continue;
        launches += value[VALUE_COUNT];
        cpu += value[VALUE_CPU];
        if (first == 0 || value[VALUE_START] < first)
            first = value[VALUE_START];
        last = value[VALUE_END] > last ? value[VALUE_END] : last;
        p50 = value[VALUE_P50] > p50 ? value[VALUE_P50] : p50;
        p99 = value[VALUE_P99] > p99 ? value[VALUE_P99] : p99;
    }
    if (launches == 0)
        cell_fail("no tenant of %u has launched", group->count);
    cell_metric(launches / (last - first) * 1e9, "%s_%u", name, group->count);
    if (mode == MODE_SYNCED) {
        cell_metric(p50, "worst_p50_%u", group->count);
        cell_metric(p99, "worst_p99_%u", group->count);
    }
    if (servers->count > 0 || plan.side == SIDE_NATIVE || plan.side == SIDE_SLICED)
        cell_metric((cpu + server_cpu) / launches, "cpu_%s_%u", name, group->count);
    cell_metric(cpu / launches, "cpu_tenant_%s_%u", name, group->count);
    if (servers->count > 0)
        cell_metric(server_cpu / launches, "cpu_server_%s_%u", name, group->count);
}

/* Returns how many tenants were there. */
static unsigned rate_of(unsigned count, const struct work *work, bool tolerant)
{
    struct tenants *group = tenants_start(count, rate_body, work);
    struct cpu_servers servers;
    double server_cpu[MODES];
    unsigned there;

    group->tolerant = tolerant;
    tenants_await(group, 1);
    cpu_servers_find(&servers);
    for (uint32_t mode = 0; mode < MODES; mode++) {
        double before = cpu_servers_ns(&servers);

        tenants_go(group, mode + 1);
        tenants_await(group, mode + 2);
        server_cpu[mode] = cpu_servers_ns(&servers) - before;
    }
    there = tenants_await(group, MODES + 1);
    for (int mode = 0; mode < MODES; mode++) {
        if (work->modes[mode])
            mode_tell(group, mode, &servers, server_cpu[mode]);
    }
    tenants_go(group, MODES + 1);
    tenants_join(group);
    tenants_free(group);
    return there;
}

void row_rate(void)
{
    bool sliced = plan.side == SIDE_SLICED;

    if (!sliced)
        rate_of(1, &both, false);
    if (plan.side == SIDE_NATIVE)
        return;
    if (!sliced)
        rate_of(2, &both, false);
    rate_of(4, &both, false);
    if (!sliced)
        rate_of(8, &both, false);
    rate_of(16, &both, false);
}

/* MPS admits 48 clients: the others fail, and the rate is that of those who are there. */
void row_many(void)
{
    unsigned there = rate_of(MPS_TRIED, &waiting, plan.side == SIDE_MPS);

    cell_metric(there, "there_64");
    if (plan.side != SIDE_GSHARE)
        return;
    there = rate_of(256, &waiting, false);
    cell_metric(there, "there_256");
}
