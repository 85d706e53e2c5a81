// Machine code kept by text: what is found, what is not, and what a next worker finds.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "worker/module/code_cache.h"

static const struct link_device device = {
    .name = "a device", .driver = "a driver", .compute_major = 9};
static int memory = -1;

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
    code_cache_put((const unsigned char *)text, strlen(text), code, strlen(code) + 1);
}

/* NULL: nothing is found. */
static void found(const char *text, const char *wanted)
{
    size_t code_size = 0;
    char *code = (char *)code_cache_find((const unsigned char *)text, strlen(text), &code_size);

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

/* What is put last is always there; what was put before it goes at once. */
static void a_full_memory_begins_anew(void **state)
{
    const size_t size = LINK_CODE_BYTES / 16;
    size_t code_size;
    unsigned char *text = malloc(size), *code;

    (void)state;
    memset(text, 'x', size);
    put("one", "1");
    for (unsigned i = 0; i < 40; i++) {
        memcpy(text, &i, sizeof(i));
        code_cache_put(text, size, &i, sizeof(i));
        code = code_cache_find(text, size, &code_size);
        assert_non_null(code);
        assert_int_equal(code_size, sizeof(i));
        assert_memory_equal(code, &i, sizeof(i));
        free(code);
    }
    found("one", NULL);
    free(text);
}

static void too_large_a_text_is_not_kept(void **state)
{
    const size_t size = LINK_CODE_BYTES / 8;
    size_t code_size;
    unsigned char *text = calloc(1, size);

    (void)state;
    put("one", "1");
    code_cache_put(text, size, "code", 4);
    assert_null(code_cache_find(text, size, &code_size));
    found("one", "1");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(code_is_found_by_the_whole_text, set, unset),
        cmocka_unit_test_setup_teardown(the_next_worker_finds_it, set, unset),
        cmocka_unit_test_setup_teardown(code_for_another_driver_is_dropped, set, unset),
        cmocka_unit_test_setup_teardown(a_full_memory_begins_anew, set, unset),
        cmocka_unit_test_setup_teardown(too_large_a_text_is_not_kept, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
