/* server.c - see server.h. */
#include "server/state/server.h"

#include <mqueue.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "common/util.h"

void server_fail(struct server *server, const char *format, ...)
{
    va_list ap;

    if (server->failure[0])
        return;
    va_start(ap, format);
    vsnprintf(server->failure, sizeof(server->failure), format, ap);
    va_end(ap);
}

void server_drain(struct server *server, uint64_t timeout_ns)
{
    uint64_t by_ns = clock_ns() + timeout_ns;

    if (server->end_wanted && server->end_by_ns <= by_ns)
        return;
    server->end_wanted = true;
    server->end_by_ns = by_ns;
}

bool server_descriptor_reserved(const struct server *server, int fd)
{
    return fd >= 0 && (uint32_t)fd + DESCRIPTORS_RESERVE >= server->descriptors_max;
}

bool server_serves_others(const struct server_options *options)
{
    return geteuid() == 0 && (options->all_users || options->user_count);
}

bool server_other(const struct server *server, uid_t uid)
{
    return uid != 0 && uid != geteuid() && server_serves_others(&server->options);
}

void server_names_remove(const struct server *server)
{
    if (server->lock < 0)
        return;
    mq_unlink(server->control_name);
    for (int i = 0; i < server->device_count; i++)
        mq_unlink(server->device[i].bell);
    mq_unlink(server->lock_name);
}
