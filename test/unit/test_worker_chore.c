/*
 * test_worker_chore.c - how long a chore that another tenant waits for can be put off: for as long
 * as the session's kernels may run, whatever else the session does.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "cpu_time.h"
#include "fake_driver.h"
#include "worker/sched/lane.h"
#include "worker/session/chore.h"

#define MS        UINT64_C(1000000)
#define LIMIT_MS  2000u
#define PAUSES_MS 12000u /* by then each chore's pauses are as long as they get */

static const struct job_kind awaited = {
    "awaited", JOB_CHORE | JOB_PAUSE | JOB_PAUSE_UNTIL_DONE, NULL, NULL, NULL, NULL};
static const struct job_kind patient = {"patient", JOB_CHORE | JOB_PAUSE, NULL, NULL, NULL, NULL};
static const struct job_kind beside = {"beside", JOB_CHORE, NULL, NULL, NULL, NULL};

static struct lane lane;
static struct session session;
static const struct job_kind ask = {"ask", JOB_PATIENT, NULL, NULL, NULL, NULL};
static const struct job_kind compile = {"compile", JOB_PATIENT | JOB_COMPILES, NULL, NULL, NULL,
                                        NULL};
static struct job request;
static _Alignas(64) unsigned char segment[SEG_OFF_COMPLETE + sizeof(struct seg_complete)];
static bool kernel_runs;
static uint64_t now;

