/*
 * test_unfinished.c - what a fault has left unfinished is counted from a session's rings, whose
 * nonsense is not followed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/ring.h"
#include "common/unfinished.h"
#include "common/util.h"

static unsigned char *segment;

static int set(void **state)
{
    (void)state;
    segment = calloc(1, SEG_SIZE);
    return segment ? 0 : -1;
}

static int clear(void **state)
{
    (void)state;
    free(segment);
    return 0;
}

static _Atomic uint64_t *tail_of(uint32_t stream)
{
    return &((struct seg_client *)(void *)(segment + SEG_OFF_CLIENT))->tail[stream];
}

static void complete(uint32_t stream, uint64_t position)
{
    atomic_store(&((struct seg_complete *)(void *)(segment + SEG_OFF_COMPLETE))->position[stream],
                 position);
}

/* Where the next record of the stream stands. */
static uint64_t put(uint32_t stream, const void *record, uint32_t bytes, uint32_t size)
{
    const uint64_t at = atomic_load(tail_of(stream));

    memcpy(segment + SEG_OFF_RINGS + (size_t)stream * SEG_RING_BYTES + ring_offset(at), record,
           bytes);
    atomic_store(tail_of(stream), at + size);
    return at;
}

static uint64_t put_launch(uint32_t stream, uint32_t kernel)
{
    const struct rec_launch r = {.h = {.op = REC_LAUNCH, .size = 128}, .kernel = kernel};

    return put(stream, &r, sizeof(r), 128);
}

static uint64_t put_copy(uint32_t stream, uint64_t bytes)
{
    const struct rec_copy r = {.h = {.op = REC_COPY, .size = 64}, .bytes = bytes};

    return put(stream, &r, sizeof(r), 64);
}

static uint64_t put_other(uint32_t stream, uint16_t op, uint32_t size)
{
    const struct rec_header r = {.op = op, .size = size};

    return put(stream, &r, sizeof(r), size);
}

static struct seg_fault lost(void)
{
    struct seg_fault fault = {0};

    unfinished_tell(segment, &fault);
    return fault;
}

static void what_lies_behind_the_completion_words_is_lost(void **state)
{
    const struct rec_memset fill = {.h = {.op = REC_MEMSET, .size = 64}, .bytes = 5};
    const struct rec_box box = {
        .h = {.op = REC_BOX, .size = 128}, .width = 10, .height = 3, .depth = 2};
    struct seg_fault fault;

    (void)state;
    put_launch(0, 1);
    complete(0, put_launch(0, 1)); /* the first has ended */
    put_copy(0, 1000);
    put_other(0, REC_EVENT, 64);
    put_other(0, REC_GRAPH, 64);
    put(62, &fill, sizeof(fill), 64);
    put(62, &box, sizeof(box), 128);
    put_other(62, REC_GEMM, 128);
    fault = lost();
    assert_int_equal(fault.lost_launches, 3);
    assert_int_equal(fault.lost_copies, 3);
    assert_int_equal(fault.lost_bytes, 1000 + 5 + 60);
}

static void records_are_followed_across_the_end_of_the_ring(void **state)
{
    const uint64_t at = 3 * (uint64_t)SEG_RING_BYTES - 192;

    (void)state;
    atomic_store(tail_of(1), at);
    complete(1, at);
    put_launch(1, 1);
    put_other(1, REC_PAD, 64);
    put_launch(1, 1);
    assert_int_equal(lost().lost_launches, 2);
    assert_int_equal(unfinished_launches(segment, 1, at, at + 320), 2);
    assert_int_equal(unfinished_launches(segment, 1, at + 128, at + 320), 1);
}

static void nonsense_ends_the_count(void **state)
{
    static const uint32_t sizes[] = {0, 1, 32, 65, 1u << 20, UINT32_MAX, UINT32_MAX & ~63u};
    static const uint64_t words[] = {1, 63, 1024, SEG_RING_BYTES, UINT64_MAX, UINT64_MAX - 63};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct rec_launch r = {.h = {.op = REC_LAUNCH, .size = sizes[i]}};

        atomic_store(tail_of(2), 0);
        put_launch(2, 1);
        put(2, &r, sizeof(r), 64);
        put_launch(2, 1);
        assert_int_equal(lost().lost_launches, 1);
    }
    for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
        complete(2, words[i]);
        assert_int_equal(lost().lost_launches, 0);
    }
}

static void rings_full_of_work_are_counted_as_far_as_the_bound(void **state)
{
    (void)state;
    for (uint32_t stream = 0; stream < SEG_STREAMS; stream++) {
        for (uint32_t at = 0; at < SEG_RING_BYTES; at += 64)
            put_copy(stream, 1);
    }
    assert_int_equal(lost().lost_copies, 16384);
}

/* Copies before it cannot be what faulted; anything else may be. */
static void the_first_launch_is_found_behind_copies(void **state)
{
    struct rec_launch launch;
    uint64_t at = 0, launched;

    (void)state;
    put_copy(3, 1);
    put_other(3, REC_PAD, 64);
    put_other(3, REC_HOST, 64);
    assert_false(unfinished_first_launch(segment, 3, &at, atomic_load(tail_of(3)), &launch));
    launched = put_launch(3, 77);
    at = 0;
    assert_true(unfinished_first_launch(segment, 3, &at, atomic_load(tail_of(3)), &launch));
    assert_int_equal(at, launched);
    assert_int_equal(launch.kernel, 77);
    put_other(4, REC_GRAPH, 64);
    put_launch(4, 77);
    at = 0;
    assert_false(unfinished_first_launch(segment, 4, &at, atomic_load(tail_of(4)), &launch));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_lies_behind_the_completion_words_is_lost, set, clear),
        cmocka_unit_test_setup_teardown(records_are_followed_across_the_end_of_the_ring, set,
                                        clear),
        cmocka_unit_test_setup_teardown(nonsense_ends_the_count, set, clear),
        cmocka_unit_test_setup_teardown(rings_full_of_work_are_counted_as_far_as_the_bound, set,
                                        clear),
        cmocka_unit_test_setup_teardown(the_first_launch_is_found_behind_copies, set, clear),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
