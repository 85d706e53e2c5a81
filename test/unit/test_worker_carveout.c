/*
 * test_worker_carveout.c - which kernels ask for a carveout of the SMs' memory, on a driver that
 * notes what it is asked. The SM is an H200's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/partition/carveout.h"

#define NOTHING (-2)

static int asked; /* the carveout asked for last */

static CUresult attribute(int *value, CUdevice_attribute which, CUdevice device)
{
    (void)device;
    *value = which == CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR     ? 2048
             : which == CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR ? 65536
             : which == CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR    ? 32
             : which == CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK ? 1024
                                                                             : 228 << 10;
    return CUDA_SUCCESS;
}

static CUresult function_set(CUfunction function, CUfunction_attribute which, int value)
{
    (void)function;
    assert_int_equal(which, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
    asked = value;
    return CUDA_SUCCESS;
}

static int setup(void **state)
{
    (void)state;
    fake_cu.cuDeviceGetAttribute = attribute;
    fake_cu.cuFuncSetAttribute = function_set;
    return carveout_init();
}

/* Launches the kernel. Returns the carveout that the launch asks the driver for. */
static int launch(struct kernel *kernel, uint32_t threads, uint32_t dynamic_smem)
{
    asked = NOTHING;
    carveout_fit(kernel, threads, dynamic_smem);
    return asked;
}

static struct kernel kernel_of(uint32_t registers, uint32_t static_smem)
{
    return (struct kernel){.sm_threads = carveout_threads(registers), .static_smem = static_smem};
}

static void small_blocks_are_left_to_the_driver(void **state)
{
    struct kernel kernel = kernel_of(32, 0);

    (void)state;
    assert_int_equal(launch(&kernel, 1, 0), NOTHING);
    assert_int_equal(launch(&kernel, 128, 0), NOTHING);
    assert_int_equal(launch(&kernel, 256, 0), NOTHING);
    assert_int_equal(launch(&kernel, 256, 1024), NOTHING);
}

/* 14 % of 228 KiB is the carveout of 32 KiB: a KiB for each of the 32 blocks that an SM can
 * hold. */
static void big_blocks_ask_for_room_for_everybodys_once(void **state)
{
    struct kernel kernel = kernel_of(32, 0), other = kernel_of(32, 4096);

    (void)state;
    assert_int_equal(launch(&kernel, 1024, 0), 14);
    assert_int_equal(launch(&kernel, 1024, 0), NOTHING);
    assert_int_equal(launch(&kernel, 64, 0), NOTHING);
    assert_int_equal(launch(&other, 512, 1024), 14);
}

/* However small the blocks are, an SM holds no more than 32 of them, which is no more than was
 * asked for. */
static void small_blocks_of_the_same_kernel_change_nothing(void **state)
{
    struct kernel before = kernel_of(32, 0), after = kernel_of(32, 0);

    (void)state;
    assert_int_equal(launch(&before, 1, 0), NOTHING);
    assert_int_equal(launch(&before, 1024, 0), 14);
    assert_int_equal(launch(&after, 1024, 0), 14);
    assert_int_equal(launch(&after, 1, 0), NOTHING);
}

static void so_do_those_of_many_registers(void **state)
{
    struct kernel kernel = kernel_of(255, 0);

    (void)state;
    assert_int_equal(launch(&kernel, 32, 0), NOTHING); /* 8 blocks on an SM */
    assert_int_equal(launch(&kernel, 64, 0), 14);      /* 4 blocks on an SM */
    assert_int_equal(launch(&kernel, 256, 0), NOTHING);
}

static void a_kernel_that_needs_shared_memory_has_what_the_driver_gives_it(void **state)
{
    struct kernel kernel = kernel_of(32, 48 << 10), other = kernel_of(32, 0);

    (void)state;
    assert_int_equal(launch(&kernel, 1024, 0), NOTHING);
    assert_int_equal(launch(&other, 1024, 0), 14);
    assert_int_equal(launch(&other, 1024, 100 << 10), -1);
    assert_int_equal(launch(&other, 1024, 100 << 10), NOTHING);
    assert_int_equal(launch(&other, 1024, 0), NOTHING); /* it does not alternate between the two */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_blocks_are_left_to_the_driver),
        cmocka_unit_test(big_blocks_ask_for_room_for_everybodys_once),
        cmocka_unit_test(small_blocks_of_the_same_kernel_change_nothing),
        cmocka_unit_test(so_do_those_of_many_registers),
        cmocka_unit_test(a_kernel_that_needs_shared_memory_has_what_the_driver_gives_it),
    };

    return cmocka_run_group_tests(tests, setup, NULL);
}
