/*
 * test_worker_request_graph.c - request graphs: requests that come again go to the device as one
 * graph each, and what runs is what was asked for, in order, with the parameters of this time,
 * whatever changes between two requests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "requests_rig.h"
#include "worker/loop/round.h"

static void a_request_of_mixed_kernels_goes_as_one_graph_when_it_has_come_before(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < 100; i++) {
        request(0, REQUEST, 1000 * i);
        drain(true);
        assert_int_equal(signals, 1);
        if (i >= LEARNING)
            assert_int_equal(graph_launches, 1);
    }
    assert_int_equal(mixed_made, 1);
}

static void only_what_has_changed_is_set(void **state)
{
    (void)state;
    learn(0, REQUEST);
    request(0, REQUEST, 5);
    drain(true);
    assert_int_equal(nodes_set, REQUEST + 1);
    request(0, REQUEST, 5);
    drain(true);
    assert_int_equal(nodes_set, 1); /* the completing kernel's node, with its position */
    request(0, REQUEST - 1, 5);
    launch((REQUEST - 1) % KERNELS, 1 + (REQUEST - 1) % 2, 77);
    drain(true);
    assert_int_equal(nodes_set, 2);
    assert_int_equal(graph_launches, 1);
}

/* Requests of all lengths, also of those that are exec graphs anyhow. */
static void a_run_of_one_kernel_goes_as_one_graph_too(void **state)
{
    (void)state;
    for (uint32_t length = 2; length <= LAUNCHES_MAX; length++) {
        for (uint32_t n = 0; n < 4; n++) {
            forget();
            for (uint32_t i = 0; i < length; i++)
                launch(0, 1, n);
            drain(true);
        }
        assert_int_equal(graph_launches, 1);
        assert_int_equal(signals, 1);
    }
}

static void requests_by_turns_have_a_graph_each(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        request(i % 4, 10 + i % 4, i);
        drain(true);
        if (i >= 4 * (LEARNING - 1))
            assert_int_equal(graph_launches, 1);
    }
    assert_int_equal(mixed_made, 4);
    assert_int_equal(signals, 1);
}

/* Otherwise each request would cost the making of a graph. */
static void more_by_turns_than_are_remembered_have_none(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 60; i++) {
        request(i % 2, 10 + i % 6, i);
        drain(true);
    }
    assert_int_equal(mixed_made, 0);
}

static void the_least_recently_used_gives_way(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 4; i++)
        learn(0, 10 + i);
    request(0, 10, 1);
    drain(true);
    assert_int_equal(graph_launches, 1);
    learn(0, 20); /* for the one of 11 */
    assert_int_equal(mixed_made, 5);
    for (uint32_t i = 0; i < 4; i++) {
        request(0, i == 1 ? 20 : 10 + i, 1);
        drain(true);
        assert_int_equal(graph_launches, 1);
    }
    request(0, 11, 1);
    drain(true);
    assert_true(graph_launches > 1);
}

static void what_is_not_known_to_be_whole_is_not_remembered(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 20; i++) {
        request(0, REQUEST, i);
        drain(false);
        assert_true(graph_launches > 1);
    }
    assert_int_equal(mixed_made, 0);
}

static void a_kernel_that_was_loaded_anew_has_another_graph(void **state)
{
    (void)state;
    learn(0, REQUEST);
    kernel_load(1); /* at the same address */
    request(0, REQUEST, 9);
    drain(true);
    assert_true(graph_launches > 1);
    learn(0, REQUEST);
    assert_int_equal(mixed_made, 2);
    graph_cache_clear(stream->graph_cache);
    assert_int_equal(graphs_made, graphs_destroyed);
    learn(0, REQUEST);
}

