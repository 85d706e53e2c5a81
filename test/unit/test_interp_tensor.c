/* test_interp_tensor.c - tensor copies of the interpreter: which elements lie where in shared
 * memory, what of a tensor is written, and what ends as a fault. The answers are worked out here
 * from the ISA's chapter on tensors, element by element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interp_rig.h"
#include "softcuda/tensor/tensor_map.h"

/* Words of the memory that %y0 leads to: the tensor, what the box in shared memory is at first,
 * what it is at last, and whether the bytes have come. %y1 is the map's address, bar waits once. */
enum { WORDS = 1024, TENSOR_AT = 0, FIRST_AT = WORDS, LAST_AT = 2 * WORDS, COME_AT = 3 * WORDS };

#define BEGIN                                                                                      \
    ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 1024 .b8 box[4096];\n"          \
    ".shared .align 8 .b64 bar;\n.global .align 64 .b8 gmap[128];\n"                               \
    ".visible .entry k(.param .u64 p, .param .align 64 .b8 map[128])\n{\n"                         \
    ".reg .b32 %r<9>; .reg .b64 %y<9>; .reg .pred %q<3>;\n"                                        \
    "ld.param.u64 %y0, [p];\nmov.b64 %y1, map;\ncvta.param.u64 %y1, %y1;\nmov.u32 %r0, %tid.x;\n"  \
    "shl.b32 %r0, %r0, 2;\nmov.u32 %r1, box;\nadd.u32 %r1, %r1, %r0;\ncvt.u64.u32 %y2, %r0;\n"     \
    "add.u64 %y2, %y0, %y2;\nld.global.u32 %r2, [%y2+4096];\nst.shared.u32 [%r1], %r2;\n"          \
    "bar.sync 0;\nsetp.ne.u32 %q0, %r0, 0;\n@%q0 bra DONE;\n"
#define END                                                                                        \
    "DONE: bar.sync 0;\nld.shared.u32 %r2, [%r1];\nst.global.u32 [%y2+8192], %r2;\nret;\n}\n"
#define BARRIER "mbarrier.init.shared.b64 [bar], 1;\n"
#define AWAIT(bytes)                                                                               \
    "mbarrier.arrive.expect_tx.shared.b64 %y3, [bar], " #bytes ";\n"                               \
    "mbarrier.test_wait.shared.b64 %q1, [bar], %y3;\nselp.u32 %r3, 1, 0, %q1;\n"                   \
    "st.global.u32 [%y0+12288], %r3;\n"
#define LOAD "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
#define MULTICAST                                                                                  \
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"                  \
    ".multicast::cluster "
#define STORE "d.global.shared::cta.tile.bulk_group "

struct params {
    uint64_t memory, unused[7];
    struct tensor_map map;
};

struct tensor {
    uint32_t type, rank, swizzle, fill;
    uint64_t dims[5], strides[4];
    uint32_t box[5], steps[5];
};

static struct tensor_map map_at(const void *at, const struct tensor *t)
{
    struct tensor_map map = {.address = (uint64_t)(uintptr_t)at,
                             .rank = (uint8_t)t->rank,
                             .type = (uint8_t)t->type,
                             .swizzle = (uint8_t)t->swizzle,
                             .fill = (uint8_t)t->fill};
    uint32_t steps[5];

    for (unsigned i = 0; i < 5; i++)
        steps[i] = t->steps[i] ? t->steps[i] : 1;
    assert_int_equal(tensor_map_encode(&map, t->dims, t->strides, t->box, steps), CUDA_SUCCESS);
    return map;
}

static struct rig *rig_of(const char *body)
{
    char text[8192];
    struct rig *r;

    snprintf(text, sizeof(text), "%s%s%s", BEGIN, body, END);
    r = rig_new(text, strlen(text));
    assert_non_null(r);
    return r;
}

/* The tensor's words are 100, 101 ..., those of the box at first 0x50000000, 0x50000001 ... */
static uint32_t *memory_of(struct rig *r)
{
    uint32_t *memory = rig_alloc(r, 4 * WORDS * sizeof(*memory));

    for (uint32_t i = 0; i < WORDS; i++) {
        memory[TENSOR_AT + i] = 100 + i;
        memory[FIRST_AT + i] = 0x50000000 + i;
    }
    return memory;
}

static uint32_t *run(struct rig **r, const char *body, const struct tensor *t)
{
    struct params params = {0};
    uint32_t *memory;

    *r = rig_of(body);
    memory = memory_of(*r);
    params.memory = (uint64_t)(uintptr_t)memory;
    params.map = map_at(memory, t);
    assert_int_equal(rig_launch(*r, "k", 1, WORDS, 0, &params), EXEC_DONE);
    return memory;
}

static void expect(const uint32_t *got, const uint32_t *want, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (got[i] != want[i])
            fail_msg("word %zu is 0x%x, not 0x%x", i, got[i], want[i]);
}

/* ---- Boxes ---- */

/* Five columns of three rows of eight words each. */
static const struct tensor plane = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                    .rank = 2,
                                    .dims = {5, 3},
                                    .strides = {32},
                                    .box = {4, 4}};

