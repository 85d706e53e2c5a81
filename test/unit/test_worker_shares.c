/*
 * test_worker_shares.c - the dispatcher's turns, what it notes of the device and its schedule,
 * against a device and a clock that are numbers: tenants that saturate the device with kernels of
 * any length have what their weights say, and those on SMs of their own have these to themselves.
 *
 * The device is fake_gpu.c's. Here are launches that cost the dispatcher's time as they
 * do on an H200.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "fake_gpu.h"
#include "fake_marks.h"
#include "fake_turn.h"
#include "worker/flight.h"
#include "worker/lines.h"
#include "worker/partition.h"
#include "worker/turn.h"

#define TENANTS_MAX   16u
#define SM_COUNT      132u
#define CHAIN         8u
#define UNIT_THREADS  (2048u / GPU_SLOTS) /* of an SM */
#define START         UINT64_C(1000000000)
#define SETTLE_NS     UINT64_C(200000000)
#define WINDOW_NS     UINT64_C(2000000000)
#define RUN_NS        1000000u
#define DONE_MOST     8192u
#define WAVE_NS       7500.0 /* of any kernel, before it has been measured with its grid */
/* The dispatcher's own time. */
#define CHAIN_NS      8000u
#define SINGLE_NS     1500u
#define TURN_NS       700u
#define SESSION_NS    150u
#define LATENCY_NS    4000u  /* from the end of a launch's call to the device */
#define SLACK_NS      60000u /* that a sleep takes longer */
#define STALL_NS      150000u
#define STALL_TURNS   8192u /* between two of them */
/* Priorities of the device: of normal work, and of the kernel that marks its end. */
#define WORK_PRIORITY (-2)
#define MARK_PRIORITY (-5)

struct tenant {
    struct session session; /* first: what the turns know of it */
    struct kernel kernel, *kernels[1];
    uint64_t ns;    /* each of its kernels, alone */
    uint32_t units; /* of the device's, that each of them has; 0: waves of all */
    uint32_t sms;   /* where it has `units`: it has blocks for so many SMs; 0: for all */
    double part;    /* what its kernels take of the device's time, alone, by `ns` */
    uint64_t left;  /* launches that it still has */
    bool events;    /* one after each launch */
    bool event_next;
    bool copies;        /* it has copies of `ns` each, and no kernels */
    uint64_t copied_ns; /* when the last of them ends */
    uint64_t dice;      /* not 0: its kernels take from half to one and a half of `ns` */
    /* Work done and when, a millisecond apart at least. */
    struct {
        uint64_t when;
        double work;
    } done[DONE_MOST];
    unsigned done_count;
};

static struct tenant *tenants;
static unsigned tenant_count;
static unsigned part_count; /* of the device: tenants of different ones share no SMs */
static bool side_by_side;   /* kernels run beside each other */
static uint64_t stalls;     /* not 0: others take the dispatcher's processor now and then */

/* ---- Launches -------------------------------------------------------------------------------- */

static uint64_t kernel_time(struct tenant *tenant)
{
    if (!tenant->dice)
        return tenant->ns;
    tenant->dice = tenant->dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return tenant->ns / 2 + (tenant->dice >> 33) % tenant->ns;
}

static void mark_issue(struct tenant *tenant)
{
    struct stream *stream = &tenant->session.streams[0];

    gpu_mark((unsigned)(tenant - tenants), now + LATENCY_NS,
             &marks[flight_address(&tenant->session, stream) / sizeof(uint64_t)],
             flight_next(stream), MARK_PRIORITY);
    flight_close(&tenant->session, stream);
}

/* Copies, which the SMs have no part in: the last tells its end. */
static uint32_t copies_drain(struct tenant *tenant, struct sched_room room)
{
    struct stream *stream = &tenant->session.streams[0];

    for (uint32_t i = 0; i < room.launches; i++) {
        flight_issue(stream);
        flight_add_other(stream);
        tenant->copied_ns = (tenant->copied_ns > now ? tenant->copied_ns : now) + tenant->ns;
    }
    gpu_mark((unsigned)(tenant - tenants), tenant->copied_ns,
             &marks[flight_address(&tenant->session, stream) / sizeof(uint64_t)],
             flight_next(stream), MARK_PRIORITY);
    flight_close(&tenant->session, stream);
    return room.launches;
}

