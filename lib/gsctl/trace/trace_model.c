/*
 * trace_model.c - makes tenants and spans of a trace's events; see trace.h.
 *
 * A span is the work whose end one fence of a stream shows. Each TRACE_ISSUED names the next fence,
 * so it is part of the span that the TRACE_ENDED of that fence ends. A fence's number is reused
 * after 2^24 others, when its span has long ended.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire_record.h"
#include "gsctl/base/format.h"
#include "gsctl/base/memory.h"
#include "gsctl/trace/trace.h"

/* The spans of a tenant's stream that have not ended, while the model is made. */
struct open_spans {
    uint32_t *span;
    uint32_t count, room;
    uint64_t end_ns; /* end of the last span that has ended; the spans of a stream do not overlap */
};
struct making {
    struct trace_model *model;
    struct open_spans (*open)[SEG_STREAMS]; /* by tenant */
    size_t tenant_room, span_room;
    const char *const *wanted;
    unsigned wanted_count;
};

/* ---- Tenants --------------------------------------------------------------------------------- */

static struct trace_tenant *tenant_find(const struct trace_model *model, uint64_t session)
{
    /* The search begins at the end, since sessions begin in the order of their ids, and events are
     * mostly of late ones. */
    for (size_t i = model->tenant_count; i > 0; i--) {
        if (model->tenant[i - 1].session == session)
            return &model->tenant[i - 1];
    }
    return NULL;
}

const struct trace_tenant *trace_tenant(const struct trace_model *model, uint64_t session)
{
    const struct trace_tenant *tenant = tenant_find(model, session);

    return tenant && tenant->wanted ? tenant : NULL;
}

static bool tenant_wanted(const struct making *m, const struct trace_tenant *tenant)
{
    for (unsigned i = 0; i < m->wanted_count; i++) {
        const char *word = m->wanted[i];
        uid_t uid;

        if (isdigit((unsigned char)*word)) {
            const uint64_t number = strtoull(word, NULL, 10);
            if (number == tenant->session || (tenant->pid && number == (uint64_t)tenant->pid))
                return true;
        } else if (tenant->known && user_parse(word, &uid) && uid == tenant->uid) {
            return true;
        }
    }
    return m->wanted_count == 0;
}

static struct trace_tenant *tenant_get(struct making *m, const struct trace_record *r)
{
    struct trace_model *model = m->model;
    struct trace_tenant *tenant = tenant_find(model, r->event.session);

    if (tenant)
        return tenant;
    if (model->tenant_count == m->tenant_room) {
        m->tenant_room = m->tenant_room ? 2 * m->tenant_room : 16;
        model->tenant = memory_more(model->tenant, m->tenant_room, sizeof(*model->tenant));
        m->open = memory_more(m->open, m->tenant_room, sizeof(*m->open));
    }
    memset(m->open[model->tenant_count], 0, sizeof(*m->open));
    tenant = &model->tenant[model->tenant_count++];
    *tenant = (struct trace_tenant){
        .session = r->event.session, .device = r->device, .to_ns = model->log->end_ns};
    snprintf(tenant->title, sizeof(tenant->title), "session %llu",
             (unsigned long long)tenant->session);
    snprintf(tenant->name, sizeof(tenant->name), "?");
    tenant->wanted = tenant_wanted(m, tenant);
    return tenant;
}

static void tenant_describe(struct making *m, const struct trace_record *r)
{
    struct trace_tenant *tenant = tenant_get(m, r);
    char user[FORMAT_MAX];

    tenant->known = true;
    tenant->uid = r->event.u.session.uid;
    tenant->pid = r->event.u.session.pid;
    tenant->cls = r->event.u.session.cls;
    snprintf(tenant->name, sizeof(tenant->name), "%s", r->event.v.text);
    snprintf(tenant->title, sizeof(tenant->title), "%s (session %llu of %s)", tenant->name,
             (unsigned long long)tenant->session, format_user(user, tenant->uid));
    tenant->wanted = tenant_wanted(m, tenant);
}

/* ---- Spans ----------------------------------------------------------------------------------- */

static struct trace_span *span_open(struct making *m, struct open_spans *open,
                                    const struct trace_span *span)
{
    struct trace_model *model = m->model;

    if (model->span_count == m->span_room) {
        m->span_room = m->span_room ? 2 * m->span_room : 1024;
        model->span = memory_more(model->span, m->span_room, sizeof(*model->span));
    }
    if (open->count == open->room) {
        open->room = open->room ? 2 * open->room : 8;
        open->span = memory_more(open->span, open->room, sizeof(*open->span));
    }
    model->span[model->span_count] = *span;
    open->span[open->count++] = (uint32_t)model->span_count;
    return &model->span[model->span_count++];
}

