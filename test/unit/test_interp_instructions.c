/* test_interp_instructions.c - instructions that need a protocol or more than one lane: mbarrier
 * with bytes to come, products of quads, registers as parameters, packing, fma.oob. The answers are
 * the ISA's, worked out here by other means. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interp_rig.h"

#define HEAD ".version 8.6\n.target sm_90\n.address_size 64\n"
/* A kernel with one pointer in %y0, its own lane's word at %x, and an mbarrier. */
#define OPEN                                                                                       \
    ".visible .entry k(.param .u64 p)\n{\n.reg .b16 %h<8>; .reg .b32 %r<40>; .reg .b64 %x, "       \
    "%y<9>; "                                                                                      \
    ".reg .pred %q<9>; .reg .f32 %f<40>;\n.shared .align 8 .b64 bar;\n.shared .b32 box;\n"         \
    "mov.u32 %r0, %tid.x;\nld.param.u64 %y0, [p];\nmul.wide.u32 %x, %r0, 4;\n"                     \
    "add.u64 %x, %y0, %x;\n"
#define CLOSE        "\n}\n"
#define KERNEL(body) OPEN body CLOSE
/* Whether a phase is over, as 1 or 0 in word N. */
#define SAY(n)                                                                                     \
    "mbarrier.test_wait.shared.b64 %q1, [bar], %y1;\nselp.u32 %r9, 1, 0, %q1;\n"                   \
    "st.global.u32 [%y0+4*" #n "], %r9;\n"

enum { WORDS = 4096 };

static uint32_t *run(struct rig **r, const char *text, uint32_t threads, const uint32_t *in,
                     size_t words)
{
    *r = rig_new(text, strlen(text));
    assert_non_null(*r);
    uint32_t *memory = rig_alloc(*r, WORDS * 4);
    if (words)
        memcpy(memory, in, words * 4);
    assert_int_equal(rig_launch(*r, "k", 1, threads, 0, &memory), EXEC_DONE);
    return memory;
}

static void expect(const uint32_t *got, const uint32_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("word %zu is 0x%x, not 0x%x", i, got[i], want[i]);
}

static void a_phase_waits_for_the_bytes_that_were_announced(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r,
            HEAD KERNEL(
                "mbarrier.init.shared.b64 [bar], 1;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %y1, [bar], 16;\n" SAY(
                    0) "mbarrier.complete_tx.shared.b64 [bar], 12;\n" SAY(1) "mbarrier.complete_tx."
                                                                             "shared.b64 [bar], "
                                                                             "4;\n" SAY(2)
                /* bytes may come before they are announced; announcing ends no phase */
                "mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 8;\n"
                "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 8;\n"
                "mbarrier.test_wait.parity.shared.b64 %q1, [bar], 1;\n"
                "selp.u32 %r9, 1, 0, %q1;\nst.global.u32 [%y0+12], %r9;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %y1, [bar], 0;\n" SAY(4) "ret;"),
            1, NULL, 0);

    (void)state;
    expect(got, (uint32_t[]){0, 0, 1, 0, 1}, 5);
    rig_free(r);
}

/* Of two stores, 4 and 16 bytes, to the block's own memory as the cluster's. */
static void a_store_completes_its_bytes(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r,
            HEAD KERNEL(
                ".shared .align 16 .b8 s[32];\nmov.u32 %r1, s;\nmov.u32 %r2, bar;\n"
                "mov.b32 %r3, 3;\nmbarrier.init.shared.b64 [bar], 1;\n"
                "mbarrier.arrive.expect_tx.shared.b64 %y1, [bar], 20;\n"
                "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r1], 7, "
                "[%r2];\n" SAY(0) "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 "
                                  "[%r1+16], {%y1, 9}, [bar];\n" SAY(
                                      1) "ld.shared.u32 %r4, [s];\nld.shared.u32 %r5, [s+24];\n"
                                         "st.global.v2.u32 [%y0+8], {%r4, %r5};\nret;"),
            1, NULL, 0);

    (void)state;
    expect(got, (uint32_t[]){0, 1, 7, 9}, 4);
    rig_free(r);
}

