/*
 * test_worker_schedule.c - the scheduler's arithmetic against a device and a clock that are
 * numbers: shares by weight, caps, order of classes and deadlines, and that nobody starves.
 *
 * The device takes launches in the order in which they come and runs one at a time, each filling
 * it; the test reports to the scheduler as a lane would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/util.h"
#include "worker/sched/schedule.h"

#define TENANTS_MAX 16
#define QUEUE       4096
#define SECOND      UINT64_C(1000000000)

/* Kernels that fill more than a quarter of the device are wide. */
static struct sched_work work_of(uint32_t launches, uint64_t ns, uint64_t device_ns)
{
    const uint32_t width = ns > 0 ? (uint32_t)(SCHED_WIDTH * device_ns / ns) : 0;

    return (struct sched_work){launches, 4 * width > SCHED_WIDTH ? launches : 0, ns, device_ns,
                               width};
}

static void issued(struct sched *sched, struct sched_entity *entity, uint32_t launches, uint64_t ns,
                   uint64_t device_ns, uint64_t now)
{
    const struct sched_work work = work_of(launches, ns, device_ns);

    sched_issued(sched, entity, &work, now);
}

static void done(struct sched *sched, struct sched_entity *entity, uint32_t launches, uint64_t ns,
                 uint64_t device_ns, uint64_t took_ns, uint64_t now)
{
    const struct sched_work work = work_of(launches, ns, device_ns);

    sched_done(sched, entity, &work, took_ns, now);
}

struct tenant {
    struct sched_entity entity;
    uint64_t kernel_ns; /* each of its launches */
    uint64_t ran_ns;
    uint64_t longest_wait, ended_ns; /* between two ends */
    bool wants;
};

static struct play {
    struct sched sched;
    struct tenant tenant[TENANTS_MAX];
    unsigned count;
    unsigned queue[QUEUE]; /* launches on the device, by tenant */
    unsigned first, last;
    uint64_t now;
    /* not 0: launches take from half to twice the time that they are thought to take */
    uint64_t dice;
} play;

static void play_reset(unsigned count)
{
    memset(&play, 0, sizeof(play));
    play.count = count;
    for (unsigned i = 0; i < count; i++)
        play.tenant[i] = (struct tenant){.kernel_ns = 100000, .wants = true};
    play.now = SECOND;
}

/* Does what a lane does with a session that has endless work. */
static bool tenant_serve(struct tenant *tenant)
{
    struct sched_allowance allowance = sched_allowance(&play.sched, &tenant->entity);
    uint32_t launches = 0;

    if (allowance.launches > SCHED_STREAM_MAX)
        allowance.launches = SCHED_STREAM_MAX;
    for (uint64_t ns = 0; launches < allowance.launches && ns < allowance.ns;
         ns += tenant->kernel_ns) {
        play.queue[play.last++ % QUEUE] = (unsigned)(tenant - play.tenant);
        assert_true(play.last - play.first <= QUEUE);
        launches++;
    }
    if (launches)
        issued(&play.sched, &tenant->entity, launches, launches * tenant->kernel_ns,
               launches * tenant->kernel_ns,
               play.now + 7); /* a round has one time; its launches are later */
    sched_wait(&play.sched, &tenant->entity, play.now);
    return launches > 0;
}

static struct tenant *waiting_first(void)
{
    struct tenant *first = NULL;

    for (unsigned i = 0; i < play.count; i++) {
        struct tenant *tenant = &play.tenant[i];
        if (!tenant->wants || !tenant->entity.waiting ||
            !sched_allowance(&play.sched, &tenant->entity).launches)
            continue;
        if (!first || sched_before(&play.sched, &tenant->entity, &first->entity, play.now))
            first = tenant;
    }
    return first;
}

