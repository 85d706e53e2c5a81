/*
 * test_worker_round.c - how much of a session is served in a round, whatever it sends.
 *
 * Sessions send records of which the device takes any number, such as events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/fault_note.h"
#include "common/util.h"
#include "fake_round.h"
#include "worker/loop/rings.h"
#include "worker/loop/round.h"
#include "worker/memory/user.h"
#include "worker/sched/domain.h"

#define SESSIONS  4u /* but for those of a crowd */
#define CROWD     256u
/* As many as two streams have: one may have 64 records on the device. */
#define TURN_MOST 128u

static _Alignas(4096) unsigned char segment[SEG_SIZE]; /* without a record: nothing is unfinished */

static struct sender {
    struct session session; /* first: the rounds know only the session */
    struct seg_client client;
    struct seg_server server;
    uint32_t left[SEG_STREAMS];
    uint32_t taken[SEG_STREAMS];
    uint32_t in_turn; /* records taken */
    bool stalls[SEG_STREAMS];
} senders[CROWD];
static uint64_t record_ns; /* how long the driver takes for a record */

uint32_t stream_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                      enum drained *drained)
{
    struct sender *sender = (struct sender *)(void *)session;

    if (session->submit.faulted) {
        *drained = DRAINED_ALL;
        return 0;
    }
    if (sender->stalls[index]) {
        *drained = DRAINED_STALLED;
        return 0;
    }
    uint32_t taken = sender->left[index] < allowance.launches ? sender->left[index]
                                                              : (uint32_t)allowance.launches;

    sender->left[index] -= taken;
    sender->taken[index] += taken;
    sender->in_turn += taken;
    now += taken * record_ns;
    *drained = sender->left[index] ? DRAINED_SOME : DRAINED_ALL;
    return taken;
}

static int set(void **state)
{
    (void)state;
    now = UINT64_C(1000000000);
    worker_begin()->info.sm_count = 16;
    domains_init();
    memset(senders, 0, sizeof(senders));
    record_ns = 0;
    lane.polled_count = SESSIONS;
    for (uint32_t i = 0; i < CROWD; i++) {
        struct session *session = &senders[i].session;
        session->slot = i;
        session->lane = &lane;
        session->segment = segment;
        session->client = &senders[i].client;
        session->server_page = &senders[i].server;
        session->sched.polled = true;
        lane.polled[i] = session;
        domain_join(session);
        domains_add(session);
    }
    return 0;
}

static int unset(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < CROWD; i++)
        domains_remove(&senders[i].session);
    return 0;
}

static void send(struct sender *sender, uint32_t stream, uint32_t records)
{
    sender->left[stream] += records;
    sender->session.round.pending |= UINT64_C(1) << stream;
}

/* As its client does. */
static void announce(struct sender *sender, uint32_t stream)
{
    sender->left[stream]++;
    atomic_fetch_or(&sender->client.activity, UINT64_C(1) << stream);
}

static void one_round(void)
{
    for (uint32_t i = 0; i < CROWD; i++)
        senders[i].in_turn = 0;
    lane.now = now += 1000;
    round_look(&lane);
    round_serve(&lane);
}

static void a_session_has_so_many_records_a_round_over_all_its_streams(void **state)
{
    (void)state;
    for (uint32_t stream = 0; stream < SEG_STREAMS; stream++)
        send(&senders[0], stream, 1000000);
    for (uint32_t n = 0; n < 10; n++) {
        send(&senders[1], 0, 1);
        one_round();
        assert_in_range(senders[0].in_turn, 1, TURN_MOST);
        assert_true(lane.stay_awake); /* the session has more, and nothing to wait for */
        assert_int_equal(senders[1].in_turn, 1);
    }
}

/* What may still run of a session whose kernels had no fence is known before others have work. */
static void the_driver_is_asked_of_kernels_without_a_fence_before_another_s_work(void **state)
{
    (void)state;
    driver_asked = 0;
    lane.inflight_lane.by_word = &senders[2].session;
    senders[2].session.inflight.by_word = 1;
    senders[2].session.inflight.awaiting_fence = 1; /* it runs */
    send(&senders[2], 0, 1);
    one_round();
    assert_int_equal(driver_asked, 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_ptr_equal(lane.inflight_lane.by_word, &senders[2].session);
        driver_asked = 0;
        send(&senders[1], 0, 1);
        one_round();
        assert_int_equal(driver_asked, 1u << 2);
        senders[2].session.inflight.awaiting_fence = 0;
    }
    assert_null(lane.inflight_lane.by_word);
}

/* What side lanes are for: the main lane's rounds are long because of its many sessions. */
static void who_has_something_new_is_active_however_long_the_round_before_was(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 10; n++) {
        for (uint32_t i = 0; i < 3; i++)
            announce(&senders[i], 0);
        now += 10 * LANE_LATELY_NS;
        one_round();
        assert_int_equal(lane.active_lately, 3);
        assert_int_equal(lane.active_now, 3);
    }
}