static void arrivals_are_counted_and_dropped(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r,
            HEAD KERNEL("mbarrier.init.shared.b64 [bar], 5;\n"
                        "mbarrier.arrive.noComplete.shared.b64 %y1, [bar], 2;\n"
                        "mbarrier.pending_count.b64 %r1, %y1;\nst.global.u32 [%y0], %r1;\n"
                        "mbarrier.arrive_drop.shared.b64 %y1, [bar], 2;\n"
                        "mbarrier.pending_count.b64 %r1, %y1;\nst.global.u32 [%y0+4], %r1;\n" SAY(
                            2) "mbarrier.arrive.shared.b64 _, [bar];\n" SAY(3)
                        /* the next phase expects three */
                        "mbarrier.arrive.shared.b64 %y1, [bar];\n"
                        "mbarrier.pending_count.b64 %r1, %y1;\nst.global.u32 [%y0+16], %r1;\n"
                        "mbarrier.arrive_drop.expect_tx.shared.b64 _, [bar], 4;\n"
                        "mbarrier.arrive.shared.b64 _, [bar];\n" SAY(
                            5) "mbarrier.complete_tx.shared.b64 "
                               "[bar], 4;\n" SAY(6) "mbarrier.arrive.shared.b64 "
                                                    "%y1, [bar];\n"
                                                    "mbarrier.pending_count.b64 "
                                                    "%r1, %y1;\nst.global.u32 "
                                                    "[%y0+28], %r1;\n"
                                                    "mbarrier.inval.shared.b64 "
                                                    "[bar];\nret;"),
            1, NULL, 0);

    (void)state;
    expect(got, (uint32_t[]){5, 3, 0, 1, 3, 0, 1, 2}, 8);
    rig_free(r);
}

/* One warp writes a word and announces it, the other spins with a time limit: ten rounds, by
 * parity. */
static void warps_pass_words_on_by_parity(void **state)
{
    struct rig *r;
    const uint32_t *got = run(
        &r,
        HEAD KERNEL(
            ".shared .align 8 .b64 empty;\nsetp.ne.u32 %q0, %r0, 0;\n"
            "@%q0 bra READY;\nmbarrier.init.shared.b64 [bar], 1;\nmbarrier.init.shared.b64 "
            "[empty], "
            "32;\nREADY:\nbar.sync 0;\nmov.u32 %r2, 0;\nmov.u32 %r4, 0;\nsetp.ge.u32 %q0, %r0, "
            "32;\n"
            "@%q0 bra TAKE;\nGIVE:\nsetp.ne.u32 %q2, %r0, 0;\n@%q2 bra NEXT;\n"
            "xor.b32 %r3, %r4, 1;\n"
            "FULL:\nmbarrier.try_wait.parity.shared.b64 %q1, [empty], %r3, 100;\n@!%q1 bra FULL;\n"
            "mad.lo.u32 %r5, %r2, 3, 7;\nst.shared.u32 [box], %r5;\n"
            "mbarrier.arrive.expect_tx.shared.b64 _, [bar], 4;\n"
            "mbarrier.complete_tx.shared.b64 [bar], 4;\n"
            "NEXT:\nbar.warp.sync 0xffffffff;\nxor.b32 %r4, %r4, 1;\nadd.u32 %r2, %r2, 1;\n"
            "setp.lt.u32 %q1, %r2, 10;\n@%q1 bra GIVE;\nret;\n"
            "TAKE:\nmbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %q1, [bar], %r4, 1000;\n"
            "@!%q1 bra TAKE;\nld.shared.u32 %r5, [box];\nadd.u32 %r6, %r6, %r5;\n"
            "mbarrier.arrive.shared.b64 _, [empty];\nxor.b32 %r4, %r4, 1;\nadd.u32 %r2, %r2, 1;\n"
            "setp.lt.u32 %q1, %r2, 10;\n@%q1 bra TAKE;\nst.global.u32 [%x], %r6;\nret;"),
        64, NULL, 0);

    (void)state;
    for (unsigned i = 32; i < 64; i++)
        assert_int_equal(got[i], 3 * 45 + 70);
    rig_free(r);
}

