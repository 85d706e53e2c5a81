// QoS requests of sessions and of operators: whose they may be, which of them hold, in which order
// they are served, and that each is answered in time.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "grants_rig.h"

static void a_qos_request_is_answered_when_the_worker_has_it(void **state)
{
    (void)state;
    struct session *t = attach_open(NULL);
    ask(t, count_of(4, false), 11);
    expect_no_answer();
    assert_int_equal(worker_hears(), LINK_GRANT);
    expect_no_answer();
    worker_answers(t->slot, GS_OK);
    expect_answer(11, GS_OK, "");
    assert_int_equal(sms_now(t), 4);
    // The same again is had at once.
    ask(t, count_of(4, false), 12);
    expect_answer(12, GS_OK, "");
    assert_int_equal(worker_hears(), 0);
}

static void only_the_sessions_own_user_may_ask(void **state)
{
    (void)state;
    struct session *t = attach_open(NULL);
    struct ctl_set_qos request = {.cookie = t->cookie, .qos = count_of(4, false)};
    struct reply reply = reply_make(5);
    reply.uid = 3999999999; /* no machine has a name for this user, which the answer would tell */
    qos_request_handle(&server, &request, &reply);
    expect_answer(5, GS_ERR_PERMISSION, "user 3999999999");
    reply.uid = 1000;
    request.cookie ^= 1u << 20;
    qos_request_handle(&server, &request, &reply);
    expect_answer(5, GS_ERR_PERMISSION, "no such session");
    request.cookie = t->cookie;
    request.qos.sm_count = 17;
    qos_request_handle(&server, &request, &reply);
    expect_answer(5, GS_ERR_INVALID_VALUE, "17 SMs: 1 to 16");
    reply_close(&reply);
    assert_int_equal(worker_hears(), 0);
}

static void patience_with_a_silent_worker_ends(void **state)
{
    (void)state;
    struct session *t = attach_open(NULL);
    ask(t, count_of(4, false), 41);
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_true(t->requests.patience.due_ns != 0);
    timer_fires(&t->requests.patience);
    expect_answer(41, GS_ERR_TIMEOUT, "kernels run on");
    // When it does answer at last, it is told that this is no longer wanted.
    worker_answers(t->slot, GS_OK);
    assert_int_equal(worker_hears(), LINK_GRANT);
    worker_answers(t->slot, GS_OK);
    assert_int_equal(sms_now(t), 16);
    assert_true(grants_in_force(t));
}

static void qos_requests_of_one_session_wait_in_line(void **state)
{
    (void)state;
    struct session *t = attach_open(NULL);
    for (uint64_t i = 0; i < 17; i++)
        ask(t, count_of(2 + 2 * (uint32_t)(i % 2), false), 51 + i);
    expect_answer(51 + 16, GS_ERR_LIMIT, "under way");
    for (uint64_t i = 0; i < 16; i++) {
        assert_int_equal(worker_hears(), LINK_GRANT);
        assert_int_equal(worker_hears(), 0);
        worker_answers(t->slot, GS_OK);
        expect_answer(51 + i, GS_OK, "");
    }
    assert_int_equal(sms_now(t), 4);
}

// Who asks waits a little longer than the server takes, whoever was before it in line.
static void a_qos_request_that_has_waited_too_long_in_line_is_not_begun(void **state)
{
    (void)state;
    struct session *t = attach_open(NULL);
    ask(t, count_of(4, false), 71);
    ask(t, count_of(6, false), 72);
    ask(t, count_of(8, false), 73);
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_true(t->requests.patience.due_ns == t->requests.first->due_ns);
    t->requests.first->next->due_ns = 1;
    worker_answers(t->slot, GS_OK);
    expect_answer(71, GS_OK, "");
    expect_answer(72, GS_ERR_TIMEOUT, "15 s");
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_true(t->requests.patience.due_ns == t->requests.first->due_ns);
    worker_answers(t->slot, GS_OK);
    expect_answer(73, GS_OK, "");
    assert_int_equal(sms_now(t), 8);
}

