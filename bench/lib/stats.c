/* stats.c - see stats.h. */
#include "lib/stats.h"

#include <math.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void stats_sort(double *samples, size_t count)
{
    if (count > 1)
        qsort(samples, count, sizeof(*samples), compare);
}

double stats_percentile(const double *sorted, size_t count, double p)
{
    /* p * count first: it is exact for whole numbers, so that p50 of 2 is rank 1 and not 2. */
    double rank = ceil(p * (double)count / 100.0);

    if (rank < 1)
        rank = 1;
    if (rank > (double)count)
        rank = (double)count;
    return sorted[(size_t)rank - 1];
}

struct summary stats_summarise(double *samples, size_t count)
{
    struct summary s = {.count = count};

    if (count == 0)
        return s;
    stats_sort(samples, count);
    s.min = samples[0];
    s.p50 = stats_percentile(samples, count, 50);
    s.p99 = stats_percentile(samples, count, 99);
    s.max = samples[count - 1];
    return s;
}

double stats_median(double *samples, size_t count)
{
    if (count == 0)
        return 0;
    stats_sort(samples, count);
    return count % 2 ? samples[count / 2] : (samples[count / 2 - 1] + samples[count / 2]) / 2;
}

double stats_median_error(const double *sorted, size_t count)
{
    double rank = floor(((double)count - sqrt((double)count)) / 2);
    size_t low = rank < 1 ? 1 : (size_t)rank;

    if (count == 0)
        return 0;
    return (sorted[count - low] - sorted[low - 1]) / 2;
}

double stats_mean_error(const double *samples, size_t count)
{
    double mean = 0, squares = 0;

    if (count < 2)
        return 0;
    for (size_t i = 0; i < count; i++)
        mean += samples[i] / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (samples[i] - mean) * (samples[i] - mean);
    return sqrt(squares / (double)(count - 1) / (double)count);
}