static void dispatch_turn(void)
{
    struct tenant *first;

    for (unsigned i = 0; i < play.count; i++) {
        if (!play.tenant[i].wants)
            continue;
        if (sched_contended(&play.sched))
            sched_wait(&play.sched, &play.tenant[i].entity, play.now);
        else
            tenant_serve(&play.tenant[i]);
    }
    while (sched_contended(&play.sched) && (first = waiting_first()) &&
           sched_open(&play.sched, &first->entity, play.now)) {
        if (!tenant_serve(first))
            break;
    }
}

/* Ends the launch at the head of the device's queue. */
static struct tenant *device_step(void)
{
    assert_true(play.first != play.last);
    struct tenant *tenant = &play.tenant[play.queue[play.first++ % QUEUE]];

    uint64_t took = tenant->kernel_ns;

    if (play.dice) {
        play.dice = play.dice * UINT64_C(6364136223846793005) + 1;
        took = took * (50 + (play.dice >> 33) % 150) / 100;
        for (unsigned part = 0; part < 10; part++) { /* the lane looks while the launch runs */
            play.now += took / 10;
            dispatch_turn();
        }
        took = took / 10 * 10;
    } else {
        play.now += took;
    }
    tenant->ran_ns += took;
    if (tenant->ended_ns && play.now - tenant->ended_ns > tenant->longest_wait)
        tenant->longest_wait = play.now - tenant->ended_ns;
    tenant->ended_ns = play.now;
    done(&play.sched, &tenant->entity, 1, tenant->kernel_ns, tenant->kernel_ns, took, play.now);
    return tenant;
}

static void play_for(uint64_t ns)
{
    for (uint64_t end = play.now + ns; play.now < end;) {
        dispatch_turn();
        device_step();
    }
}

/* ---- Tests ----------------------------------------------------------------------------------- */

/* Checks that each tenant's time is its weight's part of all, to 5% and one of its own kernels. */
static void shares_check(uint64_t seconds)
{
    uint64_t weights = 0, all = 0;

    for (unsigned i = 0; i < play.count; i++)
        weights += play.tenant[i].entity.weight;
    play_for(seconds * SECOND / 10); /* the tenants have caught up with each other */
    for (unsigned i = 0; i < play.count; i++)
        play.tenant[i].ran_ns = 0;
    play_for(seconds * SECOND);
    for (unsigned i = 0; i < play.count; i++)
        all += play.tenant[i].ran_ns;
    for (unsigned i = 0; i < play.count; i++) {
        const struct tenant *tenant = &play.tenant[i];
        double wanted = (double)all * tenant->entity.weight / (double)weights;
        double off = (double)tenant->ran_ns - wanted;
        if (off < 0)
            off = -off;
        if (off > 0.05 * wanted + (double)tenant->kernel_ns * (play.dice ? 2 : 1))
            fail_msg("tenant %u of %u, kernels of %llu us, weight %u: %.1f ms, not %.1f", i,
                     play.count, (unsigned long long)tenant->kernel_ns / 1000,
                     tenant->entity.weight, (double)tenant->ran_ns / 1e6, wanted / 1e6);
    }
}

static const uint64_t sizes[] = {20000, 20000000, 200000, 2000000, 50000, 7000000};

static void shares_of_all_mixes(uint64_t dice)
{
    for (unsigned count = 2; count <= TENANTS_MAX; count += dice ? 7 : 1) {
        for (unsigned mix = 0; mix < 4; mix++) {
            play_reset(count);
            play.dice = dice;
            for (unsigned i = 0; i < count; i++) {
                play.tenant[i].kernel_ns = sizes[(i * (mix + 1) + mix) % ARRAY_SIZE(sizes)];
                play.tenant[i].entity.weight = mix == 0 ? 1 : 1 + (i * mix) % 5;
            }
            shares_check(2);
        }
    }
}

static void shares_follow_the_weights_whatever_the_kernels(void **state)
{
    (void)state;
    shares_of_all_mixes(0);
}

static void shares_follow_the_weights_though_kernels_take_other_times_than_thought(void **state)
{
    (void)state;
    shares_of_all_mixes(1);
}

