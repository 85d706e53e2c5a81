/*
 * test_worker_service.c - the service threads: slow jobs of one user hold up no other user's, and
 * who has the fewest threads is served first. Jobs are slow until the test lets them end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "fake_driver.h"
#include "worker/jobs/job.h"

#define USERS    4u
#define MANY     16u
#define LONG_NS  20000000000u
#define BRIEF_NS 50000000u
#define BURN_NS  10000000u

static struct session session[USERS];
static _Atomic uint32_t begun[USERS], ended[USERS], may_end[USERS];

static CUresult set_current(CUcontext context)
{
    (void)context;
    return CUDA_SUCCESS;
}

static CUresult stream_create(CUstream *stream, unsigned int flags)
{
    (void)flags;
    *stream = NULL;
    return CUDA_SUCCESS;
}

static void slow_work(struct job *job)
{
    const uint32_t user = job->index;

    atomic_fetch_add(&begun[user], 1);
    for (;;) {
        uint32_t left = atomic_load(&may_end[user]);
        if (left && atomic_compare_exchange_strong(&may_end[user], &left, left - 1))
            break;
        usleep(100);
    }
    atomic_fetch_add(&ended[user], 1);
}

/* Takes BURN_NS of a CPU, unless the session is closing. */
static void burn_work(struct job *job)
{
    struct timespec t, from;

    atomic_fetch_add(&begun[job->index], 1);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    while (!atomic_load(&session[job->index].jobs.closing) &&
           (uint64_t)(t.tv_sec - from.tv_sec) * 1000000000u + (uint64_t)t.tv_nsec <
               (uint64_t)from.tv_nsec + BURN_NS);
    atomic_fetch_add(&ended[job->index], 1);
}

static const struct job_kind wait_long = {"wait_long", JOB_PATIENT, NULL, slow_work, NULL, NULL};
static const struct job_kind compile = {
    "compile", JOB_PATIENT | JOB_COMPILES, NULL, slow_work, NULL, NULL};
static const struct job_kind burn = {"burn", JOB_PATIENT | JOB_COMPILES, NULL, burn_work, NULL,
                                     NULL};
static const struct job_kind allocate = {"allocate", JOB_QUICK, NULL, slow_work, NULL, NULL};

static void push(const struct job_kind *kind, uint32_t user, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct job *job = job_new(&session[user], kind);

        assert_non_null(job);
        job->index = user;
        service_push(job);
    }
}

static bool reaches(_Atomic uint32_t *count, uint32_t wanted, uint64_t within_ns)
{
    const uint64_t until = clock_ns() + within_ns;

    while (atomic_load(count) < wanted && clock_ns() < until)
        usleep(100);
    return atomic_load(count) >= wanted;
}

/* Lets all end, so that the next test begins with idle threads. */
static void drain(void)
{
    for (uint32_t user = 0; user < USERS; user++)
        atomic_store(&may_end[user], 1000);
    while (!service_idle())
        usleep(100);
    for (struct job *job = jobs_take(); job;) {
        struct job *next = job->next;
        job_free(job);
        job = next;
    }
    for (uint32_t user = 0; user < USERS; user++) {
        atomic_store(&may_end[user], 0);
        atomic_store(&begun[user], 0);
        atomic_store(&ended[user], 0);
    }
}

static int set(void **state)
{
    (void)state;
    fake_cu.cuCtxSetCurrent = set_current;
    fake_cu.cuStreamCreate = stream_create;
    for (uint32_t i = 0; i < USERS; i++)
        session[i] = (struct session){.uid = 1000 + i};
    return service_start() ? 0 : -1;
}

static void one_user_holds_up_no_other(const struct job_kind *kind)
{
    push(kind, 0, MANY);
    assert_true(reaches(&begun[0], 3, LONG_NS));
    push(kind, 1, 1);
    assert_true(reaches(&begun[1], 1, LONG_NS));
    assert_int_equal(begun[0], 3);
    drain();
}

static void a_users_jobs_that_wait_hold_up_no_other_user(void **state)
{
    (void)state;
    one_user_holds_up_no_other(&wait_long);
}

static void nor_do_allocations(void **state)
{
    (void)state;
    one_user_holds_up_no_other(&allocate);
}

/* A session with thousands of imports is closed in a job that takes long, and a detach waits for
 * its own. */
