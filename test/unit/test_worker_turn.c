/*
 * test_worker_turn.c - suspects take turns: no two of them have kernels on the device at a time,
 * none waits for long, and sessions that are no suspects never wait.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/session/trial.h"
#include "worker/session/turn.h"

#define SESSIONS 4u /* the last one is no suspect */
#define MS       UINT64_C(1000000)
#define FOREVER  (UINT64_C(1) << 60)

static struct lane lane;
static struct session session[SESSIONS];
static unsigned char *segment[SESSIONS];

static void passes(uint64_t ns)
{
    lane.now += ns;
    turn_poll(lane.now);
}

static int set(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        segment[i] = calloc(1, SEG_SIZE);
        session[i] = (struct session){.slot = i, .lane = &lane, .segment = segment[i]};
        session_table_add(&session[i]);
        turn_add(&session[i], lane.now, i < SESSIONS - 1 ? lane.now + 30000 * MS : 0);
    }
    return 0;
}

static int unset(void **state)
{
    (void)state;
    passes(FOREVER / 1000);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        turn_remove(&session[i]);
        if (session[i].phase == SESSION_LIVE)
            session_table_closing(&session[i]);
        session_table_remove(&session[i]);
        free(segment[i]);
    }
    return 0;
}

/* The session has records to issue, or none. */
static void wants(uint32_t i, bool records)
{
    session[i].round.pending = records;
}

/* The device has kernels of the session, or none. */
static void runs(uint32_t i, bool kernels)
{
    session[i].inflight.by_word = kernels;
}

/* The only suspect whose work may go; SESSIONS: none's. */
static uint32_t whose_turn(void)
{
    uint32_t found = SESSIONS;

    assert_false(turn_pauses(&session[SESSIONS - 1]));
    for (uint32_t i = 0; i < SESSIONS - 1; i++) {
        if (turn_pauses(&session[i]))
            continue;
        assert_int_equal(found, SESSIONS);
        found = i;
    }
    return found;
}

static void a_turn_comes_with_work_and_stays_while_nobody_waits(void **state)
{
    (void)state;
    passes(MS);
    assert_int_equal(whose_turn(), SESSIONS);
    wants(1, true);
    passes(MS);
    assert_int_equal(whose_turn(), 1);
    wants(1, false);
    passes(1000 * MS);
    assert_int_equal(whose_turn(), 1);
}

static void the_next_turn_begins_when_the_devices_work_is_complete(void **state)
{
    (void)state;
    wants(0, true);
    passes(MS);
    runs(0, true);
    wants(1, true);
    passes(MS);
    assert_int_equal(whose_turn(), 0); /* it has 2 ms */
    passes(MS);
    assert_int_equal(whose_turn(), SESSIONS); /* nobody, as long as its kernels run */
    passes(900 * MS);
    assert_int_equal(whose_turn(), SESSIONS);
    runs(0, false);
    passes(MS);
    assert_int_equal(whose_turn(), 1);
}

/* Copies do, or the tenant says so. */
static void what_goes_on_without_kernels_holds_nobody_up(void **state)
{
    (void)state;
    for (uint32_t i = 1; i < SESSIONS; i++) {
        session[i].inflight.busy = 1;
        session[i].submit.streams[0].issued = 64;
    }
    wants(0, true);
    passes(MS);
    wants(1, true);
    passes(2 * MS);
    assert_int_equal(whose_turn(), 1);
    wants(2, true);
    passes(2 * MS);
    assert_int_equal(whose_turn(), 2);
}

static void who_has_no_more_work_makes_room_at_once(void **state)
{
    (void)state;
    wants(0, true);
    passes(MS);
    wants(0, false);
    wants(2, true);
    passes(1);
    assert_int_equal(whose_turn(), 2);
}

static void all_who_wait_have_their_turn(void **state)
{
    uint32_t turns[SESSIONS] = {0};

    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++)
        wants(i, true);
    for (unsigned n = 0; n < 30; n++) {
        passes(2 * MS);
        assert_true(whose_turn() < SESSIONS);
        turns[whose_turn()]++;
    }
    for (uint32_t i = 0; i < SESSIONS - 1; i++)
        assert_int_equal(turns[i], 10);
}

