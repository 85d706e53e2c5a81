/*
 * play_rig.h - the main lane's rounds, its inflight tracker and scheduler, against a device and a
 * clock that are numbers: tenants whose launches cost the lane's time as they do on an H200. The
 * device is that of fake_gpu.c. Each test program includes this once, after cmocka.h.
 */
#ifndef GS_TEST_PLAY_RIG_H
#define GS_TEST_PLAY_RIG_H

#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "fake_fences.h"
#include "fake_gpu.h"
#include "fake_round.h"
#include "worker/loop/round.h"
#include "worker/partition/partition.h"
#include "worker/sched/domain.h"
#include "worker/sched/estimate.h"
#include "worker/sched/inflight.h"

#define TENANTS_MAX    16u
#define SM_COUNT       132u
#define GRAPH_LENGTH   8u
#define UNIT_THREADS   (2048u / GPU_SLOTS) /* of an SM */
#define START          UINT64_C(1000000000)
#define SETTLE_NS      UINT64_C(200000000)
#define INTERVAL_NS    UINT64_C(2000000000)
#define RUN_NS         1000000u
#define DONE_MOST      8192u
#define WAVE_NS        7500.0 /* of any kernel, before it is measured with its grid */
/* The time that the lane itself takes. */
#define GRAPH_NS       8000u
#define SINGLE_NS      1500u
#define TURN_NS        700u
#define SESSION_NS     150u
#define LATENCY_NS     4000u  /* from the end of a launch's call to the device */
#define SLACK_NS       60000u /* how much longer a sleep takes */
#define STALL_NS       150000u
#define STALL_TURNS    8192u /* rounds between two stalls */
/* Priorities of the device: that of normal work, and that of the kernel that writes the fence. */
#define WORK_PRIORITY  (-2)
#define FENCE_PRIORITY (-5)

struct tenant {
    struct session session; /* first: what the rounds know of it */
    struct kernel kernel, *kernels[1];
    uint64_t ns;    /* each of its kernels takes this alone */
    uint32_t units; /* units of the device that each kernel has; 0: whole waves of units */
    uint32_t sms;   /* with `units`: the kernel has blocks for so many SMs; 0: for all */
    double part;    /* the part of the device's time that its kernels take alone, by `ns` */
    uint64_t left;  /* launches that it has left */
    bool events;    /* it records an event after each launch */
    bool event_next;
    bool copies;        /* it has copies of `ns` each, and no kernels */
    uint64_t copied_ns; /* when the last of them ends */
    uint64_t dice;      /* not 0: its kernels take from half to one and a half of `ns` */
    /* Work done and the times, a millisecond apart at least. */
    struct {
        uint64_t when;
        double work;
    } done[DONE_MOST];
    unsigned done_count;
};

static struct tenant *tenants;
static unsigned tenant_count;
static unsigned part_count; /* parts of the device: tenants of different parts share no SMs */
static bool side_by_side;   /* kernels may run beside each other */
static uint64_t stalls;     /* not 0: other processes take the lane's CPU now and then */

/* ---- Launches -------------------------------------------------------------------------------- */

static inline uint64_t kernel_time(struct tenant *tenant)
{
    if (!tenant->dice)
        return tenant->ns;
    tenant->dice = tenant->dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return tenant->ns / 2 + (tenant->dice >> 33) % tenant->ns;
}

static inline void mark_issue(struct tenant *tenant)
{
    struct stream *stream = &tenant->session.submit.streams[0];

    gpu_fence((unsigned)(tenant - tenants), now + LATENCY_NS,
              &fences[inflight_fence_address(stream->inflight) / sizeof(uint64_t)],
              inflight_fence_next(stream->inflight), FENCE_PRIORITY);
    inflight_fence_follows(stream->inflight);
}

/* Drains copies, in which the SMs have no part: the last one signals its end. */
static inline uint32_t copies_drain(struct tenant *tenant, struct sched_allowance allowance)
{
    struct stream *stream = &tenant->session.submit.streams[0];

    for (uint32_t i = 0; i < allowance.launches; i++) {
        inflight_issue(stream->inflight);
        inflight_add_other(stream->inflight);
        tenant->copied_ns = (tenant->copied_ns > now ? tenant->copied_ns : now) + tenant->ns;
    }
    gpu_fence((unsigned)(tenant - tenants), tenant->copied_ns,
              &fences[inflight_fence_address(stream->inflight) / sizeof(uint64_t)],
              inflight_fence_next(stream->inflight), FENCE_PRIORITY);
    inflight_fence_follows(stream->inflight);
    return allowance.launches;
}

