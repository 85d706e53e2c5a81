/*
 * test_worker_cooperative.c - cooperative grids wait for those with which they share an SM, and for
 * no others, however many there are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "fake_driver.h"
#include "worker/memory/user.h"
#include "worker/partition/partition.h"
#include "worker/submit/cooperative.h"
#include "worker/submit/stream.h"

#define SESSIONS 12u

static unsigned waits;
static CUevent waited[64], recorded;

static CUresult event_create(CUevent *event, unsigned flags)
{
    static uintptr_t made;

    (void)flags;
    *event = (CUevent)++made; // NOLINT: only its number counts
    return CUDA_SUCCESS;
}

static CUresult event_query(CUevent event)
{
    (void)event;
    return CUDA_ERROR_NOT_READY;
}

static CUresult event_record(CUevent event, CUstream stream)
{
    (void)stream;
    recorded = event;
    return CUDA_SUCCESS;
}

static CUresult stream_query(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult stream_wait(CUstream stream, CUevent event, unsigned flags)
{
    (void)stream, (void)flags;
    assert_true(waits < 64);
    waited[waits++] = event;
    return CUDA_SUCCESS;
}

static struct kernel kernel;
static struct stream stream;

/* Issues a grid on the SM. false: it has to wait in the ring. */
static bool grid_issue(const struct session *session, uint32_t sm)
{
    struct partition partition = {.mask.word = {UINT64_C(1) << sm}, .sm_count = 1};
    const struct launch launch = {.kernel = &kernel, .partition = &partition};

    if (!cooperative_ready(session, &stream, &launch))
        return false;
    assert_int_equal(cooperative_begin(session, &launch, stream.cu), CUDA_SUCCESS);
    assert_int_equal(cooperative_end(session, &launch, stream.cu), CUDA_SUCCESS);
    return true;
}

static void driver_fake(void)
{
    fake_cu = (struct driver){.cuEventCreate = event_create,
                              .cuEventQuery = event_query,
                              .cuEventRecord = event_record,
                              .cuStreamQuery = stream_query,
                              .cuStreamWaitEvent = stream_wait};
}

static void a_user_s_grids_keep_no_other_user_s_from_other_sms(void **state)
{
    const struct session other = {.uid = 2, .fenced = 1};
    struct session sessions[SESSIONS];
    unsigned issued = 0;

    (void)state;
    driver_fake();
    struct user *users[] = {user_hold(1), user_hold(2)};
    for (uint32_t i = 0; i < 4 * SESSIONS; i++) {
        sessions[i % SESSIONS] = (struct session){.uid = 1, .fenced = 1};
        issued += grid_issue(&sessions[i % SESSIONS], i % SESSIONS);
    }
    assert_true(issued >= SESSIONS);
    waits = 0;
    assert_true(grid_issue(&other, 63));
    assert_int_equal(waits, 0);
    for (uint32_t i = 0; i < 2; i++)
        user_release(users[i]);
}

/* Where all entries are taken, the new grid's would be the oldest one's, which runs on. */
static void a_launch_that_fails_leaves_the_grids_before_it_known(void **state)
{
    const struct session sessions[] = {{.uid = 3}, {.uid = 4}, {.uid = 5}};
    struct partition elsewhere = {.mask.word = {UINT64_C(1) << 63}, .sm_count = 1};
    const struct launch launch = {.kernel = &kernel, .partition = &elsewhere};
    struct user *users[] = {user_hold(3), user_hold(4), user_hold(5)};
    CUevent oldest = NULL;
    bool found = false;

    (void)state;
    driver_fake();
    for (uint32_t sm = 0; sm < 32; sm++) {
        assert_true(grid_issue(&sessions[sm / 16], sm));
        oldest = sm == 0 ? recorded : oldest;
    }
    waits = 0;
    assert_int_equal(cooperative_begin(&sessions[2], &launch, stream.cu), CUDA_SUCCESS);
    waits = 0;
    assert_true(grid_issue(&sessions[2], 0));
    for (unsigned i = 0; i < waits; i++)
        found |= waited[i] == oldest;
    assert_true(found);
    for (uint32_t i = 0; i < 3; i++)
        user_release(users[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_user_s_grids_keep_no_other_user_s_from_other_sms),
        cmocka_unit_test(a_launch_that_fails_leaves_the_grids_before_it_known),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
