/* A kernel that cannot be had is left out of its module, with all that call what it is made of, and
 * the others stay: nothing of it is in the text that is loaded. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"
#include "ptx/rewrite/rewrite.h"

#define HEAD ".version 8.4\n.target sm_90\n.address_size 64\n"
#define GOOD                                                                                       \
    ".visible .entry good(.param .u64 a)\n{ .reg .b64 %d<2>; ld.param.u64 %d1, [a];\n"             \
    "st.global.u32 [%d1], 1; ret; }\n"
#define UNREAD                                                                                     \
    ".visible .entry unread(.param .u64 a)\n{ .reg .b32 %r<2>; { .reg .b32 %x;\n"                  \
    "wgmma.fence.sync.aligned; /* } */ } ret; }\n"
#define CLUSTER ".visible .entry cluster()\n.blocksareclusters\n{ ret; }\n"
#define REFUSED                                                                                    \
    ".visible .entry refused(.param .u64 a)\n{ .reg .b64 %d<2>; ld.param.u64 %d1, [a];\n"          \
    "st.global.u32 [%d1+8], 77;\nstacksave.u64 %d1; ret; }\n"
#define FUNC(name, what)    ".func " name "()\n{ .reg .b64 %d<2>; mov.b64 %d1, 0; " what " ret; }\n"
#define CALLS(name, callee) ".visible .entry " name "()\n{ call " callee "; ret; }\n"

enum { FENCED = PTX_PASS_FENCE | PTX_PASS_LEAVE_OUT, READ = PTX_PASS_LEAVE_OUT };

static const char *reason_of(const struct ptx_rewrite_report *report, const char *name)
{
    const char *reason = ptx_rewrite_report_left_out(report, name);

    return reason ? reason : "";
}

static int rewrite(const char *text, unsigned passes, char **out, struct ptx_rewrite_report *report)
{
    size_t len;

    *out = NULL;
    memset(report, 0, sizeof(*report));
    return ptx_rewrite(text, strlen(text), passes, out, &len, report);
}

/* What comes out is read whole, has kernel "good", and nothing of the kernels of NAMES. */
static void expect(const char *text, unsigned passes, const char *const *names,
                   const char *const *reasons)
{
    struct ptx_rewrite_report report;
    struct ptx_module *m;
    struct ptx_error error;
    char *out;

    if (rewrite(text, passes, &out, &report))
        fail_msg("%s: %s", text, report.fence.reason);
    if (ptx_parse(out, strlen(out), &m, &error))
        fail_msg("line %u: %s in\n%s", error.line, error.text, out);
    assert_non_null(ptx_module_func(m, "good"));
    for (; *names; names++, reasons++) {
        assert_null(ptx_module_func(m, *names));
        if (!strstr(reason_of(&report, *names), *reasons))
            fail_msg("%s: \"%s\" does not say \"%s\"", *names, reason_of(&report, *names),
                     *reasons);
    }
    assert_null(strstr(out, "wgmma"));
    assert_null(strstr(out, "stacksave"));
    assert_null(strstr(out, "77"));
    assert_null(ptx_rewrite_report_left_out(&report, "good"));
    ptx_module_free(m);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void what_cannot_be_read_is_left_out(void **state)
{
    static const char *const names[] = {"unread", "cluster", NULL};
    static const char *const reasons[] = {"line 9: ", "line 11: grids of clusters"};

    (void)state;
    expect(HEAD GOOD UNREAD CLUSTER, READ, names, reasons);
    expect(HEAD GOOD UNREAD CLUSTER, FENCED, names, reasons);
}

static void what_the_fence_refuses_is_left_out(void **state)
{
    static const char *const names[] = {"refused", "unread", NULL};
    static const char *const reasons[] = {"stacksave", "wgmma"};

    (void)state;
    expect(HEAD REFUSED GOOD UNREAD, FENCED, names, reasons);
}

/* Also where the function is declared first, and defined after its caller. */
static void callers_go_with_it(void **state)
{
    static const char *const names[] = {"f", "g", "caller", NULL};
    static const char *const reasons[] = {"", "", "it calls f, which cannot be had: line "};

    (void)state;
    expect(HEAD ".func f();\n.func g();\n" CALLS("caller", "g") GOOD FUNC("g", "call f;")
               FUNC("f", "wgmma.fence.sync.aligned;"),
           READ, names, reasons);
    expect(HEAD ".func f();\n.func g();\n" CALLS("caller", "g") GOOD FUNC("g", "call f;")
               FUNC("f", "stacksave.u64 %d1;"),
           FENCED, names, reasons);
}

/* Lines of what stays keep their numbers. */
static void later_lines_are_named_as_they_were(void **state)
{
    static const char *const names[] = {"unread", "refused", NULL};
    static const char *const reasons[] = {"line 6: ", "line 13: stacksave"};

    (void)state;
    expect(HEAD UNREAD GOOD REFUSED, FENCED, names, reasons);
}

/* Nothing is left out where nothing would be left, or where an address leads there: the module is
 * refused as a whole, with the first reason. */
static void whole_modules_are_refused(void **state)
{
    static const struct {
        const char *text;
        const char *reason;
        int result;
    } cases[] = {
        {HEAD REFUSED, "line 7: stacksave", -EPERM},
        {HEAD UNREAD, "line 6: ", -EINVAL},
        {HEAD UNREAD REFUSED CLUSTER, "line 10: stacksave", -EPERM},
        {HEAD GOOD FUNC("f", "stacksave.u64 %d1;") ".global .u64 t[1] = {f};\n", "stacksave",
         -EPERM},
        {HEAD GOOD FUNC("f", "wgmma.fence.sync.aligned;") ".global .u64 t[1] = {f};\n", "line 8",
         -EINVAL},
        /* Twice the same kernel, one of them readable: whichever counts is nobody's to choose. */
        {HEAD GOOD UNREAD ".visible .entry unread(.param .u64 a)\n{ ret; }\n", "line 9", -EINVAL},
        /* No end. */
        {HEAD GOOD ".visible .entry unread()\n{ wgmma.fence.sync.aligned; {", "line 8", -EINVAL},
        {HEAD GOOD ".visible .entry unread()\n{ wgmma.fence.sync.aligned; \1 }", "line 8", -EINVAL},
        {HEAD GOOD ".visible .entry unread()\n{ wgmma.fence.sync.aligned; \"", "line 8", -EINVAL},
    };
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(rewrite(cases[i].text, FENCED, &out, &report), cases[i].result);
        assert_null(out);
        if (!strstr(report.fence.reason, cases[i].reason))
            fail_msg("%zu: \"%s\" does not say \"%s\"", i, report.fence.reason, cases[i].reason);
        ptx_rewrite_report_deinit(&report);
    }
    /* Without the pass, as ever. */
    assert_int_equal(rewrite(HEAD GOOD REFUSED, PTX_PASS_FENCE, &out, &report), -EPERM);
    ptx_rewrite_report_deinit(&report);
    assert_int_equal(rewrite(HEAD GOOD, READ, &out, &report), -ENOENT);
    ptx_rewrite_report_deinit(&report);
}

