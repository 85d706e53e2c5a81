/*
 * preload.h - tells a standby of the sessions that it will have to take up, before their worker is
 * asked to retire; common/link.h has the messages. Nothing depends on what the standby makes of it.
 */
#ifndef GS_SERVER_PRELOAD_H
#define GS_SERVER_PRELOAD_H

#include <stdbool.h>
#include <stdint.h>

struct device;
struct session;

/* Begins anew with all sessions of the device, whose standby is ready. */
void preload_begin(struct device *device);
/* Sends as much as the standby's socket takes; the rest with the next call, which an EPOLLOUT of
 * the socket brings about. Returns whether the standby has answered that it is done. */
bool preload_go_on(struct device *device);
/* The standby is to stay what it is: it gives everything back. Harmless where nothing was sent. */
void preload_cancel(struct device *device);
/* A piece of the session's memory has gone, or (0) the session itself. Harmless likewise. */
void preload_gone(const struct session *session, uint64_t number);

#endif