static void issue_some(struct tenant *tenant, const struct launch *launch, uint32_t count,
                       bool marked)
{
    struct session *session = &tenant->session;
    struct stream *stream = &session->streams[0];
    unsigned index = (unsigned)(tenant - tenants);

    flight_issue(stream);
    now += count == CHAIN ? CHAIN_NS : SINGLE_NS;
    for (uint32_t i = 0; i < count; i++) {
        if (tenant->units > 0)
            gpu_grid(index, now + LATENCY_NS, kernel_time(tenant), tenant->units, WORK_PRIORITY);
        else
            gpu_kernel(index, now + LATENCY_NS, kernel_time(tenant), WORK_PRIORITY);
    }
    flight_add(stream, launch, count);
    if (marked)
        mark_issue(tenant);
}

/* Launches and events by turns; what is thought to take RUN_NS / 2 tells its end. */
static uint32_t events_drain(struct tenant *tenant, const struct launch *launch,
                             struct sched_room room)
{
    struct stream *stream = &tenant->session.streams[0];
    uint64_t each = flight_guess(&tenant->kernel, launch->grid, launch->block);
    uint64_t guessed = 0, unmarked = 0;
    uint32_t taken = 0;

    for (; taken < room.launches && guessed < room.ns; taken++) {
        if (tenant->event_next) {
            flight_issue(stream);
            flight_add_event(stream);
        } else {
            issue_some(tenant, launch, 1, unmarked + each >= RUN_NS / 2);
            unmarked = unmarked + each >= RUN_NS / 2 ? 0 : unmarked + each;
            guessed += each;
        }
        tenant->event_next = !tenant->event_next;
    }
    if (flight_open_count(stream) > 0)
        mark_issue(tenant);
    return taken;
}

/* A tenant has launches of one kernel, and a session one stream. They go as chains and singles, of
 * which some and the last tell their end. */
uint32_t stream_drain(struct session *session, uint32_t index, struct sched_room room,
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
    uint64_t each = flight_guess(&tenant->kernel, launch.grid, launch.block);
    uint32_t count = 0;

    assert_int_equal(index, 0);
    if (tenant->copies) {
        *drained = DRAINED_SOME;
        return copies_drain(tenant, room);
    }
    if (tenant->events) {
        *drained = DRAINED_SOME;
        return events_drain(tenant, &launch, room);
    }
    while (count < tenant->left && count < room.launches && count * each < room.ns)
        count++;
    tenant->left -= count;
    for (uint32_t left = count, silent = 0; left > 0;) {
        uint32_t some = left >= CHAIN ? CHAIN : 1;
        bool marked = left == some || (some == CHAIN && (silent > 0 || CHAIN * each > RUN_NS / 2));
        issue_some(tenant, &launch, some, marked);
        silent = marked ? 0 : silent + some;
        left -= some;
    }
    *drained = tenant->left > 0 ? DRAINED_SOME : DRAINED_ALL;
    return count;
}

/* ---- The play -------------------------------------------------------------------------------- */

static void play_begin(unsigned count)
{
    assert_int_equal(marks_open(), CUDA_SUCCESS);
    now += START;
    gpu_reset(now);
    lines = (struct lines){.used = 1};
    part_count = 1;
    stalls = 0;
    side_by_side = false;
    worker.info.sm_count = SM_COUNT;
    worker.policy.accounting = 1;
    tenants = calloc(count, sizeof(*tenants));
    assert_non_null(tenants);
    tenant_count = roster.hot_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct tenant *tenant = &tenants[i];
        struct session *session = &tenant->session;
        tenant->kernel = (struct kernel){.serial = 1, .wave_ns = WAVE_NS};
        tenant->kernels[0] = &tenant->kernel;
        tenant->left = UINT64_MAX;
        session->slot = i;
        session->kernels = tenant->kernels;
        session->kernel_room = 1;
        session->client = calloc(1, sizeof(*session->client));
        session->stats = calloc(1, sizeof(*session->stats));
        session->pending = 1;
        session->streams[0].flight = flight_new(session, &session->streams[0]);
        assert_true(session->client && session->stats && session->streams[0].flight);
        roster.hot[i] = session;
        session->hot = true;
        lines_enter(session);
    }
}

