/*
 * reply.h - where an answer goes, and who asked: the owner of the reply queue, or of the socket in
 * its place (common/reply_socket.h), as the kernel tells it.
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
    int queue; /* or socket; -1: closed */
    uid_t uid; /* of the asker */
    uint16_t op;
    uint64_t token;
    pid_t pid; /* of the asker; 0: not known, as of one in another PID namespace */
};

/* Opens the reply queue that the request names and removes its name, or connects to the socket.
 * false: there is neither, or its client is gone; nobody can be told. */
bool reply_open(const char *instance, const struct ctl_header *request, struct reply *reply);
/* Returns the process that holds the record lock which the maker of a reply queue takes on it: 0
 * for one in a PID namespace that we cannot see, and for who holds a socket; -1 for none. */
pid_t reply_queue_holder(mqd_t queue);
/* Removes a reply queue unless a living client holds it. Never waits. */
enum orphan { ORPHAN_REMOVED, ORPHAN_NONE, ORPHAN_HELD };
enum orphan reply_queue_remove_orphan(const char *name);
/* Adds who asked: "by=NAME", and by_pid=N where it is known. */
void reply_log(struct log_event *event, const struct reply *reply);
/* Harmless on a closed one. */
void reply_close(struct reply *reply);
/* Fills in the header and sends, without blocking. false, and errno: nobody will read it; EAGAIN:
 * there is an answer already. */
bool reply_send(const struct reply *reply, struct ctl_header *answer, size_t size);
/* Answers with a status and a text only. */
void reply_refuse(const struct reply *reply, gs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