/* The whole box counts, and what the tensor does not have is 0. */
static void a_box_is_zero_where_the_tensor_ends(void **state)
{
    struct rig *r;
    const uint32_t *got = run(&r,
                              BARRIER "mov.u32 %r4, -1;\ncp.async.bulk.tensor.2" LOAD
                                      "[box], [%y1, {4, %r4}], [bar];\n" AWAIT(64),
                              &plane);

    (void)state;
    expect(got + LAST_AT,
           (uint32_t[]){0, 0, 0, 0, 104, 0, 0, 0, 112, 0, 0, 0, 120, 0, 0, 0, 0x50000010}, 17);
    assert_int_equal(got[COME_AT], 1);
    rig_free(r);
}

static void a_box_is_zero_before_the_tensor_begins(void **state)
{
    static const struct tensor wide = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                       .rank = 2,
                                       .dims = {5, 3},
                                       .strides = {32},
                                       .box = {8, 2}};
    struct rig *r;
    const uint32_t *got =
        run(&r, BARRIER "cp.async.bulk.tensor.2" LOAD "[box], [%y1, {-4, -1}], [bar];\n" AWAIT(64),
            &wide);

    (void)state;
    expect(got + LAST_AT,
           (uint32_t[]){0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 101, 102, 103, 0x50000010}, 17);
    assert_int_equal(got[COME_AT], 1);
    rig_free(r);
}

static void a_box_may_lie_outside_altogether(void **state)
{
    static const char *const all[] = {"{-4, 0}", "{8, 0}",          "{0, 3}",
                                      "{0, -4}", "{0x7ffffffc, 0}", "{0x80000000, 0x80000000}"};

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        static const uint32_t zeros[16];
        char body[1024];
        struct rig *r;
        const uint32_t *got;

        snprintf(body, sizeof(body), "%s%s%s",
                 BARRIER "cp.async.bulk.tensor.2" LOAD "[box+128], [%y1, ", all[i],
                 "], [bar];\n" AWAIT(64));
        got = run(&r, body, &plane);
        expect(got + LAST_AT + 32, zeros, 16);
        assert_int_equal(got[COME_AT], 1);
        rig_free(r);
    }
}

/* What lies between the rows of a tensor is none of its elements. */
static void only_elements_of_the_tensor_are_written(void **state)
{
    struct rig *r;
    const uint32_t *got = run(&r, "cp.async.bulk.tensor.2" STORE "[%y1, {4, 1}], [box];\n", &plane);
    uint32_t want[WORDS];

    (void)state;
    for (uint32_t i = 0; i < WORDS; i++)
        want[i] = 100 + i;
    want[12] = 0x50000000;
    want[20] = 0x50000004;
    expect(got, want, WORDS);
    rig_free(r);
}

/* Every second row of every third plane, from one before the tensor; a step along rows is ignored,
 * and a box of 3 by 2 has two rows, of 7 by 3 three planes. */
