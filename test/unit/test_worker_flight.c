/*
 * test_worker_flight.c - what is known of work on the device: marks in any order of arrival, across
 * the end of their numbers, as many as a stream can have; what is charged for it, and what goes
 * without a mark.
 *
 * The device is a page of numbers that the test writes as a kernel would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "fake_marks.h"
#include "worker/flight.h"

#define MASK24 ((UINT64_C(1) << 24) - 1)

static _Alignas(64) unsigned char segment[SEG_OFF_SERVER];
static struct link_stats stats;
static struct session session;
static struct kernel kernel, *kernels[1] = {&kernel};
static struct stream *stream = &session.streams[3];

static int set(void **state)
{
    (void)state;
    if (marks_open())
        return -1;
    sched = (struct sched){0};
    stats = (struct link_stats){0};
    kernel = (struct kernel){.serial = 1};
    memset(segment, 0, sizeof(segment));
    worker.info.sm_count = 16;
    worker.policy.accounting = 1;
    session = (struct session){
        .slot = 7, .segment = segment, .stats = &stats, .kernels = kernels, .kernel_room = 1};
    stream->flight = flight_new(&session, stream);
    return stream->flight ? 0 : -1;
}

static int unset(void **state)
{
    (void)state;
    flights_leave(&session);
    free(stream->flight);
    return 0;
}

/* What the device writes at the end of what was closed last. */
static void mark(uint64_t number, uint64_t time)
{
    marks[flight_address(&session, stream) / sizeof(uint64_t)] = time << 24 | (number & MASK24);
}

static void issue(uint32_t count, uint32_t blocks)
{
    const struct launch launch = {.kernel = &kernel, .grid = {blocks, 1, 1}, .block = {1, 1, 1}};

    for (uint32_t i = 0; i < count; i++) {
        flight_issue(stream);
        flight_add(stream, &launch, 1);
    }
}

static void marks_end_what_was_closed_before_them(void **state)
{
    (void)state;
    uint64_t number[3];

    for (int i = 0; i < 3; i++) {
        issue(2, 1);
        number[i] = flight_next(stream);
        flight_close(&session, stream);
    }
    assert_int_equal(flight_count(stream), 6);
    assert_true(session.flying != 0);
    flights_poll(clock_ns());
    assert_int_equal(flight_count(stream), 6);
    mark(number[1], clock_ns());
    flights_poll(clock_ns());
    assert_int_equal(flight_count(stream), 2);
    assert_int_equal(session.sched.inflight, 2);
    mark(number[2], clock_ns());
    flights_poll(clock_ns());
    assert_int_equal(flight_count(stream), 0);
    assert_int_equal(session.sched.inflight, 0);
    assert_int_equal(session.sched.inflight_ns, 0);
    assert_int_equal(sched.device_ns, 0);
    assert_true(session.flying == 0);
    assert_true(kernel.wave_ns > 0);
}

static void a_mark_that_follows_nothing_ends_nothing(void **state)
{
    (void)state;
    flight_close(&session, stream);
    issue(1, 1);
    uint64_t number = flight_next(stream);
    flight_close(&session, stream);
    flight_close(&session, stream);
    mark(number - 1, clock_ns());
    flights_poll(clock_ns());
    assert_int_equal(flight_count(stream), 1);
    mark(flight_next(stream) - 1, clock_ns());
    flights_poll(clock_ns());
    assert_int_equal(flight_count(stream), 0);
}

static void a_full_stream_is_all_remembered_across_the_end_of_the_numbers(void **state)
{
    (void)state;
    while (flight_next(stream) != MASK24 - SCHED_STREAM_MAX / 2)
        flight_close(&session, stream);
    mark(flight_next(stream) - 1, clock_ns());
    for (uint32_t i = 0; i < SCHED_STREAM_MAX; i++) {
        issue(1, 1);
        flight_close(&session, stream);
    }
    assert_true(flight_next(stream) < MASK24 / 2);
    flights_poll(clock_ns());
    assert_int_equal(flight_count(stream), SCHED_STREAM_MAX);
    for (uint32_t left = SCHED_STREAM_MAX; left > 0; left--) {
        mark(flight_next(stream) - left, clock_ns());
        flights_poll(clock_ns());
        assert_int_equal(flight_count(stream), left - 1);
    }
}

/* A successor goes on where the last one of this number ended: what is still written there says
 * nothing of its work. */
static void a_stream_that_is_made_anew_begins_with_nothing(void **state)
{
    (void)state;
    issue(1, 1);
    mark(flight_next(stream), clock_ns());
    flight_close(&session, stream);
    flights_poll(clock_ns());
    free(stream->flight);
    stream->flight = flight_new(&session, stream);
    issue(1, 1);
    flight_close(&session, stream);
    flights_poll(clock_ns());
    assert_int_equal(flight_count(stream), 1);
    flight_settle(&session, stream);
    assert_int_equal(flight_count(stream), 0);
    assert_int_equal(session.sched.inflight, 0);
}