static void a_session_that_ends_leaves_no_qos_request_behind(void **state)
{
    (void)state;
    struct session *a = attach_open(NULL), *own = attach_open(NULL);
    ask(own, count_of(4, true), 61);
    ask(own, count_of(6, true), 62);
    leave(own);
    expect_answer(61, GS_ERR_INVALID_HANDLE, "ending");
    expect_answer(62, GS_ERR_INVALID_HANDLE, "ending");
    settle();
    assert_int_equal(own->state, SESSION_FREE);
    assert_int_equal(sms_now(a), 16);
    assert_null(device->awaited);
}

// A mask that has shrunk since it was asked for is no reason to refuse what has nothing to do with
// it, nor less of it.
static void an_operator_can_set_a_session_whose_mask_has_shrunk(void **state)
{
    struct wire_qos low = mask_of(0x00ff, false), alone = mask_of(0x000f, true);

    (void)state;
    struct session *t = attach_open(&low);
    struct session *own = attach(&alone, (char[REFUSAL_TEXT_MAX]){0});
    assert_non_null(own);
    assert_int_equal(worker_hears(), LINK_GRANT);
    worker_answers(t->slot, GS_OK);
    assert_int_equal(sms_now(t), 4);
    operator_sets(t, 0, (struct ctl_settings){.fields = CTL_WEIGHT, .weight = 3}, 91);
    assert_int_equal(t->grant.target.weight, 3);
    operator_sets(t, 0, (struct ctl_settings){.fields = CTL_SMS, .sms = 2}, 92);
    assert_int_equal(t->set.sms, 2);
    // A request for what is not there any more is still refused.
    ask(t, low, 93);
    expect_answer(93, GS_ERR_LIMIT, "0-3");
    // So is an operator's for more exclusive SMs than there are.
    operator_sets(t, CTL_SMS,
                  (struct ctl_settings){
                      .fields = CTL_EXCLUSIVE | CTL_PERCENTAGE, .exclusive = 1, .hundredths = 9000},
                  94);
    expect_answer(94, GS_ERR_LIMIT, "for itself alone");
}

static void a_second_operator_does_not_use_up_the_firsts_time(void **state)
{
    const struct timer *patience = &server.changes.patience;
    uint64_t due;

    (void)state;
    struct session *t = attach_open(NULL);
    operator_sets(t, 0, (struct ctl_settings){.fields = CTL_SMS, .sms = 4}, 95);
    due = patience->due_ns;
    assert_true(due != 0);
    operator_sets(t, 0, (struct ctl_settings){.fields = CTL_SMS, .sms = 6}, 96);
    assert_true(patience->due_ns == due);
    settle();
    expect_answer(95, GS_OK, "");
    expect_answer(96, GS_OK, "");
    assert_int_equal(sms_now(t), 6);
    assert_true(patience->due_ns == 0);
}

// A server to which sessions come all the time must still answer operators.
static void an_operator_does_not_wait_for_sessions_that_are_being_opened(void **state)
{
    char text[REFUSAL_TEXT_MAX];

    (void)state;
    struct session *t = attach_open(NULL), *opening = attach(NULL, text);
    assert_int_equal(opening->state, SESSION_OPENING);
    operator_sets(t, 0, (struct ctl_settings){.fields = CTL_WEIGHT, .weight = 4}, 97);
    assert_int_equal(worker_hears(), LINK_OPEN);
    assert_int_equal(worker_hears(), LINK_GRANT);
    expect_no_answer();
    worker_answers(t->slot, GS_OK);
    expect_answer(97, GS_OK, "");
    // But for one that is being opened with what no longer holds.
    operator_sets(
        t, 0, (struct ctl_settings){.fields = CTL_SMS | CTL_EXCLUSIVE, .sms = 4, .exclusive = 1},
        98);
    expect_no_answer();
    assert_int_equal(grants_pending_count(device), 2);
}

