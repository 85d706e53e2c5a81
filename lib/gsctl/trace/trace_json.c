/*
 * trace_json.c - a trace as Chrome's JSON, which Perfetto opens; see trace.h. Each tenant is a
 * process: its submissions, its SMs, and a track for each stream's work on the device. Each device
 * is a process more: the supervisor, and the driver calls of each lane of its worker.
 *
 * A process's number in the file is the session's: a real process can have several sessions.
 */
#include <stdio.h>

#include "common/util.h"
#include "common/wire_record.h"
#include "gsctl/base/json.h"
#include "gsctl/trace/trace.h"

#define DEVICE_PID  1000000000u /* plus the device's index: above all sessions' numbers */
#define SUBMISSIONS 1u          /* the track of a tenant; its streams follow */
#define STREAM      10u

/* Begins an event at that time. The caller adds the event's own members, and closes it. */
static void event_open(const struct trace_model *m, const char *phase, const char *name,
                       uint64_t pid, uint32_t tid, uint64_t ns)
{
    json_open(NULL, '{');
    json_text("ph", phase);
    json_text("name", name);
    json_number("pid", pid);
    json_number("tid", tid);
    json_micros("ts", ns > m->log->begin_ns ? ns - m->log->begin_ns : 0);
}

static void duration(uint64_t begin_ns, uint64_t end_ns)
{
    json_micros("dur", end_ns > begin_ns ? end_ns - begin_ns : 0);
}

/* Prints metadata. `what` is "process_name" or "thread_name", or, with a number,
 * "process_sort_index". */
static void metadata(const char *what, uint64_t pid, uint32_t tid, const char *name, uint64_t sort)
{
    json_open(NULL, '{');
    json_text("ph", "M");
    json_text("name", what);
    json_number("pid", pid);
    json_number("tid", tid);
    json_open("args", '{');
    if (name)
        json_text("name", name);
    else
        json_number("sort_index", sort);
    json_close('}');
    json_close('}');
}

static void tenant_head(const struct trace_tenant *tenant)
{
    char name[32];

    metadata("process_name", tenant->session, 0, tenant->title, 0);
    metadata("process_sort_index", tenant->session, 0, NULL, 1 + tenant->session);
    metadata("thread_name", tenant->session, SUBMISSIONS, "submissions", 0);
    for (uint32_t s = 0; s < SEG_STREAMS; s++) {
        if (!(tenant->streams >> s & 1))
            continue;
        snprintf(name, sizeof(name), "device: stream %u", s);
        metadata("thread_name", tenant->session, STREAM + s, name, 0);
    }
}

static void device_head(const struct trace_model *m, uint32_t device)
{
    bool used[TRACE_RINGS] = {true};
    char name[128];

    snprintf(name, sizeof(name), "gshared: device %u, %.64s", device,
             m->log->status.device[device].name);
    metadata("process_name", DEVICE_PID + device, 0, name, 0);
    metadata("process_sort_index", DEVICE_PID + device, 0, NULL, 0);
    for (size_t i = 0; i < m->log->count; i++) {
        if (m->log->record[i].device == device)
            used[m->log->record[i].ring] = true;
    }
    for (uint32_t ring = 0; ring < TRACE_RINGS; ring++) {
        if (!used[ring])
            continue;
        snprintf(name, sizeof(name),
                 ring == 0   ? "supervisor"
                 : ring == 1 ? "main lane"
                             : "side lane %u",
                 ring - 1);
        metadata("thread_name", DEVICE_PID + device, ring, name, 0);
    }
}

static const char *work_name(const struct trace_event *e)
{
    static const char *const names[] = {
        [REC_COPY] = "copy",    [REC_MEMSET] = "memset",     [REC_EVENT] = "event",
        [REC_WAIT] = "wait",    [REC_GRAPH] = "graph",       [REC_BOX] = "copy",
        [REC_GEMM] = "product", [REC_HOST] = "host function"};

    if (e->work == REC_LAUNCH)
        return e->v.text;
    return e->work < ARRAY_SIZE(names) && names[e->work] ? names[e->work] : "?";
}

static void submission_print(const struct trace_model *m, const struct trace_event *e)
{
    event_open(m, "i", work_name(e), e->session, SUBMISSIONS, e->begin_ns);
    json_text("s", "t");
    json_text("cat", "submission");
    json_open("args", '{');
    json_number("stream", e->u.work.stream);
    if (e->work == REC_LAUNCH)
        json_number("blocks", e->amount);
    json_close('}');
    json_close('}');
}

static void call_print(const struct trace_model *m, const struct trace_record *r)
{
    const struct trace_event *e = &r->event;

    event_open(m, "X", work_name(e), DEVICE_PID + r->device, r->ring, e->begin_ns);
    duration(e->begin_ns, e->end_ns);
    json_text("cat", "issue");
    json_open("args", '{');
    json_number("session", e->session);
    json_number("stream", e->u.work.stream);
    json_number("count", e->u.work.count);
    json_close('}');
    json_close('}');
}