static void steps_leave_elements_out(void **state)
{
    static const struct tensor volume = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                         .rank = 3,
                                         .dims = {8, 4, 6},
                                         .strides = {32, 128},
                                         .box = {4, 3, 7},
                                         .steps = {2, 2, 3}};
    struct rig *r;
    const uint32_t *got = run(
        &r, BARRIER "cp.async.bulk.tensor.3" LOAD "[box], [%y1, {4, 1, -1}], [bar];\n" AWAIT(96),
        &volume);

    (void)state;
    for (uint32_t i = 0; i < 24; i++) {
        const int x = 4 + (int)i % 4, y = 1 + 2 * (int)(i / 4 % 2), z = -1 + 3 * (int)(i / 8);
        const uint32_t want = z < 0 ? 0 : 100u + (uint32_t)(x + 8 * y + 32 * z);

        assert_int_equal(got[LAST_AT + i], want);
    }
    assert_int_equal(got[LAST_AT + 24], 0x50000018);
    assert_int_equal(got[COME_AT], 1);
    rig_free(r);
}

/* Five dimensions of two, of bytes whose rows are 16 bytes. */
static void all_five_dimensions_count(void **state)
{
    static const struct tensor deep = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                       .rank = 5,
                                       .dims = {16, 2, 2, 2, 2},
                                       .strides = {16, 32, 64, 128},
                                       .box = {16, 2, 1, 2, 1}};
    struct rig *r;
    const uint32_t *got = run(&r,
                              BARRIER "cp.async.bulk.tensor.5" LOAD
                                      "[box], [%y1, {0, 0, 1, 0, 1}], [bar];\n" AWAIT(64),
                              &deep);

    (void)state;
    for (uint32_t i = 0; i < 16; i++)
        assert_int_equal(got[LAST_AT + i], 100 + i % 4 + 4 * (i / 4 % 2) + 8 + 16 * (i / 8) + 32);
    assert_int_equal(got[COME_AT], 1);
    rig_free(r);
}

/* Of halves the NaN is the one that fma.oob knows. */
static void what_is_outside_may_be_a_nan(void **state)
{
    static const struct tensor halves = {.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16,
                                         .rank = 1,
                                         .dims = {3},
                                         .strides = {0},
                                         .box = {8},
                                         .fill = 1};
    struct rig *r;
    const uint32_t *got = run(
        &r, BARRIER "cp.async.bulk.tensor.1" LOAD "[box], [%y1, {0}], [bar];\n" AWAIT(16), &halves);

    (void)state;
    expect(got + LAST_AT, (uint32_t[]){100, 0x7ff70065, 0x7ff77ff7, 0x7ff77ff7}, 4);
    rig_free(r);
}

/* ---- Swizzles ---- */

/* A box of 16 rows as wide as the swizzle, 128 bytes behind a multiple of 1,024. What went in
 * swizzled comes out by a store that swizzles too. */
static void chunks_are_swizzled_by_their_address(void **state)
{
    static const uint32_t masks[] = {0, 1, 3, 7};

    (void)state;
    for (uint32_t swizzle = 0; swizzle < 4; swizzle++) {
        const uint32_t width = swizzle ? 4u << swizzle : 32; /* words */
        const struct tensor t = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                 .rank = 2,
                                 .dims = {width, 32},
                                 .strides = {width * 4},
                                 .box = {width, 16},
                                 .swizzle = swizzle};
        struct rig *r;
        const uint32_t *got =
            run(&r,
                BARRIER "cp.async.bulk.tensor.2" LOAD "[box+128], [%y1, {0, 1}], [bar];\n"
                        "cp.async.bulk.tensor.2" STORE "[%y1, {0, 16}], [box+128];\n",
                &t);

        for (uint32_t i = 0; i < 16 * width; i++) {
            uint32_t at = 128 + i * 4;

            at ^= (at >> 7 & masks[swizzle]) << 4;
            assert_int_equal(got[LAST_AT + at / 4], 100 + width + i);
            assert_int_equal(got[16 * width + i], 100 + width + i);
        }
        rig_free(r);
    }
}

/* ---- Reductions ---- */

