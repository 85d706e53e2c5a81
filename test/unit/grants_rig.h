/*
 * grants_rig.h - a supervisor with one device of 16 SMs between clients and a worker that are the
 * test: this worker applies a grant when it is told to, or refuses it, or says nothing. Each test
 * program includes this once, after cmocka.h.
 */
#ifndef GS_TEST_GRANTS_RIG_H
#define GS_TEST_GRANTS_RIG_H

#include <fcntl.h>
#include <mqueue.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/control/operator.h"
#include "server/reconcile/changes.h"
#include "server/reconcile/plan.h"
#include "server/reconcile/policy.h"
#include "server/reconcile/reconcile.h"
#include "server/reconcile/reservations.h"
#include "server/reconcile/settle.h"
#include "server/session/close.h"
#include "server/session/qos_requests.h"
#include "server/state/qos.h"
#include "server/workers/ending.h"
#include "server/workers/messages.h"
#include "server/workers/process.h"

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

static inline struct sm_mask spelled(const struct link_grant *grant)
{
    struct sm_mask mask = sm_mask_of(grant->sm_mask);

    return sm_mask_empty(&mask) ? device->sms.all : mask;
}

// The point of it all: at no time do two sessions' kernels run on SMs that are one's alone.
static inline void seats_check(void)
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

// Takes one message of the supervisor that is about a slot. 0: there is none.
static inline uint32_t worker_hears(void)
{
    struct link_message message;
    struct seat *s;

    do {
        if (recv(worker_end, &message, sizeof(message), 0) != sizeof(message))
            return 0;
        if (message.op == LINK_POLICY)
            policy = message.u.policy;
    } while (message.op == LINK_POLICY || message.op == LINK_SEGMENT_DROP);
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

static inline void worker_says(const struct link_message *message)
{
    assert_int_equal(send(worker_end, message, sizeof(*message), 0), sizeof(*message));
    worker_receive(device);
    reconcile(&server);
    assert_int_equal(device->worker.state, WORKER_READY);
}

// Answers the message that the slot last had. status: of a grant.
static inline void worker_answers(uint32_t slot, gs_status status)
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
static inline void loop_turn(void)
{
    struct epoll_event event;

    // A timer that is due comes when the kernel gets to it.
    while (epoll_wait(server.loop.epoll_fd, &event, 1, device->plan_soon.due_ns ? 60000 : 0) > 0) {
        struct watch *watch = event.data.ptr;
        watch->ready(watch, event.events);
        reconcile(&server);
    }
}

// The timer's time has come.
static inline void timer_fires(struct timer *timer)
{
    timer_cancel(&server.loop, timer);
    timer->fire(timer);
    reconcile(&server);
}

// Everything that can happen without the test's doing happens.
static inline void settle(void)
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

static mqd_t answers; // of all requests; the token tells them apart

static inline int grants_setup(void **state)
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
    if (loop_init(&server.loop) < 0 || !registry_init(&server.registry, SLOTS, NULL) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair) < 0 ||
        watch_add(&server.loop, &device->worker.child.link, pair[0], EPOLLIN, worker_link_ready) <
            0)
        return -1;
    worker_end = pair[1];
    snprintf(name, sizeof(name), "/gshare-unit-%d", (int)getpid());
    answers = mq_open(name, O_RDWR | O_CREAT | O_EXCL | O_NONBLOCK, 0600, &attr);
    mq_unlink(name);
    for (uint32_t sm = 0; sm < SMS; sm++)
        info.sm_group[sm] = (uint8_t)(sm / 2);
    device->worker.state = WORKER_READY;
    device->worker.child.pid = fork(); // there must be something to kill
    if (device->worker.child.pid == 0) {
        for (;;)
            pause();
    }
    device->worker.child.process.fd = (int)syscall(SYS_pidfd_open, device->worker.child.pid, 0);
    device->info = info;
    reservations_place(device);
    if (!placer_device_init(&device->sms, &info) || answers < 0 || device->worker.child.pid < 0)
        return -1;
    reservations_place(device);
    return 0;
}

static inline int grants_teardown(void **state)
{
    (void)state;
    for (struct session *t = NULL; (t = registry_next(&server.registry, t));)
        server_session_end(t);
    assert_int_equal(device->constrained, 0);
    changes_deinit(&server);
    worker_kill(device);
    device_deinit(device);
    close(worker_end);
    mq_close(answers);
    registry_deinit(&server.registry);
    loop_deinit(&server.loop);
    return 0;
}

