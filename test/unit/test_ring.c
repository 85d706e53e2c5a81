/* test_ring.c - arithmetic of the submission ring, across the wrap of ring and of positions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "common/ring.h"
#include "common/util.h"

#define RING ((uint64_t)SEG_RING_BYTES)

static void records_are_rounded_up_to_lines(void **state)
{
    static const struct {
        uint32_t bytes, rounded;
    } table[] = {{0, 0}, {1, 64}, {63, 64}, {64, 64}, {65, 128}, {4256, 4288}};

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        assert_int_equal(ring_round(table[i].bytes), table[i].rounded);
    assert_int_equal(
        REC_SIZE_MAX,
        launch_record_size(REC_LAUNCH_QOS | REC_LAUNCH_TIME | REC_LAUNCH_CLUSTER, 32764));
}

static void a_record_never_wraps_and_never_overtakes_what_is_incomplete(void **state)
{
    static const struct {
        uint64_t tail, complete;
        uint32_t size;
        uint32_t pad;
        bool fits;
    } table[] = {
        {0, 0, 64, 0, true},
        /* the last line of the ring, and one that just does not fit there */
        {RING - 64, RING - 64, 64, 0, true},
        {RING - 64, RING - 64, 128, 64, true},
        {RING - 4096, RING - 4096, 4160, 4096, true},
        /* full to the last byte, and one line too many */
        {RING - 64, 0, 64, 0, true},
        {RING, 0, 64, 0, false},
        {RING, 64, 64, 0, true},
        {RING + 64, 64, 64, 0, false},
        /* the padding counts */
        {RING - 64, 0, 128, 64, false},
        {RING - 64, 128, 128, 64, true},
        {RING - 64, 64, 128, 64, false},
        /* far along, and across the wrap of the position itself */
        {5 * RING - 128, 4 * RING, 256, 128, false},
        {5 * RING - 128, 4 * RING + 256, 256, 128, true},
        {UINT64_MAX - 63, UINT64_MAX - 63, 64, 0, true},
        {UINT64_MAX - 63, UINT64_MAX - 63, 128, 64, true},
        {0, UINT64_MAX - 63, 64, 0, true},
        {RING - 64, UINT64_MAX - 63, 64, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
        assert_int_equal(ring_pad(table[i].tail, table[i].size), table[i].pad);
        assert_int_equal(ring_fits(table[i].tail, table[i].complete, table[i].size), table[i].fits);
    }
}

static void offsets_follow_the_position_modulo_the_ring(void **state)
{
    (void)state;
    assert_int_equal(ring_offset(0), 0);
    assert_int_equal(ring_offset(RING - 64), RING - 64);
    assert_int_equal(ring_offset(RING), 0);
    assert_int_equal(ring_offset(UINT64_MAX - 63), RING - 64);
    assert_int_equal(ring_to_end(0), RING);
    assert_int_equal(ring_to_end(RING - 64), 64);
    assert_int_equal(ring_to_end(UINT64_MAX - 63), 64);
}

static void impossible_tails_are_told_from_possible_ones(void **state)
{
    static const struct {
        uint64_t tail, head;
        bool valid;
    } table[] = {
        {0, 0, true},
        {64, 0, true},
        {RING, 0, true},
        {RING + 64, 0, false},
        {0, 64, false}, /* backwards */
        {63, 0, false}, /* not on a line */
        {64, UINT64_MAX - 63, true},
        {RING, UINT64_MAX - 63, false},
        {UINT64_MAX, 0, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(table); i++)
        assert_int_equal(ring_tail_valid(table[i].tail, table[i].head), table[i].valid);
}

/* A producer that obeys ring_fits and ring_pads_ahead, against a consumer that completes at random:
 * no byte is given out twice, and every record lies in one piece. */
static void a_million_random_records_keep_clear_of_each_other(void **state)
{
    uint64_t start = UINT64_MAX - 40 * RING + 1; /* the positions wrap after a while */
    uint64_t tail = start, complete = start, wraps = 0;
    uint32_t random = 1;

    (void)state;
    for (unsigned i = 0; i < 1000000; i++) {
        uint64_t before = tail;
        uint32_t size;
        random = random * 1664525u + 1013904223u;
        size = (1 + (random >> 16) % (REC_SIZE_MAX / REC_ALIGN)) * REC_ALIGN;
        if (ring_pads_ahead(tail, size))
            size = ring_pad(tail, size);
        if (!ring_fits(tail, complete, size)) {
            complete += (tail - complete) / 2 / REC_ALIGN * REC_ALIGN + REC_ALIGN;
            continue;
        }
        tail += ring_pad(tail, size);
        assert_true(ring_offset(tail) + size <= RING);
        tail += size;
        assert_true(tail - complete <= RING);
        assert_true(ring_tail_valid(tail, complete));
        wraps += tail < before;
    }
    assert_int_equal(wraps, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_rounded_up_to_lines),
        cmocka_unit_test(a_record_never_wraps_and_never_overtakes_what_is_incomplete),
        cmocka_unit_test(offsets_follow_the_position_modulo_the_ring),
        cmocka_unit_test(impossible_tails_are_told_from_possible_ones),
        cmocka_unit_test(a_million_random_records_keep_clear_of_each_other),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