static void a_priority_is_that_of_this_time(void **state)
{
    (void)state;
    learn(0, REQUEST);
    for (int priority = -4; priority < 0; priority++) {
        stream->priority = priority;
        for (uint32_t n = 0; n < 4; n++) {
            request(0, REQUEST, n);
            drain(true);
        }
        assert_int_equal(graph_launches, 1);
        for (uint32_t i = 0; i < ran_count; i++)
            assert_int_equal(ran[i].priority ? ran[i].priority : stream->cu_priority, priority);
    }
}

/* Each kernel runs in the partition of this time; and a partition that goes takes the graphs
 * along. */
static void a_partition_is_that_of_this_time(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t n = 0; n < 8; n++) {
            session.grant.partition = n < 4 ? NULL : &partition;
            request(0, REQUEST, n);
            drain(true);
            for (uint32_t i = 0; i < ran_count; i++)
                assert_ptr_equal(ran[i].context, n < 4 ? NULL : partition.context);
            if (n % 4 == 3)
                assert_int_equal(graph_launches, 1);
        }
        assert_true(atomic_load(&partition.graphs) > 0);
        graph_cache_evict(stream->graph_cache, &partition);
        assert_int_equal(atomic_load(&partition.graphs), 0);
    }
}

static void without_memory_for_a_graph_all_run_without(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        no_room_to_make = true;
        for (uint32_t i = 0; i < 10; i++) {
            request(round, REQUEST, i);
            drain(true);
            assert_int_equal(signals, 1);
        }
        no_room_to_make = false;
        learn(round, REQUEST);
        no_room_to_launch = true;
        for (uint32_t i = 0; i < 10; i++) {
            request(round, REQUEST, i);
            drain(true);
            assert_int_equal(signals, 1);
        }
        no_room_to_launch = false;
        learn(round, REQUEST);
    }
}

/* Whichever call is refused: nothing of the graph is left, and it is made the next time. */
static void each_call_that_makes_a_graph_may_be_refused(void **state)
{
    (void)state;
    stream->priority = PRIORITY + 1; /* so that nodes have a priority of their own */
    for (uint32_t call = 0; call < 4 * 9; call++) {
        for (uint32_t n = 0; n < LEARNING; n++) {
            calls_left = n == LEARNING - 1 ? call : UINT32_MAX;
            request(0, 5 + call % 2, n);
            drain(true);
        }
        calls_left = UINT32_MAX;
        learn(0, 5 + call % 2);
        graph_cache_clear(stream->graph_cache);
        assert_int_equal(graphs_made, graphs_destroyed);
    }
}

/* Sends any requests in any order. */
static void whatever_comes_runs_as_it_was_asked_for(void **state)
{
    (void)state;
    srand(7);
    for (uint32_t i = 0; i < 20000; i++) {
        const uint32_t dice = (uint32_t)rand() % 100;
        no_room_to_make = rand() % 10 == 0;
        no_room_to_launch = rand() % 50 == 0;
        if (dice == 0)
            kernel_load((uint32_t)rand() % KERNELS);
        if (dice == 1)
            graph_cache_evict(stream->graph_cache, &partition);
        if (dice == 2)
            session.grant.partition = rand() % 2 ? &partition : NULL;
        if (dice == 3)
            stream->priority = -(rand() % 5);
        if (dice == 4)
            kernel[rand() % KERNELS].wave_ns = rand() % 2;
        request((uint32_t)rand() % 3, 1 + (uint32_t)rand() % 4 * 9, (uint32_t)rand() % 3);
        if (rand() % 8 == 0)
            event();
        if (rand() % 8 == 0)
            launch(0, 1, 5);
        drain(rand() % 4 != 0);
        if (graph_count > GRAPHS / 2) { /* the fake driver's memory of graphs is used again */
            graph_cache_clear(stream->graph_cache);
            for (uint32_t k = 0; k < graph_count; k++)
                assert_false(graphs[k].alive);
            graph_count = 0;
        }
    }
    assert_true(mixed_made > 100);
}

