/* link_state.c - see link_state.h. */
#include "worker/driver/link_state.h"

#include <pthread.h>

static struct {
    pthread_mutex_t lock;
    uint32_t slots;                           /* this slot and higher ones have never been used */
    struct link_session slot[LINK_SLOTS_MAX]; /* state 0: empty */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

void link_heard(const struct link_message *message)
{
    struct link_session *slot;

    if (message->slot >= LINK_SLOTS_MAX)
        return;
    slot = &known.slot[message->slot];
    pthread_mutex_lock(&known.lock);
    switch (message->op) {
    case LINK_OPEN:
        *slot = (struct link_session){.session_id = message->u.open.session_id,
                                      .state = LINK_SESSION_OPENING};
        if (message->slot >= known.slots)
            known.slots = message->slot + 1;
        break;
    case LINK_CLOSE:
        if (slot->state) /* a LINK_CLOSE may come twice */
            slot->state = LINK_SESSION_CLOSING;
        break;
    case LINK_GRANT:
        slot->asked = message->u.grant.sequence;
        break;
    default:
        break;
    }
    pthread_mutex_unlock(&known.lock);
}

/* Notes an answer of the worker's. The caller holds the lock. */
static void answer_note(struct link_session *slot, const struct link_message *message)
{
    if (message->op == LINK_OPENED) {
        slot->state = message->u.opened.status == GS_OK ? LINK_SESSION_OPEN : 0;
        slot->opened = message->u.opened;
    } else if (message->op == LINK_CLOSED) {
        slot->state = 0;
    } else {
        slot->answered = message->u.granted.sequence;
        slot->status = (uint32_t)message->u.granted.status;
    }
}

bool link_tell(const struct link_message *message, int descriptor)
{
    bool sent;

    if (message->op != LINK_OPENED && message->op != LINK_CLOSED && message->op != LINK_GRANTED)
        return link_write(LINK_FD, message, descriptor);
    pthread_mutex_lock(&known.lock);
    answer_note(&known.slot[message->slot], message);
    sent = link_write(LINK_FD, message, descriptor);
    pthread_mutex_unlock(&known.lock);
    return sent;
}

bool link_resync(uint64_t number)
{
    const struct link_message end = {
        .op = LINK_RESYNCED, .slot = LINK_SLOT_NONE, .u.resync = number};
    bool sent = true;

    pthread_mutex_lock(&known.lock);
    for (uint32_t i = 0; sent && i < known.slots; i++) {
        struct link_message message = {.op = LINK_SESSION, .slot = i, .u.session = known.slot[i]};

        message.u.session.resync = number;
        if (known.slot[i].state)
            sent = link_write(LINK_FD, &message, -1);
    }
    sent = sent && link_write(LINK_FD, &end, -1);
    pthread_mutex_unlock(&known.lock);
    return sent;
}
