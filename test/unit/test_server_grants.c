// What the worker is told, and in which order: of SMs that are one's alone others let go first, and
// what it cannot do is taken back.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grants_rig.h"

static void an_attach_is_opened_with_what_it_asked_for(void **state)
{
    struct wire_qos qos = count_of(5, false);

    (void)state;
    qos.weight = 7;
    qos.priority = 3;
    qos.cls = GS_CLASS_LATENCY;
    qos.deadline_ns = 123456;
    struct session *plain = attach_open(NULL), *t = attach_open(&qos);
    struct sm_mask mask = sm_mask_of(seat[plain->slot].applied.sm_mask);
    assert_true(sm_mask_empty(&mask)); // the whole device
    assert_int_equal(seat[plain->slot].applied.weight, 1);
    assert_int_equal(sms_now(t), 6);
    assert_int_equal(seat[t->slot].applied.weight, 7);
    assert_int_equal(seat[t->slot].applied.priority, 3);
    assert_int_equal(seat[t->slot].applied.cls, GS_CLASS_LATENCY);
    assert_int_equal(seat[t->slot].applied.deadline_ns, 123456);
}

static void others_let_go_before_the_owner_is_given(void **state)
{
    (void)state;
    struct session *a = attach_open(NULL), *b = attach_open(NULL), *own = attach_open(NULL);
    ask(own, count_of(4, true), 21);
    // a and b are told; the owner not.
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_int_equal(worker_hears(), 0);
    assert_true(seat[a->slot].pending && seat[b->slot].pending && !seat[own->slot].pending);
    worker_answers(a->slot, GS_OK);
    loop_turn();
    assert_int_equal(worker_hears(), 0);
    worker_answers(b->slot, GS_OK);
    loop_turn();
    assert_int_equal(worker_hears(), LINK_GRANT);
    expect_no_answer();
    worker_answers(own->slot, GS_OK);
    expect_answer(21, GS_OK, "");
    assert_int_equal(sms_now(own), 4);
    assert_int_equal(sms_now(a), 12);
    // And back: the owner first.
    ask(own, count_of(4, false), 22);
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_int_equal(worker_hears(), 0);
    worker_answers(own->slot, GS_OK);
    expect_answer(22, GS_OK, "");
    settle();
    assert_int_equal(sms_now(a), 16);
    assert_int_equal(sms_now(b), 16);
}

static void an_exclusive_attach_waits_for_its_sms(void **state)
{
    char text[REFUSAL_TEXT_MAX];
    struct wire_qos qos = count_of(4, true);

    (void)state;
    struct session *a = attach_open(NULL);
    struct session *own = attach(&qos, text);
    assert_int_equal(own->state, SESSION_WAITING);
    assert_int_equal(worker_hears(), LINK_GRANT);
    worker_answers(a->slot, GS_OK);
    loop_turn();
    assert_int_equal(own->state, SESSION_OPENING);
    assert_int_equal(worker_hears(), LINK_OPEN);
    assert_int_equal(
        spelled(&seat[own->slot].heard).word[0] & spelled(&seat[a->slot].applied).word[0], 0);
}

// A session whose last kernels still run keeps what is its alone, and nobody waits for it.
static void an_attach_does_not_wait_for_what_is_being_given_up(void **state)
{
    struct wire_qos alone = count_of(8, true);

    (void)state;
    struct session *own = attach_open(&alone), *first = attach_open(NULL);
    assert_int_equal(sms_now(first), 8);
    ask(own, count_of(4, true), 91);
    assert_int_equal(worker_hears(), LINK_GRANT);
    struct session *second = attach_open(NULL); // fails if it is not opened
    assert_int_equal(sms_now(second), 8);
    worker_answers(own->slot, GS_OK);
    expect_answer(91, GS_OK, "");
    settle();
    assert_int_equal(sms_now(second), 12);
    leave(own);
    assert_int_equal(worker_hears(), LINK_CLOSE);
    struct session *third = attach_open(NULL);
    assert_int_equal(sms_now(third), 12);
    settle();
    assert_int_equal(sms_now(third), 16);
}

