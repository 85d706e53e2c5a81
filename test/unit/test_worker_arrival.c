/*
 * test_worker_arrival.c - batch arrival: which records are taken at once, and which only when the
 * rest of what their tenant writes is there. The clock is a number, and the device takes any number
 * of records.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/ring.h"
#include "common/util.h"
#include "fake_round.h"
#include "worker/loop/round.h"
#include "worker/sched/domain.h"

#define SENDERS    3u
#define REQUEST    20u
#define STEP_NS    100u
#define LONGEST_NS 10000u /* the longest that anything waits */

static struct sender {
    struct session session; /* first: the rounds know only the session */
    struct seg_client client;
    uint64_t tail;
    uint32_t in_turn; /* records taken */
    bool entire;      /* they were a whole arrival */
    _Alignas(64) unsigned char segment[SEG_OFF_RINGS + SEG_RING_BYTES];
} senders[SENDERS];
static struct sender *const one = &senders[0];

uint32_t stream_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                      enum drained *drained)
{
    struct sender *sender = (struct sender *)(void *)session;
    struct stream *stream = &session->submit.streams[index];
    uint32_t taken = 0;

    sender->entire = stream->arrival.entire;
    while (stream->head < sender->tail && taken < allowance.launches) {
        struct rec_header header;
        memcpy(&header, sender->segment + SEG_OFF_RINGS + ring_offset(stream->head),
               sizeof(header));
        if (header.op == REC_PAD)
            arrival_pad(&stream->arrival, header.size);
        stream->head += header.size;
        taken++;
    }
    sender->in_turn += taken;
    *drained = stream->head < sender->tail ? DRAINED_SOME : DRAINED_ALL;
    return taken;
}

/* ---- The tenant and the device --------------------------------------------------------------- */

static int set(void **state)
{
    (void)state;
    now = UINT64_C(1000000000);
    worker_begin()->info.sm_count = 16;
    domains_init();
    memset(senders, 0, sizeof(senders));
    lane.polled_count = SENDERS;
    for (uint32_t i = 0; i < SENDERS; i++) {
        struct session *session = &senders[i].session;
        session->slot = i;
        session->lane = &lane;
        session->client = &senders[i].client;
        session->segment = senders[i].segment;
        session->sched.polled = true;
        session->sched.entity.cls = session->submit.streams[0].cls = GS_CLASS_LATENCY;
        session->submit.streams[0].open = true;
        lane.polled[i] = session;
        domain_join(session);
        domains_add(session);
    }
    return 0;
}

static int unset(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < SENDERS; i++) {
        headroom_remove(&lane.headroom, &senders[i].session.sched.headroom);
        domains_remove(&senders[i].session);
    }
    return 0;
}

static void put(struct sender *sender, uint16_t op, uint32_t size)
{
    const struct rec_header header = {.op = op, .size = size};

    memcpy(sender->segment + SEG_OFF_RINGS + ring_offset(sender->tail), &header, sizeof(header));
    sender->tail += size;
}

/* Writes as the client does: a padding is published with the record behind it. */
static void write_records(struct sender *sender, uint32_t records, uint32_t size)
{
    for (uint32_t i = 0; i < records; i++) {
        uint32_t pad = ring_pad(sender->tail, size);
        if (pad)
            put(sender, REC_PAD, pad);
        put(sender, REC_LAUNCH, size);
    }
    atomic_store(&sender->client.tail[0], sender->tail);
    atomic_fetch_or(&sender->client.activity, 1);
}

/* The device completes all that was taken. */
static void complete(struct sender *sender)
{
    struct seg_complete *words =
        (struct seg_complete *)(void *)(sender->segment + SEG_OFF_COMPLETE);

    atomic_store(&words->position[0], sender->session.submit.streams[0].head);
}

static void one_round(void)
{
    for (uint32_t i = 0; i < SENDERS; i++)
        senders[i].in_turn = 0;
    lane.now = now += STEP_NS;
    round_look(&lane);
    round_serve(&lane);
}

