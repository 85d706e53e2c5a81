/* admin.c - CTL_STATUS, CTL_PS and CTL_QUIT. Everybody whom the server serves may send the first
 * two, and sees of other users only what server_shows allows; control.c lets only its owner and
 * root end it. */
#include <stdio.h>
#include <string.h>

#include "common/log_event.h"
#include "common/util.h"
#include "server/control/control.h"
#include "server/workers/standby.h"

static_assert(DEVICES_MAX == sizeof(((struct ctl_status_reply *)0)->device) /
                                 sizeof(((struct ctl_status_reply *)0)->device[0]),
              "devices in a status");

enum ctl_tenant_state session_tenant_state(const struct session *session)
{
    switch (session->state) {
    case SESSION_OPEN:
        return CTL_TENANT_ATTACHED;
    case SESSION_CLOSING:
        return CTL_TENANT_ENDING;
    case SESSION_LOST:
        return CTL_TENANT_LOST;
    case SESSION_OPENING:
        if (session->close_wanted)
            return CTL_TENANT_ENDING;
        break;
    default:
        break;
    }
    return session->resuming ? CTL_TENANT_RESUMING : CTL_TENANT_ATTACHING;
}

static uint32_t sessions_ending(const struct device *device)
{
    uint32_t count = 0;

    for (const struct session *s = NULL; (s = device_session_next(device, s));)
        count += session_tenant_state(s) == CTL_TENANT_ENDING;
    return count;
}

/* Copies what the asker may see of the users whose kernels lost workers. */
static void blamed_describe(const struct device *device, uid_t asker, struct ctl_device *row)
{
    uint32_t count = 0;

    for (size_t i = 0; i < ARRAY_SIZE(device->blamed); i++) {
        const struct ctl_blamed *blamed = &device->blamed[i];

        if (blamed->count && server_shows(device->server, asker, blamed->uid))
            row->blamed[count++] = *blamed;
    }
}

static void device_describe(const struct device *device, uid_t asker, struct ctl_device *row)
{
    memcpy(row->name, device->info.name, sizeof(row->name));
    memcpy(row->driver, device->info.driver, sizeof(row->driver));
    row->memory_total = device->info.memory_total;
    row->memory_used = device_memory_used(device);
    row->sm_count = device->info.sm_count;
    row->compute_major = device->info.compute_major;
    row->compute_minor = device->info.compute_minor;
    row->tenants = device->sessions;
    row->worker_pid = device->worker.child.pid;
    row->faults = device->faults;
    row->ending = sessions_ending(device);
    row->drained = device_drained(device);
    memcpy(row->uuid, device->info.uuid, sizeof(row->uuid));
    memcpy(row->pci, device->info.pci, sizeof(row->pci));
    memcpy(row->takeovers, device->takeovers, sizeof(row->takeovers));
    blamed_describe(device, asker, row);
    row->standby_pid = standby_ready(device);
    row->state = CTL_DEVICE_STARTING;
    if (device_silent(device, SILENT_NS))
        row->state = device_stuck(device) ? CTL_DEVICE_STUCK : CTL_DEVICE_SILENT;
    else if (device->worker.state == WORKER_READY)
        row->state = CTL_DEVICE_READY;
    else if (!device_usable(device))
        row->state = CTL_DEVICE_FAILED;
}

/* Describes when a server that is to end does so. */
static void ending_describe(const struct server *server, char *text, size_t size)
{
    const uint64_t now = clock_ns();
    const uint64_t left_s =
        server->end_by_ns > now ? (server->end_by_ns - now) / 1000000000u + 1 : 0;
    const int n = snprintf(text, size, "it admits no new tenants, and ends with the last one");

    if (server->end_by_ns != UINT64_MAX)
        snprintf(text + n, size - (size_t)n, ", in %llu s at the latest",
                 (unsigned long long)left_s);
}

void admin_status(struct server *server, const struct ctl_admin *request, const struct reply *reply)
{
    struct ctl_status_reply answer = {.status = GS_OK,
                                      .server_pid = server->status.page->server_pid,
                                      .server_version = GS_VERSION,
                                      .device_count = (uint32_t)server->device_count,
                                      .uptime_ns = clock_ns() - server->started_ns,
                                      .sessions_total = server->sessions_total,
                                      .tenants = server->registry.count,
                                      .tenants_max = server->registry.capacity};

    (void)request;
    memcpy(answer.refusals, server->refusals, sizeof(answer.refusals));
    for (int i = 0; i < server->device_count; i++)
        device_describe(&server->device[i], reply->uid, &answer.device[i]);
    if (server->end_wanted)
        ending_describe(server, answer.message, sizeof(answer.message));
    reply_send(reply, &answer.h, sizeof(answer));
}

