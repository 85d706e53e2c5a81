/* trip.c - one tenant: how long the launch call takes, and how long a launch and its sync. */
#include "common/util.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/stats.h"
#include "rows/rows.h"

#define BURST       64 /* launches before a sync: an eighth of the ring */
#define BURSTS      300
#define WARM_UP     500
#define TRIPS       20000
#define SECONDS     4 /* at most; the software device makes fewer trips */
#define CLOCK_READS 2001

/* What reading the clock twice costs: it is in every sample. */
static double clock_cost(void)
{
    double samples[CLOCK_READS];

    for (int i = 0; i < CLOCK_READS; i++) {
        uint64_t start = clock_ns();

        samples[i] = (double)(clock_ns() - start);
    }
    return stats_median(samples, CLOCK_READS);
}

static void warm_up(const struct device_ops *device, const struct kernel_args *args)
{
    uint64_t deadline = clock_ns() + 1000000000u;

    for (int i = 0; i < WARM_UP && clock_ns() < deadline; i++) {
        device->launch(KERNEL_NOP, args);
        if (i % 8 == 7)
            device->sync();
    }
    device->sync();
}

void row_launch(void)
{
    static double samples[BURSTS * BURST];
    const struct device_ops *device = device_start();
    struct kernel_args args = {1, 2, 3, 4};
    int bursts = plan.quick ? BURSTS / 5 : BURSTS;
    uint64_t deadline = clock_ns() + SECONDS * 1000000000ull;
    double cost = clock_cost();
    size_t count = 0;

    warm_up(device, &args);
    for (int b = 0; b < bursts && clock_ns() < deadline; b++) {
        for (int i = 0; i < BURST; i++) {
            uint64_t start = clock_ns();
            double ns;

            device->launch(KERNEL_NOP, &args);
            ns = (double)(clock_ns() - start) - cost;
            samples[count++] = ns > 0 ? ns : 0;
        }
        device->sync();
    }
    cell_metric(cost, "clock");
    cell_summary(samples, count, "launch");
    device->close();
}

void row_trip(void)
{
    static double samples[TRIPS];
    const struct device_ops *device = device_start();
    struct kernel_args args = {1, 2, 3, 4};
    size_t most = plan.quick ? TRIPS / 5 : TRIPS, count = 0;
    uint64_t deadline = clock_ns() + SECONDS * 1000000000ull;

    warm_up(device, &args);
    while (count < most && clock_ns() < deadline) {
        uint64_t start = clock_ns();

        device->launch(KERNEL_NOP, &args);
        device->sync();
        samples[count++] = (double)(clock_ns() - start);
    }
    cell_summary(samples, count, "trip");
    device->close();
}
