/*
 * control.c - the control queue: takes requests, checks them, hands them on. Its bytes come from
 * any process that may write to the queue.
 */
#include "server/control/control.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "common/log_event.h"
#include "common/util.h"
#include "server/control/operator.h"
#include "server/session/close.h"
#include "server/session/events.h"
#include "server/session/liveness.h"

/* Requests taken before other events get their turn. */
#define CONTROL_BATCH 16

/* A row for each operation that is answered: its message, as a member of union control_request;
 * what it wants of the server that only its owner and root may have, or NULL: everybody may attach
 * and look; and its handler. */
#define REQUESTS(REQUEST)                                                                          \
    REQUEST(CTL_ATTACH, attach, NULL, attach_handle)                                               \
    REQUEST(CTL_SET_QOS, set_qos, NULL, qos_request_handle)                                        \
    REQUEST(CTL_STATUS, admin, NULL, admin_status)                                                 \
    REQUEST(CTL_PS, admin, NULL, admin_ps)                                                         \
    REQUEST(CTL_GET, admin, NULL, operator_get)                                                    \
    REQUEST(CTL_EXPLAIN, admin, NULL, operator_explain)                                            \
    REQUEST(CTL_TRACE, trace, NULL, trace_handle)                                                  \
    REQUEST(CTL_LOG, admin, "read the log of", operator_log)                                       \
    REQUEST(CTL_QUIT, admin, "end", admin_quit)                                                    \
    REQUEST(CTL_SET, set, "change", operator_set)                                                  \
    REQUEST(CTL_RESERVE, reserve, "change", operator_reserve)                                      \
    REQUEST(CTL_RELEASE, reserve, "change", operator_release)                                      \
    REQUEST(CTL_PROVISION, provision, "change", operator_provision)                                \
    REQUEST(CTL_DRAIN, drain, "change", operator_drain)                                            \
    REQUEST(CTL_KILL, kill, "change", operator_kill)                                               \
    REQUEST(CTL_RESTART, restart, "change", operator_restart)

uint32_t control_size(uint16_t op)
{
#define SIZE(op, member, right, handler) [op] = sizeof(((union control_request *)NULL)->member),
    static const uint32_t sizes[CONTROL_OPS] = {[CTL_ANNOUNCE] = sizeof(struct ctl_header),
                                                [CTL_CONFIRM] = sizeof(struct ctl_header),
                                                [CTL_DETACH] = sizeof(struct ctl_header),
                                                REQUESTS(SIZE)};
#undef SIZE

    return op < CONTROL_OPS ? sizes[op] : 0;
}

enum control_verdict control_check(const union control_request *request, size_t size)
{
    const struct ctl_header *h = &request->h;

    if (size < sizeof(*h) || size > CTL_MESSAGE_MAX || h->magic != WIRE_MAGIC)
        return CONTROL_JUNK;
    if (h->version != WIRE_VERSION)
        return CONTROL_VERSION;
    if (control_size(h->op) == 0)
        return CONTROL_OP;
    if (h->size != size || control_size(h->op) != size)
        return CONTROL_SIZE;
    return CONTROL_GOOD;
}

/* Opens the way back to the asker, unless it is open; from then on its queue needs no looking
 * after.
 */
static bool request_open(struct server *server, const struct ctl_header *h, struct reply *reply)
{
    if (reply->queue >= 0)
        return true;
    if (!reply_open(server->options.instance, h, reply))
        return false;
    announcement_remove(&server->announcements, h->token);
    return true;
}

static void refuse(struct server *server, const union control_request *request, size_t size,
                   enum control_verdict verdict, struct reply *reply)
{
    const struct ctl_header *h = &request->h;

    log_debug("a bad request: %zu bytes, operation %u, verdict %d", size,
              size >= sizeof(*h) ? h->op : 0, (int)verdict);
    if (verdict == CONTROL_JUNK || !request_open(server, h, reply))
        return;
    if (h->op == CTL_ATTACH && verdict == CONTROL_VERSION)
        attach_refused_count(server, GS_ERR_VERSION);
    switch (verdict) {
    case CONTROL_VERSION:
        reply_refuse(reply, GS_ERR_VERSION, "the server speaks protocol version %u, you %u",
                     WIRE_VERSION, h->version);
        break;
    case CONTROL_OP:
        reply_refuse(reply, GS_ERR_NOT_SUPPORTED, "the server has no operation %u", h->op);
        break;
    default:
        reply_refuse(reply, GS_ERR_INVALID_VALUE, "%zu bytes are no request %u", size, h->op);
        break;
    }
}

/* Handles requests that have no answer. A cookie that finds no session is that of one that has
 * ended, or a guess. */
static void handle_silent(struct server *server, const struct ctl_header *h)
{
    struct session *session;

    if (h->op == CTL_ANNOUNCE) {
        announcement_add(&server->announcements, h->token);
        return;
    }
    session = registry_by_cookie(&server->registry, h->token);
    if (!session)
        log_debug("request %u for a session that there is not", h->op);
    else if (h->op == CTL_CONFIRM)
        liveness_confirm(session);
    else
        server_session_close(session);
}

/* Whether only reserved descriptors are left for a request whose answer may take long: it keeps its
 * reply queue's descriptor meanwhile. */
static bool descriptors_low(const struct server *server, const struct reply *reply)
{
    return (reply->op == CTL_ATTACH || reply->op == CTL_SET_QOS) &&
           server_descriptor_reserved(server, reply->queue);
}

