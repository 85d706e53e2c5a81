/*
 * test_worker_inflight.c - the inflight tracker: fences in any order of arrival, across the end of
 * their numbers, as many as a stream can have; what is charged for work on the device, and what
 * goes without a fence.
 *
 * The device is a page of numbers that the test writes as a kernel would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "fake_fences.h"
#include "worker/partition/partition.h"
#include "worker/sched/domain.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/sched/sm_time.h"

#define MASK24 ((UINT64_C(1) << 24) - 1)

static _Alignas(64) unsigned char segment[SEG_OFF_SERVER];
static struct link_stats stats;
static struct lane lane;
static struct session session;
static struct kernel kernel, *kernels[1] = {&kernel};
static struct stream *stream = &session.submit.streams[3];
static struct sched *domain;

static int set(void **state)
{
    (void)state;
    if (fences_open())
        return -1;
    domains_init();
    domain = domain_at(0);
    /* The device's clock is the host's. */
    lane = (struct lane){.inflight_lane.clock = {.known = true, .next_correct = UINT64_MAX}};
    stats = (struct link_stats){0};
    kernel = (struct kernel){.serial = 1};
    memset(segment, 0, sizeof(segment));
    worker_begin()->info.sm_count = 16;
    worker_begin()->policy.accounting = 1;
    session = (struct session){.lane = &lane,
                               .slot = 7,
                               .segment = segment,
                               .stats = &stats,
                               .kernels.table = kernels,
                               .kernels.capacity = 1};
    domain_join(&session);
    stream->inflight = inflight_new(&session, (uint32_t)(stream - session.submit.streams));
    return stream->inflight ? 0 : -1;
}

static int unset(void **state)
{
    (void)state;
    inflight_remove(&session);
    inflight_free(stream->inflight);
    return 0;
}

/* Writes the last fence of the stream as the device does. */
static void fence_write(uint64_t number, uint64_t time)
{
    fences[inflight_fence_address(stream->inflight) / sizeof(uint64_t)] =
        time << 24 | (number & MASK24);
}

static void issue(uint32_t count, uint32_t blocks)
{
    const struct launch launch = {.kernel = &kernel, .grid = {blocks, 1, 1}, .block = {1, 1, 1}};

    for (uint32_t i = 0; i < count; i++) {
        inflight_issue(stream->inflight);
        inflight_add(stream->inflight, &launch, 1);
    }
}

static void fences_end_what_was_issued_before_them(void **state)
{
    (void)state;
    uint64_t number[3];

    for (int i = 0; i < 3; i++) {
        issue(2, 1);
        number[i] = inflight_fence_next(stream->inflight);
        inflight_fence_follows(stream->inflight);
    }
    assert_int_equal(inflight_count(stream->inflight), 6);
    assert_true(session.inflight.awaiting_fence != 0);
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 6);
    fence_write(number[1], clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 2);
    assert_int_equal(session.sched.entity.launches, 2);
    fence_write(number[2], clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 0);
    assert_int_equal(session.sched.entity.launches, 0);
    assert_int_equal(session.sched.entity.launches_ns, 0);
    assert_int_equal(domain->device_ns, 0);
    assert_int_equal(domain->width, 0);
    assert_true(session.inflight.awaiting_fence == 0);
    assert_true(kernel.wave_ns > 0);
}

static void a_fence_that_follows_nothing_ends_nothing(void **state)
{
    (void)state;
    inflight_fence_follows(stream->inflight);
    issue(1, 1);
    uint64_t number = inflight_fence_next(stream->inflight);
    inflight_fence_follows(stream->inflight);
    inflight_fence_follows(stream->inflight);
    fence_write(number - 1, clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 1);
    fence_write(inflight_fence_next(stream->inflight) - 1, clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 0);
}

