/*
 * test_server_loop.c - the supervisor's loop stays awake for an answer that is expected, but not
 * for ever, and serves everything else meanwhile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/cpus.h"
#include "common/util.h"
#include "server/base/loop.h"

#define RUN_NS 200000000u /* a run of the loop */

static bool spare;

bool cpus_to_spare(void)
{
    return spare;
}

static struct loop loop;
static struct timer end;
static bool ended;
static unsigned events_seen;

static void end_fire(struct timer *timer)
{
    (void)timer;
    ended = true;
}

static void event_ready(struct watch *watch, uint32_t events)
{
    uint64_t count;

    (void)events;
    assert_int_equal(read(watch->fd, &count, sizeof(count)), sizeof(count));
    events_seen++;
}

/* Processor time of this thread in a run, which nothing but what was set up before disturbs. */
static uint64_t run(void)
{
    struct timespec before, after;

    timer_set(&loop, &end, clock_ns() + RUN_NS, end_fire);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before);
    for (ended = false; !ended;)
        assert_int_equal(loop_round(&loop), 0);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after);
    return (uint64_t)(after.tv_sec - before.tv_sec) * 1000000000u + (uint64_t)after.tv_nsec -
           (uint64_t)before.tv_nsec;
}

/* More processor time than a few milliseconds would be a loop that does not sleep. */
static void an_answer_that_does_not_come_is_waited_for_awake_only_a_moment(void **state)
{
    (void)state;
    spare = true;
    assert_int_equal(loop_init(&loop), 0);
    for (int i = 0; i < 1000; i++)
        loop_expect(&loop);
    assert_true(run() < RUN_NS / 4);
    loop_deinit(&loop);
}

static void events_are_served_while_it_waits_awake(void **state)
{
    struct watch watch = {NULL, -1};
    int fd = eventfd(1, EFD_NONBLOCK | EFD_CLOEXEC);

    (void)state;
    spare = true;
    events_seen = 0;
    assert_true(fd >= 0);
    assert_int_equal(loop_init(&loop), 0);
    assert_int_equal(watch_add(&loop, &watch, fd, EPOLLIN, event_ready), 0);
    loop_expect(&loop);
    run();
    assert_int_equal(events_seen, 1);
    watch_remove(&loop, &watch);
    loop_deinit(&loop);
    close(fd);
}

static void answers_that_nobody_expects_do_no_harm(void **state)
{
    (void)state;
    for (int with = 0; with < 2; with++) {
        spare = with;
        assert_int_equal(loop_init(&loop), 0);
        loop_expected(&loop);
        loop_expect(&loop);
        loop_expected(&loop);
        loop_expected(&loop);
        assert_true(run() < RUN_NS / 4);
        loop_deinit(&loop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_answer_that_does_not_come_is_waited_for_awake_only_a_moment),
        cmocka_unit_test(events_are_served_while_it_waits_awake),
        cmocka_unit_test(answers_that_nobody_expects_do_no_harm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
