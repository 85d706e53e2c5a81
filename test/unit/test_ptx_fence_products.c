/* Products of warpgroups (wgmma) behind the fence: whichever way a program takes, each is waited
 * for before one of its registers is used, and the checker sees where none is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ptx/ptx.h"
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
#define USE(r)           "add.s32 %r9, " r ", 1;"
#define BACK(label)      "@%p1 bra " #label ";"
#define SPIN             "AGAIN: ld.shared.u32 %r10, [box]; setp.eq.u32 %p2, %r10, 0; @%p2 bra AGAIN;"

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
    } all[] = {
        {"wgmma.mma_async", 'P'}, {"wgmma.commit", 'C'}, {"wgmma.wait_group.sync.aligned 0", 'W'},
        {"wgmma.wait", 'w'},      {"st.global", 'A'},    {"st.shared", 'a'},
        {"ld.shared", 'A'},       {"ld.global", 'G'},    {"setmaxnreg", 'N'},
        {"add.s32", '+'},         {"ret;", 'R'},         {"HERE:", 'L'},
        {"AWAY:", 'L'},           {"AGAIN:", 'L'},       {"bra ", 'B'},
        {"brx.idx", 'B'},         {"bar.sync", 'A'}};

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
        {BEGIN PRODUCT(FIRST) COMMIT STORE WAIT(0) " ret;", "PCAWR"},
        {BEGIN PRODUCT(FIRST) COMMIT WAIT(1) STORE WAIT(0) " ret;", "PCwAWR"},
        {BEGIN PRODUCT(FIRST) COMMIT PRODUCT(SECOND) COMMIT WAIT(1) USE("%r1") WAIT(0)
             USE("%r4") " ret;",
         "PCPCw+W+R"},
        {BEGIN " HERE:" SPIN PRODUCT(FIRST) COMMIT WAIT(1) BACK(HERE) WAIT(0) USE("%r1") " ret;",
         "LLABPCwBW+R"},
        /* never, or for less */
        {BEGIN PRODUCT(FIRST) " ret;", "PCWR"},
        {BEGIN PRODUCT(FIRST) "@%p1 ret;" COMMIT WAIT(0) " ret;", "PCWRCWR"},
        {BEGIN PRODUCT(FIRST) WAIT(0) STORE " ret;", "PWACWR"},
        {BEGIN PRODUCT(FIRST), "PCW"},
        {BEGIN PRODUCT(FIRST) " bar.sync 0; ret;", "PACWR"},
        {BEGIN PRODUCT(FIRST) " HERE: bra HERE;", "PLB"},
        {BEGIN PRODUCT(FIRST) " bra HERE; HERE: ret;", "PBLCWR"},
        {BEGIN PRODUCT(FIRST) COMMIT WAIT(1) USE("%r1") " ret;", "PCwW+R"},
        {BEGIN PRODUCT(FIRST) COMMIT COMMIT WAIT(1) USE("%r1") " ret;", "PCCwW+R"},
        {BEGIN PRODUCT(FIRST) COMMIT PRODUCT(SECOND) WAIT(0) USE("%r1") USE("%r4") COMMIT " ret;",
         "PCPW+CW+CR"},
        {BEGIN PRODUCT(FIRST) COMMIT PRODUCT(SECOND) COMMIT WAIT(1) USE("%r4") " ret;", "PCPCwW+R"},
        /* on one of several ways */
        {BEGIN PRODUCT(FIRST) COMMIT "@%p1 bra HERE;" WAIT(0) " HERE:" USE("%r1") " ret;",
         "PCBWLW+R"},
        {BEGIN PRODUCT(FIRST) COMMIT
         "@%p1 bra HERE;" WAIT(0) " bra AWAY; HERE: ret; AWAY:" USE("%r1") " ret;",
         "PCBWBLWRL+R"},
        {BEGIN PRODUCT(FIRST) COMMIT "@%p1 bra HERE;" PRODUCT(SECOND) " HERE:" COMMIT WAIT(1)
             USE("%r1") WAIT(0) " ret;",
         "PCBPLCwW+WR"},
        {BEGIN " HERE:" PRODUCT(FIRST) COMMIT USE("%r5") PRODUCT(SECOND) COMMIT WAIT(1) BACK(HERE)
             WAIT(0) " ret;",
         "LPCW+PCwBWR"},
        {BEGIN " HERE:" USE("%r1") PRODUCT(FIRST) COMMIT WAIT(1) BACK(HERE) WAIT(0) " ret;",
         "LW+PCwBWR"},
        {BEGIN PRODUCT(FIRST) "TO: .branchtargets HERE; brx.idx %r9, TO; HERE: ret;", "PCWBLR"},
        /* between products */
        {BEGIN PRODUCT(FIRST) "add.s32 %r9, %r9, 1;" PRODUCT(FIRST) COMMIT WAIT(0) " ret;",
         "P+PCWR"},
        {BEGIN PRODUCT(FIRST) "add.s32 %r9, %r1, 1;" COMMIT WAIT(0) " ret;", "PCW+CWR"},
        {BEGIN PRODUCT(FIRST) "add.s32 %r1, %r9, 1;" COMMIT WAIT(0) " ret;", "PCW+CWR"},
        {BEGIN PRODUCT_OF(FIRST, SECOND) "add.s32 %r5, %r9, 1;" COMMIT WAIT(0) " ret;", "PCW+CWR"},
        /* an index that a product reads on: the sum of it and a base is not made anew */
        {BEGIN " HERE: mul.wide.u32 %d4, %r4, 4; add.s64 %d5, %d1, %d4;" PRODUCT_OF(FIRST, SECOND)
             COMMIT "ld.global.u32 %r9, [%d5];" WAIT(0) BACK(HERE) " ret;",
         "LPCGWBR"},
        {BEGIN PRODUCT(FIRST) "st.shared.u32 [%r1], %r9;" COMMIT WAIT(0) " ret;", "PCWaCWR"},
        {BEGIN PRODUCT(FIRST) "st.shared.u32 [%r9], %r1;" COMMIT WAIT(0) " ret;", "PCWaCWR"},
        {BEGIN PRODUCT(FIRST) COMMIT WAIT(0) "add.s32 %r9, %r1, 1; ret;", "PCW+R"},
        {BEGIN PRODUCT(FIRST) "setmaxnreg.inc.sync.aligned.u32 240;" COMMIT WAIT(0) " ret;",
         "PCWNCWR"},
        /* other sums */
        {BEGIN PRODUCT(FIRST) PRODUCT(SECOND) COMMIT WAIT(0) " ret;", "PPCWR"},
        {BEGIN PRODUCT(FIRST) PRODUCT(MIXED) COMMIT WAIT(0) " ret;", "PCWPCWR"},
        {BEGIN PRODUCT(MIXED) COMMIT PRODUCT(FIRST) PRODUCT(FIRST) COMMIT WAIT(0) " ret;",
         "PCWPCWPCWR"},
        {BEGIN PRODUCT(FIRST) PRODUCT_OF(SECOND, FIRST) COMMIT WAIT(0) " ret;", "PCWPCWR"},
        {BEGIN PRODUCT_OF(SECOND, FIRST) PRODUCT(FIRST) COMMIT WAIT(0) " ret;", "PCWPCWR"},
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
        {"wgmma.commit_group.sync.aligned;",
         "@%p1 bra HERE; wgmma.commit_group.sync.aligned; HERE:", way},
        {"wgmma.wait_group.sync.aligned 0;", COMMIT WAIT(1), way},
        {"wgmma.wait_group.sync.aligned 0;", "@%p1 bra HERE; " WAIT(0) " HERE:", way},
        {"wgmma.wait_group.sync.aligned 0;",
         "@%p1 bra HERE; " PRODUCT(FIRST) " HERE: " COMMIT WAIT(1), way},
        {"wgmma.commit_group.sync.aligned;",
         "st.shared.u32 [box], %r3; wgmma.commit_group.sync.aligned;", way},
        {"wgmma.commit_group.sync.aligned;", "mov.b32 %r9, %r3; wgmma.commit_group.sync.aligned;",
         way},
        {"wgmma.commit_group.sync.aligned;", "mov.b32 %r5, %r9; wgmma.commit_group.sync.aligned;",
         way},
        {"wgmma.commit_group.sync.aligned;",
         "st.shared.u32 [%r6], %r9; wgmma.commit_group.sync.aligned;", way},
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

