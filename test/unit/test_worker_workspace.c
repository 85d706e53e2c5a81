/*
 * test_worker_workspace.c - a workspace that grows: products see of it what the lane has taken over
 * from the job, never what the job is making.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/blas/workspace.h"
#include "worker/jobs/job.h"
#include "worker/memory/user.h"

#define SIZE  (UINT64_C(2) << 20)
#define RANGE UINT64_C(0x7f0000000000)

static struct session session;
static struct link_stats stats;
static struct workspace *workspace;
static CUresult map_result;
static uint64_t mapped;   /* bytes, without a gap from RANGE on */
static uint32_t reserved; /* ranges */

static CUresult create(CUmemGenericAllocationHandle *handle, size_t size,
                       const CUmemAllocationProp *prop, unsigned long long flags)
{
    (void)size, (void)prop, (void)flags;
    *handle = 1;
    return CUDA_SUCCESS;
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
    (void)handle;
    return CUDA_SUCCESS;
}

static CUresult reserve(CUdeviceptr *address, size_t size, size_t align, CUdeviceptr at,
                        unsigned long long flags)
{
    (void)align, (void)at, (void)flags;
    assert_int_equal(size, WORKSPACE_MOST);
    *address = RANGE;
    reserved++;
    return CUDA_SUCCESS;
}

static CUresult unreserve(CUdeviceptr address, size_t size)
{
    assert_int_equal(address, RANGE);
    assert_int_equal(size, WORKSPACE_MOST);
    reserved--;
    return CUDA_SUCCESS;
}

static CUresult map(CUdeviceptr address, size_t size, size_t offset,
                    CUmemGenericAllocationHandle handle, unsigned long long flags)
{
    (void)offset, (void)handle, (void)flags;
    assert_int_equal(address, RANGE + mapped);
    if (map_result == CUDA_SUCCESS)
        mapped += size;
    return map_result;
}

static CUresult access_set(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
                           size_t count)
{
    (void)address, (void)size, (void)access, (void)count;
    return CUDA_SUCCESS;
}

static CUresult unmap(CUdeviceptr address, size_t size)
{
    (void)address;
    mapped -= size;
    return CUDA_SUCCESS;
}

static CUresult error_string(CUresult result, const char **text)
{
    (void)result;
    *text = "error";
    return CUDA_SUCCESS;
}

static uint64_t grow(uint64_t bytes)
{
    struct job job = {.session = &session};

    return workspace_grow(&job, workspace, bytes);
}

static void expect(uint64_t address, uint64_t size)
{
    assert_int_equal(workspace_address(workspace), address);
    assert_true(workspace_holds(workspace, size));
    assert_false(workspace_holds(workspace, size + 1));
}

static int set(void **state)
{
    (void)state;
    map_result = CUDA_SUCCESS;
    workspace = calloc(1, sizeof(*workspace));
    return workspace ? 0 : -1;
}

/* Nothing is left of it. */
static int unset(void **state)
{
    (void)state;
    workspace_free(workspace);
    return mapped == 0 && reserved == 0 && session.memory.used == 0 ? 0 : -1;
}

static void what_a_job_maps_is_used_once_the_lane_has_taken_it_over(void **state)
{
    (void)state;
    assert_int_equal(grow(SIZE - 1), SIZE);
    expect(0, 0);
    workspace_grown(workspace, SIZE);
    expect(RANGE, SIZE);
    assert_int_equal(grow(3 * SIZE), 4 * SIZE);
    expect(RANGE, SIZE);
    workspace_grown(workspace, 4 * SIZE);
    expect(RANGE, 4 * SIZE);
    assert_int_equal(mapped, 4 * SIZE);
}

static void a_workspace_that_could_not_be_mapped_is_none(void **state)
{
    (void)state;
    map_result = CUDA_ERROR_OUT_OF_MEMORY;
    assert_int_equal(grow(SIZE), 0);
    expect(0, 0);
    map_result = CUDA_SUCCESS;
    assert_int_equal(grow(SIZE), SIZE);
    assert_int_equal(reserved, 1);
    workspace_grown(workspace, SIZE);
    expect(RANGE, SIZE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_a_job_maps_is_used_once_the_lane_has_taken_it_over,
                                        set, unset),
        cmocka_unit_test_setup_teardown(a_workspace_that_could_not_be_mapped_is_none, set, unset),
    };

    worker_begin()->granularity = SIZE;
    fake_cu.cuMemCreate = create;
    fake_cu.cuMemRelease = release;
    fake_cu.cuMemAddressReserve = reserve;
    fake_cu.cuMemAddressFree = unreserve;
    fake_cu.cuMemMap = map;
    fake_cu.cuMemUnmap = unmap;
    fake_cu.cuMemSetAccess = access_set;
    fake_cu.cuGetErrorString = error_string;
    session = (struct session){.stats = &stats};
    session.memory.user = user_hold(0);
    atomic_store(&session.memory.limit, UINT64_MAX);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
