/*
 * test_cublas.c - each CUDA program of programs/ runs as a tenant with libgshare_cublas and prints
 * what its own comments say. A test for each, named as the program: the Makefile lists them.
 */
#include <stdio.h>
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

static const struct test tests[] = {
#define PROGRAM(name) TEST(name),
#include "programs.inc"
#undef PROGRAM
    TEST(a_program_of_nvidias_cublas_runs_by_gshare_run),
    TEST(a_program_of_cublas_12_runs_by_gshare_run),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
