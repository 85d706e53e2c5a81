/*
 * test_worker_headroom.c - the latency headroom that best-effort work leaves, against a clock that
 * is a number: requests that come by the clock are expected, others are not, and what that costs.
 *
 * Sessions send requests at given times. Beside them best effort always has 1.2 ms ahead, as two
 * kernels of 600 us are. Time passes in steps, as in a lane's rounds.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/sched/headroom.h"

#define SESSIONS_MAX 4
#define STEP_NS      UINT64_C(10000)
#define MS           UINT64_C(1000000)
#define SECOND       UINT64_C(1000000000)
#define AHEAD_NS     UINT64_C(1200000)

struct sender {
    struct headroom_entity entity;
    uint64_t next, end; /* of a request; end: of the request under way, 0: none */
    uint64_t length;
    /* When the request after the one that has just begun is to begin; 0: never. */
    uint64_t (*after)(struct sender *sender, uint64_t now);
    uint64_t period, jitter, count;
    uint64_t clear_since; /* since when all of the headroom is kept free; 0: it is not */
};

static struct play {
    struct headroom headroom;
    struct sender sender[SESSIONS_MAX];
    unsigned count;
    uint64_t now, dice;
    uint64_t spent[3]; /* by headroom_level */
    /* met: requests at which nothing that was ahead could still be there */
    unsigned requests, met;
    unsigned few;             /* requests at which at least a few SMs were free long enough */
    uint64_t clear[3], ahead; /* since when at least so much is kept; 0: it is not */
} play;

static void play_reset(unsigned count, uint64_t (*after)(struct sender *, uint64_t),
                       uint64_t period, uint64_t jitter)
{
    memset(&play, 0, sizeof(play));
    play.count = count;
    play.now = SECOND;
    play.dice = 88172645463325252u;
    play.ahead = AHEAD_NS;
    for (unsigned i = 0; i < count; i++)
        play.sender[i] = (struct sender){.next = play.now + (i + 1) * MS,
                                         .length = 50000,
                                         .after = after,
                                         .period = period,
                                         .jitter = jitter};
}

/* A number from 0 to 1; the numbers are the same each time. */
static double dice(void)
{
    play.dice ^= play.dice << 13;
    play.dice ^= play.dice >> 7;
    play.dice ^= play.dice << 17;
    return (double)(play.dice >> 11) / 9007199254740992.0;
}

/* A sender that goes by the clock: each start strays by itself. */
static uint64_t by_the_clock(struct sender *sender, uint64_t now)
{
    (void)now;
    sender->count++;
    return SECOND + MS + sender->count * sender->period +
           (uint64_t)(dice() * (double)sender->jitter);
}

/* A sender that sleeps after each request: the clock itself strays. */
static uint64_t by_sleeping(struct sender *sender, uint64_t now)
{
    return now + sender->period + (uint64_t)(dice() * (double)sender->jitter);
}

static uint64_t at_random(struct sender *sender, uint64_t now)
{
    return now + (uint64_t)(-log(1 - dice()) * (double)sender->period) + sender->length;
}

/* Ten requests, each 500 us after the one before, and a pause that nobody can foresee. */
static uint64_t in_bursts(struct sender *sender, uint64_t now)
{
    sender->count++;
    return now + (sender->count % 10 ? 500000 : (uint64_t)(dice() * 200.0 * (double)MS) + 5 * MS);
}

static void request_begins(void)
{
    play.requests++;
    play.met += play.clear[HEADROOM_FULL] && play.now >= play.clear[HEADROOM_FULL] + play.ahead;
    play.few +=
        play.clear[HEADROOM_PARTIAL] && play.now >= play.clear[HEADROOM_PARTIAL] + play.ahead;
}

static void sender_turn(struct sender *sender)
{
    if (sender->end && play.now >= sender->end)
        sender->end = 0;
    if (sender->next && play.now >= sender->next) {
        if (!sender->end)
            request_begins();
        sender->end = play.now + sender->length;
        sender->next = sender->after(sender, play.now);
    }
    headroom_note(&play.headroom, &sender->entity, sender->end != 0, play.now);
}

static void play_for(uint64_t ns)
{
    for (uint64_t until = play.now + ns; play.now < until; play.now += STEP_NS) {
        headroom_update(&play.headroom, play.now);
        for (unsigned i = 0; i < play.count; i++)
            sender_turn(&play.sender[i]);
        headroom_ahead(&play.headroom, play.ahead, play.now);
        enum headroom_level current = play.headroom.level;
        play.spent[current] += STEP_NS;
        for (unsigned level = HEADROOM_PARTIAL; level <= HEADROOM_FULL; level++) {
            if (current < level)
                play.clear[level] = 0;
            else if (!play.clear[level])
                play.clear[level] = play.now;
        }
    }
}