static struct trace_span *span_get(struct making *m, struct trace_tenant *tenant,
                                   const struct trace_event *e)
{
    const uint32_t index = (uint32_t)(tenant - m->model->tenant);
    struct open_spans *open = &m->open[index][e->u.work.stream];
    const struct trace_span span = {.tenant = index,
                                    .stream = e->u.work.stream,
                                    .fence = e->u.work.fence,
                                    .issued_ns = e->begin_ns,
                                    .begin_ns = e->begin_ns};

    if (open->count > 0 && m->model->span[open->span[open->count - 1]].fence == span.fence)
        return &m->model->span[open->span[open->count - 1]];
    return span_open(m, open, &span);
}

static void kernel_add(struct trace_span *span, const char *name, uint32_t count)
{
    for (uint32_t i = 0; i < TRACE_SPAN_KERNELS; i++) {
        if (!span->kernel[i].name)
            span->kernel[i].name = name;
        if (!strcmp(span->kernel[i].name, name)) {
            span->kernel[i].count += count;
            return;
        }
    }
}

static void issued_add(struct making *m, const struct trace_record *r)
{
    struct trace_tenant *tenant = tenant_get(m, r);
    const struct trace_event *e = &r->event;

    if (e->u.work.stream >= SEG_STREAMS)
        return;
    struct trace_span *span = span_get(m, tenant, e);
    span->end_ns = e->end_ns;
    switch (e->work) {
    case REC_LAUNCH:
        span->launches += e->u.work.count;
        span->sms = e->u.work.sms;
        span->partition = e->u.work.partition;
        kernel_add(span, e->v.text, e->u.work.count);
        tenant->launches += e->u.work.count;
        break;
    case REC_COPY:
    case REC_MEMSET:
        span->copies += e->work == REC_COPY;
        span->memsets += e->work == REC_MEMSET;
        span->bytes += e->amount;
        break;
    case REC_GRAPH:
    case REC_GEMM: /* kernels without a name, as a graph's */
        span->graphs++;
        break;
    case REC_WAIT:
        span->waits++;
        break;
    default:
        span->events++;
        break;
    }
    tenant->streams |= UINT64_C(1) << span->stream;
}

/* Ends a span. Work issued before the trace began has no span, and is not drawn. */
static void ended_add(struct making *m, const struct trace_record *r)
{
    struct trace_tenant *tenant = tenant_get(m, r);
    const struct trace_event *e = &r->event;

    if (e->u.work.stream >= SEG_STREAMS)
        return;
    struct open_spans *open = &m->open[tenant - m->model->tenant][e->u.work.stream];
    for (uint32_t i = 0; i < open->count; i++) {
        struct trace_span *span = &m->model->span[open->span[i]];
        if (span->fence != e->u.work.fence)
            continue;
        /* The worker may have corrected the relation of the clocks since the previous end. */
        span->begin_ns = e->begin_ns > open->end_ns ? e->begin_ns : open->end_ns;
        span->end_ns = e->end_ns > span->begin_ns ? e->end_ns : span->begin_ns;
        open->end_ns = span->end_ns;
        span->charged_ns = e->amount;
        span->ended = true;
        /* A stream's spans end in order, so the end events of earlier spans were lost. */
        for (uint32_t k = 0; k < i; k++)
            m->model->span[open->span[k]].end_ns = m->model->span[open->span[k]].begin_ns;
        open->count -= i + 1;
        memmove(open->span, &open->span[i + 1], open->count * sizeof(*open->span));
        return;
    }
}

/* Ends the unfinished spans of a stream: each at the next one's issue, and the last at the end of
 * its session, of its worker, or of the trace. */
static void stream_abandon(struct making *m, struct open_spans *open, uint64_t end_ns)
{
    struct trace_span *before = NULL;

    for (uint32_t i = 0; i < open->count; i++) {
        struct trace_span *span = &m->model->span[open->span[i]];

        if (span->begin_ns < open->end_ns)
            span->begin_ns = open->end_ns;
        if (before)
            before->end_ns = span->begin_ns;
        open->end_ns = span->begin_ns;
        before = span;
    }
    if (before)
        open->end_ns = before->end_ns = end_ns > before->begin_ns ? end_ns : before->begin_ns;
    open->count = 0;
}

