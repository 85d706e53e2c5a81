/*
 * link_io.c - messages from the worker to the supervisor, and the worker's end.
 *
 * Any thread may send: a SOCK_SEQPACKET message is whole or not sent. The worker's end of the
 * socket blocks; the supervisor always reads.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"
#include "worker/job.h"

void link_send(const struct link_message *message, int descriptor)
{
    struct iovec part = {(void *)message, sizeof(*message)};
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } control = {{0}};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

    if (descriptor >= 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &descriptor, sizeof(int));
    }
    while (sendmsg(LINK_FD, &header, MSG_NOSIGNAL) < 0) {
        if (errno == EINTR)
            continue;
        /* Without its supervisor a worker has no reason to live. */
        log_error("the supervisor does not answer: %s", strerror(errno));
        _exit(1);
    }
}

/* The kernel of the first unfinished record. The segment is the tenant's: a copy, then checks. */
static void blamed_kernel(const struct session *session, uint32_t stream, struct link_fatal *fatal)
{
    const struct seg_complete *complete = (const void *)(session->segment + SEG_OFF_COMPLETE);
    struct rec_launch record;

    fatal->stream = stream;
    fatal->position = atomic_load_explicit(&complete->position[stream], memory_order_relaxed);
    memcpy(&record,
           session->segment + SEG_OFF_RINGS + (size_t)stream * SEG_RING_BYTES +
               fatal->position % SEG_RING_BYTES / REC_ALIGN * REC_ALIGN,
           sizeof(record));
    if (record.h.op == REC_LAUNCH && record.kernel < session->kernel_room &&
        session->kernels[record.kernel])
        memcpy(fatal->kernel, session->kernels[record.kernel]->name, sizeof(fatal->kernel));
}

/* What ended the context, and by which call it was seen. */
static void lost_describe(char *text, size_t size, CUresult result)
{
    const char *why = NULL;
    char seen[96];

    driver_describe(seen, sizeof(seen));
    if (!driver_fatal(result) || !cu.cuGetErrorString || cu.cuGetErrorString(result, &why) || !why)
        snprintf(text, size, "%s", seen);
    else
        snprintf(text, size, "%s (%s)", why, seen);
}

void worker_fatal(CUresult result, const struct session *blame, uint32_t stream)
{
    struct link_message message = {.op = LINK_FATAL, .slot = blame ? blame->slot : LINK_SLOT_NONE};

    message.u.fatal.status = driver_fatal(result) ? GS_ERR_FAULT : GS_ERR_DRIVER;
    message.u.fatal.kind = driver_fatal(result) ? GS_FAULT_KERNEL : GS_FAULT_DEVICE;
    if (blame)
        blamed_kernel(blame, stream, &message.u.fatal);
    lost_describe(message.text, sizeof(message.text), result);
    log_error("device lost: %s", message.text);
    link_send(&message, -1);
    _exit(2);
}

void worker_broken(CUresult result)
{
    if (driver_fatal(result))
        dispatch_lost(result);
    worker_fatal(result, NULL, 0);
}
