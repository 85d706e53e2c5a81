/*
 * request.h - sends requests to a server over its control queue. The functions open the queue,
 * check that a server serves it, send a request, and receive the answer in a reply queue of their
 * own, or by a socket. libgshare and gsctl use them.
 *
 * Any thread; several threads may use a struct control at once between open and close. A call
 * blocks no longer than the caller's deadline and no longer than the server lives. The sizes and
 * fields of answers are checked, although they come from the server.
 *
 * Deadlines are clock_ns() values. `message` receives one line with the reason; it is written on
 * every status but GS_OK.
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
    uid_t owner; /* the server's user */
    char instance[WIRE_INSTANCE_MAX + 1];
};

/* Opens the control queue of an instance, "NAME" or "USER:NAME": without USER, the server of this
 * process's user, or else root's. GS_ERR_INVALID_VALUE: not an instance name. GS_ERR_NO_SERVER: no
 * server serves the queue. GS_ERR_REFUSED: the queue is not open to this user. GS_ERR_NO_MEMORY,
 * GS_ERR_SYSTEM. */
gs_status control_open(struct control *control, const char *instance,
                       char message[REQUEST_MESSAGE_MAX]);
/* Does nothing on a closed control. */
void control_close(struct control *control);
/* Returns true while a server serves the queue. One system call. */
bool control_served(const struct control *control);

/* Sends a request that has no answer: CTL_CONFIRM, CTL_DETACH (token: the session's cookie). The
 * message has `size` bytes, and this function fills its header in. GS_ERR_SERVER_LOST,
 * GS_ERR_TIMEOUT, GS_ERR_SYSTEM. */
gs_status control_send(const struct control *control, struct ctl_header *request, uint16_t op,
                       size_t size, uint64_t token, uint64_t deadline_ns,
                       char message[REQUEST_MESSAGE_MAX]);

/* Sends a request and receives its answer of exactly reply_size bytes. This function fills in the
 * request's header and checks the answer's. Returns the answer's own status, or GS_ERR_VERSION,
 * GS_ERR_SERVER_LOST, GS_ERR_TIMEOUT, GS_ERR_PROTOCOL, GS_ERR_NO_MEMORY, GS_ERR_SYSTEM. If all of
 * the system's few queues are in use, the answer comes by a socket; GS_ERR_NO_MEMORY then means
 * that the server could not connect to the socket, and that no queue became free by the deadline.
 * *reply is written on GS_OK only. The reply queue is removed on return. */
gs_status control_ask(const struct control *control, struct ctl_header *request, uint16_t op,
                      size_t size, void *reply, size_t reply_size, uint64_t deadline_ns,
                      char message[REQUEST_MESSAGE_MAX]);

#endif
