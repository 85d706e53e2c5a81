// From wishes to the worker: who is told what, in which order, and what is answered. The worker is
// this test: it applies a grant when it likes, or refuses it, or says nothing.
#include <fcntl.h>
#include <mqueue.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/util.h"
#include "server/operator.h"
#include "server/qos.h"
#include "server/tenant.h"

#define SLOTS 8u
#define SMS   16u

static struct server server;
static struct device *const device = &server.device[0];
static int worker_end; // of the socketpair
static _Alignas(4096) unsigned char segment[SLOTS][SEG_SIZE];

/* ---- The worker ------------------------------------------------------------------------------ */

static struct seat {
    bool open;
    struct link_grant applied; // what kernels of the slot are launched under
    struct link_grant heard;   // the last grant, not answered yet if `pending`
    bool pending, opening, closing;
} seat[SLOTS];

static struct sm_mask spelled(const struct link_grant *grant)
{
    struct sm_mask mask = sm_mask_of(grant->sm_mask);

    return sm_mask_empty(&mask) ? device->sms.all : mask;
}

// The point of it all: at no time do two sessions' kernels run on SMs that are one's alone.
static void seats_check(void)
{
    for (uint32_t a = 0; a < SLOTS; a++) {
        struct sm_mask mine = spelled(&seat[a].applied);

        if (!seat[a].open || !seat[a].applied.exclusive)
            continue;
        for (uint32_t b = 0; b < SLOTS; b++) {
            struct sm_mask theirs = spelled(&seat[b].applied);

            // One that is closing takes no more launches.
            if (b != a && seat[b].open && (!seat[b].closing || seat[b].applied.exclusive) &&
                sm_mask_meets(&mine, &theirs))
                fail_msg("slots %u and %u run on the same SMs", a, b);
        }
    }
}

static struct link_policy policy; // the last that was heard

// Takes one message of the supervisor that is no policy. 0: there is none.
static uint32_t worker_hears(void)
{
    struct link_message message;
    struct seat *s;

    do {
        if (recv(worker_end, &message, sizeof(message), 0) != sizeof(message))
            return 0;
        if (message.op == LINK_POLICY)
            policy = message.u.policy;
    } while (message.op == LINK_POLICY);
    s = &seat[message.slot < SLOTS ? message.slot : 0];
    switch (message.op) {
    case LINK_OPEN:
        assert_false(s->open);
        s->heard = message.u.open.grant;
        s->opening = true;
        break;
    case LINK_GRANT:
        assert_true(s->open && !s->pending && !s->closing);
        assert_true(message.u.grant.sequence > s->heard.sequence);
        s->heard = message.u.grant;
        s->pending = true;
        break;
    case LINK_CLOSE:
        assert_true(s->open && !s->closing);
        s->closing = true;
        break;
    default:
        break;
    }
    return message.op;
}

static void worker_says(const struct link_message *message)
{
    assert_int_equal(send(worker_end, message, sizeof(*message), 0), sizeof(*message));
    worker_receive(device);
    assert_int_equal(device->worker.state, WORKER_READY);
}

// Answers the message that the slot last had. status: of a grant.
static void worker_answers(uint32_t slot, gs_status status)
{
    struct link_message message = {.slot = slot};
    struct seat *s = &seat[slot];

    if (s->closing) {
        message.op = LINK_CLOSED;
        *s = (struct seat){0};
    } else if (s->opening) {
        message.op = LINK_OPENED;
        message.u.opened = (struct link_opened){.mem_limit = 1 << 20, .window_size = 1 << 20};
        s->applied = s->heard;
        s->open = true;
        s->opening = false;
    } else {
        assert_true(s->pending);
        message.op = LINK_GRANTED;
        message.u.granted = (struct link_granted){s->heard.sequence, status, 0};
        if (status == GS_OK)
            s->applied = s->heard;
        else
            strcpy(message.text, "no memory for a green context");
        s->pending = false;
    }
    seats_check();
    worker_says(&message);
}

// Lets the supervisor's loop run dry.
static void loop_turn(void)
{
    struct epoll_event event;

    // A timer that is due comes when the kernel gets to it.
    while (epoll_wait(server.loop.epoll_fd, &event, 1, device->place_soon.due_ns ? 60000 : 0) > 0) {
        struct watch *watch = event.data.ptr;
        watch->ready(watch, event.events);
    }
}

// Everything that can happen without the test's doing happens.
static void settle(void)
{
    bool more = true;

    while (more) {
        more = false;
        loop_turn();
        while (worker_hears())
            more = true;
        for (uint32_t i = 0; i < SLOTS; i++) {
            if (seat[i].opening || seat[i].pending || seat[i].closing) {
                worker_answers(i, GS_OK);
                more = true;
            }
        }
    }
}

/* ---- The clients ----------------------------------------------------------------------------- */

static mqd_t answers; // of all wishes; the token tells them apart

