/* The framework of the rewriting passes, and which kernels the completion pass takes. What the
 * kernels then do is in test/conformance/test_completion.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "ptx/ptx.h"
#include "ptx/rewrite/completion_params.h"
#include "ptx/rewrite/edit.h"
#include "ptx/rewrite/rewrite.h"
#include "ptx_files.h"

#define HEAD       ".version 6.4\n.target sm_70\n.address_size 64\n"
/* Kernels of it take parameters of up to 32,764 bytes. */
#define NEWER_HEAD ".version 8.1\n.target sm_70\n.address_size 64\n"
#define HEAD90     ".version 8.0\n.target sm_90\n.address_size 64\n"
#define HEAD83     ".version 8.3\n.target sm_90\n.address_size 64\n"
#define TENSOR     "{ .reg .b64 %m; .reg .b32 %r;\n.shared .align 128 .b8 s[136];\n"
#define ENTRY      ".visible .entry k(.param .u64 a, .param .u32 b)\n"
#define PARAMETER  ".param .align 8 .b8 gshare$done[48]"
#define VPRINTF    ".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"

enum { BOTH = PTX_PASS_PRINTF | PTX_PASS_COMPLETION };

static char *rewrite(const char *text, unsigned passes, struct ptx_rewrite_report *report)
{
    char *out;
    size_t len;

    memset(report, 0, sizeof(*report));
    assert_int_equal(ptx_rewrite(text, strlen(text), passes, &out, &len, report), 0);
    assert_int_equal(strlen(out), len);
    return out;
}

/* The pass takes the only kernel of TEXT, whose new text this is. */
static char *completed(const char *text)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(text, PTX_PASS_COMPLETION, &report);

    assert_int_equal(report.count, 1);
    assert_true(report.kernels[0].completes);
    assert_string_equal(report.kernels[0].reason, "");
    ptx_rewrite_report_deinit(&report);
    ptx_module_free(ptx_parse_good(out));
    return out;
}