static void best_effort_work_leaves_the_same_sms_as_long_as_it_can(void **state)
{
    struct wire_qos alone = mask_of(0, true);
    struct sm_mask former, now, few;

    (void)state;
    policy_update(device);
    worker_hears();
    former = sm_mask_of(policy.headroom_mask[0]);
    assert_int_equal(sm_mask_count(&former), 2); // 12% of 16, in groups of 2
    attach_open(NULL);
    policy_update(device);
    worker_hears();
    now = sm_mask_of(policy.headroom_mask[0]);
    assert_true(sm_mask_equal(&former, &now));
    // SMs that are a session's alone are nothing to leave.
    memcpy(alone.sm_mask, former.word, sizeof(alone.sm_mask));
    ask(registry_by_slot(&server.registry, 0), alone, 95);
    settle();
    now = sm_mask_of(policy.headroom_mask[0]);
    assert_int_equal(sm_mask_count(&now), 2);
    assert_false(sm_mask_meets(&former, &now));
    // A share for each session at work, up to half of the device, each with the one before in it.
    for (unsigned i = 1; i < LINK_SHARES; i++) {
        struct sm_mask more = sm_mask_of(policy.headroom_mask[i]);
        assert_int_equal(sm_mask_count(&more), 2 * (i + 1));
        assert_true(sm_mask_within(&now, &more));
        now = more;
    }
    server.settings.device[0] = (struct ctl_settings){.fields = CTL_LATENCY_SMS, .latency_sms = 15};
    policy_update(device);
    worker_hears();
    now = sm_mask_of(policy.headroom_mask[0]);
    assert_int_equal(sm_mask_count(&now), 12); // of 14, two stay
    for (unsigned i = 1; i < LINK_SHARES; i++) // what the operator said is for all
        assert_memory_equal(policy.headroom_mask[i], policy.headroom_mask[0], sizeof(now));
    few = sm_mask_of(policy.partial_mask); // a quarter of them, in groups of 2
    assert_int_equal(sm_mask_count(&few), 4);
    assert_true(sm_mask_within(&few, &now));
    server.settings.device[0].latency_sms = 0;
    policy_update(device);
    worker_hears();
    now = sm_mask_of(policy.headroom_mask[0]);
    assert_true(sm_mask_empty(&now));
}

static void what_the_worker_cannot_do_is_taken_back(void **state)
{
    (void)state;
    struct session *t = attach_open(NULL), *other = attach_open(NULL);
    ask(t, count_of(4, false), 31);
    worker_hears();
    worker_answers(t->slot, GS_ERR_NO_DEVICE_MEMORY);
    expect_answer(31, GS_ERR_NO_DEVICE_MEMORY, "no memory for a green context");
    assert_int_equal(t->qos.affinity_type, GS_EXEC_AFFINITY_NONE);
    settle();
    assert_int_equal(sms_now(t), 16);
    // One that cannot be moved fails the request that needs its SMs.
    ask(t, count_of(4, true), 32);
    assert_int_equal(worker_hears(), LINK_GRANT);
    worker_answers(other->slot, GS_ERR_NO_DEVICE_MEMORY);
    loop_turn();
    expect_answer(32, GS_ERR_NO_DEVICE_MEMORY, "cannot be moved");
    settle();
    assert_int_equal(sms_now(t), 16);
    assert_int_equal(sms_now(other), 16);
    assert_int_equal(device->constrained, 0);
}

static void answer_due(struct session *t)
{
    timer_fires(&t->answer_by);
}

// The worker is to give up first, then the supervisor, then the client.
static void an_attach_is_answered_while_its_client_waits(void **state)
{
    const uint64_t patience = 8000000000u, before = clock_ns();
    struct wire_qos qos = count_of(4, true);
    char text[REFUSAL_TEXT_MAX], who[64];

    (void)state;
    struct session *a = attach_open(NULL), *own = arrive(&qos);
    own->reply = reply_make(141);
    settle_attach_by(own, patience);
    assert_true(own->give_up_ns > before);
    assert_true(own->give_up_ns < own->answer_by.due_ns);
    assert_true(own->answer_by.due_ns < before + patience);
    assert_int_equal(plan_request(device, own, text), GS_OK);
    reconcile(&server);
    assert_int_equal(own->state, SESSION_WAITING);
    snprintf(who, sizeof(who), "session %llu ", (unsigned long long)a->id);
    answer_due(own);
    expect_answer(141, GS_ERR_TIMEOUT, who);
    assert_int_equal(own->state, SESSION_FREE);
    settle();
    assert_int_equal(sms_now(a), 16);
}

// What the worker still opens is closed again.
static void an_attach_that_a_worker_is_slow_with_is_answered_too(void **state)
{
    char text[REFUSAL_TEXT_MAX];

    (void)state;
    struct session *t = attach(NULL, text);
    t->reply = reply_make(142);
    settle_attach_by(t, 8000000000u);
    assert_int_equal(worker_hears(), LINK_OPEN);
    answer_due(t);
    expect_answer(142, GS_ERR_TIMEOUT, "kernels run on");
    assert_int_equal(t->state, SESSION_OPENING);
    assert_int_equal(session_tenant_state(t), CTL_TENANT_ENDING);
    worker_answers(t->slot, GS_OK);
    assert_int_equal(worker_hears(), LINK_CLOSE);
    worker_answers(t->slot, GS_OK);
    assert_int_equal(t->state, SESSION_FREE);
    expect_no_answer();
}

