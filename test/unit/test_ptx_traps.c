/* Traps and failed assertions: what stands in their place, and what is told of
 * them. What the kernels then do is in e2e/test_trap.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/fault_note.h"
#include "common/util.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx_files.h"

#define HEAD  ".version 8.4\n.target sm_90\n.address_size 64\n"
#define ENTRY ".visible .entry k(.param .u64 a)\n"
#define ASSERTFAIL                                                                                 \
    ".extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "     \
    ".param .b64 e) .noreturn;\n"
#define ASSERT                                                                                     \
    "{ .reg .b64 %d; .reg .b32 %r; .reg .pred %p; ld.param.u64 %d, [a]; cvt.u32.u64 %r, %d;\n"     \
    "setp.ne.u32 %p, %r, 0;\n@!%p /* guard */ call __assertfail, (%d, %d, %r, %d, %d);\nret; }\n"

enum { ALL = PTX_PASS_PRINTF | PTX_PASS_COMPLETION | PTX_PASS_FENCE };

static char *rewrite(const char *text, unsigned passes, struct ptx_rewrite_report *report)
{
    char *out;
    size_t len;

    memset(report, 0, sizeof(*report));
    if (ptx_rewrite(text, strlen(text), passes, &out, &len, report))
        fail_msg("%s", report->fence.reason);
    return out;
}

static void expect_text(const char *out, const char *what, bool there)
{
    if (!strstr(out, what) == there)
        fail_msg("%s \"%s\" in:\n%s", there ? "no" : "there is", what, out);
}

/* The call that records what happens in the line of the function. The exit behind it lets the
 * compiler forget what would follow: with ten assertions that saves 40 of 120 registers. */
static void expect_call(const char *out, const char *guard, enum fault_what what, uint64_t function,
                        uint64_t line)
{
    char call[128], end[128];
    const char *at;

    snprintf(call, sizeof(call), "%scall gshare$trapped, (%llu);", guard,
             (unsigned long long)((uint64_t)what << 56 | function << 32 | line));
    expect_text(out, call, true);
    at = strstr(out, call) + strlen(call);
    at += strspn(at, " \t\n");
    snprintf(end, sizeof(end), "%sexit;", guard);
    assert_int_equal(strncmp(at, end, strlen(end)), 0);
}

static void a_trap_keeps_its_guard_and_line(void **state)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(HEAD ENTRY "{ .reg .pred %p; setp.eq.u32 %p, 0, 1;\n"
                                   "trap;\n/* two\nlines */ @%p trap;\n@!%p\nbrkpt; ret; }\n",
                        ALL, &report);

    (void)state;
    expect_call(out, "", FAULT_TRAP, 0, 6);
    expect_call(out, "@%p ", FAULT_TRAP, 0, 8);
    expect_call(out, "@!%p ", FAULT_TRAP, 0, 10);
    expect_text(out, " trap;", false);
    expect_text(out, "brkpt", false);
    assert_int_equal(report.traps.count, 1);
    assert_string_equal(report.traps.functions[0].name, "k");
    assert_string_equal(report.traps.functions[0].kernel, "k");
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void an_assertion_prints_and_ends_its_thread(void **state)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(HEAD ASSERTFAIL ENTRY ASSERT, ALL, &report);

    (void)state;
    assert_true(report.prints);
    expect_text(out, "@!%p call gshare$assertprint, (", true);
    expect_call(out, "@!%p ", FAULT_ASSERT, 1, 8);
    expect_text(out, "__assertfail", false);
    expect_text(out, " trap;", false);
    assert_string_equal(report.traps.functions[1].kernel, "k");
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* Without the printing pass nothing stands where the driver's function would read. */
static void an_assertion_that_cannot_print_is_refused(void **state)
{
    static const char text[] = HEAD ASSERTFAIL ENTRY ASSERT;
    struct ptx_rewrite_report report = {0};
    char *out = NULL;
    size_t len;

    (void)state;
    assert_int_equal(ptx_rewrite(text, strlen(text), PTX_PASS_FENCE, &out, &len, &report), -EPERM);
    assert_non_null(strstr(report.fence.reason, "__assertfail is not in the module"));
    ptx_rewrite_report_deinit(&report);
}