static void tenant_abandon(struct making *m, size_t tenant, uint64_t end_ns)
{
    for (uint32_t s = 0; s < SEG_STREAMS; s++)
        stream_abandon(m, &m->open[tenant][s], end_ns);
}

static void detached_add(struct making *m, const struct trace_record *r)
{
    struct trace_tenant *tenant = tenant_get(m, r);

    tenant->to_ns = r->event.at_ns;
    tenant_abandon(m, (size_t)(tenant - m->model->tenant), tenant->to_ns);
}

/* Ends the unfinished spans of a device whose worker is lost, since the next worker counts fences
 * anew. */
static void lost_add(struct making *m, const struct trace_record *r)
{
    for (size_t i = 0; i < m->model->tenant_count; i++) {
        if (m->model->tenant[i].device == r->device)
            tenant_abandon(m, i, r->event.at_ns);
    }
}

static void making_deinit(struct making *m)
{
    for (size_t t = 0; t < m->model->tenant_count; t++) {
        tenant_abandon(m, t, m->model->tenant[t].to_ns);
        for (uint32_t s = 0; s < SEG_STREAMS; s++)
            free(m->open[t][s].span);
    }
    free(m->open);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static int order_compare(const void *a, const void *b)
{
    const struct trace_record *x = *(const struct trace_record *const *)a;
    const struct trace_record *y = *(const struct trace_record *const *)b;

    if (x->event.at_ns != y->event.at_ns)
        return x->event.at_ns < y->event.at_ns ? -1 : 1;
    return x < y ? -1 : x > y; /* records of one ring are in the order of writing */
}

static void record_add(struct making *m, const struct trace_record *r)
{
    switch (r->event.kind) {
    case TRACE_PRESENT:
    case TRACE_ATTACHED:
        tenant_describe(m, r);
        break;
    case TRACE_DETACHED:
        detached_add(m, r);
        break;
    case TRACE_LOST:
        lost_add(m, r);
        break;
    case TRACE_ISSUED:
        issued_add(m, r);
        break;
    case TRACE_ENDED:
        ended_add(m, r);
        break;
    case TRACE_GRANTED:
    case TRACE_FETCHED:
        tenant_get(m, r);
        break;
    default:
        break;
    }
}

void trace_model_init(struct trace_model *model, const struct trace_log *log,
                      const char *const *wanted, unsigned wanted_count)
{
    struct making m = {.model = model, .wanted = wanted, .wanted_count = wanted_count};

    *model = (struct trace_model){.log = log};
    model->order = memory_more(NULL, log->count + 1, sizeof(*model->order));
    for (size_t i = 0; i < log->count; i++)
        model->order[i] = &log->record[i];
    qsort(model->order, log->count, sizeof(*model->order), order_compare);
    for (size_t i = 0; i < log->count; i++)
        record_add(&m, model->order[i]);
    making_deinit(&m);
}

void trace_model_deinit(struct trace_model *model)
{
    free(model->order);
    free(model->tenant);
    free(model->span);
}

bool trace_span_works(const struct trace_span *span)
{
    return span->launches + span->copies + span->memsets + span->graphs > 0;
}

static void name_add(char name[TRACE_NAME_MAX], const char *what, uint32_t count)
{
    const size_t length = strlen(name);
    const char *comma = length ? ", " : "";

    if (count == 1)
        snprintf(name + length, TRACE_NAME_MAX - length, "%s%s", comma, what);
    else if (count > 1)
        snprintf(name + length, TRACE_NAME_MAX - length, "%s%s x%u", comma, what, count);
}

const char *trace_span_name(const struct trace_span *span, char name[TRACE_NAME_MAX])
{
    uint32_t others = span->launches;
    char bytes[FORMAT_MAX], text[FORMAT_MAX + 16];

    name[0] = 0;
    for (uint32_t i = 0; i < TRACE_SPAN_KERNELS && span->kernel[i].name; i++) {
        name_add(name, span->kernel[i].name, span->kernel[i].count);
        others -= span->kernel[i].count;
    }
    name_add(name, "others", others);
    size_rounded(bytes, span->bytes);
    snprintf(text, sizeof(text), "%s %s", span->copies ? "copy" : "memset", bytes);
    name_add(name, text, span->copies + span->memsets ? 1 : 0);
    name_add(name, "graph", span->graphs);
    name_add(name, "wait", span->waits);
    name_add(name, "event", span->events);
    return name;
}
