// Many sessions on few sets of SMs, for a worker holds no more: how evenly they lie, who shares a
// set with whom, and when there is none.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "placer_rig.h"

// Different sets, but all of the device, which is no partition.
static uint32_t sets_count(void)
{
    static struct sm_mask set[MANY];
    uint32_t sets = 0;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = 0;

        while (n < sets && !sm_mask_equal(&set[n], &session[i].mask))
            n++;
        if (n == sets && !sm_mask_equal(&session[i].mask, &device.all))
            set[sets++] = session[i].mask;
    }
    return sets;
}

// How evenly the capped sessions lie on groups of the usual size: at most a quarter of the mean,
// and two, lie between the most and the least.
static void expect_spread(uint32_t distance)
{
    uint32_t least = MANY, most = 0, sum = 0, usual = 0;

    for (uint32_t g = 0; g < device.group_count; g++) {
        uint32_t load = 0;

        if (device.group_sms[g] != device.group_sms[0])
            continue;
        for (uint32_t i = 0; i < count; i++)
            load += session[i].sms && sm_mask_meets(&device.group[g], &session[i].mask);
        least = load < least ? load : least;
        most = load > most ? load : most;
        sum += load;
        usual++;
    }
    if (!distance)
        distance = 2 + sum / usual / 4;
    if (most - least > distance)
        fail_msg("%u tenants, the last with %u SMs of %u: %u to %u on a group", count,
                 session[count - 1].sms, device.sm_count, least, most);
}

// What a count comes to: whole groups, and no more SMs than there are beside exclusive ones.
static uint32_t rounded(const struct placer_session *t)
{
    uint32_t size = device.granularity, sms = (t->sms + size - 1) / size * size;
    struct sm_mask room = t->within;

    for (uint32_t i = 0; i < count; i++) {
        if (session[i].exclusive && &session[i] != t)
            room = sm_mask_minus(room, session[i].mask);
    }
    return sms && sms < sm_mask_count(&room) ? sms : sm_mask_count(&room);
}

static void equal_requests_lie_evenly_in_few_sets(void **state)
{
    static const uint32_t shapes[][2] = {{132, 2}, {16, 2}, {129, 2}, {114, 2}};
    static struct sm_mask before[MANY];

    (void)state;
    for (size_t shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
        uint32_t all = shapes[shape][0], size = shapes[shape][1];

        for (uint32_t sms = 1; sms < all; sms++) {
            bool tiles;

            device_make(all, size);
            tiles = all % size == 0 && device.group_count % ((sms + size - 1) / size) == 0;
            while (count < 100) {
                for (uint32_t i = 0; i < count; i++)
                    before[i] = session[i].mask;
                expect_placed(add(sms, false));
                for (uint32_t i = 0; i + 1 < count; i++)
                    assert_true(sm_mask_equal(&before[i], &session[i].mask));
                assert_int_equal(sms_of(&session[count - 1]), rounded(&session[count - 1]));
                expect_spread(tiles);
            }
            assert_true(sets_count() <= device.group_count);
        }
    }
}

static void a_set_that_somebody_has_is_taken_where_it_is_as_good(void **state)
{
    (void)state;
    device_make(16, 2);
    expect_placed(add(2, false));
    for (uint32_t i = 0; i < 4; i++)
        expect_placed(add(6, false));
    // Groups 0 to 2 would be as good as 1 to 3.
    assert_true(sm_mask_equal(&session[4].mask, &session[1].mask));
}

// Each of many changes its mind in turn: they lie as evenly as if they had come so.
static void changed_requests_lie_evenly_in_few_sets(void **state)
{
    static const uint32_t changes[][2] = {{4, 33}, {6, 22}, {14, 66}, {22, 6}, {12, 11}, {4, 33}};

    (void)state;
    device_make(132, 2);
    while (count < 495)
        expect_placed(add(1, false));
    assert_int_equal(sets_count(), 66);
    for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
        for (uint32_t n = 0; n < count; n++) {
            session[n].sms = changes[i][0];
            expect_placed(&session[n]);
        }
        assert_true(sets_count() <= changes[i][1]);
        expect_spread(0);
    }
}

// All sets that there are are in use. Others of their sizes share them, and who comes with a new
// size gets one that others can do without.
static void who_needs_a_new_set_gets_one_that_others_can_spare(void **state)
{
    static struct sm_mask before[MANY];
    uint32_t moved = 0;

    (void)state;
    device_make(132, 2);
    for (uint32_t i = 0; i < LINK_SETS_MAX - 66; i++)
        expect_placed(add_masked(sm_mask_or(groups(i, 1), groups(i + 2, 2)), false));
    while (count < LINK_SETS_MAX - 66 + 2 * 66)
        expect_placed(add(2, false));
    assert_int_equal(sets_count(), LINK_SETS_MAX);
    for (uint32_t i = 0; i < count; i++)
        before[i] = session[i].mask;
    expect_placed(add(9, false));
    assert_int_equal(sms_of(&session[count - 1]), 10);
    assert_int_equal(sets_count(), LINK_SETS_MAX);
    for (uint32_t i = 0; i + 1 < count; i++) {
        assert_int_equal(sms_of(&session[i]), sm_mask_count(&before[i]));
        moved += !sm_mask_equal(&before[i], &session[i].mask);
    }
    assert_int_equal(moved, 2);
    // Another of that size shares it.
    expect_placed(add(10, false));
    assert_true(sm_mask_equal(&session[count - 1].mask, &session[count - 2].mask));
}

