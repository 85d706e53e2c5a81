/* rate.c - launches a second of all tenants together: pipelined (a sync after each 1,000), and each
 * with a sync of its own. */
#include <stdio.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define PIPELINE 1000

enum { MODE_PIPELINED, MODE_SYNCED, MODES };
static const char *const mode_names[MODES] = {"pipelined", "synced"};

/* Per mode: launches, first and last moment. */
enum { VALUE_COUNT, VALUE_START, VALUE_END, VALUES };

static void rate_measure(const struct device_ops *device, int batch, double *value)
{
    struct kernel_args args = {1, 2, 3, 4};
    uint64_t start = clock_ns(), now = start;
    uint64_t deadline = start + (plan.quick ? 300000000u : 1000000000u);
    double launches = 0;

    while (now < deadline) {
        for (int i = 0; i < batch; i++)
            device->launch(KERNEL_NOP, &args);
        device->sync();
        launches += batch;
        now = clock_ns();
    }
    value[VALUE_COUNT] = launches;
    value[VALUE_START] = (double)start;
    value[VALUE_END] = (double)now;
}

static void rate_body(struct tenant *tenant)
{
    const struct device_ops *device = device_start();
    struct kernel_args args = {1, 2, 3, 4};

    for (int i = 0; i < 100; i++)
        device->launch(KERNEL_NOP, &args);
    device->sync();
    for (int mode = 0; mode < MODES; mode++) {
        tenant_arrive(tenant, (uint32_t)mode + 1);
        rate_measure(device, mode == MODE_PIPELINED ? PIPELINE : 1, tenant->value + mode * VALUES);
    }
    /* All finish before any leaves: the end of a tenant is not part of it. */
    tenant_arrive(tenant, MODES + 1);
    device->close();
}

static void rate_of(unsigned count)
{
    struct tenants *group = tenants_start(count, rate_body, NULL);

    for (uint32_t step = 1; step <= MODES; step++) {
        tenants_await(group, step);
        tenants_go(group, step);
    }
    tenants_await(group, MODES + 1);
    for (int mode = 0; mode < MODES; mode++) {
        double launches = 0, first = 0, last = 0;

        for (unsigned i = 0; i < count; i++) {
            const double *value = group->tenant[i].value + mode * VALUES;

            launches += value[VALUE_COUNT];
            if (i == 0 || value[VALUE_START] < first)
                first = value[VALUE_START];
            if (value[VALUE_END] > last)
                last = value[VALUE_END];
        }
        cell_metric(launches / (last - first) * 1e9, "%s_%u", mode_names[mode], count);
    }
    tenants_go(group, MODES + 1);
    tenants_join(group);
}

void row_rate(void)
{
    if (plan.side != SIDE_SLICED)
        rate_of(1);
    if (plan.side == SIDE_NATIVE)
        return;
    rate_of(4);
    rate_of(16);
}