static void without_a_fence_they_end_their_thread_too(void **state)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(HEAD ASSERTFAIL ENTRY ASSERT, PTX_PASS_PRINTF | PTX_PASS_TRAP, &report);

    (void)state;
    expect_call(out, "@!%p ", FAULT_ASSERT, 1, 8);
    expect_text(out, "call gshare$assertprint, (%d, %d, %r, %d, %d);", true);
    expect_text(out, "call __assertfail", false);
    assert_int_equal(report.traps.count, 2);
    ptx_module_free(ptx_parse_good(out));
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* The record's address is a constant, of which a module has 64 KiB. */
static void beside_full_constants_the_driver_ends_the_kernel(void **state)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(HEAD ".const .b8 all[65536];\n" ASSERTFAIL ENTRY ASSERT,
                        PTX_PASS_PRINTF | PTX_PASS_TRAP, &report);

    (void)state;
    expect_text(out, "call __assertfail, (%rd0, %rd1, %r, %rd2, %rd3); trap;", true);
    expect_text(out, "gshare$trapped", false);
    assert_int_equal(report.traps.count, 0);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void without_the_pass_the_driver_ends_the_kernel(void **state)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(HEAD ASSERTFAIL ENTRY ASSERT, PTX_PASS_PRINTF, &report);

    (void)state;
    expect_text(out, "call gshare$assertfail, (%d, %d, %r, %d, %d);", true);
    expect_text(out, "call __assertfail, (%rd0, %rd1, %r, %rd2, %rd3); trap;", true);
    expect_text(out, "gshare$trapped", false);
    assert_int_equal(report.traps.count, 0);
    ptx_module_free(ptx_parse_good(out));
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void who_cannot_trap_gets_nothing(void **state)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(HEAD ENTRY "{ /* trap; */ ret; }\n", ALL, &report);

    (void)state;
    expect_text(out, "gshare$fault", false);
    expect_text(out, "gshare$trapped", false);
    assert_int_equal(report.traps.count, 0);
    assert_true(report.kernels[0].completes);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* A thread that ends by a trap is not counted by the grid's last. */
static void a_kernel_that_may_trap_does_not_tell_its_own_end(void **state)
{
    static const char text[] = HEAD ".func f() { trap; }\n" ENTRY "{ call f; ret; }\n"
                                    ".visible .entry other(.param .u64 a) { ret; }\n";
    struct ptx_rewrite_report report;

    (void)state;
    free(rewrite(text, ALL, &report));
    assert_false(ptx_rewrite_report_kernel(&report, "k")->completes);
    assert_true(ptx_rewrite_report_kernel(&report, "other")->completes);
    ptx_rewrite_report_deinit(&report);
    free(rewrite(text, PTX_PASS_COMPLETION, &report));
    assert_true(ptx_rewrite_report_kernel(&report, "k")->completes);
    ptx_rewrite_report_deinit(&report);
}

static const char *kernel_of(const struct ptx_rewrite_report *report, const char *name)
{
    for (uint32_t i = 0; i < report->traps.count; i++)
        if (!strcmp(report->traps.functions[i].name, name))
            return report->traps.functions[i].kernel ? report->traps.functions[i].kernel : "";
    fail_msg("no function %s", name);
    return NULL;
}