// Three sessions came when the odd group was taken, and have more SMs than they would get now:
// there is no other set for them, though theirs are the most alike. Two of another size can share
// one.
static void a_set_that_its_users_cannot_leave_does_not_stop_others(void **state)
{
    struct sm_mask before[5];

    (void)state;
    device_make(3 * 42 + 2, 3);
    expect_placed(add_masked(groups(42, 1), true));
    for (uint32_t i = 0; i < 5; i++)
        expect_placed(add(i < 3 ? 5 : 3, false));
    session[0] = session[--count];
    for (uint32_t i = 0; i < LINK_SETS_MAX - 5; i++)
        expect_placed(add_masked(groups(i % 36, 3 + i / 36), false));
    assert_int_equal(sets_count(), LINK_SETS_MAX);
    for (uint32_t i = 0; i < 5; i++) {
        before[i] = session[i].mask;
        assert_int_equal(sms_of(&session[i]), session[i].sms == 5 ? 6 : 3);
    }
    expect_placed(add_masked(groups(0, 8), false));
    assert_int_equal(sets_count(), LINK_SETS_MAX);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(sms_of(&session[i]), session[i].sms == 5 ? 6 : 3);
        if (session[i].sms == 5)
            assert_true(sm_mask_equal(&session[i].mask, &before[i]));
    }
    // There is none to spare any more, and what was tried in vain has moved nobody.
    expect_refused(add_masked(groups(0, 9), false), "128 different sets of SMs are in use");
}

static void more_different_sets_than_a_worker_holds_are_refused(void **state)
{
    (void)state;
    device_make(132, 2);
    for (uint32_t i = 0; i < LINK_SETS_MAX; i++)
        expect_placed(add_masked(groups(i % 64, 1 + i / 64), false));
    expect_refused(add_masked(groups(0, 5), false), "128 different sets of SMs are in use");
    count = LINK_SETS_MAX;
    expect_refused(add(30, false), "128 different sets");
    count = LINK_SETS_MAX;
    expect_refused(add(2, true), "128 different sets");
    count = LINK_SETS_MAX;
    // What somebody has is for others too.
    expect_placed(add_masked(groups(5, 1), false));
    expect_placed(add(4, false));
    assert_int_equal(sms_of(&session[count - 1]), 4);
    // Who leaves makes room.
    session[7] = session[--count];
    expect_placed(NULL);
    expect_placed(add(30, false));
    assert_int_equal(sets_count(), LINK_SETS_MAX);
}

// Who has the whole device has no set, and comes to have one when a part is somebody's alone.
static void the_rest_of_the_device_is_a_set_too(void **state)
{
    (void)state;
    device_make(132, 2);
    while (sets_count() < LINK_SETS_MAX)
        expect_placed(add(1 + dice(120), false));
    const struct placer_session *whole = add(0, false);
    expect_placed(whole);
    assert_int_equal(sms_of(whole), 132);
    expect_placed(add(2, true));
    assert_int_equal(sms_of(whole), 130);
    assert_int_equal(sets_count(), LINK_SETS_MAX);
}

/* ---- A thousand ------------------------------------------------------------------------------ */

static void crowd_check(void)
{
    if (sets_count() > LINK_SETS_MAX)
        fail_msg("%u sets for %u tenants", sets_count(), count);
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(sms_of(&session[i]), rounded(&session[i]));
        for (uint32_t n = 0; session[i].exclusive && n < count; n++)
            assert_true(n == i || !sm_mask_meets(&session[i].mask, &session[n].mask));
    }
}

// A thousand with counts of all kinds; then some change their minds, leave, come again, and want
// SMs for themselves alone.
static void a_thousand_different_requests_are_all_placed(void **state)
{
    static const struct {
        uint32_t sms, size, most;
    } shapes[] = {{132, 2, 132}, {132, 2, 20},  {132, 2, 2},
                  {16, 2, 16},   {129, 2, 129}, {68, 8, 68}};
    static struct placer_session former[MANY];

    (void)state;
    for (size_t shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
        uint32_t all = shapes[shape].sms, most = shapes[shape].most;

        device_make(all, shapes[shape].size);
        while (count < MANY)
            expect_placed(add(1 + dice(most), false));
        crowd_check();
        expect_spread(0);
        for (uint32_t step = 0; step < 150; step++) {
            struct placer_session *t = &session[dice(count)];

            memcpy(former, session, sizeof(former));
            t->sms = 1 + dice(most);
            // Without the small group a count may come to more.
            t->exclusive = all % shapes[shape].size == 0 && dice(50) == 0;
            if (t->exclusive)
                t->sms = 1 + dice(all / 8);
            if (dice(4) == 0) { // one has gone, another has come
                t->mask = t->held = t->sure = t->held_exclusive = (struct sm_mask){{0}};
                t->was_exclusive = false;
            }
            if (place(t) != GS_OK) {
                assert_true(t->exclusive);
                memcpy(session, former, sizeof(former));
                continue;
            }
            settle();
            expect_placed(NULL); // what was somebody's alone is free now
            crowd_check();
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_requests_lie_evenly_in_few_sets),
        cmocka_unit_test(a_set_that_somebody_has_is_taken_where_it_is_as_good),
        cmocka_unit_test(changed_requests_lie_evenly_in_few_sets),
        cmocka_unit_test(who_needs_a_new_set_gets_one_that_others_can_spare),
        cmocka_unit_test(a_set_that_its_users_cannot_leave_does_not_stop_others),
        cmocka_unit_test(more_different_sets_than_a_worker_holds_are_refused),
        cmocka_unit_test(the_rest_of_the_device_is_a_set_too),
        cmocka_unit_test(a_thousand_different_requests_are_all_placed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
