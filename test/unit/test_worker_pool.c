/*
 * test_worker_pool.c - the pool's streams: of each class's priority, made only where nothing waits
 * for them, and never more than the pool has room for.
 *
 * The driver is a counter. The pool lasts as long as the process, so the tests go on from one
 * another.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util.h"
#include "fake_driver.h"
#include "worker/partition/kernel_launch.h"
#include "worker/partition/partition.h"
#include "worker/sched/priority.h"
#include "worker/submit/pool.h"
#include "worker/submit/stream.h"

#define AT_START 256u
#define MOST     1024u

static const uint32_t classes[] = {GS_CLASS_BEST_EFFORT, GS_CLASS_LATENCY, GS_CLASS_NORMAL};
static unsigned made, destroyed, taken, kept;
static CUcontext current, made_in;

static CUresult context_set(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

static CUresult stream_create(CUstream *stream, unsigned int flags, int priority)
{
    (void)flags;
    (void)priority;
    *stream = (CUstream)&made;
    made_in = current;
    made++;
    return CUDA_SUCCESS;
}

static CUresult stream_destroy(CUstream stream)
{
    (void)stream;
    destroyed++;
    return CUDA_SUCCESS;
}

/* The tests leave out the room for graphs. */
static CUresult graph_create(CUgraph *graph, unsigned int flags)
{
    (void)graph;
    (void)flags;
    return CUDA_ERROR_OUT_OF_MEMORY;
}

static unsigned at_hand(void)
{
    return made - destroyed - taken + kept;
}

/* Takes a stream for this priority, in a context that has none at hand or (NULL) in the primary
 * one. Returns the stream's own priority. */
static int take_for(struct partition *context, int priority)
{
    CUstream stream;

    assert_int_equal(pool_get_stream(&stream, &priority, &context), CUDA_SUCCESS);
    assert_null(context);
    taken++;
    return priority;
}

static int take(int priority)
{
    return take_for(NULL, priority);
}

static int set(void **state)
{
    (void)state;
    fake_cu.cuStreamCreateWithPriority = stream_create;
    fake_cu.cuStreamDestroy_v2 = stream_destroy;
    fake_cu.cuGraphCreate = graph_create;
    fake_cu.cuCtxSetCurrent = context_set;
    worker_begin()->context = (CUcontext)&kept;
    worker_begin()->info.priority_lowest = 0;
    worker_begin()->info.priority_highest = -5;
    pool_init();
    return 0;
}

static void there_are_streams_of_each_class_at_the_start(void **state)
{
    (void)state;
    assert_int_equal(made, AT_START);
    for (unsigned i = 0; i < ARRAY_SIZE(classes); i++) {
        int priority = stream_priority(classes[i], 0);
        assert_int_equal(take(priority), priority);
    }
    assert_int_equal(made, AT_START);
}

static void no_priority_lifts_a_class_into_the_next(void **state)
{
    (void)state;
    for (int priority = 0; priority <= 64; priority++) {
        assert_true(stream_priority(GS_CLASS_BEST_EFFORT, priority) >
                    stream_priority(GS_CLASS_NORMAL, 0));
        assert_true(stream_priority(GS_CLASS_NORMAL, priority) >
                    stream_priority(GS_CLASS_LATENCY, 0));
    }
    for (unsigned i = 0; i < ARRAY_SIZE(classes); i++)
        assert_true(stream_priority(classes[i], 1) < stream_priority(classes[i], 0));
}

static void other_priorities_get_the_nearest(void **state)
{
    (void)state;
    assert_int_equal(take(stream_priority(GS_CLASS_LATENCY, 1)),
                     stream_priority(GS_CLASS_LATENCY, 0));
    assert_int_equal(take(stream_priority(GS_CLASS_BEST_EFFORT, -1)),
                     stream_priority(GS_CLASS_BEST_EFFORT, 0));
}

/* However many streams of a class are in use, the next ones are of its priority too, and are not
 * made when they are asked for. */
static void each_class_is_refilled(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 40; n++) {
        for (unsigned i = 0; i < ARRAY_SIZE(classes); i++) {
            int priority = stream_priority(classes[i], 0);
            unsigned before = made;
            for (unsigned some = 0; some < 8; some++)
                assert_int_equal(take(priority), priority);
            assert_int_equal(made, before);
            pool_refill();
            assert_true(at_hand() <= AT_START);
        }
    }
}

static void what_nobody_takes_is_not_made_again_and_again(void **state)
{
    (void)state;
    for (unsigned n = 0; n < 16; n++)
        pool_refill();
    unsigned before = made;
    for (unsigned n = 0; n < 16; n++)
        pool_refill();
    assert_int_equal(made, before);
    assert_true(at_hand() <= AT_START);
}

static void a_full_pool_makes_none(void **state)
{
    (void)state;
    while (take(stream_priority(GS_CLASS_LATENCY, 0)) == stream_priority(GS_CLASS_LATENCY, 0))
        ;
    while (pool_put_stream((CUstream)&made, stream_priority(GS_CLASS_NORMAL, 0), NULL))
        kept++;
    assert_int_equal(at_hand(), MOST);
    unsigned before = made;
    pool_refill();
    assert_int_equal(made, before);
    assert_int_equal(destroyed, 0);
}

/* Also where a side lane asks: its events are the primary context's. */
static void what_is_made_for_want_of_others_is_of_the_primary_context(void **state)
{
    struct partition side = {.context = (CUcontext)&taken};
    const unsigned before = made;

    (void)state;
    thread_context_set(&side);
    assert_ptr_equal(current, side.context);
    while (made == before)
        take_for(&side, stream_priority(GS_CLASS_NORMAL, 0));
    assert_ptr_equal(made_in, worker_begin()->context);
    thread_context_set(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_are_streams_of_each_class_at_the_start),
        cmocka_unit_test(no_priority_lifts_a_class_into_the_next),
        cmocka_unit_test(other_priorities_get_the_nearest),
        cmocka_unit_test(each_class_is_refilled),
        cmocka_unit_test(what_nobody_takes_is_not_made_again_and_again),
        cmocka_unit_test(a_full_pool_makes_none),
        cmocka_unit_test(what_is_made_for_want_of_others_is_of_the_primary_context),
    };
    return cmocka_run_group_tests(tests, set, NULL);
}