/* Runs rounds until a record is taken, and counts the records; *waited is how long that took. */
static uint32_t turns_until_taken(uint64_t *waited)
{
    const uint64_t since = now;

    do {
        one_round();
        if (!one->in_turn) {
            assert_true(lane.stay_awake); /* the lane does not sleep meanwhile */
            assert_true(now - since <= LONGEST_NS + STEP_NS);
        }
    } while (!one->in_turn);
    *waited = now - since - STEP_NS;
    return one->in_turn;
}

/* Plays arrivals of so many records that are there at once. */
static void arrivals(struct sender *sender, uint32_t count, uint32_t records, uint32_t size)
{
    for (uint32_t i = 0; i < count; i++) {
        write_records(sender, records, size);
        one_round();
        assert_true(sender->in_turn >= records);
        complete(sender);
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static void an_arrival_that_is_known_is_taken_when_it_is_all_there(void **state)
{
    uint64_t waited;

    (void)state;
    arrivals(one, 4, REQUEST, 128);
    for (uint32_t i = 0; i < 100; i++) {
        one_round();
        now += UINT64_C(3000000000); /* no headroom is kept for the session any more */
        one_round();
        assert_int_equal(headroom_now(&lane.headroom), HEADROOM_NONE);
        write_records(one, 1, 128);
        one_round();
        assert_int_equal(one->in_turn, 0);
        assert_true(lane.stay_awake);
        /* best effort keeps off already */
        assert_int_equal(headroom_now(&lane.headroom), HEADROOM_FULL);
        write_records(one, REQUEST - 2, 128);
        now += 1000;
        one_round();
        assert_int_equal(one->in_turn, 0);
        write_records(one, 1, 128);
        assert_int_equal(turns_until_taken(&waited), REQUEST);
        assert_true(one->entire);
        assert_false(one->session.round.awaits);
        complete(one);
    }
}

static void one_that_is_all_there_is_taken_at_once(void **state)
{
    (void)state;
    arrivals(one, 4, REQUEST, 128);
    for (uint32_t i = 0; i < 100; i++) {
        arrivals(one, 1, REQUEST, 128);
        assert_true(one->entire);
    }
}

static void who_sends_one_launch_at_a_time_never_waits(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 1000; i++)
        arrivals(one, 1, 1, 128);
}

static void nobody_waits_before_three_arrivals_are_alike(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        write_records(one, 1, 128);
        one_round();
        assert_int_equal(one->in_turn, 1);
        assert_false(one->entire);
        write_records(one, 9 + i % 2, 128);
        one_round();
        assert_int_equal(one->in_turn, 9 + i % 2);
        complete(one);
    }
}

static void what_does_not_come_is_waited_for_once_and_not_for_long(void **state)
{
    uint64_t waited;

    (void)state;
    arrivals(one, 100, REQUEST, 128);
    write_records(one, 5, 128);
    assert_int_equal(turns_until_taken(&waited), 5);
    assert_false(one->entire);
    assert_in_range(waited, 1000, LONGEST_NS);
    complete(one);
    arrivals(one, 1, 5, 128);
    for (uint32_t i = 0; i < 3; i++) { /* nor is the next of that length */
        write_records(one, 5, 128);
        one_round();
        assert_int_equal(one->in_turn, 5);
        write_records(one, REQUEST - 5, 128);
        one_round();
        assert_int_equal(one->in_turn, REQUEST - 5);
        complete(one);
    }
}

/* A short arrival is not waited for as long as a long one. */
static void two_launches_are_waited_for_some_microseconds(void **state)
{
    uint64_t waited;

    (void)state;
    arrivals(one, 4, 2, 128);
    write_records(one, 1, 128);
    assert_int_equal(turns_until_taken(&waited), 1);
    assert_in_range(waited, 1000, 3000);
}

/* That holds also when the late arrival comes to its usual length. */
static void who_was_late_is_not_waited_for_the_next_time(void **state)
{
    uint64_t waited;

    (void)state;
    arrivals(one, 100, REQUEST, 128);
    write_records(one, 5, 128);
    assert_int_equal(turns_until_taken(&waited), 5);
    write_records(one, REQUEST - 5, 128);
    one_round();
    assert_int_equal(one->in_turn, REQUEST - 5);
    complete(one);
    write_records(one, 1, 128);
    one_round();
    assert_int_equal(one->in_turn, 1);
}

