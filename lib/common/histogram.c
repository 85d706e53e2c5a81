/* histogram.c - see histogram.h. */
#include "common/histogram.h"

#define US UINT64_C(1000)
#define MS UINT64_C(1000000)

static const uint64_t bounds[HISTOGRAM_BUCKETS] = {
    10 * US, 20 * US, 50 * US, 100 * US, 200 * US, 500 * US, 1 * MS,    2 * MS,    5 * MS,
    10 * MS, 20 * MS, 50 * MS, 100 * MS, 200 * MS, 500 * MS, 1000 * MS, UINT64_MAX};

uint64_t histogram_bound(uint32_t bucket)
{
    return bounds[bucket];
}

uint32_t histogram_bucket(uint64_t ns)
{
    uint32_t bucket = 0;

    while (ns > bounds[bucket])
        bucket++;
    return bucket;
}

uint64_t histogram_quantile(const uint64_t count[HISTOGRAM_BUCKETS], double part)
{
    double all = 0, below = 0;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        all += (double)count[i];
    for (uint32_t i = 0; i + 1 < HISTOGRAM_BUCKETS && all > 0; i++) {
        const double begin = i ? (double)bounds[i - 1] : 0, width = (double)bounds[i] - begin;

        if (below + (double)count[i] >= part * all && count[i])
            return (uint64_t)(begin + width * (part * all - below) / (double)count[i]);
        below += (double)count[i];
    }
    return all > 0 ? bounds[HISTOGRAM_BUCKETS - 2] : 0;
}
