/*
 * test_worker_compile.c - how often the compiler is called for a text, and on how many threads: a
 * compilation that has begun cannot be ended, and for a session that closes none begins.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/cpus.h"
#include "common/util.h"
#include "fake_driver.h"
#include "worker/jobs/job.h"
#include "worker/module/compile.h"

/* A kernel that registers keep at one block an SM, and what the compiler says of it (occupancy.h).
 */
static const char text[] = ".visible .entry gemm(\n\t.param .u64 p\n)\n.maxntid 256, 1, 1\n"
                           "{\n\tret;\n}\n.entry a() {}\n.func b() {}\n.entry c() {}\n"
                           ".entry d() {}\n";
static const char alone[] = ".visible .entry gemm() { ret; }\n";
static const char said[] = "ptxas info    : Compiling entry function 'gemm' for 'sm_90a'\n"
                           "ptxas info    : Function properties for gemm\n"
                           "ptxas         .     0 bytes stack frame, 0 bytes spill stores, 0 bytes "
                           "spill loads\n"
                           "ptxas info    : Used 154 registers, used 1 barriers\n";

static struct session session;
static struct link_stats stats;
static unsigned compilations;
static unsigned closes_in; /* the number of the compilation that the session closes in; 0: none */
static char code[] = "code";
static int version;      /* the driver's */
static uint32_t cpus;    /* of the machine */
static uintptr_t split;  /* on how many threads the driver was asked to compile; 0: not asked */
static uint64_t charged; /* for the threads that help */

/* For cpus.c, which reads what the machine has. */
uint32_t cpus_allowed(void)
{
    return cpus;
}

bool cpus_to_spare(void)
{
    return false;
}

static CUresult driver_version(int *out)
{
    *out = version;
    return CUDA_SUCCESS;
}

static CUresult link_create(unsigned int count, CUjit_option *options, void **values,
                            CUlinkState *state)
{
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_INFO_LOG_BUFFER)
            memcpy(values[i], said, sizeof(said));
        if (options[i] == CU_JIT_SPLIT_COMPILE)
            split = (uintptr_t)values[i];
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
    const uint64_t began = clock_ns();

    (void)state;
    while (clock_ns() == began)
        ;
    assert_int_equal(atomic_load(&stats.compiling), 1);
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
    fake_cu.cuDriverGetVersion = driver_version;
    fake_cu.cuLinkCreate_v2 = link_create;
    fake_cu.cuLinkAddData_v2 = link_add;
    fake_cu.cuLinkComplete = link_complete;
    fake_cu.cuLinkDestroy = link_destroy;
    session = (struct session){.id = 1, .stats = &stats};
    compilations = closes_in = 0;
    version = 13000;
    cpus = 2;
    split = 0;
    return 0;
}

static gs_status compile_text(const char *given, bool one_by_one)
{
    struct job job = {.session = &session};
    unsigned char *image = (unsigned char *)strdup(given);
    uint64_t size = strlen(given);

    assert_non_null(image);
    const gs_status status = image_compile(&job, &image, &size, one_by_one);
    charged = job.helpers_ns;
    assert_int_equal(atomic_load(&stats.compiling), 0);
    assert_string_equal(image, status == GS_OK ? code : given);
    free(image);
    return status;
}

static gs_status compile(bool one_by_one)
{
    return compile_text(text, one_by_one);
}

static void room_for_a_second_block_takes_another_compilation(void **state)
{
    (void)state;
    assert_int_equal(compile(false), GS_OK);
    assert_int_equal(compilations, 2);
}

static void none_begins_for_a_session_that_closes(void **state)
{
    (void)state;
    atomic_store(&session.jobs.closing, true);
    assert_int_equal(compile(false), GS_ERR_INTERRUPTED);
    assert_int_equal(compilations, 0);
}

static void nor_another_one_where_it_closes_meanwhile(void **state)
{
    (void)state;
    closes_in = 1;
    assert_int_equal(compile(false), GS_ERR_INTERRUPTED);
    assert_int_equal(compilations, 1);
}

static void several_functions_are_compiled_at_once_where_there_are_cpus(void **state)
{
    (void)state;
    assert_int_equal(compile(false), GS_OK);
    assert_int_equal(split, 0);
    assert_int_equal(charged, 0);
    cpus = 8;
    assert_int_equal(compile(false), GS_OK);
    assert_int_equal(split, 2);
    cpus = 128;
    assert_int_equal(compile(false), GS_OK);
    assert_int_equal(split, 4);
}

static void a_function_alone_has_one_thread(void **state)
{
    (void)state;
    cpus = 128;
    assert_int_equal(compile_text(alone, false), GS_OK);
    assert_int_equal(split, 0);
    assert_int_equal(charged, 0);
}

static void functions_too_large_for_that_are_compiled_one_by_one(void **state)
{
    (void)state;
    cpus = 16;
    assert_int_equal(compile(true), GS_OK);
    assert_int_equal(split, 0);
}

static void a_driver_that_cannot_is_not_asked(void **state)
{
    (void)state;
    cpus = 16;
    version = 12090;
    assert_int_equal(compile(false), GS_OK);
    assert_int_equal(split, 0);
}

static void threads_that_help_are_charged(void **state)
{
    (void)state;
    cpus = 16;
    assert_int_equal(compile(false), GS_OK);
    assert_true(charged > 0);
}

#define COMPILE_TEST(name) cmocka_unit_test_setup(name, set)

int main(void)
{
    const struct CMUnitTest tests[] = {
        COMPILE_TEST(room_for_a_second_block_takes_another_compilation),
        COMPILE_TEST(none_begins_for_a_session_that_closes),
        COMPILE_TEST(nor_another_one_where_it_closes_meanwhile),
        COMPILE_TEST(several_functions_are_compiled_at_once_where_there_are_cpus),
        COMPILE_TEST(a_function_alone_has_one_thread),
        COMPILE_TEST(functions_too_large_for_that_are_compiled_one_by_one),
        COMPILE_TEST(a_driver_that_cannot_is_not_asked),
        COMPILE_TEST(threads_that_help_are_charged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
