/*
 * test_stats.c - percentiles and medians against tables worked out by hand. Prints TAP; the exit
 * status is 0 when all hold.
 */
#include <stdio.h>
#include <stdlib.h>

#include "lib/stats.h"

static int failures, number;

static void check(int holds, const char *what)
{
    printf("%s %d - %s\n", holds ? "ok" : "not ok", ++number, what);
    failures += !holds;
}

static void percentile_is_the_nearest_rank(void)
{
    static const double ten[] = {15, 20, 35, 40, 50, 55, 60, 70, 80, 90};
    static const struct {
        size_t count;
        double p, expected;
    } rows[] = {{1, 50, 15},  {1, 99, 15},    {2, 50, 15},    {2, 51, 20},  {5, 5, 15},
                {5, 30, 20},  {5, 40, 20},    {5, 41, 35},    {5, 50, 35},  {5, 100, 50},
                {10, 50, 50}, {10, 50.1, 55}, {10, 89.9, 80}, {10, 90, 80}, {10, 90.1, 90},
                {10, 99, 90}, {10, 100, 90},  {10, 0.001, 15}};
    int all = 1;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double got = stats_percentile(ten, rows[i].count, rows[i].p);

        if (got != rows[i].expected) {
            printf("# p%g of %zu: %g, expected %g\n", rows[i].p, rows[i].count, got,
                   rows[i].expected);
            all = 0;
        }
    }
    check(all, "a percentile is the nearest rank's sample");
}

static void p99_leaves_out_one_in_a_hundred(void)
{
    static double samples[1000];
    struct summary s;

    for (int i = 0; i < 1000; i++)
        samples[i] = (i * 7919) % 1000; /* 0 to 999 in some order: 7919 is prime to 1000 */
    s = stats_summarise(samples, 1000);
    check(s.p50 == 499 && s.p99 == 989 && s.min == 0 && s.max == 999 && s.count == 1000,
          "summary of 0..999 out of order: p50 499, p99 989");
}

static void no_samples_summarise_to_zero(void)
{
    struct summary s = stats_summarise(NULL, 0);

    check(s.count == 0 && s.p50 == 0 && s.p99 == 0 && stats_median(NULL, 0) == 0,
          "no samples give zeros");
}

static void median_halves_the_middle(void)
{
    double odd[] = {9, -1, 4}, even[] = {8, 2, 1, 4}, same[] = {3, 3};

    check(stats_median(odd, 3) == 4 && stats_median(even, 4) == 3 && stats_median(same, 2) == 3,
          "the median of an even count is the mean of the two in the middle");
}

static void median_error_is_half_between_two_ranks(void)
{
    static const double doubling[] = {1, 2, 4, 8, 16, 32, 64, 128, 256};
    static double hundred[100];

    for (int i = 0; i < 100; i++)
        hundred[i] = i;
    /* (9 - 3) / 2 = 3: ranks 3 and 7; (100 - 10) / 2 = 45: ranks 45 and 56 */
    check(stats_median_error(doubling, 9) == 30 && stats_median_error(hundred, 100) == 5.5,
          "the median's error is half of what lies between the ranks sqrt(n) / 2 to either side");
    check(stats_median_error(doubling, 1) == 0 && stats_median_error(doubling, 2) == 0.5 &&
              stats_median_error(doubling, 4) == 3.5 && stats_median_error(NULL, 0) == 0,
          "of few samples it is half their range, of none 0");
}

static void mean_error_is_the_deviation_by_root_n(void)
{
    /* squares 9 + 1 + 1 + 9 = 20, by 3 and by 4: 5/3; 1 + 1 = 2, by 1 and by 2: 1 */
    static const double four[] = {2, 4, 6, 8}, two[] = {5, 7};
    double error = stats_mean_error(four, 4);

    check(error * error > 1.66666 && error * error < 1.66667 && stats_mean_error(two, 2) == 1 &&
              stats_mean_error(four, 1) == 0 && stats_mean_error(NULL, 0) == 0,
          "the mean's error is the standard deviation by the root of their number");
}

int main(void)
{
    percentile_is_the_nearest_rank();
    p99_leaves_out_one_in_a_hundred();
    no_samples_summarise_to_zero();
    median_halves_the_middle();
    median_error_is_half_between_two_ranks();
    mean_error_is_the_deviation_by_root_n();
    printf("1..%d\n", number);
    return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
