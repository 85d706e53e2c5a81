/*
 * test_worker_charges.c - what a tenant is charged, and what is learned of its kernels, where the
 * kernels of several tenants run beside, between and behind each other; and that events and copies
 * are charged to no tenant.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "play_rig.h"

/* The tenant always has the next kernel behind the one that runs, whatever it records between
 * them. */
static void an_event_is_no_kernel_in_flight(void **state)
{
    (void)state;
    play_begin(1);
    tenants[0].ns = 600000;
    tenants[0].part = 1;
    tenants[0].events = true;
    tenants[0].session.sched.entity.cls = GS_CLASS_BEST_EFFORT;
    double work = work_in_interval(&tenants[0], interval_play()) / (double)INTERVAL_NS;
    play_end();
    assert_true(work > 0.97);
}

/* A tenant that only copies has had the least of the SMs at any time, and its stream is mostly
 * full. */
static void copies_keep_nobody_off(void **state)
{
    (void)state;
    play_begin(2);
    tenants[0].ns = 1000000;
    tenants[0].copies = true;
    tenants[1].ns = 1000000;
    tenants[1].part = 1;
    play_until(now + SETTLE_NS);
    double before = gpu_done(1);
    play_until(now + INTERVAL_NS);
    double work = (gpu_done(1) - before) / (double)INTERVAL_NS;
    play_end();
    assert_true(work > 0.95);
}

/* Writes the fence of what the tenant issued last, with a time. */
static void fence_write_last(struct tenant *tenant, uint64_t when)
{
    struct session *session = &tenant->session;
    struct stream *stream = &session->submit.streams[0];

    atomic_store_explicit(&fences[inflight_fence_address(stream->inflight) / sizeof(uint64_t)],
                          when << 24 | (inflight_fence_next(stream->inflight) - 1),
                          memory_order_release);
}

static void issue_blocks(struct tenant *tenant, uint32_t count, uint32_t blocks)
{
    struct session *session = &tenant->session;
    const struct launch launch = {
        .kernel = &tenant->kernel, .grid = {SM_COUNT * blocks, 1, 1}, .block = {256, 1, 1}};

    inflight_issue(session->submit.streams[0].inflight);
    inflight_add(session->submit.streams[0].inflight, &launch, count);
    inflight_fence_follows(session->submit.streams[0].inflight);
}

static void issue_scripted(struct tenant *tenant, uint32_t count)
{
    issue_blocks(tenant, count, 8);
}

/* Two kernels of half the device each run side by side. The second one to end is charged only for
 * the time that the first leaves, but is known to take as long as it takes alone. */
static void kernels_side_by_side_are_not_thought_short(void **state)
{
    const uint64_t alone_ns = 1000000;

    (void)state;
    play_begin(2);
    for (unsigned i = 0; i < 2; i++) {
        tenants[i].kernel.wave_ns = 0;
        for (unsigned n = 0; n < 4; n++) {
            issue_blocks(&tenants[i], 1, 2);
            fence_write_last(&tenants[i], now + alone_ns);
            now += alone_ns + 10000;
            inflight_poll_all(&lane.inflight_lane, now);
        }
    }
    double before = tenants[1].kernel.wave_ns;
    for (unsigned n = 0; n < 100; n++) {
        for (unsigned i = 0; i < 2; i++)
            issue_blocks(&tenants[i], 1, 2);
        for (unsigned i = 0; i < 2; i++)
            fence_write_last(&tenants[i], now + alone_ns + 1000 * i);
        now += alone_ns + 10000;
        inflight_poll_all(&lane.inflight_lane, now);
    }
    assert_true(tenants[1].kernel.wave_ns > 0.9 * before);
    assert_true(tenants[1].kernel.wave_ns < 1.1 * before);
    /* The kernel is thought shorter only once it takes less by itself. */
    for (unsigned n = 0; n < 20; n++) {
        issue_blocks(&tenants[1], 1, 2);
        fence_write_last(&tenants[1], now + alone_ns / 10);
        now += alone_ns;
        inflight_poll_all(&lane.inflight_lane, now);
    }
    assert_true(tenants[1].kernel.wave_ns < 0.2 * before);
    play_end();
}

/* Plays a kernel of each tenant, so that the clocks are laid against each other. Returns what the
 * first tenant is charged for its kernel. */