/* Whoever launches graphs only would else go before all others for ever. */
static void a_graph_costs_its_time_on_the_device(void **state)
{
    (void)state;
    uint64_t begun = clock_ns();

    flight_issue(stream);
    flight_add_graph(stream);
    uint64_t number = flight_next(stream);
    flight_close(&session, stream);
    assert_true(sched.device_ns > 0);
    while (clock_ns() - begun < 1000000)
        ;
    mark(number, clock_ns());
    flights_poll(clock_ns());
    assert_int_equal(sched.device_ns, 0);
    assert_true(stats.gpu_ns > 0);
    /* by_weight: 64 for weight 1 */
    assert_true(session.sched.vtime >= stats.gpu_ns * 64);
    assert_true(stats.gpu_ns <= clock_ns() - begun);
}

static void copies_cost_nothing(void **state)
{
    (void)state;
    flight_issue(stream);
    flight_add_other(stream);
    uint64_t number = flight_next(stream);
    flight_close(&session, stream);
    mark(number, clock_ns());
    flights_poll(clock_ns());
    assert_int_equal(flight_count(stream), 0);
    assert_int_equal(stats.gpu_ns, 0);
    assert_int_equal(session.sched.vtime, 0);
}

/* However its tenant falsifies its word. */
static void no_more_than_128_short_launches_go_without_a_mark(void **state)
{
    (void)state;
    const struct launch launch = {.kernel = &kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint32_t unmarked = 0;

    kernel.wave_ns = 1000;
    while (flight_may_go_unmarked(&session, stream, &launch)) {
        flight_issue(stream);
        flight_add(stream, &launch, 1);
        flight_unmarked(&session, stream);
        assert_true(++unmarked <= 128);
    }
    assert_int_equal(unmarked, 128);
    assert_int_equal(session.sched.inflight, 0);
    flight_issue(stream);
    flight_add(stream, &launch, 1);
    uint64_t number = flight_next(stream);
    flight_close(&session, stream);
    assert_false(flight_may_go_unmarked(&session, stream, &launch));
    mark(number, clock_ns());
    flights_poll(clock_ns());
    assert_true(flight_may_go_unmarked(&session, stream, &launch));
    kernel.wave_ns = 1000000;
    assert_false(flight_may_go_unmarked(&session, stream, &launch));
}

/* A kernel that waits for another session's work, say; and what is behind it in its stream. */
static void what_runs_on_and_on_is_not_waited_for(void **state)
{
    (void)state;
    const struct sched_entity other = {.waiting = true};
    uint64_t later = clock_ns() + 60000000, number;

    for (int i = 0; i < 4; i++) {
        issue(1, 1 << 20);
        number = flight_next(stream);
        flight_close(&session, stream);
    }
    flights_poll(clock_ns());
    assert_false(sched_open(&sched, &other, clock_ns()));
    flights_poll(later);
    assert_int_equal(flight_count(stream), 4);
    assert_true(session.sched.device_ns > 0);
    assert_int_equal(sched.device_ns, 0);
    assert_true(sched_open(&sched, &other, later));
    sched_class(&sched, &session.sched, GS_CLASS_LATENCY);
    sched_class(&sched, &session.sched, GS_CLASS_NORMAL);
    assert_int_equal(sched.device_ns, 0);
    mark(number - 2, clock_ns());
    flights_poll(later);
    assert_int_equal(flight_count(stream), 2);
    assert_int_equal(sched.device_ns, 0);
    mark(number, clock_ns());
    flights_poll(later);
    assert_int_equal(flight_count(stream), 0);
    assert_int_equal(session.sched.device_ns, 0);
    assert_int_equal(session.sched.overdue_ns, 0);
    assert_int_equal(sched.device_ns, 0);
}

/* A look with a clock read before the work was issued. */
static void an_end_before_its_beginning_costs_nothing(void **state)
{
    (void)state;
    uint64_t before = clock_ns() - 1000000;

    issue(1, 1);
    mark(flight_next(stream), clock_ns());
    flight_close(&session, stream);
    flights_poll(before);
    assert_int_equal(flight_count(stream), 0);
    assert_true(stats.gpu_ns < 1000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(marks_end_what_was_closed_before_them, set, unset),
        cmocka_unit_test_setup_teardown(a_mark_that_follows_nothing_ends_nothing, set, unset),
        cmocka_unit_test_setup_teardown(
            a_full_stream_is_all_remembered_across_the_end_of_the_numbers, set, unset),
        cmocka_unit_test_setup_teardown(a_stream_that_is_made_anew_begins_with_nothing, set, unset),
        cmocka_unit_test_setup_teardown(a_graph_costs_its_time_on_the_device, set, unset),
        cmocka_unit_test_setup_teardown(copies_cost_nothing, set, unset),
        cmocka_unit_test_setup_teardown(no_more_than_128_short_launches_go_without_a_mark, set,
                                        unset),
        cmocka_unit_test_setup_teardown(what_runs_on_and_on_is_not_waited_for, set, unset),
        cmocka_unit_test_setup_teardown(an_end_before_its_beginning_costs_nothing, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