static void play_end(void)
{
    for (unsigned i = 0; i < tenant_count; i++) {
        flights_leave(&tenants[i].session);
        free(tenants[i].session.streams[0].flight);
        free(tenants[i].session.client);
        free(tenants[i].session.stats);
    }
    free(tenants);
    roster.hot_count = 0;
}

static void done_note(struct tenant *tenant)
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

/* Between the reading of the clock and the look at the marks. */
static void stall(void)
{
    if (stalls == 0 || ++stalls % STALL_TURNS)
        return;
    now += STALL_NS;
    gpu_run(now);
}

static void play_until(uint64_t end)
{
    while (now < end) {
        gpu_run(now);
        for (unsigned i = 0; i < tenant_count; i++)
            done_note(&tenants[i]);
        dispatch.now = now;
        stall();
        turn_take();
        now += dispatch.live ? TURN_NS + SESSION_NS * tenant_count : turn_nap() + SLACK_NS;
    }
}

/* Work done until then: kernels that ran then count in part. -1: it has not come so far. */
static double work_at(const struct tenant *tenant, uint64_t when)
{
    for (unsigned i = 1; i < tenant->done_count; i++) {
        uint64_t from = tenant->done[i - 1].when, to = tenant->done[i].when;
        double before = tenant->done[i - 1].work, after = tenant->done[i].work;
        if (to >= when)
            return before + (after - before) * ((double)when - (double)from) / (double)(to - from);
    }
    return -1;
}

static double work_in_window(const struct tenant *tenant, uint64_t from)
{
    return work_at(tenant, from + WINDOW_NS) - work_at(tenant, from);
}

/* A window in which all have work. Returns when it began. */
static uint64_t window_play(void)
{
    uint64_t from = now + SETTLE_NS, charged = 0;

    play_until(from);
    for (unsigned i = 0; i < tenant_count; i++)
        charged -= tenants[i].session.stats->gpu_ns;
    play_until(from + WINDOW_NS);
    for (unsigned i = 0; i < tenant_count; i++)
        charged += tenants[i].session.stats->gpu_ns;
    /* All that is charged to somebody is the time that passed, to a long kernel at either end. */
    assert_true(charged >= part_count * WINDOW_NS * 96 / 100);
    assert_true(side_by_side || charged <= part_count * WINDOW_NS * 102 / 100);
    for (unsigned seen = 0; seen < tenant_count;) {
        play_until(now + SETTLE_NS);
        while (seen < tenant_count && work_at(&tenants[seen], from + WINDOW_NS) >= 0)
            seen++;
        assert_true(now < from + 2 * WINDOW_NS); /* nobody starves */
    }
    return from;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static const uint64_t lengths[] = {20000, 20000000, 200000, 2000000, 50000, 7000000};
static double alone[ARRAY_SIZE(lengths)]; /* struct tenant's part */
static double alone_wave_ns[ARRAY_SIZE(lengths)];

static void a_lone_tenant_has_the_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        play_begin(1);
        tenants[0].ns = lengths[i];
        tenants[0].part = 1;
        double work = work_in_window(&tenants[0], window_play()) / (double)WINDOW_NS;
        alone_wave_ns[i] = tenants[0].kernel.wave_ns;
        play_end();
        /* Less the microsecond between two of its kernels, and what marks take. */
        double most = (double)lengths[i] / ((double)lengths[i] + 1000);
        assert_true(work > 0.97 * most);
        alone[i] = 1 / work;
    }
}

/* It always has the next kernel behind the one that runs, whatever it records between them. */
static void an_event_is_no_kernel_in_flight(void **state)
{
    (void)state;
    play_begin(1);
    tenants[0].ns = 600000;
    tenants[0].part = 1;
    tenants[0].events = true;
    tenants[0].session.sched.cls = GS_CLASS_BEST_EFFORT;
    double work = work_in_window(&tenants[0], window_play()) / (double)WINDOW_NS;
    play_end();
    assert_true(work > 0.97);
}

