/*
 * test_cudart_block_heap.c - blocks are aligned and apart, come back whole, and leave arenas that
 * can go.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cudart/base/block_heap.h"

#define BASE  UINT64_C(0x7000000000)
#define COUNT 400

static struct block_heap heap;

static int heap_end(void **state)
{
    (void)state;
    block_heap_deinit(&heap);
    return 0;
}

/* A number that looks random, the same in each run. */
static unsigned number(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 8;
}

static void blocks_are_aligned_and_apart_and_come_back_whole(void **state)
{
    static struct block *blocks[COUNT];
    unsigned seed = 1;

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_non_null(block_heap_add(&heap, BASE + (uint64_t)i * SLAB_SIZE, SLAB_SIZE, false));
    for (int step = 0; step < 20000; step++) {
        int i = (int)(number(&seed) % COUNT);
        size_t size = block_size_of(1 + number(&seed) % (1u << number(&seed) % 20));

        if (blocks[i] != NULL) {
            block_heap_give(blocks[i]);
            blocks[i] = NULL;
            continue;
        }
        blocks[i] = block_heap_take(&heap, size, false, 0);
        if (blocks[i] == NULL)
            continue;
        assert_true(blocks[i]->size >= size);
        assert_int_equal(blocks[i]->base % BLOCK_ALIGN, 0);
        assert_true(blocks[i]->base % SLAB_SIZE >= SLAB_HEAD);
        assert_true(blocks[i]->base % SLAB_SIZE + blocks[i]->size <= SLAB_SIZE);
        for (int j = 0; step % 64 == 0 && j < COUNT; j++)
            assert_true(j == i || blocks[j] == NULL ||
                        blocks[j]->base + blocks[j]->size <= blocks[i]->base ||
                        blocks[i]->base + blocks[i]->size <= blocks[j]->base);
    }
    for (int i = 0; i < COUNT; i++) {
        if (blocks[i] != NULL)
            block_heap_give(blocks[i]);
        blocks[i] = NULL;
    }
    assert_int_equal(heap.empty, 4 * SLAB_SIZE);
    /* All of a slab is one block again. */
    for (int i = 0; i < 4; i++) {
        blocks[i] = block_heap_take(&heap, SLAB_SIZE - SLAB_HEAD, false, 0);
        assert_non_null(blocks[i]);
    }
    assert_null(block_heap_take(&heap, BLOCK_ALIGN, false, 0));
    assert_int_equal(heap.empty, 0);
    for (int i = 0; i < 4; i++)
        block_heap_give(blocks[i]);
}

static void the_block_that_came_back_last_serves_its_size(void **state)
{
    struct block *first, *second;
    uint64_t base;

    (void)state;
    assert_non_null(block_heap_add(&heap, BASE, SLAB_SIZE, false));
    first = block_heap_take(&heap, 1021 * BLOCK_ALIGN, false, 0);
    second = block_heap_take(&heap, BLOCK_ALIGN, false, 0);
    base = first->base;
    block_heap_give(first);
    first = block_heap_take(&heap, 1021 * BLOCK_ALIGN, false, 0);
    assert_int_equal(first->base, base);
    block_heap_give(first);
    block_heap_give(second);
}

static void whole_blocks_are_of_a_fitting_size(void **state)
{
    struct block *block;

    (void)state;
    assert_non_null(block_heap_add(&heap, BASE, 8 * SLAB_SIZE, true));
    assert_non_null(block_heap_add(&heap, BASE + 8 * SLAB_SIZE, 4 * SLAB_SIZE, true));
    assert_null(block_heap_take(&heap, BLOCK_ALIGN, false, 0));
    assert_null(block_heap_take(&heap, 2 * SLAB_SIZE, true, 3 * SLAB_SIZE));
    block = block_heap_take(&heap, 3 * SLAB_SIZE, true, 9 * SLAB_SIZE);
    assert_int_equal(block->base, BASE + 8 * SLAB_SIZE);
    assert_int_equal(block->size, 4 * SLAB_SIZE);
    assert_null(block_heap_take(&heap, 3 * SLAB_SIZE, true, 4 * SLAB_SIZE));
    block_heap_give(block);
}

static void an_arena_of_which_nothing_is_out_can_go(void **state)
{
    struct arena *arena;
    struct block *block;

    (void)state;
    assert_non_null(block_heap_add(&heap, BASE, SLAB_SIZE, false));
    block = block_heap_take(&heap, BLOCK_ALIGN, false, 0);
    assert_null(block_heap_empty(&heap));
    assert_non_null(block_heap_add(&heap, BASE + SLAB_SIZE, 2 * SLAB_SIZE, true));
    arena = block_heap_empty(&heap);
    assert_int_equal(arena->base, BASE + SLAB_SIZE);
    assert_int_equal(heap.held, 3 * SLAB_SIZE);
    block_heap_remove(arena);
    assert_int_equal(heap.held, SLAB_SIZE);
    assert_null(block_heap_empty(&heap));
    block_heap_give(block);
    block_heap_remove(block_heap_empty(&heap));
    assert_int_equal(heap.held, 0);
    assert_int_equal(heap.empty, 0);
    assert_null(block_heap_take(&heap, BLOCK_ALIGN, false, 0));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(blocks_are_aligned_and_apart_and_come_back_whole, heap_end),
        cmocka_unit_test_teardown(the_block_that_came_back_last_serves_its_size, heap_end),
        cmocka_unit_test_teardown(whole_blocks_are_of_a_fitting_size, heap_end),
        cmocka_unit_test_teardown(an_arena_of_which_nothing_is_out_can_go, heap_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
