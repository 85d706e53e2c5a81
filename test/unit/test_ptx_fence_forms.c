/* Each form of instruction that addresses memory, fenced, with 10,000 addresses: random ones, ones
 * around the window's ends, in shared and in local memory. None leaves the window and its guard.
 * The forms are those of test/instructions/table.txt and the list below. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence_rig.h"
#include "instructions/instructions.h"
#include "softcuda/memory/view.h"

enum { ADDRESSES = 10000 };
#define INPUT_AT ((uint64_t)16 << 20) /* in the window */

static struct fence_rig rig;
static uint64_t random_state = 1;
static bool indexed; /* the last form was taken so */

static uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* Aligned as the widest access needs. The low halves share few pages, so that the window stays
 * small in memory. */
static uint64_t any_address(void)
{
    uint64_t r = random_u64(), low = (r >> 8 & 0x3f) * 0x40200f80 + (r >> 20 & 0xf80);

    switch (r & 15) {
    case 0:
        return (rig.base + rig.size * (r >> 4 & 1) - 0x80) & ~0x7full;
    case 1:
        return rig.base + rig.size * (r >> 4 & 1);
    case 2:
        return MEM_SHARED_WINDOW + (r >> 8 & 0x180);
    case 3:
        return MEM_LOCAL_WINDOW + (r >> 8 & 0x180);
    case 4:
        return MEM_SHARED_WINDOW + (uint64_t)(uint32_t)(r >> 8 & ~0x7full);
    case 5: /* neighbours */
        return rig.base + (r >> 8 & 7) * rig.size - 4 * rig.size + (low & 0xffffff80);
    default:
        return random_u64() << 32 | (low & 0xffffff80);
    }
}

/* The instructions of IN on %own, which is the address. */
static void write_kernel(const struct instruction *in, char *out, size_t size)
{
    char *to = out, *end = out + size;

#define PUT(...) to += snprintf(to, (size_t)(end - to), __VA_ARGS__)
    PUT(".version 8.4\n.target sm_90\n.address_size 64\n"
        ".global .align 128 .b8 memory[8192]; .const .align 8 .b64 fixed[4];\n"
        ".visible .entry k(.param .u64 p0)\n{\n.reg .b32 %%t; .reg .b64 %%x, %%own;\n"
        ".shared .align 128 .b8 tile[512]; .local .align 128 .b8 mine[512];\n");
    for (unsigned k = 0; k < in->nresults; k++)
        PUT(".reg .b%u %%%s;\n", type_bits(in->result), result_name(k));
    for (unsigned k = 0; k < in->noperands; k++)
        PUT(".reg .b%u %%%c;\n", type_bits(in->operands[k]), "abcefghijklmnopq"[k]);
    PUT("mov.u32 %%t, %%ctaid.x; ld.param.u64 %%x, [p0]; mad.wide.u32 %%x, %%t, 8, %%x; "
        "ld.global.b64 %%own, [%%x]; mov.u64 %%x, tile; cvta.shared.u64 %%x, %%x; "
        "mov.u64 %%x, mine; cvta.local.u64 %%x, %%x;\n");
    if (strstr(in->ptx, "%tile"))
        PUT(".reg .b32 %%tile; mov.u32 %%tile, tile;\n");
    PUT("%s\nret;\n}\n", in->ptx);
#undef PUT
}

static enum fence_end run(const char *text, const struct ptx_fence_report *report)
{
    uint64_t *input = (uint64_t *)(uintptr_t)(rig.base + INPUT_AT), at = rig.base + INPUT_AT;
    enum fence_end end;

    for (unsigned i = 0; i < ADDRESSES; i++)
        input[i] = any_address();
    end =
        fence_rig_run(&rig, text, report, ADDRESSES, 1, &at, 1); /* a fault ends its thread alone */
    fence_rig_clear(&rig);
    return end;
}

/* Whether the fence takes it. */
static bool try_form(const struct instruction *in, unsigned passes)
{
    static char text[1 << 14];
    struct ptx_rewrite_report report = {0};
    char *out = NULL;
    size_t len;
    int result;

    write_kernel(in, text, sizeof(text));
    result = ptx_rewrite(text, strlen(text), PTX_PASS_FENCE | passes, &out, &len, &report);
    indexed = report.fence.indexed;
    if (result)
        print_message("%s: %s\n", in->ptx, report.fence.reason);
    else if (run(out, &report.fence) == FENCE_ESCAPED)
        fail_msg("%s: %s\n%s", in->ptx, rig.what, out);
    else if (rig.faults > ADDRESSES / 3) /* those of other spaces */
        fail_msg("%s: %u of %u end in a fault", in->ptx, rig.faults, ADDRESSES);
    ptx_rewrite_report_deinit(&report);
    free(out);
    return !result;
}