/* ---- Any program ---- */

enum { PIECES = 14, WALKS = 40, STEPS = 200, GROUPS = 8 };

static uint32_t dice(uint32_t *state, uint32_t sides)
{
    *state = *state * 1664525 + 1013904223;
    return (*state >> 16) % sides;
}

/* A program of products, waits, uses and branches to and fro. */
static void write_any(uint32_t *seed, char *body)
{
    static const char *const all[] = {PRODUCT(FIRST),
                                      PRODUCT(FIRST),
                                      PRODUCT(SECOND),
                                      PRODUCT("{%r10, %r11, %r12, %r13}"),
                                      PRODUCT_OF(FIRST, SECOND),
                                      PRODUCT(MIXED),
                                      COMMIT,
                                      COMMIT,
                                      COMMIT,
                                      WAIT(0),
                                      WAIT(1),
                                      WAIT(1),
                                      WAIT(2),
                                      USE("%r1"),
                                      USE("%r4"),
                                      "st.shared.u32 [%r11], %r9;",
                                      "bar.sync 0;",
                                      "@%p1 ret;"};
    const uint32_t kinds = 3 + dice(seed, sizeof(all) / sizeof(all[0]) - 3);

    for (uint32_t i = 0; i < PIECES; i++) {
        body += sprintf(body, "L%u: ", i);
        if (dice(seed, 4) == 0)
            body += sprintf(body, "%s bra L%u; ", dice(seed, 4) ? "@%p1" : "", dice(seed, PIECES));
        else
            body += sprintf(body, "%s ", all[dice(seed, kinds)]);
    }
    sprintf(body, "ret;");
}

