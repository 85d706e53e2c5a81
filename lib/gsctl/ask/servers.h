/* servers.h - finds the servers of this machine, or of this IPC namespace, by the status pages that
 * this user may read: those of the user's own servers and of servers that serve the user; root
 * reads all. */
#ifndef GS_GSCTL_ASK_SERVERS_H
#define GS_GSCTL_ASK_SERVERS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/wire_control.h"

#define SERVERS_MAX 256u

struct server_found {
    uint32_t owner;                       /* the server's user, from the kernel */
    int32_t pid;                          /* in the server's PID namespace */
    char instance[WIRE_INSTANCE_MAX + 1]; /* "": not known, since the server is of another
                                             version */
};

/* Finds the servers, sorted by user and name, and returns their number. Sends them no request. */
size_t servers_find(struct server_found found[SERVERS_MAX]);
bool servers_any(void); /* whether there is at least one server */

#endif