/* The request is written from the ring's first record on, during the rounds that look at it. */
static void a_request_that_is_seen_at_its_begin_goes_as_one_graph(void **state)
{
    struct seg_complete *words = (struct seg_complete *)(void *)(segment + SEG_OFF_COMPLETE);

    (void)state;
    session.sched.polled = true;
    lane.polled_count = 1;
    lane.polled[0] = &session;
    domains_add(&session);
    for (uint32_t i = 0; i < 200; i++) {
        forget();
        graph_launches = signals = 0;
        for (uint32_t k = 0; k < REQUEST; k++) {
            launch(k % KERNELS, 1, i + k);
            atomic_store(&client.tail[0], tail);
            atomic_fetch_or(&client.activity, 1);
            lane.now = now += 130;
            round_look(&lane);
            round_serve(&lane);
        }
        for (uint32_t k = 0; k < 20; k++) {
            lane.now = now += 130;
            round_look(&lane);
            round_serve(&lane);
        }
        assert_int_equal(ran_count, REQUEST);
        for (uint32_t k = 0; k < REQUEST; k++)
            assert_int_equal(ran[k].parameter, i + k);
        assert_int_equal(last_signal, tail);
        if (i > 10) {
            assert_int_equal(graph_launches, 1);
            assert_int_equal(signals, 1);
        }
        inflight_settle(stream->inflight);
        atomic_store(&words->position[0], tail);
        now += 10000;
    }
    assert_int_equal(mixed_made, 1);
    headroom_remove(&lane.headroom, &session.sched.headroom);
    lane.polled_count = 0;
    domains_remove(&session);
}

/* Each kernel met a neighbour's at first, and was thought to take 300 us: no more than the first
 * seven of 20 fit in 2 ms. */
static void kernels_that_took_long_once_do_not_cut_requests_for_good(void **state)
{
    struct seg_complete *words = (struct seg_complete *)(void *)(segment + SEG_OFF_COMPLETE);
    uint32_t parts = 0;

    (void)state;
    session.sched.polled = true;
    lane.polled_count = 1;
    lane.polled[0] = &session;
    domains_add(&session);
    for (uint32_t i = 0; i < KERNELS; i++)
        kernel[i].wave_ns = 300000;
    for (uint32_t i = 0; i < 50; i++) {
        request(0, REQUEST, i);
        atomic_store(&client.tail[0], tail);
        atomic_fetch_or(&client.activity, 1);
        graph_launches = 0;
        for (parts = 0; ran_count < REQUEST; parts++) {
            uint32_t before = ran_count;
            for (uint32_t k = 0; k < 20; k++) {
                lane.now = now += 130;
                round_look(&lane);
                round_serve(&lane);
            }
            now += 2000 * (ran_count - before);
            inflight_settle(stream->inflight);
            atomic_store(&words->position[0], stream->signalled);
        }
    }
    assert_int_equal(parts, 1);
    assert_int_equal(graph_launches, 1);
    headroom_remove(&lane.headroom, &session.sched.headroom);
    lane.polled_count = 0;
    domains_remove(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_request_of_mixed_kernels_goes_as_one_graph_when_it_has_come_before),
        TEST(only_what_has_changed_is_set),
        TEST(a_run_of_one_kernel_goes_as_one_graph_too),
        TEST(requests_by_turns_have_a_graph_each),
        TEST(more_by_turns_than_are_remembered_have_none),
        TEST(the_least_recently_used_gives_way),
        TEST(what_is_not_known_to_be_whole_is_not_remembered),
        TEST(a_kernel_that_was_loaded_anew_has_another_graph),
        TEST(a_priority_is_that_of_this_time),
        TEST(a_partition_is_that_of_this_time),
        TEST(without_memory_for_a_graph_all_run_without),
        TEST(each_call_that_makes_a_graph_may_be_refused),
        TEST(whatever_comes_runs_as_it_was_asked_for),
        TEST(kernels_that_took_long_once_do_not_cut_requests_for_good),
        TEST(a_request_that_is_seen_at_its_begin_goes_as_one_graph),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