static void forms_of_the_table_stay_inside(void **state)
{
    FILE *table = fopen(INSTRUCTIONS "/table.txt", "r");
    char line[MAX_LINE];
    unsigned taken = 0;

    (void)state;
    assert_non_null(table);
    while (fgets(line, sizeof(line), table)) {
        struct instruction in;

        assert_true(instruction_read(&in, line));
        if (!strstr(in.ptx, "%own"))
            continue;
        assert_true(try_form(&in, 0));
        assert_true(try_form(&in, PTX_PASS_STRAYS));
        taken++;
    }
    fclose(table);
    print_message("%u forms of %u addresses each\n", taken, ADDRESSES);
    assert_true(taken > 200);
}

static const char *const forms[] = {
    "ld.u32 %a, [%own];",
    "ld.u32 %a, [%own+4];",
    "ld.u32 %a, [%own+-4];",
    "ld.u32 %a, [%own+1048576];",
    "ld.u32 %a, [%own+1048580];",
    "ld.u32 %a, [%own+2147483644];",
    "ld.u32 %a, [%own+-2147483648];",
    "ld.global.u32 %a, [%own+1048576];",
    "ld.global.u32 %a, [%own+1048580];",
    "ld.global.u32 %a, [%own+-1048576];",
    "ld.global.u32 %a, [%own+-1048580];",
    "ld.global.u32 %a, [%own+2147483644];",
    "ld.global.u32 %a, [%own+-2147483648];",
    "st.global.u32 [%own+2147483644], %a;",
    "st.u32 [%own+-2147483648], %a;",
    "@%own_p ld.global.u32 %a, [%own];",
    "ld.volatile.global.u32 %a, [%own];",
    "ld.volatile.u32 %a, [%own+8];",
    "ld.relaxed.sys.global.u32 %a, [%own];",
    "ld.acquire.gpu.u64 %f, [%own];",
    "ld.mmio.relaxed.sys.global.u32 %a, [%own];",
    "ld.weak.global.u32 %a, [%own];",
    "st.volatile.u32 [%own], %a;",
    "st.release.sys.u64 [%own], %f;",
    "st.mmio.relaxed.sys.global.u32 [%own], %a;",
    "ld.global.nc.u32 %a, [%own];",
    "ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%a, %b, %c, %e}, [%own];",
    "ld.global.L1::evict_last.L2::256B.v4.f32 {%a, %b, %c, %e}, [%own];",
    "ld.global.L2::cache_hint.u32 %a, [%own], %f;",
    "st.global.L2::cache_hint.v4.u32 [%own], {%a, %b, %c, %e}, %f;",
    "ld.global.cv.u32 %a, [%own];",
    "st.global.wt.u32 [%own], %a;",
    "st.global.v2.b64 [%own+16], {%f, %f};",
    "st.v4.b32 [%own+16], {%a, %b, %c, %e};",
    "ldu.global.u32 %a, [%own];",
    "ldu.u32 %a, [%own+4];",
    "atom.global.add.u32 %a, [%own], %b;",
    "atom.acq_rel.sys.global.cas.b64 %f, [%own], %f, %f;",
    "atom.add.f32 %a, [%own+4], %b;",
    "atom.cas.b128 %g, [%own], %g, %g;",
    "atom.global.exch.b128 %g, [%own], %g;",
    "atom.global.v4.add.f32 {%a, %b, %c, %e}, [%own], {%a, %b, %c, %e};",
    "atom.global.cas.b16 %h, [%own], %h, %h;",
    "red.global.add.u32 [%own], %a;",
    "red.release.gpu.add.u64 [%own+8], %f;",
    "red.global.v2.add.f32 [%own], {%a, %b};",
    "red.global.add.noftz.f16x2 [%own], %a;",
    "prefetch.global.L2 [%own];",
    "prefetch.L1 [%own];",
    "prefetchu.L1 [%own];",
    "prefetch.global.L2::evict_last [%own];",
    "applypriority.global.L2::evict_normal [%own], 128;",
    "createpolicy.range.global.L2::evict_last.b64 %f, [%own], %a, %b;",
    "cp.async.ca.shared.global [tile], [%own], 4;",
    "cp.async.cg.shared.global [tile], [%own+16], 16;",
    "cp.async.ca.shared.global [tile+16], [%own+-16], 8, %a;",
    "cp.async.cg.shared.global.L2::128B [tile], [%own], 16, 0;",
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%a,%b,%c,%e,%a,%b,%c,%e}, [%own], %i;",
    "wmma.load.b.sync.aligned.col.m16n16k16.f16 {%a,%b,%c,%e,%a,%b,%c,%e}, [%own], %i;",
    "wmma.load.c.sync.aligned.row.m8n32k16.global.s32 {%a,%b,%c,%e,%a,%b,%c,%e}, [%own], %i;",
    "wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%f}, [%own], 64;",
    "wmma.load.a.sync.aligned.row.m8n8k4.f64 {%f}, [%own+64], 2147483640;",
    "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%own], {%a,%b,%c,%e,%a,%b,%c,%e}, %i;",
    "wmma.store.d.sync.aligned.col.m32n8k16.s32 [%own], {%a,%b,%c,%e,%a,%b,%c,%e}, %i;",
    "wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%own], {%f, %f}, 0x7fffffff;",
    "ld.global.u32 %a, [%i];",
    "ld.u32 %a, [%i+64];",
    "st.global.u32 [%i+-64], %a;",
    "st.global.u32 [memory+8192], %a;",
    "st.global.u32 [memory+8188], %a;",
    "st.u32 [memory+-4], %a;",
    "ld.global.u32 %a, [memory+2147483640];",
    "mov.u64 %f, memory; add.u64 %f, %f, %own; st.global.u32 [%f], %a;",
    "mov.u64 %f, memory+8; st.u64 [%f+8], %f;",
    "cvta.global.u64 %f, memory; st.u64 [%f+8], %f;",
    "cvta.to.global.u64 %f, %own; st.global.u32 [%f], %a;",
    "cvta.to.shared.u64 %f, %own; cvta.shared.u64 %f, %f; st.u32 [%f], %a;",
    "{ .reg .b64 %own; mov.u64 %own, 0x123456780; st.global.u32 [%own], %a; }",
    "{ .reg .v2 .b64 %v; mov.b64 %v.x, %own; st.global.u32 [%v.x], %a; }",
};

