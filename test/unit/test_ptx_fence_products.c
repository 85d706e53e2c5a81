/* Products of warpgroups (wgmma) behind the fence: each is waited for before anything follows that
 * may hold the address of a fence, and the checker sees where none is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/rewrite/rewrite.h"

#define HEAD ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 a)\n"
#define REGS                                                                                       \
    "{ .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %d<8>; .shared .align 16 .b8 box[64];\n"      \
    "ld.param.u64 %d1, [a];\n"

#define PRODUCT(d)       "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 " d ", %d2, %d3, 1;"
#define PRODUCT_OF(d, a) "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 " d ", " a ", %d3, 1;"
#define FIRST            "{%r0, %r1, %r2, %r3}"
#define SECOND           "{%r4, %r5, %r6, %r7}"
#define MIXED            "{%r0, %r1, %r2, %r7}"
#define BEGIN            "wgmma.fence.sync.aligned;"
#define COMMIT           "wgmma.commit_group.sync.aligned;"
#define WAIT(n)          "wgmma.wait_group.sync.aligned " #n ";"
#define STORE            "st.global.u32 [%d1], %r9;"

static int fence(const char *body, char **out, struct ptx_rewrite_report *report)
{
    char text[4096];
    size_t len;

    *out = NULL;
    memset(report, 0, sizeof(*report));
    snprintf(text, sizeof(text), "%s%s\n}\n", HEAD REGS, body);
    return ptx_rewrite(text, strlen(text), PTX_PASS_FENCE, out, &len, report);
}

/* What stands there for people to compare: P a product, C and W a commit and a wait for all, w
 * another wait, A an access, R the end, L a label. */
static void sketch(const char *text, char *out)
{
    static const struct {
        const char *word;
        char letter;
    } all[] = {{"wgmma.mma_async", 'P'},
               {"wgmma.commit", 'C'},
               {"wgmma.wait_group.sync.aligned 0", 'W'},
               {"wgmma.wait", 'w'},
               {"st.global", 'A'},
               {"add.s32", '+'},
               {"ret;", 'R'},
               {"HERE:", 'L'},
               {"bra ", 'B'},
               {"bar.sync", 'A'}};

    for (; *text; text++)
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
            if (!strncmp(text, all[i].word, strlen(all[i].word))) {
                *out++ = all[i].letter;
                break;
            }
    *out = '\0';
}

