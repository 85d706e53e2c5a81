/* Lowering, blocks and their runs where memory ends: the n-th request fails, for each n. Whatever
 * fails says so, and nothing is lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "failing_alloc.h"
#include "ptx/ptx.h"
#include "softcuda/interp/exec.h"
#include "softcuda/lower/program.h"

#if OWN_ALLOCATOR
/* Calls, lanes that part, tables, constants, shared and local memory, and a trap in between. */
static const char text[] =
    ".version 8.7\n.target sm_90\n.address_size 64\n"
    ".global .u64 g[2] = {g, 5};\n.shared .b32 s[4];\n"
    ".func (.param .b32 o) f(.param .b32 a)\n{\n.reg .b32 %r<4>; .reg .pred %q<2>;\n"
    ".local .b32 room[4];\nld.param.u32 %r0, [a];\nand.b32 %r1, %r0, 1;\n"
    "setp.eq.u32 %q0, %r0, 0;\nst.param.b32 [o], %r1;\n@%q0 ret;\nsub.u32 %r0, %r0, 1;\n"
    "{\n.param .b32 b; .param .b32 c;\nst.param.b32 [b], %r0;\ncall (c), f, (b);\n"
    "ld.param.b32 %r2, [c];\n}\nst.param.b32 [o], %r2;\nret;\n}\n"
    ".visible .entry k()\n{\n.reg .b32 %r<8>; .reg .b64 %d<4>; .reg .pred %q<2>;\n"
    "T: .branchtargets A, B, C;\nmov.u32 %r0, %laneid;\nrem.u32 %r1, %r0, 3;\n"
    "brx.idx %r1, T;\nA: add.u32 %r2, %r0, 77;\nB: st.shared.u32 [s+4], %r2;\n"
    "{\n.param .b32 b; .param .b32 c;\nst.param.b32 [b], %r1;\ncall (c), f, (b);\n"
    "ld.param.b32 %r3, [c];\n}\nC: setp.eq.u32 %q0, %r0, 31;\nmov.u64 %d0, g;\n"
    "@%q0 trap;\nret;\n}\n";

static const struct exec_device device = {.sm_count = 1, .clock_khz = 1};
static struct exec_grid grid = {
    .device = &device, .grid_dim = {1, 1, 1}, .block_dim = {40, 1, 1}, .stack_bytes = 256};

static struct ptx_module *module_read(void)
{
    struct ptx_module *m = NULL;
    struct ptx_error error;

    assert_int_equal(ptx_parse(text, sizeof text - 1, &m, &error), 0);
    return m;
}

static struct exec_program *program_of(const struct ptx_module *m)
{
    struct exec_program *p = NULL;
    char log[256];

    assert_int_equal(exec_program_new(m, &p, log, sizeof log), 0);
    return p;
}

static void lowering_says_when_there_is_no_memory(void **state)
{
    struct ptx_module *m = module_read();
    struct exec_program *p = NULL;
    long before = live, n;
    int status = -ENOMEM;
    char log[256];

    (void)state;
    for (n = 0; status; n++) {
        fail_at = n;
        status = exec_program_new(m, &p, log, sizeof log);
        if (status)
            assert_true(status == -ENOMEM && !p && live == before);
        else
            assert_true(fail_at >= 0); /* none of its requests failed */
    }
    fail_at = -1;
    assert_true(n > 20);
    exec_program_free(p);
    assert_int_equal(live, before);
    ptx_module_free(m);
}

static void a_block_without_memory_is_not_made(void **state)
{
    struct ptx_module *m = module_read();
    struct exec_program *p = program_of(m);
    struct exec_block *block = NULL;
    long before = live, n;
    int status = -1;

    (void)state;
    grid.kernel = exec_program_kernel(p, 0);
    for (n = 0; status; n++) {
        fail_at = n;
        status = exec_block_new(&grid, &block);
        if (status)
            assert_true(!block && live == before);
    }
    fail_at = -1;
    assert_true(n > 3);
    exec_block_free(block);
    assert_int_equal(live, before);
    exec_program_free(p);
    ptx_module_free(m);
}

static void a_run_without_memory_is_a_fault(void **state)
{
    struct ptx_module *m = module_read();
    struct exec_program *p = program_of(m);
    struct mem_map nothing = {0};
    struct exec_fault fault = {0};
    long before = live, n;

    (void)state;
    grid.kernel = exec_program_kernel(p, 0);
    for (n = 0; fault.kind != EXEC_FAULT_TRAP; n++) {
        struct mem_view view = {.map = &nothing};
        struct exec_block *block;

        assert_int_equal(exec_block_new(&grid, &block), 0);
        exec_block_start(block, 0, &(uint32_t){0});
        fail_at = n;
        assert_int_equal(exec_block_run(block, &view, 100000, &fault), EXEC_FAULT);
        fail_at = -1;
        assert_true(fault.kind == EXEC_FAULT_NO_MEMORY || fault.kind == EXEC_FAULT_TRAP);
        exec_block_free(block);
        assert_int_equal(live, before);
    }
    assert_true(n > 3);
    exec_program_free(p);
    ptx_module_free(m);
}
#else
static void skipped(void **state)
{
    (void)state;
    print_message("the sanitizer has its own allocator\n");
    skip();
}
#define lowering_says_when_there_is_no_memory skipped
#define a_block_without_memory_is_not_made    skipped
#define a_run_without_memory_is_a_fault       skipped
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lowering_says_when_there_is_no_memory),
        cmocka_unit_test(a_block_without_memory_is_not_made),
        cmocka_unit_test(a_run_without_memory_is_a_fault),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