static void elements_are_reduced_by_their_type(void **state)
{
    static const struct {
        uint32_t type;
        const char *op;
        uint32_t was, with, becomes; /* a word of the tensor, of the box */
    } all[] = {
        {CU_TENSOR_MAP_DATA_TYPE_UINT32, "add", 7, 0xfffffffe, 5},
        {CU_TENSOR_MAP_DATA_TYPE_INT32, "min", 7, 0xfffffffe, 0xfffffffe},
        {CU_TENSOR_MAP_DATA_TYPE_UINT32, "min", 7, 0xfffffffe, 7},
        {CU_TENSOR_MAP_DATA_TYPE_INT32, "max", 7, 0xfffffffe, 7},
        {CU_TENSOR_MAP_DATA_TYPE_UINT32, "inc", 7, 7, 0},
        {CU_TENSOR_MAP_DATA_TYPE_UINT32, "dec", 0, 9, 9},
        {CU_TENSOR_MAP_DATA_TYPE_INT32, "and", 12, 10, 8},
        {CU_TENSOR_MAP_DATA_TYPE_UINT32, "or", 12, 10, 14},
        {CU_TENSOR_MAP_DATA_TYPE_UINT64, "xor", 12, 10, 6},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, "add", 0x3f800000, 0x40000000, 0x40400000},
        {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, "add", 0x3c004000, 0x40003c00, 0x42004200},
        {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, "max", 0x3f804000, 0x40003f80, 0x40004000},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        const uint32_t words = all[i].type == CU_TENSOR_MAP_DATA_TYPE_UINT64 ? 2 : 1;
        const uint32_t each = tensor_element_bytes(all[i].type);
        const struct tensor t = {
            .type = all[i].type, .rank = 1, .dims = {8 / each}, .box = {16 / each}};
        struct params params = {0};
        char body[256];
        uint32_t *memory;
        struct rig *r;

        snprintf(
            body, sizeof(body),
            "cp.reduce.async.bulk.tensor.1d.global.shared::cta.%s.tile.bulk_group [%%y1, {0}], "
            "[box];\n",
            all[i].op);
        r = rig_of(body);
        memory = memory_of(r);
        params.memory = (uint64_t)(uintptr_t)memory;
        params.map = map_at(memory, &t);
        memset(memory, 0, 16);
        memset(memory + FIRST_AT, 0, 16);
        for (uint32_t k = 0; k < 4; k += words) {
            memory[k] = all[i].was;
            memory[FIRST_AT + k] = all[i].with;
        }
        assert_int_equal(rig_launch(r, "k", 1, WORDS, 0, &params), EXEC_DONE);
        if (memory[0] != all[i].becomes)
            fail_msg("%s makes 0x%x of 0x%x and 0x%x", all[i].op, memory[0], all[i].was,
                     all[i].with);
        /* The tensor has 8 bytes, the box 16. */
        assert_int_equal(memory[2], all[i].was);
        rig_free(r);
    }
}

/* Ties to even; carries into the exponent; infinities and NaNs as they are. */
static void floats_are_rounded_to_tf32_as_they_are_read(void **state)
{
    static const uint32_t of[] = {0x3f800000, 0x3f800fff, 0x3f801000, 0x3f801001,
                                  0x3f803000, 0xbf801001, 0x3ffff000, 0x7f7fffff,
                                  0x7f800000, 0xffc00001, 0x00001001, 0x80000fff};
    static const uint32_t to[] = {0x3f800000, 0x3f800000, 0x3f800000, 0x3f802000,
                                  0x3f804000, 0xbf802000, 0x40000000, 0x7f800000,
                                  0x7f800000, 0xffc00001, 0x00002000, 0x80000000};
    static const struct tensor line = {
        .type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32, .rank = 1, .dims = {12}, .box = {12}};
    struct rig *r =
        rig_of(BARRIER "cp.async.bulk.tensor.1" LOAD "[box], [%y1, {0}], [bar];\n" AWAIT(48));
    struct params params = {0};
    uint32_t *memory = memory_of(r);

    (void)state;
    memcpy(memory, of, sizeof(of));
    params.memory = (uint64_t)(uintptr_t)memory;
    params.map = map_at(memory, &line);
    assert_int_equal(rig_launch(r, "k", 1, WORDS, 0, &params), EXEC_DONE);
    expect(memory + LAST_AT, to, sizeof(to) / sizeof(to[0]));
    assert_int_equal(memory[COME_AT], 1);
    rig_free(r);
}

/* A launch without clusters is one of a single block. */
static void a_copy_to_no_other_block_is_the_blocks_own(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r, BARRIER MULTICAST "[box], [%y1, {0, 0}], [bar], 1;\n" AWAIT(64), &plane);

    (void)state;
    expect(got + LAST_AT, (uint32_t[]){100, 101, 102, 103, 108}, 5);
    assert_int_equal(got[COME_AT], 1);
    rig_free(r);
}

