/*
 * test_worker_occupancy.c - which kernels are asked for two blocks on an SM, by what the compiler
 * has said of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/module/occupancy.h"

/* As an H200's driver 580 says it. */
#define SAID(name, registers, spilled)                                                             \
    "ptxas info    : Compiling entry function '" name "' for 'sm_90a'\n"                           \
    "ptxas info    : Function properties for " name "\n"                                           \
    "ptxas         .     0 bytes stack frame, " spilled " bytes spill stores, 0 bytes spill "      \
    "loads\n"                                                                                      \
    "ptxas info    : Used " registers " registers, used 1 barriers, 37888 bytes smem\n"            \
    "ptxas info    : Compile time = 149.576 ms\n"
#define HEAD "ptxas info    : 45 bytes gmem\n"

#define KERNEL(name, directives)                                                                   \
    ".visible .entry " name "(\n\t.param .u64 " name "_param_0\n)\n" directives "{\n\tret;\n}\n"

/* The text with a request at the kernels that stand in `asked`, by name, a blank behind each. */
static void expect_asked(const char *text, const char *log, const char *tried, const char *asked)
{
    char *got = occupancy_ask(text, log, tried), found[256] = "", bare[4096];
    const char *from = got ? got : text, *at;
    size_t used = 0;

    while ((at = strstr(from, "\n.minnctapersm 2\n{"))) {
        const char *entry = at, *name;
        while (strncmp(entry, ".entry ", 7) != 0)
            entry--;
        name = entry + 7;
        strncat(found, name, strcspn(name, "("));
        strcat(found, " ");
        used += (size_t)snprintf(bare + used, sizeof(bare) - used, "%.*s", (int)(at - from), from);
        from = at + strlen("\n.minnctapersm 2\n");
    }
    snprintf(bare + used, sizeof(bare) - used, "%s", from);
    assert_string_equal(found, asked);
    assert_string_equal(bare, text); /* nothing else has changed */
    assert_true(got || !*asked);
    free(got);
}

static void a_kernel_that_registers_keep_at_one_block_asks_for_two(void **state)
{
    (void)state;
    expect_asked(KERNEL("gemm", ".maxntid 256, 1, 1\n"), HEAD SAID("gemm", "154", "0"), NULL,
                 "gemm ");
    expect_asked(KERNEL("gemm", ".reqntid 16, 16\n"), SAID("gemm", "154", "0"), NULL, "gemm ");
    expect_asked(KERNEL("few", ".maxntid 1024\n"), SAID("few", "33", "0"), NULL, "few ");
}

/* A warp has its registers in granules of 256, eight a thread: 128 of 256 threads are two blocks.
 */
static void a_kernel_with_room_for_two_is_left_alone(void **state)
{
    (void)state;
    expect_asked(KERNEL("k", ".maxntid 256, 1, 1\n"), SAID("k", "128", "0"), NULL, "");
    expect_asked(KERNEL("k", ".maxntid 256, 1, 1\n"), SAID("k", "129", "0"), NULL, "k ");
    expect_asked(KERNEL("k", ".maxntid 128, 1, 1\n"), SAID("k", "255", "0"), NULL, "");
}

static void a_kernel_of_unknown_block_size_is_left_alone(void **state)
{
    (void)state;
    expect_asked(KERNEL("k", ""), SAID("k", "255", "0"), NULL, "");
    expect_asked(KERNEL("k", ".maxntid 0, 1, 1\n"), SAID("k", "255", "0"), NULL, "");
    expect_asked(KERNEL("k", ".maxntid 4294967295, 3, 1\n"), SAID("k", "255", "0"), NULL, "");
}

static void what_the_author_has_said_holds(void **state)
{
    (void)state;
    expect_asked(KERNEL("k", ".maxntid 256, 1, 1\n.minnctapersm 1\n"), SAID("k", "154", "0"), NULL,
                 "");
    expect_asked(KERNEL("k", ".maxntid 256, 1, 1\n.maxnreg 160\n"), SAID("k", "154", "0"), NULL,
                 "");
}

static void of_many_kernels_those_alone_ask_that_need_it(void **state)
{
    static const char text[] =
        KERNEL("a", ".maxntid 256, 1, 1\n") KERNEL("ab", ".maxntid 512, 1, 1\n")
            KERNEL("b", ".maxntid 512, 1, 1\n") ".visible .entry declared(.param .u64 p);\n" KERNEL(
                "abc", ".maxntid 768, 1, 1\n");

    (void)state;
    expect_asked(text,
                 HEAD SAID("abc", "48", "0") SAID("b", "64", "0") SAID("ab", "117", "0")
                     SAID("a", "125", "0"),
                 NULL, "ab abc ");
}

static void a_kernel_that_spilled_for_it_is_left_as_it_was(void **state)
{
    static const char text[] =
        KERNEL("a", ".maxntid 256, 1, 1\n") KERNEL("b", ".maxntid 512, 1, 1\n");
    static const char first[] = SAID("a", "168", "0") SAID("b", "117", "8");
    static const char tried[] = SAID("a", "128", "28") SAID("b", "64", "8");

    (void)state;
    assert_int_equal(occupancy_spilling(first, tried), 1);
    assert_int_equal(occupancy_spilling(first, first), 0);
    expect_asked(text, first, tried, "b ");
}

static void a_log_that_says_nothing_changes_nothing(void **state)
{
    static const char text[] = KERNEL("k", ".maxntid 256, 1, 1\n");

    (void)state;
    expect_asked(text, "", NULL, "");
    expect_asked(text, "ptxas info    : Compiling entry function 'k", NULL, "");
    expect_asked(text, "ptxas info    : Compiling entry function 'k' for 'sm_90'\nUsed", NULL, "");
    expect_asked(text, "ptxas info    : Used 154 registers\n", NULL, "");
    expect_asked("", SAID("k", "154", "0"), NULL, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_registers_keep_at_one_block_asks_for_two),
        cmocka_unit_test(a_kernel_with_room_for_two_is_left_alone),
        cmocka_unit_test(a_kernel_of_unknown_block_size_is_left_alone),
        cmocka_unit_test(what_the_author_has_said_holds),
        cmocka_unit_test(of_many_kernels_those_alone_ask_that_need_it),
        cmocka_unit_test(a_kernel_that_spilled_for_it_is_left_as_it_was),
        cmocka_unit_test(a_log_that_says_nothing_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