/* Copies a histogram that the worker may be writing: its sum may be of a later moment than its
 * counts. */
static void histogram_copy(struct ctl_histogram *to, const struct link_histogram *from)
{
    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        to->count[i] = atomic_load_explicit(&from->count[i], memory_order_relaxed);
    to->sum_ns = atomic_load_explicit(&from->sum_ns, memory_order_relaxed);
}

static void session_describe(const struct session *session, struct ctl_tenant *row)
{
    const struct link_stats *stats = session->device->stats;
    struct sm_mask sms = grants_sms(session);

    row->session_id = session->id;
    row->pid = session->pid;
    row->uid = session->uid;
    row->device = session->device->index;
    row->priority = session->grant.target.priority;
    row->cls = session->grant.target.cls;
    row->weight = session->grant.target.weight;
    row->exclusive = session->grant.applied.exclusive;
    row->sm_count = sm_mask_count(&sms);
    row->state = session_tenant_state(session);
    row->fenced = session->fenced;
    row->memory_limit = session_memory_limit(session);
    row->attached_ns = clock_ns() - session->attached_ns;
    memcpy(row->name, session->name, sizeof(row->name));
    if (!stats || session->state == SESSION_LOST)
        return;
    stats += session->slot;
    row->memory_used = atomic_load_explicit(&stats->memory_used, memory_order_relaxed);
    row->launches = atomic_load_explicit(&stats->launches, memory_order_relaxed);
    row->copies = atomic_load_explicit(&stats->copies, memory_order_relaxed);
    row->copied_bytes = atomic_load_explicit(&stats->copied_bytes, memory_order_relaxed);
    row->gpu_ns = atomic_load_explicit(&stats->gpu_ns, memory_order_relaxed);
    row->deadlines_missed = atomic_load_explicit(&stats->deadlines_missed, memory_order_relaxed);
    row->sm_ns = atomic_load_explicit(&stats->sm_ns, memory_order_relaxed);
    row->strays = atomic_load_explicit(&stats->strays, memory_order_relaxed);
    row->depth = atomic_load_explicit(&stats->depth, memory_order_relaxed);
    row->driver_memory = atomic_load_explicit(&stats->driver_memory, memory_order_relaxed);
    histogram_copy(&row->wait, &stats->wait);
    histogram_copy(&row->latency, &stats->latency);
}

static uint32_t sessions_hidden(const struct server *server, uid_t uid)
{
    uint32_t count = 0;

    for (const struct session *s = NULL; (s = registry_next(&server->registry, s));)
        count += s->uid != uid;
    return count;
}

/* A user sees sessions of its own, unless the operator lets it see all. */
void admin_ps(struct server *server, const struct ctl_admin *request, const struct reply *reply)
{
    struct ctl_ps_reply answer = {.status = GS_OK};
    const bool all = server_shows_all(server, reply->uid);
    struct session *page[CTL_PS_ROWS + 1];
    uint32_t count = registry_page(&server->registry, request->cursor, all ? NULL : &reply->uid,
                                   page, CTL_PS_ROWS + 1);

    if (count > CTL_PS_ROWS) {
        answer.next_cursor = page[CTL_PS_ROWS]->id;
        count = CTL_PS_ROWS;
    }
    answer.count = count;
    answer.hidden = all ? 0 : sessions_hidden(server, reply->uid);
    if (answer.hidden)
        snprintf(answer.message, sizeof(answer.message), "%u session%s of other users %s not shown",
                 answer.hidden, answer.hidden == 1 ? "" : "s", answer.hidden == 1 ? "is" : "are");
    for (uint32_t i = 0; i < count; i++)
        session_describe(page[i], &answer.tenant[i]);
    reply_send(reply, &answer.h, sizeof(answer));
}

void admin_quit(struct server *server, const struct ctl_admin *request, const struct reply *reply)
{
    struct ctl_quit_reply answer = {.status = GS_OK, .server_pid = server->status.page->server_pid};
    const bool patient = request->timeout_s == CTL_QUIT_PATIENT;
    struct log_event event = log_event_begin("quit");

    reply_log(&event, reply);
    log_event_number(&event, "tenants", server->registry.count);
    if (!patient)
        log_event_number(&event, "seconds", request->timeout_s);
    log_event_write(&event, LOG_LEVEL_INFO);
    reply_send(reply, &answer.h, sizeof(answer));
    server_drain(server, patient ? UINT64_MAX : request->timeout_s * UINT64_C(1000000000));
}