/* ---- mma.m8n8k4 ---- */

static const uint16_t small_halves[] = {0x0000, 0x3c00, 0xbc00, 0x4000, 0xc000,
                                        0x4200, 0x3800, 0xb800, 0x4400, 0xc500};
static const float small_values[] = {0, 1, -1, 2, -2, 3, 0.5f, -0.5f, 4, -5};

/* Everything that goes in and comes out, of one of the four products. */
struct quad {
    float a[8][4], b[4][8], c[8][8];
};

/* The element number I of matrix WHAT that LANE holds, as the ISA's tables have it. */
static float *element(struct quad *q, char what, bool by_column, unsigned lane, unsigned i)
{
    unsigned high = lane < 16 ? 0 : 4, l = lane % 4;

    if (what == 'a')
        return by_column ? &q->a[high + i][l] : &q->a[high + l][i];
    if (what == 'b')
        return by_column ? &q->b[i][high + l] : &q->b[l][high + i];
    if (what == 'h') /* sums in f16 */
        return &q->c[high + l][i];
    return &q->c[high + (lane & 1) + (i & 2)][(i & 4) + (lane & 2) + (i & 1)];
}

static void check_quads(bool a_column, bool b_column, bool wide_c, bool wide_d)
{
    enum { A = 0, B = 64, C = 128, D = 384 };
    static struct quad quads[4];
    uint32_t words[D] = {0}, random = 12345;
    static const char before[] =
        HEAD OPEN "shl.b32 %r1, %r0, 3;\ncvt.u64.u32 %y1, %r1;\nadd.u64 %y2, %y0, %y1;\n"
                  "shl.b64 %y1, %y1, 2;\nadd.u64 %y3, %y0, %y1;\n"
                  "ld.global.v2.b32 {%r1,%r2}, [%y2];\nld.global.v2.b32 {%r3,%r4}, [%y2+256];\n"
                  "ld.global.v4.b32 {%r5,%r6,%r7,%r8}, [%y3+512];\n"
                  "ld.global.v4.b32 {%r9,%r10,%r11,%r12}, [%y3+528];\n";
    static const char behind[] = "st.global.v4.b32 [%y3+1536], {%r20,%r21,%r22,%r23};\n"
                                 "st.global.v4.b32 [%y3+1552], {%r24,%r25,%r26,%r27};\nret;" CLOSE;
    char mma[256], text[sizeof before + sizeof mma + sizeof behind];
    struct rig *r;

    memset(quads, 0, sizeof quads);
    for (unsigned lane = 0; lane < 32; lane++) {
        struct quad *q = &quads[lane % 16 / 4];
        for (unsigned i = 0; i < 16; i++) {
            unsigned pick = (random = random * 1664525 + 1013904223) >> 16;
            pick %= sizeof small_values / sizeof small_values[0];
            char what = i < 4 ? 'a' : i < 8 ? 'b' : wide_c ? 'f' : 'h';
            *element(q, what, what == 'a' ? a_column : b_column, lane, i < 8 ? i % 4 : i - 8) =
                small_values[pick];
            uint32_t half = (uint32_t)small_halves[pick] << i % 2 * 16;
            if (i < 8)
                words[(i < 4 ? A : B) + lane * 2 + i % 4 / 2] |= half;
            else if (wide_c)
                memcpy(&words[C + lane * 8 + i - 8], &small_values[pick], 4);
            else
                words[C + lane * 8 + (i - 8) / 2] |= half;
        }
    }
    snprintf(mma, sizeof mma,
             "mma.sync.aligned.m8n8k4.%s.%s.%s.f16.f16.%s %s, {%%r1,%%r2}, {%%r3,%%r4}, %s;\n",
             a_column ? "col" : "row", b_column ? "col" : "row", wide_d ? "f32" : "f16",
             wide_c ? "f32" : "f16",
             wide_d ? "{%r20,%r21,%r22,%r23,%r24,%r25,%r26,%r27}" : "{%r20,%r21,%r22,%r23}",
             wide_c ? "{%r5,%r6,%r7,%r8,%r9,%r10,%r11,%r12}" : "{%r5,%r6,%r7,%r8}");
    snprintf(text, sizeof text, "%s%s%s", before, mma, behind);
    const uint32_t *got = run(&r, text, 32, words, D);
    for (unsigned q = 0; q < 4; q++)
        for (unsigned i = 0; i < 8; i++)
            for (unsigned j = 0; j < 8; j++)
                for (unsigned k = 0; k < 4; k++)
                    quads[q].c[i][j] += quads[q].a[i][k] * quads[q].b[k][j];
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < 8; i++) {
            float want = *element(&quads[lane % 16 / 4], wide_d ? 'f' : 'h', false, lane, i), have;
            const uint32_t *d = got + D + lane * 8;
            if (wide_d) {
                memcpy(&have, &d[i], 4);
            } else { /* these sums are small multiples of a quarter: exact in f16 */
                uint32_t h = d[i / 2] >> i % 2 * 16 & 0xffff, e = h >> 10 & 31;
                have = e ? (float)(1024 + (h & 1023)) : (float)(h & 1023);
                for (int n = (int)(e ? e : 1) - 25; n; n += n < 0 ? 1 : -1)
                    have = n < 0 ? have / 2 : have * 2;
                have = h & 0x8000 ? -have : have;
            }
            if (have != want)
                fail_msg("lane %u, element %u is %g, not %g", lane, i, (double)have, (double)want);
        }
    rig_free(r);
}

