/* ending.c - see ending.h. */
#include "server/workers/ending.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/log_event.h"
#include "common/util.h"
#include "server/base/child.h"
#include "server/link/worker_link.h"
#include "server/session/close.h"
#include "server/session/segment.h"
#include "server/session/trace.h"
#include "server/state/server.h"
#include "server/workers/standby.h"

#define QUIT_NS   2000000000u
#define STABLE_NS 1000000000u

static void ending_fire(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, timer);

    log_warning("event=worker-killed device=%d worker=%d reason=\"it does not end\"", device->index,
                (int)device->worker.child.pid);
    child_signal(&device->worker.child, SIGKILL);
}

/* Notes the session that the LINK_FATAL blames, if it is one of the device's. */
static void culprit_note(struct device *device, const struct link_fatal *fatal, uint32_t slot)
{
    const struct session *s = device_session(device, slot);
    char text[REFUSAL_TEXT_MAX];

    device->culprit = (struct culprit){0};
    if (!fatal || !s || !session_has_memory(s))
        return;
    device->culprit = (struct culprit){.session_id = s->id,
                                       .uid = s->uid,
                                       .pid = s->pid,
                                       .by_operator = s->by_operator,
                                       .fatal = *fatal};
    device->culprit.kept_out =
        !s->by_operator &&
        account_admit(account_find(&device->server->accounts, s->uid), text) != GS_OK;
    memcpy(device->culprit.name, s->name, sizeof(s->name));
}

static void culprit_log(const struct device *device, const struct link_fatal *fatal, uint32_t slot)
{
    const struct culprit *culprit = &device->culprit;
    const struct seg_fault verdict =
        session_verdict(device_session(device, slot), fatal, device->failure);
    struct log_event event = log_event_begin("fault");

    log_event_number(&event, "device", (uint64_t)device->index);
    if (verdict.kernel[0])
        log_event_text(&event, "kernel", verdict.kernel);
    log_event_number(&event, "session", culprit->session_id);
    log_event_user(&event, "user", culprit->uid);
    log_event_number(&event, "pid", (uint64_t)culprit->pid);
    log_event_text(&event, "name", culprit->name);
    log_event_fault(&event, &verdict);
    log_event_text(&event, "reason", device->failure);
    log_event_write(&event, LOG_LEVEL_ERROR);
}

/* Logs a loss for which nobody is blamed, with the suspects, or the first of them if there are
 * many. */
static void unknown_log(const struct device *device)
{
    const struct suspects *suspects = &device->suspects;
    struct log_event event = log_event_begin("fault");
    char text[SUSPECTS_NAMED * 21 + 1] = "";
    uint32_t named = 0;
    int length = 0;

    while (named < suspects->count && named < SUSPECTS_NAMED) {
        length += snprintf(text + length, sizeof(text) - (size_t)length, "%s%llu", named ? "," : "",
                           (unsigned long long)suspects->session_id[named]);
        named++;
    }
    log_event_number(&event, "device", (uint64_t)device->index);
    if (suspects->count)
        log_event_text(&event, "suspects", text);
    if (suspects->count > named)
        log_event_number(&event, "suspects_more", suspects->count - named);
    log_event_text(&event, "reason", device->failure);
    log_event_write(&event, LOG_LEVEL_ERROR);
}

static void culprit_count(struct device *device, const struct culprit *culprit)
{
    struct ctl_blamed *blamed = device->blamed;
    uint32_t at = 0;

    while (at + 1 < CTL_BLAMED && blamed[at].count && blamed[at].uid != culprit->uid)
        at++;
    blamed[at].uid = at + 1 < CTL_BLAMED ? culprit->uid : CTL_OTHERS;
    blamed[at].count++;
}

static enum ctl_takeover takeover_of(const struct link_fatal *fatal)
{
    if (!fatal)
        return CTL_TAKEOVER_WORKER;
    return fatal->kind == GS_FAULT_EVICTED ? CTL_TAKEOVER_EVICTION : CTL_TAKEOVER_FAULT;
}

/* Returns the account of the culprit's user, or of the one user of all suspects; NULL: the fault is
 * charged to nobody, as when an operator had ended the culprit. */
static struct account *account_charged(const struct device *device)
{
    const struct culprit *culprit = device_culprit(device);
    const struct suspects *suspects = &device->suspects;
    const uid_t uid = culprit ? culprit->uid : suspects->uid;

