/*
 * test_worker_export_table.c - an export is found by its whole handle and by nothing else, however
 * many there are, until it is removed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/memory/export_table.h"

#define COUNT 5000u

static struct mem_export export[COUNT];

static uint64_t random_word(void)
{
    static uint64_t x = 88172645463325252u;

    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return x;
}

static void each_is_found_by_its_handle_alone(void **state)
{
    uint64_t handle[EXPORT_WORDS];

    (void)state;
    for (unsigned i = 0; i < COUNT; i++) {
        for (unsigned w = 0; w < EXPORT_WORDS; w++)
            export[i].handle[w] = random_word();
        exports_add(&export[i]);
    }
    for (unsigned i = 0; i < COUNT; i++)
        assert_ptr_equal(exports_find(export[i].handle), &export[i]);
    for (unsigned bit = 0; bit < 64 * EXPORT_WORDS; bit++) {
        memcpy(handle, export[7].handle, sizeof(handle));
        handle[bit / 64] ^= UINT64_C(1) << bit % 64;
        assert_null(exports_find(handle));
    }
    for (unsigned i = 0; i < COUNT; i += 2)
        exports_remove(&export[i]);
    for (unsigned i = 0; i < COUNT; i++)
        assert_ptr_equal(exports_find(export[i].handle), i % 2 ? &export[i] : NULL);
    for (unsigned i = 1; i < COUNT; i += 2)
        exports_remove(&export[i]);
}

/* Both stand in one row. */
static void those_with_the_same_first_word_are_told_apart(void **state)
{
    struct mem_export a = {.handle = {5, 1, 2, 3}}, b = {.handle = {5, 1, 2, 4}};

    (void)state;
    exports_add(&a);
    exports_add(&b);
    assert_ptr_equal(exports_find(a.handle), &a);
    assert_ptr_equal(exports_find(b.handle), &b);
    exports_remove(&a);
    assert_null(exports_find(a.handle));
    assert_ptr_equal(exports_find(b.handle), &b);
    exports_remove(&b);
    assert_null(exports_find(b.handle));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_is_found_by_its_handle_alone),
        cmocka_unit_test(those_with_the_same_first_word_are_told_apart),
    };

    return cmocka_run_group_tests_name("export_table", tests, NULL, NULL);
}
