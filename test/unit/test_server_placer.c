// Where sessions are placed: whole groups, caps kept, exclusive SMs shared by nobody, nobody left
// without, nobody moved without need; by cases and by random sequences against these rules.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "placer_rig.h"

#define SESSIONS 12u

static void who_wants_nothing_has_the_whole_device(void **state)
{
    (void)state;
    device_make(132, 2);
    struct placer_session *a = add(0, false), *b = add(0, false);
    expect_placed(a);
    assert_true(sm_mask_equal(&a->mask, &device.all));
    assert_true(sm_mask_equal(&b->mask, &device.all));
}

static void counts_are_rounded_up_to_whole_groups(void **state)
{
    static const struct {
        uint32_t sms, size, granted;
    } cases[] = {{1, 2, 2},     {2, 2, 2},    {3, 2, 4},     {131, 2, 132},
                 {132, 2, 132}, {1, 1, 1},    {17, 1, 17},   {1, 8, 8},
                 {9, 8, 16},    {16, 8, 16},  {33, 11, 33},  {34, 11, 44},
                 {1, 44, 44},   {45, 44, 88}, {1, 132, 132}, {500, 2, 132}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        device_make(132 / cases[i].size * cases[i].size, cases[i].size);
        struct placer_session *t = add(cases[i].sms, false);
        uint32_t all = device.sm_count;
        expect_placed(t);
        assert_int_equal(sms_of(t), cases[i].granted < all ? cases[i].granted : all);
        assert_true(placer_mask_whole(&device, &t->mask));
    }
}

// 8 groups of 8 and one of 4: a count that the small one serves does not take a big one.
static void groups_of_unequal_size_do_not_overshoot(void **state)
{
    struct link_device info = {.sm_count = 68, .sm_groups = 9};

    (void)state;
    device_make(4, 2);
    for (uint32_t sm = 0; sm < 68; sm++)
        info.sm_group[sm] = (uint8_t)(sm / 8);
    assert_true(placer_device_init(&device, &info));
    assert_int_equal(device.granularity, 4);
    space[0] = device.all;
    struct placer_session *small = add(4, false), *odd = add(12, false), *one = add(7, false);
    expect_placed(NULL);
    assert_int_equal(sms_of(small), 4);
    assert_int_equal(sms_of(odd), 12);
    assert_int_equal(sms_of(one), 8);
}

static void capped_sessions_spread_and_stay(void **state)
{
    struct sm_mask before[4];

    (void)state;
    device_make(16, 2);
    for (uint32_t i = 0; i < 4; i++)
        expect_placed(add(4, false));
    for (uint32_t i = 0; i < 4; i++) {
        before[i] = session[i].mask;
        for (uint32_t j = 0; j < i; j++)
            assert_false(sm_mask_meets(&session[i].mask, &session[j].mask));
    }
    // A fifth shares with whom it must; the others stay.
    expect_placed(add(4, false));
    for (uint32_t i = 0; i < 4; i++)
        assert_true(sm_mask_equal(&before[i], &session[i].mask));
    // One gives up half, one wants more, and the others still stay.
    session[0].sms = 2;
    session[1].sms = 8;
    expect_placed(&session[1]);
    assert_int_equal(sms_of(&session[0]), 2);
    assert_int_equal(sms_of(&session[1]), 8);
    assert_true(sm_mask_equal(&before[2], &session[2].mask));
    assert_true(sm_mask_equal(&before[3], &session[3].mask));
}

static void exclusive_sms_are_taken_out_of_everybody_elses(void **state)
{
    (void)state;
    device_make(132, 2);
    struct placer_session *free = add(0, false), *capped = add(20, false);
    expect_placed(free);
    struct sm_mask before = capped->mask;
    struct placer_session *own = add(16, true);
    expect_placed(own);
    assert_int_equal(sms_of(own), 16);
    assert_int_equal(sms_of(free), 116);
    assert_false(sm_mask_meets(&own->mask, &free->mask));
    // There was room beside the capped one.
    assert_true(sm_mask_equal(&before, &capped->mask));
    // When it goes, its SMs go back.
    own->exclusive = false;
    own->sms = 2;
    expect_placed(own);
    expect_placed(NULL);
    assert_int_equal(sms_of(free), 132);
}

static void a_capped_session_moves_out_of_an_exclusive_mask(void **state)
{
    (void)state;
    device_make(16, 2);
    struct placer_session *capped = add(4, false);
    expect_placed(capped);
    struct placer_session *own = add_masked(capped->mask, true);
    expect_placed(own);
    assert_int_equal(sms_of(capped), 4);
    assert_false(sm_mask_meets(&own->mask, &capped->mask));
}