/* Who only copies has had the least of the SMs at any time, and its stream is mostly full. */
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
    play_until(now + WINDOW_NS);
    double work = (gpu_done(1) - before) / (double)WINDOW_NS;
    play_end();
    assert_true(work > 0.95);
}

/* The mark of what the tenant issued last is written at a time. */
static void mark_last(struct tenant *tenant, uint64_t when)
{
    struct session *session = &tenant->session;
    struct stream *stream = &session->streams[0];

    atomic_store_explicit(&marks[flight_address(session, stream) / sizeof(uint64_t)],
                          when << 24 | (flight_next(stream) - 1), memory_order_release);
}

static void issue_blocks(struct tenant *tenant, uint32_t count, uint32_t blocks)
{
    struct session *session = &tenant->session;
    const struct launch launch = {
        .kernel = &tenant->kernel, .grid = {SM_COUNT * blocks, 1, 1}, .block = {256, 1, 1}};

    flight_issue(&session->streams[0]);
    flight_add(&session->streams[0], &launch, count);
    flight_close(session, &session->streams[0]);
}

static void issue_scripted(struct tenant *tenant, uint32_t count)
{
    issue_blocks(tenant, count, 8);
}

/* Two kernels of half the device each run side by side: the second to end has only what the first
 * leaves of the time, but is known to take as long as it takes alone. */
static void kernels_side_by_side_are_not_thought_short(void **state)
{
    const uint64_t alone_ns = 1000000;

    (void)state;
    play_begin(2);
    for (unsigned i = 0; i < 2; i++) {
        tenants[i].kernel.wave_ns = 0;
        for (unsigned n = 0; n < 4; n++) {
            issue_blocks(&tenants[i], 1, 2);
            mark_last(&tenants[i], now + alone_ns);
            now += alone_ns + 10000;
            flights_poll(now);
        }
    }
    double before = tenants[1].kernel.wave_ns;
    for (unsigned n = 0; n < 100; n++) {
        for (unsigned i = 0; i < 2; i++)
            issue_blocks(&tenants[i], 1, 2);
        for (unsigned i = 0; i < 2; i++)
            mark_last(&tenants[i], now + alone_ns + 1000 * i);
        now += alone_ns + 10000;
        flights_poll(now);
    }
    assert_true(tenants[1].kernel.wave_ns > 0.9 * before);
    assert_true(tenants[1].kernel.wave_ns < 1.1 * before);
    /* Until it takes less by itself. */
    for (unsigned n = 0; n < 20; n++) {
        issue_blocks(&tenants[1], 1, 2);
        mark_last(&tenants[1], now + alone_ns / 10);
        now += alone_ns;
        flights_poll(now);
    }
    assert_true(tenants[1].kernel.wave_ns < 0.2 * before);
    play_end();
}

/* So that the clocks are known to each other. What the first tenant is charged for it. */
static uint64_t clocks_meet(void)
{
    issue_scripted(&tenants[0], 1);
    now += 10000;
    mark_last(&tenants[0], now);
    flights_poll(now);
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
    mark_last(&tenants[0], begun + 250000);
    mark_last(&tenants[1], begun + 200000);
    flights_poll(now);
    assert_in_range(tenants[0].session.stats->gpu_ns - had, 145000, 155000);
    assert_in_range(tenants[1].session.stats->gpu_ns, 195000, 205000);
    assert_int_equal(lines.line[0].wide, 0);
    play_end();
}

/* The first tenant sleeps behind a long kernel, so its session is not polled. When that has ended,
 * the second's short one, which waited behind it, has ended too and is seen at once. */