static inline void issue_some(struct tenant *tenant, const struct launch *launch, uint32_t count,
                              bool with_fence)
{
    struct session *session = &tenant->session;
    struct stream *stream = &session->submit.streams[0];
    unsigned index = (unsigned)(tenant - tenants);

    inflight_issue(stream->inflight);
    now += count == GRAPH_LENGTH ? GRAPH_NS : SINGLE_NS;
    for (uint32_t i = 0; i < count; i++) {
        if (tenant->units > 0)
            gpu_grid(index, now + LATENCY_NS, kernel_time(tenant), tenant->units, WORK_PRIORITY);
        else
            gpu_kernel(index, now + LATENCY_NS, kernel_time(tenant), WORK_PRIORITY);
    }
    inflight_add(stream->inflight, launch, count);
    if (with_fence)
        mark_issue(tenant);
}

/* Drains launches and events alternately; after what is thought to take RUN_NS / 2, a fence signals
 * the end. */
static inline uint32_t events_drain(struct tenant *tenant, const struct launch *launch,
                                    struct sched_allowance allowance)
{
    struct stream *stream = &tenant->session.submit.streams[0];
    uint64_t each = estimate_ns(&tenant->kernel, launch->grid, launch->block);
    uint64_t guessed = 0, since_fence = 0;
    uint32_t taken = 0;

    for (; taken < allowance.launches && guessed < allowance.ns; taken++) {
        if (tenant->event_next) {
            inflight_issue(stream->inflight);
            inflight_add_event(stream->inflight);
        } else {
            issue_some(tenant, launch, 1, since_fence + each >= RUN_NS / 2);
            since_fence = since_fence + each >= RUN_NS / 2 ? 0 : since_fence + each;
            guessed += each;
        }
        tenant->event_next = !tenant->event_next;
    }
    if (inflight_open_count(stream->inflight) > 0)
        mark_issue(tenant);
    return taken;
}

/* Drains a tenant, which has launches of one kernel, and one stream. They go as exec graphs and
 * singles, of which some, and the last one, signal their end. */
uint32_t stream_drain(struct session *session, uint32_t index, struct sched_allowance allowance,
                      enum drained *drained)
{
    struct tenant *tenant = (struct tenant *)(void *)session;
    const uint32_t sms = tenant->sms ? tenant->sms : SM_COUNT;
    const uint32_t blocks =
        tenant->units > 0 ? sms * tenant->units : (uint32_t)(tenant->ns * SM_COUNT * 8 / 15000);
    const struct launch launch = {.kernel = &tenant->kernel,
                                  .partition = session->grant.partition,
                                  .grid = {blocks, 1, 1},
                                  .block = {tenant->units > 0 ? UNIT_THREADS : 256, 1, 1}};
    uint64_t each = estimate_ns(&tenant->kernel, launch.grid, launch.block);
    uint32_t count = 0;

    assert_int_equal(index, 0);
    if (tenant->copies) {
        *drained = DRAINED_SOME;
        return copies_drain(tenant, allowance);
    }
    if (tenant->events) {
        *drained = DRAINED_SOME;
        return events_drain(tenant, &launch, allowance);
    }
    while (count < tenant->left && count < allowance.launches && count * each < allowance.ns)
        count++;
    tenant->left -= count;
    for (uint32_t left = count, silent = 0; left > 0;) {
        uint32_t some = left >= GRAPH_LENGTH ? GRAPH_LENGTH : 1;
        bool with_fence = left == some || (some == GRAPH_LENGTH &&
                                           (silent > 0 || GRAPH_LENGTH * each > RUN_NS / 2));
        issue_some(tenant, &launch, some, with_fence);
        silent = with_fence ? 0 : silent + some;
        left -= some;
    }
    *drained = tenant->left > 0 ? DRAINED_SOME : DRAINED_ALL;
    return count;
}

/* ---- The play -------------------------------------------------------------------------------- */

