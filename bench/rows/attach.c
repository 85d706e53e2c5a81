/*
 * attach.c - how long a process waits for a device that takes work: in a fresh process, with many
 * others attached, many at once, and (gshare) again and again in one process.
 *
 * Native: cuInit, the primary context and a stream; the driver is loaded before, as it is in a
 * program linked with it.
 */
#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/stats.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define SAMPLES_MAX 400

/* Opens the device at step 1; closes it at step 2. */
static void attach_body(struct tenant *tenant)
{
    const struct device_ops *device = device_of_side();
    uint64_t start;

    device->prepare();
    tenant_arrive(tenant, 1);
    start = clock_ns();
    device->open();
    tenant->value[0] = (double)(clock_ns() - start);
    tenant_arrive(tenant, 2);
    device->close();
}

/* One process after the other, each alone. */
static void attach_fresh(unsigned count)
{
    double samples[SAMPLES_MAX];

    for (unsigned i = 0; i < count; i++) {
        struct tenants *one = tenants_start(1, attach_body, NULL);

        tenants_go(one, 2);
        tenants_join(one);
        samples[i] = one->tenant[0].value[0];
        tenants_free(one);
    }
    cell_summary(samples, count, "fresh");
}

/* One process after the other, each staying. */
static void attach_beside(unsigned count)
{
    static struct tenants *group[SAMPLES_MAX];
    double samples[SAMPLES_MAX];

    for (unsigned i = 0; i < count; i++) {
        group[i] = tenants_start(1, attach_body, NULL);
        tenants_go(group[i], 1);
        tenants_await(group[i], 2);
        samples[i] = group[i]->tenant[0].value[0];
    }
    for (unsigned i = 0; i < count; i++) {
        tenants_go(group[i], 2);
        tenants_join(group[i]);
        tenants_free(group[i]);
    }
    cell_summary(samples, count, "beside");
}

/* All at the same moment. */
static void attach_together(unsigned count)
{
    struct tenants *group = tenants_start(count, attach_body, NULL);
    double samples[SAMPLES_MAX];

    tenants_await(group, 1);
    tenants_go(group, 1);
    tenants_await(group, 2);
    for (unsigned i = 0; i < count; i++)
        samples[i] = group->tenant[i].value[0];
    tenants_go(group, 2);
    tenants_join(group);
    cell_summary(samples, count, "together");
}

static void cycle_body(struct tenant *tenant)
{
    const struct device_ops *device = device_of_side();
    double *samples = (double *)(uintptr_t)tenant->arg;
    unsigned count = plan.quick ? 50 : 300;

    device->prepare();
    for (unsigned i = 0; i < count; i++) {
        uint64_t start = clock_ns(), end;

        device->open();
        end = clock_ns();
        device->close();
        samples[i] = (double)(end - start);
        samples[SAMPLES_MAX + i] = (double)(clock_ns() - end);
    }
    tenant->value[0] = count;
}

/* The same process again and again; and how long the end takes. */
static void attach_cycle(void)
{
    double *samples = cell_shared(2 * SAMPLES_MAX * sizeof(*samples));
    struct tenants *one = tenants_start(1, cycle_body, samples);
    size_t count;

    tenants_join(one);
    count = (size_t)one->tenant[0].value[0];
    cell_summary(samples, count, "cycle");
    cell_summary(samples + SAMPLES_MAX, count, "detach");
}

void row_attach(void)
{
    struct tenants *first = tenants_start(1, attach_body, NULL);

    /* The first client of an MPS daemon starts its server; it is not counted. */
    tenants_go(first, 2);
    tenants_join(first);
    if (plan.side != SIDE_GSHARE) {
        attach_fresh(plan.quick ? 3 : 12);
        attach_beside(plan.quick ? 3 : 8);
        return;
    }
    attach_fresh(plan.quick ? 30 : 200);
    attach_beside(plan.quick ? 20 : 100);
    attach_together(plan.quick ? 16 : 64);
    attach_cycle();
}
