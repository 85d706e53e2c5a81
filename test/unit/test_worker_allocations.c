/*
 * test_worker_allocations.c - the table of live allocations: what is in it is found, and a change
 * moves little, however many there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/sanitizers.h"
#include "common/util.h"
#include "worker/memory/allocations.h"

#define LITTLE ((size_t)64 << 10)

/* The most bytes that one call has moved. */
static size_t moved_most;

void *memmove(void *to, const void *from, size_t bytes)
{
    unsigned char *const t = to;
    const unsigned char *const f = from;

    moved_most = bytes > moved_most ? bytes : moved_most;
    for (size_t i = 0; i < bytes; i++) {
        const size_t n = t < f ? i : bytes - 1 - i;
        ((volatile unsigned char *)t)[n] = f[n];
    }
    return to;
}

static void a_range_is_contained_whole_or_not_at_all(void **state)
{
    static const struct {
        uint64_t address, size;
        bool inside;
    } cases[] = {
        {0x1000, 0x100, true},       {0x10ff, 1, true},
        {0x1000, 0x101, false},      {0x1100, 1, false},
        {0xfff, 1, false},           {0x1200, 1, false},
        {0x1010, UINT64_MAX, false}, {0x1010, UINT64_MAX - 0x1010, false},
        {UINT64_MAX, 2, false},      {0, 1, false},
        {0x1050, 0xB0, true},
    };
    struct allocations table = {0};

    (void)state;
    assert_null(allocations_containing(&table, 0x1000, 1));
    assert_true(allocations_put(&table, 0x1000, 0x100, &table));
    assert_true(allocations_put(&table, UINT64_MAX, 1, NULL));
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct place *place = allocations_containing(&table, cases[i].address, cases[i].size);
        assert_int_equal(place != NULL, cases[i].inside);
        if (place)
            assert_ptr_equal(place->tag, &table);
    }
    assert_null(allocations_at(&table, 0x1001));
    assert_non_null(allocations_at(&table, UINT64_MAX));
    assert_false(
        allocations_put(&table, 0x2000, UINT64_MAX - 0x1fff, NULL)); /* it meets the last */
    assert_false(allocations_put(&table, 0x2000, UINT64_MAX, NULL));
    assert_false(allocations_put(&table, 0x2000, 0, NULL));
    allocations_deinit(&table);
}

/* Each place of the map is free, or has an allocation of some of the places from there on. */
static void random_use_agrees_with_a_map(void **state)
{
    enum { PLACES = 6000, STEPS = 100000 };
    static unsigned size[PLACES], owner[PLACES]; /* owner: 1 more than the first place */
    struct allocations table = {0};
    uint64_t x = 88172645463325252u;

    (void)state;
    for (unsigned i = 0; i < STEPS; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        const unsigned at = (unsigned)(x >> 20) % PLACES, wanted = 1 + (unsigned)(x >> 8) % 3;
        const struct place *in = allocations_containing(&table, 0x1000 + at, 1);

        assert_int_equal(in != NULL, owner[at] != 0);
        if (in)
            assert_int_equal(in->address, 0x1000 + owner[at] - 1);
        /* mostly filled, then mostly emptied */
        if (x % 8 < (i < STEPS / 2 ? 7 : 1)) {
            bool is_free = at + wanted <= PLACES;
            for (unsigned n = at; n < at + wanted && is_free; n++)
                is_free = !owner[n];
            if (at + wanted > PLACES)
                continue;
            assert_int_equal(allocations_put(&table, 0x1000 + at, wanted, &size[at]), is_free);
            for (unsigned n = at; n < at + wanted && is_free; n++)
                owner[n] = at + 1;
            size[at] = is_free ? wanted : size[at];
        } else {
            allocations_remove(&table, 0x1000 + at); /* nothing, where none begins there */
            for (unsigned n = at; owner[at] == at + 1 && n < at + size[at]; n++)
                owner[n] = n == at ? owner[n] : 0;
            owner[at] = owner[at] == at + 1 ? 0 : owner[at];
        }
    }
    for (unsigned at = 0; at < PLACES; at++)
        assert_int_equal(allocations_containing(&table, 0x1000 + at, 1) != NULL, owner[at] != 0);
    allocations_deinit(&table);
}

/* From the end, so that all that are there lie behind. */
static void a_change_moves_little_however_many_there_are(void **state)
{
    enum { COUNT = 200000 };
    struct allocations table = {0};

    (void)state;
    for (uint64_t i = COUNT; i > 0; i--)
        assert_true(allocations_put(&table, i * 256, 256, NULL));
    for (uint64_t i = 1; i < COUNT / 10; i++) {
        allocations_remove(&table, i * 256);
        assert_null(allocations_at(&table, i * 256));
    }
    assert_non_null(allocations_at(&table, (uint64_t)COUNT / 10 * 256));
    /* clang's address sanitizer moves by a function of its own */
    assert_in_range(moved_most, ADDRESS_SANITIZER ? 0 : 1, LITTLE);
    allocations_deinit(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_contained_whole_or_not_at_all),
        cmocka_unit_test(random_use_agrees_with_a_map),
        cmocka_unit_test(a_change_moves_little_however_many_there_are),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