/* Counts from now on. */
static void count_anew(void)
{
    memset(play.spent, 0, sizeof(play.spent));
    play.requests = play.met = play.few = 0;
}

static double share(enum headroom_level current)
{
    return (double)play.spent[current] / (double)(play.spent[0] + play.spent[1] + play.spent[2]);
}

/* The part of the neighbour's time that is lost, with 16 and 4 SMs of 132. */
static double cost(void)
{
    return share(HEADROOM_FULL) * 0.12 + share(HEADROOM_PARTIAL) * 0.03;
}

static void requests_by_the_clock_are_expected(void **state)
{
    (void)state;
    for (unsigned sleeping = 0; sleeping < 2; sleeping++) {
        for (uint64_t jitter = 0; jitter <= 200000; jitter += 100000) {
            play_reset(1, sleeping ? by_sleeping : by_the_clock, 10 * MS, jitter);
            play_for(SECOND);
            count_anew();
            play_for(10 * SECOND);
            assert_in_range(play.requests, 970, 1010);
            assert_true(play.met >= play.requests * 99 / 100);
            assert_true(cost() < 0.03);
            assert_true(share(HEADROOM_NONE) > 0.75);
        }
    }
}

static void requests_at_random_always_find_partial_headroom(void **state)
{
    (void)state;
    play_reset(1, at_random, 10 * MS, 0);
    play_for(SECOND);
    count_anew();
    play_for(20 * SECOND);
    assert_true(play.requests > 1500);
    assert_true(play.few >= play.requests * 99 / 100);
    assert_true(share(HEADROOM_NONE) < 0.01);
    assert_true(cost() < 0.045);
}

static void an_arrival_is_one_request(void **state)
{
    (void)state;
    play_reset(1, in_bursts, 0, 0);
    play_for(SECOND);
    count_anew();
    play_for(10 * SECOND);
    /* From the fourth request on, all that was on the device when the first came has ended. */
    assert_true(play.met >= play.requests * 68 / 100);
    assert_true(play.few >= play.requests * 99 / 100);
}

static void requests_that_follow_closely_keep_all(void **state)
{
    (void)state;
    play_reset(1, by_sleeping, MS, 200000);
    play_for(SECOND / 10);
    count_anew();
    play_for(SECOND);
    assert_int_equal(play.spent[HEADROOM_FULL], SECOND);
}

static void who_stops_is_forgotten(void **state)
{
    (void)state;
    play_reset(1, by_the_clock, 10 * MS, 50000);
    play_for(SECOND);
    play.sender[0].next = 0;
    count_anew();
    play_for(20 * MS);
    /* The next request is expected once, and not again. */
    assert_in_range(play.spent[HEADROOM_FULL], 0, 5 * MS);
    assert_int_equal(play.headroom.level, HEADROOM_PARTIAL);
    count_anew();
    play_for(970 * MS);
    assert_int_equal(play.spent[HEADROOM_PARTIAL], 970 * MS);
    play_for(100 * MS);
    assert_int_equal(play.headroom.level, HEADROOM_NONE);
    assert_null(play.headroom.first);
    /* A sender that comes again is not expected before its requests have been seen some times. */
    play.now += 5 * SECOND;
    play.sender[0].after = by_sleeping;
    play.sender[0].next = play.now;
    play_for(5 * MS);
    assert_int_equal(play.headroom.level, HEADROOM_PARTIAL);
    count_anew();
    play_for(300 * MS);
    count_anew();
    play_for(SECOND);
    assert_true(share(HEADROOM_NONE) > 0.75);
}

static void one_that_does_not_come_costs_its_evidence(void **state)
{
    (void)state;
    play_reset(1, by_the_clock, 10 * MS, 0);
    play_for(SECOND);
    assert_true(play.sender[0].entity.met >= HEADROOM_MET);
    play.sender[0].count += 3; /* three are left out */
    play_for(25 * MS);
    assert_true(play.sender[0].entity.met < HEADROOM_MET);
    assert_int_equal(play.headroom.level, HEADROOM_PARTIAL);
    play_for(500 * MS);
    count_anew();
    play_for(SECOND);
    assert_true(play.met >= play.requests * 99 / 100);
}