/* A thread that runs: the registers of its groups, of which `open` and groups[0] are the newest. */
struct thread {
    uint64_t open, groups[GROUPS];
    bool counts_empty; /* a commit without products makes a group */
};

static uint64_t registers_of(const struct ptx_operand *o)
{
    uint64_t regs = 0;

    if (o->kind == PTX_OPND_REG)
        return UINT64_C(1) << o->reg % 64;
    if (o->kind == PTX_OPND_MEM && o->mem.base == PTX_BASE_REG)
        return UINT64_C(1) << o->mem.reg % 64;
    for (uint32_t i = 0; o->kind == PTX_OPND_VEC && i < o->count; i++)
        regs |= registers_of(&o->list[i]);
    return regs;
}

static uint64_t under_way(const struct thread *t)
{
    uint64_t regs = t->open;

    for (unsigned g = 0; g < GROUPS; g++)
        regs |= t->groups[g];
    return regs;
}

/* The thread may run the instruction. */
static bool is_well(const struct thread *t, const struct ptx_inst *inst)
{
    uint64_t regs = 0;

    if (inst->op == PTX_OP_RET)
        return !under_way(t);
    for (unsigned k = inst->op == PTX_OP_WGMMA; k < inst->nops; k++)
        regs |= registers_of(&inst->ops[k]);
    if (inst->op == PTX_OP_WGMMA) {
        const uint64_t sums = registers_of(&inst->ops[0]);
        const uint64_t all[] = {t->open, t->groups[0], t->groups[1], t->groups[2], t->groups[3]};

        /* None of its sums, or, as far as one can see here, all of them. */
        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
            if ((all[i] & sums) && (all[i] & sums) != sums)
                return false;
    }
    return !(regs & under_way(t));
}