/* Whether the user has used its allowance of requests up: one who asks without end would keep the
 * server from answering the others. */
static bool asks_too_much(struct server *server, uid_t uid)
{
    struct account *account;

    if (!server_other(server, uid))
        return false;
    account = account_get(&server->accounts, uid);
    return !account || !account_ask(account, clock_ns());
}

/* What the operation wants that only the server's owner and root may have, such as the log, which
 * tells what all users do; NULL: everybody may ask. */
static const char *owners_right(uint16_t op)
{
#define RIGHT(op, member, right, handler) [op] = right,
    static const char *const rights[CONTROL_OPS] = {REQUESTS(RIGHT)};
#undef RIGHT

    return rights[op];
}

/* Whether the asker has the right to the request; if not, the reply and the log say so. */
static bool asker_permitted(struct server *server, const struct reply *reply)
{
    const char *wanted = owners_right(reply->op);
    struct log_event event = log_event_begin("denied");
    char text[REFUSAL_TEXT_MAX];
    gs_status status;

    if (!wanted || reply->uid == 0 || reply->uid == geteuid())
        return true;
    status = refusal(text, GS_ERR_PERMISSION, "user %s may not %s another user's server",
                     log_user_name(reply->uid), wanted);
    reply_refuse(reply, status, "%s", text);
    if (account_log(account_get(&server->accounts, reply->uid), clock_ns())) {
        reply_log(&event, reply);
        log_event_text(&event, "reason", text);
        log_event_write(&event, LOG_LEVEL_WARNING);
    }
    return false;
}

/* Whether the asker is served now; if not, the reply says so. */
static bool asker_admitted(struct server *server, const union control_request *request,
                           struct reply *reply)
{
    const bool attach = request->h.op == CTL_ATTACH;

    if (!user_admitted(&server->options, reply->uid)) {
        if (attach)
            attach_refused_log(server, reply, "", GS_ERR_REFUSED, "allow-users");
        reply_refuse(reply, GS_ERR_REFUSED,
                     "the server does not serve user %s (see gshared --allow-users)",
                     log_user_name(reply->uid));
        return false;
    }
    if (asks_too_much(server, reply->uid)) {
        if (attach)
            attach_refused_count(server, GS_ERR_LIMIT);
        reply_refuse(reply, GS_ERR_LIMIT, "user %s asks too much: %u requests a second",
                     log_user_name(reply->uid), REQUESTS_RATE);
        return false;
    }
    if (descriptors_low(server, reply)) {
        if (attach)
            attach_refused_count(server, GS_ERR_LIMIT);
        reply_refuse(reply, GS_ERR_LIMIT, DESCRIPTORS_NONE_LEFT, server->descriptors_max);
        return false;
    }
    return asker_permitted(server, reply);
}

static void request_do(struct server *server, const union control_request *request,
                       struct reply *reply)
{
#define DO(op, member, right, handler)                                                             \
    case op:                                                                                       \
        handler(server, &request->member, reply);                                                  \
        break;
    switch (request->h.op) {
        REQUESTS(DO)
#undef DO
    default:
        break;
    }
}

/* The processor time of the supervisor's thread: a user is not charged for the time of others on a
 * busy machine. */
static uint64_t thread_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void handle_asking(struct server *server, const union control_request *request,
                          struct reply *reply)
{
    const uint64_t begun_ns = thread_ns();
    struct account *account;
    uid_t uid;

    if (!request_open(server, &request->h, reply))
        return;
    uid = reply->uid;
    if (!asker_admitted(server, request, reply))
        return;
    request_do(server, request, reply);
    account = server_other(server, uid) ? account_find(&server->accounts, uid) : NULL;
    if (account)
        account_took(account, thread_ns() - begun_ns);
}

/* Deals with a request, and closes its reply unless somebody has taken it over. */
static void handle(struct server *server, const union control_request *request, size_t size,
                   struct reply *reply)
{
    enum control_verdict verdict = control_check(request, size);

    if (verdict != CONTROL_GOOD) {
        refuse(server, request, size, verdict, reply);
        reply_close(reply);
        return;
    }
    switch (request->h.op) {
    case CTL_ANNOUNCE:
    case CTL_CONFIRM:
    case CTL_DETACH:
        handle_silent(server, &request->h);
        break;
    default:
        handle_asking(server, request, reply);
        break;
    }
    reply_close(reply);
}

/* The message of the request that is being dealt with. */
static union control_request *asked(struct server *server)
{
    static_assert(sizeof(union control_request) == sizeof(server->asked), "a request fits");

    return (union control_request *)(void *)server->asked;
}

void control_again(struct server *server, struct reply *reply)
{
    union control_request *request = asked(server);

    if (request->h.magic && request->h.size <= sizeof(*request))
        handle(server, request, request->h.size, reply);
    memset(request, 0, sizeof(*request));
}

void control_ready(struct watch *watch, uint32_t events)
{
    struct server *server = container_of(watch, struct server, control);
    union control_request *request = asked(server);

    (void)events;
    for (int i = 0; i < CONTROL_BATCH; i++) {
        ssize_t n = mq_receive(watch->fd, (char *)request->bytes, sizeof(request->bytes), NULL);
        struct reply reply = {.queue = -1};

        if (n < 0) {
            if (errno != EAGAIN && errno != EINTR)
                server_fail(server, "mq_receive of the control queue: %s", strerror(errno));
            return;
        }
        handle(server, request, (size_t)n, &reply);
        memset(request, 0,
               sizeof(*request)); /* a shorter message finds nothing of this one behind it */
    }
}
