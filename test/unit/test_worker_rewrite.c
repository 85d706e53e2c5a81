/*
 * test_worker_rewrite.c - what of a fatbin is loaded, its PTX or its machine code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "ptx_files.h"
#include "worker/driver/worker.h"
#include "worker/jobs/job.h"
#include "worker/memory/host_block.h"
#include "worker/module/assembler_choice.h"
#include "worker/module/image.h"
#include "worker/module/rewrite.h"
#include "worker/module/rewrite_cache.h"

/* Whether a session that is not fenced loads the file's machine code. */
static bool is_code_loaded(const char *file)
{
    struct host_block print = {0}; /* as an earlier module has made it */
    struct session session = {.id = 1, .module.print = &print};
    struct job job = {.session = &session};
    struct ptx_rewrite_report *report = NULL;
    struct grid_sync grid = {0};
    bool state;
    size_t length;
    unsigned char *image = (unsigned char *)ptx_file_read(file, &length);
    uint64_t size = length;

    worker_begin()->machine_code = true;
    worker_begin()->info.compute_major = 9;
    worker_begin()->info.compute_minor = 0;
    assert_int_equal(image_rewrite(&job, &image, &size, &report, &grid, &state), GS_OK);
    const bool code = image_binary(image, size);
    if (report)
        report_release(report);
    free(image);
    return code;
}

static void machine_code_is_loaded_where_there_is_some(void **state)
{
    (void)state;
    assert_true(is_code_loaded("tiny_code_none.fatbin"));
    assert_false(is_code_loaded("tiny_90a.fatbin"));
}

static void what_prints_is_compiled_from_its_text(void **state)
{
    (void)state;
    assert_false(is_code_loaded("prints_plain.fatbin"));
}

/* The driver's linker ignores setmaxnreg, ptxas does not. */
static void what_moves_registers_between_warps_needs_ptxas_for_that(void **state)
{
    (void)state;
    assert_true(is_code_loaded("prints_registers.fatbin"));
    setenv("GSHARE_PTXAS", "/bin/true", 1);
    assembler_choose();
    assert_false(is_code_loaded("prints_registers.fatbin"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(machine_code_is_loaded_where_there_is_some),
        cmocka_unit_test(what_prints_is_compiled_from_its_text),
        cmocka_unit_test(what_moves_registers_between_warps_needs_ptxas_for_that),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
