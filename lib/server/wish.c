/* wish.c - see wish.h. */
#include "server/wish.h"

#include <stdio.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/util.h"
#include "server/operator.h"
#include "server/qos.h"

/* A session's threads may ask side by side; more than so many at once are no use. */
#define WISHES_MAX 16u

/* ---- Those whom somebody waits for ----------------------------------------------------------- */

static void patience_fire(struct timer *timer);

static void list_add(struct tenant *tenant)
{
    struct device *device = tenant->device;

    if (!tenant->wish.listed) {
        tenant->wish.listed = true;
        tenant->wish.next = device->awaited;
        device->awaited = tenant;
        timer_set(&tenant->server->loop, &tenant->wish.patience,
                  tenant->wish.first ? tenant->wish.first->due_ns : clock_ns() + GRANT_PATIENCE_NS,
                  patience_fire);
    }
}

static void list_remove(struct tenant *tenant)
{
    struct tenant **link = &tenant->device->awaited;

    if (!tenant->wish.listed)
        return;
    while (*link != tenant)
        link = &(*link)->wish.next;
    *link = tenant->wish.next;
    tenant->wish.listed = false;
    timer_cancel(&tenant->server->loop, &tenant->wish.patience);
}

void wish_wait(struct tenant *tenant)
{
    if (tenant->state == TENANT_WAITING)
        list_add(tenant);
}

/* ---- One wish -------------------------------------------------------------------------------- */

/* Answers the one under way; what is next begins with the next wishes_settle. */
static void wish_answer(struct tenant *tenant, gs_status status, const char *text)
{
    struct wish *wish = tenant->wish.first;
    struct ctl_done_reply answer = {.status = GS_OK};

    tenant->wish.first = wish->next;
    list_remove(tenant);
    if (status == GS_OK)
        reply_send(&wish->reply, &answer.h, sizeof(answer));
    else
        reply_refuse(&wish->reply, status, "%s", text);
    reply_close(&wish->reply);
    free(wish);
}

bool wish_new(const struct tenant *tenant)
{
    return tenant->state == TENANT_WAITING || (tenant->wish.first && !tenant->wish.listed);
}

static void wish_begin(struct tenant *tenant)
{
    char text[REFUSAL_TEXT_MAX];
    gs_status status;

    if (clock_ns() >= tenant->wish.first->due_ns) {
        refusal(text, GS_ERR_TIMEOUT, "the session's earlier requests have taken over %u s",
                (unsigned)(GRANT_PATIENCE_NS / 1000000000u));
        wish_answer(tenant, GS_ERR_TIMEOUT, text);
        return;
    }
    tenant->wish.former = tenant->qos;
    tenant->qos = tenant->wish.first->qos;
    status = grants_place(tenant->device, tenant, text);
    if (status != GS_OK) {
        tenant->qos = tenant->wish.former;
        wish_answer(tenant, status, text);
        return;
    }
    list_add(tenant);
    grants_pump(tenant->device);
}

/* One that is refused at once leaves its place to the next. */
static void line_advance(struct tenant *tenant)
{
    while (tenant->state == TENANT_OPEN && tenant->wish.first && !tenant->wish.listed)
        wish_begin(tenant);
}

/* The session has again what it had. Where that has been given away since, it keeps its new wish,
 * which is tried on. */
static void wish_undo(struct tenant *tenant)
{
    struct wire_qos wanted = tenant->qos;
    char text[REFUSAL_TEXT_MAX];

    tenant->qos = tenant->wish.former;
    if (grants_place(tenant->device, NULL, text) != GS_OK) {
        log_warning("session %llu cannot go back to what it had: %s",
                    (unsigned long long)tenant->id, text);
        tenant->qos = wanted;
    }
    grants_pump(tenant->device);
}

static void wish_fail(struct tenant *tenant, gs_status status, const char *text)
{
    if (tenant->state == TENANT_WAITING) {
        tenant_refuse(tenant, status, text);
        return;
    }
    wish_undo(tenant);
    wish_answer(tenant, status, text);
}