static void limits_are_the_tightest_of_all_that_are_set(void **state)
{
    struct wire_qos qos = count_of(12, false);
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];
    struct ctl_settings user = {.fields = CTL_PERCENTAGE | CTL_PRIORITY | CTL_USER_MEM | CTL_MASK,
                                .hundredths = 5000,
                                .priority = 2,
                                .user_mem = 4096,
                                .sm_mask = {0x0fff}};

    (void)state;
    qos.priority = 4;
    qos.cls = GS_CLASS_LATENCY;
    qos.weight = 9;
    struct session *t = attach_open(&qos);
    t->mem_asked = 500;
    assert_true(settings_put_user(&server.settings, 1000, &user));
    server.settings.everybody = (struct ctl_settings){.fields = CTL_CLASS | CTL_WEIGHT | CTL_MEM,
                                                      .cls = GS_CLASS_NORMAL,
                                                      .weight = 20,
                                                      .mem = 400};
    t->set = (struct ctl_settings){.fields = CTL_SMS | CTL_LAUNCHES_MAX | CTL_MASK | CTL_WEIGHT,
                                   .sms = 6,
                                   .launches_max = 3,
                                   .weight = 5,
                                   .sm_mask = {0xfff0}};
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
    assert_int_equal(effect.sms, 6);
    assert_int_equal(effect.within.word[0], 0x0ff0);
    assert_int_equal(effect.grant.priority, 2);
    assert_int_equal(effect.grant.priority_max, 2);
    assert_int_equal(effect.grant.cls, GS_CLASS_NORMAL);
    assert_int_equal(effect.grant.weight, 5);
    assert_int_equal(effect.grant.mem_limit, 400);
    assert_int_equal(effect.grant.user_mem_limit, 4096);
    assert_int_equal(effect.grant.launches_max, 3);
    // A session lowers what it likes.
    t->qos = (struct wire_qos){.affinity_type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE,
                               .percentage = 10,
                               .cls = GS_CLASS_BEST_EFFORT,
                               .weight = 2};
    t->mem_asked = 300;
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
    assert_int_equal(effect.sms, 2); // 1.6, rounded up
    assert_int_equal(effect.grant.cls, GS_CLASS_BEST_EFFORT);
    assert_int_equal(effect.grant.weight, 2);
    assert_int_equal(effect.grant.mem_limit, 300);
    // A mask outside of what is allowed, and a ban.
    t->qos = mask_of(0x000f, false);
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_ERR_LIMIT);
    assert_non_null(strstr(text, "4-11"));
    t->qos = count_of(2, true);
    server.settings.everybody.fields |= CTL_EXCLUSIVE;
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_OK);
    assert_int_equal(effect.grant.exclusive, 0);
    assert_int_equal(effect.sms, 2);
    t->qos = (struct wire_qos){.exclusive = 1};
    t->set.fields = user.fields = server.settings.everybody.fields = 0;
    assert_true(settings_put_user(&server.settings, 1000, &user));
    assert_int_equal(qos_effect(t, 0, &effect, text), GS_ERR_INVALID_VALUE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        GRANTS_TEST(a_qos_request_is_answered_when_the_worker_has_it),
        GRANTS_TEST(only_the_sessions_own_user_may_ask),
        GRANTS_TEST(patience_with_a_silent_worker_ends),
        GRANTS_TEST(qos_requests_of_one_session_wait_in_line),
        GRANTS_TEST(a_qos_request_that_has_waited_too_long_in_line_is_not_begun),
        GRANTS_TEST(a_session_that_ends_leaves_no_qos_request_behind),
        GRANTS_TEST(an_operator_can_set_a_session_whose_mask_has_shrunk),
        GRANTS_TEST(a_second_operator_does_not_use_up_the_firsts_time),
        GRANTS_TEST(an_operator_does_not_wait_for_sessions_that_are_being_opened),
        GRANTS_TEST(limits_are_the_tightest_of_all_that_are_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
