/* peer_ask.c - see peer_ask.h. */
#include "worker/memory/peer_ask.h"

#include <string.h>
#include <unistd.h>

#include "worker/driver/supervisor_link.h"
#include "worker/memory/stamp.h"

/* By slot, the job that waits for an answer: a session has one job at a time. The service thread
 * stores it, the control thread takes it. */
static _Atomic(struct job *) asks[LINK_SLOTS_MAX];

static struct link_message ask_message(const struct job *job)
{
    struct link_message message = {.op = job->peer.op, .slot = job->session->slot};

    message.u.peer_ask.ask = job->peer.answer.ask;
    message.u.peer_ask.session_id = job->arg[2];
    memcpy(message.u.peer_ask.handle, job->arg, sizeof(message.u.peer_ask.handle));
    return message;
}

/* As soon as the job is stored, the control thread may send the same question (peer_ask_again) and
 * take the answer. */
void peer_ask(struct job *job, enum link_op op)
{
    struct link_message message;

    job->peer.answer.ask = stamp();
    job->peer.descriptor = -1;
    job->peer.op = op;
    message = ask_message(job);
    /* release: publishes the job; pairs with the control thread's loads */
    atomic_store_explicit(&asks[message.slot], job, memory_order_release);
    link_send(&message, -1);
}

void peer_answered(const struct link_message *message, int descriptor)
{
    const struct link_peer_answer *answer = &message->u.peer_answer;
    /* acquire: pairs with peer_ask */
    struct job *job = atomic_load_explicit(&asks[message->slot], memory_order_acquire);

    if (!job || job->peer.answer.ask != answer->ask) { /* an earlier supervisor has answered */
        if (descriptor >= 0)
            close(descriptor);
        return;
    }
    /* relaxed: the slot's next job is stored only after this one has returned */
    atomic_store_explicit(&asks[message->slot], NULL, memory_order_relaxed);
    job->peer.answer = *answer;
    job->peer.descriptor = descriptor;
    if (answer->status != GS_OK)
        job_fail(job, (gs_status)answer->status, "%s", message->text);
    job_return(job);
}

void peer_ask_again(void)
{
    for (uint32_t slot = 0; slot < LINK_SLOTS_MAX; slot++) {
        const struct job *job = atomic_load_explicit(&asks[slot], memory_order_acquire);

        struct link_message message;

        if (!job)
            continue;
        message = ask_message(job);
        link_send(&message, -1);
    }
}
