// Figures for people, and JSON that always parses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "gsctl/base/format.h"
#include "gsctl/base/json.h"

static void bytes_have_units_of_1024(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {{0, "0 B"},
                 {1, "1 B"},
                 {1023, "1023 B"},
                 {1024, "1.0 KiB"},
                 {1536, "1.5 KiB"},
                 {100 << 10, "100 KiB"},
                 {(1 << 20) - 1, "1.0 MiB"},
                 {UINT64_C(150121086976), "140 GiB"},
                 {UINT64_C(1) << 40, "1.0 TiB"},
                 {UINT64_MAX, "16.0 EiB"}};
    char out[FORMAT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(size_rounded(out, cases[i].bytes), cases[i].text);
}

static void exact_sizes_are_short_where_a_unit_divides_them(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *exact, *option;
    } cases[] = {{0, "0 bytes", "0"},
                 {192, "192 bytes", "192"},
                 {4096, "4 KiB", "4K"},
                 {8 << 20, "8 MiB", "8M"},
                 {(2 << 20) + 1, "2097153 bytes (2.0 MiB)", "2097153"},
                 {UINT64_C(1536) << 20, "1536 MiB", "1536M"},
                 {UINT64_C(4) << 30, "4 GiB", "4G"},
                 {UINT64_C(143771) << 20, "150754820096 bytes (140 GiB)", "143771M"},
                 {UINT64_C(1) << 60, "1152921504606846976 bytes (1.0 EiB)", "1048576T"},
                 {UINT64_MAX, "18446744073709551615 bytes (16.0 EiB)", "18446744073709551615"}};
    char out[SIZE_TEXT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_string_equal(size_exact(out, cases[i].bytes), cases[i].exact);
        assert_string_equal(size_option(out, cases[i].bytes), cases[i].option);
    }
}

static void times_have_two_digits_or_three(void **state)
{
    static const struct {
        uint64_t ns;
        const char *text;
    } cases[] = {{0, "-"},
                 {400, "0us"},
                 {14600, "15us"},
                 {999400, "999us"},
                 {999600, "1.0ms"},
                 {9940000, "9.9ms"},
                 {9960000, "10ms"},
                 {350000000, "350ms"},
                 {1000000000, "1.0s"},
                 {UINT64_C(120000000000), "120s"}};
    char out[FORMAT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(format_time(out, cases[i].ns), cases[i].text);
}

static void counts_have_units_of_1000(void **state)
{
    static const struct {
        uint64_t count;
        const char *text;
    } cases[] = {{0, "0"},         {999, "999"},        {1000, "1.0k"},
                 {1234, "1.2k"},   {999999, "1.0M"},    {1200000, "1.2M"},
                 {99949, "99.9k"}, {123456789, "123M"}, {UINT64_MAX, "18.4E"}};
    char out[FORMAT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(format_count(out, cases[i].count), cases[i].text);
}

static void durations_have_two_units(void **state)
{
    static const struct {
        uint64_t seconds;
        const char *text;
    } cases[] = {
        {0, "0 s"},          {59, "59 s"},           {60, "1 min 0 s"},  {3599, "59 min 59 s"},
        {3600, "1 h 0 min"}, {86399, "23 h 59 min"}, {86400, "1 d 0 h"}, {1000000, "11 d 13 h"}};
    char out[FORMAT_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(format_duration(out, cases[i].seconds * 1000000000u), cases[i].text);
}

// Runs print with stdout in a file of memory; out gets what it printed.
static void captured(void (*print)(void), char *out, size_t size)
{
    int file = memfd_create("stdout", MFD_CLOEXEC), old = dup(STDOUT_FILENO);

    assert_true(file >= 0 && old >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    print();
    fflush(stdout);
    dup2(old, STDOUT_FILENO);
    close(old);
    ssize_t n = pread(file, out, size - 1, 0);
    assert_true(n >= 0);
    out[n] = 0;
    close(file);
}

static void print_document(void)
{
    json_open(NULL, '{');
    json_text("plain", "a b");
    json_text("quotes", "\"\\\n\033");
    json_text("utf8", "h\xc3\xa4user \xe2\x82\xac \xf0\x9f\x98\x80");
    json_text("broken", "\xff|\xc3|\xc0\x80|\xed\xa0\x80|\xe2\x82");
    json_number("big", UINT64_MAX);
    json_integer("small", -5);
    json_pid("pid", 42);
    json_pid("no_pid", 0);
    json_user(CTL_OTHERS);
    json_open("empty", '[');
    json_close(']');
    json_open("list", '[');
    json_number(NULL, 1);
    json_open(NULL, '{');
    json_close('}');
    json_close(']');
    json_close('}');
}

static void json_is_well_formed_whatever_the_text(void **state)
{
    char out[1024];

    (void)state;
    captured(print_document, out, sizeof(out));
    assert_string_equal(
        out, "{\"plain\":\"a b\",\"quotes\":\"\\\"\\\\\\u000a\\u001b\","
             "\"utf8\":\"h\xc3\xa4user \xe2\x82\xac \xf0\x9f\x98\x80\","
             "\"broken\":\"\\ufffd|\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\","
             "\"big\":18446744073709551615,\"small\":-5,"
             "\"pid\":42,\"no_pid\":null,\"user\":\"others\",\"uid\":4294967295,\"empty\":[],"
             "\"list\":[1,{}]}\n");
}

static void print_a_table(void)
{
    static const char *const header[] = {"ID", "NAME", "SIZE"};
    static const bool right[] = {true, false, true};
    struct table table = {.header = header, .right = right, .columns = 3};
    static const char *const cells[] = {"1", "a long name", "5 B", "1000", "b", "1.5 MiB"};

    for (size_t i = 0; i < 6; i++)
        table_add(&table, cells[i]);
    table_print(&table);
    table_deinit(&table);
}

static void tables_are_aligned_and_plain_off_a_terminal(void **state)
{
    char out[1024];

    (void)state;
    captured(print_a_table, out, sizeof(out));
    assert_string_equal(out, "  ID  NAME            SIZE\n"
                             "   1  a long name      5 B\n"
                             "1000  b            1.5 MiB\n");
}

static void print_a_dull_table(void)
{
    static const char *const header[] = {"ID", "CLASS", "LATE", "NAME"};
    static const bool right[] = {true, false, true, false};
    static const char *const dull[] = {NULL, "normal", "0", NULL};
    struct table table = {.header = header, .right = right, .dull = dull, .columns = 4};
    static const char *const cells[] = {"1", "normal", "0", "a", "2", "normal", "3", "b"};

    for (size_t i = 0; i < 4; i++)
        table_add(&table, cells[i]);
    table_print(&table);
    for (size_t i = 4; i < 8; i++)
        table_add(&table, cells[i]);
    table_print(&table);
    table_deinit(&table);
}

static void columns_that_say_nothing_are_left_out(void **state)
{
    char out[1024];

    (void)state;
    captured(print_a_dull_table, out, sizeof(out));
    assert_string_equal(out, "ID  NAME\n"
                             " 1  a\n"
                             "ID  LATE  NAME\n"
                             " 1     0  a\n"
                             " 2     3  b\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_have_units_of_1024),
        cmocka_unit_test(exact_sizes_are_short_where_a_unit_divides_them),
        cmocka_unit_test(counts_have_units_of_1000),
        cmocka_unit_test(times_have_two_digits_or_three),
        cmocka_unit_test(durations_have_two_units),
        cmocka_unit_test(json_is_well_formed_whatever_the_text),
        cmocka_unit_test(tables_are_aligned_and_plain_off_a_terminal),
        cmocka_unit_test(columns_that_say_nothing_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
