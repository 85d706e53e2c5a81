/*
 * test_cublas.c - each CUDA program of programs/ runs as a tenant with libgshare_cublas and prints
 * what its own comments say. A test for each, named as the program: test/rules.mk lists them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cuda_program.h"
#include "harness/harness.h"

static void run_by_gshare_run(const char *program, const char *source, const char *why_not)
{
    char path[512];

    snprintf(path, sizeof(path), "%s", test_build_path(program));
    if (access(path, X_OK) < 0)
        test_skip("%s", why_not);
    cuda_program_run((const char *const[]){"bin/gshare-run", path, NULL}, source);
}

static void a_program_of_nvidias_cublas_runs_by_gshare_run(void)
{
    run_by_gshare_run("test/cublas/native/gemm_of_all_transposes",
                      "test/cublas/programs/gemm_of_all_transposes.cu",
                      "there is no cuBLAS to link with, or a sanitizer, whose library has to come "
                      "first");
}

static void a_program_of_cublas_12_runs_by_gshare_run(void)
{
    run_by_gshare_run("test/cublas/blas12", "test/cublas/blas12.c",
                      "a sanitizer, whose library has to come first");
}

#define PROGRAM(name)                                                                              \
    static void name(void)                                                                         \
    {                                                                                              \
        cuda_program_test("test/cublas", #name);                                                   \
    }
#include "programs.inc"
#undef PROGRAM

/* The same results where the server has a cuBLASLt, if only the software device's. */
static void with_the_servers_library(const char *program)
{
    struct server *server;
    char path[512];

    snprintf(path, sizeof(path), "%s", test_build_path("test/e2e/libgshare-cublaslt.so"));
    setenv("GSHARE_CUBLAS", path, 1);
    server = server_start(NULL);
    cuda_program_test("test/cublas", program);
    server_stop(server);
}

#define BY_SERVER(name)                                                                            \
    static void name##_by_the_server(void)                                                         \
    {                                                                                              \
        const char *device = getenv("GSHARE_TEST_DEVICE");                                         \
                                                                                                   \
        if (device && !strcmp(device, "cuda"))                                                     \
            test_skip("on a GPU all have it");                                                     \
        with_the_servers_library(#name);                                                           \
    }
BY_SERVER(gemm_of_all_transposes)
BY_SERVER(gemm_of_batches)
BY_SERVER(gemm_ex_of_all_types)
BY_SERVER(products_in_graphs)
BY_SERVER(own_captured_products_are_the_servers)

static const struct test tests[] = {
#define PROGRAM(name) TEST(name),
#include "programs.inc"
#undef PROGRAM
    TEST(gemm_of_all_transposes_by_the_server),
    TEST(gemm_of_batches_by_the_server),
    TEST(gemm_ex_of_all_types_by_the_server),
    TEST(products_in_graphs_by_the_server),
    TEST(own_captured_products_are_the_servers_by_the_server),
    TEST(a_program_of_nvidias_cublas_runs_by_gshare_run),
    TEST(a_program_of_cublas_12_runs_by_gshare_run),
};

int main(int argc, char **argv)
{
    return test_main_with_server(argc, argv, tests, ARRAY_SIZE(tests));
}