static void who_is_not_polled_has_its_time_too(void **state)
{
    const uint64_t long_ns = 20000000, short_ns = 1000000;
    uint64_t begun, had;

    (void)state;
    play_begin(2);
    for (unsigned i = 0; i < 2; i++)
        tenants[i].session.pending = 0;
    issue_scripted(&tenants[0], 1); /* so that the clocks are known to each other */
    now += 10000;
    mark_last(&tenants[0], now);
    dispatch.now = now;
    turn_take();
    had = tenants[0].session.stats->gpu_ns;
    begun = now += 100000;
    issue_scripted(&tenants[0], 1);
    now += 10000;
    issue_scripted(&tenants[1], 1);
    roster.hot_count = 1;
    roster.hot[0] = &tenants[1].session;
    mark_last(&tenants[0], begun + long_ns);
    mark_last(&tenants[1], begun + long_ns + short_ns);
    dispatch.now = now = begun + long_ns + short_ns + 50000;
    turn_take();
    roster.hot_count = 2;
    roster.hot[1] = &tenants[0].session;
    dispatch.now = now += 4000000;
    turn_take();
    assert_in_range(tenants[0].session.stats->gpu_ns - had, long_ns - 100000, long_ns + 100000);
    assert_in_range(tenants[1].session.stats->gpu_ns, short_ns - 100000, short_ns + 100000);
    assert_int_equal(lines.line[0].wide, 0);
    play_end();
}

/* The first tenant's long kernel ran behind the second's short one, and when both are looked at,
 * the event behind it has been told too. */
static void an_event_behind_a_kernel_takes_no_time_from_others(void **state)
{
    const uint64_t long_ns = 20000000, short_ns = 1000000;
    uint64_t begun, had;

    (void)state;
    play_begin(2);
    had = clocks_meet();
    begun = now += 100000;
    issue_scripted(&tenants[1], 1); /* looked at after who came later */
    now += 10000;
    issue_scripted(&tenants[0], 1);
    flight_issue(&tenants[0].session.streams[0]);
    flight_add_event(&tenants[0].session.streams[0]);
    flight_close(&tenants[0].session, &tenants[0].session.streams[0]);
    mark_last(&tenants[1], begun + short_ns);
    mark_last(&tenants[0], begun + short_ns + long_ns);
    now = begun + short_ns + long_ns + 50000;
    flights_poll(now);
    assert_in_range(tenants[0].session.stats->gpu_ns - had, long_ns - 100000, long_ns + 100000);
    assert_in_range(tenants[1].session.stats->gpu_ns, short_ns - 100000, short_ns + 100000);
    play_end();
}

/* Of the window that began at `from`, and tenants that share SMs. busy: the part of the time that
 * they have work done in, at least. */
static void shares_among(uint64_t from, unsigned first, unsigned count, double busy)
{
    unsigned weights = 0;
    double all = 0;

    for (unsigned i = first; i < first + count; i++) {
        weights += tenants[i].session.sched.weight;
        all += work_in_window(&tenants[i], from);
    }
    if (all < busy * (double)WINDOW_NS)
        fail_msg("%u tenants did %.1f ms of work", count, all / 1e6);
    for (unsigned i = first; i < first + count; i++) {
        const struct tenant *tenant = &tenants[i];
        double wanted = all * tenant->session.sched.weight / weights;
        double had = work_in_window(tenant, from);
        /* What a kernel more or less in the window is, where they differ. */
        double most = 0.05 * wanted + (double)tenant->ns * (tenant->dice ? 1 : 0.25);
        if (had < wanted - most || had > wanted + most)
            fail_msg("tenant %u of %u, kernels of %llu us, weight %u: %.1f ms, not %.1f", i,
                     tenant_count, (unsigned long long)tenant->ns / 1000,
                     tenant->session.sched.weight, had / 1e6, wanted / 1e6);
    }
}

static void shares_check(double busy)
{
    shares_among(window_play(), 0, tenant_count, busy);
}

static void tenant_set(unsigned index, size_t length, uint32_t weight)
{
    tenants[index].ns = lengths[length];
    tenants[index].part = alone[length];
    tenants[index].session.sched.weight = weight;
}

/* Kernels of a block for each place that they take, whose time their grid does not tell. */
static void tenant_grid(unsigned index, size_t length, uint32_t units, double part)
{
    tenants[index].ns = lengths[length];
    tenants[index].units = units;
    tenants[index].part = part;
    tenants[index].kernel.wave_ns = (double)lengths[length];
}

