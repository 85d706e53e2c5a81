/* server.c - see server.h. */
#include "server/state/server.h"

#include <mqueue.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "common/segment.h"
#include "common/util.h"
#include "server/base/child.h"
#include "server/state/session.h"

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
    const uint64_t now = clock_ns();
    const uint64_t by_ns = timeout_ns < UINT64_MAX - now ? now + timeout_ns : UINT64_MAX;

    if (server->end_wanted && server->end_by_ns <= by_ns)
        return;
    server->end_wanted = true;
    server->end_by_ns = by_ns;
}

gs_status server_device_check(const struct server *server, int64_t index,
                              char text[REFUSAL_TEXT_MAX])
{
    if (index >= 0 && index < server->device_count)
        return GS_OK;
    return refusal(text, GS_ERR_NO_DEVICE, "device %lld: the server has %d, counted from 0",
                   (long long)index, server->device_count);
}

bool server_descriptor_reserved(const struct server *server, int fd)
{
    return fd >= 0 && (uint32_t)fd + DESCRIPTORS_RESERVE >= server->descriptors_max;
}

bool server_serves_others(const struct server_options *options)
{
    return geteuid() == 0 && (options->served.all || options->served.count);
}

bool server_shows_all(const struct server *server, uid_t uid)
{
    return uid == 0 || uid == geteuid() || user_list_has(&server->options.observers, uid);
}

bool server_shows(const struct server *server, uid_t uid, uid_t of)
{
    return uid == of || server_shows_all(server, uid);
}

bool server_other(const struct server *server, uid_t uid)
{
    return uid != 0 && uid != geteuid() && server_serves_others(&server->options);
}

void server_commit(struct server *server, uint64_t token)
{
    struct committed *committed = server->committed;
    uint32_t next;

    if (!committed)
        return;
    next = 1 - atomic_load_explicit(&committed->index, memory_order_relaxed);
    committed->at[next].settings = server->settings;
    committed->at[next].policy = server->policy;
    committed->at[next].options = server->options;
    committed->at[next].token = token;
    /* release: the copy is complete before the index names it, since this process may be killed in
     * between */
    atomic_store_explicit(&committed->index, next, memory_order_release);
}

void server_rollback(struct server *server)
{
    const struct committed *committed = server->committed;
    const uint32_t index = atomic_load_explicit(&committed->index, memory_order_acquire);

    server->settings = committed->at[index].settings;
    server->policy = committed->at[index].policy;
    server->options = committed->at[index].options;
}

bool server_committed_by(const struct server *server, uint64_t token)
{
    const struct committed *committed = server->committed;
    const uint32_t index = atomic_load_explicit(&committed->index, memory_order_acquire);

    return token && committed->at[index].token == token;
}

static void names_remove(const struct server *server)
{
    if (server->lock < 0)
        return;
    mq_unlink(server->control_name);
    for (int i = 0; i < server->device_count; i++)
        mq_unlink(server->device[i].bell);
    mq_unlink(server->lock_name);
}

void server_kill_all(const struct server *server)
{
    for (int i = 0; i < server->device_count; i++) {
        const struct device *device = &server->device[i];

        child_signal(&device->worker.child, SIGKILL);
        child_signal(&device->standby.child, SIGKILL);
        child_signal(&device->former.child, SIGKILL);
    }
    for (const struct session *s = NULL; (s = registry_next(&server->registry, s));)
        segment_mark(s->segment_id);
    names_remove(server);
}
