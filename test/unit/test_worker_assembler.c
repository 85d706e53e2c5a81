/* test_worker_assembler.c - which of NVIDIA's assemblers suits a driver: by its own words, where
 * one of another major version makes code that the driver does not load, and an older one refuses
 * texts that the driver takes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/module/assembler.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_of_the_drivers_version_suits),
        cmocka_unit_test(a_newer_one_of_the_same_major_version_suits),
        cmocka_unit_test(an_older_one_does_not_suit),
        cmocka_unit_test(one_of_a_newer_major_version_does_not_suit),
        cmocka_unit_test(what_tells_no_release_does_not_suit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