    if (culprit ? culprit->by_operator : !suspects->count || suspects->several_users)
        return NULL;
    return server_other(device->server, uid) ? account_find(&device->server->accounts, uid) : NULL;
}

/* Marks the worker as ending, and charges the fault at once, since a next supervisor does not
 * charge one for a worker that is ending. A user of a shared server whose kernels lose the device
 * again and again is kept out for a growing time. */
static void fault_charge(struct device *device)
{
    struct account *account = account_charged(device);
    const struct culprit *culprit = device_culprit(device);
    const uint64_t now = clock_ns();
    uint64_t out_ns = 0;

    device->worker.state = WORKER_ENDING;
    device->suspects = (struct suspects){.count = 0};
    if (account)
        out_ns = account_fault(account, now);
    if (culprit && !culprit->by_operator)
        culprit_count(device, culprit);
    if (culprit && !culprit->by_operator && culprit->fatal.kind != GS_FAULT_EVICTED)
        accounts_culprit(&device->server->accounts, culprit->uid, now);
    if (out_ns)
        log_warning("event=kept-out user=%s uid=%u faults=%u seconds=%u",
                    log_user_name(account->uid), (unsigned)account->uid, account->faults,
                    (unsigned)(out_ns / 1000000000u));
}

/* Counts the failure of a worker that is not ending yet. A loss that a tenant is blamed for does
 * not count as a failure of the device. */
static void failure_count(struct device *device, const struct link_fatal *fatal, bool blamed)
{
    const struct worker_process *worker = &device->worker;
    const bool was_ready = worker->state == WORKER_READY;

    if (was_ready) {
        device->faults++;
        device->takeovers[takeover_of(fatal)]++;
    }
    if (!was_ready || (!blamed && clock_ns() - worker->ready_ns < STABLE_NS))
        device->failures++;
    else
        device->failures = 0;
}

void worker_loss_tell(struct device *device, const struct link_fatal *fatal)
{
    for (struct session *s = NULL; (s = device_session_next(device, s));)
        server_session_worker_lost(s, fatal);
}

/* Stops or kills the worker's process, and tells its sessions. `at_rest`: as in struct
 * link_fatal. */
static void worker_lose(struct device *device, const struct link_fatal *fatal, bool at_rest)
{
    struct server *server = device->server;
    struct worker_process *worker = &device->worker;

    device->lost_ns = clock_ns();
    fault_charge(device);
    device_trace_lost(device);
    worker->stopped = at_rest && standby_ready(device) && !device->former.child.pid;
    child_signal(&worker->child, worker->stopped ? SIGSTOP : SIGKILL);
    timer_set(&server->loop, &device->timer, clock_ns() + QUIT_NS, ending_fire);
    worker_loss_tell(device, fatal);
}

void worker_retired(struct device *device)
{
    snprintf(device->failure, sizeof(device->failure), "worker %d has made room for another",
             (int)device->worker.child.pid);
    device->culprit = (struct culprit){0};
    device->takeovers[device->restart.cause]++;
    worker_lose(device, NULL, true);
}

void worker_fail(struct device *device, const struct link_fatal *fatal, uint32_t slot,
                 const char *format, ...)
{
    const enum worker_state state = device->worker.state;
    bool blamed;
    va_list ap;

    if (state != WORKER_STARTING && state != WORKER_READY)
        return;
    va_start(ap, format);
    vsnprintf(device->failure, sizeof(device->failure), format, ap);
    va_end(ap);
    culprit_note(device, fatal, slot);
    blamed = device_culprit(device);
    if (blamed)
        culprit_log(device, fatal, slot);
    else if (device->server->phase != PHASE_STARTING) /* then the server reports its failure */
        unknown_log(device);
    failure_count(device, fatal, blamed);
    worker_lose(device, fatal, fatal && fatal->at_rest);
}

void worker_quit(struct device *device)
{
    struct link_message message = {.op = LINK_QUIT, .slot = LINK_SLOT_NONE};
    struct server *server = device->server;

    if (device->worker.state == WORKER_NONE) {
        timer_cancel(&server->loop, &device->timer);
        return;
    }
    if (device->worker.state != WORKER_ENDING)
        worker_send(device, &message);
    /* A silent worker would not read LINK_QUIT. */
    timer_set(&server->loop, &device->timer,
              clock_ns() + (device_silent(device, HUNG_NS) ? 0 : QUIT_NS), ending_fire);
    device->worker.state = WORKER_ENDING;
}