/* The pass leaves kernel "k" of TEXT alone, for a reason with WORD in it. */
static void expect_left(const char *text, const char *word)
{
    struct ptx_rewrite_report report = {0};
    const struct ptx_rewrite_kernel *k;
    const char *reason;
    char *out = NULL;
    size_t len;
    int result = ptx_rewrite(text, strlen(text), PTX_PASS_COMPLETION, &out, &len, &report);

    assert_true(result == 0 || result == -ENOENT);
    k = ptx_rewrite_report_kernel(&report, "k");
    reason = k ? k->reason : report.reason;
    assert_false(k && k->completes);
    if (!strstr(reason, word))
        fail_msg("\"%s\" does not say \"%s\"", reason, word);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

static unsigned occurrences(const char *text, const char *what)
{
    unsigned n = 0;

    for (; (text = strstr(text, what)); text += strlen(what))
        n++;
    return n;
}

/* ---- The framework ---- */

static void edits_keep_order_and_lines(void **state)
{
    static const char text[] = "one two\nthree\nfour";
    struct edits edits = {0};
    char *out;
    size_t len;

    (void)state;
    edits_replace(&edits, 4, 13, "2"); /* two\nthree */
    edits_insert(&edits, 18, "!");
    edits_insert(&edits, 4, edits_text(&edits, "<%d", 1));
    edits_insert(&edits, 4, ">");
    assert_true(edits_settle(&edits));
    out = edits_apply(&edits, text, strlen(text), &len);
    assert_string_equal(out, "one <1>2\n\nfour!");
    assert_int_equal(len, strlen(out));
    free(out);
    edits_deinit(&edits);
}

static void edits_that_overlap_are_found(void **state)
{
    struct edits edits = {.owner = 1};

    (void)state;
    edits_replace(&edits, 4, 8, "a");
    edits_replace(&edits, 8, 9, "b");
    assert_true(edits_settle(&edits));
    edits.owner = 2;
    edits_insert(&edits, 6, "c");
    assert_false(edits_settle(&edits));
    edits_remove(&edits, 2);
    assert_true(edits_settle(&edits));
    assert_int_equal(edits.count, 2);
    edits_deinit(&edits);
}

static void nothing_to_do_is_told(void **state)
{
    struct ptx_rewrite_report report = {0};
    char *out = NULL;
    size_t len = 0;

    (void)state;
    assert_int_equal(ptx_rewrite("", 0, BOTH, &out, &len, &report), -ENOENT);
    assert_int_equal(ptx_rewrite(HEAD, strlen(HEAD), BOTH, &out, &len, NULL), -ENOENT);
    assert_int_equal(
        ptx_rewrite(HEAD ENTRY "{ ret; }", strlen(HEAD ENTRY "{ ret; }"), 0, &out, &len, &report),
        -ENOENT);
    assert_null(out);
    ptx_rewrite_report_deinit(&report);
}

static void both_passes_work_on_one_text(void **state)
{
    static const char text[] = HEAD VPRINTF ENTRY
        "{ .reg .b64 %x; .param .b64 p; .param .b64 q; .param .b32 s; mov.u64 %x, 0;\n"
        "st.param.b64 [p], %x; st.param.b64 [q], %x; call.uni (s), vprintf, (p, q);\nret; }\n";
    struct ptx_rewrite_report report;
    char *out = rewrite(text, BOTH, &report);
    struct ptx_module *m = ptx_parse_good(out);

    (void)state;
    assert_true(report.prints);
    assert_non_null(ptx_module_var(m, PTX_PRINT_VARIABLE));
    assert_true(ptx_rewrite_report_kernel(&report, "k")->completes);
    assert_int_equal(ptx_rewrite_report_kernel(&report, "k")->index, 2);
    assert_null(ptx_rewrite_report_kernel(&report, "vprintf"));
    assert_int_equal(ptx_module_func(m, "k")->nparams, 3);
    assert_int_equal(ptx_module_func(m, "k")->params[2]->offset, 16);
    assert_int_equal(ptx_module_func(m, "k")->param_bytes, 16 + COMPLETION_PARAMS_BYTES);
    ptx_module_free(m);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

static void a_module_that_cannot_be_read_still_prints(void **state)
{
    static const char text[] = HEAD VPRINTF ENTRY
        "{ .param .b64 p; .param .b32 s;\ncall.uni (s), vprintf, (p, p);\nwgmma.fence;\nret; }\n";
    struct ptx_rewrite_report report;
    char *out = rewrite(text, BOTH, &report);

    (void)state;
    assert_true(report.prints);
    assert_int_equal(report.count, 0);
    assert_non_null(strstr(report.reason, "line 8: "));
    assert_non_null(strstr(report.reason, "wgmma"));
    ptx_rewrite_report_deinit(&report);
    free(out);
}

static void where_two_passes_meet_the_later_one_gives_way(void **state)
{
    /* A label may have any name. */
    static const char text[] = HEAD VPRINTF ENTRY
        "{ .param .b64 p; .param .b32 s; .reg .pred %q;\ncall.uni (s), vprintf, (p, p);\n"
        "bar.sync 0;\n{ vprintf: ret; @%q bra vprintf; ret; } }\n";
    struct ptx_rewrite_report report;
    char *out = rewrite(text, BOTH, &report);

    (void)state;
    assert_true(report.prints);
    assert_int_equal(report.count, 0);
    assert_non_null(strstr(report.reason, "another pass"));
    assert_null(strstr(out, "gshare$done"));
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* ---- The completion pass: what it changes ---- */

static void every_end_leads_to_an_epilogue(void **state)
{
    char *out = completed(HEAD ENTRY
                          "{ .reg .pred %p;\n@%p ret;\n@!%p exit; // bye\nret.uni ; { exit; } }\n");

    (void)state;
    assert_non_null(strstr(out, "@%p bra gshare$end0;\n@!%p bra gshare$end0; // bye\n"
                                "bra gshare$end0; { bra gshare$end0; } gshare$end0: {"));
    assert_int_equal(occurrences(out, "st.release.sys"), 1);
    assert_null(strstr(out, "ret"));
    free(out);
}

static void a_kernel_may_fall_off_its_end(void **state)
{
    char *empty = completed(HEAD ENTRY "{\n}\n");
    char *guarded = completed(HEAD ENTRY "{ .reg .pred %p;\n@%p ret;\n}\n");

    (void)state;
    assert_non_null(strstr(empty, "{\ngshare$end0: {"));
    assert_non_null(strstr(guarded, "@%p bra gshare$end0;\ngshare$end0: {"));
    free(empty);
    free(guarded);
}

static void early_returns_of_a_kernel_with_barriers_meet_nobody(void **state)
{
    char *out =
        completed(HEAD ENTRY "{ .reg .pred %p, %q;\n@%p bra DONE;\nbar.sync 0;\n"
                             "@!%q bra\n  HOP;\n@%p ret;\nbar.sync 0;\n@%q bra DONE;\n"
                             "trap;\nDONE: ret;\nHOP: .pragma \"nounroll\"; bra.uni DONE;\n}\n");

    (void)state;
    /* Behind the last barrier nobody is waited for: those exits share an end. */
    assert_non_null(strstr(out, "@%p bra gshare$end1;\nbar.sync 0;\n@!%q bra gshare$end2;\n\n"
                                "@%p bra gshare$end3;\nbar.sync 0;\n@%q bra gshare$end0;\n"
                                "trap;\nDONE: bra gshare$end0;\n"
                                "HOP: .pragma \"nounroll\"; bra gshare$end0;\n"));
    assert_int_equal(occurrences(out, "st.release.sys"), 4);
    free(out);
}

static void branches_that_meet_before_the_end_change_nothing(void **state)
{
    char *out = completed(
        HEAD ENTRY "{ .reg .pred %p; .reg .b64 %x;\n@%p bra L; bar.warp.sync 1;\nL: @%p bra L;\n"
                   "bar.sync 0;\n@%p bra DONE; st.global.u32 [%x], 1;\nDONE: ret; }\n");

    (void)state;
    assert_int_equal(occurrences(out, "st.release.sys"), 1);
    free(out);
}

static void ends_of_all_kinds_part_where_they_must(void **state)
{
    /* The branch past the barrier is no exit itself: only all ends apart help. */
    char *out = completed(HEAD ENTRY "{ .reg .pred %p;\n@%p bra L;\nbar.sync 0; bra DONE;\n"
                                     "L: @%p bra DONE; bra DONE;\nDONE: ret; }\n");

    (void)state;
    assert_true(occurrences(out, "st.release.sys") > 2);
    free(out);
}

static void a_wait_in_a_function_counts(void **state)
{
    char *out = completed(HEAD ".func f() { bar.sync 0; ret; }\n" ENTRY
                               "{ .reg .pred %p;\n@%p bra DONE;\ncall f;\nDONE: ret; }\n");

    (void)state;
    assert_int_equal(occurrences(out, "st.release.sys"), 2);
    assert_non_null(strstr(out, "bar.sync 0; ret; }")); /* the function itself stays */
    free(out);
}

static void the_parameter_is_the_last_of_each_declaration(void **state)
{
    struct ptx_rewrite_report report;
    char *out = rewrite(HEAD ".entry none;\n.entry empty();\n.visible .entry one(.param .u8 x);\n"
                             ".entry none { ret; }\n.weak .entry empty() { ret; }\n"
                             ".visible .entry one(.param .u8 x // it\n)\n.maxntid 32 { ret; }\n",
                        PTX_PASS_COMPLETION, &report);
    struct ptx_module *m = ptx_parse_good(out);

    (void)state;
    assert_int_equal(report.count, 3);
    assert_int_equal(occurrences(out, "none(" PARAMETER ")"), 2);
    assert_int_equal(occurrences(out, "empty(" PARAMETER ")"), 2);
    assert_non_null(strstr(out, "(.param .u8 x, " PARAMETER ");"));
    assert_non_null(strstr(out, "(.param .u8 x // it\n, " PARAMETER ")\n.maxntid"));
    assert_int_equal(ptx_module_func(m, "one")->params[1]->offset, 8);
    assert_int_equal(ptx_module_func(m, "none")->params[0]->offset, 0);
    ptx_module_free(m);
    ptx_rewrite_report_deinit(&report);
    free(out);
}

/* ---- What it leaves alone ---- */

static void kernels_whose_end_it_cannot_tell_are_left(void **state)
{
    (void)state;
    expect_left(HEAD ENTRY "{ L: bra L; }\n", "has no end");
    expect_left(HEAD ".func f() { exit; }\n" ENTRY "{ call f; ret; }\n",
                "line 4: exit in a function");
    expect_left(HEAD ".func g() { exit; }\n.func f() { call g; ret; }\n" ENTRY "{ call f; ret; }\n",
                "line 4: exit in a function");
    expect_left(HEAD ".func f() { exit; }\n" ENTRY
                     "{ .reg .b64 %x; mov.u64 %x, f; T: .callprototype _ ();\ncall %x, T; ret; }\n",
                "line 4: exit in a function");
    expect_left(HEAD ".func f() { exit; }\n.global .u64 t[1] = {f};\n" ENTRY
                     "{ .reg .b64 %x; ld.global.u64 %x, [t];\nT: .callprototype _ ();\n"
                     "call %x, T; ret; }\n",
                "line 4: exit in a function");
    expect_left(HEAD ".extern .func f();\n" ENTRY "{ call f; ret; }\n",
                "line 4: a function that is");
    expect_left(HEAD ENTRY "{ .reg .b64 %x; mov.u64 %x, k; ret; }\n", "its address is taken");
    expect_left(HEAD ".global .surfref s;\n" ENTRY
                     "{ .reg .b32 %r; sust.b.1d.b32.trap [s, {%r}], {%r}; ret; }\n",
                "line 6: a surface is written");
    expect_left(".version 8.0\n.target sm_90\n.address_size 64\n" ENTRY
                "{ fence.proxy.async; ret; }\n",
                "proxies");
    expect_left(HEAD83 ENTRY "{ fence.proxy.tensormap::generic.release.gpu; ret; }\n", "proxies");
    expect_left(HEAD90 ENTRY TENSOR
                "cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%m, {%r}], [s]; ret; }\n",
                "line 7: a tensor copy writes");
    expect_left(HEAD90 ENTRY TENSOR "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add"
                                    ".bulk_group [%m, {%r}], [s]; ret; }\n",
                "line 7: a tensor copy writes");
}

/* What it reads of a tensor is there before the threads go on. */
static void a_kernel_with_tensor_loads_keeps_them(void **state)
{
    static const char load[] = "cp.async.bulk.tensor.1d.shared::cluster.global.tile"
                               ".mbarrier::complete_tx::bytes [s], [%m, {%r}], [s+128];";
    char text[1024], *out;

    (void)state;
    snprintf(text, sizeof(text), HEAD90 ENTRY "%s%s ret; }\n",
             TENSOR "prefetch.param.tensormap [a]; ", load);
    out = completed(text);
    assert_non_null(strstr(out, load));
    assert_non_null(strstr(out, "prefetch.param.tensormap [a];"));
    free(out);
}

/* What wgmma reads and writes is the block's own. */
static void a_kernel_with_wgmma_tells_its_end(void **state)
{
    static const char product[] = "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 "
                                  "{%r0, %r1, %r2, %r3}, %d0, %d0, 1;";
    char text[1024], *out;

    (void)state;
    snprintf(text, sizeof(text),
             ".version 8.0\n.target sm_90a\n.address_size 64\n" ENTRY
             "{ .reg .b32 %%r<4>; .reg .b64 %%d<1>;\n%s\nret; }\n",
             product);
    out = completed(text);
    assert_non_null(strstr(out, product));
    free(out);
}

/* Also one that does not wait for it: it does at each of its ends, before it looks whether it is to
 * tell its own. */
static void a_kernel_that_may_depend_on_another_grid_ends_after_it(void **state)
{
    static const char *const texts[] = {
        HEAD90 ENTRY "{ griddepcontrol.wait; ret; }\n",
        HEAD90 ENTRY "{ griddepcontrol.launch_dependents; ret; }\n",
        HEAD90 ".func f() { griddepcontrol.launch_dependents; ret; }\n" ENTRY "{ call f; ret; }\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct ptx_rewrite_report report = {0};
        size_t length;
        char *out;

        assert_int_equal(
            ptx_rewrite(texts[i], strlen(texts[i]), PTX_PASS_COMPLETION, &out, &length, &report),
            0);
        assert_true(ptx_rewrite_report_kernel(&report, "k")->completes);
        assert_true(ptx_rewrite_report_kernel(&report, "k")->ends_after);
        assert_non_null(strstr(out, "gshare$end0: griddepcontrol.wait; { .reg"));
        free(out);
        ptx_rewrite_report_deinit(&report);
    }
}

static void other_kernels_wait_for_no_grid(void **state)
{
    static const char text[] = HEAD90 ENTRY "{ ret; }\n.visible .entry other()\n"
                                            "{ griddepcontrol.wait; ret; }\n"
                                            ".visible .entry proxies()\n"
                                            "{ griddepcontrol.wait; fence.proxy.async; ret; }\n";
    struct ptx_rewrite_report report = {0};
    size_t length;
    char *out;

    (void)state;
    assert_int_equal(ptx_rewrite(text, strlen(text), PTX_PASS_COMPLETION, &out, &length, &report),
                     0);
    assert_false(ptx_rewrite_report_kernel(&report, "k")->ends_after);
    assert_true(ptx_rewrite_report_kernel(&report, "other")->ends_after);
    assert_false(ptx_rewrite_report_kernel(&report, "proxies")->ends_after);
    free(out);
    ptx_rewrite_report_deinit(&report);
}

static void what_no_kernel_reaches_does_not_matter(void **state)
{
    free(completed(HEAD ".func f() { exit; }\n.func g() { ret; }\n" ENTRY "{ call g; ret; }\n"));
    free(completed(HEAD ".extern .func f();\n" ENTRY "{ ret; }\n"));
    (void)state;
}

static void functions_of_the_driver_s_come_back(void **state)
{
    (void)state;
    free(completed(HEAD ".extern .func (.param .b64 r) malloc(.param .b64 n);\n" ENTRY
                        "{ .param .b64 p; .param .b64 q; call (q), malloc, (p); ret; }\n"));
}

static void a_kernel_without_room_for_a_parameter_is_left(void **state)
{
    (void)state;
    free(completed(HEAD ".entry k(.param .b8 a[4304]) { ret; }\n"));
    expect_left(HEAD ".entry k(.param .b8 a[4305]) { ret; }\n", "no room");
    free(completed(NEWER_HEAD ".entry k(.param .b8 a[32712]) { ret; }\n"));
    expect_left(NEWER_HEAD ".entry k(.param .b8 a[32713]) { ret; }\n", "no room");
}

static void ends_that_would_hold_up_barriers_are_left(void **state)
{
    char text[2048] = HEAD ENTRY "{ .reg .pred %p;\n";

    (void)state;
    for (unsigned i = 0; i < 15; i++)
        strcat(text, "@%p ret;\n");
    strcat(text, "bar.sync 0; ret; }\n");
    free(completed(text));
    strcpy(strstr(text, "bar.sync"), "@%p ret; bar.sync 0; ret; }\n");
    expect_left(text, "more than 16 places");
    /* Threads leave a loop whose barrier counts those that have not ended. */
    expect_left(HEAD ENTRY "{ .reg .pred %p; L: bar.sync 0; @%p bra L; ret; }\n", "the last loop");
    expect_left(HEAD ENTRY "{ .reg .pred %p; L: bar.sync 0; @%p bra L; }\n", "the last loop");
    expect_left(HEAD ENTRY "{ .reg .pred %p; L: @%p ret; bar.sync 0; bra L; }\n", "the last loop");
    free(
        completed(HEAD ENTRY
                  "{ .reg .pred %p; .reg .b64 %x; L: bar.sync 0; @%p bra L; st.global.u32 [%x], 1; "
                  "ret; }\n"));
    expect_left(HEAD ENTRY "{ .reg .b32 %r; T: .branchtargets A, B;\nbrx.idx %r, T;\n"
                           "A: bar.sync 0;\nB: ret; }\n",
                "the last loop");
}

static void modules_that_lack_the_instructions_are_left(void **state)
{
    (void)state;
    expect_left(".version 6.1\n.target sm_70\n.address_size 64\n" ENTRY "{ ret; }\n", "6.2");
    expect_left(".version 6.2\n.target sm_61\n.address_size 64\n" ENTRY "{ ret; }\n", "sm_70");
    expect_left(".version 6.2\n.target sm_70\n.address_size 32\n" ENTRY "{ ret; }\n", "32 bits");
    expect_left(HEAD ENTRY "{ gshare$end0: ret; }\n", "names that begin with gshare$");
    expect_left("nothing .entry\n", "line 1: ");
}

static void any_part_of_a_module_is_survived(void **state)
{
    size_t len;
    char *text = ptx_file_read("../e2e/printing/O0.ptx", &len);

    (void)state;
    for (size_t cut = 0; cut < len; cut += 13) {
        char *part = malloc(cut + 1), *out;
        size_t size;

        assert_non_null(part);
        memcpy(part, text, cut); /* no NUL behind it */
        if (ptx_rewrite(part, cut, BOTH, &out, &size, NULL) == 0)
            free(out);
        free(part);
    }
    free(text);
}

#define CROWD 30000u

/* A worker asks for them one by one. */
static void each_of_many_kernels_is_found_soon(void **state)
{
    struct ptx_rewrite_report report = {0};
    struct timespec began, ended;
    char name[16], *out;
    size_t size = 64u * CROWD, n;
    char *text = malloc(size);

    (void)state;
    assert_non_null(text);
    n = (size_t)snprintf(text, size, HEAD);
    for (uint32_t i = 0; i < CROWD; i++)
        n += (size_t)snprintf(text + n, size - n, ".entry k%u(.param .u64 a) { ret; }\n",
                              i * 7919 % CROWD);
    out = rewrite(text, PTX_PASS_COMPLETION | PTX_PASS_FENCE | PTX_PASS_WINDOW, &report);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &began);
    for (uint32_t i = 0; i < CROWD; i++) {
        snprintf(name, sizeof(name), "k%u", i);
        const struct ptx_rewrite_kernel *found = ptx_rewrite_report_kernel(&report, name);
        assert_non_null(found);
        assert_string_equal(found->name, name);
        assert_null(ptx_fence_report_kernel(&report.fence, "none"));
    }
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ended);
    assert_true(ended.tv_sec - began.tv_sec < 2);
    assert_null(ptx_rewrite_report_kernel(&report, "none"));
    ptx_rewrite_report_deinit(&report);
    free(out);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edits_keep_order_and_lines),
        cmocka_unit_test(edits_that_overlap_are_found),
        cmocka_unit_test(nothing_to_do_is_told),
        cmocka_unit_test(both_passes_work_on_one_text),
        cmocka_unit_test(a_module_that_cannot_be_read_still_prints),
        cmocka_unit_test(where_two_passes_meet_the_later_one_gives_way),
        cmocka_unit_test(every_end_leads_to_an_epilogue),
        cmocka_unit_test(a_kernel_may_fall_off_its_end),
        cmocka_unit_test(early_returns_of_a_kernel_with_barriers_meet_nobody),
        cmocka_unit_test(branches_that_meet_before_the_end_change_nothing),
        cmocka_unit_test(ends_of_all_kinds_part_where_they_must),
        cmocka_unit_test(a_wait_in_a_function_counts),
        cmocka_unit_test(the_parameter_is_the_last_of_each_declaration),
        cmocka_unit_test(kernels_whose_end_it_cannot_tell_are_left),
        cmocka_unit_test(a_kernel_with_tensor_loads_keeps_them),
        cmocka_unit_test(a_kernel_with_wgmma_tells_its_end),
        cmocka_unit_test(a_kernel_that_may_depend_on_another_grid_ends_after_it),
        cmocka_unit_test(other_kernels_wait_for_no_grid),
        cmocka_unit_test(what_no_kernel_reaches_does_not_matter),
        cmocka_unit_test(functions_of_the_driver_s_come_back),
        cmocka_unit_test(a_kernel_without_room_for_a_parameter_is_left),
        cmocka_unit_test(ends_that_would_hold_up_barriers_are_left),
        cmocka_unit_test(modules_that_lack_the_instructions_are_left),
        cmocka_unit_test(any_part_of_a_module_is_survived),
        cmocka_unit_test(each_of_many_kernels_is_found_soon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
