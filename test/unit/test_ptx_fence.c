/* The address fence: what it refuses and why, what it reports of the module's variables, and that
 * its checker sees each missing part of a fence. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx_files.h"

#define HEAD  ".version 8.4\n.target sm_90\n.address_size 64\n"
#define ENTRY ".visible .entry k(.param .u64 a, .param .u32 b)\n"
#define REGS                                                                                       \
    ".reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<16>; .reg .b64 %d<8>; .reg .f32 %f<16>; "     \
    "ld.param.u64 %d1, [a]; "

static int fence(const char *text, unsigned passes, char **out, struct ptx_rewrite_report *report)
{
    size_t len;
    int result;

    *out = NULL;
    memset(report, 0, sizeof(*report));
    result = ptx_rewrite(text, strlen(text), passes | PTX_PASS_FENCE, out, &len, report);
    assert_int_equal(report->fence.fenced, !result);
    assert_int_equal(!report->fence.reason[0], !result);
    if (!result)
        assert_int_equal(strlen(*out), len);
    return result;
}

static char *fenced(const char *text, struct ptx_rewrite_report *report)
{
    char *out;

    if (fence(text, 0, &out, report))
        fail_msg("%s", report->fence.reason);
    return out;
}

static char *fenced_body(const char *body)
{
    struct ptx_rewrite_report report;
    char text[4096], *out;

    snprintf(text, sizeof(text), "%s%s ret; }",
             HEAD ".global .align 16 .b8 v[64];\n" ENTRY "{ " REGS, body);
    out = fenced(text, &report);
    ptx_rewrite_report_deinit(&report);
    return out;
}

static void expect_failed(const char *text, int result, const char *why)
{
    struct ptx_rewrite_report report;
    char *out;

    assert_int_equal(fence(text, 0, &out, &report), result);
    assert_null(out);
    if (!strstr(report.fence.reason, why))
        fail_msg("\"%s\" does not say \"%s\"", report.fence.reason, why);
    ptx_rewrite_report_deinit(&report);
}

static void expect_refused(const char *text, const char *why)
{
    expect_failed(text, -EPERM, why);
}

static void expect_text(char *out, const char *what, bool there)
{
    if (!strstr(out, what) == there)
        fail_msg("%s \"%s\" in:\n%s", there ? "no" : "there is", what, out);
}

/* TEXT with each WHAT replaced. */
static char *replaced(const char *text, const char *what, const char *with)
{
    char *out = calloc(1, (strlen(text) + 1) * (strlen(with) + 1));

    for (const char *at; (at = strstr(text, what)); text = at + strlen(what)) {
        strncat(out, text, (size_t)(at - text));
        strcat(out, with);
    }
    return strcat(out, text);
}

/* Takes the first WHAT in OUT, which the checker accepts, to WITH: the checker refuses. */
static void expect_checked(const char *out, const char *what, const char *with, const char *reason)
{
    const char *at = strstr(out, what);
    char *changed = calloc(1, strlen(out) + strlen(with) + 1), why[200];
    bool stack, indexed;

    assert_int_equal(fence_check(out, strlen(out), &(struct ptx_fence_report){.bytes = 64}, &stack,
                                 &indexed, why, sizeof(why)),
                     0);
    assert_non_null(at);
    memcpy(changed, out, (size_t)(at - out));
    strcat(strcat(changed, with), at + strlen(what));
    assert_int_equal(fence_check(changed, strlen(changed), &(struct ptx_fence_report){.bytes = 64},
                                 &stack, &indexed, why, sizeof(why)),
                     -EPERM);
    if (!strstr(why, reason))
        fail_msg("\"%s\" does not say \"%s\"", why, reason);
    free(changed);
}

/* ---- What comes out ---- */

/* Behind the fence an offset leads into the guard. */
static void no_offset_leads_beyond_the_guard(void **state)
{
    char *out = fenced_body("ld.global.u32 %r1, [%d1+-4]; st.u32 [%d1+-1048576], %r1;"
                            "ld.global.u32 %r1, [%d1+1048576]; @%p1 ld.global.u32 %r1, [%d2+-8];");

    (void)state;
    expect_text(out, "\tadd.s64 gshare$low0, %d1, -1048576;\n", true);
    expect_text(out, "ld.global.u32 %r1, [gshare$low0+1048572];", true);
    expect_text(out, "st.u32 [gshare$low0], %r1;", true);
    expect_text(out, "ld.global.u32 %r1, [%d1+1048576];", true);
    expect_checked(out, "[gshare$low0]", "[gshare$low0+-1048577]", "the address is not fenced");
    expect_checked(out, "[%d1+1048576]", "[%d1+1048577]", "the address is not fenced");
    expect_checked(out, "[%d1+1048576]", "[%d1+-1048577]", "the address is not fenced");
    free(out);
}

static void an_access_is_fenced_by_what_is_one_instruction(void **state)
{
    char *out = fenced_body("@%p1 ld.global.f32 %f1, [%d1+4];");

    (void)state;
    expect_text(out, "and.b64 gshare$far, %d1, gshare$inside;", true);
    expect_text(out, "or.b64 gshare$at, gshare$far, gshare$start;", true);
    expect_text(out, "ld.global.f32 %f1, [gshare$at+4];", true);
    expect_text(out, "isspacep", false);
    free(out);
}

/* All bits of the lower half, those of the mask of the upper one, and the window's own. */
static void what_fences_an_access_is_checked(void **state)
{
    static const struct {
        const char *text, *other, *why;
    } all[] = {
        {"{-1, gshare$mask};", "{-1, -1};", "does not begin with the window"},
        {"{0, gshare$base};", "{0, 0};", "does not begin with the window"},
        {"mov.b64 gshare$start", "mov.b64 gshare$inside", "does not begin with the window"},
        {"and.b64 gshare$far", "or.b64 gshare$far", "used otherwise"},
        {"and.b64 gshare$far", "@%p1 and.b64 gshare$far", "used otherwise"},
        {"and.b64 gshare$far", "and.b64 gshare$inside", "used otherwise"},
        {"and.b64 gshare$far, %d1, gshare$inside;", "mov.b64 gshare$far, %d1;", "is not whole"},
        {"%d1, gshare$inside;", "%d1, gshare$start;", "used otherwise"},
        {"or.b64 gshare$at", "xor.b64 gshare$at", "used otherwise"},
        {"or.b64 gshare$at", "@%p1 or.b64 gshare$at", "used otherwise"},
        {"or.b64 gshare$at, gshare$far", "or.b64 gshare$at, %d1", "used otherwise"},
        {"or.b64 gshare$at", "mov.b64 gshare$far, %d1; or.b64 gshare$at", "is not whole"},
        {"or.b64 gshare$at, gshare$far, gshare$start;",
         "or.b64 gshare$at, gshare$far, gshare$start; mov.b64 gshare$start, 0;", "used otherwise"},
    };
    char *out = fenced_body("@%p1 ld.global.f32 %f1, [%d1+4];");

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        expect_checked(out, all[i].text, all[i].other, all[i].why);
    free(out);
}

static unsigned times(const char *text, const char *what)
{
    unsigned n = 0;

    for (; (text = strstr(text, what)); text++)
        n++;
    return n;
}

