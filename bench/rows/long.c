/*
 * long.c - the seed experiment: 1, 2, 4 and 16 tenants each launch one kernel of one block and one
 * thread (4 floating-point chains) that takes 45 ms alone; measures how long it takes until all are
 * done.
 */
#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/stats.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define LONG_NS     45e6
#define REPEATS     3
#define TENANTS_MAX 16

static void long_launch(const struct device_ops *device, uint64_t out, uint32_t iterations)
{
    struct kernel_args args = {out, 0, 0, iterations};

    device->launch(KERNEL_CHAINS, &args);
    device->sync();
}

/* Finds how many rounds take LONG_NS, from a kernel long enough to measure. */
static void calibrate(struct tenant *tenant)
{
    const struct device_ops *device = device_start();
    uint64_t out = device->alloc(256);
    uint32_t iterations = 1000;
    double ns = 0;

    (void)tenant;
    long_launch(device, out, iterations);
    while (ns < LONG_NS / 2 && iterations < 1u << 30) {
        uint64_t start = clock_ns();

        iterations *= 2;
        long_launch(device, out, iterations);
        ns = (double)(clock_ns() - start);
    }
    /* Once more at about the right length, which the clock's ramp and the launch no longer blur. */
    for (int i = 0; i < 2; i++) {
        uint64_t start = clock_ns();

        iterations = (uint32_t)(iterations * (LONG_NS / ns));
        long_launch(device, out, iterations);
        ns = (double)(clock_ns() - start);
    }
    plan.facts->long_iterations = iterations;
}

static void long_body(struct tenant *tenant)
{
    const struct device_ops *device = device_start();
    uint64_t out = device->alloc(256);

    long_launch(device, out, 1000);
    for (uint32_t step = 1; step <= REPEATS; step++) {
        tenant_arrive(tenant, step);
        long_launch(device, out, plan.facts->long_iterations);
        tenant->value[0] = (double)clock_ns();
    }
    tenant_arrive(tenant, REPEATS + 1);
    device->close();
}

/* From the go to the last tenant's end; the median of some times. */
static double long_of(unsigned count)
{
    struct tenants *group = tenants_start(count, long_body, NULL);
    double samples[REPEATS], result;

    tenants_await(group, 1);
    for (uint32_t step = 1; step <= REPEATS; step++) {
        double start = (double)tenants_go(group, step), end = 0;

        tenants_await(group, step + 1);
        for (unsigned i = 0; i < count; i++) {
            if (group->tenant[i].value[0] > end)
                end = group->tenant[i].value[0];
        }
        samples[step - 1] = end - start;
    }
    tenants_go(group, REPEATS + 1);
    tenants_join(group);
    result = stats_median(samples, REPEATS);
    cell_metric(result, "time_%u", count);
    return result;
}

void row_long(void)
{
    static const unsigned counts[] = {2, 4, TENANTS_MAX};
    double alone;

    if (plan.facts->long_iterations == 0)
        tenants_join(tenants_start(1, calibrate, NULL));
    cell_metric(plan.facts->long_iterations, "iterations");
    alone = long_of(1);
    for (size_t i = 0; i < ARRAY_SIZE(counts) && plan.side != SIDE_NATIVE; i++)
        cell_metric(long_of(counts[i]) / alone, "ratio_%u", counts[i]);
}
