/*
 * periods.h - how far an event that comes once in each period moves a percentile of what is
 * measured all the time. Pure; not for several threads.
 *
 * A period is cut into parts, in one of which the event falls. The percentile of all parts is
 * compared with that of the parts without the event, of the same periods: what changes from period
 * to period, as a machine's speed does, is in both.
 */
#ifndef GS_BENCH_PERIODS_H
#define GS_BENCH_PERIODS_H

#include <stddef.h>
#include <stdint.h>

#define PERIOD_PARTS 4
#define PERIODS_MAX  128

struct samples {
    uint32_t *at;
    size_t count;
};

struct period {
    struct samples part[PERIOD_PARTS];
};

struct shift {
    double with, without; /* the percentile */
    double more;          /* with / without - 1 */
    double error;         /* its standard error */
};

/* Sorts the samples of each part. */
void periods_sort(struct period *periods, size_t count);

/* The percentile of samples in ascending order, of all periods together, in the parts of the mask;
 * by nearest rank. 0 for no samples. */
double periods_percentile(const struct period *periods, size_t count, unsigned parts, double p);

/* The percentile with the parts of one mask, against that of another. The error is by bootstrap:
 * the deviation of `more` when as many periods are drawn at random, with repetition, from those
 * that there are. So samples of one period may depend on each other. count: PERIODS_MAX at most. */
struct shift periods_shift(const struct period *periods, size_t count, unsigned with,
                           unsigned without, double p);

#endif