static void four_quads_multiply_at_once(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 16; i++)
        if (i & 8 || !(i & 4)) /* sums in f32 do not become f16 */
            check_quads(i & 1, i & 2, i & 4, i & 8);
}

/* ---- Calls ---- */

static void parameters_and_results_may_be_registers(void **state)
{
    struct rig *r;
    const uint32_t *got = run(
        &r,
        HEAD ".func (.reg .u32 s, .reg .u64 t) two(.reg .u32 a, .reg .u64 b)\n{\n.reg .pred p;\n"
             "AGAIN:\nadd.u32 s, a, 1;\nadd.u64 t, b, 2;\nsetp.lt.u32 p, a, 5;\n@p ret;\n"
             "sub.u32 a, a, 5;\nbra AGAIN;\n}\n"
             ".func (.reg .u32 s) sum(.reg .u32 n)\n{\n.reg .pred p;\n.reg .u32 m;\n"
             "mov.u32 s, 0;\nsetp.eq.u32 p, n, 0;\n@p ret;\nsub.u32 m, n, 1;\n"
             "call (s), sum, (m);\nadd.u32 s, s, n;\n}\n"
             ".func (.reg .u32 s) mixed(.param .b32 a)\n{\nld.param.b32 s, [a];\nadd.u32 s, s, s;\n"
             "ret;\n}\n" KERNEL(
                 "call (%r1, %y1), two, (%r0, 40);\ncvt.u32.u64 %r2, %y1;\nmad.lo.u32 %r1, %r2, "
                 "1000, %r1;\nst.global.u32 [%x], %r1;\n"
                 "call (%r1), sum, (%r0);\nst.global.u32 [%x+256], %r1;\n"
                 "{\n.param .b32 a;\nst.param.b32 [a], %r0;\ncall (%r1), mixed, (a);\n}\n"
                 "st.global.u32 [%x+512], %r1;\nmov.u64 %y2, sum;\n"
                 "P: .callprototype (.reg .u32 _) _ (.reg .u32 _);\n"
                 "call (%r1), %y2, (%r0), P;\nst.global.u32 [%x+768], %r1;\nret;"),
        32, NULL, 0);

    (void)state;
    for (uint32_t i = 0; i < 32; i++) {
        assert_int_equal(got[i], 42000 + i % 5 + 1);
        assert_int_equal(got[64 + i], i * (i + 1) / 2);
        assert_int_equal(got[128 + i], 2 * i);
        assert_int_equal(got[192 + i], i * (i + 1) / 2);
    }
    rig_free(r);
}

