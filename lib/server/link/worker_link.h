/*
 * worker_link.h - the supervisor's end of the socketpair to a worker: sends messages, keeps those
 * that the socket does not take, and reads messages. workers/messages.c handles them;
 * reconcile/send.c and the functions that close sessions send them.
 */
#ifndef GS_SERVER_WORKER_LINK_H
#define GS_SERVER_WORKER_LINK_H

#include <sys/types.h>

#include "server/state/device.h"

/* Sends a message, and keeps it if the socket does not take it now. Never calls back: a worker that
 * cannot take the message is killed, and the loop sees its end later. */
void worker_send(struct device *device, const struct link_message *message);
/* Sends a message with a descriptor, which the caller keeps; -1: none. */
void worker_send_with(struct device *device, const struct link_message *message, int descriptor);
/* Sends a LINK_PING unless one is unanswered. */
void worker_ping(struct device *device);
/* Handles LINK_PONG. Returns whether it answers the ping that was sent. */
bool worker_pong(struct device *device, const struct link_ping *ping);
/* Sends the messages that wait. Called when the socket takes messages again. */
void worker_flush(struct device *device);
/* Reads the next message. Returns its length, which the caller checks; 0: there is none for now, or
 * the worker has closed its end. Sets *descriptor to the descriptor that came along, which the
 * caller closes, or to -1. The message's text is printable and terminated. */
ssize_t worker_read(struct device *device, struct link_message *message, int *descriptor);
/* Makes a worker's text printable and terminates it, since it goes into logs, to terminals, and
 * into one-line messages. */
void worker_text_clean(char *text, size_t size);
/* Closes the socket and drops the messages that it has not taken. A second call does nothing. */
void worker_link_deinit(struct device *device);

#endif
