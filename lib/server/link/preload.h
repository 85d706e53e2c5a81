/*
 * preload.h - tells a standby of the sessions that it will take up, before their worker is asked to
 * retire; common/link.h has the messages. Correctness does not depend on whether the standby uses
 * them.
 */
#ifndef GS_SERVER_PRELOAD_H
#define GS_SERVER_PRELOAD_H

#include <stdbool.h>
#include <stdint.h>

struct device;
struct session;

/* Begins to send all sessions of the device. The standby is ready. */
void preload_begin(struct device *device);
/* Sends as much as the standby's socket takes. The next call, after an EPOLLOUT of the socket,
 * sends more. Returns whether the standby has answered that it is done. */
bool preload_go_on(struct device *device);
/* Tells the standby to unmap everything, since it does not take over. Does nothing if nothing was
 * sent. */
void preload_cancel(struct device *device);
/* Tells the standby that a piece of the session's memory, or the session itself (number 0), is
 * gone. Does nothing if nothing was sent. */
void preload_gone(const struct session *session, uint64_t number);

#endif
