/*
 * supervisor_link.c - messages from the worker to the supervisor, and the end of the worker
 * process.
 *
 * Any thread may send, because a SOCK_SEQPACKET message is sent whole or not at all. The worker's
 * side of the socket blocks; the supervisor always reads.
 */
#include "worker/driver/supervisor_link.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "worker/driver/link_state.h"

void link_send(const struct link_message *message, int descriptor)
{
    if (!link_tell(message, descriptor)) {
        /* A worker without its supervisor serves no purpose. */
        log_error("event=supervisor-silent reason=%s", strerror(errno));
        _exit(1);
    }
}

void link_await_end(void)
{
    struct pollfd link = {LINK_FD, 0, 0};

    while (poll(&link, 1, -1) < 0 && errno == EINTR)
        ;
    _exit(2);
}

void worker_end(CUresult result, const char *text, const struct link_blame *blame, bool at_rest)
{
    struct link_message message = {.op = LINK_FATAL, .slot = LINK_SLOT_NONE};

    if (blame) {
        message.slot = blame->slot;
        message.u.fatal = blame->fatal;
    }
    message.u.fatal.status = driver_fatal(result) ? GS_ERR_FAULT : GS_ERR_DRIVER;
    if (message.u.fatal.kind == GS_FAULT_NONE)
        message.u.fatal.kind = driver_fatal(result) ? GS_FAULT_KERNEL : GS_FAULT_DEVICE;
    message.u.fatal.at_rest = at_rest;
    snprintf(message.text, sizeof(message.text), "%s", text);
    log_error("event=device-lost reason=%s", message.text);
    link_send(&message, -1);
    if (at_rest)
        link_await_end();
    _exit(2);
}