static inline struct reply reply_make(uint64_t token)
{
    return (struct reply){dup(answers), 1000, CTL_SET_QOS, token, 0};
}

static uint32_t attach_space; // of the next attach: 0, or 1 + a reservation

// The next answer. 0: there is none. *status may be NULL.
static inline uint64_t answer_take(gs_status *status, char text[128])
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

static inline void expect_answer(uint64_t token, gs_status wanted, const char *part)
{
    gs_status status = GS_ERR_SYSTEM;
    char text[128] = "";

    assert_int_equal(answer_take(&status, text), token);
    if (status != wanted || !strstr(text, part))
        fail_msg("answered with status %d, '%s'", (int)status, text);
}

static inline void expect_no_answer(void)
{
    assert_int_equal(answer_take(NULL, NULL), 0);
}

static inline struct wire_qos count_of(uint32_t sms, bool exclusive)
{
    return (struct wire_qos){
        .affinity_type = GS_EXEC_AFFINITY_SM_COUNT, .sm_count = sms, .exclusive = exclusive};
}

static inline struct wire_qos mask_of(uint64_t sms, bool exclusive)
{
    return (struct wire_qos){
        .affinity_type = GS_EXEC_AFFINITY_SM_MASK, .sm_mask = {sms}, .exclusive = exclusive};
}

// A session that is to be placed.
static inline struct session *arrive(const struct wire_qos *qos)
{
    struct session *t = registry_take(&server.registry);

    assert_non_null(t);
    t->server = &server;
    t->device = device;
    device->sessions++;
    t->id = ++server.sessions_total;
    t->uid = 1000;
    t->segment = segment[t->slot];
    t->segment_id = -1;
    t->space = attach_space;
    if (qos)
        t->qos = *qos;
    return t;
}

// The session's client has gone.
static inline void leave(struct session *t)
{
    server_session_close(t);
    reconcile(&server);
}

// As attach.c does it, less the segment. NULL: it was refused.
static inline struct session *attach(const struct wire_qos *qos, char text[REFUSAL_TEXT_MAX])
{
    struct session *t = arrive(qos);

    if (plan_request(device, t, text) != GS_OK) {
        server_session_end(t);
        return NULL;
    }
    reconcile(&server);
    return t;
}

// The worker opens it. LINK_OPENED finds no segment of ours, so the attach would be taken back:
// skip that part.
static inline void seat_open(struct session *t)
{
    struct seat *s = &seat[t->slot];

    s->opening = false;
    s->open = true;
    s->applied = s->heard;
    t->state = SESSION_OPEN;
    grants_opened(t);
    reconcile(&server);
    seats_check();
}

static inline struct session *attach_open(const struct wire_qos *qos)
{
    char text[REFUSAL_TEXT_MAX] = "";
    struct session *t = attach(qos, text);

    if (!t)
        fail_msg("refused: %s", text);
    if (t->state == SESSION_OPENING) {
        assert_int_equal(worker_hears(), LINK_OPEN);
        t->window_size = 1 << 30;
        seat_open(t);
    }
    return t;
}

static inline void ask(struct session *t, struct wire_qos qos, uint64_t token)
{
    struct ctl_set_qos request = {.cookie = t->cookie, .qos = qos};
    struct reply reply = reply_make(token);

    qos_request_handle(&server, &request, &reply);
    reply_close(&reply);
    reconcile(&server);
}

static inline uint32_t sms_now(const struct session *t)
{
    struct sm_mask mask = spelled(&seat[t->slot].applied);

    return sm_mask_count(&mask);
}

static inline void operator_sets(struct session *t, uint32_t unset, struct ctl_settings settings,
                                 uint64_t token)
{
    struct ctl_set set = {.target = CTL_TENANT, .id = t->id, .unset = unset, .settings = settings};
    struct reply reply = {dup(answers), geteuid(), CTL_SET, token, 0};

    operator_set(&server, &set, &reply);
    reply_close(&reply);
    reconcile(&server);
}

#define GRANTS_TEST(test) cmocka_unit_test_setup_teardown(test, grants_setup, grants_teardown)

#endif