static void long_kernels_ahead_make_it_partial(void **state)
{
    (void)state;
    play_reset(1, by_the_clock, 10 * MS, 0);
    play.ahead = 8 * MS; /* two kernels of 4 ms: keeping off ahead of each would be always */
    play_for(SECOND);
    count_anew();
    play_for(SECOND);
    assert_true(share(HEADROOM_NONE) < 0.01);
    assert_true(share(HEADROOM_FULL) < 0.05);
    play.ahead = AHEAD_NS;
    play_for(SECOND / 2);
    count_anew();
    play_for(SECOND);
    assert_true(share(HEADROOM_NONE) > 0.75);
}

static void of_several_the_most_is_kept(void **state)
{
    (void)state;
    play_reset(3, by_the_clock, 10 * MS, 0);
    play.sender[1].after = at_random;
    play.sender[1].period = 50 * MS;
    play.sender[2].next = 0;
    play_for(SECOND);
    count_anew();
    play_for(5 * SECOND);
    /* The regular sender gets all of the headroom, and for the other's sake a few SMs are always
     * kept. */
    assert_true(share(HEADROOM_NONE) < 0.02);
    assert_true(share(HEADROOM_FULL) > 0.15 && share(HEADROOM_FULL) < 0.30);
    /* A session that goes leaves nothing behind, also while it works. */
    play.sender[1].end = play.now + SECOND;
    headroom_note(&play.headroom, &play.sender[1].entity, true, play.now);
    assert_int_equal(headroom_update(&play.headroom, play.now + 100 * MS), HEADROOM_FULL);
    headroom_remove(&play.headroom, &play.sender[1].entity);
    headroom_remove(&play.headroom, &play.sender[0].entity);
    headroom_remove(&play.headroom, &play.sender[2].entity);
    assert_null(play.headroom.first);
    assert_int_equal(headroom_update(&play.headroom, play.now), HEADROOM_NONE);
}

/* Several sessions at work want more SMs than one does: one for each block of their kernels, a
 * share at most. */
static void each_session_at_work_wants_a_share(void **state)
{
    const uint32_t wide[3] = {200, 1, 1}, sixteen[3] = {4, 2, 2}, one[3] = {1, 1, 1};
    struct headroom headroom = {.share_sms = 16};
    struct headroom_entity entity[6] = {0};

    (void)state;
    headroom_update(&headroom, SECOND);
    assert_int_equal(headroom_now(&headroom), HEADROOM_NONE);
    for (unsigned i = 0; i < 6; i++) {
        headroom_blocks(&entity[i], i % 2 ? wide : sixteen);
        headroom_note(&headroom, &entity[i], true, SECOND + i);
        for (unsigned look = 0; look < 2; look++) {
            assert_int_equal(headroom_now(&headroom),
                             i < LINK_SHARES ? HEADROOM_FULL + i : HEADROOM_LEVEL_MAX);
            headroom_note(&headroom, &entity[i], true, SECOND + i);
            headroom_update(&headroom, SECOND + i);
        }
    }
    for (unsigned i = 0; i < 6; i++)
        headroom_remove(&headroom, &entity[i]);
    for (unsigned i = 0; i < 6; i++) {
        headroom_blocks(&entity[i], one);
        headroom_note(&headroom, &entity[i], true, 2 * SECOND);
    }
    headroom_update(&headroom, 2 * SECOND);
    assert_int_equal(headroom_now(&headroom), HEADROOM_FULL); // six SMs
    headroom_blocks(&entity[5], sixteen);
    headroom_update(&headroom, 2 * SECOND);
    assert_int_equal(headroom_now(&headroom), HEADROOM_FULL + 1); // 21
    for (unsigned i = 1; i < 6; i++)
        headroom_note(&headroom, &entity[i], false, 2 * SECOND);
    headroom_update(&headroom, 2 * SECOND + HEADROOM_LINGER_NS + 1);
    assert_int_equal(headroom_now(&headroom), HEADROOM_FULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_session_at_work_wants_a_share),
        cmocka_unit_test(requests_by_the_clock_are_expected),
        cmocka_unit_test(requests_at_random_always_find_partial_headroom),
        cmocka_unit_test(an_arrival_is_one_request),
        cmocka_unit_test(requests_that_follow_closely_keep_all),
        cmocka_unit_test(who_stops_is_forgotten),
        cmocka_unit_test(one_that_does_not_come_costs_its_evidence),
        cmocka_unit_test(long_kernels_ahead_make_it_partial),
        cmocka_unit_test(of_several_the_most_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