/* While several wait, the next is on the device before the one that runs has ended. */
static void short_kernels_leave_no_gap_between_them(void **state)
{
    struct sched_entity *entity;

    (void)state;
    play_reset(2);
    for (unsigned i = 0; i < 2; i++)
        play.tenant[i].kernel_ns = 1000000;
    play_for(SECOND / 10);
    for (unsigned n = 0; n < 100; n++) {
        entity = &play.tenant[play.queue[play.first % QUEUE]].entity;
        dispatch_turn();
        assert_true(entity->launches > 0);
        play.now += 1000000 - SCHED_REFILL_NS / 2;
        dispatch_turn();
        assert_true(play.last - play.first >= 2);
        play.now -= 1000000 - SCHED_REFILL_NS / 2;
        device_step();
    }
}

static void a_lone_session_keeps_the_device_busy(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        play_reset(1);
        play.tenant[0].kernel_ns = sizes[i];
        for (int n = 0; n < 1000; n++) {
            dispatch_turn();
            dispatch_turn();
            assert_true(play.last - play.first >= 2); /* one launch runs, and the next is there */
            device_step();
        }
        assert_false(sched_contended(&play.sched));
    }
}

static void who_was_idle_is_owed_nothing(void **state)
{
    (void)state;
    play_reset(2);
    play.tenant[0].entity.weight = play.tenant[1].entity.weight = 1;
    play.tenant[1].wants = false;
    play_for(5 * SECOND);
    play.tenant[1].wants = true;
    play.tenant[0].ran_ns = 0;
    play_for(SECOND);
    assert_in_range(play.tenant[0].ran_ns, 45 * SECOND / 100, 55 * SECOND / 100);
}

/* The tenant launched and waited, so nothing of it was ever held back, and no other was there. */
static void who_had_the_device_alone_owes_nothing(void **state)
{
    struct tenant *tenant = play.tenant;

    (void)state;
    play_reset(2);
    tenant[0].entity.weight = tenant[1].entity.weight = 1;
    for (unsigned n = 0; n < 100000; n++) {
        issued(&play.sched, &tenant[0].entity, 1, 100000, 100000, play.now);
        play.now += 100000;
        done(&play.sched, &tenant[0].entity, 1, 100000, 100000, 100000, play.now);
    }
    tenant[0].wants = false;
    play_for(SECOND / 100);
    tenant[0].wants = true;
    play_for(SECOND / 10);
    tenant[0].ran_ns = 0;
    play_for(SECOND);
    assert_in_range(tenant[0].ran_ns, 45 * SECOND / 100, 55 * SECOND / 100);
}

static void best_effort_starves_beside_nobody(void **state)
{
    (void)state;
    play_reset(4);
    for (unsigned i = 0; i < 3; i++)
        play.tenant[i].entity.weight = 1000;
    play.tenant[3].entity.weight = 1;
    play.tenant[3].entity.cls = GS_CLASS_BEST_EFFORT;
    play_for(10 * SECOND);
    assert_true(play.tenant[3].ran_ns > 0);
    assert_true(play.tenant[3].longest_wait < 200000000u);
}

static void a_light_weight_is_served_too(void **state)
{
    (void)state;
    play_reset(2);
    play.tenant[0].entity.weight = 1000;
    play.tenant[1].entity.weight = 1;
    play_for(10 * SECOND);
    assert_in_range(play.tenant[1].ran_ns, 5000000u, 20000000u);
}

static void classes_go_before_deadlines_and_these_before_shares(void **state)
{
    struct sched sched = {0};
    struct sched_entity latency = {.cls = GS_CLASS_LATENCY, .vtime = 1000},
                        late = {.deadline_ns = 9000, .vtime = 500},
                        early = {.deadline_ns = 8000, .vtime = 900}, none = {.vtime = 1},
                        back = {.cls = GS_CLASS_BEST_EFFORT, .deadline_ns = 1};
    const struct sched_entity *order[] = {&latency, &early, &late, &none, &back};

    (void)state;
    for (size_t a = 0; a < ARRAY_SIZE(order); a++) {
        for (size_t b = 0; b < ARRAY_SIZE(order); b++)
            assert_int_equal(sched_before(&sched, order[a], order[b], 0), a < b);
    }
}