static void who_writes_slowly_is_hardly_ever_waited_for(void **state)
{
    uint32_t waits = 0;
    uint64_t waited;

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        write_records(one, 1, 128);
        turns_until_taken(&waited);
        waits += waited > 0;
        for (uint32_t k = 1; k < REQUEST; k++) { /* all records before the first is complete */
            now += 50000;
            write_records(one, 1, 128);
            one_round();
            assert_int_equal(one->in_turn, 1);
        }
        complete(one);
    }
    assert_in_range(waits, 1, 10);
}

/* Where waiting was in vain only now and then, it goes on. */
static void who_is_late_once_is_waited_for_again_later(void **state)
{
    uint64_t waited;

    (void)state;
    arrivals(one, 4, REQUEST, 128);
    for (uint32_t round = 0; round < 10; round++) {
        write_records(one, 5, 128);
        turns_until_taken(&waited);
        complete(one);
        arrivals(one, 8, REQUEST, 128);
        write_records(one, 1, 128);
        one_round();
        assert_int_equal(one->in_turn, 0);
        write_records(one, REQUEST - 1, 128);
        assert_int_equal(turns_until_taken(&waited), REQUEST);
        assert_true(one->entire);
        complete(one);
    }
}

static void a_longer_arrival_is_taken_too(void **state)
{
    (void)state;
    arrivals(one, 4, REQUEST, 128);
    arrivals(one, 10, REQUEST + 5, 128);
    assert_true(one->entire);
}

/* The client pads the ring's end where a record would not fit: not always at the same place. */
static void paddings_are_no_part_of_an_arrival(void **state)
{
    static const uint32_t sizes[] = {192, 320, 4160};
    uint64_t waited;

    (void)state;
    for (uint32_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        const uint32_t records = sizes[i] > 1000 ? 5 : REQUEST;
        arrivals(one, 4, records, sizes[i]);
        for (uint32_t n = 0; n < 200; n++) {
            write_records(one, records - 1, sizes[i]);
            one_round();
            assert_int_equal(one->in_turn, 0);
            now += 3000;
            one_round();
            assert_int_equal(one->in_turn, 0);
            write_records(one, 1, sizes[i]);
            assert_in_range(turns_until_taken(&waited), records, records + 1);
            assert_true(one->entire);
            complete(one);
        }
    }
}

/* A padding may be longer than the records still to come. */
static void a_long_padding_is_not_taken_for_the_rest(void **state)
{
    uint64_t waited;

    (void)state;
    for (uint32_t n = 0; n < 200; n++) {
        write_records(one, 1, 4160);
        write_records(one, 5, 64);
        one_round();
        if (n > 3)
            assert_int_equal(one->in_turn, 0);
        write_records(one, 1, 64);
        if (n > 3) {
            assert_in_range(turns_until_taken(&waited), 7, 8);
            assert_true(one->entire);
        } else {
            one_round();
        }
        complete(one);
    }
}

static void what_comes_behind_unfinished_work_is_taken_at_once(void **state)
{
    (void)state;
    arrivals(one, 3, REQUEST, 128);
    write_records(one, REQUEST, 128);
    one_round();
    assert_int_equal(one->in_turn, REQUEST);
    for (uint32_t i = 0; i < 5; i++) {
        write_records(one, 3, 128);
        one_round();
        assert_int_equal(one->in_turn, 3);
        assert_false(one->entire);
    }
}

static void others_than_the_latency_class_do_not_wait(void **state)
{
    (void)state;
    one->session.sched.entity.cls = one->session.submit.streams[0].cls = GS_CLASS_NORMAL;
    arrivals(one, 10, REQUEST, 128);
    write_records(one, 1, 128);
    one_round();
    assert_int_equal(one->in_turn, 1);
    assert_false(one->entire);
}

/* The class changes while the rest is awaited. */
static void who_leaves_the_class_waits_no_more(void **state)
{
    (void)state;
    arrivals(one, 4, REQUEST, 128);
    write_records(one, 1, 128);
    one_round();
    assert_int_equal(one->in_turn, 0);
    one->session.sched.entity.cls = one->session.submit.streams[0].cls = GS_CLASS_NORMAL;
    one_round();
    assert_int_equal(one->in_turn, 1);
}

