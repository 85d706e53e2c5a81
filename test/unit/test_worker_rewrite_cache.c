// What passes made of a text is found by the whole text and the same passes, and what is found
// stays good after it has given way to others.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx/ir/arena.h"
#include "worker/module/rewrite_cache.h"

#define PASSES (PTX_PASS_TRAP | PTX_PASS_FENCE)

static uint32_t user; // whose the loads are

// A report that is told apart by a number.
static struct ptx_rewrite_report *put(const char *text, size_t length, unsigned passes,
                                      const char *made, unsigned number)
{
    struct ptx_rewrite_report *report = report_new();

    assert_non_null(report);
    report->fence.align = number;
    rewrite_cache_put(text, length, passes, made, made ? strlen(made) : 0, report, user);
    return report;
}

// made NULL: nothing had to change.
static void found(const char *text, unsigned passes, const char *made, unsigned number)
{
    struct ptx_rewrite_report *report = NULL;
    size_t length = 1000;
    char *out = NULL;

    assert_true(rewrite_cache_find(text, strlen(text), passes, &out, &length, &report, user));
    assert_int_equal(report->fence.align, number);
    assert_int_equal(length, made ? strlen(made) : 0);
    if (made)
        assert_string_equal(out, made);
    else
        assert_null(out);
    free(out);
    report_release(report);
}

static void not_found(const char *text, size_t length, unsigned passes)
{
    struct ptx_rewrite_report *report = NULL;
    char *out = NULL;
    size_t out_length;

    assert_false(rewrite_cache_find(text, length, passes, &out, &out_length, &report, user));
}

static void results_are_found_by_text_and_passes(void **state)
{
    (void)state;
    not_found("one", 3, PASSES);
    report_release(put("one", 3, PASSES, "fenced one", 1));
    report_release(put("one", 3, PTX_PASS_TRAP, "one", 2));
    report_release(put("two", 3, PTX_PASS_TRAP, NULL, 3));
    for (unsigned i = 0; i < 3; i++) {
        found("one", PASSES, "fenced one", 1);
        found("one", PTX_PASS_TRAP, "one", 2);
        found("two", PTX_PASS_TRAP, NULL, 3);
    }
    not_found("two", 3, PASSES);
    not_found("on", 2, PASSES);
    not_found("onf", 3, PASSES);
    // The first of two counts: another thread was at it, too.
    report_release(put("one", 3, PASSES, "fenced one", 4));
    found("one", PASSES, "fenced one", 1);
}

static void what_is_used_stays_and_the_rest_gives_way(void **state)
{
    enum { SIZE = 1 << 20, TEXTS = 100 };
    struct ptx_rewrite_report *first = NULL;
    char *text = malloc(SIZE);
    unsigned there = 0;

    (void)state;
    memset(text, '/', SIZE);
    report_release(put("used", 4, PASSES, "fenced", 7));
    for (unsigned i = 0; i < TEXTS; i++) {
        memcpy(text, &i, sizeof(i));
        struct ptx_rewrite_report *report = put(text, SIZE, PASSES, "x", i);

        if (i == 0)
            first = report;
        else
            report_release(report);
        found("used", PASSES, "fenced", 7);
    }
    for (unsigned i = 0; i < TEXTS; i++) {
        struct ptx_rewrite_report *report;
        size_t length;
        char *out;

        memcpy(text, &i, sizeof(i));
        if (!rewrite_cache_find(text, SIZE, PASSES, &out, &length, &report, user))
            continue;
        assert_int_equal(report->fence.align, i);
        there++;
        assert_true(i > 0); // the first ones went
        free(out);
        report_release(report);
    }
    assert_in_range(there, 50, 63);
    assert_int_equal(first->fence.align, 0); // it is held
    report_release(first);
    free(text);
}

static void many_small_ones_give_way_too(void **state)
{
    char text[32];

    (void)state;
    for (unsigned i = 0; i < 2000; i++) {
        const int length = snprintf(text, sizeof(text), "text %u", i);

        report_release(put(text, (size_t)length, PASSES, text, i));
        found(text, PASSES, text, i);
    }
    not_found("text 0", 6, PASSES);
}