static void deadlines_do_not_buy_more_than_an_advance(void **state)
{
    (void)state;
    play_reset(2);
    play.tenant[0].entity.weight = play.tenant[1].entity.weight = 1;
    play.tenant[0].entity.deadline_ns = 1; /* all its launches are late already */
    play_for(4 * SECOND);
    assert_in_range(play.tenant[1].ran_ns, 18 * SECOND / 10, 22 * SECOND / 10);
}

static void in_flight_stays_within_the_caps(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
        play_reset(1);
        play.tenant[0].kernel_ns = sizes[i];
        play.tenant[0].entity.cls = GS_CLASS_BEST_EFFORT;
        for (int n = 0; n < 100; n++) {
            const struct sched_entity *entity = &play.tenant[0].entity;
            dispatch_turn();
            assert_true(entity->launches <= 2 || entity->launches_ns <= SCHED_BACK_NS + sizes[i]);
            device_step();
        }
        play_reset(1);
        play.tenant[0].entity.launches_max = 3;
        for (int n = 0; n < 100; n++) {
            dispatch_turn();
            assert_in_range(play.tenant[0].entity.launches, 1, 3);
            device_step();
        }
    }
}

static void small_kernels_are_not_held_back_beside_others(void **state)
{
    struct sched sched = {.waiting = 2};
    struct sched_entity small = {.waiting = true}, large = {.waiting = true};

    (void)state;
    issued(&sched, &small, 1, 10000, 10, 0);
    done(&sched, &small, 1, 10000, 10, 10, 0);
    issued(&sched, &large, 1, 10000, 10000, 0);
    done(&sched, &large, 1, 10000, 10000, 10000, 0);
    assert_int_equal(sched_allowance(&sched, &small).ns, SCHED_AHEAD_NS);
    assert_int_equal(sched_allowance(&sched, &large).ns, SCHED_QUANTUM_NS);
    issued(&sched, &large, 1, SECOND, SECOND, 0);
    assert_true(sched_open(&sched, &small, 0));
}

/* The first tenant waits until the device is nearly free, also when it has nothing there: otherwise
 * all would have a kernel there at any time, each as long as it likes. */
static void the_first_waits_for_the_device(void **state)
{
    struct sched sched = {.waiting = 2};
    struct sched_entity running = {.waiting = true}, first = {.waiting = true};
    uint64_t round_ns = SECOND, began = round_ns + 7; /* within the round */

    (void)state;
    sched_wait(&sched, &first, round_ns);
    assert_true(sched_open(&sched, &first, round_ns));
    issued(&sched, &running, 1, SECOND, SECOND, began);
    assert_false(sched_open(&sched, &first, round_ns));
    /* Where nothing has ended for long, work on the device may wait for this one, so it goes. */
    assert_false(sched_open(&sched, &first, began + SCHED_STARVED_NS));
    assert_true(sched_open(&sched, &first, began + SCHED_STARVED_NS + 1));
    first.launches = 1;
    assert_false(sched_open(&sched, &first, began + SCHED_STARVED_NS + 1));
    /* The end of a short kernel is foreseen. */
    done(&sched, &running, 1, SECOND, SECOND, SECOND, round_ns);
    issued(&sched, &running, 1, 1000000, 1000000, round_ns);
    assert_false(sched_open(&sched, &first, round_ns + 1000000 - SCHED_REFILL_NS));
    assert_true(sched_open(&sched, &first, round_ns + 1000000 - SCHED_REFILL_NS + 1));
}

