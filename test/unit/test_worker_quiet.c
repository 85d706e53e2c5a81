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

#include "cpu_time.h"
#include "fake_driver.h"
#include "worker/sched/domain.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/session/quiet.h"
#include "worker/submit/stream.h"

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
    domain_join(&session);
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
    session.elsewhere = run;
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

static _Alignas(64) unsigned char segment[SEG_OFF_COMPLETE + sizeof(struct seg_complete)];

/* A kernel of the main lane's, as long as it is not known to be complete. */
static void long_kernel_runs(bool run)
{
    session.elsewhere = false;
    session.sched.polled = true;
    session.segment = segment;
    session.submit.streams[0].issued = run ? 64 : 0;
    session.inflight.busy = run;
}

/* A millisecond at a time, until the job starts or so many have passed. */
static const struct job *polled_by_ms(uint32_t most)
{
    for (pushed = NULL; !pushed && most > 0; most--) {
        now += SECOND / 1000;
        quiet_poll(now);
    }
    return pushed;
}

/* A kernel of which no pause sees the end: its session has no new work, and others have, until it
 * ends; then the job is the next. */
static void whose_kernel_is_longer_than_pauses_waits_alone(void **state)
{
    (void)state;
    long_kernel_runs(true);
    quiet_add(&job[0], now);
    for (unsigned i = 0; i < 3000 && !session.jobs.paused_streams; i++)
        assert_null(polled_by_ms(1));
    assert_true(session.jobs.paused_streams);
    assert_int_equal(session.jobs.paused_streams, 1); /* its other streams go on */
    for (unsigned i = 0; i < 5900; i++) {
        assert_false(quiet_pauses(now));
        assert_true(session.jobs.paused_streams);
        assert_null(polled_by_ms(1));
    }
    long_kernel_runs(false);
    assert_ptr_equal(polled_by_ms(1), &job[0]);
    assert_int_equal(job[0].status, GS_OK);
    assert_false(session.jobs.paused_streams);
    quiet_returned(&job[0], now);

    /* A kernel may wait for what another stream of its session is to bring: after six seconds its
     * streams go on for a while. */
    long_kernel_runs(true);
    quiet_add(&job[0], now);
    for (unsigned i = 0; i < 3000 && !session.jobs.paused_streams; i++)
        assert_null(polled_by_ms(1));
    for (unsigned i = 0; i < 6100 && session.jobs.paused_streams; i++)
        assert_null(polled_by_ms(1));
    for (unsigned i = 0; i < 700; i++) {
        assert_false(session.jobs.paused_streams || quiet_pauses(now));
        assert_null(polled_by_ms(1));
    }
    long_kernel_runs(false);
    assert_ptr_equal(polled_by_ms(1), &job[0]);
    assert_int_equal(job[0].status, GS_OK);
    quiet_returned(&job[0], now);

    /* where none comes the job gives up, and the session goes on */
    long_kernel_runs(true);
    quiet_add(&job[1], now);
    assert_ptr_equal(polled_by_ms(11000), &job[1]);
    assert_int_equal(job[1].status, GS_ERR_TIMEOUT);
    assert_false(session.jobs.paused_streams);
    quiet_returned(&job[1], now);
    long_kernel_runs(false);
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

#define CROWD 512u

static unsigned asked; /* about streams */

static CUresult stream_query(CUstream stream)
{
    (void)stream;
    asked++;
    return CUDA_ERROR_NOT_READY;
}

/* All launches wait for a look at them. */
static void many_that_wait_for_their_kernels_are_seldom_looked_at(void **state)
{
    static const struct job_kind idle = {"idle", JOB_SESSION_IDLE, NULL, NULL, NULL, NULL};
    static struct job waiting[CROWD];

    (void)state;
    fake_cu.cuStreamQuery = stream_query;
    long_kernel_runs(true);
    for (unsigned i = 0; i < CROWD; i++) {
        waiting[i] = (struct job){.kind = &idle, .session = &session};
        quiet_add(&waiting[i], now);
    }
    asked = 0;
    now += SECOND;
    /* The driver would be asked in each millisecond. */
    for (const uint64_t until = now + SECOND / 50; now < until; now += SECOND / 100000)
        quiet_poll(now);
    assert_in_range(asked, CROWD, 14 * CROWD);
    long_kernel_runs(false);
    polled(1);
    assert_ptr_equal(pushed, &waiting[CROWD - 1]);
    assert_false(quiet_first());
    session.jobs.paused = false;
}

static CUresult stream_ended(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

/* What an eviction waits for. */
static void a_kernel_without_a_fence_runs_until_the_driver_says_that_it_has_ended(void **state)
{
    struct seg_complete *complete = (void *)(segment + SEG_OFF_COMPLETE);

    (void)state;
    long_kernel_runs(true);
    session.inflight.by_word = 1;
    atomic_store(&complete->position[0], 64); /* as its tenant can */
    fake_cu.cuStreamQuery = stream_query;
    assert_false(session_unfinished(&session));
    assert_true(session_runs(&session));
    fake_cu.cuStreamQuery = stream_ended;
    assert_false(session_runs(&session));
    session.inflight.by_word = 0;
    atomic_store(&complete->position[0], 0);
    long_kernel_runs(false);
}

/* Processor time of what 100,000 rounds ask. */
static uint64_t rounds_ns(void)
{
    const uint64_t began = cpu_ns();

    for (unsigned i = 0; i < 100000; i++)
        assert_false(quiet_any() || quiet_pressing());
    return cpu_ns() - began;
}

/* Each round asks, and all launches wait for it. */
static void whether_a_quiet_moment_is_wanted_takes_no_look_at_all_that_wait(void **state)
{
    static const struct job_kind idle = {"idle", JOB_SESSION_IDLE, NULL, NULL, NULL, NULL};
    static const struct job_kind release = {
        "release", JOB_PATIENT | JOB_QUIET | JOB_UNHURRIED, NULL, NULL, NULL, NULL};
    static struct job waiting[CROWD];

    (void)state;
    fake_cu.cuStreamQuery = stream_query;
    long_kernel_runs(true);
    const uint64_t alone_ns = rounds_ns();
    for (unsigned i = 0; i < CROWD; i++) {
        waiting[i] = (struct job){.kind = &idle, .session = &session};
        quiet_add(&waiting[i], now);
    }
    assert_true(rounds_ns() < CROWD / 8 * alone_ns);
    job[0].kind = &release;
    quiet_add(&job[0], now);
    assert_true(quiet_any());
    assert_false(quiet_pressing());
    quiet_add(&job[1], now);
    assert_true(quiet_pressing());
    long_kernel_runs(false);
    for (unsigned i = 0; i < 2; i++) {
        assert_ptr_equal(polled(1), &job[i]);
        quiet_returned(&job[i], now);
    }
    assert_false(quiet_any() || quiet_pressing() || quiet_first());
    session.jobs.paused = false;
}

/* However many jobs another user has had waiting for longer. */
static void a_user_waits_for_one_job_of_each_other(void **state)
{
    static struct session other = {.uid = 1};

    (void)state;
    kernels_run(false);
    for (unsigned i = 0; i < 3; i++) {
        job[i].session = i < 2 ? &session : &other;
        quiet_add(&job[i], now);
    }
    assert_ptr_equal(polled(1), &job[0]);
    quiet_returned(&job[0], now);
    assert_ptr_equal(polled(1), &job[2]);
    quiet_returned(&job[2], now);
    assert_ptr_equal(polled(1), &job[1]);
    quiet_returned(&job[1], now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(beside_a_kernel_that_runs_on_it_gives_up, set, unset),
        cmocka_unit_test_setup_teardown(whose_kernel_is_longer_than_pauses_waits_alone, set, unset),
        cmocka_unit_test_setup_teardown(the_time_of_jobs_before_it_does_not_count, set, unset),
        cmocka_unit_test_setup_teardown(what_concerns_others_waits_until_all_are_taken_up, set,
                                        unset),
        cmocka_unit_test_setup_teardown(what_runs_after_them_does, set, unset),
        cmocka_unit_test_setup_teardown(
            a_kernel_without_a_fence_runs_until_the_driver_says_that_it_has_ended, set, unset),
        cmocka_unit_test_setup_teardown(a_user_waits_for_one_job_of_each_other, set, unset),
        cmocka_unit_test_setup_teardown(
            whether_a_quiet_moment_is_wanted_takes_no_look_at_all_that_wait, set, unset),
        cmocka_unit_test_setup_teardown(many_that_wait_for_their_kernels_are_seldom_looked_at, set,
                                        unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
