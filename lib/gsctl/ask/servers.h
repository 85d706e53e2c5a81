/* servers.h - finds the servers of this machine, or of this IPC namespace, by the status pages that
 * the asker may read: those of its own servers and of servers that serve it; root reads all. */
#ifndef GS_GSCTL_ASK_SERVERS_H
#define GS_GSCTL_ASK_SERVERS_H

#include <stdbool.h>
#include <stddef.h>

#include "common/wire_control.h"

#define SERVERS_MAX 256u

struct server_found {
    uint32_t owner;                       /* the server's user, as the kernel says */
    int32_t pid;                          /* as the server itself sees it */
    char instance[WIRE_INSTANCE_MAX + 1]; /* "": not known, for the server is of another version */
};

/* In the order of users and names. Returns how many. Nothing is asked of the servers. */
size_t servers_find(struct server_found found[SERVERS_MAX]);
bool servers_any(void); /* one at least */

#endif
