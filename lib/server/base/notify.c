/* notify.c - see notify.h. The protocol is that of sd_notify(3): one datagram of text. */
#include "server/base/notify.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/log.h"
#include "common/util.h"

void notify_send(const char *state)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = path ? strlen(path) : 0;

    if (length == 0)
        return;
    if (length >= sizeof(address.sun_path) || (path[0] != '/' && path[0] != '@')) {
        log_warning("event=notify-failed socket=%s reason=\"no path and no abstract name\"", path);
        return;
    }
    memcpy(address.sun_path, path, length);
    if (path[0] == '@')
        address.sun_path[0] = 0;

    CLEANUP_FD int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
    if (fd < 0 ||
        sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&address, size) < 0)
        log_warning("event=notify-failed socket=%s state=%s reason=%s", path, state,
                    strerror(errno));
}
