/*
 * reply_socket.h - a socket on which a client that cannot make a reply queue receives the answer to
 * its request. The client listens in the abstract namespace, under the name that the queue would
 * have.
 *
 * A system has few message queues (fs.mqueue.queues_max), which one user can use up; sockets are
 * bounded by each process's own descriptors. The kernel tells each side the other's user
 * (SO_PEERCRED), since anybody can connect to the name. The namespace belongs to the network
 * namespace: a server in another one does not find the socket.
 *
 * Any thread. Functions that fail return -1 and set errno.
 */
#ifndef GS_COMMON_REPLY_SOCKET_H
#define GS_COMMON_REPLY_SOCKET_H

#include <stddef.h>
#include <sys/types.h>

struct reply_socket {
    int listener;   /* -1: closed */
    int connection; /* to the server; -1: none yet */
};
#define REPLY_SOCKET_CLOSED ((struct reply_socket){-1, -1})

/* ---- The client ---- */
int reply_socket_listen(struct reply_socket *socket, const char *name);
/* Receives the answer of the server, which runs as the user `server`; connections of other users
 * are closed. Returns the answer's size. ETIMEDOUT: there is no answer yet; the call may return
 * that before the time is over. */
ssize_t reply_socket_receive(struct reply_socket *socket, uid_t server, void *answer, size_t size,
                             int milliseconds);
/* Does nothing on a closed socket. */
void reply_socket_close(struct reply_socket *socket);

/* ---- The server ---- */
/* Connects to the socket of that name without blocking. Returns the connection, and in *client the
 * user who made the socket. */
int reply_socket_connect(const char *name, uid_t *client);

#endif
