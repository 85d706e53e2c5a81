/* estimate.c - see estimate.h. */
#include "worker/sched/estimate.h"

#include "worker/partition/partition.h"
#include "worker/sched/lane.h"
#include "worker/sched/schedule.h"

#define SM_THREADS 1024u /* threads that are taken to fill an SM */
/* a kernel counts as short if it is known to take at most this long */
#define SHORT_NS   50000u
#define GUESS_MOST 60000000000u /* the longest guess, so that sums do not overflow */

double estimate_waves(const uint32_t grid[3], const uint32_t block[3])
{
    double threads = (double)grid[0] * grid[1] * grid[2] * block[0] * block[1] * block[2];
    double waves = threads / ((double)worker->info.sm_count * SM_THREADS);

    return waves > 1 ? waves : 1;
}

uint64_t estimate_ns(const struct kernel *kernel, const uint32_t grid[3], const uint32_t block[3])
{
    double guess = kernel->wave_ns * estimate_waves(grid, block);

    if (kernel->wave_ns == 0)
        return SCHED_UNKNOWN_NS;
    return guess < 1 ? 1 : guess < GUESS_MOST ? (uint64_t)guess : GUESS_MOST;
}

uint32_t estimate_partition_sms(const struct partition *partition)
{
    return partition ? partition->sm_count : worker->info.sm_count;
}

uint32_t estimate_sms(const struct launch *launch)
{
    const uint32_t sms = estimate_partition_sms(launch->partition);
    const uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];

    return blocks < sms ? (uint32_t)blocks : sms;
}

uint64_t estimate_partition_width(const struct partition *partition)
{
    return partition ? (uint64_t)partition->sm_count * SCHED_WIDTH / worker->info.sm_count
                     : SCHED_WIDTH;
}

uint64_t estimate_width(const struct launch *launch)
{
    uint64_t blocks = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t capacity = (uint64_t)worker->info.sm_count * SM_THREADS;
    uint64_t most = estimate_partition_width(launch->partition);

    if (blocks >= capacity || blocks * threads >= capacity)
        return most;
    uint64_t width = blocks * threads * SCHED_WIDTH / capacity;
    return width < most ? width : most;
}

static bool known_short(const struct kernel *kernel, uint64_t ns)
{
    return kernel->wave_ns > 0 && ns <= SHORT_NS;
}

bool estimate_short(const struct launch *launch)
{
    return known_short(launch->kernel, estimate_ns(launch->kernel, launch->grid, launch->block));
}

bool estimate_light(const struct launch *launch, uint64_t ns)
{
    return known_short(launch->kernel, ns) && estimate_width(launch) * SCHED_NARROW <= SCHED_WIDTH;
}

bool estimate_fills(const struct launch *launch, uint64_t width)
{
    return 4 * width > estimate_partition_width(launch->partition);
}

bool estimate_fills_any(const struct launch *launch, uint64_t width)
{
    return estimate_fills(launch, width) && (!launch->partition || 2 * width >= SCHED_WIDTH);
}
