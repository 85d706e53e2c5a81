/*
 * request.h - asking a server something over its control queue: find the queue, see that a server
 * serves it, send, await the answer in a reply queue of one's own. For libgshare and gsctl.
 *
 * Any thread; a struct control may be used by several threads at once between open and close.
 * Blocks no longer than the caller's deadline, and no longer than the server lives. Answers come
 * from the server, but their sizes and fields are checked all the same.
 *
 * Deadlines are clock_ns() values. `message` receives one line that says what went wrong; it is
 * written on every status but GS_OK.
 */
#ifndef GS_COMMON_REQUEST_H
#define GS_COMMON_REQUEST_H

#include <mqueue.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/wire.h"

#define REQUEST_MESSAGE_MAX 256u

struct control {
    mqd_t queue; /* -1: closed */
    uid_t owner; /* of the queue, so of the server */
    char instance[WIRE_INSTANCE_MAX + 1];
};

/* Opens the control queue of an instance that a server serves.
 * GS_ERR_INVALID_VALUE: no instance name. GS_ERR_NO_SERVER. GS_ERR_REFUSED: the queue is not open
 * to this user. GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. */
gs_status control_open(struct control *control, const char *instance,
                       char message[REQUEST_MESSAGE_MAX]);
/* Harmless on a closed one. */
void control_close(struct control *control);
/* Does a server still serve the queue? One or two system calls. */
bool control_served(const struct control *control);

/* Sends a request that has no answer: CTL_CONFIRM, CTL_DETACH (token: the session's cookie). size
 * is the whole message's; the header is filled in here. GS_ERR_SERVER_LOST, GS_ERR_TIMEOUT,
 * GS_ERR_SYSTEM. */
gs_status control_send(const struct control *control, struct ctl_header *request, uint16_t op,
                       size_t size, uint64_t token, uint64_t deadline_ns,
                       char message[REQUEST_MESSAGE_MAX]);

/* Sends a request and awaits its answer of exactly reply_size bytes; both headers are dealt with
 * here. Returns the answer's own status, or GS_ERR_VERSION, GS_ERR_SERVER_LOST, GS_ERR_TIMEOUT,
 * GS_ERR_PROTOCOL, GS_ERR_NO_MEMORY (no reply queue could be had by the deadline: the system
 * allows few, and they are awaited), GS_ERR_SYSTEM. *reply is written on GS_OK only. The reply
 * queue is gone on return. */
gs_status control_ask(const struct control *control, struct ctl_header *request, uint16_t op,
                      size_t size, void *reply, size_t reply_size, uint64_t deadline_ns,
                      char message[REQUEST_MESSAGE_MAX]);

#endif