static void shares_follow_the_weights(void **state)
{
    (void)state;
    for (unsigned count = 2; count <= TENANTS_MAX; count *= 2) {
        play_begin(count);
        for (unsigned i = 0; i < count; i++)
            tenant_set(i, i % 4, 1 + (i / 4 + i) % 4);
        shares_check(0.97);
        play_end();
    }
}

static void shares_follow_any_weights(void **state)
{
    uint64_t dice = 1;

    (void)state;
    for (unsigned n = 0; n < 6; n++) {
        play_begin(3 + 2 * n);
        for (unsigned i = 0; i < tenant_count; i++) {
            dice = dice * UINT64_C(6364136223846793005) + 1442695040888963407u;
            tenant_set(i, (dice >> 33) % ARRAY_SIZE(lengths), 1 + (dice >> 50) % 8);
        }
        shares_check(0.97);
        play_end();
    }
}

static void shares_follow_the_weights_though_kernels_take_other_times_than_thought(void **state)
{
    (void)state;
    for (unsigned count = 3; count <= TENANTS_MAX; count += 6) {
        play_begin(count);
        for (unsigned i = 0; i < count; i++) {
            tenant_set(i, i % ARRAY_SIZE(lengths), 1 + i * 3 % 5);
            tenants[i].dice = i + 1;
        }
        shares_check(0.95); /* an end that comes too soon may meet the dispatcher asleep */
        play_end();
    }
}

/* The device's clock is laid against the host's by what both say of a mark. */
static void shares_follow_the_weights_though_the_dispatcher_loses_its_processor(void **state)
{
    (void)state;
    for (unsigned count = 4; count <= TENANTS_MAX; count *= 2) {
        play_begin(count);
        stalls = 1;
        for (unsigned i = 0; i < count; i++)
            tenant_set(i, i % 4, 1 + (i / 4 + i) % 4);
        shares_check(0.95);
        play_end();
    }
}

/* Kernels of 128 to 1,024 threads an SM, of which the device holds several. Beside each other they
 * run as fast as alone, or share the SMs' arithmetic. */
static const uint32_t widths[] = {2, 4, 7, 11, 16};
static const double speeds[] = {1, 4};
static double grid_part[ARRAY_SIZE(widths)][4];

static void a_lone_tenant_of_any_width_has_the_device(void **state)
{
    (void)state;
    for (unsigned n = 0; n < ARRAY_SIZE(widths) * 4; n++) {
        unsigned length = n % 4, width = n / 4;
        play_begin(1);
        gpu_speed(speeds[0]);
        tenant_grid(0, length, widths[width], 1);
        double work = work_in_window(&tenants[0], window_play()) / (double)WINDOW_NS;
        play_end();
        assert_true(work > 0.9);
        grid_part[width][length] = 1 / work;
    }
}

/* Tenants with grids of one width, or of several from `first` on by turns. */
static void grids_play(unsigned count, unsigned speed, unsigned first, unsigned many, double busy)
{
    play_begin(count);
    gpu_speed(speeds[speed]);
    side_by_side = widths[first] <= GPU_SLOTS / 8;
    for (unsigned i = 0; i < count; i++) {
        unsigned length = i % 4, width = first + i * 3 % many;
        tenant_grid(i, length, widths[width], grid_part[width][length]);
        tenants[i].session.sched.weight = 1 + (i / 4 + i) % 4;
    }
    shares_check(busy);
    play_end();
}

static void shares_follow_the_weights_of_kernels_that_slow_each_other_down(void **state)
{
    (void)state;
    for (unsigned count = 4; count <= 8; count *= 2) {
        for (unsigned speed = 0; speed < ARRAY_SIZE(speeds); speed++) {
            grids_play(count, speed, 2, 1, 0.95);
            grids_play(count, speed, 2, 3, 0.95);
        }
    }
}

/* The one of the most weight runs all the time, as long as there is room, and the others by theirs.
 */
