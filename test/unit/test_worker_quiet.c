/*
 * test_worker_quiet.c - how long a job waits for a quiet moment: as long as kernels keep it from
 * the device it gives up after a while, and the time of quiet jobs before it does not count.
 *
 * Kernels run where a session belongs to a side lane.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/session/quiet.h"

#define SECOND UINT64_C(1000000000)

static const struct job_kind load = {"load", JOB_PATIENT | JOB_QUIET, NULL, NULL, NULL, NULL};
static struct lane lane;
static struct session session = {.lane = &lane};
static struct job job[3];
static const struct job *pushed; /* to the service threads, last */
static uint64_t now = SECOND;

void service_push(struct job *pushed_job)
{
    pushed = pushed_job;
}

CUstream service_stream(void)
{
    return NULL;
}

static int set(void **state)
{
    (void)state;
    memset(job, 0, sizeof(job));
    for (unsigned i = 0; i < 3; i++)
        job[i].kind = &load;
    pushed = NULL;
    session_table_add(&session);
    return 0;
}

static int unset(void **state)
{
    (void)state;
    session_table_closing(&session);
    session_table_remove(&session);
    session.phase = SESSION_LIVE;
    return 0;
}

static void kernels_run(bool run)
{
    lane.index = run;
}

/* Seconds later. */
static const struct job *polled(uint64_t seconds)
{
    pushed = NULL;
    now += seconds * SECOND;
    quiet_poll(now);
    return pushed;
}

static void beside_a_kernel_that_runs_on_it_gives_up(void **state)
{
    (void)state;
    kernels_run(true);
    quiet_add(&job[0], now);
    assert_null(polled(9));
    assert_ptr_equal(polled(2), &job[0]);
    assert_int_equal(job[0].status, GS_ERR_TIMEOUT);
    quiet_returned(&job[0], now);
}

/* What a job finds of others' memory would depend on who was taken up first. */
static void what_concerns_others_waits_until_all_are_taken_up(void **state)
{
    static const struct job_kind import = {"import", JOB_TAKEN_UP, NULL, NULL, NULL, NULL};

    (void)state;
    kernels_run(false);
    job[0].kind = &import;
    assert_false(quiet_wanted_by(&job[0]));
    quiet_resuming(true);
    assert_true(quiet_wanted_by(&job[0]));
    quiet_add(&job[0], now);
    assert_null(polled(100));
    quiet_resuming(false);
    assert_ptr_equal(polled(1), &job[0]);
    assert_int_equal(job[0].status, GS_OK);
    quiet_returned(&job[0], now);
}

static void the_time_of_jobs_before_it_does_not_count(void **state)
{
    (void)state;
    kernels_run(false);
    for (unsigned i = 0; i < 3; i++)
        quiet_add(&job[i], now);
    for (unsigned i = 0; i < 3; i++) {
        assert_ptr_equal(polled(1), &job[i]);
        assert_int_equal(job[i].status, GS_OK);
        assert_null(polled(11));
        quiet_returned(&job[i], now);
    }
}

static void what_runs_after_them_does(void **state)
{
    (void)state;
    kernels_run(false);
    quiet_add(&job[0], now);
    quiet_add(&job[1], now);
    assert_ptr_equal(polled(1), &job[0]);
    assert_null(polled(20));
    kernels_run(true);
    quiet_returned(&job[0], now);
    assert_null(polled(9));
    assert_ptr_equal(polled(2), &job[1]);
    assert_int_equal(job[1].status, GS_ERR_TIMEOUT);
    quiet_returned(&job[1], now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(beside_a_kernel_that_runs_on_it_gives_up, set, unset),
        cmocka_unit_test_setup_teardown(the_time_of_jobs_before_it_does_not_count, set, unset),
        cmocka_unit_test_setup_teardown(what_concerns_others_waits_until_all_are_taken_up, set,
                                        unset),
        cmocka_unit_test_setup_teardown(what_runs_after_them_does, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