// Any number will do, also none.
static void a_client_need_not_say_how_long_it_waits(void **state)
{
    const uint64_t most = UINT32_MAX * UINT64_C(1000000);

    (void)state;
    struct session *t = arrive(NULL);
    settle_attach_by(t, 0);
    assert_int_equal(t->answer_by.due_ns, 0);
    assert_int_equal(t->give_up_ns, 0);
    settle_attach_by(t, most);
    assert_true(t->give_up_ns < t->answer_by.due_ns && t->answer_by.due_ns < clock_ns() + most);
    settle_attach_by(t, 1);
    assert_true(t->give_up_ns <= t->answer_by.due_ns);
    server_session_end(t);
}

static void with_the_worker_all_grants_are_gone(void **state)
{
    char text[REFUSAL_TEXT_MAX];
    struct wire_qos alone = count_of(4, true), most = count_of(14, true);

    (void)state;
    struct session *own = attach_open(&alone);
    ask(own, count_of(6, true), 71);
    worker_fail(device, NULL, LINK_SLOT_NONE, "for a test");
    expect_answer(71, GS_ERR_INTERRUPTED, "lost");
    assert_int_equal(own->state, SESSION_LOST);
    assert_int_equal(device->constrained, 0);
    ask(own, alone, 72);
    expect_answer(72, GS_ERR_INTERRUPTED, "lost");
    // The next worker's sessions do not find its SMs taken.
    device->worker.state = WORKER_READY;
    memset(seat, 0, sizeof(seat));
    grants_ready(device);
    assert_non_null(attach(&most, text));
    loop_turn();
}

// With a thousand of them, nobody else would be served meanwhile.
static void who_came_before_the_worker_is_placed_by_and_by_and_in_order(void **state)
{
    struct wire_qos most = count_of(10, true);

    (void)state;
    device->worker.state = WORKER_STARTING;
    struct session *gone = arrive(NULL), *first = arrive(&most), *second = arrive(NULL);
    server_session_end(gone);
    struct session *late = arrive(&most), *last = arrive(NULL); // the first slot, but not the first
    assert_true(late->slot < first->slot);
    device->worker.state = WORKER_READY;
    grants_ready(device);
    for (uint32_t turn = 0; turn <= 4; turn++) {
        uint32_t placed = 0;
        struct epoll_event event;

        for (struct session *t = NULL; (t = registry_next(&server.registry, t));)
            placed += t->state != SESSION_WAITING;
        assert_int_equal(placed, turn < 3 ? turn : turn - 1); // one is refused
        assert_int_equal(epoll_wait(server.loop.epoll_fd, &event, 1, 60000), 1);
        struct watch *watch = event.data.ptr;
        watch->ready(watch, event.events);
        reconcile(&server);
    }
    assert_int_equal(late->state, SESSION_FREE);
    assert_true(first->state == SESSION_OPENING && second->state == SESSION_OPENING &&
                last->state == SESSION_OPENING);
    assert_false(device->early);
}

// The first device has room for what the operator wants, the second one has not.
static void a_change_that_one_device_refuses_changes_none(void **state)
{
    struct device *second = &server.device[1];
    struct ctl_set set = {
        .target = CTL_DEFAULT,
        .settings = {.fields = CTL_EXCLUSIVE | CTL_PERCENTAGE, .exclusive = 1, .hundredths = 5000}};
    struct reply reply = {dup(answers), geteuid(), CTL_SET, 151, 0};
    struct link_grant former;

    (void)state;
    struct session *here = attach_open(NULL);
    server.device_count = 2;
    device_init(second, &server, 1);
    second->worker.state = WORKER_READY; // and its socket takes nothing
    second->info = device->info;
    assert_true(placer_device_init(&second->sms, &second->info));
    reservations_place(second);
    for (int i = 0; i < 3; i++) {
        struct session *there = arrive(NULL);

        device->sessions--;
        there->device = second;
        second->sessions++;
        there->state = SESSION_OPEN;
    }
    former = here->grant.target;
    operator_set(&server, &set, &reply);
    reply_close(&reply);
    expect_answer(151, GS_ERR_LIMIT, "");
    assert_int_equal(server.settings.everybody.fields, 0);
    assert_memory_equal(&here->grant.target, &former, sizeof(former));
    assert_int_equal(device->due, 0);
    assert_int_equal(device->constrained + second->constrained, 0);
    reconcile(&server);
    assert_int_equal(worker_hears(), 0);
    for (struct session *s = NULL; (s = registry_next(&server.registry, s));)
        server_session_end(s);
    second->worker.state = WORKER_NONE;
    device_deinit(second);
    server.device_count = 1;
}

