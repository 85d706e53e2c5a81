/*
 * reply_socket.h - where a client takes the answer to its request when it cannot make a reply
 * queue: a listening socket in the abstract namespace, under the name that the queue would have.
 *
 * A system has few message queues (fs.mqueue.queues_max), which one user can use up; sockets are
 * bounded by each process's own descriptors. The kernel tells each side the other's user
 * (SO_PEERCRED), since anybody can connect to the name. The namespace belongs to the network
 * namespace: a server in another one does not find the socket.
 *
 * Any thread. Failures are -1 and errno.
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
/* Receives the answer of the server, which runs as `server`; others who connect are turned away.
 * Returns its size. ETIMEDOUT: none yet; that may be sooner than asked. */
ssize_t reply_socket_receive(struct reply_socket *socket, uid_t server, void *answer, size_t size,
                             int milliseconds);
/* Harmless on a closed one. */
void reply_socket_close(struct reply_socket *socket);

/* ---- The server ---- */
/* Returns a connection to the socket of that name, without blocking, and the user who made it. */
int reply_socket_connect(const char *name, uid_t *client);

#endif
