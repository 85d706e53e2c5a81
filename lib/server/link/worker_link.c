/*
 * worker_link.c - messages between the supervisor and a worker. A worker runs sessions' code under
 * a driver: what it sends is checked as a stranger's would be, and nonsense ends the worker.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/state/session.h"

/* Three messages a slot can be under way (open or grant, grant, close), policies and a LINK_QUIT; a
 * worker that lets more pile up is stuck. */
#define OUTBOX_MAX    (3u * LINK_SLOTS_MAX + 64u)
/* Descriptors that the vault leaves for everything else. */
#define VAULT_RESERVE 256u

/* ---- Out ------------------------------------------------------------------------------------- */

void outbox_deinit(struct outbox *outbox)
{
    free(outbox->message);
    *outbox = (struct outbox){0};
}

static bool outbox_push(struct outbox *outbox, const struct link_message *message)
{
    if (outbox->count >= OUTBOX_MAX)
        return false;
    if (outbox->count == outbox->room) {
        uint32_t room = outbox->room ? outbox->room * 2 : 16;
        struct link_message *more = reallocarray(outbox->message, room, sizeof(*more));

        if (!more)
            return false;
        outbox->message = more;
        outbox->room = room;
    }
    outbox->message[outbox->count++] = *message;
    return true;
}

static void link_close(struct device *device)
{
    int fd = device->worker.link.fd;

    watch_remove(&device->server->loop, &device->worker.link);
    close(fd);
}

/* How many of the messages the socket took. */
static uint32_t link_write(int fd, const struct link_message *message, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        ssize_t n = send(fd, &message[i], sizeof(*message), MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            i--;
        else if (n < 0)
            return i; /* full; or broken, which the pidfd will tell */
    }
    return count;
}

/* Clients wait for the answers to these. */
static bool message_awaited(const struct link_message *message)
{
    return message->op == LINK_OPEN || message->op == LINK_GRANT;
}

/* Never calls back: a worker that cannot take the message is killed, and its end seen in the loop.
 */
void worker_send(struct device *device, const struct link_message *message)
{
    struct worker_process *worker = &device->worker;
    struct outbox *outbox = &worker->outbox;

    if (worker->link.fd < 0)
        return;
    if (message_awaited(message))
        loop_expect(&device->server->loop);
    if (outbox->count == 0 && link_write(worker->link.fd, message, 1) == 1)
        return;
    if (!outbox_push(outbox, message)) {
        log_error("device %d: worker %d does not read its messages", device->index,
                  (int)worker->pid);
        kill(worker->pid, SIGKILL);
        link_close(device);
        return;
    }
    if (outbox->count == 1)
        watch_change(&device->server->loop, &worker->link, EPOLLIN | EPOLLOUT);
}

static void outbox_flush(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct outbox *outbox = &worker->outbox;
    uint32_t sent = link_write(worker->link.fd, outbox->message, outbox->count);

    outbox->count -= sent;
    if (outbox->count)
        memmove(outbox->message, outbox->message + sent, outbox->count * sizeof(*outbox->message));
    else
        watch_change(&device->server->loop, &worker->link, EPOLLIN);
}

/* ---- In: each handler returns whether the message made sense -----------------------------------
 */

/* fd: the descriptor that came along, or -1. */
static bool on_vault_put(struct device *device, struct session *session,
                         const struct link_vault *vault, int *fd)
{
    enum vault_result result;

    if (*fd < 0) { /* the kernel could not give it to us; the memory itself is good */
        log_warning("device %d: no descriptor left for the memory of session %llu", device->index,
                    (unsigned long long)session->id);
        return true;
    }
    /* Clients and workers must still be served. */
    if ((uint32_t)*fd + VAULT_RESERVE >= device->server->descriptors_max) {
        log_warning("device %d: the vault is full (RLIMIT_NOFILE %u)", device->index,
                    device->server->descriptors_max);
        return true;
    }
    result = vault_put(&session->vault, vault->address, vault->size, *fd);
    if (result == VAULT_OK)
        *fd = -1;
    if (result == VAULT_NO_MEMORY)
        log_warning("device %d: no memory for the vault", device->index);
    return result != VAULT_OVERLAP;
}

