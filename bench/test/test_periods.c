/*
 * test_periods.c - how far an event moves a percentile, against a table worked out by hand and
 * against samples made up with a known effect. Prints TAP; the exit status is 0 when all hold.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/periods.h"

enum { EVENT = 1, OTHERS = 2 | 4 | 8, ALL = 15 };

#define PERIODS     60
#define PART_LENGTH 2000

static int failures, number;
static uint64_t random_state = 88172645463325252u;

static void check(int holds, const char *what)
{
    printf("%s %d - %s\n", holds ? "ok" : "not ok", ++number, what);
    failures += !holds;
}

/* Evenly from 0 to 1, without 0. */
static double random_share(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 12) + 1) / 4503599627370497.0;
}

/* A round trip of 8 us and a tail. */
static double trip(void)
{
    return 8000 - 500 * log(random_share());
}

/* Samples whose speed changes from period to period by up to a fifth; of those of the event's part
 * the share `touched` is `factor` times as long. */
static struct period *periods_make(double touched, double factor)
{
    static uint32_t samples[PERIODS][PERIOD_PARTS][PART_LENGTH];
    static struct period periods[PERIODS];

    for (int i = 0; i < PERIODS; i++) {
        double speed = 0.8 + 0.4 * random_share();

        for (int part = 0; part < PERIOD_PARTS; part++) {
            periods[i].part[part] = (struct samples){samples[i][part], PART_LENGTH};
            for (int k = 0; k < PART_LENGTH; k++) {
                double length = trip() * speed;

                if (part == 0 && random_share() < touched)
                    length *= factor;
                samples[i][part][k] = (uint32_t)length;
            }
        }
    }
    periods_sort(periods, PERIODS);
    return periods;
}

static void percentile_is_the_nearest_rank_of_all_periods(void)
{
    uint32_t a[] = {90, 10, 50}, b[] = {20, 70}, c[] = {30}, d[] = {60, 40};
    struct period periods[2] = {{{{a, 3}, {b, 2}}}, {{{c, 1}, {d, 2}}}};

    periods_sort(periods, 2);
    check(periods_percentile(periods, 2, ALL, 50) == 40 &&
              periods_percentile(periods, 2, ALL, 51) == 50 &&
              periods_percentile(periods, 2, ALL, 99) == 90 &&
              periods_percentile(periods, 2, ALL, 1) == 10,
          "a percentile is the nearest rank's sample of all parts of all periods");
    check(periods_percentile(periods, 2, EVENT, 50) == 30 &&
              periods_percentile(periods, 2, OTHERS, 50) == 40 &&
              periods_percentile(periods, 2, OTHERS, 75) == 60 &&
              periods_percentile(periods, 2, 8, 50) == 0,
          "the parts of the mask count and no others; of no samples it is 0");
}

static void no_event_moves_nothing(void)
{
    int beyond = 0;

    for (int i = 0; i < 20; i++) {
        struct shift shift = periods_shift(periods_make(0, 1), PERIODS, ALL, OTHERS, 99);

        beyond += fabs(shift.more) > 2 * shift.error;
        if (shift.error > 0.005) {
            printf("# error %g\n", shift.error);
            beyond = 99;
        }
    }
    printf("# %d of 20 beyond two errors\n", beyond);
    /* 1 is expected; 5 or more come once in 400 times. */
    check(beyond <= 4, "with no event a shift beyond two errors is as rare as the error says, and "
                       "the error small, whatever drifts");
}

static void an_event_is_seen(void)
{
    struct shift all = periods_shift(periods_make(0.3, 1.5), PERIODS, ALL, OTHERS, 99);
    struct shift some = periods_shift(periods_make(0.02, 3), PERIODS, ALL, OTHERS, 99);
    struct shift few = periods_shift(periods_make(0.001, 100), PERIODS, ALL, OTHERS, 99);

    printf("# more %g %g %g, error %g %g %g\n", all.more, some.more, few.more, all.error,
           some.error, few.error);
    check(all.more > 0.2 && all.more > 10 * all.error,
          "three tenths of a part half as long again are seen as what they are");
    check(some.more > 0.02 && some.more > 5 * some.error, "a fiftieth, three times as long, too");
    check(few.more < 0.01, "a thousandth of the samples does not move the p99, however long");
}

static void the_shift_is_of_the_two_percentiles(void)
{
    struct period *periods = periods_make(0.1, 2);
    struct shift shift = periods_shift(periods, PERIODS, ALL, OTHERS, 99);

    check(shift.with == periods_percentile(periods, PERIODS, ALL, 99) &&
              shift.without == periods_percentile(periods, PERIODS, OTHERS, 99) &&
              shift.more == shift.with / shift.without - 1,
          "the shift is the two percentiles' ratio, less one");
    shift = periods_shift(periods, PERIODS, OTHERS, OTHERS, 99);
    check(shift.more == 0 && shift.error == 0, "the same parts differ by nothing, for certain");
}

int main(void)
{
    percentile_is_the_nearest_rank_of_all_periods();
    no_event_moves_nothing();
    an_event_is_seen();
    the_shift_is_of_the_two_percentiles();
    printf("1..%d\n", number);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
