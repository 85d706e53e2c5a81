/* trace_take.c - reads the rings of the server's trace segments; see trace.h. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <time.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/memory.h"
#include "gsctl/trace/trace.h"

#define KEEP_NS     500000000u  /* between two renewals of the traces */
#define WRITES_NS   1000000000u /* the time in which a worker that writes events says so */
#define LOOK_NS     2000000     /* between two reads of rings that were empty */
/* The most records kept: some 400 MB of JSON, about as much as a browser can open. */
#define RECORDS_MAX 2000000u

static gs_status trace_ask(struct control *control, uint32_t device, enum ctl_trace_action action,
                           int32_t *id, char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_trace request = {
        .device = (int32_t)device, .action = (uint32_t)action, .segment_id = *id};
    struct ctl_trace_reply reply;
    gs_status status = control_ask(control, &request.h, CTL_TRACE, sizeof(request), &reply,
                                   sizeof(reply), ask_deadline(), message);

    if (status == GS_OK)
        *id = reply.segment_id;
    return status;
}

/* Maps a trace segment, and checks it, since the server may be another user's, whom root need not
 * trust. */
static gs_status segment_map(struct trace_source *source, char message[REQUEST_MESSAGE_MAX])
{
    struct shmid_ds ds;
    struct trace_segment *segment = shmat(source->id, NULL, SHM_RDONLY);

    if (segment == (void *)-1) {
        snprintf(message, REQUEST_MESSAGE_MAX, "the trace cannot be mapped: %s", strerror(errno));
        return GS_ERR_SYSTEM;
    }
    if (shmctl(source->id, IPC_STAT, &ds) < 0 || ds.shm_segsz < sizeof(*segment) ||
        segment->magic != WIRE_MAGIC || segment->version != WIRE_VERSION) {
        shmdt(segment);
        snprintf(message, REQUEST_MESSAGE_MAX, "the server's trace has not the size of one");
        return GS_ERR_PROTOCOL;
    }
    source->segment = segment;
    return GS_OK;
}

gs_status trace_log_begin(struct control *control, struct trace_log *log,
                          char message[REQUEST_MESSAGE_MAX])
{
    char ignored[REQUEST_MESSAGE_MAX];

    *log = (struct trace_log){.begin_ns = clock_ns()};
    gs_status status = status_read(control, &log->status, message);
    for (uint32_t i = 0; status == GS_OK && i < log->status.device_count; i++) {
        struct trace_source *source = &log->source[i];

        status = trace_ask(control, i, CTL_TRACE_BEGIN, &source->id, message);
        if (status != GS_OK)
            break;
        status = segment_map(source, message);
        if (status != GS_OK)
            trace_ask(control, i, CTL_TRACE_END, &source->id, ignored);
    }
    if (status != GS_OK)
        trace_log_end(control, log);
    return status;
}

static struct trace_record *record_add(struct trace_log *log)
{
    if (log->count == log->room) {
        log->room = log->room ? 2 * log->room : 65536;
        log->record = memory_more(log->record, log->room, sizeof(*log->record));
    }
    return &log->record[log->count++];
}

/* Takes all events of the device's rings. Returns false if the rings were empty. */
static bool source_take(struct trace_log *log, uint32_t device)
{
    struct trace_source *source = &log->source[device];
    const size_t before = log->count;
    struct trace_event event;

    for (uint32_t ring = 0; source->segment && ring < TRACE_RINGS; ring++) {
        while (log->count < RECORDS_MAX &&
               trace_ring_take(&source->segment->ring[ring], &source->next[ring], &event,
                               &log->lost)) {
            event.v.text[TRACE_TEXT - 1] = 0;
            source->writes = source->writes || event.kind == TRACE_WORKER;
            *record_add(log) = (struct trace_record){event, device, ring};
        }
    }
    log->full = log->count == RECORDS_MAX;
    return log->count > before;
}

static bool all_take(struct trace_log *log)
{
    bool any = false;

    for (uint32_t i = 0; i < log->status.device_count; i++)
        any = source_take(log, i) || any;
    return any;
}

static gs_status all_keep(struct control *control, struct trace_log *log,
                          char message[REQUEST_MESSAGE_MAX])
{
    gs_status status = GS_OK;

    for (uint32_t i = 0; status == GS_OK && i < log->status.device_count; i++)
        status = trace_ask(control, i, CTL_TRACE_KEEP, &log->source[i].id, message);
    return status;
}

static bool all_write(const struct trace_log *log)
{
    for (uint32_t i = 0; i < log->status.device_count; i++) {
        if (!log->source[i].writes && log->status.device[i].state == CTL_DEVICE_READY)
            return false;
    }
    return true;
}

bool trace_silent_tell(struct trace_log *log)
{
    bool any = false;

    for (uint32_t i = 0; i < log->status.device_count; i++) {
        if (log->source[i].writes)
            continue;
        any = true;
        if (log->silence_announced)
            continue;
        fprintf(stderr,
                "gsctl: device %u: its worker %s: the trace has nothing of what it does; see gsctl "
                "status\n",
                i, log->status.device[i].worker_pid ? "does not answer" : "is gone");
    }
    log->silence_announced = any;
    return any;
}

gs_status trace_log_run(struct control *control, struct trace_log *log, uint64_t until_ns,
                        const volatile sig_atomic_t *stop, char message[REQUEST_MESSAGE_MAX])
{
    uint64_t keep_ns = clock_ns() + KEEP_NS, now = clock_ns();
    gs_status status = GS_OK;
    bool said = false;

    while (status == GS_OK && !*stop && now < until_ns && !log->full) {
        const bool any = all_take(log);

        if (!said && (all_write(log) || now > log->begin_ns + WRITES_NS)) {
            fputs("gsctl: tracing\n", stderr);
            if (!all_write(log))
                trace_silent_tell(log);
            said = true;
        }
        if (!any)
            nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
        now = clock_ns();
        if (now >= keep_ns) {
            status = all_keep(control, log, message);
            keep_ns = now + KEEP_NS;
        }
    }
    all_take(log);
    log->end_ns = clock_ns();
    trace_log_end(control, log);
    return status;
}

void trace_log_end(struct control *control, struct trace_log *log)
{
    char ignored[REQUEST_MESSAGE_MAX];

    for (uint32_t i = 0; i < log->status.device_count; i++) {
        struct trace_source *source = &log->source[i];

        if (!source->segment)
            continue;
        trace_ask(control, i, CTL_TRACE_END, &source->id, ignored);
        shmdt(source->segment);
        source->segment = NULL;
    }
}

void trace_log_deinit(struct trace_log *log)
{
    free(log->record);
}
