/*
 * test_worker_trimmed.c - trimmed partitions, in which best-effort work runs beside latency work,
 * when more are wanted than there can be: a session that is not polled gives its own up for one
 * that is, and finds it again.
 *
 * A latency session always has work. The device makes a partition when the test says so.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/loop/round.h"
#include "worker/sched/domain.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/session/grant.h"
#include "worker/session/polling.h"
#include "worker/submit/placement.h"

#define SM_COUNT 132u
#define RESERVED 4u /* the last SMs */
#define SESSIONS (PARTITIONS_TRIMMED + 2u)

static struct lane lane;
static struct session latency, session[SESSIONS];
static unsigned char latency_segment[SEG_OFF_SERVER];
static struct seg_client clients[SESSIONS + 1];
static struct seg_server servers[SESSIONS + 1];

/* Makes a session with two SMs of its own, and the reserved ones. */
static void session_make(uint32_t i)
{
    session[i] = (struct session){
        .slot = i, .lane = &lane, .client = &clients[i], .server_page = &servers[i]};
    sm_mask_set(&session[i].grant.mask, 2 * i);
    sm_mask_set(&session[i].grant.mask, 2 * i + 1);
    for (uint32_t sm = SM_COUNT - RESERVED; sm < SM_COUNT; sm++)
        sm_mask_set(&session[i].grant.mask, sm);
    domain_join(&session[i]);
    session_table_add(&session[i]);
    session_poll_begin(&session[i]);
}

static int set(void **state)
{
    struct sm_mask reserved = {{0}};

    (void)state;
    for (uint32_t sm = SM_COUNT - RESERVED; sm < SM_COUNT; sm++)
        sm_mask_set(&reserved, sm);
    worker_begin()->info.sm_count = SM_COUNT;
    memcpy(worker_begin()->policy.headroom_mask[0], reserved.word, sizeof(reserved.word));
    worker_begin()->policy_count = 1;
    lane.now = UINT64_C(1000000000);
    for (uint32_t i = 0; i < SESSIONS; i++)
        session_make(i);
    latency = (struct session){.slot = SESSIONS,
                               .lane = &lane,
                               .segment = latency_segment,
                               .client = &clients[SESSIONS],
                               .server_page = &servers[SESSIONS],
                               .sched.entity.cls = GS_CLASS_LATENCY,
                               .inflight.busy = 1,
                               .submit.streams[0].issued = 1};
    domain_join(&latency);
    session_table_add(&latency);
    session_poll_begin(&latency);
    round_look(&lane);
    round_serve(&lane);
    round_look(&lane);
    round_serve(&lane);
    return headroom_now(&lane.headroom) == HEADROOM_FULL ? 0 : -1;
}

static int unset(void **state)
{
    (void)state;
    headroom_remove(&lane.headroom, &latency.sched.headroom);
    session_poll_stop(&latency);
    session_table_closing(&latency);
    session_table_remove(&latency);
    for (uint32_t i = 0; i < SESSIONS; i++) {
        grant_deinit(&session[i]);
        session_poll_stop(&session[i]);
        session_table_closing(&session[i]);
        session_table_remove(&session[i]);
    }
    return 0;
}

/* Where a launch of the session runs; a partition that it needs is made at once. NULL: anywhere in
 * its grant. */
static struct partition *place(uint32_t i)
{
    struct partition *now = placement_of(&session[i], GS_CLASS_BEST_EFFORT);

    if (!now && session[i].placement.trimmed[HEADROOM_FULL - HEADROOM_PARTIAL].partition)
        session[i].placement.trimmed[HEADROOM_FULL - HEADROOM_PARTIAL].partition->state =
            PARTITION_READY;
    return now ? now : placement_of(&session[i], GS_CLASS_BEST_EFFORT);
}

/* Takes all trimmed partitions that there can be. */
static void places_take(void)
{
    for (uint32_t i = 0; i < PARTITIONS_TRIMMED; i++)
        assert_non_null(place(i));
}

static void who_is_polled_keeps_its_place(void **state)
{
    (void)state;
    places_take();
    assert_null(place(PARTITIONS_TRIMMED));
    for (uint32_t i = 0; i < PARTITIONS_TRIMMED; i++)
        assert_non_null(session[i].placement.trimmed[HEADROOM_FULL - HEADROOM_PARTIAL].partition);
}

