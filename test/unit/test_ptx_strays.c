/* The fence that records strays: what stands before an access, and that the checker holds it to the
 * same fence. What is told at run time is in e2e/test_stray.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/fault_note.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx_files.h"

#define HEAD  ".version 8.4\n.target sm_90\n.address_size 64\n"
#define ENTRY ".visible .entry k(.param .u64 a)\n"
#define REGS  "{ .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>; ld.param.u64 %d1, [a]; "
#define FENCE                                                                                      \
    "\tand.b64 gshare$far, gshare$old, gshare$inside;\n"                                           \
    "\tor.b64 gshare$at, gshare$far, gshare$start;\n"

static char *fenced(const char *text, unsigned passes, struct ptx_rewrite_report *report)
{
    char *out;
    size_t len;

    memset(report, 0, sizeof(*report));
    if (ptx_rewrite(text, strlen(text), PTX_PASS_FENCE | passes, &out, &len, report))
        fail_msg("%s", report->fence.reason);
    return out;
}

static char *fenced_body(const char *body)
{
    struct ptx_rewrite_report report;
    char text[4096], *out;

    snprintf(text, sizeof(text), "%s%s ret; }", HEAD ".global .align 16 .b8 v[64];\n" ENTRY REGS,
             body);
    out = fenced(text, PTX_PASS_STRAYS, &report);
    assert_int_equal(report.fence.strays.count, 2);
    assert_string_equal(report.fence.strays.functions[1].kernel, "k");
    ptx_rewrite_report_deinit(&report);
    return out;
}

static void expect_text(const char *out, const char *what, bool there)
{
    if (!strstr(out, what) == there)
        fail_msg("%s \"%s\" in:\n%s", there ? "no" : "there is", what, out);
}

/* The whole of it before ACCESS, which stands in line 6 of function 1. */
static void expect_recorded(const char *body, const char *old, const char *compare,
                            const char *access)
{
    char want[1024], *out = fenced_body(body);

    snprintf(want, sizeof(want),
             "%s" FENCE "\tsetp.ne.%s;\n\t@gshare$r call gshare$stray, (%llu, gshare$old);\n" FENCE
             "\t%s\n",
             old, compare,
             (unsigned long long)((uint64_t)FAULT_STRAY << 56 | (uint64_t)1 << 32 | 6), access);
    expect_text(out, want, true);
    free(out);
}

static void an_access_is_compared_and_fenced_anew(void **state)
{
    (void)state;
    expect_recorded("ld.global.u32 %r1, [%d1];", "\tmov.b64 gshare$old, %d1;\n",
                    "s64 gshare$r, gshare$at, gshare$old", "ld.global.u32 %r1, [gshare$at];");
    expect_recorded("st.u32 [%d1+8], %r1;",
                    "\tadd.s64 gshare$at, %d1, 8;\n\tmov.b64 gshare$old, gshare$at;\n",
                    "s64 gshare$r, gshare$at, gshare$old", "st.u32 [gshare$at], %r1;");
    expect_recorded("@%p2 red.global.add.u32 [%d1], 1;", "\tmov.b64 gshare$old, %d1;\n",
                    "and.s64 gshare$r, gshare$at, gshare$old, %p2",
                    "@%p2 red.global.add.u32 [gshare$at], 1;");
    expect_recorded("@!%p2 st.global.u32 [%d1], 1;", "\tmov.b64 gshare$old, %d1;\n",
                    "and.s64 gshare$r, gshare$at, gshare$old, !%p2",
                    "@!%p2 st.global.u32 [gshare$at], 1;");
}

/* What cannot stray, and what changes nothing. */
static void variables_and_prefetches_are_not_recorded(void **state)
{
    char *out = fenced_body("st.global.u32 [v+4], 1; prefetch.global.L2 [%d1];");

    (void)state;
    expect_text(out, "[gshare$globals+4]", true);
    expect_text(out, "@gshare$r", false);
    free(out);
}

static void without_the_pass_the_fence_is_the_same(void **state)
{
    static const char text[] = HEAD ENTRY REGS "ld.global.u32 %r1, [%d1+8]; ret; }";
    struct ptx_rewrite_report report;
    char *out = fenced(text, 0, &report);

    (void)state;
    expect_text(out, "gshare$old", false);
    expect_text(out, "gshare$fault", false);
    expect_text(out, "gshare$stray", false);
    expect_text(out, "\tand.b64 gshare$far, %d1, gshare$inside;\n", true);
    expect_text(out, "ld.global.u32 %r1, [%d1+8];", true);
    assert_int_equal(report.fence.strays.count, 0);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* The last fence counts, not that for the comparison. */
static void the_checker_wants_the_fence_behind_the_call(void **state)
{
    static const char *const parts[] = {"\tand.b64 gshare$far, gshare$old, gshare$inside;\n",
                                        "\tor.b64 gshare$at, gshare$far, gshare$start;\n"};
    char why[200], *out = fenced_body("ld.global.u32 %r1, [%d1];"), *changed;
    const char *call = strstr(out, "@gshare$r call");
    bool stack, indexed;

    (void)state;
    assert_non_null(call);
    assert_int_equal(fence_check(out, strlen(out), &(struct ptx_fence_report){.bytes = 64}, &stack,
                                 &indexed, why, sizeof(why)),
                     0);
    for (unsigned i = 0; i < 2; i++) {
        const char *at = strstr(call, parts[i]);

        changed = calloc(1, strlen(out) + 1);
        memcpy(changed, out, (size_t)(at - out));
        strcat(changed, at + strlen(parts[i]));
        assert_int_equal(fence_check(changed, strlen(changed),
                                     &(struct ptx_fence_report){.bytes = 64}, &stack, &indexed, why,
                                     sizeof(why)),
                         -EPERM);
        assert_non_null(strstr(why, "the fence is not whole"));
        free(changed);
    }
    free(out);
}

static void functions_are_named_by_the_kernel_that_calls_them(void **state)
{
    struct ptx_rewrite_report report;
    char *out = fenced(HEAD ".func f(.param .u64 a) { .reg .b64 %d; ld.param.u64 %d, [a]; "
                            "st.global.u32 [%d], 1; ret; }\n" ENTRY
                            "{ .reg .b64 %d; ld.param.u64 %d, [a]; call f, (%d); ret; }\n",
                       PTX_PASS_STRAYS, &report);
    bool seen = false;

    (void)state;
    for (uint32_t i = 0; i < report.fence.strays.count; i++)
        if (!strcmp(report.fence.strays.functions[i].name, "f")) {
            char call[80];

            seen = true;
            assert_string_equal(report.fence.strays.functions[i].kernel, "k");
            snprintf(call, sizeof(call), "gshare$stray, (%llu,",
                     (unsigned long long)((uint64_t)FAULT_STRAY << 56 | (uint64_t)i << 32 | 4));
            expect_text(out, call, true);
        }
    assert_true(seen);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_is_compared_and_fenced_anew),
        cmocka_unit_test(variables_and_prefetches_are_not_recorded),
        cmocka_unit_test(without_the_pass_the_fence_is_the_same),
        cmocka_unit_test(the_checker_wants_the_fence_behind_the_call),
        cmocka_unit_test(functions_are_named_by_the_kernel_that_calls_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
