/*
 * histogram.h - a histogram of times in buckets up to 10, 20, 50, 100 us ... 1 s, and one bucket
 * for all longer times. The worker counts, the supervisor passes the counts on, and gsctl prints
 * them.
 */
#ifndef GS_COMMON_HISTOGRAM_H
#define GS_COMMON_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BUCKETS 17u

/* Returns the longest time that counts in the bucket, in nanoseconds; UINT64_MAX for the last
 * one. */
uint64_t histogram_bound(uint32_t bucket);
/* Returns the bucket of a time. */
uint32_t histogram_bucket(uint64_t ns);
/* Returns the quantile `part` (0 to 1) in nanoseconds, interpolated in its bucket; 0 if nothing was
 * counted. A quantile in the last bucket is returned as the bound of the bucket before. */
uint64_t histogram_quantile(const uint64_t count[HISTOGRAM_BUCKETS], double part);

#endif