/* The other passes see what is left. */
static void traps_of_the_rest_are_ended(void **state)
{
    static const char trap[] = HEAD UNREAD GOOD ".visible .entry traps()\n{ trap; ret; }\n";
    struct ptx_rewrite_report report;
    char *out;

    (void)state;
    assert_int_equal(rewrite(trap, FENCED | PTX_PASS_COMPLETION, &out, &report), 0);
    assert_null(ptx_rewrite_report_left_out(&report, "traps"));
    assert_non_null(strstr(out, "gshare$trapped"));
    assert_non_null(ptx_rewrite_report_kernel(&report, "good"));
    assert_null(ptx_rewrite_report_kernel(&report, "unread"));
    free(out);
    ptx_rewrite_report_deinit(&report);
}

/* As many refusals as functions take no more than linear time: the test would not end. */
static void many_refusals_take_no_longer(void **state)
{
    const size_t count = 20000;
    char *text = malloc(count * 200 + 1000), *to = text, *out;
    struct ptx_rewrite_report report;

    (void)state;
    to += sprintf(to, "%s%s.func f0()\n{ wgmma.fence.sync.aligned; ret; }\n", HEAD, GOOD);
    for (size_t i = 1; i < count; i++)
        to += sprintf(to, ".func f%zu()\n{ call f%zu; %s ret; }\n", i, i - 1,
                      i % 2 ? "" : "wgmma.fence.sync.aligned;");
    sprintf(to, "%s%zu; ret; }\n", ".visible .entry last()\n{ call f", count - 1);
    assert_int_equal(rewrite(text, FENCED, &out, &report), 0);
    assert_non_null(strstr(reason_of(&report, "last"), "it calls f"));
    free(out);
    ptx_rewrite_report_deinit(&report);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_be_read_is_left_out),
        cmocka_unit_test(what_the_fence_refuses_is_left_out),
        cmocka_unit_test(callers_go_with_it),
        cmocka_unit_test(later_lines_are_named_as_they_were),
        cmocka_unit_test(whole_modules_are_refused),
        cmocka_unit_test(traps_of_the_rest_are_ended),
        cmocka_unit_test(many_refusals_take_no_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
