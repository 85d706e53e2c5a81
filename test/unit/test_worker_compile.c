/*
 * test_worker_compile.c - how often the compiler is called for a text: a compilation that has begun
 * cannot be ended, and for a session that closes none begins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/jobs/job.h"
#include "worker/module/compile.h"

/* A kernel that registers keep at one block an SM, and what the compiler says of it (occupancy.h).
 */
static const char text[] = ".visible .entry gemm(\n\t.param .u64 p\n)\n.maxntid 256, 1, 1\n"
                           "{\n\tret;\n}\n";
static const char said[] = "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n"
                           "ptxas info    : Function properties for gemm\n"
                           "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
                           "spill loads\n"
                           "ptxas info    : Used 154 registers, used 1 barriers\n";

static struct session session;
static unsigned compilations;
static unsigned closes_in; /* the number of the compilation that the session closes in; 0: none */
static char code[] = "code";

static CUresult link_create(unsigned int count, CUjit_option *options, void **values,
                            CUlinkState *state)
{
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_INFO_LOG_BUFFER)
            memcpy(values[i], said, sizeof(said));
    }
    *state = (CUlinkState)&compilations;
    return CUDA_SUCCESS;
}

static CUresult link_add(CUlinkState state, CUjitInputType type, void *data, size_t size,
                         const char *name, unsigned int count, CUjit_option *options, void **values)
{
    (void)state;
    (void)type;
    (void)data;
    (void)size;
    (void)name;
    (void)count;
    (void)options;
    (void)values;
    if (++compilations == closes_in)
        atomic_store(&session.jobs.closing, true);
    return CUDA_SUCCESS;
}

static CUresult link_complete(CUlinkState state, void **made, size_t *size)
{
    (void)state;
    *made = code;
    *size = sizeof(code);
    return CUDA_SUCCESS;
}

static CUresult link_destroy(CUlinkState state)
{
    (void)state;
    return CUDA_SUCCESS;
}

static int set(void **state)
{
    (void)state;
    fake_cu.cuLinkCreate_v2 = link_create;
    fake_cu.cuLinkAddData_v2 = link_add;
    fake_cu.cuLinkComplete = link_complete;
    fake_cu.cuLinkDestroy = link_destroy;
    session = (struct session){.id = 1};
    compilations = closes_in = 0;
    return 0;
}

static gs_status compile(void)
{
    struct job job = {.session = &session};
    unsigned char *image = (unsigned char *)strdup(text);
    uint64_t size = sizeof(text) - 1;

    assert_non_null(image);
    const gs_status status = image_compile(&job, &image, &size);
    assert_string_equal(image, status == GS_OK ? code : text);
    free(image);
    return status;
}

static void room_for_a_second_block_takes_another_compilation(void **state)
{
    (void)state;
    assert_int_equal(compile(), GS_OK);
    assert_int_equal(compilations, 2);
}

static void none_begins_for_a_session_that_closes(void **state)
{
    (void)state;
    atomic_store(&session.jobs.closing, true);
    assert_int_equal(compile(), GS_ERR_INTERRUPTED);
    assert_int_equal(compilations, 0);
}

static void nor_another_one_where_it_closes_meanwhile(void **state)
{
    (void)state;
    closes_in = 1;
    assert_int_equal(compile(), GS_ERR_INTERRUPTED);
    assert_int_equal(compilations, 1);
}

#define COMPILE_TEST(name) cmocka_unit_test_setup(name, set)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COMPILE_TEST(room_for_a_second_block_takes_another_compilation),
        COMPILE_TEST(none_begins_for_a_session_that_closes),
        COMPILE_TEST(nor_another_one_where_it_closes_meanwhile),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
