/*
 * test_worker_latency.c - how long launches wait and take, as the worker counts it, and the buckets
 * that it counts in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/histogram.h"
#include "common/link.h"
#include "worker/partition/kernel_launch.h"
#include "worker/sched/latency.h"
#include "worker/session_parts.h"

#define US UINT64_C(1000)

static struct link_stats stats;
static struct session session;
static struct latency_stamps stamps;
static struct latency_span span;

static int set(void **state)
{
    (void)state;
    memset(&stats, 0, sizeof(stats));
    memset(&session, 0, sizeof(session));
    stamps = (struct latency_stamps){0};
    span = (struct latency_span){0};
    session.stats = &stats;
    worker_begin()->policy.accounting = 1;
    return 0;
}

/* A launch whose record ends there. */
static void issue(uint64_t end, uint64_t now)
{
    latency_issued(&session, &stamps, &span, &(struct launch){.end = end}, 1, now);
}

static uint64_t counted(const struct link_histogram *h)
{
    uint64_t all = 0;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        all += h->count[i];
    return all;
}

static void a_time_counts_in_the_first_bucket_that_holds_it(void **state)
{
    (void)state;
    assert_int_equal(histogram_bucket(0), 0);
    for (uint32_t i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
        assert_int_equal(histogram_bucket(histogram_bound(i)), i);
        assert_int_equal(histogram_bucket(histogram_bound(i) + 1), i + 1);
    }
    assert_int_equal(histogram_bound(0), 10 * US);
    assert_int_equal(histogram_bound(HISTOGRAM_BUCKETS - 2), 1000000 * US);
    assert_int_equal(histogram_bucket(UINT64_MAX), HISTOGRAM_BUCKETS - 1);
}

static void a_quantile_lies_in_the_bucket_that_has_it(void **state)
{
    (void)state;
    uint64_t count[HISTOGRAM_BUCKETS] = {0};

    assert_int_equal(histogram_quantile(count, 0.5), 0);
    count[1] = 99; /* 10 to 20 us */
    count[6] = 1;  /* 0.5 to 1 ms */
    assert_in_range(histogram_quantile(count, 0.5), 15 * US, 15 * US + 100);
    assert_int_equal(histogram_quantile(count, 0.99), 20 * US);
    assert_int_equal(histogram_quantile(count, 1), 1000 * US);
    count[HISTOGRAM_BUCKETS - 1] = 1000;
    assert_int_equal(histogram_quantile(count, 0.9), 1000000 * US);
}

static void each_launch_waits_from_the_round_that_saw_it(void **state)
{
    (void)state;
    latency_seen(&stamps, 128, 1000 * US);
    latency_seen(&stamps, 128, 1300 * US); /* nothing new */
    latency_seen(&stamps, 256, 1400 * US);
    issue(64, 1450 * US);
    latency_issued(&session, &stamps, &span,
                   (struct launch[]){{.end = 128}, {.end = 192}, {.end = 256}}, 3, 1450 * US);
    assert_int_equal(stats.wait.count[histogram_bucket(450 * US)], 2);
    assert_int_equal(stats.wait.count[histogram_bucket(50 * US)], 2);
    assert_int_equal(stats.wait.sum_ns, 2 * 450 * US + 2 * 50 * US);
    assert_int_equal(counted(&stats.latency), 0);
    assert_int_equal(stats.depth, 4);
    latency_ended(&session, &span, 1600 * US);
    assert_int_equal(stats.depth, 0);
    assert_int_equal(stats.latency.count[histogram_bucket(600 * US)], 2);
    assert_int_equal(stats.latency.count[histogram_bucket(200 * US)], 2);
    assert_int_equal(stats.latency.sum_ns, 2 * 600 * US + 2 * 200 * US);
}

static void what_no_round_has_seen_before_has_not_waited(void **state)
{
    (void)state;
    issue(64, 500 * US);
    latency_seen(&stamps, 64, 600 * US);
    issue(128, 700 * US);
    latency_ended(&session, &span, 650 * US); /* before the second was seen: clocks differ */
    assert_int_equal(stats.wait.count[0], 2);
    assert_int_equal(stats.wait.sum_ns, 0);
    assert_int_equal(counted(&stats.latency), 2);
    assert_int_equal(stats.latency.sum_ns, 150 * US);
}

/* However many stamps come: no launch is lost, none waits too short, and none waits longer than it
 * did by more than a seventh of the longest wait. */
static void many_stamps_count_no_wait_too_short(void **state)
{
    (void)state;
    const uint64_t count = 1000, now = 2000 * US;
    uint64_t exact = 0;

    for (uint64_t i = 1; i <= count; i++)
        latency_seen(&stamps, i * 64, 1000 * US + i * US);
    for (uint64_t i = 1; i <= count; i++) {
        const uint64_t before = stats.wait.sum_ns, wait = now - 1000 * US - i * US;

        span = (struct latency_span){0};
        issue(i * 64, now);
        assert_in_range(stats.wait.sum_ns - before, wait, wait + 1000 * US / 7);
        exact += wait;
    }
    assert_int_equal(counted(&stats.wait), count);
    assert_in_range(stats.wait.sum_ns, exact, exact + exact / 8);
}

static void a_span_of_many_times_loses_no_launch(void **state)
{
    (void)state;
    for (uint64_t i = 1; i <= 40; i++) {
        latency_seen(&stamps, i * 64, i * 100 * US);
        issue(i * 64, i * 100 * US + 10 * US);
    }
    latency_ended(&session, &span, 5000 * US);
    assert_int_equal(counted(&stats.wait), 40);
    assert_int_equal(stats.wait.sum_ns, 40 * 10 * US);
    assert_int_equal(counted(&stats.latency), 40);
}

/* Positions that a tenant makes up cost it its own figures. */
static void stamps_that_go_back_are_left_out(void **state)
{
    (void)state;
    latency_seen(&stamps, 640, 100 * US);
    for (uint64_t i = 0; i < 100; i++)
        latency_seen(&stamps, i % 7 * 64, 200 * US);
    assert_int_equal(stamps.last - stamps.first, 1);
    issue(64, 300 * US);
    assert_int_equal(stats.wait.sum_ns, 200 * US);
}

static void nothing_counts_where_the_server_does_not_count(void **state)
{
    (void)state;
    worker_begin()->policy.accounting = 0;
    latency_seen(&stamps, 64, 100 * US);
    issue(64, 300 * US);
    latency_ended(&session, &span, 400 * US);
    assert_int_equal(counted(&stats.wait) + counted(&stats.latency), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_time_counts_in_the_first_bucket_that_holds_it, set),
        cmocka_unit_test_setup(a_quantile_lies_in_the_bucket_that_has_it, set),
        cmocka_unit_test_setup(each_launch_waits_from_the_round_that_saw_it, set),
        cmocka_unit_test_setup(what_no_round_has_seen_before_has_not_waited, set),
        cmocka_unit_test_setup(many_stamps_count_no_wait_too_short, set),
        cmocka_unit_test_setup(a_span_of_many_times_loses_no_launch, set),
        cmocka_unit_test_setup(stamps_that_go_back_are_left_out, set),
        cmocka_unit_test_setup(nothing_counts_where_the_server_does_not_count, set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
