/*
 * test_worker_module_table.c - a session's tables of modules and kernels: which entry is next, and
 * that those before it are not looked at for each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <sys/mman.h>

#include "common/wire_segment.h"
#include "worker/module/module_table.h"

static char something;
#define TAKEN ((void *)&something)

static void the_first_free_entry_is_next(void **state)
{
    void **table = NULL;
    uint32_t capacity = 0, lowest = 0;

    (void)state;
    for (uint32_t i = 0; i < 100; i++) {
        assert_int_equal(table_slot(&table, &capacity, &lowest, 100), i);
        assert_int_equal(table_slot(&table, &capacity, &lowest, 100), i); /* it was not taken */
        table[i] = TAKEN;
    }
    assert_int_equal(table_slot(&table, &capacity, &lowest, 100), UINT32_MAX);
    for (uint32_t i = 2; i--;) {
        table[50 * i + 7] = NULL;
        table_free(&lowest, 50 * i + 7);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(table_slot(&table, &capacity, &lowest, 100), 50 * i + 7);
        table[50 * i + 7] = TAKEN;
    }
    assert_int_equal(table_slot(&table, &capacity, &lowest, 100), UINT32_MAX);
    free(table);
}

/* Nor are all of a full one. */
static void what_is_taken_is_not_looked_at_again(void **state)
{
    const size_t bytes = SEG_KERNELS * sizeof(void *);
    void **table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint32_t capacity = SEG_KERNELS, lowest = 0;

    (void)state;
    assert_ptr_not_equal(table, MAP_FAILED);
    for (uint32_t i = 0; i < SEG_KERNELS - 1; i++)
        table[i] = TAKEN;
    assert_int_equal(table_slot(&table, &capacity, &lowest, SEG_KERNELS), SEG_KERNELS - 1);
    table[SEG_KERNELS - 1] = TAKEN;
    /* To look at these is a fault. */
    assert_int_equal(mprotect(table, bytes / 2, PROT_NONE), 0);
    assert_int_equal(table_slot(&table, &capacity, &lowest, SEG_KERNELS), UINT32_MAX);
    assert_int_equal(mprotect(table, bytes, PROT_NONE), 0);
    assert_int_equal(table_slot(&table, &capacity, &lowest, SEG_KERNELS), UINT32_MAX);
    assert_int_equal(munmap(table, bytes), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_free_entry_is_next),
        cmocka_unit_test(what_is_taken_is_not_looked_at_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