static void nor_do_sessions_that_close(void **state)
{
    const struct job_kind close = {"close", job_close.flags, NULL, slow_work, NULL, NULL};

    (void)state;
    one_user_holds_up_no_other(&close);
}

/* What had to wait begins once a job of the same user has ended, without another one that comes. */
static void what_waits_for_its_own_user_goes_on(void **state)
{
    (void)state;
    push(&wait_long, 0, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        atomic_fetch_add(&may_end[0], 1);
        assert_true(reaches(&ended[0], i + 1, LONG_NS));
    }
    assert_int_equal(begun[0], MANY);
    drain();
}

/* Two users fill all threads; a third is served as soon as one is free. */
static void who_has_the_fewest_threads_is_next(void **state)
{
    (void)state;
    push(&wait_long, 0, MANY);
    assert_true(reaches(&begun[0], 3, LONG_NS));
    push(&wait_long, 1, MANY);
    assert_true(reaches(&begun[1], 1, LONG_NS));
    push(&wait_long, 2, 1);
    assert_false(reaches(&begun[2], 1, BRIEF_NS));
    atomic_fetch_add(&may_end[0], 1);
    assert_true(reaches(&begun[2], 1, LONG_NS));
    assert_int_equal(begun[0], 3);
    assert_int_equal(begun[1], 1);
    drain();
}

/* Of the users without a thread the one that was served longest ago is next, though the others'
 * jobs have waited for longer. */
static void who_was_served_longest_ago_is_next(void **state)
{
    static const struct job_kind *const kinds[] = {&compile, &wait_long};
    static const uint32_t most[] = {2, 3}; /* threads of one user */

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        push(kinds[i], 3, 1);
        assert_true(reaches(&begun[3], 1, LONG_NS));
        drain();
        push(kinds[i], 0, MANY);
        assert_true(reaches(&begun[0], most[i], LONG_NS));
        push(kinds[i], 1, MANY);
        assert_true(reaches(&begun[1], 1, LONG_NS));
        push(kinds[i], 3, 1);
        atomic_fetch_add(&may_end[1], 1);
        assert_true(reaches(&begun[3], 1, LONG_NS));
        assert_int_equal(begun[1], 1);
        drain();
    }
}

/* A percent of a CPU: 0.3 s are saved up, 30 jobs, and each further one is due 1 s after the one
 * before. Three more may have begun when the account is full. */
static void who_compiles_without_end_waits_and_nobody_else(void **state)
{
    static struct job waiting; /* of which only the fact counts */

    (void)state;
    service_compile_limit(&session[0], 1);
    push(&burn, 0, 100);
    assert_true(reaches(&ended[0], 31, LONG_NS));
    push(&burn, 1, 20);
    assert_true(reaches(&ended[1], 20, LONG_NS));
    assert_in_range(begun[0], 31, 36);
    /* what does not compile goes on */
    push(&wait_long, 0, 1);
    atomic_store(&may_end[0], 1);
    const uint32_t burnt = begun[0];
    assert_true(reaches(&begun[0], burnt + 1, LONG_NS));
    /* the time that is due comes without another job */
    service_compile_limit(&session[0], 50);
    session[0].jobs.current = &waiting;
    service_compile_limit(&session[0], 40);
    assert_true(reaches(&ended[0], burnt + 20, LONG_NS));
    service_closing(&session[0]);
    assert_true(reaches(&ended[0], 101, LONG_NS));
    drain();
}

/* Each may take minutes. */
static void compilations_hold_up_neither_other_jobs_nor_another_users(void **state)
{
    (void)state;
    push(&compile, 0, MANY);
    assert_true(reaches(&begun[0], 2, LONG_NS));
    push(&compile, 1, MANY);
    assert_true(reaches(&begun[1], 1, LONG_NS));
    push(&compile, 2, 1);
    push(&wait_long, 3, 1);
    assert_true(reaches(&begun[3], 1, LONG_NS));
    assert_int_equal(begun[0], 2);
    assert_int_equal(begun[1], 1);
    assert_int_equal(begun[2], 0);
    atomic_fetch_add(&may_end[0], 1);
    assert_true(reaches(&begun[2], 1, LONG_NS));
    for (uint32_t user = 0; user < 2; user++) {
        atomic_store(&may_end[user], MANY);
        assert_true(reaches(&ended[user], MANY, LONG_NS));
    }
    drain();
}