/* Types of %a %b %c %e %f %g %h %i in the list. %i: half of an address. */
static void forms_of_the_list_stay_inside(void **state)
{
    static const char *const types[] = {"b32", "b32", "b32", "b32", "b64", "b128", "b16", "b32"};
    unsigned refused = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
        struct instruction in = {.nresults = 0, .noperands = 8};
        const char *setup = "{ .reg .b32 %hi; mov.b64 {%i, %hi}, %own; shr.u32 %i, %i, 3; "
                            "and.b32 %i, %i, 0xfffffff8; }";

        for (unsigned k = 0; k < 8; k++)
            snprintf(in.operands[k], sizeof(in.operands[k]), "%s", types[k]);
        snprintf(in.ptx, sizeof(in.ptx), ".reg .pred %%own_p; setp.ne.u64 %%own_p, %%own, 0; %s %s",
                 setup, forms[i]);
        refused += !try_form(&in, 0) + !try_form(&in, PTX_PASS_STRAYS);
    }
    print_message("%zu forms, %u refused\n", sizeof(forms) / sizeof(forms[0]), refused);
    assert_int_equal(refused, 0);
}

/* Accesses in a loop, off %own and an index of 32 bits, from everywhere in the window to all that
 * the index can reach. */
static void indices_off_a_base_stay_in_reach(void **state)
{
    static const char *const sums[] = {
        "mul.wide.u32 %y, %i, 4; add.s64 %z, %own, %y;",
        "mul.wide.u32 %y, %i, 1; add.s64 %z, %y, %own;",
        "mul.wide.u32 %y, %i, 2; add.u64 %z, %own, %y;",
        "mul.wide.u32 %y, %i, 3; add.s64 %z, %own, %y;",
        "cvt.u64.u32 %y, %i; add.s64 %z, %own, %y;",
        "cvt.u64.u32 %y, %i; shl.b64 %y, %y, 2; add.s64 %z, %own, %y;",
        "mad.wide.u32 %z, %i, 4, %own;"};
    static const char *const accesses[] = {
        "ld.global.u8 %c, [%z];", "ld.volatile.global.u8 %c, [%z+1048576];",
        "st.global.u8 [%z], 1;", "st.relaxed.gpu.global.u8 [%z+3], %c;",
        "@%p st.global.u8 [%z], 1; setp.eq.u32 %p, %c, %c;"};
    struct instruction in = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        for (size_t k = 0; k < sizeof(accesses) / sizeof(accesses[0]); k++) {
            /* The index takes few values, its largest among them: memory is touched there. */
            snprintf(in.ptx, sizeof(in.ptx),
                     ".reg .b32 %%i, %%n, %%c; .reg .b64 %%y, %%z; .reg .pred %%p; mov.u32 %%n, 8; "
                     "setp.ne.u32 %%p, %%n, 0; mov.u32 %%i, %%t; mov.u32 %%c, 0; $X: "
                     "and.b32 %%i, %%i, 0xf0000380; sub.u32 %%i, %%i, 1; %s %s "
                     "mad.lo.u32 %%i, %%i, 1103515245, 12345; sub.u32 %%n, %%n, 1; "
                     "setp.ne.u32 %%p, %%n, 0; @%%p bra $X;",
                     sums[i], accesses[k]);
            assert_true(try_form(&in, 0));
            assert_true(indexed);
            assert_true(try_form(&in, PTX_PASS_STRAYS));
            assert_false(indexed);
        }
    }
}

/* The rig sees what the test is about. */
static void an_access_without_a_fence_is_seen(void **state)
{
    struct instruction in = {.ptx = "st.global.u32 [%own], %t;"};
    struct ptx_fence_report report = {0};
    static char text[1 << 14];

    (void)state;
    write_kernel(&in, text, sizeof(text));
    assert_int_equal(run(text, &report), FENCE_ESCAPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_access_without_a_fence_is_seen),
        cmocka_unit_test(forms_of_the_table_stay_inside),
        cmocka_unit_test(forms_of_the_list_stay_inside),
        cmocka_unit_test(indices_off_a_base_stay_in_reach),
    };
    int failed;

    fence_rig_init(&rig);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    fence_rig_deinit(&rig);
    return failed;
}
