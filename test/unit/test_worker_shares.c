/*
 * test_worker_shares.c - tenants that saturate the device with kernels of any length have the
 * shares that their weights say, and those on SMs of their own have these to themselves.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "play_rig.h"

static const uint64_t lengths[] = {20000, 20000000, 200000, 2000000, 50000, 7000000};
static double alone[ARRAY_SIZE(lengths)]; /* `part` of struct tenant, for each length */
static double alone_wave_ns[ARRAY_SIZE(lengths)];

static void a_lone_tenant_has_the_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
        play_begin(1);
        tenants[0].ns = lengths[i];
        tenants[0].part = 1;
        double work = work_in_interval(&tenants[0], interval_play()) / (double)INTERVAL_NS;
        alone_wave_ns[i] = tenants[0].kernel.wave_ns;
        play_end();
        /* The device loses the microsecond between two kernels, and what fences take. */
        double most = (double)lengths[i] / ((double)lengths[i] + 1000);
        assert_true(work > 0.97 * most);
        alone[i] = 1 / work;
    }
}

/* Checks the shares in the window that began at `from`, among tenants that share SMs. busy: the
 * least part of the time in which they have work done. */
static void shares_among(uint64_t from, unsigned first, unsigned count, double busy)
{
    unsigned weights = 0;
    double all = 0;

    for (unsigned i = first; i < first + count; i++) {
        weights += tenants[i].session.sched.entity.weight;
        all += work_in_interval(&tenants[i], from);
    }
    if (all < busy * (double)INTERVAL_NS)
        fail_msg("%u tenants did %.1f ms of work", count, all / 1e6);
    for (unsigned i = first; i < first + count; i++) {
        const struct tenant *tenant = &tenants[i];
        double wanted = all * tenant->session.sched.entity.weight / weights;
        double had = work_in_interval(tenant, from);
        /* The window may hold a kernel more or less, where their lengths differ. */
        double most = 0.05 * wanted + (double)tenant->ns * (tenant->dice ? 1 : 0.25);
        if (had < wanted - most || had > wanted + most)
            fail_msg("tenant %u of %u, kernels of %llu us, weight %u: %.1f ms, not %.1f", i,
                     tenant_count, (unsigned long long)tenant->ns / 1000,
                     tenant->session.sched.entity.weight, had / 1e6, wanted / 1e6);
    }
}

static void shares_check(double busy)
{
    shares_among(interval_play(), 0, tenant_count, busy);
}

static void tenant_set(unsigned index, size_t length, uint32_t weight)
{
    tenants[index].ns = lengths[length];
    tenants[index].part = alone[length];
    tenants[index].session.sched.entity.weight = weight;
}

/* Gives the tenant kernels of a block for each place that they take, whose time their grid does not
 * tell. */
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
        shares_check(0.95); /* an end that comes too early may find the lane asleep */
        play_end();
    }
}

/* The device's clock is laid against the host's by what both say of a fence. */
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
 * run as fast as alone, or they share the SMs' arithmetic. */
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
        double work = work_in_interval(&tenants[0], interval_play()) / (double)INTERVAL_NS;
        play_end();
        assert_true(work > 0.9);
        grid_part[width][length] = 1 / work;
    }
}