/* By calls, by calls of calls, in circles, and through registers. */
static void the_only_kernel_that_reaches_a_function_is_known(void **state)
{
    struct ptx_rewrite_report report;
    char *out =
        rewrite(HEAD ".func deep() { trap; }\n.func once() { call deep; ret; }\n"
                     ".func both() { trap; }\n.func taken() { trap; }\n.func never() { trap; }\n"
                     ".func round();\n.func trip() { call round; ret; }\n"
                     ".func round() { call trip; trap; }\n"
                     ".visible .entry k() { call once; call both; call round; ret; }\n"
                     ".visible .entry l() { .reg .b64 %d; call both; mov.u64 %d, taken;\n"
                     "p: .callprototype _ (); call %d, (), p; ret; }\n",
                ALL, &report);

    (void)state;
    assert_string_equal(kernel_of(&report, "deep"), "k");
    assert_string_equal(kernel_of(&report, "once"), "k");
    assert_string_equal(kernel_of(&report, "trip"), "k");
    assert_string_equal(kernel_of(&report, "round"), "k");
    assert_string_equal(kernel_of(&report, "taken"), "l");
    assert_string_equal(kernel_of(&report, "both"), "");
    assert_string_equal(kernel_of(&report, "never"), "");
    assert_string_equal(kernel_of(&report, "l"), "l");
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* The checker does not take the pass's word. */
static void the_checker_refuses_a_trap(void **state)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(HEAD ENTRY "{ nanosleep.u32 1; ret; }\n", ALL, &report), why[200];
    char *at = strstr(out, "nanosleep.u32 1;");
    bool stack, indexed;

    (void)state;
    assert_non_null(at);
    assert_int_equal(fence_check(out, strlen(out), &(struct ptx_fence_report){.bytes = 0}, &stack,
                                 &indexed, why, sizeof(why)),
                     0);
    memcpy(at, "trap;           ", strlen("nanosleep.u32 1;"));
    assert_int_equal(fence_check(out, strlen(out), &(struct ptx_fence_report){.bytes = 0}, &stack,
                                 &indexed, why, sizeof(why)),
                     -EPERM);
    assert_non_null(strstr(why, "ends the work of others"));
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void ptxas_takes_what_comes_out(void **state)
{
    static const char *const texts[] = {
        HEAD ENTRY
        "{ .reg .pred %p; setp.eq.u32 %p, 0, 1; @%p trap; bar.sync 0; @!%p brkpt; ret; }",
        HEAD ASSERTFAIL ENTRY ASSERT, HEAD ".func f() { trap; }\n" ENTRY "{ call f; ret; }\n"};
    const char *ptxas = "/usr/local/cuda/bin/ptxas";
    char path[] = "/tmp/gs-ptx-XXXXXX", command[256];

    (void)state;
    if (access(ptxas, X_OK) != 0) {
        print_message("ptxas is not installed\n");
        skip();
    }
    int file = mkstemp(path);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct ptx_rewrite_report report;
        char *out = rewrite(texts[i], ALL, &report);

        assert_int_equal(ftruncate(file, 0), 0);
        assert_int_equal(pwrite(file, out, strlen(out), 0), strlen(out));
        snprintf(command, sizeof(command), "%s -arch=sm_90 -o /dev/null %s", ptxas, path);
        assert_int_equal(system(command), 0);
        free(out);
        ptx_rewrite_report_deinit(&report);
    }
    close(file);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trap_keeps_its_guard_and_line),
        cmocka_unit_test(an_assertion_prints_and_ends_its_thread),
        cmocka_unit_test(an_assertion_that_cannot_print_is_refused),
        cmocka_unit_test(without_a_fence_they_end_their_thread_too),
        cmocka_unit_test(beside_full_constants_the_driver_ends_the_kernel),
        cmocka_unit_test(without_the_pass_the_driver_ends_the_kernel),
        cmocka_unit_test(who_cannot_trap_gets_nothing),
        cmocka_unit_test(a_kernel_that_may_trap_does_not_tell_its_own_end),
        cmocka_unit_test(the_only_kernel_that_reaches_a_function_is_known),
        cmocka_unit_test(the_checker_refuses_a_trap),
        cmocka_unit_test(ptxas_takes_what_comes_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