/* Has it come to an end? */
static bool wish_settle(struct tenant *tenant)
{
    const struct tenant *blamed;
    char text[REFUSAL_TEXT_MAX + 32];

    if (tenant->state == TENANT_OPENING || (tenant->state == TENANT_OPEN && !tenant->wish.first)) {
        list_remove(tenant); /* an attach that had waited: LINK_OPENED will answer it */
        return true;
    }
    if (grants_hold(tenant)) {
        wish_answer(tenant, GS_OK, "");
        return true;
    }
    blamed = grants_blamed(tenant);
    if (!blamed)
        return false;
    if (blamed == tenant)
        snprintf(text, sizeof(text), "%s", blamed->grant.refusal);
    else
        snprintf(text, sizeof(text), "session %llu cannot be moved: %s",
                 (unsigned long long)blamed->id, blamed->grant.refusal);
    wish_fail(tenant, blamed->grant.refusal_status, text);
    return true;
}

static void patience_fire(struct timer *timer)
{
    struct tenant *tenant = container_of(timer, struct tenant, wish.patience);
    struct device *device = tenant->device;
    char text[REFUSAL_TEXT_MAX];

    if (wish_settle(tenant)) {
        line_advance(tenant);
        return;
    }
    grants_describe_wait(tenant, text);
    wish_fail(tenant, GS_ERR_TIMEOUT, text);
    line_advance(tenant);
    wishes_settle(device);
}

/* Settling one changes nothing in the list but its own place, and perhaps what others wait for: so
 * once more, until nothing changes. */
void wishes_settle(struct device *device)
{
    bool changed = true;

    while (changed) {
        struct tenant *next;

        changed = false;
        for (struct tenant *t = device->awaited; t; t = next) {
            next = t->wish.next;
            if (wish_settle(t)) {
                line_advance(t);
                changed = true;
            }
        }
    }
    operator_settle(device->server);
}

/* ---- Requests -------------------------------------------------------------------------------- */

static gs_status wish_admit(const struct tenant *tenant, const struct ctl_set_qos *request,
                            uid_t uid, char text[REFUSAL_TEXT_MAX])
{
    if (!tenant || tenant->uid != uid) {
        snprintf(text, REFUSAL_TEXT_MAX, "uid %u has no such session", (unsigned)uid);
        return GS_ERR_PERMISSION;
    }
    if (tenant->state == TENANT_LOST) {
        snprintf(text, REFUSAL_TEXT_MAX, "the session's device was lost");
        return GS_ERR_INTERRUPTED;
    }
    if (tenant->state != TENANT_OPEN) {
        snprintf(text, REFUSAL_TEXT_MAX, "the session is ending");
        return GS_ERR_INVALID_HANDLE;
    }
    return qos_check(&request->qos, tenant->device, text);
}

static bool line_full(const struct tenant *tenant)
{
    uint32_t count = 0;

    for (const struct wish *w = tenant->wish.first; w; w = w->next)
        count++;
    return count >= WISHES_MAX;
}

void wish_handle(struct server *server, const struct ctl_set_qos *request, struct reply *reply)
{
    struct tenant *tenant = registry_by_cookie(&server->registry, request->cookie);
    char text[REFUSAL_TEXT_MAX];
    gs_status status = wish_admit(tenant, request, reply->uid, text);
    struct wish **last, *wish;

    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    if (line_full(tenant)) {
        reply_refuse(reply, GS_ERR_LIMIT, "%u such requests of this session are under way",
                     WISHES_MAX);
        return;
    }
    wish = malloc(sizeof(*wish));
    if (!wish) {
        reply_refuse(reply, GS_ERR_NO_MEMORY, "the server has no memory left");
        return;
    }
    *wish = (struct wish){*reply, request->qos, clock_ns() + GRANT_PATIENCE_NS, NULL};
    reply->queue = -1;
    for (last = &tenant->wish.first; *last; last = &(*last)->next)
        continue;
    *last = wish;
    line_advance(tenant);
    wishes_settle(tenant->device);
}

void wishes_end(struct tenant *tenant, gs_status status, const char *text)
{
    list_remove(tenant);
    while (tenant->wish.first)
        wish_answer(tenant, status, text);
}
