/* changes.c - see changes.h. */
#include "server/reconcile/changes.h"

#include <stdio.h>

#include "common/util.h"
#include "server/state/session.h"

/* Returns a session that keeps its former grant for now, or NULL. */
static const struct session *device_refused(const struct device *device)
{
    for (const struct session *s = NULL; (s = device_session_next(device, s));) {
        if (s->state == SESSION_OPEN && s->grant.refused)
            return s;
    }
    return NULL;
}

/* Answers one operator. `remark` says what is not in force; "": everything is. A change that the
 * state file does not have is answered as a failure, whatever the remark. */
static void operator_answer(struct server *server, struct reply *reply, const char *remark,
                            const char *note)
{
    const char *failure = state_writer_failure(&server->state);
    struct ctl_done_reply answer = {.status = GS_OK};

    remark = *remark ? remark : note;
    if (failure)
        snprintf(answer.message, sizeof(answer.message), "done, but not saved: %.60s%s%.44s",
                 failure, *remark ? "; " : "", remark);
    else if (!state_writer_idle(&server->state))
        snprintf(answer.message, sizeof(answer.message), "done, but not saved yet%s%.90s",
                 *remark ? "; " : "", remark);
    else if (*remark)
        snprintf(answer.message, sizeof(answer.message), "done, but %.110s", remark);
    if (failure || !state_writer_idle(&server->state))
        answer.status = GS_ERR_SYSTEM;
    reply_send(reply, &answer.h, sizeof(answer));
    reply_close(reply);
}

/* Answers all operators, who wait for the same conditions. */
static void changes_answer(struct server *server, const char *remark)
{
    struct changes *changes = &server->changes;

    for (uint32_t i = 0; i < changes->count; i++)
        operator_answer(server, &changes->reply[i], remark, changes->note[i]);
    changes->count = 0;
    timer_cancel(&server->loop, &changes->patience);
}

static void patience_fire(struct timer *timer)
{
    struct server *server = container_of(timer, struct server, changes.patience);
    char text[REFUSAL_TEXT_MAX] = "";
    const struct device *silent = NULL;
    uint32_t waiting = 0;

    for (int i = 0; i < server->device_count; i++) {
        waiting += grants_pending_count(&server->device[i]);
        if (device_silent(&server->device[i], SILENT_NS))
            silent = &server->device[i];
    }
    if (waiting && silent)
        snprintf(text, sizeof(text), "not in force: worker %d %s", (int)silent->worker.child.pid,
                 device_silence(silent));
    else if (waiting)
        snprintf(text, sizeof(text), "%u session%s for running kernels to end", waiting,
                 waiting == 1 ? " waits" : "s wait");
    changes_answer(server, text);
}

void changes_settle(struct server *server)
{
    char text[REFUSAL_TEXT_MAX] = "";

    if (server->changes.count == 0)
        return;
    for (int i = 0; i < server->device_count; i++) {
        const struct device *device = &server->device[i];
        const struct session *refused = device_refused(device);

        if (refused)
            snprintf(text, sizeof(text), "session %llu keeps its former grant: %.60s",
                     (unsigned long long)refused->id, refused->grant.refusal);
        else if (grants_pending_count(device) || device->plan_soon.due_ns)
            return; /* SMs that have just become free are planned first */
    }
    if (state_writer_idle(&server->state))
        changes_answer(server, text);
}

/* Starts the time limit with the first operator's request; a second request does not prolong it. */
static void patience_begin(struct server *server)
{
    struct timer *patience = &server->changes.patience;

    if (patience->due_ns == 0)
        timer_set(&server->loop, patience, clock_ns() + OPERATOR_PATIENCE_NS, patience_fire);
}

void changes_await(struct server *server, struct reply *reply, const char *note)
{
    struct changes *changes = &server->changes;

    if (changes->count == OPERATORS_MAX) {
        struct ctl_done_reply answer = {.status = GS_OK, .message = "done; not waited for"};

        reply_send(reply, &answer.h, sizeof(answer));
        return;
    }
    snprintf(changes->note[changes->count], OPERATOR_NOTE_MAX, "%s", note);
    changes->reply[changes->count++] = *reply;
    reply->queue = -1;
    patience_begin(server);
}

void changes_restore(struct server *server)
{
    struct changes *changes = &server->changes;

    changes->patience = (struct timer){0};
    if (changes->count)
        patience_begin(server);
}

void changes_deinit(struct server *server)
{
    for (uint32_t i = 0; i < server->changes.count; i++)
        reply_close(&server->changes.reply[i]);
    server->changes.count = 0;
    timer_cancel(&server->loop, &server->changes.patience);
}
