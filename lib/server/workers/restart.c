/* restart.c - see restart.h. */
#include "server/workers/restart.h"

#include <stdarg.h>
#include <stdio.h>

#include "common/log.h"
#include "common/util.h"
#include "server/link/preload.h"
#include "server/link/worker_link.h"
#include "server/state/server.h"
#include "server/state/session.h"
#include "server/workers/ending.h"

#define PATIENCE_NS 45000000000u /* less than gsctl waits */
#define LOOK_NS     250000000u   /* between two checks whether the worker answers */
#define AGAIN_NS    60000000000u /* between two attempts for a worker that needs recycling */

static void restart_end(struct device *device)
{
    reply_close(&device->restart.reply);
    timer_cancel(&device->server->loop, &device->restart.patience);
    device->restart.phase = RESTART_NONE;
    device->restart.next_ns = clock_ns() + AGAIN_NS;
}

static void __attribute__((format(printf, 3, 4)))
restart_refuse(struct device *device, gs_status status, const char *format, ...)
{
    char text[REFUSAL_TEXT_MAX];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    log_warning("event=restart-failed device=%d worker=%d reason=%s", device->index,
                (int)device->restart.replaced, text);
    reply_refuse(&device->restart.reply, status, "%s", text);
    preload_cancel(device);
    restart_end(device);
}

static void patience_fire(struct timer *timer);

static void patience_go_on(struct device *device)
{
    timer_set(&device->server->loop, &device->restart.patience, clock_ns() + LOOK_NS,
              patience_fire);
}

/* Pings the worker until the time is over. This also wakes the loop, so that restart_keep learns
 * whether the worker answers: a worker without sessions has no heartbeat. */
static void patience_fire(struct timer *timer)
{
    struct device *device = container_of(timer, struct device, restart.patience);

    if (clock_ns() < device->restart.give_up_ns) {
        worker_ping(device);
        patience_go_on(device);
        return;
    }
    if (device->restart.phase == RESTART_STANDBY || device->restart.phase == RESTART_PRELOAD) {
        restart_refuse(device, GS_ERR_TIMEOUT, "its standby has not become ready");
        return;
    }
    /* The restart continues: the worker will answer, or the next one is being started. */
    reply_refuse(&device->restart.reply, GS_ERR_TIMEOUT, "it takes longer: see gsctl status");
    reply_close(&device->restart.reply);
}

static void patience_begin(struct device *device)
{
    device->restart.give_up_ns = clock_ns() + PATIENCE_NS;
    patience_go_on(device);
}

/* Returns a session that the next worker could not take up for reasons that the worker does not
 * know; NULL: there is none. */
static const struct session *session_bound(const struct device *device)
{
    for (const struct session *s = NULL; (s = device_session_next(device, s));) {
        if (s->state == SESSION_OPEN && (s->journal < 0 || s->vault_short))
            return s;
    }
    return NULL;
}

static void begin(struct device *device, bool force, enum ctl_takeover cause)
{
    struct restart *restart = &device->restart;

    restart->phase = RESTART_STANDBY;
    restart->force = force;
    restart->cause = cause;
    restart->replaced = device->worker.child.pid;
    patience_begin(device);
    log_info("event=restart device=%d worker=%d reason=%s", device->index, (int)restart->replaced,
             cause == CTL_TAKEOVER_RECYCLING
                 ? "its driver keeps memory: of each set of SMs, or of the stacks of kernels"
                 : "gsctl restart-worker");
}

void restart_begin(struct device *device, bool force, struct reply *reply)
{
    struct restart *restart = &device->restart;

    if (restart->phase != RESTART_NONE) {
        reply_refuse(reply, GS_ERR_REFUSED, "its worker is being replaced already");
        return;
    }
    if (device->worker.state != WORKER_READY || device->resuming) {
        reply_refuse(reply, GS_ERR_REFUSED, "device %d has no worker that is ready", device->index);
        return;
    }
    /* The reply is noted first, so that a next supervisor finds it with a restart that has begun.
     */
    restart->reply = *reply;
    reply->queue = -1;
    begin(device, force, CTL_TAKEOVER_RESTART);
}

void restart_restore(struct device *device)
{
    struct restart *restart = &device->restart;

    restart->patience = (struct timer){0};
    /* LINK_RETIRE may not have been sent yet, so the worker may be asked twice. */
    if (restart->phase == RESTART_ASKED || restart->phase == RESTART_PRELOAD)
        restart->phase = RESTART_STANDBY;
    if (restart->phase == RESTART_NONE)
        restart->reply.queue = -1;
    else
        patience_begin(device);
}

bool restart_retired(struct device *device, const struct link_message *message)
{
    struct restart *restart = &device->restart;

    if (restart->phase == RESTART_NONE && message->u.retired == GS_OK)
        return false;
    /* Two supervisors may have asked the worker. */
    if (restart->phase != RESTART_ASKED && message->u.retired != GS_OK)
        return true;
    if (message->u.retired != GS_OK) {
        restart_refuse(device,
                       message->u.retired == GS_ERR_TIMEOUT ? GS_ERR_TIMEOUT : GS_ERR_REFUSED,
                       "%.110s", message->text);
        return true;
    }
    restart->phase = RESTART_NEXT;
    restart->retired_ns = clock_ns();
    restart->sessions = device->sessions;
    worker_retired(device);
    return true;
}

