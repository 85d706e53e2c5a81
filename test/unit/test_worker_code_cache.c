// Machine code kept by text: what is found, what is not, and what a next worker finds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/module/code_cache.h"

static const struct link_device device = {
    .name = "a device", .driver = "a driver", .compute_major = 9};
static int memory = -1;
static uint32_t user; // whose the loads are

static int set(void **state)
{
    (void)state;
    memory = memfd_create("test", MFD_CLOEXEC);
    return memory < 0 || ftruncate(memory, LINK_CODE_BYTES) || !code_cache_open(memory, &device);
}

static int unset(void **state)
{
    (void)state;
    return close(memory);
}

static void put(const char *text, const char *code)
{
    code_cache_put((const unsigned char *)text, strlen(text), code, strlen(code) + 1, user);
}

/* NULL: nothing is found. */
static void found(const char *text, const char *wanted)
{
    size_t code_size = 0;
    char *code =
        (char *)code_cache_find((const unsigned char *)text, strlen(text), &code_size, user);

    if (wanted) {
        assert_non_null(code);
        assert_string_equal(code, wanted);
        assert_int_equal(code_size, strlen(wanted) + 1);
    } else {
        assert_null(code);
    }
    free(code);
}

static void code_is_found_by_the_whole_text(void **state)
{
    (void)state;
    found("one", NULL);
    put("one", "1");
    put("two, longer", "22");
    found("one", "1");
    found("two, longer", "22");
    found("two, longes", NULL);
    found("on", NULL);
    found("one ", NULL);
    put("one", "another"); // two have compiled it side by side
    found("one", "1");
}

static void the_next_worker_finds_it(void **state)
{
    (void)state;
    put("one", "1");
    assert_true(code_cache_open(memory, &device));
    found("one", "1");
    put("two", "2");
    assert_true(code_cache_open(memory, &device));
    found("one", "1");
    found("two", "2");
}

static void code_for_another_driver_is_dropped(void **state)
{
    struct link_device other = device;

    (void)state;
    put("one", "1");
    other.driver[0]++;
    assert_true(code_cache_open(memory, &other));
    found("one", NULL);
    put("one", "new");
    found("one", "new");
}

#define LARGE (LINK_CODE_BYTES / 16)

/* A text of its own for each number, with the number as its code. */
static void large_put(unsigned char *text, unsigned number)
{
    memset(text, 'x', LARGE);
    memcpy(text, &number, sizeof(number));
    code_cache_put(text, LARGE, &number, sizeof(number), user);
}

static bool large_there(unsigned char *text, unsigned number)
{
    unsigned char *code;
    size_t code_size;

    memcpy(text, &number, sizeof(number));
    code = code_cache_find(text, LARGE, &code_size, user);
    if (code) {
        assert_int_equal(code_size, sizeof(number));
        assert_memory_equal(code, &number, sizeof(number));
    }
    free(code);
    return code;
}

/* What was put last is always there, and what is used. */
static void what_was_used_longest_ago_gives_way(void **state)
{
    unsigned char *text = malloc(LARGE);
    unsigned there = 0;

    (void)state;
    put("used", "1");
    put("unused", "2");
    for (unsigned i = 0; i < 40; i++) {
        large_put(text, i);
        assert_true(large_there(text, i));
        found("used", "1");
    }
    for (unsigned i = 0; i < 40; i++)
        there += large_there(text, i);
    assert_in_range(there, 12, 15);
    found("unused", NULL);
    assert_true(code_cache_open(memory, &device));
    found("used", "1");
    assert_true(large_there(text, 39));
    free(text);
}

static void many_small_ones_give_way_too(void **state)
{
    char text[32];

    (void)state;
    for (unsigned i = 0; i < 6000; i++) {
        snprintf(text, sizeof(text), "text %u", i);
        put(text, text);
    }
    found(text, text);
    found("text 0", NULL);
}

/* Whatever others load, a user keeps its code while it has less than they; also what others have
 * loaded before it, and use. */
static void a_user_who_loads_without_end_drives_out_nobody_elses(void **state)
{
    enum { HONEST = 5, COMMON = 1000 };
    unsigned char *text = malloc(LARGE);

    (void)state;
    user = 2;
    large_put(text, COMMON);
    user = 1;
    assert_true(large_there(text, COMMON));
    for (unsigned i = 0; i < HONEST; i++)
        large_put(text, i);
    user = 2;
    for (unsigned i = HONEST; i < 60; i++)
        large_put(text, i);
    user = 1;
    for (unsigned i = 0; i < HONEST; i++)
        assert_true(large_there(text, i));
    assert_true(large_there(text, COMMON));
    user = 0;
    free(text);
}

/* Until it has as much as they. */
static void who_had_all_makes_room_for_others(void **state)
{
    unsigned char *text = malloc(LARGE);
    unsigned there[2] = {0};

    (void)state;
    user = 1;
    for (unsigned i = 0; i < 16; i++)
        large_put(text, i);
    user = 2;
    for (unsigned i = 16; i < 40; i++)
        large_put(text, i);
    for (unsigned i = 0; i < 40; i++)
        there[i >= 16] += large_there(text, i);
    assert_in_range(there[0], 6, 8);
    assert_in_range(there[1], 6, 8);
    user = 0;
    free(text);
}

static void too_large_a_text_is_not_kept(void **state)
{
    const size_t size = LINK_CODE_BYTES / 8;
    size_t code_size;
    unsigned char *text = calloc(1, size);

    (void)state;
    put("one", "1");
    code_cache_put(text, size, "code", 4, user);
    assert_null(code_cache_find(text, size, &code_size, user));
    found("one", "1");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(code_is_found_by_the_whole_text, set, unset),
        cmocka_unit_test_setup_teardown(the_next_worker_finds_it, set, unset),
        cmocka_unit_test_setup_teardown(code_for_another_driver_is_dropped, set, unset),
        cmocka_unit_test_setup_teardown(what_was_used_longest_ago_gives_way, set, unset),
        cmocka_unit_test_setup_teardown(many_small_ones_give_way_too, set, unset),
        cmocka_unit_test_setup_teardown(a_user_who_loads_without_end_drives_out_nobody_elses, set,
                                        unset),
        cmocka_unit_test_setup_teardown(who_had_all_makes_room_for_others, set, unset),
        cmocka_unit_test_setup_teardown(too_large_a_text_is_not_kept, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
