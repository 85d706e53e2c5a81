/*
 * test_worker_request_graph_ends.c - how requests that come again signal their end: by one kernel
 * of each graph, but by more where what waits for the device, or the scheduler, needs to know
 * earlier; and that all launches are accounted for, and timed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "requests_rig.h"

/* Other classes signal their end on the way, so that what follows can go. */
static void a_whole_request_of_long_kernels_is_one_graph(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < KERNELS; i++)
        kernel[i].wave_ns = 60000;
    learn(0, REQUEST);
    request(0, REQUEST, 1);
    drain(false);
    assert_true(signals > 1);
}

/* These launches need to signal their own ends. */
static void unknown_kernels_and_deadlines_go_in_no_such_graph(void **state)
{
    (void)state;
    learn(0, REQUEST);
    kernel[2].wave_ns = 0;
    request(0, REQUEST, 1);
    drain(true);
    assert_true(signals > 1);
    kernel[2].wave_ns = 1;
    session.grant.link.deadline_ns = 1000000000;
    request(0, REQUEST, 2);
    drain(true);
    assert_int_equal(signals, REQUEST);
    session.grant.link.deadline_ns = 0;
    request(0, REQUEST, 3);
    drain(true);
    assert_int_equal(graph_launches, 1);
}

/* The kernel always comes behind a copy, or between others that are known. */
static void a_kernel_is_known_after_its_first_launch_whatever_is_before_it(void **state)
{
    (void)state;
    kernel[0].wave_ns = kernel[2].wave_ns = 0;
    for (uint32_t i = 0; i <= LEARNING; i++) {
        forget();
        wait_for_nothing();
        for (uint32_t k = 0; k < REQUEST; k++)
            launch(k % KERNELS, 1, i + k);
        drain(true);
        assert_true(kernel[0].wave_ns > 0 && kernel[2].wave_ns > 0);
    }
    assert_int_equal(graph_launches, 1);
    assert_int_equal(signals, 1);
}

/* Where several wait for the device, a kernel's time does not include that of the copies around
 * it. */
static void kernels_signal_their_ends_apart_from_copies_where_several_wait(void **state)
{
    (void)state;
    session.sched.entity.cls = stream->cls = GS_CLASS_NORMAL;
    for (unsigned waiting = 0; waiting <= 2; waiting++) {
        domain_at(0)->waiting = waiting;
        forget();
        for (uint32_t i = 0; i < 3; i++) {
            wait_for_nothing();
            wait_for_nothing();
            launch(0, 1, i);
            launch(1, 1, i);
        }
        drain(false);
        assert_int_equal(signals, waiting > 1 ? 6 : 1);
    }
}

/* Events between launches cut a request in parts. Each part is one graph, and only the last one
 * signals its end. */
static void the_parts_of_a_request_are_graphs_too(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        forget();
        for (uint32_t k = 0; k < 30; k++) {
            launch(k % KERNELS, 1, i + k);
            if (k == 7 || k == 15)
                event();
        }
        drain(true);
        assert_int_equal(signals, 1);
        if (i >= LEARNING)
            assert_int_equal(graph_launches, 3);
    }
}

/* Half of what is on the device must be known to have ended before the other half has. */
static void no_more_than_half_of_what_may_be_there_goes_without_a_signal(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10; i++) {
        forget();
        for (uint32_t k = 0; k < 60; k++) {
            launch(0, 1 + k % 2, k);
            if (k == 49)
                event();
        }
        drain(true);
        assert_true(graph_launches > 2);
    }
}

/* The scheduler goes by what the launches are, not by how they are sent. */
static void all_launches_are_accounted_for(void **state)
{
    const struct sched_allowance room = {1000, UINT64_MAX};
    struct sched_entity work[2];
    enum drained drained;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        if (i)
            learn(0, REQUEST);
        kernel[0].wave_ns = 300;
        kernel[1].wave_ns = 5000;
        kernel[2].wave_ns = 70;
        const uint64_t before = atomic_load(&stats.launches);
        request(0, REQUEST, 1);
        atomic_store(&client.tail[0], tail);
        stream->arrival.entire = i == 1;
        stream_drain(&session, 0, room, &drained);
        work[i] = session.sched.entity;
        assert_int_equal(atomic_load(&stats.launches), before + REQUEST);
        inflight_settle(stream->inflight);
    }
    assert_int_equal(work[0].launches, REQUEST);
    assert_int_equal(work[1].launches, REQUEST);
    assert_int_equal(work[0].wide, work[1].wide);
    assert_int_equal(work[0].width, work[1].width);
    assert_int_equal(work[0].launches_ns, work[1].launches_ns);
    assert_int_equal(work[0].device_ns, work[1].device_ns);
}

/* The expected time of what follows goes by the measured time, also where no kernel ever goes
 * alone: the kernels' parameters say how much they do. */
static void kernels_that_only_go_together_are_timed_anew(void **state)
{
    static const uint64_t times[] = {2000, 90000, 500, 20000};
    const struct sched_allowance room = {1000, UINT64_MAX};
    enum drained drained;

    (void)state;
    for (uint32_t i = 0; i < KERNELS; i++)
        kernel[i].wave_ns = 10000;
    for (uint32_t t = 0; t < ARRAY_SIZE(times); t++) {
        const uint64_t took = REQUEST * times[t];
        uint64_t thought = 0;
        for (uint32_t i = 0; i < 100; i++) {
            request(0, REQUEST, i);
            atomic_store(&client.tail[0], tail);
            stream->arrival.entire = true;
            stream_drain(&session, 0, room, &drained);
            thought = session.sched.entity.launches_ns;
            now += took;
            inflight_settle(stream->inflight);
        }
        assert_int_equal(mixed_made, 1);
        assert_in_range(thought, took * 9 / 10, took * 11 / 10);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_whole_request_of_long_kernels_is_one_graph),
        TEST(unknown_kernels_and_deadlines_go_in_no_such_graph),
        TEST(a_kernel_is_known_after_its_first_launch_whatever_is_before_it),
        TEST(kernels_signal_their_ends_apart_from_copies_where_several_wait),
        TEST(the_parts_of_a_request_are_graphs_too),
        TEST(no_more_than_half_of_what_may_be_there_goes_without_a_signal),
        TEST(all_launches_are_accounted_for),
        TEST(kernels_that_only_go_together_are_timed_anew),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
