/*
 * test_corpus.c - the cases of test/corpus as CUDA programs: compiled by nvcc, and launched through
 * the CUDA runtime as tenants of a server. A test for each: test/rules.mk lists them.
 */
#include <stdio.h>
#include <unistd.h>

#include "harness/harness.h"

static void case_run(const char *name)
{
    char library[512], output[4096] = "";
    int status;

    snprintf(library, sizeof(library), "%s/%s.so", test_build_path("test/cudart/corpus"), name);
    if (access(library, R_OK) < 0)
        test_skip("there is no nvcc");
    status = program_run((const char *const[]){"test/cudart/corpus/run_case", library, NULL},
                         output, sizeof(output));
    if (status != 0)
        test_fail(__FILE__, __LINE__, "status %d: %s", status, output);
}

#define CASE(name)                                                                                 \
    static void name(void)                                                                         \
    {                                                                                              \
        case_run(#name);                                                                           \
    }
#include "corpus.inc"
#undef CASE

static const struct test tests[] = {
#define CASE(name) TEST(name),
#include "corpus.inc"
#undef CASE
};

int main(int argc, char **argv)
{
    return test_main_with_server(argc, argv, tests, ARRAY_SIZE(tests));
}