static int grants_setup(void **state)
{
    struct mq_attr attr = {.mq_maxmsg = 10, .mq_msgsize = CTL_MESSAGE_MAX};
    struct link_device info = {.sm_count = SMS,
                               .sm_groups = SMS / 2,
                               .sm_granularity = 2,
                               .memory_total = 1 << 30,
                               .priority_highest = -5};
    char name[64];
    int pair[2];

    (void)state;
    log_init("test", "error");
    memset(&server, 0, sizeof(server));
    memset(seat, 0, sizeof(seat));
    server.options.instance = "unit";
    server.phase = PHASE_SERVING;
    server.device_count = 1;
    device_init(device, &server, 0);
    if (loop_init(&server.loop) < 0 || !registry_init(&server.registry, SLOTS) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0 ||
        watch_add(&server.loop, &device->worker.link, pair[0], EPOLLIN, worker_link_ready) < 0)
        return -1;
    worker_end = pair[1];
    snprintf(name, sizeof(name), "/gshare-unit-%d", (int)getpid());
    answers = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600, &attr);
    mq_unlink(name);
    for (uint32_t sm = 0; sm < SMS; sm++)
        info.sm_group[sm] = (uint8_t)(sm / 2);
    device->worker.state = WORKER_READY;
    device->worker.pid = fork(); // there must be something to kill
    if (device->worker.pid == 0) {
        for (;;)
            pause();
    }
    device->info = info;
    reservations_place(device);
    if (!placer_device_init(&device->sms, &info) || answers < 0 || device->worker.pid < 0)
        return -1;
    reservations_place(device);
    return 0;
}

static int grants_teardown(void **state)
{
    (void)state;
    for (struct tenant *t = NULL; (t = registry_next(&server.registry, t));)
        tenant_end(t);
    assert_int_equal(device->constrained, 0);
    operator_deinit(&server);
    settings_deinit(&server.settings);
    device_deinit(device);
    close(worker_end);
    mq_close(answers);
    registry_deinit(&server.registry);
    loop_deinit(&server.loop);
    return 0;
}

static struct reply reply_make(uint64_t token)
{
    return (struct reply){dup(answers), 1000, CTL_SET_QOS, token};
}

static uint32_t attach_space; // of the next attach: 0, or 1 + a reservation

// The next answer. 0: there is none. *status may be NULL.
static uint64_t answer_take(gs_status *status, char text[128])
{
    union {
        struct ctl_done_reply done;
        char bytes[CTL_MESSAGE_MAX];
    } answer;
    ssize_t n = mq_receive(answers, answer.bytes, sizeof(answer.bytes), NULL);

    if (n < 0)
        return 0;
    assert_int_equal(n, sizeof(answer.done));
    if (status)
        *status = (gs_status)answer.done.status;
    if (text)
        memcpy(text, answer.done.message, 128);
    return answer.done.h.token;
}

static void expect_answer(uint64_t token, gs_status wanted, const char *part)
{
    gs_status status = GS_ERR_SYSTEM;
    char text[128] = "";

    assert_int_equal(answer_take(&status, text), token);
    if (status != wanted || !strstr(text, part))
        fail_msg("answered with status %d, '%s'", (int)status, text);
}

static void expect_no_answer(void)
{
    assert_int_equal(answer_take(NULL, NULL), 0);
}

static struct wire_qos count_of(uint32_t sms, bool exclusive)
{
    return (struct wire_qos){
        .affinity_type = GS_EXEC_AFFINITY_SM_COUNT, .sm_count = sms, .exclusive = exclusive};
}

static struct wire_qos mask_of(uint64_t sms, bool exclusive)
{
    return (struct wire_qos){
        .affinity_type = GS_EXEC_AFFINITY_SM_MASK, .sm_mask = {sms}, .exclusive = exclusive};
}

// A session that is to be placed.
static struct tenant *arrive(const struct wire_qos *qos)
{
    struct tenant *t = registry_take(&server.registry);

    assert_non_null(t);
    t->server = &server;
    t->device = device;
    device->tenants++;
    t->id = ++server.sessions_total;
    t->uid = 1000;
    t->segment = segment[t->slot];
    t->segment_id = -1;
    t->space = attach_space;
    if (qos)
        t->qos = *qos;
    return t;
}

// As attach.c does it, less the segment. NULL: it was refused.
static struct tenant *attach(const struct wire_qos *qos, char text[REFUSAL_TEXT_MAX])
{
    struct tenant *t = arrive(qos);

    if (grants_place(device, t, text) != GS_OK) {
        tenant_end(t);
        return NULL;
    }
    grants_pump(device);
    wishes_settle(device);
    return t;
}

// LINK_OPENED finds no segment of ours, so the attach would be taken back: skip that part.
static struct tenant *attach_open(const struct wire_qos *qos)
{
    char text[REFUSAL_TEXT_MAX] = "";
    struct tenant *t = attach(qos, text);

    if (!t)
        fail_msg("refused: %s", text);
    if (t->state == TENANT_OPENING) {
        assert_int_equal(worker_hears(), LINK_OPEN);
        seat[t->slot].opening = false;
        seat[t->slot].open = true;
        seat[t->slot].applied = seat[t->slot].heard;
        t->state = TENANT_OPEN;
        t->window_size = 1 << 30;
        grants_opened(t);
        seats_check();
    }
    return t;
}