/* It may be a kernel that waits for another suspect's. */
static void work_without_end_holds_nobody_up_for_long(void **state)
{
    (void)state;
    wants(0, true);
    passes(MS);
    wants(0, false);
    wants(1, true);
    runs(0, true);
    passes(990 * MS);
    assert_int_equal(whose_turn(), SESSIONS);
    passes(20 * MS);
    assert_int_equal(whose_turn(), 1);
}

/* Who loses the device at the end of kernels of some seconds has it for itself, then. */
static void who_is_a_suspect_for_longer_has_longer_turns(void **state)
{
    (void)state;
    turn_add(&session[0], lane.now, lane.now + 8 * 30000 * MS);
    wants(0, true);
    passes(MS);
    wants(0, false);
    wants(1, true);
    runs(0, true);
    passes(7990 * MS);
    assert_int_equal(whose_turn(), SESSIONS);
    passes(20 * MS);
    assert_int_equal(whose_turn(), 1);
}

static void who_ran_for_long_waits_as_long(void **state)
{
    uint64_t other = 0;

    (void)state;
    wants(0, true);
    passes(MS);
    wants(1, true);
    wants(2, true);
    runs(0, true);
    for (unsigned n = 0; n < 500; n++) {
        passes(MS);
        assert_true(whose_turn() == 0 || whose_turn() == SESSIONS);
    }
    runs(0, false);
    for (; whose_turn() != 0; other++)
        passes(MS);
    assert_in_range(other, 990, 1010); // 500 of each of two
    for (unsigned n = 0; n < 5; n++)
        passes(MS);
    assert_int_not_equal(whose_turn(), 0);
}

static void who_comes_back_has_no_claim_to_what_others_had(void **state)
{
    (void)state;
    wants(0, true);
    wants(1, true);
    for (unsigned n = 0; n < 1000; n++)
        passes(MS);
    wants(2, true);
    for (unsigned n = 0; n < 10; n++)
        passes(MS);
    assert_int_not_equal(whose_turn(), 2);
}

static void a_suspect_that_is_being_closed_still_counts(void **state)
{
    (void)state;
    wants(0, true);
    passes(MS);
    runs(0, true);
    wants(1, true);
    turn_remove(&session[0]);
    session_table_closing(&session[0]);
    passes(MS);
    assert_true(turn_pauses(&session[1]));
    runs(0, false);
    passes(MS);
    assert_false(turn_pauses(&session[1]));
}

static void suspicion_ends(void **state)
{
    (void)state;
    assert_false(trial_any()); /* other sessions may stay with the side lanes */
    wants(0, true);
    passes(29000 * MS);
    assert_true(turn_pauses(&session[1]));
    passes(1001 * MS);
    for (uint32_t i = 0; i < SESSIONS; i++)
        assert_false(turn_pauses(&session[i]));
}

/* Of users that became suspects at different times. */
static void the_suspicion_of_one_ends_before_anothers(void **state)
{
    (void)state;
    turn_add(&session[1], lane.now, lane.now + 10 * MS);
    assert_true(turn_pauses(&session[1]));
    passes(11 * MS);
    assert_false(turn_pauses(&session[1]));
    assert_true(turn_pauses(&session[2]));
}

int main(void)
{
#define TURN_TEST(test) cmocka_unit_test_setup_teardown(test, set, unset)
    const struct CMUnitTest tests[] = {
        TURN_TEST(a_turn_comes_with_work_and_stays_while_nobody_waits),
        TURN_TEST(the_next_turn_begins_when_the_devices_work_is_complete),
        TURN_TEST(what_goes_on_without_kernels_holds_nobody_up),
        TURN_TEST(who_has_no_more_work_makes_room_at_once),
        TURN_TEST(all_who_wait_have_their_turn),
        TURN_TEST(work_without_end_holds_nobody_up_for_long),
        TURN_TEST(who_is_a_suspect_for_longer_has_longer_turns),
        TURN_TEST(who_ran_for_long_waits_as_long),
        TURN_TEST(who_comes_back_has_no_claim_to_what_others_had),
        TURN_TEST(a_suspect_that_is_being_closed_still_counts),
        TURN_TEST(suspicion_ends),
        TURN_TEST(the_suspicion_of_one_ends_before_anothers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
