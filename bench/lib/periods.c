/* periods.c - see periods.h. */
#include "lib/periods.h"

#include <math.h>
#include <stdlib.h>

#define DRAWS 400 /* of the bootstrap: the error is right to 1 / sqrt(2 * 400) of itself */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

void periods_sort(struct period *periods, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (int part = 0; part < PERIOD_PARTS; part++) {
            const struct samples *samples = &periods[i].part[part];

            if (samples->count > 1)
                qsort(samples->at, samples->count, sizeof(*samples->at), compare);
        }
    }
}

/* How many of the samples are at most that long. */
static size_t samples_up_to(const struct samples *samples, uint32_t value)
{
    size_t low = 0, high = samples->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (samples->at[middle] <= value)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* In the parts of the mask, each period counted so often; times NULL: once. */
static uint64_t counted_up_to(const struct period *periods, const unsigned *times, size_t count,
                              unsigned parts, uint32_t value)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < count; i++) {
        uint64_t weight = times != NULL ? times[i] : 1;

        for (int part = 0; part < PERIOD_PARTS && weight != 0; part++) {
            if (parts & 1u << part)
                sum += weight * samples_up_to(&periods[i].part[part], value);
        }
    }
    return sum;
}

/* The smallest value that at least p percent of the samples do not exceed. */
static double percentile(const struct period *periods, const unsigned *times, size_t count,
                         unsigned parts, double p)
{
    uint64_t all = counted_up_to(periods, times, count, parts, UINT32_MAX);
    double rank = ceil(p * (double)all / 100.0);
    uint32_t low = 0, high = UINT32_MAX;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if ((double)counted_up_to(periods, times, count, parts, middle) >= rank)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

double periods_percentile(const struct period *periods, size_t count, unsigned parts, double p)
{
    return percentile(periods, NULL, count, parts, p);
}

/* Xorshift32, by Marsaglia: the same draws in each run. */
static uint32_t random_next(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static void periods_draw(unsigned *times, size_t count, uint32_t *state)
{
    for (size_t i = 0; i < count; i++)
        times[i] = 0;
    for (size_t i = 0; i < count; i++)
        times[random_next(state) % count]++;
}

struct shift periods_shift(const struct period *periods, size_t count, unsigned with,
                           unsigned without, double p)
{
    struct shift shift = {.with = periods_percentile(periods, count, with, p),
                          .without = periods_percentile(periods, count, without, p)};
    double sum = 0, squares = 0;
    unsigned times[PERIODS_MAX] = {0};
    uint32_t state = 1;

    if (shift.without == 0)
        return shift;
    shift.more = shift.with / shift.without - 1;
    for (int i = 0; i < DRAWS; i++) {
        double more;

        periods_draw(times, count, &state);
        more = percentile(periods, times, count, with, p) /
                   percentile(periods, times, count, without, p) -
               1;
        sum += more;
        squares += more * more;
    }
    shift.error = sqrt(fmax(0, squares / DRAWS - sum / DRAWS * (sum / DRAWS)));
    return shift;
}
