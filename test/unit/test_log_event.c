/* test_log_event.c - lines of the log: values get the quotes that they need, whoever chose them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/log_event.h"

static int logged; /* a file that takes what is logged */

/* What has been logged since the last call, from the event on. */
static const char *line(void)
{
    static char text[2048];
    ssize_t n = pread(logged, text, sizeof(text) - 1, 0);

    text[n < 0 ? 0 : n] = 0;
    assert_int_equal(ftruncate(logged, 0), 0);
    assert_int_equal(lseek(logged, 0, SEEK_SET), 0);
    assert_non_null(strstr(text, "event="));
    return strstr(text, "event=");
}

static void values_are_quoted_where_they_have_to_be(void **state)
{
    (void)state;
    log_info("event=test name=%s count=%d", "plain-1.5", -3);
    assert_string_equal(line(), "event=test name=plain-1.5 count=-3\n");
    log_info("event=test name=%s reason=%s", "a b", "");
    assert_string_equal(line(), "event=test name=\"a b\" reason=\"\"\n");
    log_info("event=test name=%s", "x uid=0");
    assert_string_equal(line(), "event=test name=\"x uid=0\"\n");
    log_info("event=test name=%s", "a\"b\\c\nevent=forged");
    assert_string_equal(line(), "event=test name=\"a\\\"b\\\\c?event=forged\"\n");
}

static void a_value_within_quotes_of_the_format_cannot_end_them(void **state)
{
    (void)state;
    log_warning("event=test reason=\"%s: it is %s\" by=%s", "a\" uid=0", "\\", "x y");
    assert_string_equal(line(), "event=test reason=\"a\\\" uid=0: it is \\\\\" by=\"x y\"\n");
}

static void numbers_are_printed_in_all_widths(void **state)
{
    (void)state;
    log_info("event=test a=%u b=%llu c=%zu d=%zd e=%ld f=%.1f", UINT32_MAX,
             (unsigned long long)UINT64_MAX, SIZE_MAX, (ssize_t)-1, -5L, 2.25);
    assert_string_equal(line(), "event=test a=4294967295 b=18446744073709551615 "
                                "c=18446744073709551615 d=-1 e=-5 f=2.2\n");
}

static void what_does_not_fit_is_left_out(void **state)
{
    char value[2000];
    (void)state;
    memset(value, 'x', sizeof(value));
    value[sizeof(value) - 1] = 0;
    log_info("event=test name=%s reason=%s", value, "r");
    const char *text = line();
    assert_true(strlen(text) < 1024 && text[strlen(text) - 1] == '\n');
}

static void a_log_that_nobody_reads_holds_nobody_up_and_says_what_was_lost(void **state)
{
    static char text[1 << 20];
    const unsigned lines = 4000;
    unsigned written = 0;
    int ends[2];
    ssize_t n;

    (void)state;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(dup2(ends[1], STDERR_FILENO) >= 0);
    for (unsigned i = 0; i < lines; i++)
        log_info("event=test number=%u", i);
    n = read(ends[0], text, sizeof(text) - 1);
    assert_true(n > 0);
    text[n] = 0;
    for (const char *at = text; (at = strstr(at, "event=test")); at++)
        written++;
    assert_true(written > 0 && written < lines);
    log_info("event=test after=1");
    n = read(ends[0], text, sizeof(text) - 1);
    assert_true(n > 0);
    text[n] = 0;
    char lost[64];
    snprintf(lost, sizeof(lost), "event=lines-lost lines=%u reason=", lines - written);
    assert_non_null(strstr(text, lost));
    assert_non_null(strstr(text, "event=test after=1\n"));
    dup2(logged, STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
}

static int redirect(void **state)
{
    (void)state;
    logged = memfd_create("log", MFD_CLOEXEC);
    return logged < 0 || dup2(logged, STDERR_FILENO) < 0 ? -1 : 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_quoted_where_they_have_to_be),
        cmocka_unit_test(a_value_within_quotes_of_the_format_cannot_end_them),
        cmocka_unit_test(numbers_are_printed_in_all_widths),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(a_log_that_nobody_reads_holds_nobody_up_and_says_what_was_lost),
    };
    return cmocka_run_group_tests(tests, redirect, NULL);
}