/* The same holds where others wait for the device too, and one session after the other is
 * served. */
static void so_it_has_where_several_wait(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        for (uint32_t stream = 0; stream < SEG_STREAMS; stream++)
            send(&senders[i], stream, 1000000);
        sched_wait(domain_of(&senders[i].session), &senders[i].session.sched.entity, now);
    }
    assert_true(sched_contended(domain_at(0)));
    for (uint32_t n = 0; n < 10; n++) {
        one_round();
        for (uint32_t i = 0; i < 2; i++)
            assert_in_range(senders[i].in_turn, 1, TURN_MOST);
        assert_true(lane.stay_awake);
    }
}

static void no_stream_starves_behind_others_of_its_session(void **state)
{
    uint32_t least = UINT32_MAX, most = 0;

    (void)state;
    for (uint32_t stream = 0; stream < SEG_STREAMS; stream++)
        send(&senders[0], stream, 1000000);
    for (uint32_t n = 0; n < 2 * SEG_STREAMS; n++)
        one_round();
    for (uint32_t stream = 0; stream < SEG_STREAMS; stream++) {
        uint32_t taken = senders[0].taken[stream];
        least = taken < least ? taken : least;
        most = taken > most ? taken : most;
    }
    assert_true(least > 0);
    assert_true(most - least <= TURN_MOST);
}

/* Records that wait for the next round only for their number keep no other session waiting. */
static void what_is_left_of_a_round_is_not_held_back(void **state)
{
    (void)state;
    for (uint32_t stream = 0; stream < 10; stream++)
        send(&senders[0], stream, 20);
    one_round();
    assert_int_equal(senders[0].in_turn, TURN_MOST);
    assert_false(senders[0].session.sched.entity.waiting);
    one_round();
    assert_int_equal(senders[0].in_turn, 10 * 20 - TURN_MOST);
    assert_false(senders[0].session.sched.entity.waiting);
    assert_true(senders[0].session.round.pending == 0);
    /* The same holds when there is no more than what a round takes. */
    for (uint32_t stream = 0; stream < 4; stream++)
        send(&senders[0], stream, TURN_MOST / 4);
    sched_wait(domain_at(0), &senders[0].session.sched.entity, now);
    one_round();
    assert_int_equal(senders[0].in_turn, TURN_MOST);
    assert_false(senders[0].session.sched.entity.waiting);
}

/* Several tenants send requests at a time: all begin before any goes on. */
static void in_a_crowd_requests_begin_side_by_side(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SESSIONS; i++) {
        senders[i].session.sched.entity.cls = GS_CLASS_LATENCY;
        send(&senders[i], 0, 1);
    }
    one_round(); /* their activity is recent */
    for (uint32_t i = 0; i < SESSIONS; i++)
        send(&senders[i], 0, 20);
    one_round();
    for (uint32_t i = 0; i < SESSIONS; i++) {
        assert_int_equal(senders[i].in_turn, 16);
        assert_false(senders[i].session.sched.entity.waiting);
    }
    assert_true(lane.stay_awake);
    one_round();
    for (uint32_t i = 0; i < SESSIONS; i++)
        assert_int_equal(senders[i].in_turn, 4);
}

/* A wait may be for a position that never comes. The lane looks at it again after each nap. */
static void a_session_that_waits_for_another_stream_lets_the_lane_nap(void **state)
{
    (void)state;
    senders[0].stalls[1] = true;
    senders[0].session.poll.active_ns = now;
    send(&senders[0], 1, 1);
    one_round();
    assert_true(lane.stay_awake); /* what it waits for mostly comes at once */
    now += 1000000;
    one_round();
    assert_false(lane.stay_awake);
    one_round();
    assert_false(lane.stay_awake);
    /* Its other streams go on, and keep the lane awake. */
    send(&senders[0], 2, 1);
    one_round();
    assert_int_equal(senders[0].taken[2], 1);
    assert_true(lane.stay_awake);
    now += 1000000;
    one_round();
    assert_false(lane.stay_awake);
    senders[0].stalls[1] = false;
    one_round();
    assert_int_equal(senders[0].taken[1], 1);
    assert_true(lane.stay_awake);
    assert_true(senders[0].session.round.pending == 0);
}

/* Sends for the first `active` sessions in each round until the last session is to fall asleep, and
 * returns how long that session has been silent then. */