static void long_or_slow_work(struct job *job)
{
    if (job->brief && job->arg[0] > 1)
        job_takes_long(job);
    else
        slow_work(job);
}

static const struct job_kind load = {
    "load", JOB_PATIENT | JOB_COMPILES, NULL, long_or_slow_work, NULL, NULL};

/* size: of its text; 1 is short. */
static void push_load(uint32_t user, uint64_t size)
{
    struct job *job = job_new(&session[user], &load);

    assert_non_null(job);
    job->index = user;
    job->arg[0] = size;
    job->brief = true;
    service_push(job);
}

/* However many users' long texts are compiled. */
static void a_short_text_waits_for_no_long_one(void **state)
{
    (void)state;
    for (uint32_t user = 0; user < 3; user++)
        push_load(user, 2);
    for (uint32_t user = 0; user < 3; user++)
        assert_true(reaches(&begun[user], 1, LONG_NS));
    push_load(3, 2);
    push_load(3, 1);
    assert_true(reaches(&begun[3], 1, LONG_NS));
    atomic_store(&may_end[3], 1);
    assert_true(reaches(&ended[3], 1, LONG_NS));
    assert_int_equal(ended[0] + ended[1] + ended[2], 0);
    drain();
}

/* Long or short. */
static void suspects_compile_one_at_a_time(void **state)
{
    const uint64_t until = clock_ns() + 1000 * LONG_NS;

    (void)state;
    session[0].jobs.suspect_ns = session[1].jobs.suspect_ns = until;
    push(&compile, 0, 1);
    assert_true(reaches(&begun[0], 1, LONG_NS));
    push_load(1, 1);
    push_load(3, 1);
    push(&wait_long, 1, 1);
    assert_true(reaches(&begun[3], 1, LONG_NS));
    assert_true(reaches(&begun[1], 1, LONG_NS)); /* what waits does not compile */
    atomic_store(&may_end[0], 1);
    assert_true(reaches(&begun[1], 2, LONG_NS));
    drain();
    session[0].jobs.suspect_ns = session[1].jobs.suspect_ns = 0;
}

static void who_is_no_suspect_any_more_waits_for_no_other(void **state)
{
    const uint64_t until = clock_ns() + BRIEF_NS;

    (void)state;
    session[0].jobs.suspect_ns = session[1].jobs.suspect_ns = until;
    push(&compile, 0, 1);
    assert_true(reaches(&begun[0], 1, LONG_NS));
    push(&compile, 1, 1);
    assert_true(reaches(&begun[1], 1, LONG_NS));
    assert_true(clock_ns() >= until);
    drain();
    session[0].jobs.suspect_ns = session[1].jobs.suspect_ns = 0;
}

/* Its compilation is not made (job.h). */
static void a_session_that_closes_waits_for_no_compilation(void **state)
{
    static struct job waiting; /* of which only the fact counts */

    (void)state;
    push(&compile, 0, 2);
    push(&compile, 1, 1);
    assert_true(reaches(&begun[0], 2, LONG_NS) && reaches(&begun[1], 1, LONG_NS));
    push(&compile, 2, 1);
    session[2].jobs.current = &waiting;
    service_closing(&session[2]);
    atomic_store(&may_end[2], 1);
    assert_true(reaches(&ended[2], 1, LONG_NS));
    assert_int_equal(ended[0] + ended[1], 0);
    drain();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_users_jobs_that_wait_hold_up_no_other_user),
        cmocka_unit_test(nor_do_allocations),
        cmocka_unit_test(nor_do_sessions_that_close),
        cmocka_unit_test(what_waits_for_its_own_user_goes_on),
        cmocka_unit_test(who_has_the_fewest_threads_is_next),
        cmocka_unit_test(compilations_hold_up_neither_other_jobs_nor_another_users),
        cmocka_unit_test(who_was_served_longest_ago_is_next),
        cmocka_unit_test(a_short_text_waits_for_no_long_one),
        cmocka_unit_test(suspects_compile_one_at_a_time),
        cmocka_unit_test(who_is_no_suspect_any_more_waits_for_no_other),
        cmocka_unit_test(a_session_that_closes_waits_for_no_compilation),
        cmocka_unit_test(who_compiles_without_end_waits_and_nobody_else),
    };

    return cmocka_run_group_tests(tests, set, NULL);
}