static void run(struct thread *t, const struct ptx_inst *inst)
{
    if (inst->op == PTX_OP_WGMMA)
        t->open |= registers_of(&inst->ops[0]) |
                   (inst->ops[1].kind == PTX_OPND_VEC ? registers_of(&inst->ops[1]) : 0);
    if (inst->op == PTX_OP_WGMMA_COMMIT && (t->open || t->counts_empty)) {
        t->groups[GROUPS - 1] |= t->groups[GROUPS - 2];
        memmove(t->groups + 1, t->groups, (GROUPS - 2) * sizeof(*t->groups));
        t->groups[0] = t->open;
        t->open = 0;
    }
    for (uint64_t g = inst->ops[0].imm; inst->op == PTX_OP_WGMMA_WAIT && g < GROUPS; g++)
        t->groups[g] = 0;
}

static void walk(const struct ptx_func *f, uint32_t *seed, const char *text)
{
    struct thread t = {.counts_empty = dice(seed, 2)};
    uint32_t at = 0;

    for (unsigned n = 0; n < STEPS; n++) {
        const struct ptx_inst *inst = &f->insts[at++];
        const bool runs = inst->guard == PTX_NO_REG || dice(seed, 2);

        if (!is_well(&t, inst))
            fail_msg("instruction %u meets a product under way:\n%s", at - 1, text);
        if (!runs)
            continue;
        if (inst->op == PTX_OP_RET)
            return;
        run(&t, inst);
        if (inst->op == PTX_OP_BRA)
            at = f->labels[inst->ops[0].label].inst;
    }
}

static void any_program_waits_for_its_products(void **state)
{
    uint32_t seed = 1;

    (void)state;
    for (unsigned n = 0; n < 4000; n++) {
        struct ptx_rewrite_report report;
        struct ptx_module *m;
        struct ptx_error error;
        char body[4096], *out;

        write_any(&seed, body);
        if (fence(body, &out, &report))
            fail_msg("%s: %s", body, report.fence.reason);
        assert_int_equal(ptx_parse(out, strlen(out), &m, &error), 0);
        assert_true(m->funcs[0]->nregs <= 64);
        for (unsigned k = 0; k < WALKS; k++)
            walk(m->funcs[0], &seed, out);
        ptx_module_free(m);
        ptx_rewrite_report_deinit(&report);
        free(out);
    }
}

/* A text of a few megabytes costs no minutes: what follows products looks at so much of a module.
 */
static void products_without_number_are_refused(void **state)
{
    enum { PRODUCTS = 16384, ENDS = 60000 };
    char *text = malloc(32u << 20), *at = text, *out = NULL;
    struct ptx_rewrite_report report = {0};
    size_t len;

    (void)state;
    assert_non_null(text);
    at += sprintf(at, "%s{ .reg .pred %%p<4>; .reg .b32 %%r<%u>; .reg .b64 %%d<8>;\n", HEAD,
                  4 * PRODUCTS);
    for (uint32_t i = 0; i < PRODUCTS; i++)
        at += sprintf(at,
                      "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%%r%u,%%r%u,%%r%u,%%r%u}, "
                      "%%d2, %%d3, 1;\n",
                      4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3);
    at += sprintf(at, COMMIT WAIT(0));
    for (uint32_t i = 0; i < ENDS; i++)
        at += sprintf(at, "@%%p1 ret;\n");
    at += sprintf(at, "ret;\n}\n");
    assert_int_equal(ptx_rewrite(text, (size_t)(at - text), PTX_PASS_FENCE, &out, &len, &report),
                     -EPERM);
    if (!strstr(report.fence.reason, "too tangled"))
        fail_msg("%s", report.fence.reason);
    ptx_rewrite_report_deinit(&report);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_are_waited_for),
        cmocka_unit_test(any_program_waits_for_its_products),
        cmocka_unit_test(products_have_no_predicate),
        cmocka_unit_test(products_without_number_are_refused),
        cmocka_unit_test(the_checker_sees_a_product_under_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
