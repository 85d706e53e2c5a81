/* test_interp.c - the interpreter by itself: what kernels compute, how they fail, that nothing runs
 * without bound. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "interp_rig.h"

#define HEAD ".version 7.8\n.target sm_90\n.address_size 64\n"
/* A kernel with one pointer, its own lane's word at %x. */
#define KERNEL(body)                                                                               \
    HEAD ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r<20>; .reg .b64 %x, %y<8>; .reg .pred " \
         "%q<4>; .reg .f32 "                                                                       \
         "%f<8>;\nmov.u32 %r0, %tid.x;\nld.param.u64 %y0, [p];\nmul.wide.u32 %x, %r0, "            \
         "4;\nadd.u64 %x, %y0, %x;\n" body "\n}\n"

static struct rig *load(const char *text)
{
    struct rig *r = rig_new(text, strlen(text));

    assert_non_null(r);
    return r;
}

/* Runs k on BLOCKS of THREADS over zeroed words and gives these. */
static enum exec_status run(struct rig *r, uint32_t blocks, uint32_t threads, uint32_t **words)
{
    *words = rig_alloc(r, 4096);
    return rig_launch(r, "k", blocks, threads, 0, words);
}

static void expect_fault(const char *text, uint32_t threads, enum exec_fault_kind kind)
{
    struct rig *r = load(text);
    uint32_t *words;

    assert_int_equal(run(r, 1, threads, &words), EXEC_FAULT);
    assert_int_equal(r->fault.kind, kind);
    assert_string_equal(r->fault.function, "k");
    assert_true(r->fault.line > 3);
    rig_free(r);
}

