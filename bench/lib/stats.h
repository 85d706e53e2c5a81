/* stats.h - order statistics of samples. Pure; any thread. */
#ifndef GS_BENCH_STATS_H
#define GS_BENCH_STATS_H

#include <stddef.h>

struct summary {
    size_t count;
    double min, p50, p99, max;
};

/* Percentile p (over 0, to 100) of samples in ascending order, by nearest rank: the smallest sample
 * that at least p percent of all do not exceed. It is always one of the samples. count is not 0. */
double stats_percentile(const double *sorted, size_t count, double p);

/* Sorts the samples. */
void stats_sort(double *samples, size_t count);

/* Sorts the samples; all zero for none. */
struct summary stats_summarise(double *samples, size_t count);

/* Sorts the samples; of an even count the mean of the two in the middle, 0 for none. */
double stats_median(double *samples, size_t count);

/* The standard error of the median of samples in ascending order, whatever their distribution: how
 * many of them lie below the true median is count / 2, give or take sqrt(count) / 2 (binomial), so
 * half of what lies between the ranks that far to either side. 0 for none. */
double stats_median_error(const double *sorted, size_t count);

/* The standard error of the mean of samples; 0 for fewer than two. */
double stats_mean_error(const double *samples, size_t count);

#endif
