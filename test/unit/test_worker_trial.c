/*
 * test_worker_trial.c - after a loss for which nobody is blamed, the suspects run their unfinished
 * work again one after the other, each with the device to itself; who gets through is no suspect
 * any more, and nobody waits for long.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/link.h"
#include "common/log.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/session/quiet.h"
#include "worker/session/trial.h"
#include "worker/submit/stream.h"

#define SESSIONS  3u /* the last one is no suspect */
#define SECOND    UINT64_C(1000000000)
#define AGAIN     640u /* up to there a suspect's work runs again */
#define SLOT_NONE UINT32_MAX

static struct lane lane;
static struct session session[SESSIONS];
static unsigned char *segment[SESSIONS];
static int supervisor; /* its end of the link */
static uint64_t now = SECOND;

static int link_open(void **state)
{
    int pair[2];

    (void)state;
    log_init("test", "error");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0)
        return -1;
    supervisor = fcntl(pair[0], F_DUPFD, LINK_CODE_FD + 1);
    return supervisor >= 0 && dup2(pair[1], LINK_FD) == LINK_FD ? 0 : -1;
}

static int set(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        segment[i] = calloc(1, SEG_SIZE);
        session[i] =
            (struct session){.slot = i, .lane = &lane, .id = 10 + i, .segment = segment[i]};
        session[i].submit.streams[0].open = true;
        session_table_add(&session[i]);
    }
    for (uint32_t i = 0; i < SESSIONS - 1; i++) {
        session[i].submit.streams[0].again = AGAIN;
        trial_add(&session[i]);
    }
    return 0;
}

static int unset(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        trial_remove(&session[i]);
        if (session[i].phase == SESSION_LIVE)
            session_table_closing(&session[i]);
        session_table_remove(&session[i]);
        free(segment[i]);
    }
    return 0;
}

/* A session that a side lane has may have kernels on the device. */
static void kernels_run(bool run)
{
    for (uint32_t i = 0; i < SESSIONS; i++)
        session[i].elsewhere = run;
}

/* A round, a while later. */
static void polled(uint64_t ns)
{
    now += ns;
    trial_poll(now);
}

/* All that the session has to run again is complete. */
static void catches_up(uint32_t i)
{
    struct seg_complete *complete = (void *)(segment[i] + SEG_OFF_COMPLETE);

    session[i].submit.streams[0].issued = AGAIN;
    atomic_store(&complete->position[0], AGAIN);
}

/* The slot of the session that the supervisor hears to have passed; SLOT_NONE: of none. */
static uint32_t passed(void)
{
    struct link_message message;

    if (recv(supervisor, &message, sizeof(message), MSG_DONTWAIT) != sizeof(message))
        return SLOT_NONE;
    assert_int_equal(message.op, LINK_TRIED);
    return message.slot;
}

/* The only session whose work may go; SESSIONS: none's. */
static uint32_t alone(void)
{
    uint32_t found = SESSIONS;

    for (uint32_t i = 0; i < SESSIONS; i++) {
        if (trial_pauses(&session[i]))
            continue;
        assert_int_equal(found, SESSIONS);
        found = i;
    }
    return found;
}

static void all_go_on(void)
{
    assert_false(trial_any());
    for (uint32_t i = 0; i < SESSIONS; i++)
        assert_false(trial_pauses(&session[i]));
}

static void suspects_run_alone_one_after_the_other(void **state)
{
    (void)state;
    assert_int_equal(alone(), SESSIONS);
    polled(1);
    assert_int_equal(alone(), 0);
    kernels_run(true);
    polled(1);
    assert_int_equal(alone(), 0);
    catches_up(0);
    polled(1);
    assert_int_equal(alone(), SESSIONS); /* its kernels may still run: none is given another */
    assert_int_equal(passed(), SLOT_NONE);
    kernels_run(false);
    polled(1);
    assert_int_equal(passed(), 0);
    assert_int_equal(alone(), 1);
    catches_up(1);
    polled(1);
    assert_int_equal(passed(), 1);
    all_go_on();
}

static void no_trial_begins_beside_what_others_have_on_the_device(void **state)
{
    (void)state;
    kernels_run(true);
    polled(1);
    assert_int_equal(alone(), SESSIONS);
    kernels_run(false);
    polled(1);
    assert_int_equal(alone(), 0);
}

static void no_trial_begins_while_sessions_are_taken_up(void **state)
{
    (void)state;
    quiet_resuming(true);
    polled(1);
    assert_int_equal(alone(), SESSIONS);
    quiet_resuming(false);
    polled(1);
    assert_int_equal(alone(), 0);
}

static void work_that_does_not_end_alone_holds_nobody_up_for_long(void **state)
{
    (void)state;
    polled(1);
    polled(4 * SECOND);
    assert_int_equal(alone(), 0);
    polled(2 * SECOND);
    all_go_on();
    assert_int_equal(passed(), SLOT_NONE); /* each stays a suspect */
}

static void all_trials_together_take_no_longer(void **state)
{
    (void)state;
    polled(1);
    polled(4 * SECOND);
    catches_up(0);
    polled(1);
    assert_int_equal(passed(), 0);
    assert_int_equal(alone(), 1);
    polled(2 * SECOND);
    all_go_on();
    assert_int_equal(passed(), SLOT_NONE);
}

static void a_loss_later_has_all_its_time_again(void **state)
{
    (void)state;
    polled(1);
    polled(6 * SECOND);
    all_go_on();
    trial_add(&session[1]);
    polled(1);
    polled(4 * SECOND);
    assert_int_equal(alone(), 1);
}

static void who_goes_during_a_trial_makes_room_for_the_next(void **state)
{
    (void)state;
    polled(1);
    assert_int_equal(alone(), 0);
    trial_remove(&session[0]);
    polled(1);
    assert_int_equal(passed(), SLOT_NONE);
    assert_int_equal(alone(), 1);
    trial_remove(&session[1]);
    all_go_on();
}

static void who_fails_by_itself_has_not_passed(void **state)
{
    (void)state;
    polled(1);
    session[0].submit.faulted = true;
    polled(1);
    assert_int_equal(passed(), SLOT_NONE);
    assert_int_equal(alone(), 1);
}

int main(void)
{
#define TRIAL_TEST(test) cmocka_unit_test_setup_teardown(test, set, unset)
    const struct CMUnitTest tests[] = {
        TRIAL_TEST(suspects_run_alone_one_after_the_other),
        TRIAL_TEST(no_trial_begins_beside_what_others_have_on_the_device),
        TRIAL_TEST(no_trial_begins_while_sessions_are_taken_up),
        TRIAL_TEST(work_that_does_not_end_alone_holds_nobody_up_for_long),
        TRIAL_TEST(all_trials_together_take_no_longer),
        TRIAL_TEST(a_loss_later_has_all_its_time_again),
        TRIAL_TEST(who_goes_during_a_trial_makes_room_for_the_next),
        TRIAL_TEST(who_fails_by_itself_has_not_passed),
    };

    return cmocka_run_group_tests(tests, link_open, NULL);
}
