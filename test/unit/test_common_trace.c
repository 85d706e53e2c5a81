/* test_common_trace.c - the rings of a trace segment: order, the lap of a slow reader, a reader
 * beside a producer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/trace.h"

#define BESIDE 1000000u

static struct trace_ring *ring_make(uint64_t head)
{
    struct trace_ring *ring = aligned_alloc(_Alignof(struct trace_ring), sizeof(*ring));

    assert_non_null(ring);
    memset(ring, 0, sizeof(*ring));
    atomic_store(&ring->head, head);
    return ring;
}

static void put(struct trace_ring *ring, uint64_t number)
{
    struct trace_event event = {.at_ns = number, .session = ~number, .kind = TRACE_FETCHED};

    event.v.mask[GS_SM_MASK_WORDS - 1] = number;
    trace_ring_put(ring, &event);
}

static void check(const struct trace_event *event, uint64_t number)
{
    assert_int_equal(event->at_ns, number);
    assert_int_equal(event->session, ~number);
    assert_int_equal(event->v.mask[GS_SM_MASK_WORDS - 1], number);
}

static void events_come_in_their_order_and_once(void **state)
{
    struct trace_ring *ring = ring_make(0);
    struct trace_event event;
    uint64_t next = 0, lost = 0;

    (void)state;
    assert_false(trace_ring_take(ring, &next, &event, &lost));
    for (uint64_t i = 0; i < 3 * (uint64_t)TRACE_EVENTS; i += 2) {
        put(ring, i);
        put(ring, i + 1);
        for (uint64_t k = i; k < i + 2; k++) {
            assert_true(trace_ring_take(ring, &next, &event, &lost));
            check(&event, k);
        }
        assert_false(trace_ring_take(ring, &next, &event, &lost));
    }
    assert_int_equal(lost, 0);
    free(ring);
}

/* The slot of the oldest event is the next to be written, and counts as lost. */
static void a_reader_that_was_lapped_is_told_how_many_it_has_lost(void **state)
{
    static const uint64_t written[] = {TRACE_EVENTS - 1, TRACE_EVENTS, TRACE_EVENTS + 1,
                                       5 * (uint64_t)TRACE_EVENTS + 7};

    (void)state;
    for (size_t w = 0; w < sizeof(written) / sizeof(written[0]); w++) {
        struct trace_ring *ring = ring_make(0);
        struct trace_event event;
        uint64_t next = 0, lost = 0, taken = 0;

        for (uint64_t i = 0; i < written[w]; i++)
            put(ring, i);
        while (trace_ring_take(ring, &next, &event, &lost)) {
            check(&event, lost + taken);
            taken++;
        }
        assert_int_equal(lost, written[w] - (TRACE_EVENTS - 1));
        assert_int_equal(taken, TRACE_EVENTS - 1);
        free(ring);
    }
}

/* The owner of the segment may write anything there: the producer stays within the ring, and the
 * reader ends. */
static void a_falsified_head_harms_nobody(void **state)
{
    static const uint64_t heads[] = {UINT64_MAX, UINT64_MAX - 1, 1u << 31, TRACE_EVENTS};

    (void)state;
    for (size_t h = 0; h < sizeof(heads) / sizeof(heads[0]); h++) {
        struct trace_ring *ring = ring_make(heads[h]);
        struct trace_event event;
        uint64_t next = 0, lost = 0, taken = 0;

        put(ring, 1);
        put(ring, 2);
        while (trace_ring_take(ring, &next, &event, &lost))
            taken++;
        assert_true(taken <= TRACE_EVENTS);
        free(ring);
    }
}

static void *producer(void *ring)
{
    for (uint64_t i = 0; i < BESIDE; i++)
        put(ring, i);
    return NULL;
}

static void a_reader_beside_the_producer_sees_whole_events_and_counts_the_rest(void **state)
{
    struct trace_ring *ring = ring_make(0);
    struct trace_event event;
    uint64_t next = 0, lost = 0, taken = 0;
    pthread_t thread;

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, producer, ring), 0);
    while (taken + lost < BESIDE) {
        if (!trace_ring_take(ring, &next, &event, &lost))
            continue;
        check(&event, lost + taken);
        taken++;
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(trace_ring_take(ring, &next, &event, &lost));
    assert_int_equal(taken + lost, BESIDE);
    free(ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_come_in_their_order_and_once),
        cmocka_unit_test(a_reader_that_was_lapped_is_told_how_many_it_has_lost),
        cmocka_unit_test(a_falsified_head_harms_nobody),
        cmocka_unit_test(a_reader_beside_the_producer_sees_whole_events_and_counts_the_rest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
