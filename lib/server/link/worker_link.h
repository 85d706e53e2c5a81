/*
 * worker_link.h - the supervisor's end of the socketpair to a worker: messages out, kept while the
 * socket takes none, and messages in. What messages mean is for others: workers/messages.c takes
 * them, reconcile/send.c and those who close sessions send them.
 */
#ifndef GS_SERVER_WORKER_LINK_H
#define GS_SERVER_WORKER_LINK_H

#include <sys/types.h>

#include "server/state/device.h"

/* Keeps what the socket does not take now. Never calls back: a worker that cannot take the message
 * is killed, and its end seen in the loop. */
void worker_send(struct device *device, const struct link_message *message);
/* The same with a descriptor, which stays the caller's; -1: none. */
void worker_send_with(struct device *device, const struct link_message *message, int descriptor);
/* Sends a LINK_PING unless one is unanswered. */
void worker_ping(struct device *device);
/* LINK_PONG: whether it answers the ping that was sent. */
bool worker_pong(struct device *device, const struct link_ping *ping);
/* The socket takes messages again. */
void worker_flush(struct device *device);
/* Takes the next message and returns its length, which may be any; 0: there is none for now, or the
 * worker has closed its end. *descriptor: the one that came along, which the caller closes, or
 * -1. The message's text is printable and ends. */
ssize_t worker_read(struct device *device, struct link_message *message, int *descriptor);
/* Makes a text of a worker printable, and end: it goes into logs, to terminals, and into one-line
 * messages. */
void worker_text_clean(char *text, size_t size);
/* Closes the socket and forgets what it has not taken. Harmless twice. */
void worker_link_deinit(struct device *device);

#endif