/* ---- Faults ---- */

#define PLANE_LOAD BARRIER "cp.async.bulk.tensor.2" LOAD
#define ADD        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group "

static void fault_of(const char *body, struct tensor_map map, bool at_memory,
                     enum exec_fault_kind kind)
{
    struct rig *r = rig_of(body);
    struct params params = {.map = map};

    params.memory = (uint64_t)(uintptr_t)memory_of(r);
    if (at_memory)
        params.map.address = params.memory;
    assert_int_equal(rig_launch(r, "k", 1, WORDS, 0, &params), EXEC_FAULT);
    if (r->fault.kind != kind)
        fail_msg("%s: a fault of kind %d, not %d", body, (int)r->fault.kind, (int)kind);
    rig_free(r);
}

static void copies_keep_to_their_places(void **state)
{
    static const struct {
        const char *body;
        enum exec_fault_kind kind;
    } all[] = {
        {PLANE_LOAD "[box+64], [%y1, {0, 0}], [bar];\n", EXEC_FAULT_MISALIGNED},
        {PLANE_LOAD "[box], [%y1, {0, 0}], [bar+4];\n", EXEC_FAULT_MISALIGNED},
        {PLANE_LOAD "[box+0x40000], [%y1, {0, 0}], [bar];\n", EXEC_FAULT_ILLEGAL_ADDRESS},
        {PLANE_LOAD "[box], [%y1, {0, 0}], [bar+0x40000];\n", EXEC_FAULT_ILLEGAL_ADDRESS},
        {"cp.async.bulk.tensor.2" STORE "[%y1, {0, 0}], [box+0x40000];\n",
         EXEC_FAULT_ILLEGAL_ADDRESS},
        /* to a block that the cluster has not */
        {BARRIER MULTICAST "[box], [%y1, {0, 0}], [bar], 3;\n", EXEC_FAULT_ILLEGAL_ADDRESS},
        /* maps elsewhere: not at a multiple of 64 bytes, nowhere, across the last parameter */
        {"add.u64 %y1, %y1, 32;\n" PLANE_LOAD "[box], [%y1, {0, 0}], [bar];\n",
         EXEC_FAULT_MISALIGNED},
        {"mov.u64 %y1, 4096;\n" PLANE_LOAD "[box], [%y1, {0, 0}], [bar];\n",
         EXEC_FAULT_ILLEGAL_ADDRESS},
        {"add.u64 %y1, %y1, 64;\n" PLANE_LOAD "[box], [%y1, {0, 0}], [bar];\n",
         EXEC_FAULT_ILLEGAL_ADDRESS},
        /* no maps, or of other dimensions */
        {"add.u64 %y1, %y0, 4096;\n" PLANE_LOAD "[box], [%y1, {0, 0}], [bar];\n",
         EXEC_FAULT_ILLEGAL_INSTRUCTION},
        {"cp.async.bulk.prefetch.tensor.2d.L2.global [%y0, {0, 0}];\n",
         EXEC_FAULT_ILLEGAL_INSTRUCTION},
        {BARRIER "cp.async.bulk.tensor.3" LOAD "[box], [%y1, {0, 0, 0}], [bar];\n",
         EXEC_FAULT_ILLEGAL_INSTRUCTION},
    };
    const struct tensor_map map = map_at(NULL, &plane);

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        fault_of(all[i].body, map, true, all[i].kind);
}

/* On an H200: each row at a multiple of 16 bytes, and only loads from before the tensor. */
static void where_no_box_begins_is_an_illegal_instruction(void **state)
{
    static const char *const all[] = {
        PLANE_LOAD "[box], [%y1, {1, 0}], [bar];\n",
        PLANE_LOAD "[box], [%y1, {-2, 0}], [bar];\n",
        PLANE_LOAD "[box], [%y1, {0x7fffffff, 0}], [bar];\n",
        "cp.async.bulk.tensor.2" STORE "[%y1, {2, 0}], [box];\n",
        ADD "[%y1, {2, 0}], [box];\n",
        "cp.async.bulk.prefetch.tensor.2d.L2.global [%y1, {2, 0}];\n",
        "cp.async.bulk.tensor.2" STORE "[%y1, {-4, 0}], [box];\n",
        "cp.async.bulk.tensor.2" STORE "[%y1, {0, -1}], [box];\n",
        ADD "[%y1, {0, -1}], [box];\n",
    };
    const struct tensor_map map = map_at(NULL, &plane);

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        fault_of(all[i], map, true, EXEC_FAULT_ILLEGAL_INSTRUCTION);
}

