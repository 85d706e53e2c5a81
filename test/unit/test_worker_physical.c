/*
 * test_worker_physical.c - the holders of a piece of device memory: how many there may be, since
 * whoever comes or goes looks at all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/jobs/job.h"
#include "worker/memory/physical.h"
#include "worker/memory/user.h"

#define SIZE    (UINT64_C(2) << 20)
#define HOLDERS 4096u

static struct session session;
static struct link_stats stats;
static struct holder holder[HOLDERS];

static CUresult create(CUmemGenericAllocationHandle *handle, size_t size,
                       const CUmemAllocationProp *prop, unsigned long long flags)
{
    (void)size;
    (void)prop;
    (void)flags;
    *handle = 1;
    return CUDA_SUCCESS;
}

static CUresult release(CUmemGenericAllocationHandle handle)
{
    (void)handle;
    return CUDA_SUCCESS;
}

static void a_piece_has_a_bounded_number_of_holders(void **state)
{
    struct job job = {.session = &session};
    struct holder more = {0};

    (void)state;
    assert_int_equal(physical_new(&job, SIZE, &holder[0]), GS_OK);
    for (uint32_t i = 1; i < HOLDERS; i++)
        assert_int_equal(physical_hold(&job, holder[0].memory, i, &holder[i]), GS_OK);
    assert_int_equal(session.memory.used, SIZE); /* however often it holds the piece */
    assert_int_equal(physical_hold(&job, holder[0].memory, HOLDERS, &more), GS_ERR_LIMIT);
    assert_null(more.memory);
    assert_int_equal(session.memory.used, SIZE);
    /* one that goes makes room for another */
    job.status = GS_OK;
    physical_release(&holder[1]);
    assert_int_equal(physical_hold(&job, holder[0].memory, 1, &holder[1]), GS_OK);
    for (uint32_t i = 0; i < HOLDERS; i++)
        physical_release(&holder[i]);
    assert_int_equal(session.memory.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_piece_has_a_bounded_number_of_holders)};

    worker_begin()->granularity = SIZE;
    fake_cu.cuMemCreate = create;
    fake_cu.cuMemRelease = release;
    session = (struct session){.stats = &stats};
    session.memory.user = user_hold(0);
    atomic_store(&session.memory.limit, UINT64_MAX);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