static void what_does_not_fit_is_refused_with_what_is_free(void **state)
{
    (void)state;
    device_make(132, 2);
    expect_placed(add(100, true));
    expect_refused(add(33, true), "33 SMs for itself alone: 32 of the device's 132 are free");
    session[1].sms = 32;
    expect_placed(&session[1]);
    expect_refused(add(0, false), "none of the device's 132 SMs is free");
    count--;
    expect_refused(add(2, true), "0 of the device's 132 are free");
    count--;
    expect_refused(add_masked(groups(0, 1), false), "another session's alone");
}

static void an_exclusive_request_that_leaves_another_nothing_is_refused(void **state)
{
    (void)state;
    device_make(16, 2);
    struct placer_session *free = add(0, false);
    expect_placed(free);
    struct placer_session *own = add(16, true);
    expect_refused(own, "16 SMs for itself alone: 16 of the device's 16 are free, but session 100 "
                        "would be left without SMs");
    own->sms = 14;
    expect_placed(own);
    assert_int_equal(sms_of(free), 2);
    // The last SMs of one that is bound to a mask are spared where there are others.
    device_make(16, 2);
    struct placer_session *bound = add_masked(groups(0, 1), false);
    expect_placed(bound);
    own = add(14, true);
    expect_placed(own);
    assert_int_equal(sms_of(bound), 2);
    own->within = groups(0, 2);
    own->bounded = true;
    own->sms = 0;
    expect_refused(own, "session 100 would be left without SMs");
}

static void a_mask_is_given_whole_or_not_and_may_shrink_later(void **state)
{
    (void)state;
    device_make(16, 2);
    struct placer_session *own = add_masked(groups(0, 2), true);
    expect_placed(own);
    struct placer_session *masked = add_masked(groups(1, 3), false);
    expect_refused(masked, "SMs 1,9 are reserved, or another session's alone");
    masked->within = groups(2, 3);
    expect_placed(masked);
    own->within = groups(0, 3);
    own->whole = true;
    expect_placed(own);
    assert_int_equal(sms_of(masked), 4);
    own->within = groups(0, 1);
    expect_placed(own);
    expect_placed(NULL);
    assert_int_equal(sms_of(masked), 6);
}

static void reservations_are_for_those_attached_to_them(void **state)
{
    (void)state;
    device_make(16, 2);
    space[1] = groups(6, 2);
    space[0] = sm_mask_minus(device.all, space[1]);
    struct placer_session *outside = add(0, false), *inside = add(0, false),
                          *capped = add(2, false);
    inside->space = capped->space = 1;
    expect_placed(outside);
    assert_true(sm_mask_equal(&outside->mask, &space[0]));
    assert_true(sm_mask_equal(&inside->mask, &space[1]));
    assert_int_equal(sms_of(capped), 2);
    assert_true(sm_mask_within(&capped->mask, &space[1]));
    struct placer_session *astray = add_masked(groups(0, 2), false);
    astray->space = 1;
    expect_refused(astray, "SMs 0-1,8-9 are outside of the reservation");
    count--;
    struct placer_session *own = add(2, true);
    own->space = 1;
    expect_placed(own);
    assert_int_equal(sms_of(inside), 2);
    assert_int_equal(sms_of(outside), 12);
    own->sms = 4;
    expect_refused(own, "would be left without SMs");
    own->sms = 6;
    expect_refused(own, "4 of the device's 16");
    count = 1;
    expect_refused(add_masked(groups(5, 2), false), "are reserved");
    count = 1;
    struct placer_session *late = add(0, false);
    late->space = 2; // of which nothing is there
    expect_refused(late, "the reservation has no SMs");
}

// What an exclusive session is still moving from is not given to anybody yet; what it only gives up
// is, for it waits for nobody.
static void sms_on_their_way_are_not_promised_twice(void **state)
{
    (void)state;
    device_make(16, 2);
    struct placer_session *own = add_masked(groups(0, 2), true), *free = add(0, false);
    expect_placed(own);
    own->within = groups(4, 2);
    assert_int_equal(place(own), GS_OK); // and not settled
    assert_false(sm_mask_meets(&free->next, &own->held));
    assert_false(sm_mask_meets(&free->next, &own->next));
    own->mask = own->next;
    free->mask = free->next;
    struct placer_session *other = add_masked(groups(0, 1), true);
    expect_refused(other, "0 of the device's 16");
    count--;
    settle();
    own->within = groups(4, 1);
    assert_int_equal(place(own), GS_OK);
    struct sm_mask given_up = groups(5, 1);
    assert_true(sm_mask_within(&given_up, &free->next));
}