static void wish(struct tenant *t, struct wire_qos qos, uint64_t token)
{
    struct ctl_set_qos request = {.cookie = t->cookie, .qos = qos};
    struct reply reply = reply_make(token);

    wish_handle(&server, &request, &reply);
    reply_close(&reply);
}

static uint32_t sms_now(const struct tenant *t)
{
    struct sm_mask mask = spelled(&seat[t->slot].applied);

    return sm_mask_count(&mask);
}

/* ---- Cases ----------------------------------------------------------------------------------- */

static void an_attach_is_opened_with_what_it_asked_for(void **state)
{
    struct wire_qos qos = count_of(5, false);

    (void)state;
    qos.weight = 7;
    qos.priority = 3;
    qos.cls = GS_CLASS_LATENCY;
    qos.deadline_ns = 123456;
    struct tenant *plain = attach_open(NULL), *t = attach_open(&qos);
    struct sm_mask mask = sm_mask_of(seat[plain->slot].applied.sm_mask);
    assert_true(sm_mask_empty(&mask)); // the whole device
    assert_int_equal(seat[plain->slot].applied.weight, 1);
    assert_int_equal(sms_now(t), 6);
    assert_int_equal(seat[t->slot].applied.weight, 7);
    assert_int_equal(seat[t->slot].applied.priority, 3);
    assert_int_equal(seat[t->slot].applied.cls, GS_CLASS_LATENCY);
    assert_int_equal(seat[t->slot].applied.deadline_ns, 123456);
}

static void a_wish_is_answered_when_the_worker_has_it(void **state)
{
    (void)state;
    struct tenant *t = attach_open(NULL);
    wish(t, count_of(4, false), 11);
    expect_no_answer();
    assert_int_equal(worker_hears(), LINK_GRANT);
    expect_no_answer();
    worker_answers(t->slot, GS_OK);
    expect_answer(11, GS_OK, "");
    assert_int_equal(sms_now(t), 4);
    // The same again is had at once.
    wish(t, count_of(4, false), 12);
    expect_answer(12, GS_OK, "");
    assert_int_equal(worker_hears(), 0);
}

static void only_the_sessions_own_user_may_wish(void **state)
{
    (void)state;
    struct tenant *t = attach_open(NULL);
    struct ctl_set_qos request = {.cookie = t->cookie, .qos = count_of(4, false)};
    struct reply reply = reply_make(5);
    reply.uid = 1001;
    wish_handle(&server, &request, &reply);
    expect_answer(5, GS_ERR_PERMISSION, "uid 1001");
    reply.uid = 1000;
    request.cookie ^= 1u << 20;
    wish_handle(&server, &request, &reply);
    expect_answer(5, GS_ERR_PERMISSION, "no such session");
    request.cookie = t->cookie;
    request.qos.sm_count = 17;
    wish_handle(&server, &request, &reply);
    expect_answer(5, GS_ERR_INVALID_VALUE, "17 SMs: 1 to 16");
    reply_close(&reply);
    assert_int_equal(worker_hears(), 0);
}

static void others_let_go_before_the_owner_is_given(void **state)
{
    (void)state;
    struct tenant *a = attach_open(NULL), *b = attach_open(NULL), *own = attach_open(NULL);
    wish(own, count_of(4, true), 21);
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
    wish(own, count_of(4, false), 22);
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
    struct tenant *a = attach_open(NULL);
    struct tenant *own = attach(&qos, text);
    assert_int_equal(own->state, TENANT_WAITING);
    assert_int_equal(worker_hears(), LINK_GRANT);
    worker_answers(a->slot, GS_OK);
    loop_turn();
    assert_int_equal(own->state, TENANT_OPENING);
    assert_int_equal(worker_hears(), LINK_OPEN);
    assert_int_equal(
        spelled(&seat[own->slot].heard).word[0] & spelled(&seat[a->slot].applied).word[0], 0);
}