/* A map says anything about memory: it is looked up row by row, for what is done there. */
static void a_map_leads_to_no_memory_that_a_kernel_has_not(void **state)
{
    static const char load[] = PLANE_LOAD "[box], [%y1, {0, 0}], [bar];\n",
                      store[] = "cp.async.bulk.tensor.2" STORE "[%y1, {0, 0}], [box];\n",
                      add[] = ADD "[%y1, {0, 0}], [box];\n";
    static const struct tensor wide = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                       .rank = 2,
                                       .dims = {1u << 31, 1u << 31},
                                       .strides = {((uint64_t)1 << 40) - 16},
                                       .box = {4, 2}};
    static const struct tensor huge = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT64,
                                       .rank = 5,
                                       .dims = {256, 256, 256, 256, 256},
                                       .strides = {2048, 2048, 2048, 2048},
                                       .box = {256, 256, 256, 256, 256}};
    const struct tensor_map nowhere = map_at(NULL, &plane);

    (void)state;
    fault_of(load, nowhere, false, EXEC_FAULT_ILLEGAL_ADDRESS);
    fault_of(store, nowhere, false, EXEC_FAULT_ILLEGAL_ADDRESS);
    fault_of(add, nowhere, false, EXEC_FAULT_ILLEGAL_ADDRESS);
    fault_of(load, map_at(NULL, &wide), true, EXEC_FAULT_ILLEGAL_ADDRESS);
    /* more bytes than shared memory has, and none of them of the tensor's */
    fault_of("cp.async.bulk.tensor.5" STORE "[%y1, {256, 0, 0, 0, 0}], [box];\n",
             map_at(NULL, &huge), true, EXEC_FAULT_ILLEGAL_ADDRESS);
    fault_of(BARRIER "cp.async.bulk.tensor.5" LOAD "[box], [%y1, {256, 0, 0, 0, 0}], [bar];\n",
             map_at(NULL, &huge), true, EXEC_FAULT_ILLEGAL_ADDRESS);
}

static void what_no_driver_makes_is_an_illegal_instruction(void **state)
{
    static const char load[] = PLANE_LOAD "[box], [%y1, {0, 0}], [bar];\n";
    struct tensor_map map = map_at(NULL, &plane);

    (void)state;
    map.magic++;
    fault_of(load, map, true, EXEC_FAULT_ILLEGAL_INSTRUCTION);
    map = map_at(NULL, &plane);
    map.box[1] = 0;
    fault_of(load, map, true, EXEC_FAULT_ILLEGAL_INSTRUCTION);
    map = map_at(NULL, &plane);
    map.stride[0] = 8;
    fault_of(load, map, true, EXEC_FAULT_ILLEGAL_INSTRUCTION);
}

static void what_is_left_out_is_an_illegal_instruction(void **state)
{
    static const struct tensor bytes = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT8,
                                        .rank = 2,
                                        .dims = {16, 2},
                                        .strides = {16},
                                        .box = {16, 2}};
    static const struct tensor rounded = {.type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
                                          .rank = 2,
                                          .dims = {16, 2},
                                          .strides = {64},
                                          .box = {16, 2}};
    static const struct tensor filled = {.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
                                         .rank = 2,
                                         .dims = {16, 2},
                                         .strides = {64},
                                         .box = {16, 2},
                                         .fill = 1};
    static const struct tensor layers = {.type = CU_TENSOR_MAP_DATA_TYPE_UINT32,
                                         .rank = 3,
                                         .dims = {4, 4, 4},
                                         .strides = {16, 64},
                                         .box = {4, 4, 4}};
    struct tensor_map map = map_at(NULL, &layers);

    (void)state;
    fault_of(ADD "[%y1, {0, 0}], [box];\n", map_at(NULL, &bytes), true,
             EXEC_FAULT_ILLEGAL_INSTRUCTION);
    fault_of("cp.async.bulk.tensor.2" STORE "[%y1, {0, 0}], [box];\n", map_at(NULL, &rounded), true,
             EXEC_FAULT_ILLEGAL_INSTRUCTION);
    fault_of(ADD "[%y1, {0, 0}], [box];\n", map_at(NULL, &rounded), true,
             EXEC_FAULT_ILLEGAL_INSTRUCTION);
    fault_of(PLANE_LOAD "[box], [%y1, {0, 0}], [bar];\n", map_at(NULL, &filled), true,
             EXEC_FAULT_ILLEGAL_INSTRUCTION);
    map.interleave = CU_TENSOR_MAP_INTERLEAVE_16B;
    fault_of(BARRIER "cp.async.bulk.tensor.3" LOAD "[box], [%y1, {0, 0, 0}], [bar];\n", map, true,
             EXEC_FAULT_ILLEGAL_INSTRUCTION);
}