static CUresult stream_query(CUstream stream)
{
    (void)stream;
    return kernel_runs ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static void runs(bool kernel)
{
    kernel_runs = kernel;
    session.submit.streams[0].issued = kernel ? 64 : 0;
    session.inflight.busy = kernel;
}

static int set(void **state)
{
    (void)state;
    fake_cu.cuStreamQuery = stream_query;
    session = (struct session){.lane = &lane, .segment = segment};
    session.sched.polled = true;
    session.grant.link.kernel_limit = LIMIT_MS;
    runs(true);
    now = clock_ns();
    return 0;
}

static int unset(void **state)
{
    (void)state;
    chores_cancel(&session);
    return 0;
}

static struct job *waits(const struct job_kind *kind)
{
    struct job *job = job_new(&session, kind);

    assert_non_null(job);
    chore_add(job);
    return job;
}

/* So many milliseconds later, looked at in each of them. */
static struct job *polled(uint32_t ms)
{
    struct job *due = NULL;

    for (uint32_t i = 0; i < ms && !due; i++)
        due = chore_due(now += MS);
    return due;
}

static void ends(struct job *job)
{
    session.jobs.current = NULL;
    session.jobs.paused = chores_pause(&session);
    job_free(job);
}

static void what_another_tenant_waits_for_pauses_for_good_in_the_end(void **state)
{
    struct job *job = waits(&awaited);

    (void)state;
    assert_null(polled(PAUSES_MS));
    for (uint32_t i = 0; i < PAUSES_MS; i++) {
        assert_true(session.jobs.paused);
        assert_null(polled(1));
    }
    runs(false);
    assert_ptr_equal(polled(1), job);
    ends(job);
    assert_false(session.jobs.paused);
}

/* Each begins and ends pauses of its own. */
static void other_chores_of_the_session_do_not_let_it_go_on(void **state)
{
    struct job *job = waits(&awaited), *other = waits(&patient);

    (void)state;
    assert_null(polled(PAUSES_MS));
    for (uint32_t i = 0; i < PAUSES_MS; i++) {
        assert_true(session.jobs.paused);
        assert_null(polled(1));
    }
    struct job *third = waits(&beside);
    assert_ptr_equal(polled(1), third);
    assert_true(session.jobs.paused);
    ends(third);
    assert_true(session.jobs.paused);
    runs(false);
    for (uint32_t i = 0; i < 2; i++) {
        struct job *due = polled(1);
        assert_true(due == job || due == other);
        ends(due);
    }
}

/* A request is always in progress. */
static void nor_do_requests_one_after_another(void **state)
{
    struct job *job = waits(&awaited);

    (void)state;
    request.kind = &ask;
    session.jobs.current = &request;
    assert_null(polled(LIMIT_MS - 100));
    assert_false(session.jobs.paused); /* a kernel may wait for what the program does next */
    assert_null(polled(200));
    for (uint32_t i = 0; i < PAUSES_MS; i++) {
        assert_true(session.jobs.paused);
        assert_null(polled(1));
    }
    session.jobs.current = NULL;
    assert_null(polled(1));
    runs(false);
    assert_ptr_equal(polled(1), job);
    ends(job);
}

/* Which may take minutes. Other chores wait for its end, and so does a second one beside it. */
static void nor_does_a_compilation(void **state)
{
    (void)state;
    request.kind = &compile;
    session.jobs.current = &request;
    runs(false);
    waits(&patient);
    waits(&beside);
    struct job *job = waits(&awaited);
    assert_ptr_equal(polled(1), job);
    assert_ptr_equal(session.jobs.aside, job);
    assert_ptr_equal(session.jobs.current, &request);
    waits(&awaited);
    assert_null(polled(PAUSES_MS));
    job_free(job);
}

static void nobody_waits_for_other_chores_and_the_session_goes_on(void **state)
{
    uint32_t paused = 0;

    (void)state;
    waits(&patient);
    assert_null(polled(PAUSES_MS));
    for (uint32_t i = 0; i < PAUSES_MS; i++) {
        paused += session.jobs.paused;
        assert_null(polled(1));
    }
    assert_in_range(paused, 1, PAUSES_MS / 4);
}

/* Launches beside the first one's work would reach memory that it is taking away. */
static void the_pause_of_one_does_not_end_while_another_is_done(void **state)
{
    struct job *job = waits(&awaited), *other = waits(&patient);

    (void)state;
    assert_null(polled(1));
    assert_true(session.jobs.paused);
    runs(false);
    struct job *due = polled(1);
    assert_true(due == job || due == other);
    assert_null(polled(100)); /* when the other one's pause would be over */
    assert_true(session.jobs.paused);
    ends(due);
    due = polled(1);
    assert_true(due == job || due == other);
    ends(due);
    assert_false(session.jobs.paused);
}

#define CROWD 4096u

/* Makes each session of the crowd. Returns how long that took. */
static uint64_t crowd_make(struct session *crowd)
{
    const uint64_t began = cpu_ns();

    for (uint32_t i = 0; i < CROWD; i++)
        crowd[i] = session;
    return cpu_ns() - began;
}

/* It takes less time than to copy the sessions; were each chore to look at all others, it would
 * take a dozen times as long as that. */
static void a_look_at_many_that_begin_to_pause_at_once_is_short(void **state)
{
    struct session *crowd = aligned_alloc(_Alignof(struct session), CROWD * sizeof(*crowd));
    uint64_t making_ns, most = 0;

    (void)state;
    assert_non_null(crowd);
    crowd_make(crowd); /* has the memory at hand */
    making_ns = crowd_make(crowd);
    for (uint32_t i = 0; i < CROWD; i++) {
        struct job *job = job_new(&crowd[i], &awaited);
        assert_non_null(job);
        chore_add(job);
    }
    for (uint32_t ms = 0; ms < 100; ms++) {
        const uint64_t began = cpu_ns();
        assert_null(polled(1));
        const uint64_t took = cpu_ns() - began;
        most = took > most ? took : most;
    }
    for (uint32_t i = 0; i < CROWD; i++) {
        assert_true(chores_pause(&crowd[i]) == crowd[i].jobs.paused);
        chores_cancel(&crowd[i]);
    }
    assert_false(chores_any());
    assert_true(most < 4 * making_ns);
    free(crowd);
}

#define CHORE_TEST(name) cmocka_unit_test_setup_teardown(name, set, unset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CHORE_TEST(what_another_tenant_waits_for_pauses_for_good_in_the_end),
        CHORE_TEST(other_chores_of_the_session_do_not_let_it_go_on),
        CHORE_TEST(nor_do_requests_one_after_another),
        CHORE_TEST(nor_does_a_compilation),
        CHORE_TEST(nobody_waits_for_other_chores_and_the_session_goes_on),
        CHORE_TEST(the_pause_of_one_does_not_end_while_another_is_done),
        CHORE_TEST(a_look_at_many_that_begin_to_pause_at_once_is_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
