/* trace.c - see trace.h. */
#include "server/session/trace.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "common/log_event.h"
#include "common/segment.h"
#include "common/util.h"
#include "server/link/worker_link.h"
#include "server/state/server.h"

#define LEASE_NS     3000000000u /* gsctl renews it several times in this time */
/* The least time between two traces of users other than the operator, since the worker recalls all
 * sessions from its side lanes at the beginning and the end of each trace. */
#define TRACE_GAP_NS 1000000000u

/* ---- What is told ---------------------------------------------------------------------------- */

static bool seen(const struct device_trace *trace, uid_t uid)
{
    return trace->segment && (trace->all || trace->uid == uid);
}

static void put(const struct device *device, struct trace_event *event)
{
    event->at_ns = clock_ns();
    if (event->begin_ns == 0)
        event->begin_ns = event->at_ns;
    event->end_ns = event->at_ns;
    trace_ring_put(&device->trace.segment->ring[0], event);
}

static void session_put(const struct session *session, enum trace_kind kind)
{
    const struct sm_mask sms = grants_sms(session);
    struct trace_event event = {.session = session->id, .kind = (uint16_t)kind};

    static_assert(sizeof(session->name) <= sizeof(event.v.text), "a tenant's name fits");
    event.u.session.uid = session->uid;
    event.u.session.pid = session->pid;
    event.u.session.cls = session->grant.target.cls;
    event.u.session.sms = sm_mask_count(&sms);
    event.u.session.priority = session->grant.target.priority;
    if (kind == TRACE_GRANTED)
        memcpy(event.v.mask, sms.word, sizeof(event.v.mask));
    else
        memcpy(event.v.text, session->name, sizeof(session->name));
    put(session->device, &event);
}

void device_trace_session(const struct session *session, enum trace_kind kind)
{
    if (!seen(&session->device->trace, session->uid))
        return;
    session_put(session, kind);
    if (kind == TRACE_ATTACHED)
        session_put(session, TRACE_GRANTED);
}

void device_trace_lost(const struct device *device)
{
    const struct culprit *culprit = device_culprit(device);
    struct trace_event event = {.kind = TRACE_LOST};

    if (!device->trace.segment)
        return;
    /* Neither another user's tenant nor its kernel is named. */
    if (culprit && seen(&device->trace, culprit->uid))
        event.session = culprit->session_id;
    if (event.session || device->trace.all)
        snprintf(event.v.text, sizeof(event.v.text), "%.63s", device->failure);
    put(device, &event);
}

void device_trace_taken_over(const struct device *device)
{
    struct trace_event event = {.begin_ns = device->lost_ns, .kind = TRACE_TAKEOVER};

    if (device->trace.segment)
        put(device, &event);
}

void device_trace_tell(struct device *device)
{
    const struct device_trace *trace = &device->trace;
    const struct link_message message = {
        .op = LINK_TRACE,
        .slot = LINK_SLOT_NONE,
        .u.trace = {.segment_id = trace->segment_id, .uid = trace->uid, .all = trace->all}};

    if (trace->segment && device->worker.state == WORKER_READY)
        worker_send(device, &message);
}

/* ---- Begin and end --------------------------------------------------------------------------- */

static void lease_fire(struct timer *timer)
{
    device_trace_end(container_of(timer, struct device, trace.lease));
}

static void lease_renew(struct device *device)
{
    timer_set(&device->server->loop, &device->trace.lease, clock_ns() + LEASE_NS, lease_fire);
}

/* Logs that a trace begins. The number of lines is limited, since a program may begin traces
 * without end. */
static void begin_log(const struct device *device, const struct reply *by)
{
    struct account *account = account_get(&device->server->accounts, device->trace.uid);
    struct log_event event = log_event_begin("trace");

    if (!account_event(account, clock_ns()))
        return;
    reply_log(&event, by);
    log_event_number(&event, "device", (uint64_t)device->index);
    log_event_text(&event, "sessions", device->trace.all ? "all" : "own");
    log_event_write(&event, LOG_LEVEL_INFO);
}