// Two that share SMs for now, and are to have others for themselves alone: each can only wait for
// its new place. Neither may wait for the other, also where one keeps what it has.
static void two_that_are_to_be_alone_do_not_wait_for_each_other(void **state)
{
    (void)state;
    device_make(16, 2);
    struct placer_session *a = add(1, true), *b = add_masked(groups(0, 1), true);
    a->mask =
        sm_mask_or(groups(1, 1), groups(3, 1)); // shared so far, and on its way out of 2 and 4
    a->held = groups(0, 5);
    a->sure = sm_mask_or(groups(0, 1), groups(3, 1));
    b->mask = groups(0, 1);
    b->was_exclusive = true;
    b->held = b->sure = groups(1, 2);
    b->whole = false;
    assert_int_equal(place(a), GS_OK);
    assert_true(sm_mask_equal(&b->next, &b->mask));
    assert_false(sm_mask_meets(&a->next, &b->held) && sm_mask_meets(&b->next, &a->held) &&
                 !sm_mask_meets(&a->next, &a->sure) && !sm_mask_meets(&b->next, &b->sure));
    struct sm_mask own = groups(3, 1);
    assert_true(sm_mask_equal(&a->next, &own));
}

// One that moves is on its way to other SMs, and is called back to some that it shared: others have
// to leave those, so they must not be sent to where it comes from.
static void what_may_have_to_be_waited_for_is_not_free(void **state)
{
    (void)state;
    device_make(8, 2);
    struct placer_session *own = add_masked(groups(0, 1), true), *other = add(0, false);
    own->mask = own->held_exclusive = groups(2, 1);
    own->was_exclusive = true;
    own->held = groups(0, 3); // shared 0 and 1, and 2 on its way
    own->sure = (struct sm_mask){{0}};
    other->mask = other->held = other->sure = groups(0, 2);
    assert_int_equal(place(own), GS_OK);
    assert_true(sm_mask_equal(&own->next, &own->within));
    assert_false(sm_mask_meets(&other->next, &own->held_exclusive));
    assert_false(sm_mask_meets(&other->next, &own->next));
}

static void nonsense_of_a_worker_is_not_a_device(void **state)
{
    struct link_device info = {.sm_count = 8, .sm_groups = 4};
    struct placer_device made;

    (void)state;
    for (uint32_t sm = 0; sm < 8; sm++)
        info.sm_group[sm] = (uint8_t)(sm / 2);
    assert_true(placer_device_init(&made, &info));
    info.sm_group[5] = 4;
    assert_false(placer_device_init(&made, &info)); // no such group
    info.sm_group[5] = 1;
    info.sm_group[4] = 1;
    assert_false(placer_device_init(&made, &info)); // a group without SMs
    info.sm_groups = UINT32_MAX;
    assert_false(placer_device_init(&made, &info));
    info.sm_groups = 4;
    info.sm_count = LINK_SMS_MAX + 1;
    assert_false(placer_device_init(&made, &info));
    info.sm_count = 0;
    assert_false(placer_device_init(&made, &info));
}

/* ---- Random sequences ------------------------------------------------------------------------ */

static struct sm_mask mask_random(void)
{
    struct sm_mask mask = {{0}};

    while (sm_mask_empty(&mask)) {
        for (uint32_t g = 0; g < device.group_count; g++) {
            if (dice(3) == 0)
                mask = sm_mask_or(mask, device.group[g]);
        }
    }
    return mask;
}

static void request_random(struct placer_session *t)
{
    t->sms = dice(2) ? 1 + dice(device.sm_count) : 0;
    t->bounded = t->whole = dice(3) == 0;
    t->within = t->bounded ? mask_random() : device.all;
    t->exclusive = (t->sms || t->bounded) && dice(3) == 0;
    if (t->exclusive && t->sms > device.sm_count / 4)
        t->sms = 1 + t->sms / 4;
}

// What must hold of every answer, whatever was asked.
static void answer_check(void)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct placer_session *t = &session[i];
        struct sm_mask room = sm_mask_and(space[t->space], t->within), taken = {{0}};

        assert_true(placer_mask_whole(&device, &t->next));
        assert_true(sm_mask_within(&t->next, &room));
        for (uint32_t j = 0; j < count; j++) {
            const struct placer_session *o = &session[j];

            if (j != i && (t->exclusive || o->exclusive))
                assert_false(sm_mask_meets(&t->next, &o->next));
            // Nor on what another is moving from.
            if (j != i && !sm_mask_within(&o->next, &o->sure))
                assert_false(sm_mask_meets(&t->next, &o->held_exclusive));
            if (j != i && o->exclusive)
                taken = sm_mask_or(taken, o->next);
            if (j != i && !sm_mask_within(&o->next, &o->sure))
                taken = sm_mask_or(taken, o->held_exclusive);
            if (j != i && !o->exclusive)
                taken = sm_mask_or(taken, o->held_exclusive);
        }
        room = sm_mask_minus(room, taken);
        uint32_t most = sm_mask_count(&room);
        uint32_t size = device.granularity;
        uint32_t wants = t->sms ? (t->sms + size - 1) / size * size : most;
        if (!t->exclusive)
            assert_int_equal(sm_mask_count(&t->next), wants < most ? wants : most);
        else
            assert_true(sm_mask_count(&t->next) <= wants || t->bounded);
    }
}