/* ---- Lane by lane ---- */

static void narrow_elements_are_packed_above_what_was_there(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r,
            HEAD KERNEL("ld.global.b32 %r1, [%y0];\nld.global.b32 %r2, [%y0+4];\n"
                        "mov.b32 %r3, 0x89abcdef;\ncvt.pack.sat.u4.s32.b32 %r4, %r1, %r2, %r3;\n"
                        "cvt.pack.sat.s4.s32.b32 %r5, %r1, %r2, %r3;\n"
                        "cvt.pack.sat.u2.s32.b32 %r6, %r1, %r2, %r3;\n"
                        "cvt.pack.sat.s2.s32.b32 %r7, %r1, %r2, %r3;\n"
                        "st.global.v4.b32 [%y0], {%r4, %r5, %r6, %r7};\nret;"),
            1, (const uint32_t[]){(uint32_t)-9, 11}, 2);

    (void)state;
    expect(got, (uint32_t[]){0xabcdef0b, 0xabcdef87, 0x9abcdef3, 0x9abcdef9}, 4);
    rig_free(r);
}

static void a_factor_from_out_of_bounds_makes_zero(void **state)
{
    struct rig *r;
    /* 1 * 2 + 4; the special NaN as a factor, of either sign; another NaN; the special one added */
    const uint32_t *got =
        run(&r,
            HEAD KERNEL(
                "mov.b32 %r5, 0x44004400;\nmov.b32 %r2, 0x40004000;\nmov.b32 %r1, 0x7ff73c00;\n"
                "fma.rn.oob.f16x2 %r3, %r1, %r2, %r5;\nmov.b32 %r1, 0xfff77e00;\n"
                "fma.rn.oob.relu.f16x2 %r4, %r2, %r1, %r5;\nmov.b32 %r1, 0x3c003c00;\n"
                "mov.b32 %r5, 0x7ff77ff7;\nfma.rn.oob.f16x2 %r6, %r1, %r2, %r5;\n"
                "mov.b16 %h0, 0x7ff7;\nmov.b16 %h1, 0x3f80;\n"
                "fma.rn.oob.bf16 %h2, %h1, %h0, %h1;\nfma.rn.oob.bf16 %h3, %h1, %h1, %h1;\n"
                "mov.b32 %r7, {%h2, %h3};\nst.global.v4.b32 [%y0], {%r3, %r4, %r6, %r7};\nret;"),
            1, NULL, 0);

    (void)state;
    expect(got, (uint32_t[]){0x00004600, 0x00007fff, 0x7fff7fff, 0x40000000}, 4);
    rig_free(r);
}

static void a_copy_that_ignores_its_source_writes_zeros(void **state)
{
    struct rig *r;
    const uint32_t *got = run(
        &r,
        HEAD KERNEL(".shared .align 16 .b8 tile[512];\nmov.u32 %r2, tile;\nshl.b32 %r3, %r0, 2;\n"
                    "add.u32 %r2, %r2, %r3;\nst.shared.u32 [%r2], 7;\nst.global.u32 [%x], 9;\n"
                    "and.b32 %r4, %r0, 1;\nsetp.eq.u32 %q0, %r4, 1;\n"
                    "cp.async.ca.shared.global [%r2], [%x], 4, %q0;\ncp.async.wait_all;\n"
                    "ld.shared.u32 %r5, [%r2];\nst.global.u32 [%x], %r5;\nret;"),
        32, NULL, 0);

    (void)state;
    for (unsigned i = 0; i < 32; i++)
        assert_int_equal(got[i], i & 1 ? 0 : 9);
    rig_free(r);
}

/* A word of each half, and the phases that the bytes end: also where they come before they were
 * announced. The copy back is of 32 bytes, and what lies behind it stays. */
