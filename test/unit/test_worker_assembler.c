/* test_worker_assembler.c - which of NVIDIA's assemblers suits a driver: by its own words, where
 * one of another major version makes code that the driver does not load, and an older one refuses
 * texts that the driver takes. And for which architecture it compiles a text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/module/assembler_choice.h"
#include "worker/module/assembler_process.h"

static const char of_13_0[] = "ptxas: NVIDIA (R) Ptx optimizing assembler\n"
                              "Copyright (c) 2005-2025 NVIDIA Corporation\n"
                              "Built on Wed_Aug_20_01:55:12_PM_PDT_2025\n"
                              "Cuda compilation tools, release 13.0, V13.0.88\n"
                              "Build cuda_13.0.r13.0/compiler.36424714_0\n";
static const char of_12_10[] = "Cuda compilation tools, release 12.10, V12.10.1\n";

static void one_of_the_drivers_version_suits(void **state)
{
    (void)state;
    assert_true(assembler_suits(of_13_0, 13000));
    assert_true(assembler_suits(of_12_10, 12100));
}

static void a_newer_one_of_the_same_major_version_suits(void **state)
{
    (void)state;
    assert_true(assembler_suits(of_12_10, 12090));
}

static void an_older_one_does_not_suit(void **state)
{
    (void)state;
    assert_false(assembler_suits(of_13_0, 13010));
    assert_false(assembler_suits(of_12_10, 13000));
}

static void one_of_a_newer_major_version_does_not_suit(void **state)
{
    (void)state;
    assert_false(assembler_suits(of_13_0, 12090));
}

static void what_tells_no_release_does_not_suit(void **state)
{
    (void)state;
    assert_false(assembler_suits("", 13000));
    assert_false(assembler_suits("ptxas fatal: Value 'sm_70' is not defined\n", 13000));
    assert_false(assembler_suits("release of 13.0\n", 13000));
}

static void check_architecture(const char *text, unsigned major, unsigned minor,
                               const char *expected)
{
    char argument[32];

    assembler_architecture(text, major, minor, argument);
    assert_string_equal(argument, expected);
}

static void it_compiles_for_the_device(void **state)
{
    (void)state;
    check_architecture(".version 8.0\n.target sm_70\n", 9, 0, "-arch=sm_90");
    check_architecture(".version 8.0\n.target sm_90, debug\n", 12, 1, "-arch=sm_121");
    check_architecture("", 9, 0, "-arch=sm_90");
}

/* What a letter allows is refused without it. */
static void it_keeps_the_letter_of_the_target(void **state)
{
    (void)state;
    check_architecture(".version 8.0\n.target sm_90a\n", 9, 0, "-arch=sm_90a");
    check_architecture(".version 8.8\n.target\tsm_100f, debug\n", 10, 3, "-arch=sm_103f");
    check_architecture(".version 8.0 .target sm_90 .address_size 64", 9, 0, "-arch=sm_90");
}

static void a_target_in_a_comment_is_none(void **state)
{
    (void)state;
    check_architecture("// was .target sm_90\n.version 8.0\n.target sm_90a\n", 9, 0,
                       "-arch=sm_90a");
    check_architecture("/* .target sm_90a\n */ .version 8.0\n//\n.target sm_90\n", 9, 0,
                       "-arch=sm_90");
    check_architecture("/* one *//* another */ .target sm_90a", 9, 0, "-arch=sm_90a");
    check_architecture("/* .target sm_90a", 9, 0, "-arch=sm_90");
    check_architecture("// .target sm_90a", 9, 0, "-arch=sm_90");
}

/* A worker that has no descriptor left must not take a tenant's text for a bad one. */
static void its_end_is_seen_without_a_descriptor_too(void **state)
{
    struct rlimit limit;
    struct rusage used;
    int status;

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    const pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        setpgid(0, 0);
        _exit(7);
    }
    setpgid(pid, pid);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){0, limit.rlim_max}), 0);
    status = assembler_await(NULL, pid, 60, &used);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_the_drivers_version_suits),
        cmocka_unit_test(a_newer_one_of_the_same_major_version_suits),
        cmocka_unit_test(an_older_one_does_not_suit),
        cmocka_unit_test(one_of_a_newer_major_version_does_not_suit),
        cmocka_unit_test(what_tells_no_release_does_not_suit),
        cmocka_unit_test(it_compiles_for_the_device),
        cmocka_unit_test(it_keeps_the_letter_of_the_target),
        cmocka_unit_test(a_target_in_a_comment_is_none),
        cmocka_unit_test(its_end_is_seen_without_a_descriptor_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