/* Kernels of two streams alternate: a long one would run between two short ones. */
static void the_next_goes_behind_the_last_kernel_only(void **state)
{
    struct sched sched = {.waiting = 2};
    struct sched_entity running = {.waiting = true}, first = {.waiting = true};
    const struct sched_work some = work_of(8, 800, 800), last = work_of(1, 100, 100);

    (void)state;
    sched_issued(&sched, &running, &some, SECOND);
    sched_issued(&sched, &running, &last, SECOND);
    assert_false(sched_open(&sched, &first, SECOND));
    sched_overdue(&sched, &running, &some);
    assert_true(sched_open(&sched, &first, SECOND));
    sched_class(&sched, &running, GS_CLASS_LATENCY);
    assert_int_equal(sched.wide, 0);
    sched_class(&sched, &running, GS_CLASS_NORMAL);
    sched_overdue_end(&sched, &running, &some);
    assert_false(sched_open(&sched, &first, SECOND));
    sched_done(&sched, &running, &some, 800, SECOND);
    assert_true(sched_open(&sched, &first, SECOND));
    sched_remove(&sched, &running);
    assert_int_equal(sched.wide, 0);
}

/* Copies that end tell neither how long a kernel still runs nor that it runs on and on. */
/* Up to half of the device together: so many do not slow each other down. */
static void kernels_of_a_quarter_of_the_device_run_beside_each_other(void **state)
{
    const uint64_t ms = 1000000, now = SECOND;
    struct sched sched = {0};
    struct sched_entity entity[4] = {{0}};

    (void)state;
    for (int i = 0; i < 4; i++) {
        sched_wait(&sched, &entity[i], now);
        issued(&sched, &entity[i], 1, 20 * ms, i == 3 ? 20 * ms : 5 * ms, now);
        done(&sched, &entity[i], 1, 20 * ms, i == 3 ? 20 * ms : 5 * ms, ms, now);
    }
    issued(&sched, &entity[0], 1, 20 * ms, 5 * ms, now);
    sched_width(&sched, &entity[0], 0, SCHED_WIDTH / 4);
    assert_true(sched_open(&sched, &entity[1], now));
    assert_false(sched_open(&sched, &entity[3], now));
    /* The next one of its own may go behind the one that runs, and no more. */
    assert_true(sched_open(&sched, &entity[0], now));
    issued(&sched, &entity[0], 1, 20 * ms, 5 * ms, now);
    assert_false(sched_open(&sched, &entity[0], now));
    issued(&sched, &entity[1], 1, 20 * ms, 5 * ms, now);
    sched_width(&sched, &entity[1], 0, SCHED_WIDTH / 4);
    assert_false(sched_open(&sched, &entity[2], now));
    sched_width(&sched, &entity[1], SCHED_WIDTH / 4, 0);
    assert_true(sched_open(&sched, &entity[2], now));
    /* A session that cannot have more is passed by those that find room beside it, and by no
     * other. */
    assert_true(sched_may_pass(&sched, &entity[2], now));
    assert_false(sched_may_pass(&sched, &entity[3], now));
    sched_remove(&sched, &entity[0]);
    sched_remove(&sched, &entity[1]);
    assert_int_equal(sched.width, 0);
}

static void what_one_that_was_passed_cannot_use_is_not_owed_to_it(void **state)
{
    struct sched_entity slow = {.weight = 2}, fast = {.vtime = 64 * SECOND};
    uint64_t least = 64 * SECOND - 32 * (uint64_t)SCHED_ADVANCE_NS;

    (void)state;
    sched_passed(&slow, &fast);
    assert_int_equal(slow.vtime, least);
    slow.vtime = least + 1000;
    sched_passed(&slow, &fast);
    assert_int_equal(slow.vtime, least + 1000);
}

static void the_end_of_a_copy_says_nothing_of_kernels(void **state)
{
    struct sched sched = {.waiting = 2};
    struct sched_entity running = {.waiting = true}, copying = {0}, first = {.waiting = true};

    (void)state;
    issued(&sched, &running, 1, 1000000, 1000000, SECOND);
    for (uint64_t now = SECOND; now < SECOND + 960000; now += 100000) {
        issued(&sched, &copying, 1, 0, 0, now);
        done(&sched, &copying, 1, 0, 0, 0, now + 50000);
        issued(&sched, &running, 1, 0, 0, now);
        done(&sched, &running, 1, 0, 0, 0, now + 50000);
    }
    assert_int_equal(sched_left(running.launches_ns, running.done_ns, SECOND + 960000), 40000);
    assert_true(sched_open(&sched, &first, SECOND + 960000));

    issued(&sched, &running, 2, 10000000, 10000000, SECOND + 960000);
    assert_false(sched_open(&sched, &first, SECOND + SCHED_STARVED_NS));
    issued(&sched, &copying, 1, 0, 0, SECOND + SCHED_STARVED_NS);
    done(&sched, &copying, 1, 0, 0, 0, SECOND + SCHED_STARVED_NS);
    assert_true(sched_open(&sched, &first, SECOND + SCHED_STARVED_NS + 1));
}

