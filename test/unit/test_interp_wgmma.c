/* test_interp_wgmma.c - wgmma of the interpreter: when its warps wait for one another, and which
 * operands end as a fault. What it computes is for test/cudart/programs to say. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "interp_rig.h"

/* The left factor's 64 rows are 1, 2 ... 64 throughout, the right one's eight columns 1, 2 ... 8;
 * both lie without a swizzle, from 0 and 2,048 of m. A thread's sums are at %y0. */
#define HEAD                                                                                       \
    ".version 8.0\n.target sm_90a\n.address_size 64\n.shared .align 1024 .b8 m[4096];\n"           \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<9>; .reg .s32 %d<4>; .reg .b64 %y<6>; "     \
    ".reg .pred %q<4>;\nld.param.u64 %y0, [p];\nmov.u32 %r0, %tid.x;\nmul.wide.u32 %y1, %r0, "     \
    "16;\n"                                                                                        \
    "add.u64 %y0, %y0, %y1;\nshr.u32 %r1, %r0, 5;\nsetp.eq.u32 %q1, %r1, 1;\n"                     \
    "setp.eq.u32 %q3, %r1, 3;\nmov.u32 %r2, m;\n"                                                  \
    "setp.ne.u32 %q0, %r0, 0;\n@%q0 bra FILLED;\nmov.u32 %r3, 0;\n"                                \
    "FILL: and.b32 %r4, %r3, 63;\nsetp.ge.u32 %q2, %r3, 128;\n@%q2 and.b32 %r4, %r3, 7;\n"         \
    "add.u32 %r4, %r4, 1;\nmul.lo.u32 %r4, %r4, 0x01010101;\nshl.b32 %r5, %r3, 4;\n"               \
    "add.u32 %r5, %r2, %r5;\nst.shared.v4.b32 [%r5], {%r4, %r4, %r4, %r4};\n"                      \
    "add.u32 %r3, %r3, 1;\nsetp.lt.u32 %q2, %r3, 144;\n@%q2 bra FILL;\n"                           \
    "FILLED: bar.sync 0;\nshr.u32 %r2, %r2, 4;\ncvt.u64.u32 %y2, %r2;\n"                           \
    "add.u64 %y3, %y2, 0x0000000800400000;\nadd.u64 %y4, %y2, 0x0000000800080080;\n"               \
    "mov.b32 %d0, 0;\nmov.b32 %d1, 0;\nmov.b32 %d2, 0;\nmov.b32 %d3, 0;\n"
#define MULTIPLY                                                                                   \
    "wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%d0, %d1, %d2, %d3}, %y3, %y4, 1;\n"
#define PRODUCT "wgmma.fence.sync.aligned;\n" MULTIPLY
#define COMMIT  "wgmma.commit_group.sync.aligned;\n"
#define WAIT    "wgmma.wait_group.sync.aligned "
#define STORE   "st.global.v4.b32 [%y0], {%d0, %d1, %d2, %d3};\n"
/* More instructions than a warp has in one turn, for the warp of the predicate. */
#define IS_LATE(q)                                                                                 \
    "mov.u32 %r6, 9999;\n@!" q " bra SOON;\n"                                                      \
    "LATE: sub.u32 %r6, %r6, 1;\nsetp.ne.u32 %q2, %r6, 0;\n@%q2 bra LATE;\nSOON:\n"
#define END "DONE: ret;\n}\n"

enum { THREADS = 128, SUMS = 4 * THREADS };

/* What a kernel of THREADS did, and the threads' registers in *SUMS. */
static struct rig *launch(const char *body, uint32_t threads, enum exec_status *status, int **sums)
{
    char text[8192];
    struct rig *r;
    uint64_t at;

    snprintf(text, sizeof(text), "%s%s%s", HEAD, body, END);
    r = rig_new(text, strlen(text));
    assert_non_null(r);
    *sums = rig_alloc(r, SUMS * sizeof(**sums));
    at = (uint64_t)(uintptr_t)*sums;
    *status = rig_launch(r, "k", 1, threads, 0, &at);
    return r;
}

/* The sums of so many products, in WARPS from FIRST on. */
static void expect_sums(const int *sums, unsigned first, unsigned warps, int products)
{
    for (unsigned i = first * 128; i < (first + warps) * 128; i++) {
        int row = (int)(i / 128 * 16 + i / 4 % 32 / 4 + i / 2 % 2 * 8),
            column = (int)(i / 4 % 4 * 2 + i % 2);

        if (sums[i] != products * 32 * (row + 1) * (column + 1))
            fail_msg("row %d, column %d is %d", row, column, sums[i]);
    }
}

static void a_warpgroup_multiplies(void **state)
{
    enum exec_status status;
    int *sums;
    struct rig *r = launch(PRODUCT PRODUCT COMMIT WAIT "0;\n" STORE, THREADS, &status, &sums);

    (void)state;
    assert_int_equal(status, EXEC_DONE);
    expect_sums(sums, 0, 4, 2);
    rig_free(r);
}

/* Warp 1 is late to write the right factor, which is nothing but 3 then. */
static void each_warp_reads_what_another_wrote_before_the_fence(void **state)
{
    enum exec_status status;
    int *sums;
    struct rig *r =
        launch(IS_LATE("%q1") "@!%q1 bra WRITTEN;\nmov.u32 %r5, 0x03030303;\nmov.u32 %r4, m;\n"
                              "and.b32 %r6, %r0, 31;\nshl.b32 %r6, %r6, 3;\n"
                              "add.u32 %r4, %r4, %r6;\nst.shared.v2.b32 [%r4+2048], {%r5, %r5};\n"
                              "WRITTEN:\n" PRODUCT COMMIT WAIT "0;\n" STORE,
               THREADS, &status, &sums);

    (void)state;
    assert_int_equal(status, EXEC_DONE);
    for (int i = 0; i < SUMS; i++)
        assert_int_equal(sums[i], 32 * 3 * (i / 128 * 16 + i / 4 % 32 / 4 + i / 2 % 2 * 8 + 1));
    rig_free(r);
}

