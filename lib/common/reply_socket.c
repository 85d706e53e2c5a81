/* reply_socket.c - see reply_socket.h. */
#include "common/reply_socket.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FLAGS (SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK)

/* Room for connections of strangers, so that they do not easily fill the queue before the server
 * connects. */
#define BACKLOG 64

static socklen_t address_of(struct sockaddr_un *address, const char *name)
{
    const size_t length = strnlen(name, sizeof(address->sun_path) - 1);

    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path + 1, name, length); /* the byte before it means abstract */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

static bool peer_user(int fd, uid_t *user)
{
    struct ucred peer;
    socklen_t size = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
        return false;
    *user = peer.uid;
    return true;
}

/* Closes the descriptor and preserves errno, which holds the reason. */
static void close_quietly(int *fd)
{
    const int error = errno;

    if (*fd >= 0)
        close(*fd);
    *fd = -1;
    errno = error;
}

/* ---- The client ------------------------------------------------------------------------------ */

void reply_socket_close(struct reply_socket *socket)
{
    close_quietly(&socket->connection);
    close_quietly(&socket->listener);
}

int reply_socket_listen(struct reply_socket *made, const char *name)
{
    struct sockaddr_un address;
    const socklen_t length = address_of(&address, name);

    *made = REPLY_SOCKET_CLOSED;
    made->listener = socket(AF_UNIX, FLAGS, 0);
    if (made->listener >= 0 &&
        bind(made->listener, (const struct sockaddr *)&address, length) == 0 &&
        listen(made->listener, BACKLOG) == 0)
        return 0;
    reply_socket_close(made);
    return -1;
}

static int wait_readable(int fd, int milliseconds)
{
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    const int ready = poll(&wait, 1, milliseconds);

    if (ready == 0)
        errno = ETIMEDOUT;
    return ready > 0 ? 0 : -1;
}

/* Accepts the first waiting connection. Fails with ETIMEDOUT if it is a stranger's or has been
 * closed. */
static int connection_take(struct reply_socket *socket, uid_t server)
{
    int fd = accept4(socket->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    uid_t user;

    if (fd < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
        return -1;
    if (fd >= 0 && peer_user(fd, &user) && user == server) {
        socket->connection = fd;
        return 0;
    }
    close_quietly(&fd);
    errno = ETIMEDOUT;
    return -1;
}

ssize_t reply_socket_receive(struct reply_socket *socket, uid_t server, void *answer, size_t size,
                             int milliseconds)
{
    ssize_t n;

    if (socket->connection < 0 &&
        (wait_readable(socket->listener, milliseconds) < 0 || connection_take(socket, server) < 0))
        return -1;
    if (wait_readable(socket->connection, milliseconds) < 0)
        return -1;
    n = recv(socket->connection, answer, size, 0);
    if (n > 0)
        return n;
    /* The supervisor has ended, and the next one may connect again. */
    close_quietly(&socket->connection);
    errno = ETIMEDOUT;
    return -1;
}

/* ---- The server ------------------------------------------------------------------------------ */

int reply_socket_connect(const char *name, uid_t *client)
{
    struct sockaddr_un address;
    const socklen_t length = address_of(&address, name);
    int fd = socket(AF_UNIX, FLAGS, 0);

    if (fd >= 0 &&
        (connect(fd, (const struct sockaddr *)&address, length) < 0 || !peer_user(fd, client)))
        close_quietly(&fd);
    return fd;
}