/* Until it is written again, or control may come from elsewhere. */
static void a_register_is_forced_once(void **state)
{
    static const struct {
        const char *body;
        unsigned forced, elsewhere; /* %d1 itself, and what is in gshare$at */
    } all[] = {
        {"ld.global.u32 %r1, [%d1]; st.global.u32 [%d1+8], %r1; red.global.add.u32 [%d1], %r1;", 1,
         0},
        {"ld.global.u32 %r1, [%d1]; add.s64 %d2, %d1, 4; ld.global.u32 %r2, [%d1+4];", 1, 0},
        {"ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r2, [%d1];", 2, 0},
        {"ld.global.u32 %r1, [%d1]; @%p1 add.s64 %d1, %d1, 4; ld.global.u32 %r2, [%d1];", 2, 0},
        {"ld.global.v2.u64 {%d2, %d1}, [%d1]; ld.global.u32 %r2, [%d1];", 2, 0},
        {"ld.global.u32 %r1, [%d1]; X: ld.global.u32 %r2, [%d1]; @%p1 bra X;", 2, 0},
        {"ld.global.u32 %r1, [%d1]; @%p1 bra X; ld.global.u32 %r2, [%d1]; X:", 1, 0},
        /* where it does not run, the register may lead anywhere */
        {"@%p1 ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1];", 1, 1},
        {"ld.global.u32 %r1, [%d1]; @%p1 ld.global.u32 %r2, [%d1];", 1, 0},
        /* it may end a loop */
        {"X: ld.global.u32 %r1, [%d1]; add.s64 %d2, %d1, 4; mov.u64 %d1, %d2; setp.lt.u64 %p1, "
         "%d2, %d3; @%p1 bra X;",
         0, 1},
        /* the address lies elsewhere */
        {"ld.global.u32 %r1, [%r2];", 0, 1},
        {"prefetch.global.L1 [%d1];", 0, 1},
        {"mov.u64 %d2, v; cvta.shared.u64 %d3, %d2; ld.u32 %r1, [%d1];", 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char *out = fenced_body(all[i].body);

        if (times(out, "or.b64 %d1, gshare$far, gshare$start;") != all[i].forced ||
            times(out, "or.b64 gshare$at, gshare$far, gshare$start;") != all[i].elsewhere)
            fail_msg("%s becomes\n%s", all[i].body, out);
        free(out);
    }
}

/* What is lowest of a stretch is added once, before the fence. */
static void negative_offsets_are_fenced_together(void **state)
{
    static const struct {
        const char *body, *text;
        unsigned forced;
    } all[] = {
        {"ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, [%d1+-8]; @%p1 st.global.u32 [%d1+4], %r1;",
         "ld.global.u32 %r1, [gshare$low0+8];\n\tld.global.u32 %r2, [gshare$low0];\n"
         "\t@%p1 st.global.u32 [gshare$low0+12], %r1;",
         1},
        /* a register that is written, and a place where control may come from elsewhere */
        {"ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r2, [%d1+-8];",
         "add.s64 gshare$low0, %d1, -8;", 2},
        {"ld.global.u32 %r1, [%d1+-4]; X: ld.global.u32 %r2, [%d1+-8]; @%p1 bra X;",
         "add.s64 gshare$low1, %d1, -8;", 2},
        {"ld.global.u64 %d1, [%d1+-4]; ld.global.u32 %r2, [%d1+-8];",
         "add.s64 gshare$low1, %d1, -8;", 2},
        /* further apart than an offset may be */
        {"ld.global.u32 %r1, [%d1+8]; ld.global.u32 %r2, [%d1+-1048576];",
         "ld.global.u32 %r2, [%d1+-1048576];", 2},
        {"ld.global.u32 %r1, [%d1+-1048577];", "ld.global.u32 %r1, [gshare$at];", 1},
        /* each register by itself, as many as there are */
        {"ld.global.u32 %r1, [%d1+-4]; ld.global.u32 %r2, [%d2+-4]; ld.global.u32 %r2, [%d1+-4];",
         "ld.global.u32 %r2, [gshare$low1];\n\tld.global.u32 %r2, [gshare$low0];", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char *out = fenced_body(all[i].body);

        if (!strstr(out, all[i].text) || times(out, ", gshare$far, gshare$start;") != all[i].forced)
            fail_msg("%s becomes\n%s", all[i].body, out);
        free(out);
    }
}

/* What is made of a forced register by constants, and by strides and indices of 32 bits, as long as
 * that leads nowhere else. */
static void steps_from_a_forced_register_need_no_fence(void **state)
{
    static const char stride[] = "mul.wide.s32 %d2, %r4, 4; X: ";
    static const struct {
        const char *before, *body;
        unsigned forced;
        bool reach;
    } all[] = {
        {"", "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, 524288; ld.global.u32 %r2, [%d1+-8];", 1,
         false},
        {"", "ld.global.u32 %r1, [%d1]; add.s64 %d3, -524289, %d1; ld.global.u32 %r2, [%d3];", 1,
         true},
        {"", "ld.global.u32 %r1, [%d1]; add.s64 %d3, %d1, 25769803777; ld.global.u32 %r2, [%d3];",
         2, false},
        {stride, "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; st.global.u32 [%d1], %r1;", 1,
         true},
        {stride,
         "ld.global.u32 %r1, [%d1]; add.u64 %d3, %d2, %d1; @%p1 red.global.add.u32 [%d3], 1;", 1,
         true},
        /* the first access follows the sum */
        {stride, "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; ld.global.u32 %r1, [%d1];", 1,
         true},
        {stride,
         "add.s64 %d3, %d1, %d2; @%p1 bra X; ld.global.u32 %r1, [%d3]; ld.global.u32 %r1, [%d1];",
         2, false},
        {stride, "add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1]; ld.global.u32 %r1, [%d1];", 1,
         false},
        /* three steps of 8 GiB are 24, and a fourth is too many */
        {stride,
         "ld.global.u32 %r1, [%d1]; add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; add.s64 %d4, "
         "%d3, %d2; ld.global.u32 %r1, [%d4]; add.s64 %d5, %d4, %d2; ld.global.u32 %r1, [%d5];",
         1, true},
        {stride,
         "ld.global.u32 %r1, [%d1]; add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; add.s64 %d4, "
         "%d3, %d2; ld.global.u32 %r1, [%d4]; add.s64 %d5, %d4, %d2; ld.global.u32 %r1, [%d5]; "
         "add.s64 %d6, %d5, %d2; ld.global.u32 %r1, [%d6];",
         2, true},
        {"mul.wide.u32 %d2, %r4, 6; X: ",
         "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];", 1, true},
        {"mul.wide.u32 %d2, %r4, 7; X: ",
         "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];", 2, false},
        {"cvt.s64.s32 %d2, %r4; shl.b64 %d2, %d2, 3; X: ",
         "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];", 2, false},
        {"cvt.s64.s32 %d4, %r4; shl.b64 %d2, %d4, 3; X: ",
         "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];", 1, true},
        {"", "ld.global.u32 %r1, [%d1]; mad.wide.s32 %d3, %r4, 12, %d1; ld.global.u32 %r1, [%d3];",
         1, true},
        {"", "ld.global.u32 %r1, [%d1]; mad.wide.s32 %d3, %r4, 13, %d1; ld.global.u32 %r1, [%d3];",
         2, false},
        /* strides that may be anything */
        {"ld.global.u64 %d2, [%d1]; X: ",
         "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];", 3, false},
        {"@%p1 mul.wide.s32 %d2, %r4, 4; X: ",
         "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];", 2, false},
        {"mul.wide.s32 %d2, %r4, 4; @%p1 mov.u64 %d2, 7; X: ",
         "ld.global.u32 %r1, [%d1]; add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];", 2, false},
        /* sums that may be anything */
        {stride, "ld.global.u32 %r1, [%d1]; add.f64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3];", 2,
         false},
        {stride, "ld.global.u32 %r1, [%d1]; @%p1 add.s64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];",
         2, false},
        {stride,
         "ld.global.u32 %r1, [%d1]; add.s64 %d3, %d1, %d2; Y: ld.global.u32 %r1, [%d3]; "
         "@%p1 bra Y;",
         2, false},
        {stride, "ld.global.u32 %r1, [%d1]; sub.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3];", 2,
         false},
        {stride,
         "@%p1 ld.global.u32 %r1, [%d1]; add.s64 %d3, %d1, %d2; @%p1 st.global.u32 [%d3], 1;", 2,
         false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char text[2048], *out;

        snprintf(text, sizeof(text), "%s%s %s @%%p1 bra X; %s ret; }", HEAD ENTRY "{ " REGS,
                 all[i].before, all[i].body, strstr(all[i].before, "X:") ? "" : "X:");
        assert_int_equal(fence(text, 0, &out, &report), 0);
        if (times(out, ", gshare$far, gshare$start;") != all[i].forced ||
            report.fence.indexed != all[i].reach)
            fail_msg("%s %s becomes\n%s", all[i].before, all[i].body, out);
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
}

static void a_stride_is_checked_wherever_it_is_written(void **state)
{
    static const char product[] = "mul.wide.s32 gshare$stride0, %r4, 4;",
                      refused[] = "the address is not fenced", unbounded[] = "is not bounded";
    static const struct {
        const char *text, *other, *why;
    } all[] = {
        {"mov.b64 gshare$stride0, 0;", "mov.b64 gshare$stride0, 1;", "does not begin with nothing"},
        {"mov.b64 gshare$stride0, 0;", "", "does not begin with nothing"},
        {product, "mul.wide.s32 gshare$stride0, %r4, 25;", refused},
        {product, "mul.wide.s32 gshare$stride0, %r4, 256;", unbounded},
        {product, "mul.wide.s32 gshare$stride0, %r4, %r5;", unbounded},
        {product, "mul.lo.s64 gshare$stride0, %d4, 4;", unbounded},
        {product, "mov.b64 gshare$stride0, %d4;", unbounded},
        {product, "mul.wide.s32 gshare$stride0, %r4, 4; ld.global.u64 gshare$stride0, [%d1];",
         unbounded},
        {product, "mul.wide.s32 gshare$stride0, %r4, 13;", refused},
        {"%d3, %d1, gshare$stride0;", "%d3, %d1, %d2;", refused},
        {"%d3, %d1, gshare$stride0;", "%d3, %d2, gshare$stride0;", refused},
        {"%d3, %d1, gshare$stride0;", "%d3, gshare$stride0, gshare$stride0;", refused},
        {"add.s64 %d3", "sub.s64 %d3", refused},
        {"add.s64 %d3", "add.f64 %d3", refused},
        {"add.s64 %d3", "add.rm.f64 %d3", refused},
        {"add.s64 %d3", "@%p1 add.s64 %d3", refused},
        {"add.s64 %d3", "add.s64 %d1, %d1, %d4; add.s64 %d3", refused},
        {"ld.global.u32 %r1, [%d3]", "mov.u64 %d3, %d4; ld.global.u32 %r1, [%d3]", refused},
        {"ld.global.u32 %r1, [%d3]", "Y: ld.global.u32 %r1, [%d3]", refused},
        {"ld.global.u32 %r1, [%d3]", "ld.global.u32 %r1, [%d3+-1048577]", refused},
    };
    char *out = fenced_body("mul.wide.s32 %d2, %r4, 4; X: ld.global.u32 %r1, [%d1]; add.s64 %d3, "
                            "%d1, %d2; add.s64 %d4, %d3, %d2; ld.global.u32 %r1, [%d3]; "
                            "ld.global.u32 %r1, [%d4]; @%p1 bra X;");

    (void)state;
    assert_int_equal(times(out, ", gshare$far, gshare$start;"), 1);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        expect_checked(out, all[i].text, all[i].other, all[i].why);
    free(out);
}

/* A sum of what moves through a loop and of what stays is kept in a register that moves along. */
static void a_sum_that_moves_through_a_loop_is_forced_in_a_register_of_its_own(void **state)
{
    static const struct {
        const char *before, *body;
        unsigned moved, made, forced, elsewhere; /* of the register; and fences of others */
    } all[] = {
        {"X: ",
         "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; @%p1 st.global.u32 [%d3+4], %r1; "
         "add.s64 %d1, %d1, 16;",
         1, 2, 1, 0},
        {"X: ", "add.u64 %d3, %d2, %d1; ld.global.u32 %r1, [%d3]; add.s64 %d1, %d4, %d1;", 1, 2, 1,
         0},
        {"mov.u64 %d1, %d5; mov.u64 %d2, %d6; X: ",
         "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; add.s64 %d1, %d1, -8; add.s64 %d1, %d1, "
         "%d4;",
         2, 4, 1, 0},
        /* each block for itself */
        {"X: ",
         "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; @%p2 bra Y; Y: ld.global.u32 %r1, "
         "[%d3]; add.s64 %d1, %d1, 16;",
         1, 2, 1, 1},
        /* before the access the sum is another one already */
        {"X: ", "add.s64 %d3, %d1, %d2; add.s64 %d1, %d1, 16; ld.global.u32 %r1, [%d3];", 1, 2, 0,
         1},
        /* the sum may be outside of the window */
        {"X: ", "add.s64 %d3, %d1, %d2; @%p2 ld.global.u32 %r1, [%d3]; add.s64 %d1, %d1, 16;", 0, 0,
         0, 1},
        {"X: ",
         "add.s64 %d3, %d1, %d2; @%p2 bra Y; ld.global.u32 %r1, [%d3]; Y: add.s64 %d1, %d1, 16;", 0,
         0, 0, 1},
        /* what does not pay, or is no such sum */
        {"X: ", "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3+-4]; add.s64 %d1, %d1, 16;", 0, 0,
         0, 1},
        {"X: ",
         "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; add.s64 %d1, %d1, 16; add.s64 %d2, %d2, "
         "16;",
         0, 0, 0, 1},
        {"X: ", "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; mov.u64 %d1, %d4;", 0, 0, 0, 1},
        {"X: ", "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; @%p2 add.s64 %d1, %d1, 16;", 0, 0,
         0, 1},
        {"X: ", "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; add.f64 %d1, %d1, %d4;", 0, 0, 0,
         1},
        {"X: ", "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; add.s64 %d1, %d1, %d1;", 0, 0, 0,
         1},
        {"mov.u64 %d3, 0; X: ",
         "add.s64 %d3, %d1, %d2; mov.u64 %d3, %d4; ld.global.u32 %r1, [%d3]; add.s64 %d1, %d1, 16;",
         0, 0, 0, 1},
        {"", "add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; add.s64 %d1, %d1, 16; X: ", 0, 0, 0,
         1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char body[1024], *out;
        unsigned forced;

        snprintf(body, sizeof(body), "ld.global.u64 %%d2, [%%d1]; %s %s @%%p1 bra X;",
                 all[i].before, all[i].body);
        out = fenced_body(body);
        forced = times(out, "or.b64 gshare$walk0, gshare$far, gshare$start;");
        /* the load of %d2 has a fence of its own */
        if (times(out, "add.s64 gshare$walk0, gshare$walk0, ") != all[i].moved ||
            times(out, "add.s64 gshare$walk0, %d") != all[i].made || forced != all[i].forced ||
            times(out, ", gshare$far, gshare$start;") != 1 + forced + all[i].elsewhere)
            fail_msg("%s becomes\n%s", body, out);
        free(out);
    }
}

/* No instruction has written what it begins with. */
static void a_parameter_does_not_move_along(void **state)
{
    static const char text[] =
        HEAD ".func f(.reg .u64 a, .reg .u64 b) { .reg .pred p; .reg .b64 d; .reg .b32 r; X: "
             "add.s64 d, a, b; "
             "ld.global.u32 r, [d]; add.s64 a, a, 16; setp.ne.u32 p, r, 0; @p bra X; ret; }\n"
             ".visible .entry k(.param .u64 p) { .reg .u64 d; ld.param.u64 d, [p]; call f, (d, d); "
             "ret; }";
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    if (fence(text, 0, &out, &report))
        fail_msg("%s", report.fence.reason);
    expect_text(out, "gshare$walk", false);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* However many sums stay where they are before. */
static void sums_that_do_not_move_keep_no_others_from_moving(void **state)
{
    enum { SUMS = 2000 };
    struct ptx_rewrite_report report;
    char *text = NULL, *out;
    size_t len;
    FILE *file = open_memstream(&text, &len);

    (void)state;
    assert_non_null(file);
    fputs(HEAD, file);
    for (unsigned k = 0; k < 2; k++) {
        fprintf(file,
                ".visible .entry k%u(.param .u64 p) { .reg .b64 %%d<4>; .reg .b32 %%r; "
                ".reg .pred %%p; X: ",
                k);
        for (unsigned i = 0; i < (k ? 1 : SUMS); i++)
            fputs("add.s64 %d3, %d1, %d2; ld.global.u32 %r, [%d3]; ", file);
        fprintf(file, "%s @%%p bra X; ret; }\n", k ? "add.s64 %d1, %d1, 16;" : "");
    }
    fclose(file);
    if (fence(text, 0, &out, &report))
        fail_msg("%s", report.fence.reason);
    expect_text(out, "add.s64 gshare$walk0, gshare$walk0, 16;", true);
    free(out);
    free(text);
    ptx_rewrite_report_deinit(&report);
}

static void a_register_that_moves_along_is_checked(void **state)
{
    static const char refused[] = "the address is not fenced";
    static const struct {
        const char *text, *other, *why;
    } all[] = {
        {"or.b64 gshare$walk0, gshare$far, gshare$start;", "mov.b64 gshare$walk0, gshare$far;",
         refused},
        {"and.b64 gshare$far, gshare$walk0, gshare$inside;\n\tor.b64 gshare$walk0, gshare$far, "
         "gshare$start;",
         "", refused},
        {"ld.global.u32 %r1, [gshare$walk0]", "Y: ld.global.u32 %r1, [gshare$walk0]", refused},
        {"ld.global.u32 %r1, [gshare$walk0]",
         "add.s64 gshare$walk0, %d1, %d2; ld.global.u32 %r1, [gshare$walk0]", refused},
        {"ld.global.u32 %r1, [gshare$walk0]", "ld.global.u32 %r1, [gshare$walk0+1048577]", refused},
    };
    char *out = fenced_body("X: add.s64 %d3, %d1, %d2; ld.global.u32 %r1, [%d3]; "
                            "add.s64 %d1, %d1, 16; @%p1 bra X;");

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        expect_checked(out, all[i].text, all[i].other, all[i].why);
    free(out);
}

static void a_parameter_of_a_function_stays_as_it_is(void **state)
{
    static const char text[] = HEAD ".func f(.reg .u64 a) { ld.global.u32 _, [a]; ret; }\n"
                                    ".visible .entry k(.param .u64 p) { .reg .u64 d; "
                                    "ld.param.u64 d, [p]; call f, (d); ret; }";
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    if (fence(text, 0, &out, &report))
        fail_msg("%s", report.fence.reason);
    expect_text(out, "or.b64 gshare$at, gshare$far, gshare$start;", true);
    expect_text(out, "or.b64 a,", false);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* Longer than what the checker compares as text. */
static void a_register_of_a_long_name_is_forced(void **state)
{
    struct ptx_rewrite_report report;
    char name[400], text[4096], *out;

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(text, sizeof(text),
             HEAD ENTRY "{ .reg .b64 %s; .reg .b32 r; ld.param.u64 %s, [a]; "
                        "ld.global.u32 r, [%s]; st.global.u32 [%s+4], r; ret; }",
             name, name, name, name);
    if (fence(text, 0, &out, &report))
        fail_msg("%s", report.fence.reason);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void what_is_forced_once_is_checked(void **state)
{
    static const char force[] = "or.b64 %d1, gshare$far, gshare$start;",
                      refused[] = "the address is not fenced";
    static const struct {
        const char *text, *other, *why;
    } all[] = {
        {"or.b64 %d1, gshare$far, gshare$start;", "", refused},
        {"and.b64 gshare$far, %d1, gshare$inside;", "", refused},
        {"and.b64 gshare$far, %d1, gshare$inside;", "mov.b64 gshare$far, %d1;", refused},
        {"or.b64 %d1, gshare$far", "X: or.b64 %d1, gshare$far", refused},
        {"or.b64 %d1, gshare$far", "or.b64 %d2, gshare$far", refused},
        {"or.b64 %d1, gshare$far", "@%p1 or.b64 %d1, gshare$far", "used otherwise"},
        {"or.b64 %d1, gshare$far", "or.b64 gshare$inside, gshare$far", "used otherwise"},
        {"or.b64 %d1, gshare$far", "or.b64 gshare$globals, gshare$far", "used otherwise"},
        {"st.global.u32 [%d1+8]", "add.s64 %d1, %d1, %d2; st.global.u32 [%d1+8]", refused},
        {"st.global.u32 [%d1+8]", "@%p2 mov.u64 %d1, 4; st.global.u32 [%d1+8]", refused},
        {"st.global.u32 [%d1+8]", "mov.b64 {%r1, %r2}, %d1; X: st.global.u32 [%d1+8]", refused},
        {"st.global.u32 [%d1+8]", "st.global.u32 [%d2+8]", refused},
        {"st.global.u32 [%d1+8]", "st.global.u32 [%d1+1048577]", refused},
        {"ld.global.u32 %r1, [%d1]", "ld.global.u64 %d1, [%d1]", refused},
        {"ld.global.u32 %r1, [%d1]", "ld.global.v2.u64 {%d2, %d1}, [%d1]", refused},
        {"ld.global.u32 %r1, [%d1]", "atom.global.add.u64 %d1, [%d1], 1", refused},
    };
    char *out = fenced_body("ld.global.u32 %r1, [%d1]; st.global.u32 [%d1+8], %r1;");

    (void)state;
    assert_int_equal(times(out, force), 1);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        expect_checked(out, all[i].text, all[i].other, all[i].why);
    free(out);
}

static void generic_addresses_are_told_apart_where_there_are_others(void **state)
{
    char *out = fenced_body("ld.f32 %f1, [%d1+4];");

    (void)state;
    expect_text(out, "isspacep", false);
    expect_text(out, "or.b64 %d1, gshare$far, gshare$start;", true);
    expect_text(out, "ld.f32 %f1, [%d1+4];", true);
    free(out);
    out = fenced_body(".shared .b8 s[4]; mov.u64 %d2, s; cvta.shared.u64 %d2, %d2; "
                      "ld.f32 %f1, [%d1+4];");
    expect_text(out, "isspacep.shared gshare$p, gshare$at;", true);
    expect_text(out, "isspacep.local", false);
    expect_text(out, "ld.f32 %f1, [gshare$at];", true);
    free(out);
}

static void a_place_in_a_variable_needs_no_fence(void **state)
{
    char *out = fenced_body("st.global.u32 [v+60], %r1;");

    (void)state;
    expect_text(out, "st.global.u32 [gshare$globals+60], %r1;", true);
    expect_text(out, "gshare$far, gshare$start", false);
    free(out);
    out = fenced_body("st.global.u32 [v+61], %r1;");
    expect_text(out, "gshare$far, gshare$start", true);
    free(out);
}

static void spaces_of_their_own_stay_as_they_are(void **state)
{
    char *out = fenced_body(".shared .align 8 .b8 s[64]; .local .align 8 .b8 l[64]; "
                            "ld.shared.u32 %r1, [s+4]; st.local.u32 [l], %r1; "
                            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [s]; "
                            "mbarrier.init.shared.b64 [s], 1;");

    (void)state;
    expect_text(out, "lop3", false);
    expect_text(out, "gshare$far, gshare$start", false);
    free(out);
}

static void a_place_among_parameters_is_bounded(void **state)
{
    char *out = fenced_body("ld.param.u32 %r1, [b]; mov.b64 %d2, a; add.s64 %d2, %d2, %d1; "
                            "ld.param.u32 %r1, [%d2+4]; ld.param.u8 %h1, [%r1];");

    (void)state;
    expect_text(out, "\tld.param.u32 %r1, [b];\n", true);
    expect_text(out,
                "\tmov.b64 gshare$far, a;\n\tsub.s64 gshare$sym, %d2, gshare$far;\n"
                "\tadd.s64 gshare$sym, gshare$sym, 4;\n\tmin.u64 gshare$sym, gshare$sym, 8;\n"
                "\tadd.s64 gshare$far, gshare$far, gshare$sym;\n"
                "\tld.param.u32 %r1, [gshare$far];\n",
                true);
    expect_text(out,
                "\tcvt.u64.u32 gshare$sym, %r1;\n\tmov.b64 gshare$far, a;\n"
                "\tsub.s64 gshare$sym, gshare$sym, gshare$far;\n"
                "\tmin.u64 gshare$sym, gshare$sym, 11;\n",
                true);
    expect_checked(out, "min.u64 gshare$sym, gshare$sym, 8", "min.u64 gshare$sym, gshare$sym, 9",
                   "not inside the kernel's parameters");
    expect_checked(out, "\tmin.u64 gshare$sym, gshare$sym, 8;\n", "", "the kernel's parameters");
    expect_checked(out, "\tmov.b64 gshare$far, a;\n", "", "the kernel's parameters");
    expect_checked(out, "mov.b64 gshare$far, a", "mov.b64 gshare$far, b", "kernel's parameters");
    expect_checked(out, "gshare$sym, gshare$sym, 4", "gshare$far, gshare$far, 4", "parameters");
    expect_checked(out, "\tmin.u64", "HERE: min.u64", "the kernel's parameters");
    expect_checked(out, "[gshare$far]", "[gshare$far+4]", "the kernel's parameters");
    expect_checked(out, "[gshare$far]", "[%d2]", "the kernel's parameters");
    expect_checked(out, "ld.param.u32 %r1, [b]", "ld.param.u32 %r1, [b+4]", "the parameter");
    expect_checked(out, "ld.param.u32 %r1, [b]", "ld.param.u64 %d1, [b]", "the parameter");
    expect_checked(out, "ld.param.u32 %r1, [b]", "cvta.param.u64 %d1, %d1", "a generic address");
    free(out);
}

/* Where an aligned parameter lies in the bank the compiler alone knows. */
static void a_place_among_aligned_parameters_is_bounded_by_the_last(void **state)
{
    static const char bound[] =
        "\tsub.s64 gshare$sym, %d2, gshare$far;\n\tadd.s64 gshare$sym, gshare$sym, 8;\n"
        "\tmov.b64 gshare$at, m;\n\tadd.s64 gshare$at, gshare$at, 120;\n"
        "\tsub.s64 gshare$at, gshare$at, gshare$far;\n\tand.b64 gshare$at, gshare$at, -8;\n"
        "\tmin.u64 gshare$sym, gshare$sym, gshare$at;\n"
        "\tadd.s64 gshare$far, gshare$far, gshare$sym;\n\tld.param.u64 %d3, [gshare$far];\n";
    static const char *const changes[][2] = {
        {"gshare$at, m", "gshare$at, a"},
        {"gshare$at, 120", "gshare$at, 121"},
        {"sub.s64 gshare$at, gshare$at, gshare$far", "sub.s64 gshare$at, gshare$at, %d2"},
        {"and.b64", "or.b64"},
        {"gshare$sym, gshare$at;", "gshare$sym, 184;"},
        {"\tmin.u64", "\tadd.s64 gshare$far, gshare$far, 8; min.u64"},
    };
    struct ptx_rewrite_report report;
    char *out = fenced(HEAD ".visible .entry k(.param .u64 a, .param .align 64 .b8 m[128])\n{ " REGS
                            "mov.b64 %d2, m; ld.param.u64 %d3, [%d2+8]; ret; }",
                       &report);

    (void)state;
    expect_text(out, bound, true);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
        expect_checked(out, changes[i][0], changes[i][1], "not inside the kernel's parameters");
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* The hidden parameter of the completion pass is no part of what a register reaches. */
static void the_bound_ends_with_the_tenants_parameters(void **state)
{
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    assert_int_equal(fence(HEAD ENTRY "{ " REGS "ld.param.u32 %r1, [%d1]; ret; }",
                           PTX_PASS_COMPLETION, &out, &report),
                     0);
    assert_true(report.kernels[0].completes);
    expect_text(out, "min.u64 gshare$sym, gshare$sym, 8;", true);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

static void an_index_of_a_branch_is_bounded(void **state)
{
    char *out = fenced_body("t: .branchtargets A, B; brx.idx %r1, t; A: st.global.u32 [%d1], 1; "
                            "B: st.global.u32 [%d1], 2;");

    (void)state;
    expect_text(out, "min.u32 gshare$x, %r1, 1;", true);
    expect_text(out, "brx.idx gshare$x, t;", true);
    free(out);
}

#define TWO                                                                                        \
    ".func (.param .b32 r) f(.param .b32 x) { st.param.b32 [r], 1; ret; }\n"                       \
    ".func (.param .b32 r) g(.param .b32 x) { st.param.b32 [r], 2; ret; }\n"                       \
    ".func (.param .b64 r) h(.param .b32 x) { st.param.b64 [r], 3; ret; }\n"
#define CALL                                                                                       \
    "p: .callprototype (.param .b32 _) _ (.param .b32 _); { .param .b32 q; .param .b32 s; "        \
    "st.param.b32 [q], 1; call (s), %d1, (q), p; ld.param.b32 %r1, [s]; } "

static void a_computed_call_goes_to_functions_that_fit(void **state)
{
    struct ptx_rewrite_report report;
    char *out = fenced(HEAD TWO ENTRY
                       "{ " REGS "mov.u64 %d2, f; mov.u64 %d3, g; mov.u64 %d4, h; " CALL "ret; }",
                       &report);

    (void)state;
    expect_text(out, "mov.b64 gshare$to, f;", true);
    expect_text(out, "mov.b64 gshare$sym, g;", true);
    expect_text(out, "mov.b64 gshare$sym, h;", false);
    expect_text(out, "call (s), gshare$to, (q), p;", true);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* Names of C++ templates have thousands of characters. */
static void names_of_any_length_are_fenced(void **state)
{
    static const char text[] =
        HEAD ".global .u32 NAMEv[4];\n"
             ".func (.reg .u32 %o) NAMEf(.reg .u32 %i) { mov.u32 %o, %i; ret; }\n"
             ".func (.reg .u32 %o) NAMEg(.reg .u32 %i) { mov.u32 %o, 1; ret; }\n"
             ".global .u64 NAMEt[2] = {NAMEf, NAMEg};\n"
             ".visible .entry NAMEk(.param .u64 NAMEp, .param .u32 NAMEq)\n"
             "{ .local .u32 NAMEl[4]; .reg .b32 %r<4>; .reg .b64 %d<8>;"
             " to: .callprototype (.reg .u32 _) _ (.reg .u32 _);"
             " ld.param.u64 %d1, [NAMEp]; ld.global.u32 %r1, [NAMEv+8];"
             " mov.u32 %r2, NAMEl; add.u32 %r2, %r2, %r1; st.local.u32 [%r2], %r1;"
             " mov.b64 %d2, NAMEp; add.s64 %d2, %d2, %d1; ld.param.u32 %r3, [%d2];"
             " ld.global.u64 %d3, [NAMEt]; call (%r3), %d3, (%r1), to;"
             " st.global.u32 [%d1], %r3; ret; }\n";
    struct ptx_rewrite_report report;
    char *name = calloc(1, PTX_MAX_NAME), *whole, *out;

    (void)state;
    memset(name, 'n', PTX_MAX_NAME - 1);
    for (size_t length = 100; length < PTX_MAX_NAME; length = length * 2 + length / 2) {
        name[length] = 0;
        whole = replaced(text, "NAME", name);
        out = fenced(whole, &report);
        assert_int_equal(report.fence.stack_line, 0);
        free(out);
        free(whole);
        ptx_rewrite_report_deinit(&report);
        name[length] = 'n';
    }
    free(name);
}

static void the_text_comes_out_in_one_spelling(void **state)
{
    struct ptx_rewrite_report report;
    char *out = fenced(
        HEAD "// a comment\n.section .debug_str { .b8 1,2 }\n" ENTRY "{ /* one */ ret; }", &report);

    (void)state;
    expect_text(out, "comment", false);
    expect_text(out, "debug_str", false);
    expect_text(out, "one", false);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* ---- Variables ---- */

static void variables_move_into_a_block(void **state)
{
    struct ptx_rewrite_report report;
    const struct ptx_fence_report *r = &report.fence;
    char *out = fenced(HEAD ".func f { ret; }\n.global .u32 x = 7;\n"
                            ".global .align 64 .b8 y[100] = {1, 2};\n"
                            ".global .u64 z[3] = {generic(y)+4, f, x};\n"
                            ".global .align 8 .u8 w[8] = {0xFF(y), 0xFF00(y)};\n"
                            ".const .u32 c = 3; .shared .b8 s[8];\n" ENTRY "{ ret; }",
                       &report);

    (void)state;
    expect_text(out, ".u32 x", false);
    expect_text(out, ".const .align 4 .u32 c = 3;", true);
    expect_text(out, ".global .align 8 .u64 gshare$functions[1] = {f};", true);
    assert_int_equal(r->nvariables, 4);
    assert_int_equal(r->align, 256);
    const struct ptx_fence_variable *y = ptx_fence_report_variable(r, "y");
    assert_non_null(y);
    assert_int_equal(y->offset, 64);
    assert_int_equal(y->size, 100);
    assert_int_equal(y->align, 64);
    assert_int_equal(y->nbytes, 2);
    assert_int_equal(y->bytes[1], 2);
    assert_int_equal(ptx_fence_report_variable(r, "z")->offset, 168);
    assert_int_equal(r->bytes, 200);
    assert_int_equal(r->naddresses, 5);
    assert_int_equal(r->addresses[0].offset, 168);
    assert_int_equal(r->addresses[0].value, 68);
    assert_true(r->addresses[1].is_function);
    assert_int_equal(r->addresses[1].function, 0);
    assert_int_equal(r->nfunctions, 1);
    assert_int_equal(r->addresses[2].value, 0);
    assert_int_equal(r->addresses[4].shift, 8);
    assert_int_equal(r->addresses[4].size, 1);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* The text has zeros for all addresses of such a constant; one of functions alone stays. */
static void addresses_in_a_constant_are_told(void **state)
{
    struct ptx_rewrite_report report;
    char *out = fenced(HEAD ".global .align 4 .b8 v[8]; .global .align 4 .b8 w[8];\n"
                            ".func f() { ret; }\n"
                            ".const .align 8 .u64 c[4] = {7, generic(w)+4, f, 9};\n"
                            ".const .align 8 .u64 g = f;\n" ENTRY "{ ret; }",
                       &report);
    const struct ptx_fence_address *a = report.fence.addresses;

    (void)state;
    expect_text(out, ".const .align 8 .u64 c[4] = {7, 0, 0, 9};", true);
    expect_text(out, ".const .align 8 .u64 g = f;", true);
    assert_int_equal(report.fence.naddresses, 2);
    assert_string_equal(a[0].constant, "c");
    assert_true(a[0].offset == 8 && a[0].size == 8 && a[0].value == 12 && !a[0].is_function);
    assert_string_equal(a[1].constant, "c");
    assert_true(a[1].offset == 16 && a[1].size == 8 && a[1].is_function && a[1].function == 0);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

static void a_window_is_told_by_halves(void **state)
{
    struct fence_window w = fence_window(0x7f4000000000, (uint64_t)1 << 36, 0x7f4000001000);

    (void)state;
    assert_int_equal(w.mask, 15);
    assert_int_equal(w.base, 0x7f40);
    assert_int_equal(sizeof(w), 16);
}

static void a_store_to_the_only_local_variable_is_bounded(void **state)
{
    char *out = fenced_body(".local .align 8 .b8 l[22]; mov.u64 %d2, l; add.s64 %d3, %d2, 8; "
                            "add.s64 %d4, %d2, %d1; st.local.u32 [%d3+4], 1; "
                            "st.local.u32 [%d4+4], 2; st.local.v2.u64 [%r1], {%d1, %d1}; "
                            "st.local.u32 [%d3+12], 3; ld.local.u32 %r1, [%d2];");

    (void)state;
    expect_text(out, "\tst.local.u32 [l+12], 1;\n", true);
    expect_text(out,
                "\tcvt.u32.u64 gshare$x, %d4;\n\tmov.u32 gshare$y, l;\n"
                "\tsub.s32 gshare$x, gshare$x, gshare$y;\n"
                "\tadd.s32 gshare$x, gshare$x, 4;\n\tmin.u32 gshare$x, gshare$x, 16;\n"
                "\tadd.s32 gshare$x, gshare$x, gshare$y;\n\tst.local.u32 [gshare$x], 2;\n",
                true);
    expect_text(out,
                "\tmov.b32 gshare$x, %r1;\n\tmov.u32 gshare$y, l;\n"
                "\tsub.s32 gshare$x, gshare$x, gshare$y;\n\tmin.u32 gshare$x, gshare$x, 0;\n",
                true);
    expect_text(out, "st.local.u32 [gshare$x], 3;", true); /* l+20 lies not all inside */
    expect_text(out, "ld.local.u32 %r1, [%d2];", true);
    free(out);
}

/* A register that is written twice, under a guard or in a loop holds no constant. */
static void only_what_is_constant_is_taken_so(void **state)
{
    static const char *const bodies[] = {
        "mov.u64 %d2, l; mov.u64 %d2, 5;",          "@%p1 mov.u64 %d2, l;",
        "mov.u64 %d2, l; add.s64 %d2, %d2, 4;",     "mov.u64 %d2, l; mov.b64 %d2, {%r1, %r2};",
        "mov.u64 %d2, l; mov.b128 {%d2, %d3}, %q;", "mov.u64 %d2, l; ld.global.u64 %d2, [%d1];",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        char body[512], *out;

        snprintf(body, sizeof(body),
                 ".reg .b128 %%q; .local .align 8 .b8 l[22]; %s st.local.u32 [%%d2], 1;",
                 bodies[i]);
        out = fenced_body(body);
        expect_text(out, "st.local.u32 [gshare$x], 1;", true);
        free(out);
    }
}

static void stores_to_the_stack_are_told(void **state)
{
    static const struct {
        const char *body;
        bool told;
    } all[] = {
        {"st.local.u32 [l+4], 1; ld.local.u32 %r1, [%d1];", false},
        {"st.local.u32 [l+6], 1;", true},
        {"mov.u32 %r1, l; st.local.u32 [%r1], 1;", false},
        {".local .b8 m[4]; mov.u32 %r1, l; st.local.u32 [%r1], 1;", true},
        {"cvta.to.local.u64 %d2, %d1; st.local.u32 [%d2], 1;", false},
        {".local .b8 m[4]; cvta.to.local.u64 %d2, %d1; st.local.u32 [%d2], 1;", true},
        {"st.u32 [%d1], 1;", false},
        {"mov.u64 %d2, l; cvta.local.u64 %d2, %d2; ld.u32 %r1, [%d1];", false},
        {"mov.u64 %d2, l; cvta.local.u64 %d2, %d2; st.u32 [%d1], 1;", false},
        {".local .b8 m[4]; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; st.u32 [%d1], 1;", true},
        {"mov.u64 %d2, l; cvta.local.u64 %d2, %d2; st.v4.u32 [%d1], {%r1, %r1, %r1, %r1};", true},
        {"mov.u64 %d2, l; cvta.local.u64 %d2, %d2; atom.add.u32 %r1, [%d1], 1;", false},
        {"st.global.u32 [%d1], 1;", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char text[4096];

        snprintf(text, sizeof(text), "%s%s ret; }",
                 HEAD ENTRY "{ " REGS ".local .align 8 .b8 l[8];\n", all[i].body);
        free(fenced(text, &report));
        assert_int_equal(report.fence.stack_line, all[i].told ? 6 : 0);
        ptx_rewrite_report_deinit(&report);
    }
}

/* What a function stores by a pointer it got may be a caller's local variable where it may get an
 * address of one: then the variable lies in a frame, or, where no kernel calls the function, the
 * store is told. Functions of gshare do not count. */
static void what_may_be_a_callers_variable_is_found(void **state)
{
    static const struct {
        const char *body; /* of a kernel; %d2 is the generic address of its variable */
        bool found;
    } all[] = {
        {"st.global.u32 [%d1], 1;", false},
        {"st.u32 [%d2], 1; ld.u32 %r1, [%d2+4];", false},
        {"add.s64 %d3, %d2, 4; setp.eq.s64 %p1, %d3, %d1; selp.b64 %d4, %d3, %d1, %p1;", false},
        {"call f, (%d1);", false},
        {"call f, (%d2);", true},
        {"call (%r1), r, (%d2); call f, (%d1);", false},
        {"call c, (%d1);", false},
        {"call c, (%d2);", true},
        {"call s, (%d2); call f, (%d1);", true},
        {"call t, (%d2); call f, (%d1);", true},
        {"call (%d3), i, (%d1); call f, (%d3);", false},
        {"call (%d3), i, (%d2); call f, (%d3);", true},
        {"{ .param .b64 p; st.param.b64 [p], %d2; call (%r1), r, (p); call f, (p); }", true},
        {"{ .param .b64 p; st.param.b64 [p], %d1; call f, (p); }", false},
        {"{ .param .b64 p; st.param.b64 [p], %d2; call f, (p); }", true},
        {"{ .param .b64 p, q; .param .b32 o; st.param.b64 [p], %d1; st.param.b64 [q], %d2;"
         " call (o), vprintf, (p, q); }",
         false},
        {"{ .param .b64 p, q; .param .b32 o; st.param.b64 [p], %d1; st.param.b64 [q], %d2;"
         " call (o), vprintf, (p, q); call f, (q); }",
         true},
        {"add.s64 %d3, %d2, 4; st.global.u64 [%d1], %d3;", true},
        {"mov.b64 {%r1, %r2}, %d2; st.global.u32 [%d1], %r1;", true},
        {"selp.b64 %d3, %d1, %d2, %p1; mov.u64 %d4, %d3; atom.global.exch.b64 %d1, [%d1], %d4;",
         true},
        {"bra m; n: st.global.u64 [%d1], %d3; ret; m: mov.u64 %d3, %d2; bra n;", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char text[4096], *out;

        snprintf(text, sizeof(text), "%s mov.u64 %%d2, l; cvta.local.u64 %%d2, %%d2; %s ret; }",
                 HEAD ".extern .func (.param .b32 o) vprintf(.param .b64 a, .param .b64 b);\n"
                      ".func f(.param .b64 fp) { .reg .b64 %d1; ld.param.u64 %d1, [fp];"
                      " st.u32 [%d1], 1; ret; }\n"
                      ".func c(.param .b64 cp) { .reg .b64 %d1; .param .b64 p;"
                      " ld.param.u64 %d1, [cp]; st.param.b64 [p], %d1; call f, (p); ret; }\n"
                      ".func (.param .b32 ro) r(.param .b64 rp) { .reg .b64 %d<3>; .reg .b32 %r1;"
                      " ld.param.u64 %d1, [rp]; cvta.to.local.u64 %d2, %d1;"
                      " ld.local.u32 %r1, [%d2]; st.param.b32 [ro], %r1; ret; }\n"
                      ".func s(.param .b64 sp) { .reg .b64 %d1; ld.param.u64 %d1, [sp];"
                      " st.global.u64 [%d1], %d1; ret; }\n"
                      ".func t(.param .b64 tp) { .reg .b64 %d<4>; mov.b64 %d1, tp;"
                      " ld.param.u64 %d2, [%d1]; ret; }\n"
                      ".func (.reg .u64 o) i(.reg .u64 ip) { mov.u64 o, ip; ret; }\n" ENTRY
                      "{ " REGS ".local .align 8 .b8 l[8];\n",
                 all[i].body);
        if (fence(text, PTX_PASS_PRINTF, &out, &report))
            fail_msg("%s: %s", all[i].body, report.fence.reason);
        if ((report.fence.stack_line || strstr(out, "gshare$stack")) != all[i].found ||
            (report.fence.stack_line && strstr(out, "gshare$stack")))
            fail_msg("told %u: %s", report.fence.stack_line, all[i].body);
        free(out);
        ptx_rewrite_report_deinit(&report);
    }
}

/* ---- Frames ---- */

#define STORE_BY_POINTER                                                                           \
    ".func f(.param .b64 fp) { .reg .b64 %d1; ld.param.u64 %d1, [fp]; st.u32 [%d1], 1; ret; }\n"
#define OWN_VARIABLE                                                                               \
    ".local .align 8 .b8 l[24]; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; st.local.u32 [l+4], 2; "
#define CALL_F "{ .param .b64 p; st.param.b64 [p], %d2; call f, (p); } "

static char *framed(const char *functions, const char *body, struct ptx_rewrite_report *report)
{
    char text[4096], *out;

    snprintf(text, sizeof(text), "%s%s%s{ %s %s ret; }", HEAD, functions, ENTRY, REGS, body);
    if (fence(text, PTX_PASS_PRINTF, &out, report))
        fail_msg("%s: %s", text, report->fence.reason);
    return out;
}

/* Kernel and function have one variable between them, which holds nothing else. */
static void a_callers_variable_lies_in_a_frame(void **state)
{
    struct ptx_rewrite_report report;
    char *out = framed(STORE_BY_POINTER, OWN_VARIABLE CALL_F, &report);

    (void)state;
    assert_int_equal(report.fence.stack_line, 0);
    expect_text(out, ".func f(.reg .b32 gshare$bottom, .reg .b32 gshare$frame, .param .b64 fp)",
                true);
    expect_text(out, ".local .align 16 .b8 gshare$stack[32];", true);
    expect_text(out, "\tadd.u32 gshare$top, gshare$frame, 32;\n", true);
    expect_text(out, "\tcvt.u64.u32 %d2, gshare$place;\n\tcvta.local.u64 %d2, %d2;\n", true);
    expect_text(out, "\tcall f, (gshare$bottom, gshare$top, p);\n", true);
    expect_text(out,
                "\tmov.u32 gshare$y, gshare$bottom;\n\tsub.s32 gshare$x, gshare$x, gshare$y;\n"
                "\tmin.u32 gshare$x, gshare$x, 28;\n",
                true);
    expect_text(out, "[l+4]", false);
    expect_text(out, " l[24]", false);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* A chain of calls needs all of its frames at once, two of one caller the larger one. */
static void frames_have_room_for_the_longest_chain(void **state)
{
    static const char functions[] = STORE_BY_POINTER
        ".func g(.param .b32 gp) { .reg .b64 %d<3>; .local .align 4 .b8 m[40]; mov.u64 %d2, m;"
        " cvta.local.u64 %d2, %d2; " CALL_F " ret; }\n"
        ".func h() { .reg .b64 %d<3>; .local .align 16 .b8 n[64]; mov.u64 %d2, n;"
        " cvta.local.u64 %d2, %d2; " CALL_F " call g, (7); ret; }\n";
    struct ptx_rewrite_report report;
    char *out = framed(functions, OWN_VARIABLE CALL_F "call g, (1); call h;", &report);

    (void)state;
    assert_int_equal(report.fence.stack_line, 0);
    expect_text(out, "gshare$stack[144];", true);  /* 32 of k, 64 of h, 48 of g */
    assert_int_equal(report.fence.stack_bytes, 0); /* the compiler knows how deep it gets */
    expect_text(out, "\tcall h, (gshare$bottom, gshare$top);\n", true);
    expect_text(out, "\tcall g, (gshare$bottom, gshare$top, 7);\n", true);
    expect_text(out, "gshare$over", false);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* A function that calls itself and has variables ends its thread where there is no room. */
static void a_frame_without_room_is_a_fault(void **state)
{
    static const char functions[] =
        STORE_BY_POINTER ".func g() { .reg .b64 %d<3>; .local .align 4 .b8 m[8]; mov.u64 %d2, m;"
                         " cvta.local.u64 %d2, %d2; " CALL_F " call g; ret; }\n";
    struct ptx_rewrite_report report;
    char *out = framed(functions, OWN_VARIABLE CALL_F "call g;", &report);

    (void)state;
    assert_int_equal(report.fence.stack_line, 0);
    expect_text(out, "gshare$stack[544];", true);
    assert_int_equal(report.fence.stack_bytes, 544);
    expect_text(out,
                "\tsub.u32 gshare$place, gshare$top, gshare$bottom;\n"
                "\tsetp.gt.u32 gshare$over, gshare$place, 544;\n"
                "\t@gshare$over call gshare$trapped, (",
                true);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* What has a generic address is copied, and nothing else. */
static void a_parameters_address_is_that_of_a_copy(void **state)
{
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    if (fence(HEAD ".visible .entry k(.param .u64 a, .param .align 4 .b8 s[14])\n{ " REGS
                   ".local .align 8 .b8 l[24]; mov.u64 %d2, s; @%p1 cvta.param.u64 %d3, %d2;"
                   " ld.u32 %r1, [%d3+4]; ret; }",
              0, &out, &report))
        fail_msg("%s", report.fence.reason);
    expect_text(out, "gshare$stack[64];", true); /* 32 of l, 8 of a and 14 of s */
    expect_text(out,
                "\tld.param.b32 gshare$chunk, [s+8];\n\tst.local.b32 [gshare$stack+48], "
                "gshare$chunk;\n\tld.param.b16 gshare$chunk, [s+12];\n\tst.local.b16 "
                "[gshare$stack+52], gshare$chunk;\n",
                true);
    expect_text(out, "[a+", false);
    expect_text(
        out, "\tmov.b64 gshare$copy, a;\n\tsub.s64 gshare$copy, gshare$from, gshare$copy;\n", true);
    expect_text(
        out,
        "\tadd.u32 gshare$place, gshare$place, 32;\n\tcvt.u64.u32 gshare$copy, gshare$place;\n"
        "\t@%p1 cvta.local.u64 %d3, gshare$copy;\n",
        true);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

#define BY_ADDRESS                                                                                 \
    "mov.u64 %d3, f; { .param .b64 p; st.param.b64 [p], %d2;"                                      \
    " q: .callprototype _ (.param .b64 _); call %d3, (p), q; } "

/* Variable arguments stay the last parameter, and a call may have none. */
static void a_frame_comes_before_variable_arguments(void **state)
{
    struct ptx_rewrite_report report;
    char *out =
        framed(STORE_BY_POINTER ".func g(.reg .b32 n, .param .align 8 .b8 v[]) { .reg .b64 %d<3>;"
                                " .local .align 4 .b8 m[8]; mov.u64 %d2, m;"
                                " cvta.local.u64 %d2, %d2; " CALL_F " ret; }\n",
               OWN_VARIABLE CALL_F "{ .param .b32 w[4]; call g, (1, w); call g, (2); }", &report);

    (void)state;
    assert_int_equal(report.fence.stack_line, 0);
    expect_text(out,
                ".func g(.reg .b32 gshare$bottom, .reg .b32 gshare$frame, .reg .b32 n, "
                ".param .align 8 .b8 v[])",
                true);
    expect_text(out, "\tcall g, (gshare$bottom, gshare$top, 1, w);\n", true);
    expect_text(out, "\tcall g, (gshare$bottom, gshare$top, 2);\n", true);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void a_call_by_address_gives_a_frame(void **state)
{
    struct ptx_rewrite_report report;
    char *out = framed(STORE_BY_POINTER ".func g(.param .b64 gp) { ret; }\n",
                       OWN_VARIABLE BY_ADDRESS " mov.u64 %d3, g; call g, (%d1);", &report);

    (void)state;
    assert_int_equal(report.fence.stack_line, 0);
    expect_text(out, "gshare$to, (gshare$bottom, gshare$top, p), q;", true);
    expect_text(out, "gshare$stack[32];", true);
    assert_int_equal(report.fence.stack_bytes, 32);
    expect_text(out, ".func g(.reg .b32 gshare$bottom, .reg .b32 gshare$frame, .param .b64 gp)",
                true);
    expect_text(out, "\tcall g, (gshare$bottom, gshare$top, %d1);\n", true);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* COUNT times TEXT behind what is in *OUT, with the number in it. */
static void repeat(char **out, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++)
        *out += sprintf(*out, text, i);
}

/* Frames take time by the length of the text, also where that is calls beside names, or bytes of a
 * parameter that is copied beside instructions: else the test would not end. */
static void frames_take_no_longer_than_the_text(void **state)
{
    const size_t count = 150000;
    char *text = malloc(count * 80), *to = text, *out;
    struct ptx_rewrite_report report;

    (void)state;
    assert_non_null(text);
    to += sprintf(to, "%s",
                  HEAD ".func f(.reg .b64 b) { st.u32 [b], 3; ret; }\n" ENTRY "{ " REGS
                       ".local .align 8 .b8 l[24];\n");
    repeat(&to, ".reg .b32 n%zu;\n", count);
    to += sprintf(to, "mov.u64 %%d2, l; cvta.local.u64 %%d2, %%d2;\n");
    repeat(&to, "call f, (%%d2);\n", count);
    sprintf(to, "ret; }");
    expect_refused(text, "a function of 150000 calls, of at most 8192");

    to = text + sprintf(text, "%s",
                        HEAD ".visible .entry k(.param .align 1 .b8 s[4096])\n"
                             "{ .reg .b64 %d<4>; .reg .b32 %r1;\n");
    repeat(&to, "add.u32 %%r1, %%r1, %zu;\n", count + count / 2);
    sprintf(to, "mov.u64 %%d2, s; cvta.param.u64 %%d2, %%d2; ld.u8 %%r1, [%%d2]; ret; }");
    assert_int_equal(fence(text, 0, &out, &report), 0);
    expect_text(out, "gshare$stack[4096];", true);
    free(out);
    ptx_rewrite_report_deinit(&report);
    free(text);
}

/* What compilers do not write is refused as before. */
static void what_can_have_no_frame_is_told(void **state)
{
    static const char *const bodies[] = {
        OWN_VARIABLE ".local .b8 m[4]; " CALL_F,
        ".local .align 32 .b8 l[64]; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; " CALL_F,
        ".local .align 8 .b8 l[300000]; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; " CALL_F,
        ".local .align 8 .b8 l[8]; cvta.local.u64 %d2, l; " CALL_F,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        struct ptx_rewrite_report report;
        char *out = framed(STORE_BY_POINTER, bodies[i], &report);

        assert_int_equal(report.fence.stack_line, 4);
        expect_text(out, "gshare$stack", false);
        free(out);
        ptx_rewrite_report_deinit(&report);
    }
}

static const char generic_store[] = ".local .align 8 .b8 l[22]; mov.u64 %d2, l; "
                                    "cvta.local.u64 %d2, %d2; add.s64 %d2, %d2, %d1; "
                                    "st.u32 [%d2], 1;";

/* In a kernel a generic address that is local is one of its variable. */
static void a_generic_store_is_bounded_where_it_is_local(void **state)
{
    char *out = fenced_body(generic_store);

    (void)state;
    expect_text(out,
                "\tisspacep.local gshare$p, %d2;\n\tcvta.to.local.u64 gshare$far, %d2;\n"
                "\tcvt.u32.u64 gshare$x, gshare$far;\n\tmov.u32 gshare$y, l;\n"
                "\tsub.s32 gshare$x, gshare$x, gshare$y;\n\tmin.u32 gshare$x, gshare$x, 16;\n"
                "\tadd.s32 gshare$x, gshare$x, gshare$y;\n\tcvt.u64.u32 gshare$far, gshare$x;\n"
                "\tcvta.local.u64 gshare$far, gshare$far;\n"
                "\tselp.b64 gshare$at, gshare$far, %d2, gshare$p;\n",
                true);
    expect_text(out, "\tisspacep.local gshare$p, gshare$at;\n", true);
    expect_text(out, "\tst.u32 [gshare$at], 1;\n", true);
    free(out);
}

/* Rows of matrices at generic addresses: the instruction reaches shared memory and no other. */
static void rows_of_matrices_stay_in_shared_memory(void **state)
{
    char *out = fenced_body("ldmatrix.sync.aligned.m8n8.x2.trans.b16 {%r1, %r2}, [%d1+16];\n"
                            "@!%p1 stmatrix.sync.aligned.m8n8.x1.b16 [%d2], {%r1};\n"
                            "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r3];");

    (void)state;
    expect_text(out,
                "\tcvta.to.shared.u64 gshare$at, %d1;\n"
                "\tldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r1, %r2}, [gshare$at+16];\n",
                true);
    expect_text(out,
                "\tcvta.to.shared.u64 gshare$at, %d2;\n"
                "\t@!%p1 stmatrix.sync.aligned.m8n8.x1.shared.b16 [gshare$at], {%r1};\n",
                true);
    expect_text(out, "\tldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%r3];\n", true);
    free(out);
}

/* ---- What is refused ---- */

static void what_it_cannot_hold_is_refused(void **state)
{
    static const struct {
        const char *body, *why;
    } all[] = {
        {"cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r1], 232464;",
         "line 6: cp.async.bulk: 232464 bytes, and a block has 232448"},
        {"cp.reduce.async.bulk.global.shared::cta.bulk_group.xor.b64 [%d1], [%r1], 232464;",
         "line 6: cp.reduce.async.bulk: 232464 bytes, and a block has 232448"},
        {"multimem.ld_reduce.global.add.f32 %f1, [%d1];", "multimem"},
        {"alloca.u64 %d2, 16;", "alloca"},
        {"stacksave.u64 %d2;", "stacksave"},
        {"stackrestore.u64 %d2;", "stackrestore"},
        {"mbarrier.init.b64 [%d1], 1;", "mbarrier.init: without .shared"},
        {"ldmatrix.sync.aligned.m8n8.x1.b16 {%r1}, [v];", "ldmatrix: without .shared"},
        {"ld.param.u32 %r1, [b+4];", "line 6: ld: not inside the parameter b"},
        {"ld.param.u32 %r1, [b+-4];", "line 6: ld: not inside the parameter b"},
        {"ld.param.u64 %d1, [b];", "line 6: ld: not inside the parameter b"},
        {"ld.param.v2.u64 {%d1, %d2}, [a];", "line 6: ld: not inside the parameter a"},
        {"ld.param.v2.u64 {%d1, %d2}, [%d1];", "line 6: ld: an address among the parameters"},
        {"cvta.param.u32 %r2, %r1; ld.u32 %r1, [%d2];", "line 6: cvta: a generic"},
        {CALL, "no function of the module fits"},
        {"mov.u32 %r1, v;", "v"},
        {"@%p1 tensormap.replace.tile.global_address.global.b1024.b64 [%d1], %d2;", "tensormap"},
        {"cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
         "[%d1, {%r2}], [%r3];",
         "line 6: cp.async.bulk.tensor: a tensor map that is not among the kernel's parameters"},
        {"cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [v, {%r1, 4}], [%r2];",
         "line 6: cp.async.bulk.tensor: a tensor map"},
        {"@!%p1 cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.bulk_group [%d1, {%r1}], "
         "[%r2];",
         "line 6: cp.reduce.async.bulk.tensor: a tensor map"},
        {"cp.async.bulk.prefetch.tensor.1d.L2.global [%d1, {%r1}];",
         "line 6: cp.async.bulk.prefetch.tensor: a tensor map"},
        {"fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;",
         "line 6: fence.proxy.tensormap::generic: a tensor map"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[4096];

        snprintf(text, sizeof(text), "%s%s ret; }", HEAD ".global .b8 v[8]; " ENTRY "{ " REGS "\n",
                 all[i].body);
        expect_refused(text, all[i].why);
    }
}

/* A module whose variable begins with so many addresses. */
static char *module_of_addresses(unsigned count)
{
    char *text = malloc(1024 + 3 * (size_t)count), *at = text;

    assert_non_null(text);
    at += sprintf(at, HEAD ".global .u32 x;\n.global .u64 a[%u] = {x", count);
    for (unsigned i = 1; i < count; i++)
        at += sprintf(at, ",x");
    sprintf(at, "};\n.visible .entry k() { ret; }\n");
    return text;
}

static void addresses_without_end_are_refused(void **state)
{
    char *few = module_of_addresses(16384), *many = module_of_addresses(16385), *out = NULL;
    struct ptx_rewrite_report report = {0};
    size_t len;

    (void)state;
    assert_int_equal(ptx_rewrite(few, strlen(few), PTX_PASS_FENCE, &out, &len, &report), 0);
    assert_int_equal(report.fence.naddresses, 16384);
    expect_refused(many, "more than 16384 addresses");
    ptx_rewrite_report_deinit(&report);
    free(out);
    free(few);
    free(many);
}

static void modules_it_cannot_hold_are_refused(void **state)
{
    (void)state;
    expect_refused(HEAD ".extern .global .u32 x;\n", "line 4: x is defined elsewhere");
    expect_refused(HEAD ".global .texref t;\n", "texture");
    expect_refused(HEAD ".const .u32 d; .global .u32 x; .const .u64 c[2] = {x, generic(d)};\n",
                   "c begins with an address in .const");
    expect_refused(HEAD ".const .u32 c; .global .u64 x = generic(c);\n", "an address in .const");
    expect_refused(HEAD ENTRY "{ .global .u32 x; ret; }", "a .global variable in a function");
    expect_refused(HEAD ".extern .func e; " ENTRY "{ call e; ret; }", "e is not in the module");
    expect_refused(HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n); " ENTRY
                        "{ .param .b64 r; .param .b64 n; st.param.b64 [n], 8; call (r), malloc, "
                        "(n); ret; }",
                   "malloc is not in the module");
    expect_refused(".version 8.0\n.target sm_90\n" ENTRY "{ ret; }", "32 bits");
    expect_refused(".version 5.0\n.target sm_30\n.address_size 64\n" ENTRY "{ ret; }", "sm_50");
}

/* So that a program learns whether its text is wrong or the fence has no way for it. */
static void what_cannot_be_read_is_told_apart(void **state)
{
    (void)state;
    expect_failed("", -EINVAL, "line 1");
    expect_failed("junk", -EINVAL, "line 1");
    expect_failed(HEAD ENTRY "{ nonsense.b32 %r1, %r2; ret; }", -EINVAL, "line 5: ");
    expect_failed(HEAD ENTRY "{ mov.u32 %r1, 1; ret; }", -EINVAL, "line 5: ");
    expect_failed(HEAD ENTRY "{ ret;", -EINVAL, "line 5: ");
}

/* Functions that fit, and calls: with 64 functions some 7 KB of text for each call. */
static char *many_calls(unsigned functions, unsigned kernels, unsigned calls)
{
    static const char call[] = "{ .param .b32 q; .param .b32 s; st.param.b32 [q], 1; "
                               "call (s), %d1, (q), p; }\n";
    const size_t each = 512 + calls * sizeof(call);
    char *text = malloc(4096 + functions * 128 + kernels * each), *to = text;

    to += sprintf(to, "%s", HEAD);
    for (unsigned i = 0; i < functions; i++)
        to += sprintf(to, ".func (.param .b32 r) f%u(.param .b32 x) { ret; }\n", i);
    to += sprintf(to, "%s{ %s ", ENTRY, REGS);
    for (unsigned i = 0; i < functions; i++)
        to += sprintf(to, "mov.u64 %%d2, f%u;\n", i);
    to += sprintf(to, "ret; }\n");
    for (unsigned k = 0; k < kernels; k++) {
        to += sprintf(to,
                      ".visible .entry k%u(.param .u64 a) { %s p: .callprototype (.param .b32 _) _ "
                      "(.param .b32 _);",
                      k, REGS);
        for (unsigned i = 0; i < calls; i++)
            to += sprintf(to, "%s", call);
        to += sprintf(to, "ret; }\n");
    }
    return text;
}

/* It ends where the text does, not when all of it has been made. */
static void a_text_that_grows_too_long_is_refused(void **state)
{
    struct rusage before, after;
    char *text = many_calls(64, 28, 1000); /* 2.6 MB, which 200 MB would follow */

    (void)state;
    getrusage(RUSAGE_SELF, &before);
    expect_refused(text, "with its fences the text exceeds 64 MiB");
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 512 << 10);
    free(text);
    text = many_calls(257, 1, 1);
    expect_refused(text, "more than 256 functions");
    free(text);
}

static void a_call_may_mean_any_of_many_functions(void **state)
{
    struct ptx_rewrite_report report;
    char *text = many_calls(256, 1, 2), *out = fenced(text, &report);

    (void)state;
    expect_text(out, "mov.b64 gshare$sym, f255;", true);
    expect_text(out, "call (s), gshare$to, (q), p;", true);
    expect_text(out, "call (s), %d1", false);
    ptx_rewrite_report_deinit(&report);
    free(out);
    free(text);
}

/* A function's instructions: COUNT times FIRST, with its number twice, then COUNT times THEN. */
static char *long_body(char *to, const char *first, const char *then, unsigned count)
{
    to += sprintf(to, "{ %s .reg .b32 %%v<%u>; .reg .pred %%q<%u>; ld.param.u64 %%d0, [a];\nagain:",
                  REGS, count + 1, count < 10000 ? count + 1 : 1);
    for (unsigned i = 0; i < count; i++)
        to += sprintf(to, first, i, i);
    for (unsigned i = 0; then && i < count; i++)
        to += sprintf(to, then, i);
    return to + sprintf(to, "@%%p1 bra again; ret; }\n");
}

/* So many kernels with such bodies. */
static char *long_kernels(unsigned kernels, const char *first, const char *then, unsigned count)
{
    size_t line = strlen(first) + (then ? strlen(then) : 0) + 16;
    char *text = malloc((count * line + 2000) * kernels), *to = text;

    assert_non_null(text);
    to += sprintf(to, "%s", HEAD ".func f() { ret; }\n");
    for (unsigned i = 0; i < kernels; i++) {
        to += sprintf(to, ".visible .entry k%u(.param .u64 a)\n", i);
        to = long_body(to, first, then, count);
    }
    return text;
}

static void expect_taken(char *text)
{
    struct ptx_rewrite_report report;

    free(fenced(text, &report));
    ptx_rewrite_report_deinit(&report);
    free(text);
}

/* What the compiler would take gigabytes of the server's memory for, or hours. */
static void functions_that_are_too_large_are_refused(void **state)
{
    static const struct {
        const char *first, *then;
        unsigned fits, beyond;
        const char *why;
    } all[] = {
        {"ld.global.b32 %%v%u, [%%d0+%u];\n", "st.global.b32 [%%d0], %%v%u;\n", 4000, 5000,
         "5003 live 32-bit registers, of at most 4096"},
        /* only from one round of the loop to the next */
        {"st.global.b32 [%%d0], %%v%u; ld.global.b32 %%v%u, [%%d0];\n", NULL, 4000, 5000,
         "5003 live 32-bit registers, of at most 4096"},
        /* what stays where the predicate is false */
        {"@%%p2 mov.b32 %%v%u, 1; st.global.b32 [%%d0], %%v%u;\n", NULL, 4000, 5000,
         "5004 live 32-bit registers, of at most 4096"},
        /* metadata of sparse products, whose factors, sums and results are in eight more */
        {"ld.global.b32 %%v%u, [%%d0+%u];\n",
         "mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%%r6, %%r7}, {%%r2, %%r3}, "
         "{%%r4, %%r5}, {%%r0, %%r1}, %%v%u, 0;\n",
         4000, 5000, "5011 live 32-bit registers, of at most 4096"},
        /* guards */
        {"setp.eq.u32 %%q%u, %%r0, %u;\n", "@%%q%u st.global.b32 [%%d0], 1;\n", 4000, 5000,
         "5004 live 32-bit registers, of at most 4096"},
        {"mov.b32 %%v%u, %u;\n", NULL, 260000, 265000, "instructions, of at most 262144"},
        {"L%u: mov.b32 %%r0, %u;\n", NULL, 8000, 9000, "9001 labels, of at most 8192"},
        {"ld.global.b32 %%r0, [%%d0+%u];\n", NULL, 32000, 33000,
         "33000 accesses to memory, of at most 32768"},
        {"selp.b32 %%v%u, 1, %u, %%p1;\n", NULL, 16000, 17000, "17000 selp, of at most 16384"},
        {"div.rn.f32 %%v%u, %%r0, %%r1; rem.u64 %%d1, %%d1, %u; div.approx.f32 %%r0, %%r0, %%r1;\n",
         "sqrt.rn.f32 %%v%u, %%r0;\n", 1300, 1400,
         "8400 halves of divisions, reciprocals and roots, of at most 8192"},
        {"div.u32 %%v%u, %%r0, %%r1; rem.s32 %%r0, %%r0, %u; div.full.f32 %%r0, %%r0, %%r1;\n",
         NULL, 2700, 2800, "8400 halves of divisions, reciprocals and roots, of at most 8192"},
        {"bra again; // %u %u\n", NULL, 2000, 2100, "2101 backward branches, of at most 2048"},
        {"T%u: .branchtargets again, again; brx.idx %%r0, T%u;\n", NULL, 1000, 1100,
         "2201 backward branches, of at most 2048"},
        {"call f;\n", NULL, 8000, 8300, "8300 calls, of at most 8192"},
        /* each in bounds, but not both */
        {"L%u: ld.global.b32 %%r0, [%%d0+%u]; ld.global.b32 %%r0, [%%d0];\n", NULL, 5700, 5900,
         "times 2^16 of accesses to memory times labels, of at most 1024"},
        {"L%u: ld.global.b32 %%v%u, [%%d0];\n", "st.global.b32 [%%d0], %%v%u;\n", 2000, 2100,
         "times 2^20 of live registers times squared labels, of at most 8192"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        expect_taken(long_kernels(1, all[i].first, all[i].then, all[i].fits));
        char *text = long_kernels(1, all[i].first, all[i].then, all[i].beyond);
        expect_refused(text, all[i].why);
        free(text);
    }
}

/* 2,000 registers live over so many instructions. */
static char *long_life(unsigned instructions)
{
    enum { LIVING = 2000 };
    char *text = malloc((LIVING * 2 + instructions + 20) * 64), *to = text;

    assert_non_null(text);
    to += sprintf(to, "%s{ %s .reg .b32 %%v<%u>; ld.param.u64 %%d0, [a];\n",
                  HEAD ".visible .entry k(.param .u64 a)\n", REGS, LIVING);
    for (unsigned i = 0; i < LIVING; i++)
        to += sprintf(to, "ld.global.b32 %%v%u, [%%d0];\n", i);
    for (unsigned i = 0; i < instructions; i++)
        to += sprintf(to, "add.u32 %%r0, %%r0, 1;\n");
    for (unsigned i = 0; i < LIVING; i++)
        to += sprintf(to, "st.global.b32 [%%d0], %%v%u;\n", i);
    sprintf(to, "ret; }\n");
    return text;
}

static void long_functions_of_many_registers_are_refused(void **state)
{
    char *text = long_life(80000);

    (void)state;
    expect_refused(text, "times 2^33 of live registers times squared instructions, of "
                         "at most 1024");
    free(text);
    expect_taken(long_life(40000));
}

/* Each of the kernels would be taken. */
static void many_large_functions_are_refused(void **state)
{
    static const char label[] = "L%u: mov.b32 %%r0, %u;\n";
    char *text = long_kernels(5, label, NULL, 8100);

    (void)state;
    expect_refused(text, "the module has too many large functions");
    free(text);
    expect_taken(long_kernels(4, label, NULL, 8100));
}

/* Compilers' memory for functions at once (module/compile.c). */
static void a_module_whose_functions_need_much_memory_is_known(void **state)
{
    static const char label[] = "L%u: mov.b32 %%r0, %u;\n";
    static const struct {
        unsigned kernels, labels;
        bool large;
    } all[] = {{1, 8100, true}, {4, 3000, true}, {1, 1900, false}, {8, 600, false}};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char *text = long_kernels(all[i].kernels, label, NULL, all[i].labels);

        free(fenced(text, &report));
        assert_int_equal(report.fence.large, all[i].large);
        ptx_rewrite_report_deinit(&report);
        free(text);
    }
}

static void modules_of_too_many_functions_are_refused(void **state)
{
    char *text = many_calls(2049, 0, 0);

    (void)state;
    expect_refused(text, "2049 functions besides kernels, of at most 2048");
    free(text);
    expect_taken(many_calls(2048, 0, 0));
}

/* 1,000 calls that may each mean 256 functions. */
static void what_the_fence_adds_counts(void **state)
{
    char *text = many_calls(256, 1, 1000);

    (void)state;
    expect_refused(text, "instructions, of at most 262144");
    free(text);
}

/* Other passes leave such a text as it is, and say so. */
static void other_passes_keep_off_a_text_that_grows_too_long(void **state)
{
    static const char head[] = HEAD ENTRY "{ ret; }\n";
    struct ptx_rewrite_report report = {0};
    char *text = malloc(PTX_MAX_TEXT), *out = NULL;
    size_t len;

    (void)state;
    memset(text, ' ', PTX_MAX_TEXT);
    memcpy(text, head, strlen(head));
    assert_int_equal(ptx_rewrite(text, PTX_MAX_TEXT, PTX_PASS_COMPLETION, &out, &len, &report),
                     -ENOENT);
    assert_int_equal(report.count, 0);
    assert_non_null(strstr(report.reason, "64 MiB"));
    ptx_rewrite_report_deinit(&report);
    free(text);
}

/* A tenant's name must never pass for a reserved one, however the name comes about. */
static void reserved_names_are_refused(void **state)
{
    (void)state;
    expect_refused(HEAD ENTRY "{ .reg .b64 gshare$at; ret; }", "gshare$");
    expect_refused(HEAD ".func gshare$f { ret; }", "gshare$");
    expect_refused(HEAD ".func _ZN12gshare_print1fEv { ret; }", "_ZN12gshare_print");
    expect_refused(HEAD ENTRY "{ { .reg .b64 gshare; } { .reg .b64 gshare; } ret; }", "gshare");
    /* the name of a function, and of a register in the kernel that calls it */
    expect_refused(HEAD TWO ENTRY "{ " REGS "mov.u64 %d2, f; { .reg .b64 f; mov.b64 f, %d1; " CALL
                                  "} ret; }",
                   "verified");
}

/* ---- Beside the other passes ---- */

static void what_other_passes_add_stays(void **state)
{
    static const char text[] = HEAD
        ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n" ENTRY "{ " REGS
        ".param .b64 p; .param .b64 q; .param .b32 s; st.param.b64 [p], %d1; st.param.b64 [q], "
        "%d1; call.uni (s), vprintf, (p, q); ret; }";
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    assert_int_equal(fence(text, PTX_PASS_PRINTF | PTX_PASS_COMPLETION, &out, &report), 0);
    assert_true(report.prints);
    assert_true(report.kernels[0].completes);
    expect_text(out, ".global .align 8 .u64 gshare$print;", true);
    expect_text(out, "call.uni (s), gshare$vprintf, (p, q);", true);
    expect_text(out, "[gshare$done+40]", true);
    ptx_rewrite_report_deinit(&report);
    free(out);
    expect_refused(text, "vprintf is not in the module");
}

/* ---- The checker ---- */

static bool is_line_with(const char *line, size_t len, const char *what)
{
    return memmem(line, len, what, strlen(what)) != NULL;
}

/* Whose loss changes the value of an address that is fenced behind it, and so no more than where in
 * the window it leads. NEXT is the line behind it. */
static bool may_go(const char *line, size_t len, const char *next)
{
    static const char *const all[] = {".reg ",
                                      "cvt.u64.u32 gshare$at",
                                      "add.s64 gshare$at",
                                      "add.s64 gshare$sym",
                                      "%d4, gshare$sym",
                                      "brx.idx",
                                      "[gshare$at",
                                      "[gshare$globals+"};

    if (!is_line_with(line, len, "gshare$"))
        return true;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (is_line_with(line, len, all[i]))
            return true;
    if (is_line_with(line, len, "or.b64 gshare$fixed0"))
        return true; /* what it was before is in the window too */
    return is_line_with(line, len, "mov.b64 {") &&
           is_line_with(next, strcspn(next, "\n"), "lop3.b32 gshare$hi");
}

/* Without line after line, and with a label before it: the checker refuses. */
static void a_fence_that_lacks_a_part_is_refused(void **state)
{
    static const char body[] =
        ".shared .align 8 .b8 s[8]; .local .align 8 .b8 l[8]; mov.u64 %d2, s; cvta.shared.u64 %d2, "
        "%d2; mov.u64 %d3, l; cvta.local.u64 %d3, %d3; ld.u32 %r1, [%d1]; st.global.u32 [%d1+8], "
        "%r1; red.global.add.u32 [%r1+0x7fffff00], 1; mov.u64 %d4, v; st.global.u32 [v+4], 1; "
        "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, [%d1], %r9; "
        "cp.async.ca.shared.global [s], [%d1], 8; "
        "cp.async.bulk.global.shared::cta.bulk_group [%d1+16], [%r3], %r4; "
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%d1], %r4, [s]; "
        "ld.global.u64 %d6, [%d1]; X: mul.wide.u32 %d7, "
        "%r2, 4; add.s64 %d7, %d6, %d7; st.global.u32 [%d7+8], %r3; @%p1 bra X; t: .branchtargets "
        "A, A; brx.idx %r1, t; A: ";
    char *out = fenced_body(body), why[200];
    bool stack, indexed;
    size_t len = strlen(out);
    unsigned tried = 0;

    (void)state;
    assert_int_equal(fence_check(out, len, &(struct ptx_fence_report){.bytes = 64}, &stack,
                                 &indexed, why, sizeof(why)),
                     0);
    assert_int_equal(fence_check(out, len, &(struct ptx_fence_report){.bytes = 7}, &stack, &indexed,
                                 why, sizeof(why)),
                     -EPERM); /* v+4 lies outside */
    for (const char *line = out, *end; (end = strchr(line, '\n')); line = end + 1) {
        char *without = calloc(1, len + 64);
        size_t n = (size_t)(end - line);

        if (!may_go(line, n, end + 1)) {
            memcpy(without, out, (size_t)(line - out));
            strcat(without, end);
            if (!fence_check(without, strlen(without), &(struct ptx_fence_report){.bytes = 64},
                             &stack, &indexed, why, sizeof(why)))
                fail_msg("taken without: %.*s\n%s", (int)n, line, without);
            tried++;
        }
        free(without);
    }
    assert_true(tried > 40);
    free(out);
}

static void a_base_is_checked_wherever_it_is_written(void **state)
{
    char *out = fenced_body("ld.global.u64 %d6, [%d1]; X: mul.wide.u32 %d7, %r2, 4; "
                            "add.s64 %d7, %d6, %d7; st.global.u32 [%d7+8], %r3; @%p1 bra X; ");

    (void)state;
    expect_checked(out, "mov.b64 gshare$fixed0, {gshare$base, gshare$base};",
                   "mov.b64 gshare$fixed0, %d6;", "does not begin in the window");
    expect_checked(out, "or.b64 gshare$fixed0, gshare$far, gshare$start;",
                   "mov.b64 gshare$fixed0, %d6;", "is used otherwise");
    expect_checked(out, "or.b64 gshare$fixed0, gshare$far, gshare$start;",
                   "add.s64 gshare$fixed0, gshare$fixed0, 4;", "is used otherwise");
    expect_checked(out, "mad.wide.u32 gshare$at, %r2, 4, gshare$fixed0;",
                   "mad.wide.u32 gshare$at, %r2, 7, gshare$fixed0;", "the fence is not whole");
    expect_checked(out, "mad.wide.u32 gshare$at, %r2, 4, gshare$fixed0;",
                   "mad.wide.s32 gshare$at, %r2, 13, gshare$fixed0;", "the fence is not whole");
    expect_checked(out, "mad.wide.u32 gshare$at, %r2, 4, gshare$fixed0;",
                   "mad.lo.u64 gshare$at, %d2, 4, gshare$fixed0;", "the fence is not whole");
    expect_checked(out, "mad.wide.u32 gshare$at, %r2, 4, gshare$fixed0;",
                   "@%p1 mad.wide.u32 gshare$at, %r2, 4, gshare$fixed0;", "is used otherwise");
    expect_checked(out, "mad.wide.u32 gshare$at, %r2, 4, gshare$fixed0;",
                   "mad.wide.u32 gshare$at, %r2, 4, gshare$fixed0; Y:", "the fence is not whole");
    expect_checked(out, "[gshare$at+8]", "[gshare$at+1048577]", "the fence is not whole");
    free(out);
}

static void sums_of_one_product_are_checked_too(void **state)
{
    static const char sum[] = "add.s64 gshare$at, gshare$at, gshare$fixed0;",
                      product[] = "mul.wide.u32 gshare$at, %r2, 4;";
    char *out = fenced_body("ld.global.u64 %d6, [%d1]; ld.global.u64 %d5, [%d1+8]; "
                            "X: mul.wide.u32 %d7, %r2, 4; add.s64 %d4, %d7, %d6; "
                            "add.s64 %d3, %d5, %d7; ld.global.u32 %r3, [%d4+8]; "
                            "st.global.u32 [%d3], %r3; @%p1 bra X; ");

    (void)state;
    expect_text(out, "add.s64 gshare$at, gshare$at, gshare$fixed1;", true);
    expect_checked(out, sum, "add.s64 gshare$at, gshare$fixed0, gshare$at;", "is not whole");
    expect_checked(out, sum, "add.s64 gshare$at, gshare$fixed0, gshare$fixed0;", "is not whole");
    expect_checked(out, sum, "add.s64 gshare$at, %d2, gshare$fixed0;", "is not whole");
    expect_checked(out, sum, "add.s64 gshare$at, gshare$at, %d6;", "is not whole");
    expect_checked(out, sum, "add.f64 gshare$at, gshare$at, gshare$fixed0;", "is not whole");
    expect_checked(out, sum, "sub.s64 gshare$at, gshare$at, gshare$fixed0;", "is used otherwise");
    expect_checked(out, sum, "@%p1 add.s64 gshare$at, gshare$at, gshare$fixed0;",
                   "is used otherwise");
    expect_checked(out, sum, "add.s64 gshare$at, gshare$at, gshare$fixed0; Y:", "is not whole");
    expect_checked(out, sum, "Y: add.s64 gshare$at, gshare$at, gshare$fixed0;", "is not whole");
    expect_checked(out, product, "mul.wide.u32 gshare$at, %r2, 13;", "is not whole");
    expect_checked(out, product, "mul.lo.u64 gshare$at, %d2, 4;", "is not whole");
    expect_checked(out, product, "@%p1 mul.wide.u32 gshare$at, %r2, 4;", "is not whole");
    expect_checked(out, product, "mul.wide.u32 gshare$far, %r2, 4;", "");
    expect_checked(out, "[gshare$at+8]", "[gshare$at+1048577]", "the fence is not whole");
    free(out);
}

/* An address that is made of a base and an index is fenced by itself where making it anew at the
 * access could give another one, or where the base may lie outside though the sum does not. */
static void what_is_no_fixed_base_is_fenced_at_each_access(void **state)
{
    static const char *const all[] = {
        "X: mul.wide.s32 %d7, %r2, 4; add.s64 %d7, %d6, %d7; st.global.u32 [%d7], 1;",
        "X: mul.wide.u32 %d7, %r2, 7; add.s64 %d7, %d6, %d7; st.global.u32 [%d7], 1;",
        "X: mul.wide.u32 %d7, %r2, 4; add.s64 %d7, %d6, %d7; add.u32 %r2, %r2, 1; "
        "st.global.u32 [%d7], 1;",
        "mul.wide.u32 %d7, %r2, 4; add.s64 %d7, %d6, %d7; X: st.global.u32 [%d7], 1;",
        "X: mul.wide.u32 %d7, %r2, 4; @%p2 add.s64 %d7, %d6, %d7; st.global.u32 [%d7], 1;",
        "X: mul.wide.u32 %d7, %r2, 4; add.s64 %d7, %d6, %d7; st.global.u32 [%d7], 1; "
        "add.s64 %d6, %d6, 4;",
        "sub.s64 %d5, %d6, 4096; X: mul.wide.u32 %d7, %r2, 4; add.s64 %d7, %d5, %d7; "
        "st.global.u32 [%d7], 1;",
        "X: cvt.u64.u32 %d7, %d1; add.s64 %d7, %d6, %d7; st.global.u32 [%d7], 1;",
        "X: mul.wide.u32 %d7, %r2, 4; add.s64 %d7, %d6, %d7; st.global.u32 [%d7+-1048577], 1;",
        /* Names that mean another register where the access stands. */
        "X: mul.wide.u32 %d7, %r2, 4; add.s64 %d7, %d6, %d7; "
        "{ .reg .b32 %r<4>; mov.u32 %r2, 7; st.global.u32 [%d7], %r2; }",
        "{ .reg .b32 t; mov.u32 t, 3; } X: { .reg .b32 t; mov.u32 t, %r2; mul.wide.u32 %d7, t, 4; "
        "add.s64 %d7, %d6, %d7; } st.global.u32 [%d7], 1;"};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char body[1024], *out;

        snprintf(body, sizeof(body), "ld.global.u64 %%d6, [%%d1]; %s @%%p1 bra X;", all[i]);
        out = fenced_body(body);
        expect_text(out, "wide.u32 gshare$at", false);
        free(out);
    }
}

/* Long ways back from an access to its address take no more time than short ones, and no stack. */
static void a_long_way_to_an_address_is_given_up(void **state)
{
    enum { STEPS = 20000, LINE = 64 };
    char *text = malloc((size_t)STEPS * LINE * 2 + 4096), *to = text, *out = NULL;
    struct ptx_rewrite_report report;

    (void)state;
    to += sprintf(to, "%s", HEAD ENTRY "{ " REGS "ld.global.u64 %d6, [%d1]; X:\n");
    for (unsigned i = 0; i < STEPS; i++)
        to += sprintf(to, "shl.b64 %%d7, %%d7, 0; add.s64 %%d5, %%d6, %%d7;\n"
                          "st.global.u32 [%%d5], 1;\n");
    for (unsigned i = 0; i < STEPS; i++)
        to += sprintf(to, "shl.b64 %%d7, %%d7, 0;\n");
    sprintf(to, "add.s64 %%d5, %%d6, %%d7; st.global.u32 [%%d5], 1; @%%p1 bra X; ret; }\n");
    assert_int_equal(fence(text, 0, &out, &report), 0);
    assert_false(report.fence.indexed);
    ptx_rewrite_report_deinit(&report);
    free(out);
    free(text);
}

static void what_the_pass_must_not_leave_is_seen(void **state)
{
    char *out = fenced_body("applypriority.global.L2::evict_normal [%d1], 128;");

    (void)state;
    expect_checked(out, "applypriority.global.L2::evict_normal", "discard.global.L2",
                   "shows what memory held before");
    expect_checked(out, "applypriority.global.L2::evict_normal", "cp.async.bulk.prefetch.L2.global",
                   "reaches as far as its size");
    free(out);
}

static void a_tensor_map_that_the_pass_left_is_seen(void **state)
{
    static const char *const all[] = {
        ("cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], "
         "[%d1, {%r2}], [%r3];"),
        "cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%d1, {%r2}], [%r1];",
        "cp.reduce.async.bulk.tensor.1d.global.shared::cta.or.bulk_group [%d1, {%r2}], [%r1];",
        "cp.async.bulk.prefetch.tensor.1d.L2.global.tile [%d1, {%r2}];",
        "prefetch.tensormap [%d1];",
        "prefetch.const.tensormap [%d1];",
        "fence.proxy.tensormap::generic.acquire.sys [%d1], 128;",
        "fence.proxy.tensormap::generic.release.cta;",
    };
    char *out = fenced_body("st.shared.u32 [%r1], 5;");

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        expect_checked(out, "st.shared.u32 [%r1], 5;", all[i], "reads a tensor map");
    free(out);
}

/* With its guard; a label before it stays. */
static void what_only_advises_and_has_no_bound_is_dropped(void **state)
{
    char *out = fenced_body("discard.global.L2 [%d1], 128; @%p1 discard.L2 [%d1], 128;\n"
                            "HERE: cp.async.bulk.prefetch.L2.global [%d1], %r1;\n"
                            "@!%p1 cp.async.bulk.prefetch.L2.global.L2::cache_hint [v], 16, %d2;\n"
                            ".pragma \"enable_smem_spilling\", \"a;b\";\n"
                            ".pragma \"nounroll\"; @%p1 bra HERE; ");

    (void)state;
    expect_text(out, "discard", false);
    expect_text(out, "@%p1 bra", true);
    expect_text(out, "HERE:", true);
    expect_text(out, "prefetch", false);
    expect_text(out, "@!%p1", false);
    expect_text(out, "spilling", false);
    expect_text(out, "a;b", false);
    expect_text(out, "\t.pragma \"nounroll\";", true);
    free(out);
}

/* An indirect call goes neither to a kernel nor to a function of gshare. */
static void targets_are_functions_of_the_tenant(void **state)
{
    static const char *const others[] = {"gshare$f", "_ZN12gshare_print1fEv"};
    struct ptx_rewrite_report report;
    char *out = fenced(HEAD TWO ".entry e() { ret; }\n" ENTRY "{ " REGS
                                "mov.u64 %d2, f; mov.u64 %d3, g; " CALL "ret; }",
                       &report);

    (void)state;
    expect_checked(out, "gshare$to, f;", "gshare$to, e;", "target");
    expect_checked(out, "gshare$sym, g;", "gshare$sym, e;", "target");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char to[64], sym[64], header[64], *with;

        snprintf(header, sizeof(header), " %s(", others[i]);
        with = replaced(out, " h(", header);
        snprintf(to, sizeof(to), "gshare$to, %s;", others[i]);
        snprintf(sym, sizeof(sym), "gshare$sym, %s;", others[i]);
        expect_checked(with, "gshare$to, f;", to, "target");
        expect_checked(with, "gshare$sym, g;", sym, "target");
        free(with);
    }
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* Of the registers that gshare adds, only those of kernels' epilogues hold addresses. */
static void added_registers_are_known_by_name(void **state)
{
    static const char *const others[] = {"gshare$v",   "gshare$aa",  "gshare$a$",   "gshare$a$1",
                                         "gshare$a1_", "gshare$a$_", "gshare$a$1_1"};
    char *out =
        fenced_body("{ .reg .b64 other; mov.b64 other, %d1; } @%p1 ld.global.u32 %r1, [%d1];");

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char address[64], *with = replaced(out, "other", others[i]);

        snprintf(address, sizeof(address), "[%s]", others[i]);
        expect_checked(with, "[gshare$at]", address, "the address is not fenced");
        free(with);
    }
    free(out);
}

static void a_kernel_may_have_many_epilogues(void **state)
{
    static const char text[] = HEAD ENTRY
        "{ " REGS "ld.global.u32 %r1, [%d1]; setp.eq.u32 %p1, %r1, 1; @%p1 ret; bar.sync 0; "
        "setp.eq.u32 %p1, %r1, 2; @%p1 ret; bar.sync 0; st.global.u32 [%d1], %r1; ret; }";
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    assert_int_equal(fence(text, PTX_PASS_COMPLETION, &out, &report), 0);
    assert_true(report.kernels[0].completes);
    expect_text(out, "[gshare$w$1_]", true);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

static void an_alias_has_the_parameters_of_its_function(void **state)
{
    static const char text[] = HEAD TWO
        ".visible .func (.param .b32 r) i(.param .b32 x);\n.alias i, f;\n" ENTRY "{ ret; }";
    static const char *const others[] = {".param .b64 x", ".param .align 8 .b8 x[4]",
                                         ".reg .b32 x"};
    struct ptx_rewrite_report report;
    char *out = fenced(text, &report);

    (void)state;
    expect_checked(out, "i(.param .b32 x)", "i(.param .b64 x)", "an alias with other parameters");
    ptx_rewrite_report_deinit(&report);
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        char declared[128], *other;

        snprintf(declared, sizeof(declared), "i(%s)", others[i]);
        other = replaced(text, "i(.param .b32 x)", declared);
        expect_refused(other, "i: an alias whose parameters are not those of f");
        free(other);
    }
    free(out);
}

/* What bounds the store of BODY to the stack: without one of its lines the store is told. */
static void expect_bounds(const char *body, const char *const *lines, size_t count)
{
    char *out = fenced_body(body), why[200];
    bool stack, indexed;

    assert_int_equal(fence_check(out, strlen(out), &(struct ptx_fence_report){.bytes = 64}, &stack,
                                 &indexed, why, sizeof(why)),
                     0);
    assert_false(stack);
    for (size_t i = 0; i < count; i++) {
        char *without = strdup(out), *at = strstr(without, lines[i]);

        assert_non_null(at);
        memmove(at, at + strlen(lines[i]), strlen(at + strlen(lines[i])) + 1);
        assert_int_equal(fence_check(without, strlen(without),
                                     &(struct ptx_fence_report){.bytes = 64}, &stack, &indexed, why,
                                     sizeof(why)),
                         0);
        assert_true(stack);
        free(without);
    }
    *(strstr(out, "gshare$x, 16;") + 10) = '2'; /* min ..., 26: behind the variable */
    assert_int_equal(fence_check(out, strlen(out), &(struct ptx_fence_report){.bytes = 64}, &stack,
                                 &indexed, why, sizeof(why)),
                     0);
    assert_true(stack);
    free(out);
}

static void a_store_to_the_stack_is_seen(void **state)
{
    static const char *const lines[] = {
        "\tadd.s32 gshare$x, gshare$x, gshare$y;\n", "\tmin.u32 gshare$x, gshare$x, 16;\n",
        "\tsub.s32 gshare$x, gshare$x, gshare$y;\n", "\tmov.u32 gshare$y, l;\n"};
    static const char *const generic[] = {"\tselp.b64 gshare$at, gshare$far, %d2, gshare$p;\n",
                                          "\tcvta.local.u64 gshare$far, gshare$far;\n",
                                          "\tcvt.u64.u32 gshare$far, gshare$x;\n",
                                          "\tadd.s32 gshare$x, gshare$x, gshare$y;\n",
                                          "\tmin.u32 gshare$x, gshare$x, 16;\n",
                                          "\tsub.s32 gshare$x, gshare$x, gshare$y;\n",
                                          "\tmov.u32 gshare$y, l;\n",
                                          "\tcvt.u32.u64 gshare$x, gshare$far;\n",
                                          "\tcvta.to.local.u64 gshare$far, %d2;\n",
                                          "\tisspacep.local gshare$p, %d2;\n"};

    (void)state;
    expect_bounds(".local .align 8 .b8 l[22]; mov.u64 %d2, l; add.s64 %d2, %d2, %d1; "
                  "st.local.u32 [%d2+4], 1;",
                  lines, sizeof(lines) / sizeof(lines[0]));
    expect_bounds(generic_store, generic, sizeof(generic) / sizeof(generic[0]));
}

/* WHAT, wherever it stands, WITH in its place: the checker says that a store may hit any byte. */
static void expect_stack_reported(const char *out, const char *what, const char *with)
{
    char *changed = replaced(out, what, with), why[200];
    bool stack = false, indexed;

    assert_string_not_equal(out, changed);
    if (fence_check(changed, strlen(changed), &(struct ptx_fence_report){.bytes = 0}, &stack,
                    &indexed, why, sizeof(why)))
        fail_msg("%s: %s", with, why);
    if (!stack)
        fail_msg("taken: %s", with);
    free(changed);
}

/* The checker knows a store to a frame by what the stack of the kernel is. */
static void a_store_to_a_frame_is_seen(void **state)
{
    static const struct {
        const char *what, *with, *why;
    } all[] = {
        {"(gshare$bottom, gshare$top, p)", "(gshare$top, gshare$top, p)", "a frame from elsewhere"},
        {"call f, (gshare$bottom", "call f, (%r1", "a frame from elsewhere"},
        {"gshare$to, (gshare$bottom", "gshare$to, (%r1", "a target"},
        {"mov.u32 gshare$bottom, gshare$stack;", "mov.u32 gshare$bottom, gshare$stack+4;",
         "is changed"},
        {"mov.u32 gshare$bottom, gshare$stack;", "@%p1 mov.u32 gshare$bottom, gshare$stack;",
         "is changed"},
        {"mov.u32 gshare$bottom, gshare$stack;", "HERE: mov.u32 gshare$bottom, gshare$stack;",
         "is changed"},
        {"mov.u32 gshare$bottom, gshare$stack;",
         "@%p1 bra HERE; mov.u32 gshare$bottom, gshare$stack; HERE:", "is changed"},
        {"mov.u32 gshare$frame, gshare$bottom;",
         "mov.u32 gshare$frame, gshare$bottom; mov.u32 gshare$bottom, gshare$frame;", "is changed"},
        {"add.u32 gshare$top, gshare$frame, 32;", "add.u32 gshare$bottom, gshare$frame, 32;",
         "is changed"},
        {"add.u32 gshare$top, gshare$frame, 0;", "add.u32 gshare$bottom, gshare$bottom, 8;",
         "is changed"},
    };
    struct ptx_rewrite_report report;
    char *out = framed(STORE_BY_POINTER,
                       ".local .align 8 .b8 l[24]; mov.u64 %d2, l; cvta.local.u64 %d2, %d2; " CALL_F
                       "call f, (%d1); " BY_ADDRESS,
                       &report);

    (void)state;
    assert_int_equal(report.fence.stack_line, 0);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        expect_checked(out, all[i].what, all[i].with, all[i].why);
    expect_stack_reported(out, "gshare$stack[32]", "gshare$stack[31]");
    expect_stack_reported(out, "\tmin.u32 gshare$x, gshare$x, 28;\n", "");
    expect_stack_reported(out, "gshare$x, 28;", "gshare$x, 29;");
    expect_stack_reported(out, "mov.u32 gshare$y, gshare$bottom;",
                          "mov.u32 gshare$y, gshare$frame;");
    expect_stack_reported(out, "\tselp.b64 gshare$at, gshare$far, ",
                          "\tselp.b64 gshare$far, gshare$at, ");
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void the_size_of_a_bulk_copy_is_bounded(void **state)
{
    char *out = fenced_body("cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], %r4; "
                            "cp.async.bulk.global.shared::cta.bulk_group [%d1], [%r3], 64; "
                            "cp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [%d1], "
                            "[%r3], %r1;");

    (void)state;
    expect_text(out,
                "\tmin.u32 gshare$s, %r4, 232448;\n"
                "\tcp.async.bulk.global.shared::cta.bulk_group [gshare$at], [%r3], gshare$s;\n",
                true);
    expect_text(out,
                "\tmin.u32 gshare$s, %r1, 232448;\n"
                "\tcp.reduce.async.bulk.global.shared::cta.bulk_group.min.s32 [gshare$at], [%r3], "
                "gshare$s;\n",
                true);
    expect_checked(out, "%r1, 232448;", "%r1, 232464;", "the size is not bounded");
    expect_checked(out, "%r4, 232448;", "%r4, 232464;", "the size is not bounded");
    expect_checked(out, "min.u32 gshare$s", "min.s32 gshare$s", "the size is not bounded");
    expect_checked(out, "\tmin.u32", "\t@%p1 min.u32", "the size is not bounded");
    expect_checked(out, "], gshare$s;", "], %r4;", "the size is not bounded");
    expect_checked(out, "\tcp.async", "HERE: cp.async", "the size is not bounded");
    expect_checked(out, "[%r3], 64;", "[%r3], 232464;", "the size is not bounded");
    free(out);
}

/* Control that comes from elsewhere does not pass the fence. */
static void a_label_within_a_fence_is_refused(void **state)
{
    static const char *const before[] = {"and.b64 gshare$far", "or.b64 gshare$at",
                                         "@%p1 st.global"};
    char *out = fenced_body("@%p1 st.global.u32 [%d1], %r1;"), why[200];
    bool stack, indexed;
    size_t len = strlen(out);

    (void)state;
    for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
        char *with = calloc(1, len + 64), *at = strstr(out, before[i]);

        assert_non_null(at);
        memcpy(with, out, (size_t)(at - out));
        strcat(with, "HERE: ");
        strcat(with, at);
        /* Control may come to the first instruction from elsewhere, too. */
        assert_int_equal(fence_check(with, strlen(with), &(struct ptx_fence_report){.bytes = 64},
                                     &stack, &indexed, why, sizeof(why)),
                         i ? -EPERM : 0);
        free(with);
    }
    free(out);
}

static void texts_without_fences_are_refused(void **state)
{
    char why[200];
    bool stack, indexed;

    (void)state;
    for (const char *const *name = ptx_samples; *name; name++) {
        size_t len;
        char *text = ptx_file_read(*name, &len);

        assert_int_equal(fence_check(text, len, &(struct ptx_fence_report){.bytes = 0}, &stack,
                                     &indexed, why, sizeof(why)),
                         -EPERM);
        free(text);
    }
}

/* ---- Hostile bytes ---- */

static void any_part_of_a_module_is_survived(void **state)
{
    size_t len;
    char *text = ptx_file_read("sample_O3.ptx", &len);

    (void)state;
    for (size_t n = 0; n < len; n += 97) {
        struct ptx_rewrite_report report = {0};
        char *out = NULL;
        size_t out_len;
        int result = ptx_rewrite(text, n, PTX_PASS_FENCE, &out, &out_len, &report);

        assert_true(result == 0 || result == -EPERM || result == -EINVAL);
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_offset_leads_beyond_the_guard),
        cmocka_unit_test(an_access_is_fenced_by_what_is_one_instruction),
        cmocka_unit_test(what_fences_an_access_is_checked),
        cmocka_unit_test(a_register_is_forced_once),
        cmocka_unit_test(negative_offsets_are_fenced_together),
        cmocka_unit_test(steps_from_a_forced_register_need_no_fence),
        cmocka_unit_test(a_stride_is_checked_wherever_it_is_written),
        cmocka_unit_test(a_sum_that_moves_through_a_loop_is_forced_in_a_register_of_its_own),
        cmocka_unit_test(a_parameter_does_not_move_along),
        cmocka_unit_test(sums_that_do_not_move_keep_no_others_from_moving),
        cmocka_unit_test(a_register_that_moves_along_is_checked),
        cmocka_unit_test(a_parameter_of_a_function_stays_as_it_is),
        cmocka_unit_test(a_register_of_a_long_name_is_forced),
        cmocka_unit_test(what_is_forced_once_is_checked),
        cmocka_unit_test(generic_addresses_are_told_apart_where_there_are_others),
        cmocka_unit_test(a_place_in_a_variable_needs_no_fence),
        cmocka_unit_test(spaces_of_their_own_stay_as_they_are),
        cmocka_unit_test(a_place_among_parameters_is_bounded),
        cmocka_unit_test(a_place_among_aligned_parameters_is_bounded_by_the_last),
        cmocka_unit_test(the_bound_ends_with_the_tenants_parameters),
        cmocka_unit_test(an_index_of_a_branch_is_bounded),
        cmocka_unit_test(a_computed_call_goes_to_functions_that_fit),
        cmocka_unit_test(names_of_any_length_are_fenced),
        cmocka_unit_test(the_text_comes_out_in_one_spelling),
        cmocka_unit_test(variables_move_into_a_block),
        cmocka_unit_test(addresses_in_a_constant_are_told),
        cmocka_unit_test(a_window_is_told_by_halves),
        cmocka_unit_test(a_store_to_the_only_local_variable_is_bounded),
        cmocka_unit_test(only_what_is_constant_is_taken_so),
        cmocka_unit_test(stores_to_the_stack_are_told),
        cmocka_unit_test(what_may_be_a_callers_variable_is_found),
        cmocka_unit_test(a_callers_variable_lies_in_a_frame),
        cmocka_unit_test(frames_have_room_for_the_longest_chain),
        cmocka_unit_test(a_frame_without_room_is_a_fault),
        cmocka_unit_test(a_parameters_address_is_that_of_a_copy),
        cmocka_unit_test(a_frame_comes_before_variable_arguments),
        cmocka_unit_test(a_call_by_address_gives_a_frame),
        cmocka_unit_test(what_can_have_no_frame_is_told),
        cmocka_unit_test(frames_take_no_longer_than_the_text),
        cmocka_unit_test(a_generic_store_is_bounded_where_it_is_local),
        cmocka_unit_test(rows_of_matrices_stay_in_shared_memory),
        cmocka_unit_test(what_it_cannot_hold_is_refused),
        cmocka_unit_test(modules_it_cannot_hold_are_refused),
        cmocka_unit_test(what_cannot_be_read_is_told_apart),
        cmocka_unit_test(addresses_without_end_are_refused),
        cmocka_unit_test(a_text_that_grows_too_long_is_refused),
        cmocka_unit_test(functions_that_are_too_large_are_refused),
        cmocka_unit_test(long_functions_of_many_registers_are_refused),
        cmocka_unit_test(many_large_functions_are_refused),
        cmocka_unit_test(a_module_whose_functions_need_much_memory_is_known),
        cmocka_unit_test(modules_of_too_many_functions_are_refused),
        cmocka_unit_test(what_the_fence_adds_counts),
        cmocka_unit_test(a_call_may_mean_any_of_many_functions),
        cmocka_unit_test(other_passes_keep_off_a_text_that_grows_too_long),
        cmocka_unit_test(reserved_names_are_refused),
        cmocka_unit_test(what_other_passes_add_stays),
        cmocka_unit_test(a_fence_that_lacks_a_part_is_refused),
        cmocka_unit_test(a_base_is_checked_wherever_it_is_written),
        cmocka_unit_test(sums_of_one_product_are_checked_too),
        cmocka_unit_test(what_is_no_fixed_base_is_fenced_at_each_access),
        cmocka_unit_test(a_long_way_to_an_address_is_given_up),
        cmocka_unit_test(what_the_pass_must_not_leave_is_seen),
        cmocka_unit_test(a_tensor_map_that_the_pass_left_is_seen),
        cmocka_unit_test(what_only_advises_and_has_no_bound_is_dropped),
        cmocka_unit_test(targets_are_functions_of_the_tenant),
        cmocka_unit_test(added_registers_are_known_by_name),
        cmocka_unit_test(a_kernel_may_have_many_epilogues),
        cmocka_unit_test(an_alias_has_the_parameters_of_its_function),
        cmocka_unit_test(a_store_to_the_stack_is_seen),
        cmocka_unit_test(a_store_to_a_frame_is_seen),
        cmocka_unit_test(the_size_of_a_bulk_copy_is_bounded),
        cmocka_unit_test(a_label_within_a_fence_is_refused),
        cmocka_unit_test(texts_without_fences_are_refused),
        cmocka_unit_test(any_part_of_a_module_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