/* Warp 1 is late, and all tell whether it has come when they have waited. */
static void no_warp_goes_on_before_all_have_multiplied(void **state)
{
    static const char late[] = IS_LATE("%q1") "@%q1 st.volatile.shared.u32 [m+4000], 1;\n";
    static const char tell[] = "ld.volatile.shared.u32 %d0, [m+4000];\n" STORE;
    static const char *const waits[] = {
        COMMIT WAIT "0;\n",
        COMMIT PRODUCT COMMIT WAIT "1;\n", /* the second group may be under way */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
        char body[2048];
        enum exec_status status;
        struct rig *r;
        int *sums;

        snprintf(body, sizeof(body), "%s%s%s%s", PRODUCT, late, waits[i], tell);
        r = launch(body, THREADS, &status, &sums);
        assert_int_equal(status, EXEC_DONE);
        for (unsigned t = 0; t < THREADS; t++)
            assert_int_equal(sums[4 * t], 1);
        rig_free(r);
    }
}

/* As many groups as the instruction allows are not waited for. */
static void groups_may_be_under_way(void **state)
{
    enum exec_status status;
    int *sums;
    struct rig *r = launch(PRODUCT COMMIT "@%q1 bra BEHIND;\n" MULTIPLY COMMIT WAIT "1;\n" STORE
                                          "bar.sync 1, 128;\nbra DONE;\n"
                                          "BEHIND: bar.sync 1, 128;\n" STORE,
                           THREADS, &status, &sums);

    (void)state;
    assert_int_equal(status, EXEC_DONE);
    expect_sums(sums, 0, 1, 2);
    expect_sums(sums, 1, 1, 1);
    rig_free(r);
}

static void a_warp_that_never_multiplies_is_a_deadlock(void **state)
{
    enum exec_status status;
    int *sums;
    struct rig *r = launch("@%q1 bra NEVER;\n" PRODUCT COMMIT WAIT "0;\nNEVER: bar.sync 0;\n",
                           THREADS, &status, &sums);

    (void)state;
    assert_int_equal(status, EXEC_FAULT);
    assert_int_equal(r->fault.kind, EXEC_FAULT_DEADLOCK);
    rig_free(r);
}

static void a_warp_that_has_ended_is_not_waited_for(void **state)
{
    static const char *const bodies[] = {
        "@%q3 bra DONE;\n" PRODUCT COMMIT WAIT "0;\n" STORE,
        /* while others wait */
        IS_LATE("%q3") "@%q3 bra DONE;\n" PRODUCT COMMIT WAIT "0;\n" STORE,
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        enum exec_status status;
        int *sums;
        struct rig *r = launch(bodies[i], THREADS, &status, &sums);

        assert_int_equal(status, EXEC_DONE);
        expect_sums(sums, 0, 3, 1);
        rig_free(r);
    }
}

static void a_block_of_fewer_warps_has_fewer_rows(void **state)
{
    enum exec_status status;
    int *sums;
    struct rig *r = launch(PRODUCT COMMIT WAIT "0;\n" STORE, 64, &status, &sums);

    (void)state;
    assert_int_equal(status, EXEC_DONE);
    expect_sums(sums, 0, 2, 1);
    rig_free(r);
}

/* Each is read from where its descriptor says, to the last byte. */
static void a_matrix_that_ends_outside_of_shared_memory_is_an_illegal_address(void **state)
{
    static const struct {
        const char *change;
        enum exec_status status;
    } all[] = {
        /* m ends 4,096 bytes behind its start; the right factor takes 256 */
        {"add.u64 %y4, %y2, 0x00000008000800f0;\n", EXEC_DONE},
        {"add.u64 %y4, %y2, 0x00000008000800f1;\n", EXEC_FAULT},
        {"add.u64 %y4, %y2, 0x0000000800f90000;\n", EXEC_FAULT},
        {"add.u64 %y3, %y2, 0x00003fff00400000;\n", EXEC_FAULT},
        {"add.u64 %y3, %y2, 0x00000008004000c1;\n", EXEC_FAULT},
        {"mov.u64 %y3, -1;\n", EXEC_FAULT},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char body[1024];
        enum exec_status status;
        int *sums;
        struct rig *r;

        snprintf(body, sizeof(body), "%s%s", all[i].change, PRODUCT COMMIT WAIT "0;\n");
        r = launch(body, THREADS, &status, &sums);
        if (status != all[i].status)
            fail_msg("%s ends with %d", all[i].change, status);
        if (status == EXEC_FAULT)
            assert_int_equal(r->fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
        rig_free(r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_warpgroup_multiplies),
        cmocka_unit_test(each_warp_reads_what_another_wrote_before_the_fence),
        cmocka_unit_test(no_warp_goes_on_before_all_have_multiplied),
        cmocka_unit_test(groups_may_be_under_way),
        cmocka_unit_test(a_warp_that_never_multiplies_is_a_deadlock),
        cmocka_unit_test(a_warp_that_has_ended_is_not_waited_for),
        cmocka_unit_test(a_block_of_fewer_warps_has_fewer_rows),
        cmocka_unit_test(a_matrix_that_ends_outside_of_shared_memory_is_an_illegal_address),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