static void bulk_copies_bring_their_bytes(void **state)
{
    struct rig *r;
    uint32_t in[16];

    for (uint32_t i = 0; i < 16; i++)
        in[i] = 100 + i;
    const uint32_t *got = run(
        &r,
        HEAD KERNEL(".shared .align 16 .b32 tile[16];\nmov.u32 %r2, 32;\n"
                    "mbarrier.init.shared.b64 [bar], 1;\nfence.mbarrier_init.release.cluster;\n"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], "
                    "[%y0+32], %r2, [bar];\n"
                    "mbarrier.arrive.expect_tx.shared.b64 %y1, [bar], 64;\n"
                    "mbarrier.test_wait.shared.b64 %q1, [bar], %y1;\nselp.u32 %r5, 1, 0, %q1;\n"
                    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+32], "
                    "[%y0], 32, [bar];\n"
                    "mbarrier.test_wait.shared.b64 %q1, [bar], %y1;\nselp.u32 %r6, 1, 0, %q1;\n"
                    "ld.shared.u32 %r7, [tile];\nld.shared.u32 %r8, [tile+60];\n"
                    "st.global.v4.b32 [%y0+64], {%r5, %r6, %r7, %r8};\n"
                    "cp.async.bulk.global.shared::cta.bulk_group [%y0+128], [tile+16], %r2;\n"
                    "cp.async.bulk.commit_group;\ncp.async.bulk.wait_group.read 0;\n"
                    "mov.u32 %r2, 0;\nmov.u64 %y2, 0;\n"
                    "cp.async.bulk.global.shared::cta.bulk_group [%y2], [tile], %r2;\n"
                    "ret;"),
        1, in, 16);

    (void)state;
    expect(got + 16, (uint32_t[]){0, 1, 108, 107}, 4);
    expect(got + 32, (uint32_t[]){112, 113, 114, 115, 100, 101, 102, 103, 0}, 9);
    rig_free(r);
}

/* 64 reductions of 4,096 elements are as long as two turns of a warp. */
static void bulk_reductions_take_as_long_as_their_elements(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r,
            HEAD KERNEL(".shared .b32 s;\n.shared .align 16 .b8 tile[8192];\n"
                        "setp.ge.u32 %q0, %r0, 32;\n@%q0 bra OTHER;\n"
                        "setp.ne.u32 %q1, %r0, 0;\n@%q1 ret;\nmov.u32 %r2, 0;\nLOOP:\n"
                        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 "
                        "[%y0], [tile], 8192;\n"
                        "add.u32 %r2, %r2, 1;\nst.volatile.shared.u32 [s], %r2;\n"
                        "setp.lt.u32 %q1, %r2, 64;\n@%q1 bra LOOP;\nret;\nOTHER:\n"
                        "ld.volatile.shared.u32 %r3, [s];\nst.global.u32 [%y0+8192], %r3;\nret;"),
            33, NULL, 0);

    (void)state;
    assert_in_range(got[2048], 1, 32);
    rig_free(r);
}

static void bulk_copies_keep_to_their_places(void **state)
{
    static const struct {
        const char *copy;
        enum exec_fault_kind kind;
    } all[] = {
        {"[%y0], [tile], %r7", EXEC_FAULT_ILLEGAL_INSTRUCTION},
        {"[%y0+8], [tile], 16", EXEC_FAULT_MISALIGNED},
        {"[%y0], [tile+8], 16", EXEC_FAULT_MISALIGNED},
        {"[%y0], [tile+496], 32", EXEC_FAULT_ILLEGAL_ADDRESS},
        {"[%y1], [tile], 16", EXEC_FAULT_ILLEGAL_ADDRESS},
        {"[%y1+-16], [tile], 32", EXEC_FAULT_ILLEGAL_ADDRESS},
        /* from a shared address that would lead out of shared memory, to %y0 */
        {"[%y0], [%y2], 16", EXEC_FAULT_ILLEGAL_ADDRESS},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        char text[2048];
        snprintf(text, sizeof(text), "%s%s;\nret;" CLOSE,
                 HEAD OPEN ".shared .align 16 .b8 tile[496];\nmov.u64 %y1, 4096;\n"
                           "mov.u64 %y3, 0x1000000000000;\nsub.u64 %y2, %y0, %y3;\n"
                           "mov.u32 %r7, 24;\n"
                           "cp.async.bulk.global.shared::cta.bulk_group ",
                 all[i].copy);
        struct rig *r = rig_new(text, strlen(text));
        assert_non_null(r);
        uint32_t *memory = rig_alloc(r, 4096);
        assert_int_equal(rig_launch(r, "k", 1, 1, 0, &memory), EXEC_FAULT);
        assert_int_equal(r->fault.kind, all[i].kind);
        rig_free(r);
    }
}