// The session that a random step is about: a new one, or one that is there. NULL: one has gone.
static struct placer_session *random_session(void)
{
    const uint32_t i = dice(SESSIONS);

    if (i >= count && count < SESSIONS) {
        struct placer_session *new = &session[count];

        memset(new, 0, sizeof(*new));
        new->id = 100 + count++;
        new->space = dice(4) == 0 && !sm_mask_empty(&space[1]);
        return new;
    }
    if (dice(4) != 0)
        return &session[i];
    memmove(&session[i], &session[i + 1], (count - i - 1) * sizeof(session[0]));
    count--;
    if (place(NULL) != GS_OK)
        fail_msg("after one has gone: %s", text);
    answer_check();
    settle();
    return NULL;
}

// The worker has made what was placed, or lags behind. Asking again moves nobody.
static void placed_check(void)
{
    struct sm_mask next[SESSIONS];

    answer_check();
    if (dice(4)) {
        settle();
        // What was held exclusively is free now.
        assert_int_equal(place(NULL), GS_OK);
        settle();
        for (uint32_t j = 0; j < count; j++)
            next[j] = session[j].next;
    } else { // decided, and still on its way
        for (uint32_t j = 0; j < count; j++) {
            next[j] = session[j].mask = session[j].next;
            session[j].was_exclusive = session[j].exclusive;
            session[j].whole = false;
        }
    }
    assert_int_equal(place(NULL), GS_OK);
    for (uint32_t j = 0; j < count; j++)
        assert_true(sm_mask_equal(&next[j], &session[j].next));
    answer_check();
}

static void refused_check(struct placer_session *asker, const struct placer_session *former)
{
    assert_true(text[0] != 0);
    *asker = *former;
    if (sm_mask_empty(&former->mask))
        count--;
    assert_int_equal(place(NULL), GS_OK);
}

static void device_random(uint32_t sms, uint32_t size)
{
    device_make(sms, size);
    if (device.group_count > 3 && dice(2)) {
        space[1] = groups(device.group_count - 2, 1);
        space[2] = dice(2) ? groups(device.group_count - 1, 1) : (struct sm_mask){{0}};
        space[0] = sm_mask_minus(device.all, sm_mask_or(space[1], space[2]));
    }
}

// Random sessions come, go and change their minds on devices of many shapes; sometimes the worker
// lags behind. After each step the rules hold, a refusal changes nothing, and asking again moves
// nobody.
static void random_sequences_keep_the_rules(void **state)
{
    static const struct {
        uint32_t sms, size;
    } shapes[] = {{132, 2}, {16, 2}, {7, 1}, {48, 8}, {4, 2}, {2, 2}};
    unsigned placed = 0, refused = 0;

    (void)state;
    for (uint32_t round = 0; round < 600; round++) {
        device_random(shapes[round % 6].sms, shapes[round % 6].size);
        for (uint32_t step = 0; step < 40; step++) {
            struct placer_session *asker = random_session(), former;

            if (!asker)
                continue;
            former = *asker;
            request_random(asker);
            if (place(asker) == GS_OK) {
                placed++;
                placed_check();
            } else {
                refused++;
                refused_check(asker, &former);
            }
            if (dice(3) == 0) {
                assert_int_equal(place(NULL), GS_OK);
                settle();
            }
        }
    }
    assert_true(placed > 5000 && refused > 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(who_wants_nothing_has_the_whole_device),
        cmocka_unit_test(counts_are_rounded_up_to_whole_groups),
        cmocka_unit_test(groups_of_unequal_size_do_not_overshoot),
        cmocka_unit_test(capped_sessions_spread_and_stay),
        cmocka_unit_test(exclusive_sms_are_taken_out_of_everybody_elses),
        cmocka_unit_test(a_capped_session_moves_out_of_an_exclusive_mask),
        cmocka_unit_test(what_does_not_fit_is_refused_with_what_is_free),
        cmocka_unit_test(an_exclusive_request_that_leaves_another_nothing_is_refused),
        cmocka_unit_test(a_mask_is_given_whole_or_not_and_may_shrink_later),
        cmocka_unit_test(reservations_are_for_those_attached_to_them),
        cmocka_unit_test(sms_on_their_way_are_not_promised_twice),
        cmocka_unit_test(two_that_are_to_be_alone_do_not_wait_for_each_other),
        cmocka_unit_test(what_may_have_to_be_waited_for_is_not_free),
        cmocka_unit_test(nonsense_of_a_worker_is_not_a_device),
        cmocka_unit_test(random_sequences_keep_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