// A session whose last kernels still run keeps what is its alone, and nobody waits for it.
static void an_attach_does_not_wait_for_what_is_being_given_up(void **state)
{
    struct wire_qos alone = count_of(8, true);

    (void)state;
    struct tenant *own = attach_open(&alone), *first = attach_open(NULL);
    assert_int_equal(sms_now(first), 8);
    wish(own, count_of(4, true), 91);
    assert_int_equal(worker_hears(), LINK_GRANT);
    struct tenant *second = attach_open(NULL); // fails if it is not opened
    assert_int_equal(sms_now(second), 8);
    worker_answers(own->slot, GS_OK);
    expect_answer(91, GS_OK, "");
    settle();
    assert_int_equal(sms_now(second), 12);
    tenant_close(own);
    assert_int_equal(worker_hears(), LINK_CLOSE);
    struct tenant *third = attach_open(NULL);
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
    former = sm_mask_of(policy.reserve_mask[0]);
    assert_int_equal(sm_mask_count(&former), 2); // 12% of 16, in groups of 2
    attach_open(NULL);
    policy_update(device);
    worker_hears();
    now = sm_mask_of(policy.reserve_mask[0]);
    assert_true(sm_mask_equal(&former, &now));
    // SMs that are a session's alone are nothing to leave.
    memcpy(alone.sm_mask, former.word, sizeof(alone.sm_mask));
    wish(registry_by_slot(&server.registry, 0), alone, 95);
    settle();
    now = sm_mask_of(policy.reserve_mask[0]);
    assert_int_equal(sm_mask_count(&now), 2);
    assert_false(sm_mask_meets(&former, &now));
    // A share for each session at work, up to half of the device, each with the one before in it.
    for (unsigned i = 1; i < LINK_SHARES; i++) {
        struct sm_mask more = sm_mask_of(policy.reserve_mask[i]);
        assert_int_equal(sm_mask_count(&more), 2 * (i + 1));
        assert_true(sm_mask_within(&now, &more));
        now = more;
    }
    server.settings.device[0] = (struct ctl_settings){.fields = CTL_LATENCY_SMS, .latency_sms = 15};
    policy_update(device);
    worker_hears();
    now = sm_mask_of(policy.reserve_mask[0]);
    assert_int_equal(sm_mask_count(&now), 12); // of 14, two stay
    for (unsigned i = 1; i < LINK_SHARES; i++) // what the operator said is for all
        assert_memory_equal(policy.reserve_mask[i], policy.reserve_mask[0], sizeof(now));
    few = sm_mask_of(policy.few_mask); // a quarter of them, in groups of 2
    assert_int_equal(sm_mask_count(&few), 4);
    assert_true(sm_mask_within(&few, &now));
    server.settings.device[0].latency_sms = 0;
    policy_update(device);
    worker_hears();
    now = sm_mask_of(policy.reserve_mask[0]);
    assert_true(sm_mask_empty(&now));
}

static void what_the_worker_cannot_do_is_taken_back(void **state)
{
    (void)state;
    struct tenant *t = attach_open(NULL), *other = attach_open(NULL);
    wish(t, count_of(4, false), 31);
    worker_hears();
    worker_answers(t->slot, GS_ERR_NO_DEVICE_MEMORY);
    expect_answer(31, GS_ERR_NO_DEVICE_MEMORY, "no memory for a green context");
    assert_int_equal(t->qos.affinity_type, GS_EXEC_AFFINITY_NONE);
    settle();
    assert_int_equal(sms_now(t), 16);
    // One that cannot be moved fails the wish that needs its SMs.
    wish(t, count_of(4, true), 32);
    assert_int_equal(worker_hears(), LINK_GRANT);
    worker_answers(other->slot, GS_ERR_NO_DEVICE_MEMORY);
    loop_turn();
    expect_answer(32, GS_ERR_NO_DEVICE_MEMORY, "cannot be moved");
    settle();
    assert_int_equal(sms_now(t), 16);
    assert_int_equal(sms_now(other), 16);
    assert_int_equal(device->constrained, 0);
}

static void answer_due(struct tenant *t)
{
    timer_cancel(&server.loop, &t->answer_by);
    t->answer_by.fire(&t->answer_by);
}

// The worker is to give up first, then the supervisor, then the client.
static void an_attach_is_answered_while_its_client_waits(void **state)
{
    const uint64_t patience = 8000000000u, before = clock_ns();
    struct wire_qos qos = count_of(4, true);
    char text[REFUSAL_TEXT_MAX], who[64];

    (void)state;
    struct tenant *a = attach_open(NULL), *own = arrive(&qos);
    snprintf(a->name, sizeof(a->name), "trainer");
    own->reply = reply_make(141);
    tenant_expect(own, patience);
    assert_true(own->give_up_ns > before);
    assert_true(own->give_up_ns < own->answer_by.due_ns);
    assert_true(own->answer_by.due_ns < before + patience);
    assert_int_equal(grants_place(device, own, text), GS_OK);
    grants_pump(device);
    assert_int_equal(own->state, TENANT_WAITING);
    snprintf(who, sizeof(who), "session %llu (trainer)", (unsigned long long)a->id);
    answer_due(own);
    expect_answer(141, GS_ERR_TIMEOUT, who);
    assert_int_equal(own->state, TENANT_FREE);
    settle();
    assert_int_equal(sms_now(a), 16);
}

// What the worker still opens is closed again.
static void an_attach_that_a_worker_is_slow_with_is_answered_too(void **state)
{
    char text[REFUSAL_TEXT_MAX];

    (void)state;
    struct tenant *t = attach(NULL, text);
    t->reply = reply_make(142);
    tenant_expect(t, 8000000000u);
    assert_int_equal(worker_hears(), LINK_OPEN);
    answer_due(t);
    expect_answer(142, GS_ERR_TIMEOUT, "kernels run on");
    assert_int_equal(t->state, TENANT_OPENING);
    assert_int_equal(tenant_state_told(t), CTL_TENANT_ENDING);
    worker_answers(t->slot, GS_OK);
    assert_int_equal(worker_hears(), LINK_CLOSE);
    worker_answers(t->slot, GS_OK);
    assert_int_equal(t->state, TENANT_FREE);
    expect_no_answer();
}