/* Plays tenants with grids of one width, or of several widths in turn from `first` on. */
static void grids_play(unsigned count, unsigned speed, unsigned first, unsigned many, double busy)
{
    play_begin(count);
    gpu_speed(speeds[speed]);
    side_by_side = widths[first] <= GPU_SLOTS / 8;
    for (unsigned i = 0; i < count; i++) {
        unsigned length = i % 4, width = first + i * 3 % many;
        tenant_grid(i, length, widths[width], grid_part[width][length]);
        tenants[i].session.sched.entity.weight = 1 + (i / 4 + i) % 4;
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

/* The tenant of the most weight runs all the time, as long as there is room, and the others by
 * their weights. */
static void narrow_kernels_run_beside_each_other_and_shares_follow_the_weights(void **state)
{
    static const struct {
        unsigned count;
        /* the work that they do together at least, in times of the device's time */
        double narrow, quarter;
    } plays[] = {{2, 1.45, 1.45}, {4, 2.4, 1.9}, {8, 3.5, 1.9}};

    (void)state;
    for (unsigned n = 0; n < ARRAY_SIZE(plays); n++) {
        grids_play(plays[n].count, 0, 0, 1, plays[n].narrow);
        grids_play(plays[n].count, 0, 1, 1, plays[n].quarter);
        grids_play(plays[n].count, 0, 0, 5, 0.95);
    }
    grids_play(TENANTS_MAX, 0, 0, 5, 0.95);
}

/* The first tenant began with a kernel that fills the device. Its kernels since fill less than a
 * 20th of it: they go whenever they like, so there are always some in flight. */
static void who_once_had_a_wide_kernel_is_in_nobodys_way_any_more(void **state)
{
    (void)state;
    play_begin(4);
    gpu_speed(speeds[0]);
    side_by_side = true;
    tenant_grid(0, 2, GPU_SLOTS / 2, 1);
    for (unsigned i = 1; i < tenant_count; i++) {
        tenant_grid(i, 0, widths[0], 1);
        tenants[i].session.round.pending = 0;
    }
    tenants[0].left = 1;
    play_until(now + 1);
    tenant_grid(0, 0, 1, 1);
    tenants[0].sms = SM_COUNT * 3 / 4;
    tenants[0].left = UINT64_MAX;
    tenants[0].session.round.pending = 1;
    play_until(now + RUN_NS);
    for (unsigned i = 1; i < tenant_count; i++)
        tenants[i].session.round.pending = 1;
    uint64_t from = interval_play();
    for (unsigned i = 0; i < tenant_count; i++) {
        double had = work_in_interval(&tenants[i], from) / (double)INTERVAL_NS;
        if (had < 0.9)
            fail_msg("tenant %u ran %.3f of the time", i, had);
    }
    play_end();
}

/* The first tenant's kernels fill less than a 20th of the device and go whenever they like. The
 * others alternate as if it were not there; and when it has wide kernels, it does not have the
 * device to itself for what it could not use. */
static void who_fills_little_keeps_nobody_off_and_is_owed_nothing(void **state)
{
    (void)state;
    for (uint32_t sms = 4; sms < SM_COUNT; sms *= 5) {
        play_begin(3);
        gpu_speed(speeds[0]);
        side_by_side = true;
        for (unsigned i = 0; i < 3; i++) {
            tenant_grid(i, 2 * i, widths[4], 1);
            tenants[i].session.sched.entity.weight = 1 + i;
        }
        tenant_grid(0, 0, 1, 1);
        tenants[0].sms = sms;
        uint64_t from = interval_play();
        shares_among(from, 1, 2, 0.9);
        assert_true(work_in_interval(&tenants[0], from) > 0.9 * (double)INTERVAL_NS);
        tenant_grid(0, 0, widths[4], 1);
        tenants[0].sms = 0;
        shares_among(interval_play(), 0, 3, 0.75);
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

/* Grants the tenant a half of the SMs from now on. */
static void tenant_place(unsigned index, unsigned which)
{
    struct grant *grant = &tenants[index].session.grant;

    half[0].mask = sm_mask_first(SM_COUNT / 2);
    half[1].mask = sm_mask_minus(sm_mask_first(SM_COUNT), half[0].mask);
    grant->partition = &half[which];
    grant->mask = half[which].mask;
    gpu_part(index, which);
    part_count = 2;
    domains_moved();
}

/* Each tenant has its half as it would have it alone, and what is learned of its kernels is the
 * same. */
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
        uint64_t from = interval_play();
        for (unsigned i = 0; i < 2; i++) {
            double had = work_in_interval(&tenants[i], from) / (double)INTERVAL_NS;
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
    uint64_t from = interval_play();
    shares_among(from, 0, 3, 0.97);
    shares_among(from, 3, 3, 0.97);
    play_end();
}

/* All tenants have the same quarter of the device. */
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
            domains_moved();
        }
        shares_check(0.95);
        play_end();
    }
}

int main(void)
{
    /* The first test measures for the others what kernels take alone. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lone_tenant_has_the_device),
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
