/* worker_link.c - see worker_link.h. */
#include "server/link/worker_link.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/state/server.h"

/* The most messages that wait: four for each slot (open or grant, grant, close, segment drop),
 * policies and a LINK_QUIT. A worker that lets more pile up is stuck. */
#define OUTBOX_MAX (4u * LINK_SLOTS_MAX + 64u)

static void outbox_message_close(const struct outbox_message *waiting)
{
    if (waiting->descriptor >= 0)
        close(waiting->descriptor);
}

void worker_link_deinit(struct device *device)
{
    struct outbox *outbox = &device->worker.outbox;

    child_link_close(&device->server->loop, &device->worker.child);
    for (uint32_t i = 0; i < outbox->count; i++)
        outbox_message_close(&outbox->waiting[outbox->first + i]);
    free(outbox->waiting);
    *outbox = (struct outbox){0};
}

/* ---- Out ------------------------------------------------------------------------------------- */

/* Makes room for one more message at the end. */
static bool outbox_grow(struct outbox *outbox)
{
    struct outbox_message *more;
    uint32_t room = outbox->room ? outbox->room * 2 : 16;

    if (outbox->first + outbox->count < outbox->room)
        return true;
    if (outbox->first > outbox->count) {
        memcpy(outbox->waiting, outbox->waiting + outbox->first,
               outbox->count * sizeof(*outbox->waiting));
        outbox->first = 0;
        return true;
    }
    more = reallocarray(outbox->waiting, room, sizeof(*more));
    if (!more)
        return false;
    outbox->waiting = more;
    outbox->room = room;
    return true;
}

/* Adds a message with a copy of the descriptor, which the caller keeps. */
static bool outbox_push(struct outbox *outbox, const struct link_message *message, int descriptor)
{
    const bool piece = message->op == LINK_RESUME_PIECE;
    struct outbox_message waiting = {*message, -1};

    if (!piece && outbox->count - outbox->pieces >= OUTBOX_MAX)
        return false;
    if (descriptor >= 0) {
        waiting.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
        if (waiting.descriptor < 0) /* the worker will refuse the session, since its descriptor
                                       is missing */
            log_warning("event=descriptor-failed reason=%s", strerror(errno));
        if (waiting.descriptor < 0 && piece)
            return true;
    }
    if (!outbox_grow(outbox)) {
        outbox_message_close(&waiting);
        return false;
    }
    outbox->waiting[outbox->first + outbox->count++] = waiting;
    outbox->pieces += piece;
    return true;
}

/* Returns whether a client waits for the answer to the message. */
static bool message_awaited(const struct link_message *message)
{
    return message->op == LINK_OPEN || message->op == LINK_GRANT;
}

void worker_send(struct device *device, const struct link_message *message)
{
    worker_send_with(device, message, -1);
}

/* Never calls back: a worker that cannot take the message is killed, and its end seen in the loop.
 */
void worker_send_with(struct device *device, const struct link_message *message, int descriptor)
{
    struct worker_process *worker = &device->worker;
    struct outbox *outbox = &worker->outbox;

    if (worker->child.link.fd < 0)
        return;
    if (message_awaited(message))
        loop_expect(&device->server->loop);
    /* The socket may be full, or broken, which the pidfd will report. */
    if (outbox->count == 0 && link_write(worker->child.link.fd, message, descriptor))
        return;
    if (!outbox_push(outbox, message, descriptor)) {
        log_error(
            "event=worker-silent device=%d worker=%d reason=\"it does not read its messages\"",
            device->index, (int)worker->child.pid);
        child_signal(&worker->child, SIGKILL);
        child_link_close(&device->server->loop, &worker->child);
        return;
    }
    if (outbox->count == 1)
        watch_change(&device->server->loop, &worker->child.link, EPOLLIN | EPOLLOUT);
}

void worker_ping(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct link_message message = {.op = LINK_PING, .slot = LINK_SLOT_NONE};

    if (worker->pinged_ns || worker->state != WORKER_READY)
        return;
    worker->pinged_ns = message.u.ping.number = clock_ns();
    worker_send(device, &message);
}

bool worker_pong(struct device *device, const struct link_ping *ping)
{
    struct worker_process *worker = &device->worker;

    if (ping->number == 0 || ping->number != worker->pinged_ns)
        return false;
    worker->answered_ns = ping->number;
    worker->stuck_ns = ping->stuck_ns;
    worker->pinged_ns = 0;
    return true;
}

void worker_flush(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct outbox *outbox = &worker->outbox;

    while (outbox->count) {
        const struct outbox_message *next = &outbox->waiting[outbox->first];

        if (!link_write(worker->child.link.fd, &next->message, next->descriptor))
            break;
        outbox->pieces -= next->message.op == LINK_RESUME_PIECE;
        outbox_message_close(next);
        outbox->first++;
        outbox->count--;
    }
    if (outbox->count == 0) {
        outbox->first = 0;
        watch_change(&device->server->loop, &worker->child.link, EPOLLIN);
    }
}

/* ---- In -------------------------------------------------------------------------------------- */

void worker_text_clean(char *text, size_t size)
{
    text[size - 1] = 0;
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    }
}

ssize_t worker_read(struct device *device, struct link_message *message, int *descriptor)
{
    struct child *child = &device->worker.child;
    ssize_t n;

    *descriptor = -1;
    if (child->link.fd < 0)
        return 0;
    n = link_read(child->link.fd, message, &device->worker.inbox_control, descriptor);
    if (n < 0 && errno == EAGAIN)
        return 0;
    if (n <= 0) { /* the worker has closed its end: it is ending, and the pidfd will report it */
        child_link_close(&device->server->loop, child);
        return 0;
    }
    worker_text_clean(message->text, sizeof(message->text));
    return n;
}
