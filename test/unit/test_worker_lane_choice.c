/*
 * test_worker_lane_choice.c - which lane gets the next session, by the sessions that the lanes
 * have; and which sessions a lane beside the main one may have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/loop/lane_choice.h"
#include "worker/sched/lane.h"

#define SIDES    (LANES_MAX - 1)
#define FEW_CPUS 8u /* too few for a lane each */
#define SHARED   2u /* tenants of a lane then */

/* ---- Which lane ------------------------------------------------------------------------------ */

struct choice {
    uint32_t count;
    uint32_t members[SIDES];
    uint32_t active; /* of the main lane */
    uint32_t lane;
};

static void expect_choices(const struct choice *choices, size_t count, uint32_t cpus)
{
    for (size_t i = 0; i < count; i++) {
        const uint32_t lane =
            lane_choose(choices[i].members, choices[i].count, choices[i].active, cpus);
        if (lane != choices[i].lane)
            fail_msg("choice %zu: lane %d, not %d", i, (int)lane, (int)choices[i].lane);
    }
}

static void a_lane_is_filled_before_the_next_one_gets_a_session(void **state)
{
    static const struct choice choices[] = {
        {3, {0, 0, 0}, 20, 0}, {3, {1, 0, 0}, 20, 0}, {3, {2, 0, 0}, 20, 1}, {3, {2, 1, 0}, 20, 1},
        {3, {2, 2, 0}, 20, 2}, {3, {2, 2, 1}, 20, 2}, {3, {0, 0, 1}, 20, 2}, {3, {0, 1, 1}, 20, 1},
        {3, {3, 0, 0}, 20, 1}, {3, {5, 4, 1}, 20, 2}, {1, {1}, 20, 0},
    };

    (void)state;
    expect_choices(choices, ARRAY_SIZE(choices), FEW_CPUS);
}

static void of_full_lanes_the_one_with_the_fewest_gets_it(void **state)
{
    static const struct choice choices[] = {
        {3, {2, 2, 2}, 20, 0}, {3, {3, 2, 2}, 20, 1}, {3, {3, 3, 2}, 20, 2}, {3, {3, 3, 3}, 20, 0},
        {3, {9, 4, 7}, 20, 1}, {2, {5, 4}, 20, 1},    {1, {7}, 20, 0},
    };

    (void)state;
    expect_choices(choices, ARRAY_SIZE(choices), FEW_CPUS);
}

/* A lane that is not full takes one whatever the main lane has. */
static void full_lanes_get_none_where_the_main_lane_has_no_more_than_they_would(void **state)
{
    static const struct choice choices[] = {
        {2, {2, 2}, 2, LANE_NONE}, {2, {2, 2}, 3, LANE_NONE}, {2, {2, 2}, 4, 0},
        {2, {3, 2}, 3, LANE_NONE}, {2, {3, 2}, 4, 1},         {2, {3, 3}, 4, LANE_NONE},
        {2, {3, 3}, 5, 0},         {1, {9}, 10, LANE_NONE},   {1, {9}, 11, 0},
        {2, {2, 1}, 3, 1},         {2, {2, 0}, 3, 1},
    };

    (void)state;
    expect_choices(choices, ARRAY_SIZE(choices), FEW_CPUS);
}

static void without_lanes_the_main_lane_keeps_all(void **state)
{
    (void)state;
    assert_int_equal(lane_choose(NULL, 0, 100, 1000), LANE_NONE);
}

/* Gives one session after the other, as long as one is to be given. */
static void many_sessions_are_spread_evenly_and_the_giving_ends(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= SIDES; count++) {
        for (uint32_t sessions = 0; sessions <= 256; sessions++) {
            uint32_t members[SIDES] = {0}, active = sessions, lane, most = 0, least = UINT32_MAX;

            while ((lane = lane_choose(members, count, active, FEW_CPUS)) != LANE_NONE) {
                assert_true(lane < count);
                members[lane]++;
                active--;
            }
            for (uint32_t i = 0; i < count; i++) {
                most = members[i] > most ? members[i] : most;
                least = members[i] < least ? members[i] : least;
            }
            assert_true(most <= SHARED || most - least <= 1);
            assert_true(most <= SHARED || least >= SHARED);
            assert_true(active <= SHARED || active <= least + 1);
            assert_true(active >= most || most <= SHARED);
        }
    }
}

static void tenants_have_a_lane_each_while_all_threads_have_a_processor(void **state)
{
    static const struct choice each[] = {
        {7, {0}, 2, LANE_NONE},
        {7, {0}, 3, 0},
        {7, {1}, 2, 1},
        {7, {1, 1}, 1, LANE_NONE},
        {7, {1, 1, 1, 1, 1}, 2, 5},
        /* the eighth tenant */
        {7, {1, 1, 1, 1, 1, 1}, 2, LANE_NONE},
        {7, {0}, 8, 0},
        {7, {1}, 7, 0},
        {7, {2}, 6, 1},
    };
    static const struct choice fewer_lanes[] = {
        {3, {1, 1, 1}, 2, LANE_NONE},
        {3, {1, 1, 1}, 3, 0},
        {3, {2, 1, 1}, 2, LANE_NONE},
    };

    (void)state;
    expect_choices(each, ARRAY_SIZE(each), 16);
    expect_choices(fewer_lanes, ARRAY_SIZE(fewer_lanes), 64);
}

