/* preload.c - see preload.h. */
#include "server/link/preload.h"

#include <sys/epoll.h>

#include "server/state/server.h"
#include "server/state/session.h"

static bool session_wanted(const struct session *session, const struct device *device)
{
    return session->device == device && session->state == SESSION_OPEN;
}

/* Sends a message. Returns false if the socket does not take it now, or is broken, which the
 * standby's watch will report. */
static bool send(struct device *device, const struct link_message *message, int descriptor)
{
    return link_write(device->standby.child.link.fd, message, descriptor);
}

/* Returns the segment that the standby is to attach; -1: none. Where the segment's count of
 * attachments or its last attacher is to tell the client (session/liveness.h), the standby attaches
 * it when it takes the session up. */
static int segment_sent(const struct session *s)
{
    return s->client == CLIENT_WATCHED ? s->segment_id : -1;
}

static bool session_send(struct device *device, const struct session *s)
{
    struct link_message message = {.op = LINK_PRELOAD, .slot = s->slot};

    message.u.preload = (struct link_preload){.session_id = s->id,
                                              .window_base = s->window_base,
                                              .window_size = s->window_size,
                                              .segment_id = segment_sent(s),
                                              .uid = s->uid,
                                              .fenced = s->fenced};
    return send(device, &message, s->journal);
}

static bool piece_send(struct device *device, const struct session *s,
                       const struct vault_entry *entry)
{
    struct link_message message = {.op = LINK_PRELOAD_PIECE, .slot = s->slot};

    message.u.vault = (struct link_vault){entry->address, entry->size, entry->number};
    return send(device, &message, entry->fd);
}

/* Sends the pieces from `preload.address` on of the session in `preload.slot`; address 0: the
 * session and all its pieces. The vault may change between two calls. */
static bool session_go_on(struct device *device, const struct session *s)
{
    struct preload_progress *progress = &device->standby.preload;

    if (progress->address == 0) {
        if (!session_send(device, s))
            return false;
        progress->address = 1;
    }
    for (uint32_t i = vault_from(&s->vault, progress->address); i < s->vault.count; i++) {
        if (!piece_send(device, s, s->vault.entry[i]))
            return false;
        progress->address = s->vault.entry[i]->address + 1;
    }
    return true;
}

static bool all_go_on(struct device *device)
{
    const struct link_message end = {.op = LINK_PRELOAD_END, .slot = LINK_SLOT_NONE};
    struct preload_progress *progress = &device->standby.preload;

    for (; progress->slot < LINK_SLOTS_MAX; progress->slot++) {
        const struct session *s = registry_by_slot(&device->server->registry, progress->slot);

        if (s && session_wanted(s, device) && !session_go_on(device, s))
            return false;
        progress->address = 0;
    }
    return send(device, &end, -1);
}

void preload_begin(struct device *device)
{
    device->standby.preload = (struct preload_progress){.phase = PRELOAD_CLEAR};
}

bool preload_go_on(struct device *device)
{
    struct preload_progress *progress = &device->standby.preload;
    const struct link_message clear = {.op = LINK_PRELOAD_DROP, .slot = LINK_SLOT_NONE};

    if (progress->phase == PRELOAD_CLEAR && send(device, &clear, -1))
        progress->phase = PRELOAD_SENDING;
    if (progress->phase == PRELOAD_SENDING && all_go_on(device))
        progress->phase = PRELOAD_SENT;
    watch_change(&device->server->loop, &device->standby.child.link,
                 progress->phase < PRELOAD_SENT ? EPOLLIN | EPOLLOUT : EPOLLIN);
    return progress->phase == PRELOAD_DONE;
}

void preload_cancel(struct device *device)
{
    const struct link_message clear = {.op = LINK_PRELOAD_DROP, .slot = LINK_SLOT_NONE};
    struct standby *standby = &device->standby;

    if (standby->preload.phase != PRELOAD_NONE && standby->child.said_ready) {
        send(device, &clear, -1);
        watch_change(&device->server->loop, &standby->child.link, EPOLLIN);
    }
    standby->preload = (struct preload_progress){0};
}

/* A message that the socket does not take may be lost, since the standby compares pieces by their
 * numbers. */
void preload_gone(const struct session *session, uint64_t number)
{
    struct link_message message = {.op = LINK_PRELOAD_DROP, .slot = session->slot};
    struct device *device = session->device;

    message.u.vault.number = number;
    if (device->standby.preload.phase != PRELOAD_NONE && device->standby.child.said_ready)
        send(device, &message, -1);
}