static void narrow_kernels_run_beside_each_other_and_shares_follow_the_weights(void **state)
{
    static const struct {
        unsigned count;
        double narrow, quarter; /* times the device's time that they do together, at least */
    } plays[] = {{2, 1.45, 1.45}, {4, 2.4, 1.9}, {8, 3.5, 1.9}};

    (void)state;
    for (unsigned n = 0; n < ARRAY_SIZE(plays); n++) {
        grids_play(plays[n].count, 0, 0, 1, plays[n].narrow);
        grids_play(plays[n].count, 0, 1, 1, plays[n].quarter);
        grids_play(plays[n].count, 0, 0, 5, 0.95);
    }
    grids_play(TENANTS_MAX, 0, 0, 5, 0.95);
}

/* The first tenant began with a kernel that fills the device. Those since fill less than a 20th of
 * it: they go whenever they like, so there are always some in flight. */
static void who_once_had_a_wide_kernel_is_in_nobodys_way_any_more(void **state)
{
    (void)state;
    play_begin(3);
    gpu_speed(speeds[0]);
    side_by_side = true;
    tenant_grid(0, 2, GPU_SLOTS / 2, 1);
    tenant_grid(1, 2, widths[0], 1);
    tenant_grid(2, 2, widths[0], 1);
    for (unsigned i = 1; i < tenant_count; i++)
        tenants[i].session.pending = 0;
    tenants[0].left = 1;
    play_until(now + 1);
    tenant_grid(0, 0, 1, 1);
    tenants[0].sms = SM_COUNT * 3 / 4;
    tenants[0].left = UINT64_MAX;
    tenants[0].session.pending = 1;
    play_until(now + RUN_NS);
    for (unsigned i = 1; i < tenant_count; i++)
        tenants[i].session.pending = 1;
    uint64_t from = window_play();
    for (unsigned i = 0; i < tenant_count; i++) {
        double had = work_in_window(&tenants[i], from) / (double)WINDOW_NS;
        if (had < 0.9)
            fail_msg("tenant %u ran %.3f of the time", i, had);
    }
    play_end();
}

/* The first tenant's kernels fill less than a 20th of the device and go whenever they like. The
 * others take turns as if it were not there; and when it has others, it does not have the device to
 * itself for what it could not use. */
static void who_fills_little_keeps_nobody_off_and_is_owed_nothing(void **state)
{
    (void)state;
    for (uint32_t sms = 4; sms < SM_COUNT; sms *= 5) {
        play_begin(3);
        gpu_speed(speeds[0]);
        side_by_side = true;
        for (unsigned i = 0; i < 3; i++) {
            tenant_grid(i, 2 * i, widths[4], 1);
            tenants[i].session.sched.weight = 1 + i;
        }
        tenant_grid(0, 0, 1, 1);
        tenants[0].sms = sms;
        uint64_t from = window_play();
        shares_among(from, 1, 2, 0.9);
        assert_true(work_in_window(&tenants[0], from) > 0.9 * (double)WINDOW_NS);
        tenant_grid(0, 0, widths[4], 1);
        tenants[0].sms = 0;
        shares_among(window_play(), 0, 3, 0.75);
        play_end();
    }
}

static void shares_follow_the_weights_though_the_clocks_drift_apart(void **state)
{
    (void)state;
    for (int ppm = -100; ppm <= 100; ppm += 100) {
        gpu_drift(ppm * 1e-6);
        play_begin(8);
        for (unsigned i = 0; i < 8; i++)
            tenant_set(i, i % 4, 1 + (i / 4 + i) % 4);
        shares_check(0.97);
        play_end();
    }
    gpu_drift(0);
}

static struct partition half[2] = {{.id = 1, .sm_count = SM_COUNT / 2},
                                   {.id = 2, .sm_count = SM_COUNT / 2}};

/* Its grant from now on: a half of the SMs. */
static void tenant_place(unsigned index, unsigned which)
{
    struct grant *grant = &tenants[index].session.grant;

    half[0].mask = sm_mask_first(SM_COUNT / 2);
    half[1].mask = sm_mask_minus(sm_mask_first(SM_COUNT), half[0].mask);
    grant->partition = &half[which];
    grant->mask = half[which].mask;
    gpu_part(index, which);
    part_count = 2;
    lines_moved();
}