static uint64_t silent_until_asleep(uint32_t active)
{
    struct session *silent = &senders[SESSIONS - 1].session;

    polls_ended = 0;
    for (uint32_t i = 0; i < SESSIONS; i++)
        senders[i].session.poll.active_ns = now;
    while (!(polls_ended >> silent->slot & 1)) {
        for (uint32_t i = 0; i < active; i++)
            send(&senders[i], 0, 1);
        one_round();
        assert_true(now - silent->poll.active_ns < 100000000);
    }
    return now - silent->poll.active_ns;
}

/* Where many tenants launch, each is silent for a while between two launches. */
static void a_silent_session_is_polled_for_longer_in_a_crowd(void **state)
{
    (void)state;
    assert_in_range(silent_until_asleep(1), 200000, 202000);
    assert_in_range(silent_until_asleep(2), 200000, 202000);
    assert_in_range(silent_until_asleep(3), 2000000, 2002000);
    assert_in_range(silent_until_asleep(0), 200000, 202000);
}

/* A side lane serves a session by the same loop. */
static void a_side_lane_takes_as_much_of_a_session_in_a_round(void **state)
{
    struct lane side = {.index = 1};

    (void)state;
    senders[0].session.lane = &side;
    for (uint32_t stream = 0; stream < SEG_STREAMS; stream++)
        send(&senders[0], stream, 1000000);
    for (uint32_t n = 0; n < 10; n++) {
        side.round++;
        senders[0].in_turn = 0;
        assert_int_equal(rings_drain(&senders[0].session),
                         RINGS_TAKEN | RINGS_NO_ROOM | RINGS_SPENT);
        assert_in_range(senders[0].in_turn, 1, TURN_MOST);
    }
    senders[0].session.lane = &lane;
}

/* Has each sender be of its user, and send without end. */
static void users_set(const uint32_t uid[SESSIONS])
{
    for (uint32_t i = 0; i < SESSIONS; i++) {
        senders[i].session.memory.user = user_hold(uid[i]);
        assert_non_null(senders[i].session.memory.user);
        for (uint32_t stream = 0; stream < SEG_STREAMS; stream++)
            send(&senders[i], stream, 1000000);
    }
}

static void users_unset(void)
{
    for (uint32_t i = 0; i < SESSIONS; i++)
        user_release(senders[i].session.memory.user);
}

/* A user with many sessions whose records take the driver long. */
static void others_wait_for_one_of_a_users_sessions_and_not_for_all(void **state)
{
    static const uint32_t two[SESSIONS] = {1, 1, 1, 2}, one[SESSIONS] = {1, 1, 1, 1};

    (void)state;
    record_ns = 20000;
    users_set(two);
    for (uint32_t n = 0; n < 30; n++) {
        const uint64_t begin = now;
        uint32_t served = 0;

        one_round();
        for (uint32_t i = 0; i < 3; i++)
            served += senders[i].in_turn > 0;
        assert_int_equal(served, 1);
        assert_true(senders[3].in_turn > 0);
        assert_in_range(now - begin, 1, 2 * TURN_MOST * record_ns);
        assert_true(lane.stay_awake);
    }
    for (uint32_t i = 0; i < 3; i++) { /* each in its turn */
        uint32_t taken = 0;

        for (uint32_t stream = 0; stream < SEG_STREAMS; stream++)
            taken += senders[i].taken[stream];
        assert_in_range(taken, 10 * 64, 10 * TURN_MOST);
    }
    users_unset();
    users_set(one);
    one_round();
    for (uint32_t i = 0; i < SESSIONS; i++)
        assert_int_equal(senders[i].in_turn, TURN_MOST);
    users_unset();
}

/* As long as the user's time lasts; then each of them is passed over, and not found by a walk over
 * all of them that only turns it away. */
static void a_crowd_that_is_turned_away_costs_others_nothing(void **state)
{
    (void)state;
    record_ns = 20000;
    lane.polled_count = CROWD;
    for (uint32_t i = 0; i < CROWD; i++) {
        senders[i].session.memory.user = user_hold(i ? 1 : 2);
        send(&senders[i], 0, 1000000);
        sched_wait(domain_of(&senders[i].session), &senders[i].session.sched.entity, now);
    }
    for (uint32_t n = 0, served = 0; n < 30; n++) {
        looked_at = 0;
        one_round();
        for (uint32_t i = 1; i < CROWD; i++)
            served += senders[i].in_turn > 0;
        assert_int_equal(served, n + 1);
        assert_true(senders[0].in_turn > 0);
        assert_in_range(looked_at, 1, 8 * CROWD);
        assert_true(lane.stay_awake);
    }
    for (uint32_t i = 0; i < CROWD; i++)
        user_release(senders[i].session.memory.user);
}