/* Were a silent session returned while others keep the lane awake, the main lane would serve most
 * of many tenants alone: each is silent while others have its processor. */
static void a_silent_session_stays_for_longer_where_others_are_active(void **state)
{
    struct lane side = {.index = 1};

    (void)state;
    assert_true(lane_keeps(&side, 4999999));
    assert_false(lane_keeps(&side, 5000000));
    side.active_lately = 1;
    assert_true(lane_keeps(&side, 49999999));
    assert_false(lane_keeps(&side, 50000000));
}

/* Whatever else it does: the main lane ends kernels that run for too long. */
static void a_session_whose_kernel_runs_on_is_returned(void **state)
{
    struct lane side = {.index = 1, .now = 1000000000};
    struct session session = {.lane = &side, .inflight.by_word_ns = 900000000};

    (void)state;
    assert_false(session_runs_on(&session));
    session.inflight.by_word = 1;
    assert_true(session_runs_on(&session));
    session.inflight.by_word_ns = side.now - 50000;
    assert_false(session_runs_on(&session));
}

/* ---- Which session --------------------------------------------------------------------------- */

static _Alignas(64) unsigned char segment[SEG_OFF_RINGS];

static struct session *light_session(void)
{
    static struct lane main = {.now = 1000000000};
    static struct session session;

    memset(segment, 0, sizeof(segment));
    session = (struct session){.lane = &main,
                               .segment = segment,
                               .submit.light = LIGHT_LEAST,
                               .poll.suspect_ns = main.now,
                               .sched.entity = {.cls = GS_CLASS_NORMAL}};
    return &session;
}

static void a_session_of_short_small_launches_may_go(void **state)
{
    (void)state;
    assert_true(session_light(light_session()));
}

static void each_of_these_alone_keeps_a_session_with_the_main_lane(void **state)
{
    static unsigned char thing;
    struct session *s;

    (void)state;
#define expect_kept(change)                                                                        \
    do {                                                                                           \
        s = light_session();                                                                       \
        change;                                                                                    \
        assert_false(session_light(s));                                                            \
    } while (0)

    expect_kept(s->submit.light = LIGHT_LEAST - 1);
    expect_kept(s->phase = SESSION_CLOSING);
    expect_kept(s->sched.entity.cls = GS_CLASS_LATENCY);
    expect_kept(s->sched.entity.cls = GS_CLASS_BEST_EFFORT);
    expect_kept(s->grant.partition = (struct partition *)&thing);
    expect_kept(s->grant.link.deadline_ns = 1);
    expect_kept(s->jobs.current = (struct job *)&thing);
    expect_kept(s->jobs.close = (struct job *)&thing);
    expect_kept(s->jobs.paused = true);
    expect_kept(s->submit.faulted = true);
    expect_kept(s->inflight.awaiting_fence = 1);
    expect_kept(s->submit.reports_open = 1);
    expect_kept(s->sched.entity.waiting = true);
    expect_kept(s->round.pending = UINT64_C(1) << SEG_REQUEST_BIT);
    expect_kept(s->poll.suspect_ns++);
    /* The device has work of its stream 5. */
    expect_kept((s->inflight.busy = 1u << 5, s->submit.streams[5].issued = 64));
}

/* Records of its streams may wait: the lane takes them. */
static void records_that_wait_do_not_keep_it(void **state)
{
    struct session *session = light_session();

    (void)state;
    session->round.pending = UINT64_C(1) << 3 | 1;
    assert_true(session_light(session));
}

/* It was busy, and the completion word says that all is done. */
static void work_that_has_ended_does_not_keep_it(void **state)
{
    struct session *session = light_session();
    struct seg_complete *complete = (void *)(segment + SEG_OFF_COMPLETE);

    (void)state;
    session->inflight.busy = 1u << 5;
    session->submit.streams[5].issued = 64;
    atomic_store(&complete->position[5], 64);
    assert_true(session_light(session));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lane_is_filled_before_the_next_one_gets_a_session),
        cmocka_unit_test(of_full_lanes_the_one_with_the_fewest_gets_it),
        cmocka_unit_test(full_lanes_get_none_where_the_main_lane_has_no_more_than_they_would),
        cmocka_unit_test(without_lanes_the_main_lane_keeps_all),
        cmocka_unit_test(tenants_have_a_lane_each_while_all_threads_have_a_processor),
        cmocka_unit_test(a_silent_session_stays_for_longer_where_others_are_active),
        cmocka_unit_test(a_session_whose_kernel_runs_on_is_returned),
        cmocka_unit_test(many_sessions_are_spread_evenly_and_the_giving_ends),
        cmocka_unit_test(a_session_of_short_small_launches_may_go),
        cmocka_unit_test(each_of_these_alone_keeps_a_session_with_the_main_lane),
        cmocka_unit_test(records_that_wait_do_not_keep_it),
        cmocka_unit_test(work_that_has_ended_does_not_keep_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