// Any number will do, also none.
static void a_client_need_not_say_how_long_it_waits(void **state)
{
    const uint64_t most = UINT32_MAX * UINT64_C(1000000);

    (void)state;
    struct tenant *t = arrive(NULL);
    tenant_expect(t, 0);
    assert_int_equal(t->answer_by.due_ns, 0);
    assert_int_equal(t->give_up_ns, 0);
    tenant_expect(t, most);
    assert_true(t->give_up_ns < t->answer_by.due_ns && t->answer_by.due_ns < clock_ns() + most);
    tenant_expect(t, 1);
    assert_true(t->give_up_ns <= t->answer_by.due_ns);
    tenant_end(t);
}

static void patience_with_a_silent_worker_ends(void **state)
{
    (void)state;
    struct tenant *t = attach_open(NULL);
    wish(t, count_of(4, false), 41);
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_true(t->wish.patience.due_ns != 0);
    timer_cancel(&server.loop, &t->wish.patience);
    t->wish.patience.fire(&t->wish.patience);
    expect_answer(41, GS_ERR_TIMEOUT, "kernels run on");
    // When it does answer at last, it is told that this is no longer wanted.
    worker_answers(t->slot, GS_OK);
    assert_int_equal(worker_hears(), LINK_GRANT);
    worker_answers(t->slot, GS_OK);
    assert_int_equal(sms_now(t), 16);
    assert_true(grants_hold(t));
}