/* A shared address of 64 bits that, added to where shared memory is, would be %y0. */
static void matrix_rows_keep_to_shared_memory(void **state)
{
    static const char *const rows[] = {
        "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%y2]",
        "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%y2], {%r1}",
        "wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [%y2], {%r1, %r1, %r1, %r1}"};

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char text[2048];
        snprintf(text, sizeof(text), "%s%s;\nret;" CLOSE,
                 HEAD OPEN "mov.u64 %y3, 0x1000000000000;\nsub.u64 %y2, %y0, %y3;\n"
                           "mov.u32 %r1, 0;\n",
                 rows[i]);
        struct rig *r = rig_new(text, strlen(text));
        assert_non_null(r);
        uint32_t *memory = rig_alloc(r, 4096);
        assert_int_equal(rig_launch(r, "k", 1, 32, 0, &memory), EXEC_FAULT);
        assert_int_equal(r->fault.kind, EXEC_FAULT_ILLEGAL_ADDRESS);
        rig_free(r);
    }
}

/* As on an H200: a block's own shared memory begins behind 1 KiB that programs of the system may
 * use, cooperative groups 288 bytes of it. */
static void a_block_has_reserved_shared_memory(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r,
            HEAD KERNEL("mov.u32 %r1, %reserved_smem_offset_begin;\n"
                        "mov.u32 %r2, %reserved_smem_offset_end;\n"
                        "mov.u32 %r3, %reserved_smem_offset_cap;\nmov.u32 %r4, bar;\n"
                        "st.global.v4.b32 [%y0], {%r1, %r2, %r3, %r4};\n"
                        "mov.u32 %r5, %reserved_smem_offset_1;\nadd.u32 %r6, %r5, 288;\n"
                        "mov.u32 %r7, %aggr_smem_size;\nmov.u32 %r8, %total_smem_size;\n"
                        "sub.u32 %r7, %r7, %r8;\ncvt.u64.u32 %y1, %r5;\ncvta.shared.u64 %y1, %y1;\n"
                        "st.u64 [%y1+280], 77;\nld.shared.u32 %r9, [%r5+280];\n"
                        "st.global.v4.b32 [%y0+16], {%r6, %r7, %r8, %r9};\nret;"),
            1, NULL, 0);

    (void)state;
    expect(got, (uint32_t[]){0, 1024, 1024, 1024}, 4);
    assert_in_range(got[4], 288, 1024);
    expect(got + 5, (uint32_t[]){1024, 16, 77}, 3);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_phase_waits_for_the_bytes_that_were_announced),
        cmocka_unit_test(a_store_completes_its_bytes),
        cmocka_unit_test(arrivals_are_counted_and_dropped),
        cmocka_unit_test(warps_pass_words_on_by_parity),
        cmocka_unit_test(four_quads_multiply_at_once),
        cmocka_unit_test(parameters_and_results_may_be_registers),
        cmocka_unit_test(narrow_elements_are_packed_above_what_was_there),
        cmocka_unit_test(a_factor_from_out_of_bounds_makes_zero),
        cmocka_unit_test(a_copy_that_ignores_its_source_writes_zeros),
        cmocka_unit_test(bulk_copies_bring_their_bytes),
        cmocka_unit_test(bulk_reductions_take_as_long_as_their_elements),
        cmocka_unit_test(bulk_copies_keep_to_their_places),
        cmocka_unit_test(matrix_rows_keep_to_shared_memory),
        cmocka_unit_test(a_block_has_reserved_shared_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