/* Where the instruction names it, too. */
static void a_map_may_be_a_global_variable(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r,
            BARRIER "mov.u64 %y4, gmap;\nmov.u32 %r5, 0;\n"
                    "WORD: ld.u64 %y5, [%y1];\nst.global.u64 [%y4], %y5;\n"
                    "add.u64 %y1, %y1, 8;\nadd.u64 %y4, %y4, 8;\nadd.u32 %r5, %r5, 1;\n"
                    "setp.lt.u32 %q2, %r5, 16;\n@%q2 bra WORD;\n"
                    "fence.proxy.tensormap::generic.acquire.gpu [gmap], 128;\n"
                    "cp.async.bulk.tensor.2" LOAD "[box], [gmap, {4, 2}], [bar];\n" AWAIT(64),
            &plane);

    (void)state;
    expect(got + LAST_AT, (uint32_t[]){120, 0, 0, 0, 0}, 5);
    assert_int_equal(got[COME_AT], 1);
    rig_free(r);
}

/* Advice, and the order of accesses that each instruction has already. */
static void prefetches_and_fences_of_maps_change_nothing(void **state)
{
    struct rig *r;
    const uint32_t *got =
        run(&r,
            BARRIER "prefetch.tensormap [%y1];\nprefetch.param.tensormap [map];\n"
                    "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%y1, {0, 0}];\n"
                    "fence.proxy.tensormap::generic.release.gpu;\n"
                    "fence.proxy.tensormap::generic.acquire.gpu [%y1], 128;\n"
                    "cp.async.bulk.tensor.2" LOAD "[box], [%y1, {4, 2}], [bar];\n" AWAIT(64),
            &plane);

    (void)state;
    expect(got + LAST_AT, (uint32_t[]){120, 0, 0, 0, 0, 0, 0, 0}, 8);
    expect(got + TENSOR_AT, (uint32_t[]){100, 101, 102}, 3);
    rig_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_box_is_zero_where_the_tensor_ends),
        cmocka_unit_test(a_box_is_zero_before_the_tensor_begins),
        cmocka_unit_test(a_box_may_lie_outside_altogether),
        cmocka_unit_test(only_elements_of_the_tensor_are_written),
        cmocka_unit_test(steps_leave_elements_out),
        cmocka_unit_test(all_five_dimensions_count),
        cmocka_unit_test(what_is_outside_may_be_a_nan),
        cmocka_unit_test(chunks_are_swizzled_by_their_address),
        cmocka_unit_test(elements_are_reduced_by_their_type),
        cmocka_unit_test(floats_are_rounded_to_tf32_as_they_are_read),
        cmocka_unit_test(a_copy_to_no_other_block_is_the_blocks_own),
        cmocka_unit_test(copies_keep_to_their_places),
        cmocka_unit_test(where_no_box_begins_is_an_illegal_instruction),
        cmocka_unit_test(a_map_leads_to_no_memory_that_a_kernel_has_not),
        cmocka_unit_test(what_no_driver_makes_is_an_illegal_instruction),
        cmocka_unit_test(what_is_left_out_is_an_illegal_instruction),
        cmocka_unit_test(a_map_may_be_a_global_variable),
        cmocka_unit_test(prefetches_and_fences_of_maps_change_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