static void wishes_of_one_session_wait_in_line(void **state)
{
    (void)state;
    struct tenant *t = attach_open(NULL);
    for (uint64_t i = 0; i < 17; i++)
        wish(t, count_of(2 + 2 * (uint32_t)(i % 2), false), 51 + i);
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
static void a_wish_that_has_waited_too_long_in_line_is_not_begun(void **state)
{
    (void)state;
    struct tenant *t = attach_open(NULL);
    wish(t, count_of(4, false), 71);
    wish(t, count_of(6, false), 72);
    wish(t, count_of(8, false), 73);
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_true(t->wish.patience.due_ns == t->wish.first->due_ns);
    t->wish.first->next->due_ns = 1;
    worker_answers(t->slot, GS_OK);
    expect_answer(71, GS_OK, "");
    expect_answer(72, GS_ERR_TIMEOUT, "15 s");
    assert_int_equal(worker_hears(), LINK_GRANT);
    assert_true(t->wish.patience.due_ns == t->wish.first->due_ns);
    worker_answers(t->slot, GS_OK);
    expect_answer(73, GS_OK, "");
    assert_int_equal(sms_now(t), 8);
}

static void a_session_that_ends_leaves_no_wish_behind(void **state)
{
    (void)state;
    struct tenant *a = attach_open(NULL), *own = attach_open(NULL);
    wish(own, count_of(4, true), 61);
    wish(own, count_of(6, true), 62);
    tenant_close(own);
    expect_answer(61, GS_ERR_INVALID_HANDLE, "ending");
    expect_answer(62, GS_ERR_INVALID_HANDLE, "ending");
    settle();
    assert_int_equal(own->state, TENANT_FREE);
    assert_int_equal(sms_now(a), 16);
    assert_null(device->awaited);
}

static void with_the_worker_all_grants_are_gone(void **state)
{
    char text[REFUSAL_TEXT_MAX];
    struct wire_qos alone = count_of(4, true), most = count_of(14, true);

    (void)state;
    struct tenant *own = attach_open(&alone);
    wish(own, count_of(6, true), 71);
    device_fail(device, NULL, LINK_SLOT_NONE, "for a test");
    expect_answer(71, GS_ERR_INTERRUPTED, "lost");
    assert_int_equal(own->state, TENANT_LOST);
    assert_int_equal(device->constrained, 0);
    wish(own, alone, 72);
    expect_answer(72, GS_ERR_INTERRUPTED, "lost");
    // The next worker's tenants do not find its SMs taken.
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
    struct tenant *gone = arrive(NULL), *first = arrive(&most), *second = arrive(NULL);
    tenant_end(gone);
    struct tenant *late = arrive(&most), *last = arrive(NULL); // the first slot, but not the first
    assert_true(late->slot < first->slot);
    device->worker.state = WORKER_READY;
    grants_ready(device);
    for (uint32_t turn = 0; turn <= 4; turn++) {
        uint32_t placed = 0;
        struct epoll_event event;

        for (struct tenant *t = NULL; (t = registry_next(&server.registry, t));)
            placed += t->state != TENANT_WAITING;
        assert_int_equal(placed, turn < 3 ? turn : turn - 1); // one is refused
        assert_int_equal(epoll_wait(server.loop.epoll_fd, &event, 1, 60000), 1);
        struct watch *watch = event.data.ptr;
        watch->ready(watch, event.events);
    }
    assert_int_equal(late->state, TENANT_FREE);
    assert_true(first->state == TENANT_OPENING && second->state == TENANT_OPENING &&
                last->state == TENANT_OPENING);
    assert_false(device->early);
}

static void operator_sets(struct tenant *t, uint32_t unset, struct ctl_settings settings,
                          uint64_t token)
{
    struct ctl_set set = {.target = CTL_TENANT, .id = t->id, .unset = unset, .settings = settings};
    struct reply reply = {dup(answers), geteuid(), CTL_SET, token};

    operator_set(&server, &set, &reply);
    reply_close(&reply);
}

// A mask that has shrunk since it was asked for is no reason to refuse what has nothing to do with
// it, nor less of it.
static void an_operator_can_set_a_session_whose_mask_has_shrunk(void **state)
{
    struct wire_qos low = mask_of(0x00ff, false), alone = mask_of(0x000f, true);

    (void)state;
    struct tenant *t = attach_open(&low);
    struct tenant *own = attach(&alone, (char[REFUSAL_TEXT_MAX]){0});
    assert_non_null(own);
    assert_int_equal(worker_hears(), LINK_GRANT);
    worker_answers(t->slot, GS_OK);
    assert_int_equal(sms_now(t), 4);
    operator_sets(t, 0, (struct ctl_settings){.fields = CTL_WEIGHT, .weight = 3}, 91);
    assert_int_equal(t->grant.target.weight, 3);
    operator_sets(t, 0, (struct ctl_settings){.fields = CTL_SMS, .sms = 2}, 92);
    assert_int_equal(t->set.sms, 2);
    // A wish for what is not there any more is still refused.
    wish(t, low, 93);
    expect_answer(93, GS_ERR_LIMIT, "0-3");
    // So is an operator's for more exclusive SMs than there are.
    operator_sets(t, CTL_SMS,
                  (struct ctl_settings){
                      .fields = CTL_EXCLUSIVE | CTL_PERCENTAGE, .exclusive = 1, .percentage = 90},
                  94);
    expect_answer(94, GS_ERR_LIMIT, "for itself alone");
}

static void a_second_operator_does_not_use_up_the_firsts_time(void **state)
{
    const struct timer *patience = &server.operator.patience;
    uint64_t due;

    (void)state;
    struct tenant *t = attach_open(NULL);
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
    struct tenant *t = attach_open(NULL), *opening = attach(NULL, text);
    assert_int_equal(opening->state, TENANT_OPENING);
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
    assert_int_equal(grants_open_count(device), 2);
}

static void an_answer_to_no_question_ends_the_worker(void **state)
{
    struct link_message message = {.op = LINK_GRANTED};

    (void)state;
    struct tenant *t = attach_open(NULL);
    wish(t, count_of(4, false), 81);
    assert_int_equal(worker_hears(), LINK_GRANT);
    message.slot = t->slot;
    message.u.granted.sequence = seat[t->slot].heard.sequence + 1;
    assert_int_equal(send(worker_end, &message, sizeof(message), 0), sizeof(message));
    worker_receive(device);
    assert_int_equal(device->worker.state, WORKER_ENDING);
    expect_answer(81, GS_ERR_INTERRUPTED, "lost");
}

static void limits_are_the_tightest_of_all_that_are_set(void **state)
{
    struct wire_qos qos = count_of(12, false);
    struct qos_effect effect;
    char text[REFUSAL_TEXT_MAX];
    struct ctl_settings user = {.fields = CTL_PERCENTAGE | CTL_PRIORITY | CTL_USER_MEM | CTL_MASK,
                                .percentage = 50,
                                .priority = 2,
                                .user_mem = 4096,
                                .sm_mask = {0x0fff}};

    (void)state;
    qos.priority = 4;
    qos.cls = GS_CLASS_LATENCY;
    qos.weight = 9;
    struct tenant *t = attach_open(&qos);
    t->mem_wish = 500;
    assert_true(settings_put_user(&server.settings, 1000, &user));
    server.settings.everybody = (struct ctl_settings){.fields = CTL_CLASS | CTL_WEIGHT | CTL_MEM,
                                                      .cls = GS_CLASS_NORMAL,
                                                      .weight = 20,
                                                      .mem = 400};
    t->set = (struct ctl_settings){.fields = CTL_SMS | CTL_INFLIGHT | CTL_MASK | CTL_WEIGHT,
                                   .sms = 6,
                                   .inflight = 3,
                                   .weight = 5,
                                   .sm_mask = {0xfff0}};
    assert_int_equal(qos_effect(t, &effect, text), GS_OK);
    assert_int_equal(effect.sms, 6);
    assert_int_equal(effect.within.word[0], 0x0ff0);
    assert_int_equal(effect.grant.priority, 2);
    assert_int_equal(effect.grant.priority_max, 2);
    assert_int_equal(effect.grant.cls, GS_CLASS_NORMAL);
    assert_int_equal(effect.grant.weight, 5);
    assert_int_equal(effect.grant.mem_limit, 400);
    assert_int_equal(effect.grant.user_mem_limit, 4096);
    assert_int_equal(effect.grant.inflight_max, 3);
    // A tenant lowers what it likes.
    t->qos = (struct wire_qos){.affinity_type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE,
                               .percentage = 10,
                               .cls = GS_CLASS_BEST_EFFORT,
                               .weight = 2};
    t->mem_wish = 300;
    assert_int_equal(qos_effect(t, &effect, text), GS_OK);
    assert_int_equal(effect.sms, 2); // 1.6, rounded up
    assert_int_equal(effect.grant.cls, GS_CLASS_BEST_EFFORT);
    assert_int_equal(effect.grant.weight, 2);
    assert_int_equal(effect.grant.mem_limit, 300);
    // A mask outside of what is allowed, and a ban.
    t->qos = mask_of(0x000f, false);
    assert_int_equal(qos_effect(t, &effect, text), GS_ERR_LIMIT);
    assert_non_null(strstr(text, "4-11"));
    t->qos = count_of(2, true);
    server.settings.everybody.fields |= CTL_EXCLUSIVE;
    assert_int_equal(qos_effect(t, &effect, text), GS_OK);
    assert_int_equal(effect.grant.exclusive, 0);
    assert_int_equal(effect.sms, 2);
    t->qos = (struct wire_qos){.exclusive = 1};
    t->set.fields = user.fields = server.settings.everybody.fields = 0;
    assert_true(settings_put_user(&server.settings, 1000, &user));
    assert_int_equal(qos_effect(t, &effect, text), GS_ERR_INVALID_VALUE);
    settings_deinit(&server.settings);
}

/* ---- Random sequences ------------------------------------------------------------------------ */

static uint32_t dice(uint32_t sides)
{
    return (uint32_t)rand() % sides;
}

static struct wire_qos wish_random(void)
{
    struct wire_qos qos = {.affinity_type = dice(4), .exclusive = dice(3) == 0};

    qos.sm_count = 1 + dice(qos.exclusive ? 6 : SMS);
    qos.percentage = 1 + dice(qos.exclusive ? 40 : 100);
    for (uint32_t g = 0; g < SMS / 2; g++)
        qos.sm_mask[0] |= (uint64_t)(dice(qos.exclusive ? 5 : 2) == 0 ? 3 : 0) << 2 * g;
    if (qos.sm_mask[0] == 0)
        qos.sm_mask[0] = 3;
    if (qos.affinity_type == GS_EXEC_AFFINITY_NONE)
        qos.exclusive = 0;
    return qos;
}

static struct tenant *tenant_random(void)
{
    struct tenant *t = registry_by_slot(&server.registry, dice(SLOTS));

    return t && t->state == TENANT_OPEN ? t : NULL;
}

static struct ctl_settings settings_random(void)
{
    struct wire_qos qos = wish_random();
    struct ctl_settings set = {.fields = (uint32_t)rand() & (uint32_t)rand() & CTL_FIELDS,
                               .percentage = dice(110),
                               .sms = dice(SMS + 3),
                               .exclusive = dice(2),
                               .priority = (int32_t)dice(7),
                               .cls = dice(4),
                               .weight = dice(12),
                               .inflight = dice(9),
                               .latency_sms = dice(SMS),
                               .mem = dice(3) << 21,
                               .user_mem = dice(3) << 21};

    memcpy(set.sm_mask, qos.sm_mask, sizeof(set.sm_mask));
    return set;
}

// Any request of an operator, mostly near to what can be done.
static void operator_random(uint64_t token)
{
    struct reply reply = {dup(answers), geteuid(), CTL_SET, token};
    const struct tenant *t = tenant_random();
    struct ctl_set set = {.target = dice(6), .settings = settings_random()};
    struct ctl_reserve reserve = {.sms = dice(5)};
    struct ctl_provision provision = {.mode = dice(5)};

    set.id = set.target == CTL_USER ? 1000 : set.target == CTL_TENANT && t ? t->id : 0;
    set.unset = dice(2) ? CTL_FIELDS : (uint32_t)rand();
    reserve.name[0] = (char)('a' + dice(3));
    memcpy(reserve.sm_mask, set.settings.sm_mask, sizeof(reserve.sm_mask));
    switch (dice(6)) {
    case 0:
        operator_reserve(&server, &reserve, &reply);
        break;
    case 1:
    case 2:
        operator_release(&server, &reserve, &reply);
        break;
    case 3:
        operator_provision(&server, &provision, &reply);
        break;
    default:
        operator_set(&server, &set, &reply);
        break;
    }
    reply_close(&reply);
}

// Sessions come, go and change their wishes, operators set, reserve and provision, while the worker
// answers late, in any order, and now and then with a refusal. seats_check looks after each of its
// answers; in the end all holds, and every wish has had one answer.
static void random_sequences_never_share_exclusive_sms(void **state)
{
    static const uint32_t modes[] = {CTL_PROVISION_EXACT, CTL_PROVISION_EXACT,
                                     CTL_PROVISION_UNIFORM, CTL_PROVISION_HALF,
                                     CTL_PROVISION_WEIGHTED};
    uint64_t asked = 0, answered = 0, good = 0;

    srand(5);
    for (uint32_t round = 0; round < 200; round++) {
        uint64_t token = 1000;

        server.settings.provision = modes[round % 5];
        for (uint32_t step = 0; step < 100; step++) {
            struct wire_qos qos = wish_random();
            struct tenant *t = tenant_random();
            char text[REFUSAL_TEXT_MAX];
            uint32_t slot = dice(SLOTS);
            gs_status status;

            switch (dice(9)) {
            case 0:
                attach_space = server.settings.reservation[0].name[0] && dice(3) == 0;
                if (server.registry.count < SLOTS)
                    attach(dice(2) ? &qos : NULL, text);
                attach_space = 0;
                break;
            case 8:
                if (round % 2 && server.operator.count<4 && asked - answered<9) {
                    operator_random(token++);
                    asked++;
                }
                break;
            case 1:
                if (t && dice(2))
                    tenant_close(t);
                break;
            case 2:
            case 3:
                if (t && asked - answered < 9) { // the queue of answers holds ten
                    wish(t, dice(5) ? qos : (struct wire_qos){0}, token++);
                    asked++;
                }
                break;
            default:
                loop_turn();
                while (worker_hears())
                    continue;
                if (seat[slot].opening) {
                    struct tenant *opening = registry_by_slot(&server.registry, slot);
                    seat[slot].opening = false;
                    seat[slot].open = true;
                    seat[slot].applied = seat[slot].heard;
                    opening->state = TENANT_OPEN;
                    grants_opened(opening);
                    seats_check();
                } else if (seat[slot].closing || seat[slot].pending) {
                    worker_answers(slot, dice(20) ? GS_OK : GS_ERR_NO_DEVICE_MEMORY);
                }
                break;
            }
            while (answer_take(&status, NULL)) {
                answered++;
                good += status == GS_OK;
            }
        }
        // All that is under way comes to its end.
        for (bool more = true; more;) {
            gs_status status;

            more = false;
            loop_turn();
            while (worker_hears())
                more = true;
            for (uint32_t i = 0; i < SLOTS; i++) {
                struct tenant *t = registry_by_slot(&server.registry, i);

                if (seat[i].opening) {
                    seat[i].opening = false;
                    seat[i].open = true;
                    seat[i].applied = seat[i].heard;
                    t->state = TENANT_OPEN;
                    grants_opened(t);
                    seats_check();
                    more = true;
                } else if (seat[i].pending || seat[i].closing) {
                    worker_answers(i, GS_OK);
                    more = true;
                } else if (t && t->grant.refused && device->grant_retry.due_ns) {
                    timer_cancel(&server.loop, &device->grant_retry);
                    device->grant_retry.fire(&device->grant_retry);
                    more = true;
                }
            }
            while (answer_take(&status, NULL)) {
                answered++;
                good += status == GS_OK;
            }
        }
        for (struct tenant *t = NULL; (t = registry_next(&server.registry, t));) {
            if (!grants_hold(t))
                fail_msg("round %u: session %llu in state %d never got its grant", round,
                         (unsigned long long)t->id, (int)t->state);
        }
        assert_null(device->awaited);
        assert_int_equal(grants_teardown(state), 0);
        assert_int_equal(grants_setup(state), 0);
    }
    assert_int_equal(asked, answered);
    assert_true(good > 500 && good < answered);
}

#define GRANTS_TEST(test) cmocka_unit_test_setup_teardown(test, grants_setup, grants_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        GRANTS_TEST(an_attach_is_opened_with_what_it_asked_for),
        GRANTS_TEST(a_wish_is_answered_when_the_worker_has_it),
        GRANTS_TEST(only_the_sessions_own_user_may_wish),
        GRANTS_TEST(others_let_go_before_the_owner_is_given),
        GRANTS_TEST(an_exclusive_attach_waits_for_its_sms),
        GRANTS_TEST(an_attach_does_not_wait_for_what_is_being_given_up),
        GRANTS_TEST(best_effort_work_leaves_the_same_sms_as_long_as_it_can),
        GRANTS_TEST(what_the_worker_cannot_do_is_taken_back),
        GRANTS_TEST(an_attach_is_answered_while_its_client_waits),
        GRANTS_TEST(an_attach_that_a_worker_is_slow_with_is_answered_too),
        GRANTS_TEST(a_client_need_not_say_how_long_it_waits),
        GRANTS_TEST(patience_with_a_silent_worker_ends),
        GRANTS_TEST(wishes_of_one_session_wait_in_line),
        GRANTS_TEST(a_wish_that_has_waited_too_long_in_line_is_not_begun),
        GRANTS_TEST(a_session_that_ends_leaves_no_wish_behind),
        GRANTS_TEST(with_the_worker_all_grants_are_gone),
        GRANTS_TEST(who_came_before_the_worker_is_placed_by_and_by_and_in_order),
        GRANTS_TEST(an_operator_can_set_a_session_whose_mask_has_shrunk),
        GRANTS_TEST(a_second_operator_does_not_use_up_the_firsts_time),
        GRANTS_TEST(an_operator_does_not_wait_for_sessions_that_are_being_opened),
        GRANTS_TEST(an_answer_to_no_question_ends_the_worker),
        GRANTS_TEST(limits_are_the_tightest_of_all_that_are_set),
        GRANTS_TEST(random_sequences_never_share_exclusive_sms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