/* Each of the user's sessions has its turn before any has another one. */
static void others_do_not_wait_for_the_requests_of_all_of_a_users_sessions(void **state)
{
    enum { ASKING = 40, ROUNDS = 6 };
    const uint64_t most = 220000; /* the user's part of a round, and one request */

    (void)state;
    lane.polled_count = ASKING + 1;
    request_ns = 20000;
    for (uint32_t i = 0; i <= ASKING; i++) {
        senders[i].session.memory.user = user_hold(i < ASKING ? 1 : 2);
        assert_non_null(senders[i].session.memory.user);
    }
    for (uint32_t turn = 0; turn < 3; turn++) {
        requested = requests = 0;
        for (uint32_t n = 0; n < ROUNDS && requests < ASKING; n++) {
            for (uint32_t i = 0; i < ASKING; i++)
                senders[i].session.round.pending |= REQUEST_BIT;
            send(&senders[ASKING], 0, 1);
            one_round();
            assert_in_range(now - lane.now, 0, most);
            assert_int_equal(senders[ASKING].in_turn, 1);
            assert_true(lane.stay_awake); /* there is more to take */
        }
        assert_int_equal(requests, ASKING);
        assert_int_equal(requested, (UINT64_C(1) << ASKING) - 1);
    }
    for (uint32_t i = 0; i <= ASKING; i++)
        user_release(senders[i].session.memory.user);
    request_ns = 0;
}

/* All of the user's records may take many rounds. */
static void a_request_does_not_wait_for_its_users_records(void **state)
{
    (void)state;
    record_ns = 20000;
    users_set((const uint32_t[SESSIONS]){1, 1, 1, 2});
    for (uint32_t n = 0; n < 10; n++) {
        requests = 0;
        senders[n % 3].session.round.pending |= REQUEST_BIT;
        one_round();
        assert_int_equal(requests, 1);
    }
    users_unset();
}

/* Sessions whose records take little are all served in each round, as if there were one user. */
static void short_records_of_all_users_go_in_each_round(void **state)
{
    (void)state;
    record_ns = 100;
    users_set((const uint32_t[SESSIONS]){1, 1, 1, 2});
    for (uint32_t n = 0; n < 10; n++) {
        one_round();
        for (uint32_t i = 0; i < SESSIONS; i++)
            assert_int_equal(senders[i].in_turn, TURN_MOST);
    }
    users_unset();
}

static void nothing_more_goes_when_a_kernel_has_trapped_whatever_the_lane(void **state)
{
    struct lane side = {.index = 1};

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        struct sender *sender = &senders[i];
        struct fault_notes faults = {.end.where = (uint64_t)FAULT_TRAP << 56};
        sender->session.lane = i ? &side : &lane;
        sender->session.module.faults = &faults;
        sender->session.lane->round++;
        send(sender, 0, 1);
        assert_int_equal(rings_drain(&sender->session), 0);
        assert_true(sender->session.submit.faulted);
        assert_int_equal(sender->server.fault.kind, GS_FAULT_TRAP);
        assert_int_equal(sender->left[0], 1);
        sender->session.lane = &lane;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_session_has_so_many_records_a_round_over_all_its_streams,
                                        set, unset),
        cmocka_unit_test_setup_teardown(so_it_has_where_several_wait, set, unset),
        cmocka_unit_test_setup_teardown(
            the_driver_is_asked_of_kernels_without_a_fence_before_another_s_work, set, unset),
        cmocka_unit_test_setup_teardown(
            who_has_something_new_is_active_however_long_the_round_before_was, set, unset),
        cmocka_unit_test_setup_teardown(no_stream_starves_behind_others_of_its_session, set, unset),
        cmocka_unit_test_setup_teardown(what_is_left_of_a_round_is_not_held_back, set, unset),
        cmocka_unit_test_setup_teardown(a_session_that_waits_for_another_stream_lets_the_lane_nap,
                                        set, unset),
        cmocka_unit_test_setup_teardown(a_silent_session_is_polled_for_longer_in_a_crowd, set,
                                        unset),
        cmocka_unit_test_setup_teardown(in_a_crowd_requests_begin_side_by_side, set, unset),
        cmocka_unit_test_setup_teardown(others_wait_for_one_of_a_users_sessions_and_not_for_all,
                                        set, unset),
        cmocka_unit_test_setup_teardown(a_crowd_that_is_turned_away_costs_others_nothing, set,
                                        unset),
        cmocka_unit_test_setup_teardown(
            others_do_not_wait_for_the_requests_of_all_of_a_users_sessions, set, unset),
        cmocka_unit_test_setup_teardown(a_request_does_not_wait_for_its_users_records, set, unset),
        cmocka_unit_test_setup_teardown(short_records_of_all_users_go_in_each_round, set, unset),
        cmocka_unit_test_setup_teardown(a_side_lane_takes_as_much_of_a_session_in_a_round, set,
                                        unset),
        cmocka_unit_test_setup_teardown(
            nothing_more_goes_when_a_kernel_has_trapped_whatever_the_lane, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