static void lanes_beyond_a_partial_warp_do_nothing(void **state)
{
    struct rig *r = load(KERNEL("add.u32 %r1, %r0, 7;\nst.global.u32 [%x], %r1;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 37, &words), EXEC_DONE);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(words[i], i < 37 ? i + 7 : 0);
    rig_free(r);
}

static void lanes_that_part_meet_again(void **state)
{
    /* the odd lanes loop as often as their number says; activemask behind it is the whole warp's */
    struct rig *r = load(KERNEL(
        "and.b32 %r1, %r0, 1;\nsetp.eq.u32 %q0, %r1, 0;\nmov.u32 %r2, 0;\n@%q0 bra MEET;\nLOOP:\n"
        "add.u32 %r2, %r2, 1;\nsetp.lt.u32 %q1, %r2, %r0;\n@%q1 bra LOOP;\nMEET:\n"
        "activemask.b32 %r3;\nadd.u32 %r2, %r2, %r3;\nst.global.u32 [%x], %r2;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 32, &words), EXEC_DONE);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(words[i], (i & 1 ? i : 0) - 1u);
    rig_free(r);
}

static void a_lane_with_a_lock_is_not_starved_by_those_that_spin(void **state)
{
    struct rig *r = load(KERNEL(
        "SPIN:\natom.global.cas.b32 %r1, [%y0], 0, 1;\nsetp.ne.u32 %q0, %r1, 0;\n@%q0 bra SPIN;\n"
        "ld.volatile.global.u32 %r2, [%y0+4];\nadd.u32 %r2, %r2, 1;\n"
        "st.volatile.global.u32 [%y0+4], %r2;\natom.global.exch.b32 %r1, [%y0], 0;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 2, 64, &words), EXEC_DONE);
    assert_int_equal(words[1], 128);
    rig_free(r);
}

static void warp_barriers_in_different_places_meet(void **state)
{
    struct rig *r = load(KERNEL("setp.lt.u32 %q0, %r0, 16;\n@%q0 bra LOW;\nbar.warp.sync -1;\n"
                                "shfl.sync.idx.b32 %r1, %r0, 3, 31, -1;\nbra OUT;\nLOW:\n"
                                "bar.warp.sync -1;\nshfl.sync.idx.b32 %r1, %r0, 20, 31, -1;\nOUT:\n"
                                "st.global.u32 [%x], %r1;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 32, &words), EXEC_DONE);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(words[i], i < 16 ? 20 : 3);
    rig_free(r);
}

static void barriers_wait_for_the_threads_that_are_left(void **state)
{
    struct rig *r = load(KERNEL(
        "setp.ge.u32 %q0, %r0, 70;\n@%q0 exit;\nred.global.add.u32 [%y0+1024], 1;\nbar.sync 0;\n"
        "ld.volatile.global.u32 %r1, [%y0+1024];\nst.global.u32 [%x], %r1;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 128, &words), EXEC_DONE);
    for (uint32_t i = 0; i < 70; i++)
        assert_int_equal(words[i], 70);
    rig_free(r);
}

static void named_barriers_count_threads(void **state)
{
    /* one warp arrives, one waits; the reduction counts what both brought */
    struct rig *r =
        load(KERNEL("setp.lt.u32 %q0, %r0, 32;\n@%q0 bra WAIT;\nst.global.u32 [%y0+512], 5;\n"
                    "barrier.arrive 3, 64;\nbra OUT;\nWAIT:\nbarrier.sync 3, 64;\n"
                    "ld.volatile.global.u32 %r1, [%y0+512];\nst.global.u32 [%x], %r1;\nOUT:\n"
                    "setp.gt.u32 %q1, %r0, 40;\nbarrier.red.popc.u32 %r2, 1, %q1;\n"
                    "setp.ne.u32 %q2, %r0, 63;\n@%q2 exit;\nst.global.u32 [%y0+516], %r2;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 64, &words), EXEC_DONE);
    assert_int_equal(words[0], 5);
    assert_int_equal(words[31], 5);
    assert_int_equal(words[129], 23);
    rig_free(r);
}

static void faults_say_what_and_where(void **state)
{
    (void)state;
    expect_fault(KERNEL("mov.u64 %y1, 4096;\nld.global.u32 %r1, [%y1];\nret;"), 32,
                 EXEC_FAULT_ILLEGAL_ADDRESS);
    expect_fault(KERNEL("mov.u64 %y1, -4;\nld.global.u64 %y2, [%y1];\nret;"), 1,
                 EXEC_FAULT_MISALIGNED);
    expect_fault(KERNEL("mov.u64 %y1, -8;\nst.global.v2.u64 [%y1+8], {%y1, %y1};\nret;"), 1,
                 EXEC_FAULT_ILLEGAL_ADDRESS);
    expect_fault(KERNEL("st.global.u32 [%x+2], %r0;\nret;"), 32, EXEC_FAULT_MISALIGNED);
    expect_fault(KERNEL(".shared .b32 s[8];\nmov.u32 %r1, s;\nld.shared.u32 %r2, [%r1+32];\nret;"),
                 1, EXEC_FAULT_ILLEGAL_ADDRESS);
    expect_fault(KERNEL(".local .b32 s[8];\nmov.u64 %y1, s;\nld.local.u32 %r2, [%y1+4096];\nret;"),
                 1, EXEC_FAULT_ILLEGAL_ADDRESS);
    expect_fault(KERNEL(".local .b32 s[8];\nmov.u64 %y1, s;\ncvta.local.u64 %y1, "
                        "%y1;\natom.add.u32 %r1, [%y1+4096], 1;\nret;"),
                 1, EXEC_FAULT_ILLEGAL_ADDRESS);
    expect_fault(KERNEL("setp.eq.u32 %q0, %r0, 9;\n@%q0 trap;\nret;"), 32, EXEC_FAULT_TRAP);
    expect_fault(KERNEL("mov.u32 %r1, 16;\nbar.sync %r1;\nret;"), 32,
                 EXEC_FAULT_ILLEGAL_INSTRUCTION);
    expect_fault(KERNEL("P: .callprototype _ ();\nmov.u64 %y1, 64;\ncall %y1, (), P;\nret;"), 32,
                 EXEC_FAULT_INVALID_PC);
    expect_fault(KERNEL("bar.sync 1, 64;\nret;"), 32, EXEC_FAULT_DEADLOCK);
}

static void a_fault_names_its_thread(void **state)
{
    struct rig *r = load(KERNEL("setp.eq.u32 %q0, %r0, 45;\n@%q0 st.global.u32 [%r0], %r0;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 64, &words), EXEC_FAULT);
    assert_int_equal(r->fault.thread[0], 45);
    rig_free(r);
}

static void recursion_without_end_is_a_fault(void **state)
{
    struct rig *r = load(
        HEAD ".func f(.param .b64 a)\n{\n.reg .b64 %x;\nld.param.u64 %x, [a];\n{\n.param .b64 b;\n"
             "st.param.b64 [b], %x;\ncall f, (b);\n}\nret;\n}\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\nld.param.u64 %x, [p];\n{\n.param "
             ".b64 b;\n"
             "st.param.b64 [b], %x;\ncall f, (b);\n}\nret;\n}\n");
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 64, &words), EXEC_FAULT);
    assert_int_equal(r->fault.kind, EXEC_FAULT_STACK);
    rig_free(r);
}

/* The stack of a kernel that calls without recursion is as deep as its calls need, by whatever
 * name. */
static void calls_by_another_name_have_their_stack_and_shared_memory(void **state)
{
    struct rig *r =
        load(HEAD ".func (.param .b32 o) deep(.param .b32 a)\n{\n.local .b8 room[3000];\n"
                  ".shared .b32 s[4];\n.reg .b32 %r<3>;\n.reg .b64 %x;\nmov.u64 %x, room;\n"
                  "ld.param.u32 %r0, [a];\nst.local.u32 [%x+2996], %r0;\nst.shared.u32 [s], %r0;\n"
                  "ld.local.u32 %r1, [%x+2996];\nst.param.b32 [o], %r1;\nret;\n}\n"
                  ".func (.param .b32 o) other(.param .b32 a);\n.alias other, deep;\n"
                  ".visible .entry k(.param .u64 p)\n{\n.shared .b32 t[4];\n.reg .b32 %r<4>;\n"
                  ".reg .b64 %x;\nld.param.u64 %x, [p];\nmov.u32 %r0, 5;\nst.shared.u32 [t], %r0;\n"
                  "mov.u32 %r1, 7;\n{\n.param .b32 b;\n.param .b32 o;\nst.param.b32 [b], %r1;\n"
                  "call (o), other, (b);\nld.param.b32 %r2, [o];\n}\nld.shared.u32 %r3, [t];\n"
                  "add.u32 %r2, %r2, %r3;\nst.global.u32 [%x], %r2;\nret;\n}\n");
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 1, &words), EXEC_DONE);
    assert_int_equal(words[0], 12);
    assert_false(exec_program_kernel(r->program, 0)->uses_dynamic_stack);
    rig_free(r);
}

/* A block's budgets are shorter than this loop of the first warp, and the second begins behind it.
 */
static void a_warp_goes_on_whose_turn_was_cut_short(void **state)
{
    struct rig *r =
        load(KERNEL(".shared .b32 s;\nsetp.ge.u32 %q0, %r0, 32;\n@%q0 bra OTHER;\n"
                    "mov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, 1;\n"
                    "st.volatile.shared.u32 [s], %r1;\n"
                    "setp.lt.u32 %q1, %r1, 800;\n@%q1 bra LOOP;\nret;\nOTHER:\n"
                    "ld.volatile.shared.u32 %r2, [s];\nst.global.u32 [%x], %r2;\nret;"));
    uint32_t *words;

    (void)state;
    r->turn = 100;
    assert_int_equal(run(r, 1, 64, &words), EXEC_DONE);
    assert_int_equal(words[32], 800);
    rig_free(r);
}

/* A module that is linked of many files has the variables of all their kernels. */
#define BIG "150000"
#define USES(name, variable, more)                                                                 \
    ".visible .entry " name "(.param .u64 p)\n{\n.reg .b32 %r<4>;\n.reg .b64 %x, %y;\n"            \
    "ld.param.u64 %x, [p];\nst.shared.u32 [" variable "+149996], 9;\n" more                        \
    "ld.shared.u32 %r0, [" variable "+149996];\nst.global.u32 [%x], %r0;\nret;\n}\n"

static void variables_of_different_kernels_share_their_place(void **state)
{
    struct rig *r =
        load(HEAD ".shared .align 16 .b8 a[" BIG "], b[" BIG "];\n"
                  ".func f()\n{\n.shared .b32 own;\nst.shared.u32 [own], 5;\nret;\n}\n" USES(
                      "k", "a", "call f;\n") USES("other", "b", "call f;\n"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 1, &words), EXEC_DONE);
    assert_int_equal(words[0], 9);
    words = rig_alloc(r, 64);
    assert_int_equal(rig_launch(r, "other", 1, 1, 0, &words), EXEC_DONE);
    assert_int_equal(words[0], 9);
    assert_in_range(exec_program_kernel(r->program, 0)->shared_bytes, 150000, 152000);
    rig_free(r);
}

/* A call of an address may reach each function, so the kernel that makes it has the variables of
 * all functions, and not those that only other kernels name. */
static void a_call_of_an_address_reaches_what_functions_name(void **state)
{
    struct rig *r = load(
        HEAD ".shared .align 16 .b8 a[" BIG "], b[" BIG "], c[64];\n"
             ".visible .func f()\n{\nst.shared.u32 [c+60], 5;\nret;\n}\n" USES(
                 "k", "a", "mov.u64 %y, f;\nproto: .callprototype _ ();\ncall %y, (), proto;\n")
                 USES("other", "b", ""));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 1, &words), EXEC_DONE);
    assert_int_equal(words[0], 9);
    rig_free(r);
}

/* Each kernel may reach all that any function names where there is too much to follow. */
static void many_calls_of_addresses_take_the_room_of_all_variables(void **state)
{
    enum { FUNCTIONS = 10000, KERNELS = 1500 };
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    (void)state;
    assert_non_null(file);
    fputs(HEAD ".shared .align 16 .b8 a[" BIG "], b[" BIG "];\n", file);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        fprintf(file, ".visible .func f%u()\n{\nret;\n}\n", i);
    fputs(USES("k", "a", "") USES("other", "b", ""), file);
    const long few = ftell(file);
    for (unsigned i = 0; i < KERNELS; i++)
        fprintf(file,
                ".visible .entry k%u()\n{\n.reg .b64 %%y;\nmov.u64 %%y, f0;\n"
                "p: .callprototype _ ();\ncall %%y, (), p;\nret;\n}\n",
                i);
    fclose(file);
    struct rig *r = rig_new(text, (size_t)few);
    assert_non_null(r);
    rig_free(r);
    assert_null(rig_new(text, size));
    free(text);
}

static void more_shared_memory_than_a_block_has_is_refused(void **state)
{
    static const char text[] = HEAD ".shared .align 16 .b8 a[" BIG "], b[" BIG
                                    "];\n" USES("k", "a", "st.shared.u32 [b], 1;\n");

    (void)state;
    assert_null(rig_new(text, sizeof(text) - 1));
}

/* Each PTX instruction once for each thread that runs it, whatever it became. */
static void thread_instructions_are_counted(void **state)
{
    /* 6 by all, 4 of them in the head; 12 and 24 whose guard is true; 8 go round 4 times */
    struct rig *r = load(KERNEL("setp.lt.u32 %q0, %r0, 12;\n"
                                "@%q0 st.global.u32 [%x], %r0;\n"
                                "setp.ge.u32 %q0, %r0, 8;\n@%q0 bra OUT;\n"
                                "mov.u32 %r1, 0;\nLOOP:\nadd.u32 %r1, %r1, 1;\n"
                                "setp.lt.u32 %q1, %r1, 4;\n@%q1 bra LOOP;\nOUT:\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 32, &words), EXEC_DONE);
    assert_int_equal(r->thread_instructions, 32 * 6 + 12 + 24 + 8 + 8 * (4 + 4 + 3) + 32);
    rig_free(r);
}

/* 512 KiB of local memory for each of 1024 threads: a few such blocks, not any number. */
static void the_states_of_all_blocks_together_are_bounded(void **state)
{
    enum { MANY = 64 };
    struct rig *r = load(HEAD ".visible .entry k()\n{\n.local .b8 a[500000];\n.reg .b64 %x;\n"
                              "mov.u64 %x, a;\nret;\n}\n");
    struct exec_grid grid = {.kernel = exec_program_kernel(r->program, 0),
                             .device = &r->device,
                             .grid_dim = {1, 1, 1},
                             .block_dim = {1024, 1, 1}};
    struct exec_block *blocks[MANY];
    unsigned made = 0, again = 0;

    (void)state;
    while (made < MANY && !exec_block_new(&grid, &blocks[made]))
        made++;
    assert_in_range(made, 1, MANY - 1);
    assert_int_equal(exec_block_new(&grid, &blocks[made]), -EAGAIN); /* others have the memory */
    for (unsigned i = 0; i < made; i++)
        exec_block_free(blocks[i]);
    while (again < made && !exec_block_new(&grid, &blocks[again]))
        again++;
    assert_int_equal(again, made);
    for (unsigned i = 0; i < again; i++)
        exec_block_free(blocks[i]);
    rig_free(r);
}

/* 512 letters by each of 32 lanes are worth more than 2,000 instructions. */
static void text_counts_against_the_budget(void **state)
{
    struct rig *r =
        load(HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                  ".global .b8 fmt[8] = {37, 53, 49, 50, 100};\n" /* %512d */
                  ".visible .entry k()\n{\n.local .align 8 .b8 args[8];\n"
                  ".reg .b64 %x<2>;\nmov.u64 %x0, args;\ncvta.local.u64 %x0, %x0;\n"
                  "mov.u64 %x1, fmt;\nLOOP:\n{\n.param .b64 a; .param .b64 b;\n"
                  ".param .b32 o;\nst.param.b64 [a], %x1;\nst.param.b64 [b], %x0;\n"
                  "call (o), vprintf, (a, b);\n}\nbra LOOP;\n}\n");
    struct exec_grid grid = {.kernel = exec_program_kernel(r->program, 0),
                             .device = &r->device,
                             .grid_dim = {1, 1, 1},
                             .block_dim = {32, 1, 1}};
    struct mem_view view = {.map = r->map};
    struct exec_block *block;

    (void)state;
    assert_int_equal(exec_block_new(&grid, &block), 0);
    exec_block_start(block, 0, &(uint32_t){0});
    assert_int_equal(exec_block_run(block, &view, 1000, &r->fault), EXEC_YIELD);
    exec_block_free(block);
    assert_in_range(r->thread_instructions, 32, 32 * 20);
    rig_free(r);
}

/* Its address is not even looked at, as where the predicate says to ignore it. */
static void a_copy_of_no_bytes_has_no_source(void **state)
{
    struct rig *r = load(KERNEL(".shared .align 16 .b32 s[4];\nst.shared.u32 [s], 7;\n"
                                "mov.u64 %y1, 16;\nmov.u32 %r2, 0;\n"
                                "cp.async.ca.shared.global [s], [%y1], 16, %r2;\n"
                                "cp.async.wait_all;\nld.shared.u32 %r1, [s];\n"
                                "add.u32 %r1, %r1, 1;\nst.global.u32 [%x], %r1;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 1, &words), EXEC_DONE);
    assert_int_equal(words[0], 1);
    rig_free(r);
}

static void an_endless_loop_stays_within_its_budget(void **state)
{
    struct rig *r = load(KERNEL("LOOP:\nadd.u32 %r1, %r1, 1;\nbra LOOP;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 32, &words), EXEC_YIELD);
    rig_free(r);
}

static void what_is_left_out_is_refused_by_name_and_line(void **state)
{
    /* by the reader */
    static const char *const words[] = {
        "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16",
        "cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32",
        "tcgen05.fence::before_thread_sync"};
    static const char kernel[] =
        KERNEL("stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0], {%r1};\nret;");
    char text[1024], log[256];
    struct ptx_module *module;
    struct ptx_error error;
    struct exec_program *program = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        snprintf(text, sizeof text, HEAD ".entry k()\n{\n.reg .b32 %%r<9>;\n%s;\nret;\n}\n",
                 words[i]);
        assert_int_equal(ptx_parse(text, strlen(text), &module, &error), -ENOTSUP);
        assert_int_equal(error.line, 7);
        assert_memory_equal(strchr(error.text, '\'') + 1, words[i], 4);
    }
    /* by the lowering */
    assert_int_equal(ptx_parse(kernel, sizeof kernel - 1, &module, &error), 0);
    assert_int_not_equal(exec_program_new(module, &program, log, sizeof log), 0);
    assert_null(program);
    assert_non_null(strstr(log, "k, line 11"));
    assert_non_null(strstr(log, "stmatrix"));
    ptx_module_free(module);
}

/* With what calls it, as long as a kernel is left; each has its reason. */
static void what_cannot_be_lowered_is_left_out(void **state)
{
    static const char text[] =
        HEAD ".global .b32 v;\n.func f()\n{\n.reg .b32 "
             "%r<2>;\nstmatrix.sync.aligned.m16n8.x1.trans.shared.b8 "
             "[%r0], {%r1};\nret;\n}\n"
             ".func g()\n{\ncall f;\nret;\n}\n"
             ".visible .entry calls()\n{\ncall g;\nret;\n}\n"
             ".visible .entry any()\n{\nP: .callprototype _ ();\n.reg .b64 %x;\n"
             "call %x, (), P;\nret;\n}\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b64 %x;\nld.param.u64 %x, [p];\n"
             "st.global.u32 [%x], 5;\nret;\n}\n"
             ".visible .entry itself()\n{\n.reg .b32 %r<2>;\n.reg .b64 %x;\nmov.u64 %x, v;\n"
             "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0], {%r1};\nret;\n}\n";
    char log[1024];
    struct ptx_module *module;
    struct ptx_error error;
    struct exec_program *program;
    struct rig *r = load(text);
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 3, 1, &words), EXEC_DONE);
    assert_int_equal(words[0], 5);
    rig_free(r);
    assert_int_equal(ptx_parse(text, strlen(text), &module, &error), 0);
    assert_int_equal(exec_program_new(module, &program, log, sizeof log), 0);
    assert_int_equal(exec_program_kernel_count(program), 1);
    assert_int_equal(strncmp(log, "calls: it calls f, line 8: ", 27), 0);
    assert_non_null(strstr(log, "stmatrix"));
    assert_non_null(strstr(log, "\nany: it calls f, line 8: "));
    assert_non_null(strstr(log, "\nitself, line "));
    exec_program_free(program);
    ptx_module_free(module);
}

static void expect_refusal(const char *text, const char *word)
{
    struct ptx_module *module;
    struct ptx_error error;
    struct exec_program *program = NULL;
    char log[256];

    assert_int_equal(ptx_parse(text, strlen(text), &module, &error), 0);
    assert_int_not_equal(exec_program_new(module, &program, log, sizeof log), 0);
    assert_null(program);
    assert_non_null(strstr(log, word));
    ptx_module_free(module);
}

/* Each group waits for lanes that will never take part in the same exchange. */
static void exchanges_of_different_kinds_do_not_meet(void **state)
{
#define APART(one, other)                                                                          \
    KERNEL("setp.lt.u32 %q0, %r0, 16;\n@%q0 bra LOW;\n" one ";\nbra OUT;\nLOW:\n" other            \
           ";\nOUT:\nret;")
    (void)state;
    expect_fault(APART("vote.sync.ballot.b32 %r1, %q0, -1", "vote.sync.all.pred %q1, %q0, -1"), 32,
                 EXEC_FAULT_DEADLOCK);
    expect_fault(APART("match.any.sync.b32 %r1, %r0, -1", "match.any.sync.b64 %r1, %y0, -1"), 32,
                 EXEC_FAULT_DEADLOCK);
    expect_fault(
        APART("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%y0,%y1}, {%y2}, {%y3}, {%y4,%y5}",
              "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%r1,%r2}, {%r3}, {%r4}, {%r5,%r6}"),
        32, EXEC_FAULT_DEADLOCK);
#undef APART
}

/* Nobody wants the result of 128 bits; a constant has not so many. */
static void values_of_128_bits_live_in_registers(void **state)
{
    struct rig *r = load(KERNEL(".reg .b128 %w;\nmov.b128 %w, {%y0, %x};\n"
                                "mov.b128 _, %w;\nmov.b128 {%y1, %y2}, %w;\n"
                                "sub.u64 %y2, %y2, %y1;\nst.global.u32 [%x], %y2;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 32, &words), EXEC_DONE);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(words[i], 4 * i);
    rig_free(r);
    expect_refusal(KERNEL(".reg .b128 %w;\nmov.b128 %w, 5;\nret;"), "128 bits");
}

/* Some lanes wait in a join, some of a call have returned, the others trap: all that was open goes.
 */
static void what_a_fault_leaves_open_is_freed(void **state)
{
    struct rig *r = load(
        HEAD ".func f(.param .b32 a)\n{\n.reg .b32 %r;\n.reg .pred %q;\nld.param.u32 %r, [a];\n"
             "and.b32 %r, %r, 1;\nsetp.eq.u32 %q, %r, 1;\n@%q ret;\ntrap;\n}\n"
             ".visible .entry k(.param .u64 p)\n{\n.reg .b32 %r;\n.reg .pred %q;\n"
             "mov.u32 %r, %tid.x;\nsetp.lt.u32 %q, %r, 8;\n@%q bra OUT;\n"
             "{\n.param .b32 b;\nst.param.b32 [b], %r;\ncall f, (b);\n}\nOUT:\nret;\n}\n");
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 32, &words), EXEC_FAULT);
    assert_int_equal(r->fault.kind, EXEC_FAULT_TRAP);
    rig_free(r);
}

/* As nvcc gives a kernel whose loops it unrolls. */
static void a_kernel_has_hundreds_of_thousands_of_registers(void **state)
{
    struct rig *r = load(KERNEL(".reg .b64 %d<131000>;\ncvt.u64.u32 %d0, %r0;\n"
                                "add.u64 %d130999, %d0, 9;\nadd.u64 %d65000, %d0, 1;\n"
                                "add.u64 %d130999, %d130999, %d65000;\n"
                                "st.global.u32 [%x], %d130999;\nret;"));
    uint32_t *words;

    (void)state;
    assert_int_equal(run(r, 1, 40, &words), EXEC_DONE);
    for (uint32_t i = 0; i < 40; i++)
        assert_int_equal(words[i], 2 * i + 10);
    rig_free(r);
}

static void frames_that_are_too_large_are_refused(void **state)
{
    (void)state;
    expect_refusal(HEAD ".visible .entry k()\n{\n.local .b8 a[600000];\n.reg .b64 %x;\n"
                        "mov.u64 %x, a;\nret;\n}\n",
                   "bytes of local memory");
    expect_refusal(HEAD ".visible .entry k()\n{\n.reg .b64 %d<132000>;\nret;\n}\n",
                   "more than 262144 registers of 32 bits");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(lanes_beyond_a_partial_warp_do_nothing),
        cmocka_unit_test(lanes_that_part_meet_again),
        cmocka_unit_test(a_lane_with_a_lock_is_not_starved_by_those_that_spin),
        cmocka_unit_test(warp_barriers_in_different_places_meet),
        cmocka_unit_test(barriers_wait_for_the_threads_that_are_left),
        cmocka_unit_test(named_barriers_count_threads),
        cmocka_unit_test(faults_say_what_and_where),
        cmocka_unit_test(a_fault_names_its_thread),
        cmocka_unit_test(recursion_without_end_is_a_fault),
        cmocka_unit_test(calls_by_another_name_have_their_stack_and_shared_memory),
        cmocka_unit_test(a_warp_goes_on_whose_turn_was_cut_short),
        cmocka_unit_test(variables_of_different_kernels_share_their_place),
        cmocka_unit_test(a_call_of_an_address_reaches_what_functions_name),
        cmocka_unit_test(many_calls_of_addresses_take_the_room_of_all_variables),
        cmocka_unit_test(more_shared_memory_than_a_block_has_is_refused),
        cmocka_unit_test(thread_instructions_are_counted),
        cmocka_unit_test(the_states_of_all_blocks_together_are_bounded),
        cmocka_unit_test(text_counts_against_the_budget),
        cmocka_unit_test(a_copy_of_no_bytes_has_no_source),
        cmocka_unit_test(an_endless_loop_stays_within_its_budget),
        cmocka_unit_test(what_is_left_out_is_refused_by_name_and_line),
        cmocka_unit_test(what_cannot_be_lowered_is_left_out),
        cmocka_unit_test(exchanges_of_different_kinds_do_not_meet),
        cmocka_unit_test(values_of_128_bits_live_in_registers),
        cmocka_unit_test(what_a_fault_leaves_open_is_freed),
        cmocka_unit_test(a_kernel_has_hundreds_of_thousands_of_registers),
        cmocka_unit_test(frames_that_are_too_large_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