static inline void play_begin(unsigned count)
{
    assert_int_equal(fences_open(), CUDA_SUCCESS);
    now += START;
    gpu_reset(now);
    domains_init();
    part_count = 1;
    stalls = 0;
    side_by_side = false;
    worker_begin()->info.sm_count = SM_COUNT;
    worker_begin()->policy.accounting = 1;
    tenants = aligned_alloc(_Alignof(struct tenant), count * sizeof(*tenants));
    assert_non_null(tenants);
    memset(tenants, 0, count * sizeof(*tenants));
    tenant_count = lane.polled_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct tenant *tenant = &tenants[i];
        struct session *session = &tenant->session;
        tenant->kernel = (struct kernel){.serial = 1, .wave_ns = WAVE_NS};
        tenant->kernels[0] = &tenant->kernel;
        tenant->left = UINT64_MAX;
        session->slot = i;
        session->lane = &lane;
        session->kernels.table = tenant->kernels;
        session->kernels.capacity = 1;
        session->client = calloc(1, sizeof(*session->client));
        session->stats = calloc(1, sizeof(*session->stats));
        session->round.pending = 1;
        session->submit.streams[0].inflight = inflight_new(session, 0);
        assert_true(session->client && session->stats && session->submit.streams[0].inflight);
        lane.polled[i] = session;
        session->sched.polled = true;
        domain_join(session);
        domains_add(session);
    }
}

static inline void play_end(void)
{
    for (unsigned i = 0; i < tenant_count; i++) {
        inflight_remove(&tenants[i].session);
        inflight_free(tenants[i].session.submit.streams[0].inflight);
        free(tenants[i].session.client);
        free(tenants[i].session.stats);
    }
    free(tenants);
    lane.polled_count = 0;
}

static inline void done_note(struct tenant *tenant)
{
    double work = gpu_done((unsigned)(tenant - tenants)) * tenant->part;
    unsigned last = tenant->done_count;

    if (last > 0 &&
        (work == tenant->done[last - 1].work || now - tenant->done[last - 1].when < RUN_NS))
        return;
    assert_true(last < DONE_MOST);
    tenant->done[last].when = now;
    tenant->done[last].work = work;
    tenant->done_count++;
}

/* Lets the lane stall between reading the clock and looking at the fences. */
static inline void stall(void)
{
    if (stalls == 0 || ++stalls % STALL_TURNS)
        return;
    now += STALL_NS;
    gpu_run(now);
}

static inline void play_until(uint64_t end)
{
    while (now < end) {
        gpu_run(now);
        for (unsigned i = 0; i < tenant_count; i++)
            done_note(&tenants[i]);
        lane.now = now;
        stall();
        round_look(&lane);
        round_serve(&lane);
        now += lane.stay_awake ? TURN_NS + SESSION_NS * tenant_count : round_nap(&lane) + SLACK_NS;
    }
}

/* The work done until then, with kernels that were running counted in part. -1: the play has not
 * come so far. */
static inline double work_at(const struct tenant *tenant, uint64_t when)
{
    for (unsigned i = 1; i < tenant->done_count; i++) {
        uint64_t from = tenant->done[i - 1].when, to = tenant->done[i].when;
        double before = tenant->done[i - 1].work, after = tenant->done[i].work;
        if (to >= when)
            return before + (after - before) * ((double)when - (double)from) / (double)(to - from);
    }
    return -1;
}

static inline double work_in_interval(const struct tenant *tenant, uint64_t from)
{
    return work_at(tenant, from + INTERVAL_NS) - work_at(tenant, from);
}

/* Plays an interval in which all tenants have work. Returns when it began. */
static inline uint64_t interval_play(void)
{
    uint64_t from = now + SETTLE_NS, charged = 0;

    play_until(from);
    for (unsigned i = 0; i < tenant_count; i++)
        charged -= tenants[i].session.stats->gpu_ns;
    play_until(from + INTERVAL_NS);
    for (unsigned i = 0; i < tenant_count; i++)
        charged += tenants[i].session.stats->gpu_ns;
    /* All charges together are the time that passed, to a long kernel at either end. */
    assert_true(charged >= part_count * INTERVAL_NS * 96 / 100);
    assert_true(side_by_side || charged <= part_count * INTERVAL_NS * 102 / 100);
    for (unsigned seen = 0; seen < tenant_count;) {
        play_until(now + SETTLE_NS);
        while (seen < tenant_count && work_at(&tenants[seen], from + INTERVAL_NS) >= 0)
            seen++;
        assert_true(now < from + 2 * INTERVAL_NS); /* nobody starves */
    }
    return from;
}

#endif