static void a_user_who_loads_without_end_drives_out_nobody_elses(void **state)
{
    char text[32];

    (void)state;
    user = 1;
    for (unsigned i = 0; i < 100; i++) {
        const int length = snprintf(text, sizeof(text), "honest %u", i);
        report_release(put(text, (size_t)length, PASSES, text, i));
    }
    user = 2;
    for (unsigned i = 0; i < 2000; i++) {
        const int length = snprintf(text, sizeof(text), "flood %u", i);
        report_release(put(text, (size_t)length, PASSES, text, i));
    }
    user = 1;
    for (unsigned i = 0; i < 100; i++) {
        snprintf(text, sizeof(text), "honest %u", i);
        found(text, PASSES, text, i);
    }
    user = 0;
}

static void a_text_that_is_large_by_itself_is_not_kept(void **state)
{
    enum { SIZE = 10 << 20 };
    char *text = malloc(SIZE);

    (void)state;
    memset(text, ' ', SIZE);
    report_release(put("small", 5, PASSES, "s", 1));
    report_release(put(text, SIZE, PASSES, "x", 2));
    not_found(text, SIZE, PASSES);
    found("small", PASSES, "s", 1);
    free(text);
}

// As of a text with so many kernels.
static void put_reported(const char *text, size_t bytes)
{
    struct ptx_rewrite_report *report = report_new();

    assert_non_null(report);
    report->memory = arena_new(bytes);
    assert_non_null(report->memory);
    assert_non_null(arena_alloc(report->memory, bytes));
    rewrite_cache_put(text, strlen(text), PASSES, "x", 1, report, user);
    report_release(report);
}

static void reports_count_as_what_they_take(void **state)
{
    enum { SIZE = 4 << 20, TEXTS = 40 };
    char text[32], *out;
    unsigned there = 0;

    (void)state;
    put_reported("large by its report", 9 << 20);
    not_found("large by its report", 19, PASSES);
    for (unsigned i = 0; i < TEXTS; i++) {
        snprintf(text, sizeof(text), "many kernels %u", i);
        put_reported(text, SIZE);
    }
    for (unsigned i = 0; i < TEXTS; i++) {
        struct ptx_rewrite_report *report;
        size_t length;

        snprintf(text, sizeof(text), "many kernels %u", i);
        if (!rewrite_cache_find(text, strlen(text), PASSES, &out, &length, &report, user))
            continue;
        there++;
        free(out);
        report_release(report);
    }
    assert_int_equal(there, 15); // 16 of them would be 64 MiB and their heads
}

static void a_report_takes_its_records_and_names(void **state)
{
    enum { KERNELS = 1000, LINE = 64 };
    struct ptx_rewrite_report *report = report_new();
    char *text = calloc(KERNELS + 1, LINE), *out = NULL;
    size_t length, at;

    (void)state;
    at = (size_t)sprintf(text, ".version 7.8\n.target sm_80\n.address_size 64\n");
    for (unsigned i = 0; i < KERNELS; i++)
        at += (size_t)sprintf(text + at, ".entry kernel_%u() { ret; }\n", i);
    ptx_rewrite(text, at, PTX_PASS_COMPLETION, &out, &length, report);
    assert_int_equal(report->count, KERNELS);
    assert_true(ptx_rewrite_report_bytes(report) >
                KERNELS * (sizeof(struct ptx_rewrite_kernel) + sizeof("kernel_999")));
    report_release(report);
    free(out);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_found_by_text_and_passes),
        cmocka_unit_test(what_is_used_stays_and_the_rest_gives_way),
        cmocka_unit_test(many_small_ones_give_way_too),
        cmocka_unit_test(a_text_that_is_large_by_itself_is_not_kept),
        cmocka_unit_test(reports_count_as_what_they_take),
        cmocka_unit_test(a_report_takes_its_records_and_names),
        cmocka_unit_test(a_user_who_loads_without_end_drives_out_nobody_elses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