static void in_a_crowd_an_arrival_that_is_known_is_not_cut(void **state)
{
    (void)state;
    for (uint32_t n = 0; n < 6; n++) {
        for (uint32_t i = 0; i < SENDERS; i++)
            write_records(&senders[i], REQUEST, 128);
        one_round();
        for (uint32_t i = 0; n == 5 && i < SENDERS; i++) {
            assert_int_equal(senders[i].in_turn, REQUEST);
            assert_true(senders[i].entire);
        }
        for (uint32_t k = 0; k < 3; k++)
            one_round();
        for (uint32_t i = 0; i < SENDERS; i++)
            complete(&senders[i]);
    }
}

/* A session that is waited for holds up no other. */
static void others_go_on_meanwhile(void **state)
{
    (void)state;
    arrivals(one, 4, REQUEST, 128);
    write_records(one, 1, 128);
    for (uint32_t i = 0; i < 10; i++) {
        write_records(&senders[1], 3, 128);
        one_round();
        assert_int_equal(one->in_turn, 0);
        assert_int_equal(senders[1].in_turn, 3);
    }
}

/* A tail that a tenant has scribbled over is waited for no longer than a good one. */
static void nonsense_is_waited_for_no_longer(void **state)
{
    const uint32_t sizes[] = {0, 1, 63, 64, 65, SEG_RING_BYTES, UINT32_MAX, UINT32_MAX - 63};
    struct seg_complete *words = (struct seg_complete *)(void *)(one->segment + SEG_OFF_COMPLETE);
    uint64_t waited;

    (void)state;
    srand(1);
    for (uint32_t i = 0; i < 2000; i++) {
        arrivals(one, 8, REQUEST, 192);
        write_records(one, 1 + (uint32_t)rand() % REQUEST, 192);
        for (uint32_t k = 0; k < SEG_RING_BYTES && rand() % 2; k += 4096 + 64) {
            const struct rec_header header = {.op = (uint16_t)(rand() % 4),
                                              .size = sizes[(size_t)rand() % ARRAY_SIZE(sizes)]};
            if (ring_offset(k - one->session.submit.streams[0].head) < (REQUEST + 1) * 192)
                continue; /* the fake drain believes the records that it takes */
            memcpy(one->segment + SEG_OFF_RINGS + k, &header, sizeof(header));
        }
        uint64_t tail = one->tail + (rand() % 2 ? 0 : (uint64_t)rand() * 64);
        atomic_store(&one->client.tail[0], tail);
        atomic_store(&words->position[0],
                     rand() % 4 ? one->session.submit.streams[0].head : UINT64_MAX);
        turns_until_taken(&waited);
        atomic_store(&one->client.tail[0], one->tail);
        one_round();
        complete(one);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set, unset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(an_arrival_that_is_known_is_taken_when_it_is_all_there),
        TEST(one_that_is_all_there_is_taken_at_once),
        TEST(who_sends_one_launch_at_a_time_never_waits),
        TEST(nobody_waits_before_three_arrivals_are_alike),
        TEST(what_does_not_come_is_waited_for_once_and_not_for_long),
        TEST(two_launches_are_waited_for_some_microseconds),
        TEST(who_was_late_is_not_waited_for_the_next_time),
        TEST(who_writes_slowly_is_hardly_ever_waited_for),
        TEST(who_is_late_once_is_waited_for_again_later),
        TEST(a_longer_arrival_is_taken_too),
        TEST(paddings_are_no_part_of_an_arrival),
        TEST(a_long_padding_is_not_taken_for_the_rest),
        TEST(what_comes_behind_unfinished_work_is_taken_at_once),
        TEST(others_than_the_latency_class_do_not_wait),
        TEST(who_leaves_the_class_waits_no_more),
        TEST(in_a_crowd_an_arrival_that_is_known_is_not_cut),
        TEST(others_go_on_meanwhile),
        TEST(nonsense_is_waited_for_no_longer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
