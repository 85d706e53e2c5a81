/* Each form of instruction that addresses memory, fenced, with 10,000 addresses: random ones, ones
 * around the window's ends, in shared and in local memory. None leaves the window and its guard.
 * The forms are those of test/instructions/table.txt and of test/instructions/addressing.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fence_rig.h"
#include "instructions/addressing.h"
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

    addressing_kernel_write(in, text, sizeof(text));
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
        if (!addressing_is(&in))
            continue;
        assert_true(try_form(&in, 0));
        assert_true(try_form(&in, PTX_PASS_WINDOW));
        assert_true(try_form(&in, PTX_PASS_STRAYS));
        taken++;
    }
    fclose(table);
    print_message("%u forms of %u addresses each\n", taken, ADDRESSES);
    assert_true(taken > 200);
}

static void forms_of_the_list_stay_inside(void **state)
{
    struct instruction in;
    unsigned refused = 0, count = 0;

    (void)state;
    for (; addressing_form(count, &in); count++)
        refused += !try_form(&in, PTX_PASS_WINDOW) + !try_form(&in, PTX_PASS_STRAYS);
    print_message("%u forms, %u refused\n", count, refused);
    assert_true(count > 70);
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
        "mad.wide.u32 %z, %i, 6, %own;",
        "mul.wide.u32 %y, %i, 4; add.s64 %z, %own, %y; add.s64 %v, %own, %y;",
        "cvt.u64.u32 %y, %i; add.s64 %v, %y, %own; add.s64 %z, %y, %own;"};
    static const char *const accesses[] = {"ld.global.u8 %c, [%z];",
                                           "ld.volatile.global.u8 %c, [%z+-1048576];",
                                           "ld.volatile.global.u8 %c, [%z+1048576];",
                                           "st.global.u8 [%z], 1;",
                                           "st.relaxed.gpu.global.u8 [%z+3], %c;",
                                           "@%p st.global.u8 [%z], 1; setp.eq.u32 %p, %c, %c;"};
    struct instruction in = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(sums) / sizeof(sums[0]); i++) {
        for (size_t k = 0; k < sizeof(accesses) / sizeof(accesses[0]); k++) {
            /* The index takes few values, its largest among them: memory is touched there. */
            snprintf(
                in.ptx, sizeof(in.ptx),
                ".reg .b32 %%i, %%n, %%c; .reg .b64 %%y, %%z, %%v; .reg .pred %%p; mov.u32 %%n, 8; "
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

/* The same for pointers that take strides from a fenced one. */
static void steps_stay_in_reach(void **state)
{
    static const char *const steps[] = {
        "mul.wide.s32 %y, %i, 4; $X: ld.global.u8 %c, [%z]; add.s64 %z, %z, %y; "
        "ld.global.u8 %c, [%z]; add.s64 %z, %y, %z; st.global.u8 [%z], 1; add.s64 %z, %z, %y; "
        "st.global.u8 [%z+1048576], 1;",
        "mul.wide.u32 %y, %i, 6; $X: ld.global.u8 %c, [%z]; add.s64 %z, %z, %y; "
        "ld.global.u8 %c, [%z+-1048576];",
        "mul.wide.s32 %y, %i, 12; $X: add.s64 %v, %z, %y; st.global.u8 [%v+-1048576], 1; "
        "ld.global.u8 %c, [%z]; mov.u64 %z, %v;",
        "mul.wide.s32 %y, %i, 4; $X: ld.global.u8 %c, [%z]; mad.wide.u32 %z, %i, 4, %z; "
        "ld.global.u8 %c, [%z]; add.s64 %z, %z, -8589934592; st.global.u8 [%z], 1;",
    };
    struct instruction in = {0};

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        snprintf(
            in.ptx, sizeof(in.ptx),
            ".reg .b32 %%i, %%n, %%c; .reg .b64 %%y, %%z, %%v; .reg .pred %%p; mov.u32 %%n, 3; "
            "mad.lo.u32 %%i, %%t, 1103515245, 12345; and.b32 %%i, %%i, 0xf0000380; "
            "sub.u32 %%i, %%i, 1; mov.u64 %%z, %%own; %s sub.u32 %%n, %%n, 1; "
            "setp.ne.u32 %%p, %%n, 0; @%%p bra $X;",
            steps[i]);
        assert_true(try_form(&in, 0));
        assert_true(indexed);
        assert_true(try_form(&in, PTX_PASS_STRAYS));
        assert_false(indexed);
    }
}

/* The rig sees what the test is about. */
static void an_access_without_a_fence_is_seen(void **state)
{
    struct instruction in = {.ptx = "st.global.u32 [%own], %t;"};
    struct ptx_fence_report report = {0};
    static char text[1 << 14];

    (void)state;
    addressing_kernel_write(&in, text, sizeof(text));
    assert_int_equal(run(text, &report), FENCE_ESCAPED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_stay_in_reach),
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
