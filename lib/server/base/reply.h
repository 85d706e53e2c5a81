/*
 * reply.h - the supervisor's end of a reply queue, or of the socket in its place
 * (common/reply_socket.h). Its owner, as the kernel reports it, is the user who asks.
 */
#ifndef GS_SERVER_REPLY_H
#define GS_SERVER_REPLY_H

#include <mqueue.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/log_event.h"
#include "common/wire.h"

struct reply {
    int queue; /* the queue or socket; -1: closed */
    uid_t uid; /* the user who asks */
    uint16_t op;
    uint64_t token;
    pid_t pid; /* the process that asks; 0: not known, for example in another PID namespace */
};

/* Opens the reply queue that the request names and removes its name, or connects to the socket.
 * Returns false if there is neither, or if the client is gone, so that nobody can get an answer. */
bool reply_open(const char *instance, const struct ctl_header *request, struct reply *reply);
/* Returns the process that holds the record lock which the maker of a reply queue takes on it; 0
 * for a process in a PID namespace that this process cannot see, and for the holder of a socket; -1
 * for none. */
pid_t reply_queue_holder(mqd_t queue);
/* Removes a reply queue unless a living client holds it. Never waits. */
enum orphan { ORPHAN_REMOVED, ORPHAN_NONE, ORPHAN_HELD };
enum orphan reply_queue_remove_orphan(const char *name);
/* Adds who asked to a log event: "by=NAME", and by_pid=N if that is known. */
void reply_log(struct log_event *event, const struct reply *reply);
/* Does nothing on a closed reply. */
void reply_close(struct reply *reply);
/* Fills in the answer's header and sends it, without blocking. Returns false with errno if nobody
 * will read it; EAGAIN: there is an answer already. */
bool reply_send(const struct reply *reply, struct ctl_header *answer, size_t size);
/* Answers with a status and a text only. */
void reply_refuse(const struct reply *reply, gs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
