/* wait.c - see wait.h. */
#include "server/reconcile/wait.h"

#include "server/state/server.h"

const struct session *wait_blocker(const struct session *s, const struct sm_mask *alone)
{
    const struct sm_mask *place = &s->grant.place;

    if (!s->grant.target.exclusive && s->space == 0 && !sm_mask_meets(place, alone))
        return NULL;
    for (const struct session *o = NULL; (o = device_session_next(s->device, o));) {
        bool all = s->grant.target.exclusive || s->space != o->space;
        struct sm_mask held;

        if (o == s)
            continue;
        held = grants_held(o, !all);
        if (sm_mask_meets(place, &held))
            return o;
    }
    return NULL;
}

void wait_describe(const struct session *s, char text[REFUSAL_TEXT_MAX])
{
    const struct session *blocker = NULL;

    if (s->device->worker.state != WORKER_READY) {
        refusal(text, GS_ERR_TIMEOUT, "device %d is not ready in time: %.80s", s->device->index,
                s->device->failure[0] ? s->device->failure : "its worker is starting");
        return;
    }
    if (device_silent(s->device, SILENT_NS) && device_stuck(s->device)) {
        refusal(text, GS_ERR_TIMEOUT, "worker %d of device %d is stuck in a driver call",
                (int)s->device->worker.child.pid, s->device->index);
        return;
    }
    if (device_silent(s->device, SILENT_NS)) {
        refusal(text, GS_ERR_TIMEOUT,
                "worker %d of device %d does not answer: it is stopped, or has no processor",
                (int)s->device->worker.child.pid, s->device->index);
        return;
    }
    if (s->device->resuming && !s->resuming && s->state == SESSION_WAITING) {
        refusal(
            text, GS_ERR_TIMEOUT,
            "the worker of device %d was lost, and the next one was still taking up %u sessions",
            s->device->index, s->device->resuming);
        return;
    }
    if (grants_due(s)) {
        struct sm_mask alone = grants_alone(s->device);
        blocker = wait_blocker(s, &alone);
    }
    if (blocker && blocker->state == SESSION_CLOSING)
        refusal(text, GS_ERR_TIMEOUT,
                "session %llu (%s) is ending, but its kernels still run on these SMs",
                (unsigned long long)blocker->id, blocker->name);
    else if (blocker)
        refusal(text, GS_ERR_TIMEOUT,
                "session %llu (%s) could not leave these SMs in time: running kernels keep it from "
                "getting others",
                (unsigned long long)blocker->id, blocker->name);
    else
        refusal(text, GS_ERR_TIMEOUT, "the SMs could not be given in time: kernels run on");
}

const struct session *wait_blamed(const struct session *s)
{
    const struct session *blocker;
    struct sm_mask alone;

    if (s->grant.refused)
        return s;
    /* Refused grants count while the time is set at which they are tried again. */
    if (s->device->grant_retry.due_ns == 0 || !grants_due(s))
        return NULL;
    alone = grants_alone(s->device);
    blocker = wait_blocker(s, &alone);
    return blocker && blocker->grant.refused ? blocker : NULL;
}