/* Checks whether a trace of all sessions, or of the asker's, may begin. */
static gs_status begin_check(const struct device *device, uid_t asker, bool all,
                             char text[REFUSAL_TEXT_MAX])
{
    const struct device_trace *trace = &device->trace;

    if (trace->segment && (trace->all || !all)) {
        if (!server_shows(device->server, asker, trace->uid))
            return refusal(text, GS_ERR_REFUSED,
                           "device %d is traced by another user; one trace at a time",
                           device->index);
        return refusal(text, GS_ERR_REFUSED, "device %d is traced by user %s; one trace at a time",
                       device->index, log_user_name(trace->uid));
    }
    if (!all && clock_ns() < trace->next_ns)
        return refusal(text, GS_ERR_LIMIT, "device %d was traced just now; try again in a second",
                       device->index);
    if (!all && segments_low())
        return refusal(text, GS_ERR_LIMIT, "few System V segments are left (kernel.shmmni)");
    return GS_OK;
}

gs_status device_trace_begin(struct device *device, const struct reply *by, int32_t *id,
                             char text[REFUSAL_TEXT_MAX])
{
    struct device_trace *trace = &device->trace;
    const uid_t uid = by->uid;
    const bool all = uid == 0 || uid == geteuid();
    gs_status status;
    void *memory;

    if (trace->segment && trace->uid == uid &&
        trace->token == by->token) { /* a killed supervisor had begun this trace */
        device_trace_tell(device);
        *id = trace->segment_id;
        return GS_OK;
    }
    status = begin_check(device, uid, all, text);
    if (status != GS_OK)
        return status;
    device_trace_end(device);
    int r = segment_begin(sizeof(struct trace_segment), S_IRUSR | S_IWUSR, uid, &trace->segment_id,
                          &memory);
    if (r == 0) {
        r = segment_keep_from_forks(memory, sizeof(struct trace_segment));
        if (r < 0)
            segment_mark(trace->segment_id);
    }
    if (r < 0)
        return refusal(text, GS_ERR_NO_MEMORY, "a segment of %zu MiB for the trace: %s",
                       sizeof(struct trace_segment) >> 20, strerror(-r));
    trace->segment = memory;
    trace->segment->magic = WIRE_MAGIC;
    trace->segment->version = WIRE_VERSION;
    trace->uid = uid;
    trace->token = by->token;
    trace->all = all;
    lease_renew(device);
    for (const struct session *s = NULL; (s = device_session_next(device, s));) {
        if (s->attached && seen(trace, s->uid)) {
            session_put(s, TRACE_PRESENT);
            session_put(s, TRACE_GRANTED);
        }
    }
    device_trace_tell(device);
    begin_log(device, by);
    *id = trace->segment_id;
    return GS_OK;
}

static bool owns(const struct device_trace *trace, uid_t uid, int32_t id)
{
    return trace->segment && trace->uid == uid && trace->segment_id == id;
}

bool device_trace_keep(struct device *device, uid_t uid, int32_t id)
{
    if (!owns(&device->trace, uid, id))
        return false;
    segment_mark(id); /* not before its reader has mapped it, since the supervisor may be killed
                         until then */
    lease_renew(device);
    return true;
}

bool device_trace_finish(struct device *device, uid_t uid, int32_t id)
{
    if (!owns(&device->trace, uid, id))
        return false;
    device_trace_end(device);
    return true;
}

void device_trace_end(struct device *device)
{
    const struct link_message message = {
        .op = LINK_TRACE, .slot = LINK_SLOT_NONE, .u.trace.segment_id = -1};

    if (!device->trace.segment)
        return;
    timer_cancel(&device->server->loop, &device->trace.lease);
    if (device->worker.state == WORKER_READY)
        worker_send(device, &message);
    segment_mark(device->trace.segment_id);
    shmdt(device->trace.segment);
    device->trace = (struct device_trace){.next_ns = clock_ns() + TRACE_GAP_NS};
}

void device_trace_restore(struct device *device)
{
    struct device_trace *trace = &device->trace;

    if (!trace->segment)
        return;
    trace->lease = (struct timer){0};
    trace->segment = segment_attach(trace->segment_id, sizeof(struct trace_segment));
    if (!trace->segment) {
        log_warning("event=trace-failed device=%d reason=%s", device->index, strerror(errno));
        return;
    }
    lease_renew(device);
}