static uint64_t clocks_meet(void)
{
    issue_scripted(&tenants[0], 1);
    now += 10000;
    fence_write_last(&tenants[0], now);
    inflight_poll_all(&lane.inflight_lane, now);
    return tenants[0].session.stats->gpu_ns;
}

/* A kernel of the second tenant runs between two of the first's. */
static void who_comes_between_has_the_time_since_it_came(void **state)
{
    uint64_t begun, had;

    (void)state;
    play_begin(2);
    had = clocks_meet();
    issue_scripted(&tenants[0], 2);
    begun = now += 100000;
    issue_scripted(&tenants[1], 1);
    now += 300000;
    fence_write_last(&tenants[0], begun + 250000);
    fence_write_last(&tenants[1], begun + 200000);
    inflight_poll_all(&lane.inflight_lane, now);
    assert_in_range(tenants[0].session.stats->gpu_ns - had, 145000, 155000);
    assert_in_range(tenants[1].session.stats->gpu_ns, 195000, 205000);
    assert_int_equal(domain_at(0)->wide, 0);
    play_end();
}

/* The first tenant sleeps behind a long kernel, so its session is not polled. When that kernel
 * has ended, the second tenant's short one, which waited behind it, has ended too and is seen at
 * once. */
static void who_is_not_polled_has_its_time_too(void **state)
{
    const uint64_t long_ns = 20000000, short_ns = 1000000;
    uint64_t begun, had;

    (void)state;
    play_begin(2);
    for (unsigned i = 0; i < 2; i++)
        tenants[i].session.round.pending = 0;
    issue_scripted(&tenants[0], 1); /* so that the clocks are laid against each other */
    now += 10000;
    fence_write_last(&tenants[0], now);
    lane.now = now;
    round_look(&lane);
    round_serve(&lane);
    had = tenants[0].session.stats->gpu_ns;
    begun = now += 100000;
    issue_scripted(&tenants[0], 1);
    now += 10000;
    issue_scripted(&tenants[1], 1);
    lane.polled_count = 1;
    lane.polled[0] = &tenants[1].session;
    fence_write_last(&tenants[0], begun + long_ns);
    fence_write_last(&tenants[1], begun + long_ns + short_ns);
    lane.now = now = begun + long_ns + short_ns + 50000;
    round_look(&lane);
    round_serve(&lane);
    lane.polled_count = 2;
    lane.polled[1] = &tenants[0].session;
    lane.now = now += 4000000;
    round_look(&lane);
    round_serve(&lane);
    assert_in_range(tenants[0].session.stats->gpu_ns - had, long_ns - 100000, long_ns + 100000);
    assert_in_range(tenants[1].session.stats->gpu_ns, short_ns - 100000, short_ns + 100000);
    assert_int_equal(domain_at(0)->wide, 0);
    play_end();
}

/* The first tenant's long kernel ran behind the second tenant's short one, and when both are looked
 * at, the event behind it has been told too. */
static void an_event_behind_a_kernel_takes_no_time_from_others(void **state)
{
    const uint64_t long_ns = 20000000, short_ns = 1000000;
    uint64_t begun, had;

    (void)state;
    play_begin(2);
    had = clocks_meet();
    begun = now += 100000;
    issue_scripted(&tenants[1], 1); /* the lane looks at this tenant after the later one */
    now += 10000;
    issue_scripted(&tenants[0], 1);
    inflight_issue(tenants[0].session.submit.streams[0].inflight);
    inflight_add_event(tenants[0].session.submit.streams[0].inflight);
    inflight_fence_follows(tenants[0].session.submit.streams[0].inflight);
    fence_write_last(&tenants[1], begun + short_ns);
    fence_write_last(&tenants[0], begun + short_ns + long_ns);
    now = begun + short_ns + long_ns + 50000;
    inflight_poll_all(&lane.inflight_lane, now);
    assert_in_range(tenants[0].session.stats->gpu_ns - had, long_ns - 100000, long_ns + 100000);
    assert_in_range(tenants[1].session.stats->gpu_ns, short_ns - 100000, short_ns + 100000);
    play_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_is_no_kernel_in_flight),
        cmocka_unit_test(copies_keep_nobody_off),
        cmocka_unit_test(kernels_side_by_side_are_not_thought_short),
        cmocka_unit_test(who_comes_between_has_the_time_since_it_came),
        cmocka_unit_test(who_is_not_polled_has_its_time_too),
        cmocka_unit_test(an_event_behind_a_kernel_takes_no_time_from_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