static void an_answer_to_no_question_ends_the_worker(void **state)
{
    struct link_message message = {.op = LINK_GRANTED};

    (void)state;
    struct session *t = attach_open(NULL);
    ask(t, count_of(4, false), 81);
    assert_int_equal(worker_hears(), LINK_GRANT);
    message.slot = t->slot;
    message.u.granted.sequence = seat[t->slot].heard.sequence + 1;
    assert_int_equal(send(worker_end, &message, sizeof(message), 0), sizeof(message));
    worker_receive(device);
    assert_int_equal(device->worker.state, WORKER_ENDING);
    expect_answer(81, GS_ERR_INTERRUPTED, "lost");
}

// What is set for one session stands in the place of what holds for other users, as what is set for
// a user does; what is set for everybody caps it.
static void what_is_set_for_a_session_goes_before_what_holds_for_others(void **state)
{
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];

    (void)state;
    struct session *t = attach_open(NULL);
    t->uid = 54321;
    server.options.served.all = true;
    assert_true(server_other(&server, t->uid));
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
    assert_int_equal(effect.grant.kernel_limit, 10000);
    t->set = (struct ctl_settings){.fields = CTL_CLASS | CTL_PRIORITY | CTL_KERNEL_LIMIT,
                                   .cls = GS_CLASS_LATENCY,
                                   .priority = 2,
                                   .kernel_limit = 60000};
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
    assert_int_equal(effect.grant.cls, GS_CLASS_LATENCY);
    assert_int_equal(effect.grant.priority, 2);
    assert_int_equal(effect.grant.kernel_limit, 60000);
    server.settings.everybody =
        (struct ctl_settings){.fields = CTL_CLASS, .cls = GS_CLASS_BEST_EFFORT};
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
    assert_int_equal(effect.grant.cls, GS_CLASS_BEST_EFFORT);
    server.settings.everybody = (struct ctl_settings){0};
    t->set = (struct ctl_settings){0};
    t->uid = geteuid();
}

// Each device's worker counts what its sessions have, and none of another's.
static void host_memory_of_all_users_is_shared_out_to_the_devices(void **state)
{
    struct ctl_settings named = {.fields = CTL_USER_HOST_MEM, .user_host_mem = 128u << 20};
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];

    (void)state;
    struct session *t = attach_open(NULL);
    server.host_memory = 1u << 30;
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
    assert_int_equal(effect.grant.all_host_mem, 0); // the server's own user
    t->uid = 54321;
    server.options.served.all = true;
    for (int devices = 1; devices <= 3; devices++) {
        server.device_count = devices;
        assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
        assert_int_equal(effect.grant.all_host_mem, (768u << 20) / (unsigned)devices);
        assert_int_equal(effect.grant.user_host_mem, 128u << 20);
        assert_int_equal(effect.grant.host_mem_granted, 0);
    }
    server.device_count = 1;
    assert_true(settings_put_user(&server.settings, t->uid, &named));
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
    assert_int_equal(effect.grant.host_mem_granted, 1);
    assert_int_equal(effect.grant.all_host_mem, 768u << 20);
    assert_true(settings_put_user(&server.settings, t->uid, &(struct ctl_settings){0}));
    t->uid = geteuid();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GRANTS_TEST(an_attach_is_opened_with_what_it_asked_for),
        GRANTS_TEST(others_let_go_before_the_owner_is_given),
        GRANTS_TEST(an_exclusive_attach_waits_for_its_sms),
        GRANTS_TEST(an_attach_does_not_wait_for_what_is_being_given_up),
        GRANTS_TEST(best_effort_work_leaves_the_same_sms_as_long_as_it_can),
        GRANTS_TEST(what_the_worker_cannot_do_is_taken_back),
        GRANTS_TEST(an_attach_is_answered_while_its_client_waits),
        GRANTS_TEST(an_attach_that_a_worker_is_slow_with_is_answered_too),
        GRANTS_TEST(a_client_need_not_say_how_long_it_waits),
        GRANTS_TEST(with_the_worker_all_grants_are_gone),
        GRANTS_TEST(who_came_before_the_worker_is_placed_by_and_by_and_in_order),
        GRANTS_TEST(a_change_that_one_device_refuses_changes_none),
        GRANTS_TEST(an_answer_to_no_question_ends_the_worker),
        GRANTS_TEST(host_memory_of_all_users_is_shared_out_to_the_devices),
        GRANTS_TEST(what_is_set_for_a_session_goes_before_what_holds_for_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
