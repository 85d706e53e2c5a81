/*
 * trace.h - the parts of `gsctl trace`: trace.c runs it, trace_take.c reads the servers' rings,
 * trace_model.c makes tenants and spans of the events, trace_json.c writes them for Perfetto,
 * trace_svg.c draws them.
 *
 * All times are clock_ns() of this machine, which the server shares.
 */
#ifndef GS_GSCTL_TRACE_TRACE_H
#define GS_GSCTL_TRACE_TRACE_H

#include <signal.h>
#include <stdio.h>

#include "common/trace.h"
#include "gsctl/base/options.h"

/* Returns the exit status. */
int command_trace(struct control *control, const struct command_options *options);

/* ---- trace_take.c: events as they come ------------------------------------------------------- */

#define TRACE_DEVICES_MAX 8u

struct trace_record {
    struct trace_event event;
    uint32_t device, ring;
};
struct trace_log {
    struct trace_record *record;
    size_t count, room;
    bool full; /* it has as many as it can keep */
    bool silence_announced;
    uint64_t lost; /* events that were overwritten before they were read */
    uint64_t begin_ns, end_ns;
    struct ctl_status_reply status;
    struct trace_source {
        struct trace_segment *segment; /* NULL: none */
        int32_t id;
        bool writes; /* its worker has said that it does */
        uint64_t next[TRACE_RINGS];
    } source[TRACE_DEVICES_MAX];
};

/* Begins a trace of each device of the server. On failure nothing is left. */
gs_status trace_log_begin(struct control *control, struct trace_log *log,
                          char message[REQUEST_MESSAGE_MAX]);
/* Reads until the time has come, *stop is set, or the log is full, and ends the traces. A failure
 * (the server has gone, say) leaves what was read. */
gs_status trace_log_run(struct control *control, struct trace_log *log, uint64_t until_ns,
                        const volatile sig_atomic_t *stop, char message[REQUEST_MESSAGE_MAX]);
/* Says, once, whose workers have written nothing so far. false: none. */
bool trace_silent_tell(struct trace_log *log);
/* Ends the traces, which trace_log_run has done where it was called. */
void trace_log_end(struct control *control, struct trace_log *log);
void trace_log_deinit(struct trace_log *log);

/* ---- trace_model.c: tenants, spans ----------------------------------------------------------- */

struct trace_tenant {
    uint64_t session;
    uint32_t device;
    uint32_t uid, cls; /* where known */
    int32_t pid;       /* 0: not known */
    bool known;
    bool wanted; /* --tenant */
    char name[TRACE_TEXT];
    char title[128];  /* "train (session 17 of alice)" */
    uint64_t streams; /* bits: those with spans */
    uint64_t launches;
    uint64_t to_ns; /* when it detached, or the trace ended */
};

#define TRACE_SPAN_KERNELS 4u
/* What the device did for one fence of a stream. */
struct trace_span {
    uint32_t tenant; /* index */
    uint32_t stream, fence;
    uint64_t issued_ns;         /* the first driver call for it */
    uint64_t begin_ns, end_ns;  /* on the device */
    uint64_t charged_ns, bytes; /* of copies and memsets */
    uint32_t launches, copies, memsets, graphs, waits, events;
    uint32_t sms, partition; /* of the last launch */
    bool ended;              /* false: it had not ended when the trace, or its session, did */
    struct {
        const char *name;
        uint32_t count;
    } kernel[TRACE_SPAN_KERNELS]; /* the first ones; names in the log */
};

struct trace_model {
    const struct trace_log *log;
    const struct trace_record **order; /* all records, as they were written */
    struct trace_tenant *tenant;
    size_t tenant_count;
    struct trace_span *span;
    size_t span_count;
};

/* wanted: words of --tenant; none: everybody. Ends the program where there is no memory. */
void trace_model_init(struct trace_model *model, const struct trace_log *log,
                      const char *const *wanted, unsigned wanted_count);
void trace_model_deinit(struct trace_model *model);
/* The tenant of a session; NULL: none, or not wanted. */
const struct trace_tenant *trace_tenant(const struct trace_model *model, uint64_t session);
/* Whether the device had anything to do but events and waits. */
bool trace_span_works(const struct trace_span *span);
/* "scale x8, copy 4 KiB" */
#define TRACE_NAME_MAX 320
const char *trace_span_name(const struct trace_span *span, char name[TRACE_NAME_MAX]);

/* ---- trace_json.c, trace_svg.c --------------------------------------------------------------- */

/* Chrome's trace format, on standard output. */
void trace_json_print(const struct trace_model *model);
/* A picture, as SVG. */
void trace_svg_print(const struct trace_model *model, FILE *out);

#endif