/* Copies that are ahead of a kernel are not the time that it has run. */
static void a_kernel_runs_from_its_own_issue_on(void **state)
{
    struct sched sched = {0};
    struct sched_entity entity = {0};

    (void)state;
    issued(&sched, &entity, 1, 0, 0, SECOND);
    issued(&sched, &entity, 1, 1000000, 1000000, SECOND + 5000000);
    assert_int_equal(sched_left(entity.launches_ns, entity.done_ns, SECOND + 5000000), 1000000);
}

static void latency_work_on_the_device_holds_nobody_back(void **state)
{
    struct sched sched = {.waiting = 2};
    struct sched_entity latency = {.cls = GS_CLASS_LATENCY}, other = {.waiting = true};

    (void)state;
    issued(&sched, &latency, 1, SECOND, SECOND, 0);
    assert_true(sched_open(&sched, &other, 0));
    sched_class(&sched, &latency, GS_CLASS_NORMAL);
    assert_false(sched_open(&sched, &other, 0));
    sched_class(&sched, &latency, GS_CLASS_LATENCY);
    done(&sched, &latency, 1, SECOND, SECOND, SECOND, SECOND);
    assert_int_equal(sched.device_ns, 0);
}

static void what_leaves_takes_all_that_it_had(void **state)
{
    (void)state;
    play_reset(2);
    dispatch_turn();
    dispatch_turn();
    assert_int_equal(play.sched.waiting, 2);
    assert_true(play.sched.device_ns > 0);
    sched_remove(&play.sched, &play.tenant[0].entity);
    sched_remove(&play.sched, &play.tenant[1].entity);
    sched_remove(&play.sched, &play.tenant[1].entity);
    assert_int_equal(play.sched.waiting, 0);
    assert_int_equal(play.sched.device_ns, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_follow_the_weights_whatever_the_kernels),
        cmocka_unit_test(shares_follow_the_weights_though_kernels_take_other_times_than_thought),
        cmocka_unit_test(short_kernels_leave_no_gap_between_them),
        cmocka_unit_test(a_lone_session_keeps_the_device_busy),
        cmocka_unit_test(who_was_idle_is_owed_nothing),
        cmocka_unit_test(who_had_the_device_alone_owes_nothing),
        cmocka_unit_test(best_effort_starves_beside_nobody),
        cmocka_unit_test(a_light_weight_is_served_too),
        cmocka_unit_test(classes_go_before_deadlines_and_these_before_shares),
        cmocka_unit_test(deadlines_do_not_buy_more_than_an_advance),
        cmocka_unit_test(in_flight_stays_within_the_caps),
        cmocka_unit_test(small_kernels_are_not_held_back_beside_others),
        cmocka_unit_test(the_first_waits_for_the_device),
        cmocka_unit_test(the_next_goes_behind_the_last_kernel_only),
        cmocka_unit_test(kernels_of_a_quarter_of_the_device_run_beside_each_other),
        cmocka_unit_test(what_one_that_was_passed_cannot_use_is_not_owed_to_it),
        cmocka_unit_test(the_end_of_a_copy_says_nothing_of_kernels),
        cmocka_unit_test(a_kernel_runs_from_its_own_issue_on),
        cmocka_unit_test(latency_work_on_the_device_holds_nobody_back),
        cmocka_unit_test(what_leaves_takes_all_that_it_had),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
