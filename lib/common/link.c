/* link.c - see link.h. */
#include "common/link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static_assert(sizeof(struct link_control) == CMSG_SPACE(sizeof(int)), "one descriptor");

bool link_write(int fd, const struct link_message *message, int descriptor)
{
    struct iovec part = {(void *)(uintptr_t)message, sizeof(*message)};
    struct link_control control = {{0}};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t n;

    if (descriptor >= 0) {
        header.msg_control = control.bytes;
        header.msg_controllen = sizeof(control.bytes);
        struct cmsghdr *c = CMSG_FIRSTHDR(&header);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &descriptor, sizeof(int));
    }
    do {
        n = sendmsg(fd, &header, MSG_NOSIGNAL);
    } while (n < 0 && errno == EINTR);
    return n >= 0;
}

/* Returns the first descriptor of the message, or -1, and closes the others. */
static int descriptor_take(struct msghdr *header)
{
    int first = -1;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(header); c; c = CMSG_NXTHDR(header, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (first < 0)
                first = fd;
            else
                close(fd);
        }
    }
    return first;
}

ssize_t link_read(int fd, struct link_message *message, struct link_control *control,
                  int *descriptor)
{
    struct iovec part = {message, sizeof(*message)};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control->bytes,
                            .msg_controllen = sizeof(control->bytes)};
    ssize_t n;

    do {
        /* If the other end has ended without reading all messages, recvmsg fails once with
         * ECONNRESET before it returns what that end had sent. MSG_TRUNC makes it return the
         * message's whole length instead of the length of the part that fits. */
        n = recvmsg(fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC | MSG_TRUNC);
    } while (n < 0 && (errno == EINTR || errno == ECONNRESET));
    *descriptor = n < 0 ? -1 : descriptor_take(&header);
    return n;
}

int link_descriptor(const struct link_control *control)
{
    const struct cmsghdr *header = (const void *)control->bytes;
    int fd = -1;

    if (header->cmsg_len == CMSG_LEN(sizeof(fd)) && header->cmsg_level == SOL_SOCKET &&
        header->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(header), sizeof(fd));
    return fd;
}