static void a_full_stream_is_all_remembered_across_the_end_of_the_numbers(void **state)
{
    (void)state;
    while (inflight_fence_next(stream->inflight) != MASK24 - SCHED_STREAM_MAX / 2)
        inflight_fence_follows(stream->inflight);
    fence_write(inflight_fence_next(stream->inflight) - 1, clock_ns());
    for (uint32_t i = 0; i < SCHED_STREAM_MAX; i++) {
        issue(1, 1);
        inflight_fence_follows(stream->inflight);
    }
    assert_true(inflight_fence_next(stream->inflight) < MASK24 / 2);
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), SCHED_STREAM_MAX);
    for (uint32_t left = SCHED_STREAM_MAX; left > 0; left--) {
        fence_write(inflight_fence_next(stream->inflight) - left, clock_ns());
        inflight_poll_all(&lane.inflight_lane, clock_ns());
        assert_int_equal(inflight_count(stream->inflight), left - 1);
    }
}

/* A stream that is made anew goes on where the last one of its number ended: the fence that is
 * still written there says nothing of the new stream's work. */
static void a_stream_that_is_made_anew_begins_with_nothing(void **state)
{
    (void)state;
    issue(1, 1);
    fence_write(inflight_fence_next(stream->inflight), clock_ns());
    inflight_fence_follows(stream->inflight);
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    inflight_free(stream->inflight);
    stream->inflight = inflight_new(&session, (uint32_t)(stream - session.submit.streams));
    issue(1, 1);
    inflight_fence_follows(stream->inflight);
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 1);
    inflight_settle(stream->inflight);
    assert_int_equal(inflight_count(stream->inflight), 0);
    assert_int_equal(session.sched.entity.launches, 0);
}

