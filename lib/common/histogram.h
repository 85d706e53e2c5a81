/*
 * histogram.h - times counted in buckets: 10, 20, 50, 100 us ... 1 s, and one for all above. The
 * worker counts, the supervisor hands on, gsctl prints.
 */
#ifndef GS_COMMON_HISTOGRAM_H
#define GS_COMMON_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS 17u

/* The longest time that counts in the bucket; UINT64_MAX: the last bucket has none. */
uint64_t histogram_bound(uint32_t bucket);
/* The bucket of a time. */
uint32_t histogram_bucket(uint64_t ns);
/* The time that the given part (0 to 1) of all counts does not exceed, interpolated in its bucket.
 * 0: nothing was counted. The last bucket's bound is taken to be that of the one before. */
uint64_t histogram_quantile(const uint64_t count[HISTOGRAM_BUCKETS], double part);

#endif
