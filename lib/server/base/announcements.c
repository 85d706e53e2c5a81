/* announcements.c - see announcements.h. */
#include "server/base/announcements.h"

#include <unistd.h>

#include "common/log.h"
#include "common/names.h"
#include "common/util.h"
#include "server/base/reply.h"

#define ANNOUNCEMENT_NS 1000000000u

static uint64_t announcement_pop(struct announcements *a)
{
    uint64_t token = a->entry[a->first].token;

    a->first = (a->first + 1) % ANNOUNCEMENTS_MAX;
    a->count--;
    return token;
}

static enum orphan orphan_remove(const struct announcements *a, uint64_t token)
{
    char name[WIRE_NAME_MAX];
    enum orphan orphan;

    name_reply(name, geteuid(), a->instance, token);
    orphan = reply_queue_remove_orphan(name);
    if (orphan == ORPHAN_REMOVED)
        log_debug("removed %s, left by a client that was killed", name);
    return orphan;
}

static void announcements_fire(struct timer *timer)
{
    struct announcements *a = container_of(timer, struct announcements, timer);
    uint64_t now = clock_ns();

    while (a->count && now - a->entry[a->first].seen_ns >= ANNOUNCEMENT_NS) {
        uint64_t token = announcement_pop(a);

        /* The queue of a living client is checked again a second later. */
        if (token && orphan_remove(a, token) == ORPHAN_HELD)
            announcement_add(a, token);
    }
    if (a->count)
        timer_set(a->loop, timer, a->entry[a->first].seen_ns + ANNOUNCEMENT_NS, announcements_fire);
}

void announcement_add(struct announcements *a, uint64_t token)
{
    uint64_t now = clock_ns();

    /* The table is full: the oldest announcement has had most of its time. */
    if (a->count == ANNOUNCEMENTS_MAX)
        orphan_remove(a, announcement_pop(a));
    uint32_t at = (a->first + a->count++) % ANNOUNCEMENTS_MAX;
    a->entry[at].token = token;
    a->entry[at].seen_ns = now;
    if (a->timer.due_ns == 0)
        timer_set(a->loop, &a->timer, now + ANNOUNCEMENT_NS, announcements_fire);
}

/* The search begins with the newest announcement, since the wanted one is mostly among the last. */
void announcement_remove(struct announcements *a, uint64_t token)
{
    for (uint32_t i = a->count; i-- > 0;) {
        uint32_t at = (a->first + i) % ANNOUNCEMENTS_MAX;

        if (a->entry[at].token == token) {
            a->entry[at].token = 0;
            return;
        }
    }
}

void announcements_init(struct announcements *a, struct loop *loop, const char *instance)
{
    a->loop = loop;
    a->instance = instance;
    a->timer = (struct timer){0};
    if (a->count)
        timer_set(loop, &a->timer, clock_ns() + ANNOUNCEMENT_NS, announcements_fire);
}

void announcements_deinit(struct announcements *a)
{
    if (!a->loop)
        return;
    timer_cancel(a->loop, &a->timer);
    while (a->count)
        orphan_remove(a, announcement_pop(a));
    a->loop = NULL;
}