static void who_is_not_polled_gives_way(void **state)
{
    (void)state;
    places_take();
    session_poll_end(&session[3]);
    const struct partition *others =
        session[4].placement.trimmed[HEADROOM_FULL - HEADROOM_PARTIAL].partition;
    struct partition *found = place(PARTITIONS_TRIMMED);
    assert_non_null(found);
    assert_int_equal(found->sm_count, 2);
    assert_true(sm_mask_has(&found->mask, 2 * PARTITIONS_TRIMMED));
    assert_ptr_equal(place(4), others);
    /* There is room for no other, and no session that could give way, so this one has none. */
    session_poll_begin(&session[3]);
    assert_null(place(3));
    assert_null(place(PARTITIONS_TRIMMED + 1));
}

/* Nothing is made anew, however often two sessions alternate in one partition. */
static void who_gave_way_finds_its_place_again(void **state)
{
    (void)state;
    places_take();
    struct partition *one = place(0), *other;
    session_poll_end(&session[0]);
    other = place(PARTITIONS_TRIMMED);
    assert_non_null(other);
    for (uint32_t n = 0; n < 100; n++) {
        session_poll_end(&session[PARTITIONS_TRIMMED]);
        session_poll_begin(&session[0]);
        assert_ptr_equal(placement_of(&session[0], GS_CLASS_BEST_EFFORT), one);
        session_poll_end(&session[0]);
        session_poll_begin(&session[PARTITIONS_TRIMMED]);
        assert_ptr_equal(placement_of(&session[PARTITIONS_TRIMMED], GS_CLASS_BEST_EFFORT), other);
    }
}

/* Falling asleep alone costs nothing. */
static void nobody_gives_way_while_there_is_room(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PARTITIONS_TRIMMED; i++) {
        struct partition *own = place(i);
        assert_non_null(own);
        session_poll_end(&session[i]);
        assert_ptr_equal(session[i].placement.trimmed[HEADROOM_FULL - HEADROOM_PARTIAL].partition,
                         own);
    }
}

/* All sessions are idle, and they are more than there can be trimmed partitions. */
static void places_are_made_ahead_as_long_as_there_is_room(void **state)
{
    uint32_t made = 0;

    (void)state;
    latency.grant.link.cls = GS_CLASS_LATENCY;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        session[i].grant.link.cls = GS_CLASS_BEST_EFFORT;
        session_poll_end(&session[i]);
    }
    for (uint32_t round = 0; round < 2; round++) { /* and no session gives way */
        placements_prepare();
        made = 0;
        for (uint32_t i = 0; i < SESSIONS; i++)
            made +=
                session[i].placement.trimmed[HEADROOM_FULL - HEADROOM_PARTIAL].partition != NULL;
        assert_int_equal(made, PARTITIONS_TRIMMED);
    }
    /* a session that launches finds a partition all the same */
    session_poll_begin(&session[SESSIONS - 1]);
    assert_non_null(place(SESSIONS - 1));
}

static void without_latency_sessions_no_place_is_made(void **state)
{
    (void)state;
    latency.grant.link.cls = GS_CLASS_NORMAL;
    for (uint32_t i = 0; i < SESSIONS; i++)
        session[i].grant.link.cls = GS_CLASS_BEST_EFFORT;
    placements_prepare();
    for (uint32_t i = 0; i < SESSIONS; i++)
        assert_null(session[i].placement.trimmed[HEADROOM_FULL - HEADROOM_PARTIAL].partition);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(who_is_polled_keeps_its_place, set, unset),
        cmocka_unit_test_setup_teardown(who_is_not_polled_gives_way, set, unset),
        cmocka_unit_test_setup_teardown(who_gave_way_finds_its_place_again, set, unset),
        cmocka_unit_test_setup_teardown(nobody_gives_way_while_there_is_room, set, unset),
        cmocka_unit_test_setup_teardown(places_are_made_ahead_as_long_as_there_is_room, set, unset),
        cmocka_unit_test_setup_teardown(without_latency_sessions_no_place_is_made, set, unset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