static void restart_done(struct device *device)
{
    const struct restart *restart = &device->restart;
    const double ms = (double)(clock_ns() - restart->retired_ns) / 1e6;
    struct ctl_done_reply answer = {.status = GS_OK};

    snprintf(answer.message, sizeof(answer.message),
             "worker %d has taken the place of worker %d, and taken up %u session%s in %.1f ms",
             (int)device->worker.child.pid, (int)restart->replaced, restart->sessions,
             restart->sessions == 1 ? "" : "s", ms);
    log_info("event=restarted device=%d worker=%d former=%d sessions=%u ms=%.1f", device->index,
             (int)device->worker.child.pid, (int)restart->replaced, restart->sessions, ms);
    reply_send(&restart->reply, &answer.h, sizeof(answer));
    restart_end(device);
}

/* Handles a silent worker, which cannot come to rest. If it has no sessions, or if the operator has
 * given --force, it is ended like a lost worker. */
static void restart_silent(struct device *device)
{
    struct restart *restart = &device->restart;

    if (!restart->force && device->sessions) {
        restart_refuse(device, GS_ERR_REFUSED,
                       "worker %d %s: --force ends it at once, and with it unfinished work",
                       (int)restart->replaced, device_silence(device));
        return;
    }
    restart->retired_ns = clock_ns();
    restart->sessions = device->sessions;
    worker_fail(device, NULL, LINK_SLOT_NONE, "worker %d %s and is replaced",
                (int)restart->replaced, device_silence(device));
    restart->phase = RESTART_NEXT;
}

/* Asks the worker to retire. The next worker is ready. */
static void retire(struct device *device)
{
    struct link_message retire = {.op = LINK_RETIRE, .slot = LINK_SLOT_NONE};
    struct restart *restart = &device->restart;
    const struct session *bound = restart->force ? NULL : session_bound(device);

    if (bound) {
        restart_refuse(device, GS_ERR_REFUSED, "session %llu would end: %s",
                       (unsigned long long)bound->id,
                       device->server->options.no_takeover ? "the server keeps none (--no-takeover)"
                       : bound->journal < 0                ? "no descriptor is left for its journal"
                                            : "no descriptor is left for all of its memory");
        return;
    }
    restart->phase = RESTART_ASKED;
    retire.u.force = restart->force;
    worker_send(device, &retire);
}

/* Waits for the standby and preloads it with the sessions, before the worker is asked to retire. */
static void retire_prepare(struct device *device)
{
    struct restart *restart = &device->restart;

    if (restart->phase == RESTART_PRELOAD && !device->standby.child.said_ready)
        restart->phase = RESTART_STANDBY; /* the standby is gone, and another one will start */
    if (restart->phase == RESTART_STANDBY && device->server->options.no_standby)
        retire(device);
    else if (restart->phase == RESTART_STANDBY && device->standby.child.said_ready) {
        restart->phase = RESTART_PRELOAD;
        preload_begin(device);
    }
    if (restart->phase == RESTART_PRELOAD && preload_go_on(device)) {
        log_debug("device %d: worker %d is ready for the sessions of worker %d", device->index,
                  (int)device->standby.child.pid, (int)restart->replaced);
        retire(device);
    }
}

/* Returns whether a recycling is called off. It is done only while the worker has no sessions,
 * since a session that has come meanwhile would be interrupted needlessly. It begins again once
 * there is none. */
static bool is_called_off(const struct device *device)
{
    const struct restart *restart = &device->restart;

    return restart->cause == CTL_TAKEOVER_RECYCLING && device->sessions != 0 &&
           (restart->phase == RESTART_STANDBY || restart->phase == RESTART_PRELOAD);
}

static void call_off(struct device *device)
{
    log_debug("device %d: worker %d is not replaced while it has sessions", device->index,
              (int)device->restart.replaced);
    preload_cancel(device);
    restart_end(device);
    device->restart.next_ns = 0;
}

void restart_keep(struct device *device)
{
    struct restart *restart = &device->restart;
    const bool ready = device->worker.state == WORKER_READY;

    if (is_called_off(device))
        call_off(device);
    switch (restart->phase) {
    case RESTART_NONE:
        if (device->worker.needs_recycling && ready && device->sessions == 0 &&
            device->server->phase == PHASE_SERVING && clock_ns() >= restart->next_ns)
            begin(device, false, CTL_TAKEOVER_RECYCLING);
        break;
    case RESTART_STANDBY:
    case RESTART_PRELOAD:
    case RESTART_ASKED:
        if (!ready || device->worker.child.pid != restart->replaced) {
            restart_refuse(device, GS_ERR_INTERRUPTED, "the worker was lost meanwhile: %.80s",
                           device->failure);
        } else if (device_silent(device, HUNG_NS)) {
            restart_silent(device);
        } else {
            retire_prepare(device);
        }
        break;
    case RESTART_NEXT:
        if (ready && device->worker.child.pid != restart->replaced && !device->resuming)
            restart_done(device);
        break;
    }
}

void restart_deinit(struct device *device)
{
    if (device->restart.phase != RESTART_NONE)
        restart_refuse(device, GS_ERR_INTERRUPTED, "the server is ending");
}
