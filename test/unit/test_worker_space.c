/* test_worker_space.c - places of addresses: taken, put, found and removed, at the edges of 64 bits
 * too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/memory/space.h"

static void the_lowest_gap_that_fits_is_taken(void **state)
{
    struct space space;
    struct place *place;

    (void)state;
    space_init(&space, 0x1000, 0x1000);
    place = space_take(&space, 0x100, 1);
    assert_non_null(place);
    assert_int_equal(place->address, 0x1000);
    place = space_take(&space, 0x10, 0x200);
    assert_int_equal(place->address, 0x1200);
    place = space_take(&space, 0x80, 1); /* before the aligned place */
    assert_int_equal(place->address, 0x1100);
    space_remove(&space, space_at(&space, 0x1000));
    place = space_take(&space, 0x100, 0x100);
    assert_int_equal(place->address, 0x1000);
    assert_null(space_take(&space, 0x1000, 1));
    place = space_take(&space, 0x2000 - 0x1210, 1); /* exactly the remaining gap */
    assert_int_equal(place->address, 0x1210);
    assert_null(space_take(&space, 0x81, 1));
    space_deinit(&space);
}

static void sizes_and_alignments_that_overflow_find_no_gap(void **state)
{
    static const uint64_t sizes[] = {UINT64_MAX, UINT64_MAX - 0x100, UINT64_MAX / 2 + 1, 0x1001};
    struct space space;

    (void)state;
    space_init(&space, UINT64_MAX - 0x1FFF, 0x1000);
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        assert_null(space_take(&space, sizes[i], 1));
        assert_null(space_take(&space, sizes[i], UINT64_C(1) << 63));
    }
    assert_null(space_take(&space, 16, UINT64_C(1) << 63));
    assert_non_null(space_take(&space, 0x1000, 0x1000));
    space_deinit(&space);
}

static void spans_outside_are_found_and_nothing_is_taken_there(void **state)
{
    struct space space;

    (void)state;
    space_init(&space, 0x10000, 0x1000);
    assert_false(space_put(&space, 0x2000, 0x100, NULL));
    assert_true(space_add(&space, 0x2000, 0x100, NULL));
    assert_true(space_add(&space, 0xFFF0, 0x10, NULL)); /* up to the space */
    assert_true(space_add(&space, 0x90000, 0x100, NULL));
    assert_false(space_add(&space, 0x90080, 0x100, NULL));
    assert_int_equal(space_take(&space, 0x800, 1)->address, 0x10000);
    assert_int_equal(space_take(&space, 0x800, 1)->address, 0x10800);
    assert_null(space_take(&space, 1, 1));
    assert_int_equal(space_containing(&space, 0x2080, 0x80)->address, 0x2000);
    assert_int_equal(space_overlapping(&space, 0x11000, 0x90000)->address, 0x90000);
    space_remove(&space, space_at(&space, 0x10000));
    assert_int_equal(space_take(&space, 0x400, 0x400)->address, 0x10000);
    space_deinit(&space);
}

static void spans_that_overlap_or_leave_the_space_are_not_put(void **state)
{
    struct space space;

    (void)state;
    space_init(&space, 0x1000, 0x1000);
    assert_true(space_put(&space, 0x1400, 0x100, NULL));
    assert_false(space_put(&space, 0x1400, 0x100, NULL));
    assert_false(space_put(&space, 0x13FF, 2, NULL));
    assert_false(space_put(&space, 0x14FF, 1, NULL));
    assert_false(space_put(&space, 0x1300, 0x800, NULL));
    assert_false(space_put(&space, 0xFFF, 1, NULL));
    assert_false(space_put(&space, 0x1FFF, 2, NULL));
    assert_false(space_put(&space, 0x1800, UINT64_MAX, NULL));
    assert_true(space_put(&space, 0x13FF, 1, NULL));
    assert_true(space_put(&space, 0x1500, 1, NULL));
    assert_int_equal(space.count, 3);
    space_deinit(&space);
}

static void a_range_is_contained_whole_or_not_at_all(void **state)
{
    static const struct {
        uint64_t address, size;
        bool inside;
    } cases[] = {
        {0x1000, 0x100, true},       {0x1000, 0x101, false},
        {0x10FF, 1, true},           {0x10FF, 2, false},
        {0xFFF, 2, false},           {0x1100, 1, false},
        {0x1010, UINT64_MAX, false}, {0x1010, UINT64_MAX - 0x1010, false},
        {UINT64_MAX, 2, false},      {0, 1, false},
        {0x1050, 0xB0, true},
    };
    struct space space;

    (void)state;
    space_init(&space, 0, UINT64_MAX);
    assert_true(space_put(&space, 0x1000, 0x100, &space));
    assert_true(space_put(&space, 0x1200, 0x100, NULL));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct place *place = space_containing(&space, cases[i].address, cases[i].size);
        assert_int_equal(place != NULL, cases[i].inside);
        if (place != NULL)
            assert_ptr_equal(place->tag, &space);
    }
    assert_null(space_at(&space, 0x1001));
    assert_non_null(space_at(&space, 0x1200));
    space_deinit(&space);
}

/* Compares with a map of bytes, which cannot be wrong. */
static void random_use_agrees_with_a_map_of_bytes(void **state)
{
    enum { SIZE = 4096 };
    static unsigned char map[SIZE];
    struct space space;
    uint64_t x = 88172645463325252u;

    (void)state;
    space_init(&space, 0x10000, SIZE);
    for (unsigned i = 0; i < 20000; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        uint64_t size = 1 + (x >> 8) % 200, align = UINT64_C(1) << (x >> 20) % 7;
        if (x % 3 != 0 || space.count == 0) {
            const struct place *place = space_take(&space, size, align);
            uint64_t at = 0;

            /* The lowest place at which the map is free. */
            for (; at + size <= SIZE; at += align) {
                uint64_t n = 0;
                while (n < size && !map[at + n])
                    n++;
                if (n == size)
                    break;
            }
            assert_int_equal(place != NULL, at + size <= SIZE);
            if (place == NULL)
                continue;
            assert_int_equal(place->address, 0x10000 + at);
            for (uint64_t n = 0; n < size; n++)
                map[at + n] = 1;
        } else {
            struct place *place = &space.places[(x >> 30) % space.count];
            for (uint64_t n = 0; n < place->size; n++)
                map[place->address - 0x10000 + n] = 0;
            space_remove(&space, place);
        }
    }
    space_deinit(&space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_gap_that_fits_is_taken),
        cmocka_unit_test(sizes_and_alignments_that_overflow_find_no_gap),
        cmocka_unit_test(spans_outside_are_found_and_nothing_is_taken_there),
        cmocka_unit_test(spans_that_overlap_or_leave_the_space_are_not_put),
        cmocka_unit_test(a_range_is_contained_whole_or_not_at_all),
        cmocka_unit_test(random_use_agrees_with_a_map_of_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