/* Prints an instant of the process `pid`. Scope "p": the instant is of the process, "g": of all
 * processes. */
static void instant_print(const struct trace_model *m, const char *name, const char *scope,
                          uint64_t pid, const struct trace_event *e)
{
    event_open(m, "i", name, pid, scope[0] == 'p' ? SUBMISSIONS : 0, e->at_ns);
    json_text("s", scope);
    json_text("cat", "session");
    json_open("args", '{');
    if (e->kind == TRACE_LOST) {
        json_text("reason", e->v.text);
        if (e->session)
            json_number("culprit", e->session);
    } else if (e->kind == TRACE_WORKER) {
        json_integer("pid", e->u.session.pid);
    } else {
        json_user(e->u.session.uid);
        json_pid("process", e->u.session.pid);
        json_text("class", class_name(e->u.session.cls));
        json_integer("priority", e->u.session.priority);
        json_number("sms", e->u.session.sms);
    }
    if (e->kind == TRACE_GRANTED) {
        const struct sm_mask mask = sm_mask_of(e->v.mask);
        char text[SM_MASK_TEXT_MAX];

        json_text("mask", sm_mask_print(text, sizeof(text), &mask));
    }
    json_close('}');
    json_close('}');
}

static void granted_print(const struct trace_model *m, const struct trace_event *e)
{
    instant_print(m, "granted", "p", e->session, e);
    event_open(m, "C", "SMs granted", e->session, 0, e->at_ns);
    json_open("args", '{');
    json_number("sms", e->u.session.sms);
    json_close('}');
    json_close('}');
}

static void record_print(const struct trace_model *m, const struct trace_record *r)
{
    const struct trace_event *e = &r->event;
    const uint64_t device = DEVICE_PID + r->device;

    if (e->session && e->kind != TRACE_LOST && !trace_tenant(m, e->session))
        return;
    switch (e->kind) {
    case TRACE_ATTACHED:
        instant_print(m, "attached", "p", e->session, e);
        break;
    case TRACE_DETACHED:
        instant_print(m, "detached", "p", e->session, e);
        break;
    case TRACE_GRANTED:
        granted_print(m, e);
        break;
    case TRACE_LOST:
        instant_print(m, "worker lost", "g", device, e);
        break;
    case TRACE_WORKER:
        instant_print(m, "worker traces", "t", device, e);
        break;
    case TRACE_TAKEOVER:
        event_open(m, "X", "takeover", device, 0, e->begin_ns);
        duration(e->begin_ns, e->end_ns);
        json_close('}');
        break;
    case TRACE_FETCHED:
        submission_print(m, e);
        break;
    case TRACE_ISSUED:
        call_print(m, r);
        break;
    default:
        break;
    }
}

static void span_print(const struct trace_model *m, const struct trace_span *span)
{
    const struct trace_tenant *tenant = &m->tenant[span->tenant];
    char name[TRACE_NAME_MAX];

    event_open(m, "X", trace_span_name(span, name), tenant->session, STREAM + span->stream,
               span->begin_ns);
    duration(span->begin_ns, span->end_ns);
    json_text("cat", "device");
    json_open("args", '{');
    json_number("launches", span->launches);
    json_number("transfers", (uint64_t)span->copies + span->memsets);
    json_number("bytes", span->bytes);
    json_number("sms", span->sms);
    json_number("partition", span->partition);
    json_micros("issued_us",
                span->issued_ns > m->log->begin_ns ? span->issued_ns - m->log->begin_ns : 0);
    json_micros("charged_us", span->charged_ns);
    json_text("ended", span->ended ? "yes" : "no");
    for (uint32_t i = 0; i < TRACE_SPAN_KERNELS && span->kernel[i].name; i++) {
        char member[TRACE_TEXT + 16];

        snprintf(member, sizeof(member), "kernel %s", span->kernel[i].name);
        json_number(member, span->kernel[i].count);
    }
    json_close('}');
    json_close('}');
}

void trace_json_print(const struct trace_model *m)
{
    json_open(NULL, '{');
    json_text("displayTimeUnit", "ns");
    json_open("otherData", '{');
    json_text("made_by", "gsctl " GS_VERSION_STRING);
    json_text("clock", "CLOCK_MONOTONIC");
    json_number("begin_ns", m->log->begin_ns);
    json_number("end_ns", m->log->end_ns);
    json_number("events", m->log->count);
    json_number("lost_events", m->log->lost);
    json_close('}');
    json_open("traceEvents", '[');
    for (uint32_t d = 0; d < m->log->status.device_count; d++)
        device_head(m, d);
    for (size_t i = 0; i < m->tenant_count; i++) {
        if (m->tenant[i].wanted)
            tenant_head(&m->tenant[i]);
    }
    for (size_t i = 0; i < m->log->count; i++)
        record_print(m, m->order[i]);
    for (size_t i = 0; i < m->span_count; i++) {
        const struct trace_span *s = &m->span[i];
        if (m->tenant[s->tenant].wanted && trace_span_works(s))
            span_print(m, s);
    }
    json_close(']');
    json_close('}');
}