static void products_are_waited_for(void **state)
{
    static const struct {
        const char *body, *becomes;
    } all[] = {
        /* as compilers write it */
        {BEGIN PRODUCT(FIRST) PRODUCT(FIRST) COMMIT WAIT(0) STORE " ret;", "PPCWAR"},
        {BEGIN PRODUCT(FIRST) COMMIT WAIT(1) STORE WAIT(0) " ret;", "PCwWAWR"},
        {BEGIN PRODUCT(FIRST) COMMIT STORE WAIT(0) " ret;", "PCWAWR"},
        /* never */
        {BEGIN PRODUCT(FIRST) " ret;", "PCWR"},
        {BEGIN PRODUCT(FIRST) WAIT(0) STORE " ret;", "PWCWAR"},
        {BEGIN PRODUCT(FIRST), "PCW"},
        {BEGIN PRODUCT(FIRST) " bar.sync 0; ret;", "PCWAR"},
        {BEGIN PRODUCT(FIRST) " HERE: bra HERE;", "PCWLB"},
        {BEGIN PRODUCT(FIRST) " bra HERE; HERE: ret;", "PCWBLR"},
        /* arithmetic, between products too */
        {BEGIN PRODUCT(FIRST) "add.s32 %r9, %r9, 1;" PRODUCT(FIRST) COMMIT WAIT(0) " ret;",
         "P+PCWR"},
        {BEGIN PRODUCT(FIRST) "add.s32 %r9, %r1, 1;" COMMIT WAIT(0) " ret;", "PCW+CWR"},
        {BEGIN PRODUCT(FIRST) "add.s32 %r1, %r9, 1;" COMMIT WAIT(0) " ret;", "PCW+CWR"},
        {BEGIN PRODUCT_OF(FIRST, SECOND) "add.s32 %r5, %r9, 1;" COMMIT WAIT(0) " ret;", "PCW+CWR"},
        {BEGIN PRODUCT(FIRST) COMMIT WAIT(0) "add.s32 %r9, %r1, 1; ret;", "PCW+R"},
        /* other sums */
        {BEGIN PRODUCT(FIRST) PRODUCT(SECOND) COMMIT WAIT(0) " ret;", "PPCWR"},
        {BEGIN PRODUCT(FIRST) PRODUCT(MIXED) COMMIT WAIT(0) " ret;", "PCWPCWR"},
        {BEGIN PRODUCT(FIRST) PRODUCT_OF(SECOND, FIRST) COMMIT WAIT(0) " ret;", "PCWPCWR"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char have[256], *out;

        if (fence(all[i].body, &out, &report))
            fail_msg("%s: %s", all[i].body, report.fence.reason);
        sketch(out, have);
        if (strcmp(have, all[i].becomes) != 0)
            fail_msg("%s becomes %s:\n%s", all[i].body, have, out);
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
}

/* Some threads of the warp might be elsewhere. */
static void products_have_no_predicate(void **state)
{
    static const char *const all[] = {
        BEGIN "@%p1 " PRODUCT(FIRST) COMMIT WAIT(0) " ret;",
        BEGIN PRODUCT(FIRST) "@%p1 " COMMIT WAIT(0) " ret;",
        BEGIN PRODUCT(FIRST) COMMIT "@!%p1 " WAIT(0) " ret;",
        "@%p1 " BEGIN PRODUCT(FIRST) COMMIT WAIT(0) " ret;",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        struct ptx_rewrite_report report;
        char *out;

        assert_int_equal(fence(all[i], &out, &report), -EPERM);
        if (!strstr(report.fence.reason, "with a predicate"))
            fail_msg("%s: %s", all[i], report.fence.reason);
        ptx_rewrite_report_deinit(&report);
    }
}

static void the_checker_sees_a_product_under_way(void **state)
{
    static const char way[] = "a product may be under way";
    static const struct {
        const char *what, *with, *why;
    } all[] = {
        {"wgmma.wait_group.sync.aligned 0;", "", way},
        {"wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;", way},
        {"wgmma.wait_group.sync.aligned 0;", "@%p1 wgmma.wait_group.sync.aligned 0;",
         "may run or not"},
        {"wgmma.commit_group.sync.aligned;", "", way},
        {"wgmma.commit_group.sync.aligned;", "HERE: wgmma.commit_group.sync.aligned; bra HERE;",
         way},
        {"wgmma.commit_group.sync.aligned;",
         "st.shared.u32 [box], %r9; wgmma.commit_group.sync.aligned;", way},
        {"wgmma.commit_group.sync.aligned;", "mov.b32 %r9, %r3; wgmma.commit_group.sync.aligned;",
         way},
        {"wgmma.commit_group.sync.aligned;", "mov.b32 %r5, %r9; wgmma.commit_group.sync.aligned;",
         way},
        {"wgmma.commit_group.sync.aligned;",
         "mov.b64 {%r9, %r3}, %d4; wgmma.commit_group.sync.aligned;", way},
        {"wgmma.commit_group.sync.aligned;",
         PRODUCT_OF(MIXED, SECOND) " wgmma.commit_group.sync.aligned;", way},
        {"wgmma.mma_async", "@%p1 wgmma.mma_async", "may run or not"},
        {"ret;", PRODUCT(FIRST) " ret;", way},
        {"ret;", PRODUCT(FIRST), way},
    };
    struct ptx_rewrite_report report;
    char why[200], *out;
    bool stack, indexed;

    (void)state;
    assert_int_equal(
        fence(BEGIN PRODUCT_OF(FIRST, SECOND) COMMIT WAIT(0) STORE " ret;", &out, &report), 0);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const char *at = strstr(out, all[i].what);
        char *changed = calloc(1, strlen(out) + strlen(all[i].with) + 1);

        assert_non_null(at);
        memcpy(changed, out, (size_t)(at - out));
        strcat(strcat(changed, all[i].with), at + strlen(all[i].what));
        if (fence_check(changed, strlen(changed), &report.fence, &stack, &indexed, why,
                        sizeof(why)) != -EPERM ||
            !strstr(why, all[i].why))
            fail_msg("\"%s\": \"%s\" does not say \"%s\"", all[i].with, why, all[i].why);
        free(changed);
    }
    ptx_rewrite_report_deinit(&report);
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_waited_for),
        cmocka_unit_test(products_have_no_predicate),
        cmocka_unit_test(the_checker_sees_a_product_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