/* Each has its half as it would have it alone, and what is known of its kernels is the same. */
static void who_shares_no_sms_waits_for_nobody(void **state)
{
    (void)state;
    for (size_t n = 0; n < ARRAY_SIZE(lengths); n += 2) {
        const size_t length[2] = {n, n + 1};
        play_begin(2);
        for (unsigned i = 0; i < 2; i++) {
            tenant_set(i, length[i], 1 + 7 * i);
            tenant_place(i, i);
        }
        uint64_t from = window_play();
        for (unsigned i = 0; i < 2; i++) {
            double had = work_in_window(&tenants[i], from) / (double)WINDOW_NS;
            double off = tenants[i].kernel.wave_ns / alone_wave_ns[length[i]];
            if (had < 0.97 || off < 0.9 || off > 1.1)
                fail_msg(
                    "kernels of %llu us beside some of %llu: %.3f of the time, thought to take "
                    "%.2f of theirs",
                    (unsigned long long)lengths[length[i]] / 1000,
                    (unsigned long long)lengths[length[1 - i]] / 1000, had, off);
        }
        play_end();
    }
}

static void shares_follow_the_weights_in_each_half(void **state)
{
    (void)state;
    play_begin(6);
    for (unsigned i = 0; i < 6; i++) {
        tenant_set(i, i % 4, 1 + i % 3);
        tenant_place(i, i / 3);
    }
    uint64_t from = window_play();
    shares_among(from, 0, 3, 0.97);
    shares_among(from, 3, 3, 0.97);
    play_end();
}

/* Of the device nobody has more than the same quarter. */
static void shares_follow_the_weights_in_a_small_part(void **state)
{
    static struct partition quarter = {.id = 3, .sm_count = SM_COUNT / 4};

    (void)state;
    quarter.mask = sm_mask_first(SM_COUNT / 4);
    for (unsigned count = 2; count <= 8; count *= 2) {
        play_begin(count);
        for (unsigned i = 0; i < count; i++) {
            tenant_set(i, i % 4, 1 + (i / 4 + i) % 4);
            tenants[i].session.grant.partition = &quarter;
            tenants[i].session.grant.mask = quarter.mask;
            lines_moved();
        }
        shares_check(0.95);
        play_end();
    }
}

int main(void)
{
    /* The first tells the others what kernels take alone. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_tenant_has_the_device),
        cmocka_unit_test(an_event_is_no_kernel_in_flight),
        cmocka_unit_test(copies_keep_nobody_off),
        cmocka_unit_test(kernels_side_by_side_are_not_thought_short),
        cmocka_unit_test(who_comes_between_has_the_time_since_it_came),
        cmocka_unit_test(who_is_not_polled_has_its_time_too),
        cmocka_unit_test(an_event_behind_a_kernel_takes_no_time_from_others),
        cmocka_unit_test(shares_follow_the_weights),
        cmocka_unit_test(shares_follow_any_weights),
        cmocka_unit_test(shares_follow_the_weights_though_kernels_take_other_times_than_thought),
        cmocka_unit_test(shares_follow_the_weights_though_the_dispatcher_loses_its_processor),
        cmocka_unit_test(shares_follow_the_weights_though_the_clocks_drift_apart),
        cmocka_unit_test(a_lone_tenant_of_any_width_has_the_device),
        cmocka_unit_test(shares_follow_the_weights_of_kernels_that_slow_each_other_down),
        cmocka_unit_test(narrow_kernels_run_beside_each_other_and_shares_follow_the_weights),
        cmocka_unit_test(who_fills_little_keeps_nobody_off_and_is_owed_nothing),
        cmocka_unit_test(who_once_had_a_wide_kernel_is_in_nobodys_way_any_more),
        cmocka_unit_test(who_shares_no_sms_waits_for_nobody),
        cmocka_unit_test(shares_follow_the_weights_in_each_half),
        cmocka_unit_test(shares_follow_the_weights_in_a_small_part),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
