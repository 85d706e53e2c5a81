/* peer_ask.c - see peer_ask.h. */
#include "worker/memory/peer_ask.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/driver/supervisor_link.h"

/* On the stack of the thread that waits. */
struct ask {
    struct ask *next;
    struct link_message message; /* LINK_PEER_IMPORT, then its answer */
    int descriptor;
    bool answered;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t answered;
    struct ask *first;
    uint64_t last; /* number */
} asks = {.lock = PTHREAD_MUTEX_INITIALIZER, .answered = PTHREAD_COND_INITIALIZER};

/* A number that neither this worker nor one before it has given. Under the lock. */
static uint64_t number_new(void)
{
    const uint64_t now = clock_ns();

    return asks.last = now > asks.last ? now : asks.last + 1;
}

static void ask_remove(const struct ask *ask)
{
    struct ask **at = &asks.first;

    while (*at != ask)
        at = &(*at)->next;
    *at = ask->next;
}

/* Sends the ask and waits for its answer. */
static void ask_make(struct ask *ask)
{
    pthread_mutex_lock(&asks.lock);
    ask->message.u.peer_ask.ask = number_new();
    ask->next = asks.first;
    asks.first = ask;
    link_send(&ask->message, -1);
    while (!ask->answered)
        pthread_cond_wait(&asks.answered, &asks.lock);
    ask_remove(ask);
    pthread_mutex_unlock(&asks.lock);
}

gs_status peer_ask(struct job *job, struct peer_answer *answer)
{
    struct ask ask = {.message = {.op = LINK_PEER_IMPORT, .slot = job->session->slot},
                      .descriptor = -1};
    const struct link_peer_told *told = &ask.message.u.peer_told;

    memcpy(ask.message.u.peer_ask.handle, job->arg, sizeof(ask.message.u.peer_ask.handle));
    ask_make(&ask);
    if (told->status != GS_OK)
        return job_fail(job, (gs_status)told->status, "%s", ask.message.text);
    if (ask.descriptor < 0)
        return job_fail(job, GS_ERR_LIMIT, "no descriptor is left for another device's memory");
    *answer = (struct peer_answer){*told, ask.descriptor};
    return GS_OK;
}

void peer_answered(const struct link_message *message, int descriptor)
{
    struct ask *ask;

    pthread_mutex_lock(&asks.lock);
    ask = asks.first;
    while (ask && (ask->answered || ask->message.u.peer_ask.ask != message->u.peer_told.ask))
        ask = ask->next;
    if (ask) {
        ask->message = *message;
        ask->descriptor = descriptor;
        ask->answered = true;
        pthread_cond_broadcast(&asks.answered);
    }
    pthread_mutex_unlock(&asks.lock);
    if (!ask && descriptor >= 0) /* another supervisor has answered already */
        close(descriptor);
}

void peer_ask_again(void)
{
    pthread_mutex_lock(&asks.lock);
    for (const struct ask *ask = asks.first; ask; ask = ask->next) {
        if (!ask->answered)
            link_send(&ask->message, -1);
    }
    pthread_mutex_unlock(&asks.lock);
}
