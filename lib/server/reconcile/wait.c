/* wait.c - see wait.h. */
#include "server/reconcile/wait.h"

#include "server/state/server.h"

const struct session *wait_blocker(const struct session *t, const struct sm_mask *alone)
{
    const struct sm_mask *place = &t->grant.place;

    if (!t->grant.target.exclusive && t->space == 0 && !sm_mask_meets(place, alone))
        return NULL;
    for (const struct session *o = NULL; (o = registry_next(&t->server->registry, o));) {
        bool all = t->grant.target.exclusive || t->space != o->space;
        struct sm_mask held;

        if (o == t || o->device != t->device)
            continue;
        held = grants_held(o, !all);
        if (sm_mask_meets(place, &held))
            return o;
    }
    return NULL;
}

void wait_describe(const struct session *t, char text[REFUSAL_TEXT_MAX])
{
    const struct session *blocker = NULL;

    if (t->device->worker.state != WORKER_READY) {
        refusal(text, GS_ERR_TIMEOUT, "device %d is not ready in time: %.80s", t->device->index,
                t->device->failure[0] ? t->device->failure : "its worker is starting");
        return;
    }
    if (grants_due(t)) {
        struct sm_mask alone = grants_alone(t->device);
        blocker = wait_blocker(t, &alone);
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

const struct session *wait_blamed(const struct session *t)
{
    const struct session *blocker;
    struct sm_mask alone;

    if (t->grant.refused)
        return t;
    /* Until all are tried again, the time for that is set: else nobody is refused. */
    if (t->device->grant_retry.due_ns == 0 || !grants_due(t))
        return NULL;
    alone = grants_alone(t->device);
    blocker = wait_blocker(t, &alone);
    return blocker && blocker->grant.refused ? blocker : NULL;
}