static bool on_session_message(struct device *device, const struct link_message *message, int *fd)
{
    struct session *session = registry_by_slot(&device->server->registry, message->slot);

    if (!session || session->device != device)
        return false;
    switch (message->op) {
    case LINK_OPENED:
        loop_expected(&device->server->loop);
        return server_session_opened(session, &message->u.opened, message->text);
    case LINK_CLOSED:
        return server_session_closed(session);
    case LINK_GRANTED:
        loop_expected(&device->server->loop);
        return grants_granted(session, &message->u.granted, message->text);
    case LINK_VAULT_PUT:
        return server_session_has_memory(session) &&
               on_vault_put(device, session, &message->u.vault, fd);
    case LINK_VAULT_DROP:
        /* Of memory whose descriptor did not fit, there is none. */
        vault_drop(&session->vault, message->u.vault.address);
        return server_session_has_memory(session);
    default:
        return false;
    }
}

static bool on_fatal(struct device *device, struct link_message *message)
{
    struct link_fatal *fatal = &message->u.fatal;

    fatal->kernel[sizeof(fatal->kernel) - 1] = 0;
    device_fail(device, fatal, message->slot, "%s",
                message->text[0] ? message->text : "the worker gave the device up");
    return true;
}

static bool on_message(struct device *device, struct link_message *message, int *fd)
{
    switch (message->op) {
    case LINK_READY:
        if (device->worker.state != WORKER_STARTING)
            return false;
        return device_ready(device, &message->u.device);
    case LINK_FATAL:
        return on_fatal(device, message);
    case LINK_NEEDS_RECYCLING:
        device->worker.needs_recycling = true;
        device_renew(device);
        return device->worker.state != WORKER_STARTING;
    default:
        return device->worker.state == WORKER_READY && on_session_message(device, message, fd);
    }
}

/* The first descriptor of the message; others are closed. -1: none. */
static int descriptor_take(struct msghdr *header)
{
    int first = -1;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (first < 0)
                first = fd;
            else
                close(fd);
        }
    }
    return first;
}

/* It goes into logs, to terminals, and into one-line messages. */
static void text_clean(char *text, size_t size)
{
    text[size - 1] = 0;
    for (char *c = text; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f)
            *c = ' ';
    }
}

/* One message. false: there is no more for now. */
static bool link_read(struct device *device)
{
    struct worker_process *worker = &device->worker;
    struct link_message message;
    struct iovec part = {&message, sizeof(message)};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control;
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control.bytes,
                            .msg_controllen = sizeof(control.bytes)};
    ssize_t n = recvmsg(worker->link.fd, &header, MSG_CMSG_CLOEXEC);

    if (n < 0 && errno == EINTR)
        return true;
    if (n < 0 && errno == EAGAIN)
        return false;
    if (n <= 0) { /* it has closed its end: it is ending, and the pidfd will say how */
        link_close(device);
        return false;
    }
    CLEANUP_FD int fd = descriptor_take(&header);
    text_clean(message.text, sizeof(message.text));
    if (worker->state != WORKER_STARTING && worker->state != WORKER_READY)
        return true; /* of one that is being ended, nothing counts any more */
    if (n != sizeof(message) || (header.msg_flags & MSG_TRUNC) ||
        !on_message(device, &message, &fd))
        device_fail(device, NULL, LINK_SLOT_NONE,
                    "worker %d sent a message that makes no sense (%zd bytes, op %u, slot %u)",
                    (int)worker->pid, n, message.op, message.slot);
    return true;
}

/* Messages taken before other events get their turn. */
#define LINK_BATCH 64

void worker_receive(struct device *device)
{
    while (device->worker.link.fd >= 0 && link_read(device))
        continue;
}

void worker_link_ready(struct watch *watch, uint32_t events)
{
    struct worker_process *worker = container_of(watch, struct worker_process, link);
    struct device *device = container_of(worker, struct device, worker);

    if (events & EPOLLOUT)
        outbox_flush(device);
    for (int i = 0; i < LINK_BATCH && worker->link.fd >= 0; i++) {
        if (!link_read(device))
            break;
    }
}