/* Otherwise a tenant that launches only graphs would go before all others for ever. */
static void a_graph_costs_its_time_on_the_device(void **state)
{
    (void)state;
    uint64_t begun = clock_ns();

    inflight_issue(stream->inflight);
    inflight_add_graph(stream->inflight, 64);
    uint64_t number = inflight_fence_next(stream->inflight);
    inflight_fence_follows(stream->inflight);
    assert_true(domain->device_ns > 0);
    while (clock_ns() - begun < 1000000)
        ;
    fence_write(number, clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(domain->device_ns, 0);
    assert_true(stats.gpu_ns > 0);
    /* by_weight counts 64 for weight 1 */
    assert_true(session.sched.entity.vtime >= stats.gpu_ns * 64);
    assert_true(stats.gpu_ns <= clock_ns() - begun);
}

static void copies_cost_nothing(void **state)
{
    (void)state;
    inflight_issue(stream->inflight);
    inflight_add_other(stream->inflight);
    uint64_t number = inflight_fence_next(stream->inflight);
    inflight_fence_follows(stream->inflight);
    fence_write(number, clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 0);
    assert_int_equal(stats.gpu_ns, 0);
    assert_int_equal(session.sched.entity.vtime, 0);
}

/* The tenant may falsify its word however it likes. */
static void no_more_than_128_short_launches_go_without_a_fence(void **state)
{
    (void)state;
    const struct launch launch = {.kernel = &kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint32_t without_fence = 0;

    kernel.wave_ns = 1000;
    while (inflight_needs_no_fence(stream->inflight, stream->signalled, &launch)) {
        inflight_issue(stream->inflight);
        inflight_add(stream->inflight, &launch, 1);
        inflight_no_fence_follows(stream->inflight);
        assert_true(++without_fence <= 128);
    }
    assert_int_equal(without_fence, 128);
    assert_int_equal(session.sched.entity.launches, 0);
    const uint64_t before = clock_ns(); /* as the end of a launch: one that took no time */
    inflight_issue(stream->inflight);
    inflight_add(stream->inflight, &launch, 1);
    uint64_t number = inflight_fence_next(stream->inflight);
    inflight_fence_follows(stream->inflight);
    assert_false(inflight_needs_no_fence(stream->inflight, stream->signalled, &launch));
    fence_write(number, before);
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_true(inflight_needs_no_fence(stream->inflight, stream->signalled, &launch));
    kernel.wave_ns = 1000000;
    assert_false(inflight_needs_no_fence(stream->inflight, stream->signalled, &launch));
}

/* Such kernels count as on the device, whatever the tenant's word says. */
static void the_end_of_launches_without_a_fence_is_told_by_fence_or_driver(void **state)
{
    (void)state;
    const struct launch launch = {.kernel = &kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}};

    kernel.wave_ns = 1000;
    for (unsigned by_fence = 0; by_fence < 2; by_fence++) {
        inflight_issue(stream->inflight);
        inflight_add(stream->inflight, &launch, 1);
        inflight_no_fence_follows(stream->inflight);
        assert_true(inflight_since(&session) >= session.inflight.by_word_ns);
        assert_ptr_equal(lane.inflight_lane.by_word, &session);
        lane.now = session.inflight.by_word_ns + 10000000; /* too long for more of them */
        assert_false(inflight_needs_no_fence(stream->inflight, stream->signalled, &launch));
        if (by_fence) {
            const uint64_t before = clock_ns();
            inflight_issue(stream->inflight);
            inflight_add(stream->inflight, &launch, 1);
            uint64_t number = inflight_fence_next(stream->inflight);
            inflight_fence_follows(stream->inflight);
            assert_int_not_equal(session.inflight.by_word, 0);
            fence_write(number, before);
            inflight_poll_all(&lane.inflight_lane, clock_ns());
        } else {
            inflight_settle(stream->inflight);
        }
        assert_int_equal(inflight_since(&session), 0);
        assert_true(inflight_needs_no_fence(stream->inflight, stream->signalled, &launch));
    }
    lane.now = 0;
}

/* Also where the stream is never without work. */
static void a_later_fence_tells_the_end_of_launches_without_one(void **state)
{
    (void)state;
    const struct launch launch = {.kernel = &kernel, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint64_t number[2];

    kernel.wave_ns = 1000;
    inflight_issue(stream->inflight);
    inflight_add(stream->inflight, &launch, 1);
    inflight_no_fence_follows(stream->inflight);
    for (unsigned i = 0; i < 2; i++) {
        inflight_issue(stream->inflight);
        inflight_add(stream->inflight, &launch, 1);
        number[i] = inflight_fence_next(stream->inflight);
        inflight_fence_follows(stream->inflight);
    }
    assert_int_not_equal(session.inflight.by_word, 0);
    fence_write(number[0], clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 1);
    assert_int_equal(session.inflight.by_word, 0);
    fence_write(number[1], clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
}

/* Such as a kernel that waits for another session's work; and what is behind it in its stream. */
static void what_runs_on_and_on_is_not_waited_for(void **state)
{
    (void)state;
    const struct sched_entity other = {.waiting = true};
    uint64_t later = clock_ns() + 60000000, number;

    for (int i = 0; i < 4; i++) {
        issue(1, 1 << 20);
        number = inflight_fence_next(stream->inflight);
        inflight_fence_follows(stream->inflight);
    }
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_false(sched_open(domain, &other, clock_ns()));
    assert_int_equal(domain->width, SCHED_WIDTH);
    inflight_poll_all(&lane.inflight_lane, later);
    assert_int_equal(domain->width, 0);
    assert_int_equal(inflight_count(stream->inflight), 4);
    assert_true(session.sched.entity.device_ns > 0);
    assert_int_equal(domain->device_ns, 0);
    assert_true(sched_open(domain, &other, later));
    sched_class(domain, &session.sched.entity, GS_CLASS_LATENCY);
    sched_class(domain, &session.sched.entity, GS_CLASS_NORMAL);
    assert_int_equal(domain->device_ns, 0);
    fence_write(number - 2, clock_ns());
    inflight_poll_all(&lane.inflight_lane, later);
    assert_int_equal(inflight_count(stream->inflight), 2);
    assert_int_equal(domain->device_ns, 0);
    fence_write(number, clock_ns());
    inflight_poll_all(&lane.inflight_lane, later);
    assert_int_equal(inflight_count(stream->inflight), 0);
    assert_int_equal(session.sched.entity.device_ns, 0);
    assert_int_equal(session.sched.entity.overdue_ns, 0);
    assert_int_equal(domain->device_ns, 0);
}

/* A runaway is not free, and is not charged twice. */
static void what_runs_on_and_on_is_charged_meanwhile(void **state)
{
    (void)state;
    const uint64_t begun = clock_ns(), ms = 1000000;
    uint64_t number;

    issue(1, 1 << 20);
    number = inflight_fence_next(stream->inflight);
    inflight_fence_follows(stream->inflight);
    for (uint64_t later = 0; later <= 950; later += 10)
        inflight_poll_all(&lane.inflight_lane, begun + later * ms);
    assert_in_range(stats.gpu_ns, 800 * ms, 951 * ms);
    fence_write(number, begun + 951 * ms);
    inflight_poll_all(&lane.inflight_lane, begun + 951 * ms);
    assert_int_equal(inflight_count(stream->inflight), 0);
    assert_in_range(stats.gpu_ns, 800 * ms, 951 * ms);
}

/* Nor is what stands behind it charged with the time that the runaway had: narrow kernels, whose
 * time is nobody else's, all seen to have ended together. */
static void what_ends_behind_a_runaway_is_charged_only_with_the_rest(void **state)
{
    (void)state;
    const uint64_t begun = clock_ns(), ms = 1000000;
    uint64_t number = 0;

    kernel.wave_ns = 1000;
    for (int i = 0; i < 2; i++) {
        issue(1, 1);
        number = inflight_fence_next(stream->inflight);
        inflight_fence_follows(stream->inflight);
    }
    while (clock_ns() < begun + 260 * ms)
        inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_in_range(stats.gpu_ns, 200 * ms, clock_ns() - begun);
    fence_write(number, clock_ns());
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    assert_int_equal(inflight_count(stream->inflight), 0);
    assert_in_range(stats.gpu_ns, 200 * ms, clock_ns() - begun);
}

/* The width is that of the work in flight of a stream that always has some: not of what was in
 * flight before. */
static void a_stream_is_as_wide_as_the_widest_that_it_has_in_flight(void **state)
{
    const uint32_t capacity = worker_begin()->info.sm_count * 1024, wide = 8;
    uint32_t width[1000], first = 0, last = 0;
    uint64_t dice = 1;

    (void)state;
    while (first < ARRAY_SIZE(width) - wide) {
        dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
        if (last < ARRAY_SIZE(width) &&
            (last - first < 2 || (last - first < SCHED_STREAM_MAX && dice >> 63))) {
            width[last] = SCHED_WIDTH >> (dice >> 40) % wide;
            issue(1, capacity / SCHED_WIDTH * width[last++]);
            inflight_fence_follows(stream->inflight);
        } else {
            first++;
            fence_write(inflight_fence_next(stream->inflight) - 1 - (last - first), clock_ns());
            inflight_poll_all(&lane.inflight_lane, clock_ns());
        }
        uint32_t widest = 0;
        for (uint32_t i = first; i < last; i++)
            widest = width[i] > widest ? width[i] : widest;
        assert_int_equal(inflight_count(stream->inflight), last - first);
        assert_int_equal(domain->width, widest);
    }
}

/* Looks with a clock that was read before the work was issued. */
static void an_end_before_its_beginning_costs_nothing(void **state)
{
    (void)state;
    uint64_t before = clock_ns() - 1000000;

    issue(1, 1);
    fence_write(inflight_fence_next(stream->inflight), clock_ns());
    inflight_fence_follows(stream->inflight);
    inflight_poll_all(&lane.inflight_lane, before);
    assert_int_equal(inflight_count(stream->inflight), 0);
    assert_true(stats.gpu_ns < 1000000);
}

/* Takes time as a kernel that fills its partition, whose SMs are the first half, the second, or
 * all. */
static uint64_t time_taken(struct partition *partition, uint64_t begin, uint64_t end)
{
    return sm_time_take(sm_time_timeline(partition), begin, end);
}

static void time_on_other_sms_is_nobodys_loss(void **state)
{
    struct partition half[2] = {{.id = 11, .sm_count = 8}, {.id = 12, .sm_count = 8}};
    uint64_t t = clock_ns() + UINT64_C(1000000000000);

    (void)state;
    half[0].mask = sm_mask_first(8);
    half[1].mask = sm_mask_minus(sm_mask_first(16), half[0].mask);
    for (int i = 0; i < 2; i++)
        sm_time_timeline(&half[i]); /* their work is issued */
    assert_int_equal(time_taken(&half[0], t, t + 100), 100);
    assert_int_equal(time_taken(&half[1], t, t + 110), 110);
    assert_int_equal(time_taken(&half[0], t + 50, t + 200), 100);
    /* What runs on the whole device shares the time of both. */
    assert_int_equal(time_taken(NULL, t + 90, t + 250), 50);
    assert_int_equal(time_taken(&half[1], t + 150, t + 300), 50);
    assert_int_equal(time_taken(&half[0], t + 200, t + 310), 60);
    assert_int_equal(time_taken(NULL, t + 240, t + 320), 10);
}

/* There are as many partitions as launches may ask for: of some no more is known than of the
 * device. */
static void time_is_told_apart_in_any_number_of_places(void **state)
{
    uint64_t t = clock_ns() + UINT64_C(2000000000000);

    (void)state;
    for (uint32_t i = 0; i < 300; i++) {
        struct partition partition = {.id = 100 + i, .sm_count = 9};
        partition.mask = sm_mask_first(9);
        uint32_t first = sm_time_timeline(&partition);
        assert_int_equal(sm_time_take(first, t, t + 10), 10);
        assert_int_equal(time_taken(NULL, t, t + 15), 5);
        t += 15;
        /* all but the first are long forgotten */
        assert_int_equal(sm_time_take(100, t, t + 10), 10);
        t += 10;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fences_end_what_was_issued_before_them, set, unset),
        cmocka_unit_test_setup_teardown(a_fence_that_follows_nothing_ends_nothing, set, unset),
        cmocka_unit_test_setup_teardown(
            a_full_stream_is_all_remembered_across_the_end_of_the_numbers, set, unset),
        cmocka_unit_test_setup_teardown(a_stream_that_is_made_anew_begins_with_nothing, set, unset),
        cmocka_unit_test_setup_teardown(a_graph_costs_its_time_on_the_device, set, unset),
        cmocka_unit_test_setup_teardown(copies_cost_nothing, set, unset),
        cmocka_unit_test_setup_teardown(no_more_than_128_short_launches_go_without_a_fence, set,
                                        unset),
        cmocka_unit_test_setup_teardown(
            the_end_of_launches_without_a_fence_is_told_by_fence_or_driver, set, unset),
        cmocka_unit_test_setup_teardown(a_later_fence_tells_the_end_of_launches_without_one, set,
                                        unset),
        cmocka_unit_test_setup_teardown(what_runs_on_and_on_is_charged_meanwhile, set, unset),
        cmocka_unit_test_setup_teardown(what_ends_behind_a_runaway_is_charged_only_with_the_rest,
                                        set, unset),
        cmocka_unit_test_setup_teardown(what_runs_on_and_on_is_not_waited_for, set, unset),
        cmocka_unit_test_setup_teardown(a_stream_is_as_wide_as_the_widest_that_it_has_in_flight,
                                        set, unset),
        cmocka_unit_test_setup_teardown(an_end_before_its_beginning_costs_nothing, set, unset),
        cmocka_unit_test_setup_teardown(time_on_other_sms_is_nobodys_loss, set, unset),
        cmocka_unit_test_setup_teardown(time_is_told_apart_in_any_number_of_places, set, unset),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
