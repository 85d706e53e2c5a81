/*
 * test_worker_dependents.c - programmatic dependent launches in a stream: which of them may begin
 * before the launch before them has ended.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "requests_rig.h"

static void kernels_end_after(bool all)
{
    for (uint32_t i = 0; i < KERNELS; i++)
        kernel[i].ends_after = all;
}

static uint32_t early_count(void)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < ran_count; i++)
        count += ran[i].early;
    return count;
}

static void in_a_request_each_but_the_first_begins_early(void **state)
{
    (void)state;
    kernels_end_after(true);
    launch_flags = REC_LAUNCH_PROGRAMMATIC;
    learn(0, REQUEST);
    assert_int_equal(early_count(), REQUEST - 1);
    assert_false(ran[0].early);
}

/* The completing node would come when such a kernel has ended, while the one before it runs. */
static void a_kernel_that_may_end_before_what_it_depends_on_waits_for_its_end(void **state)
{
    (void)state;
    kernels_end_after(true);
    kernel[1].ends_after = false;
    launch_flags = REC_LAUNCH_PROGRAMMATIC;
    learn(0, REQUEST);
    for (uint32_t i = 1; i < ran_count; i++)
        assert_int_equal(ran[i].early, ran[i].function != kernel[1].function);
}

static void the_completing_node_waits_for_the_last_kernel(void **state)
{
    const struct graph *graph;

    (void)state;
    kernels_end_after(true);
    launch_flags = REC_LAUNCH_PROGRAMMATIC;
    learn(0, REQUEST);
    graph = &graphs[graph_count - 1];
    assert_int_equal(graph->nodes, REQUEST + 1);
    assert_true(graph->node[REQUEST - 1].early);
    assert_true(graph->node[REQUEST].behind);
    assert_false(graph->node[REQUEST].early);
}

static void launches_that_did_not_ask_wait_for_the_one_before(void **state)
{
    (void)state;
    kernels_end_after(true);
    learn(0, REQUEST);
    assert_int_equal(early_count(), 0);
}

/* The graph of a request that differs by this alone is another one. */
static void a_request_goes_by_the_graph_of_what_it_asks(void **state)
{
    (void)state;
    kernels_end_after(true);
    launch_flags = REC_LAUNCH_PROGRAMMATIC;
    learn(0, REQUEST);
    launch_flags = 0;
    request(0, REQUEST, 7);
    drain(true);
    assert_int_equal(early_count(), 0);
    learn(0, REQUEST);
    assert_int_equal(early_count(), 0);
    launch_flags = REC_LAUNCH_PROGRAMMATIC;
    request(0, REQUEST, 8);
    drain(true);
    assert_int_equal(graph_launches, 1);
    assert_int_equal(early_count(), REQUEST - 1);
}

/* As graphs of eight launches, of which each waits for the one before. */
static void in_a_run_of_one_shape_those_of_a_graph_begin_early(void **state)
{
    (void)state;
    session.sched.entity.cls = stream->cls = GS_CLASS_NORMAL;
    kernels_end_after(true);
    launch_flags = REC_LAUNCH_PROGRAMMATIC;
    for (uint32_t i = 0; i < LEARNING; i++) {
        forget();
        for (uint32_t k = 0; k < 16; k++)
            launch(0, 1, i + k);
        drain(false);
    }
    assert_int_equal(graph_launches, 2);
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(ran[i].early, i % 8 != 0);
}

static void launches_of_one_partition_begin_early_there_too(void **state)
{
    (void)state;
    kernels_end_after(true);
    launch_flags = REC_LAUNCH_PROGRAMMATIC;
    session.grant.partition = &partition;
    learn(0, REQUEST);
    assert_int_equal(early_count(), REQUEST - 1);
    session.grant.partition = NULL;
}

static void a_graph_for_which_there_is_no_memory_leaves_nothing(void **state)
{
    (void)state;
    kernels_end_after(true);
    launch_flags = REC_LAUNCH_PROGRAMMATIC;
    for (uint32_t calls = 0; calls < 2 * REQUEST; calls++) {
        calls_left = calls;
        for (uint32_t i = 0; i < LEARNING; i++) {
            request(0, REQUEST, i);
            drain(true);
        }
        calls_left = UINT32_MAX;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(in_a_request_each_but_the_first_begins_early),
        TEST(a_kernel_that_may_end_before_what_it_depends_on_waits_for_its_end),
        TEST(the_completing_node_waits_for_the_last_kernel),
        TEST(launches_that_did_not_ask_wait_for_the_one_before),
        TEST(a_request_goes_by_the_graph_of_what_it_asks),
        TEST(in_a_run_of_one_shape_those_of_a_graph_begin_early),
        TEST(launches_of_one_partition_begin_early_there_too),
        TEST(a_graph_for_which_there_is_no_memory_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
