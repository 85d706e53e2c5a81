/*
 * trace.h - the parts of `gsctl trace`: trace.c runs it, trace_take.c reads the servers' rings,
 * trace_model.c turns the events into tenants and spans, trace_json.c writes them for Perfetto,
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
    bool full; /* it has as many records as it can keep */
    bool silence_announced;
    uint64_t lost; /* events that were overwritten before they were read */
    uint64_t begin_ns, end_ns;
    struct ctl_status_reply status;
    struct trace_source {
        struct trace_segment *segment; /* NULL: none */
        int32_t id;
        bool writes; /* its worker has written that it writes events */
        uint64_t next[TRACE_RINGS];
    } source[TRACE_DEVICES_MAX];
};

/* Begins a trace of each device of the server. On failure no trace is left. */
gs_status trace_log_begin(struct control *control, struct trace_log *log,
                          char message[REQUEST_MESSAGE_MAX]);
/* Reads events until until_ns, or until *stop is set or the log is full, and ends the traces. On a
 * failure (such as the server's end) the log keeps the events read so far. */
gs_status trace_log_run(struct control *control, struct trace_log *log, uint64_t until_ns,
                        const volatile sig_atomic_t *stop, char message[REQUEST_MESSAGE_MAX]);
/* Prints, once, the devices whose workers have written nothing so far. Returns false if there is
 * none. */
bool trace_silent_tell(struct trace_log *log);
/* Ends the traces if trace_log_run was not called. */
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
    uint64_t streams; /* bits of the streams with spans */
    uint64_t launches;
    uint64_t to_ns; /* when it detached, or when the trace ended */
};

#define TRACE_SPAN_KERNELS 4u
/* A span: the device's work for one fence of a stream. */
struct trace_span {
    uint32_t tenant; /* index */
    uint32_t stream, fence;
    uint64_t issued_ns;         /* the first driver call for it */
    uint64_t begin_ns, end_ns;  /* on the device */
    uint64_t charged_ns, bytes; /* bytes of copies and memsets */
    uint32_t launches, copies, memsets, graphs, waits, events;
    uint32_t sms, partition; /* of the last launch */
    bool ended;              /* false: it had not ended when the trace or its session ended */
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

/* Makes the model of a log. `wanted`: the words of --tenant; none: all tenants. Ends the program if
 * there is no memory. */
void trace_model_init(struct trace_model *model, const struct trace_log *log,
                      const char *const *wanted, unsigned wanted_count);
void trace_model_deinit(struct trace_model *model);
/* Returns the tenant of a session; NULL: none, or not wanted. */
const struct trace_tenant *trace_tenant(const struct trace_model *model, uint64_t session);
/* Returns whether the span has work other than events and waits. */
bool trace_span_works(const struct trace_span *span);
/* "scale x8, copy 4 KiB" */
#define TRACE_NAME_MAX 320
const char *trace_span_name(const struct trace_span *span, char name[TRACE_NAME_MAX]);

/* ---- trace_json.c, trace_svg.c --------------------------------------------------------------- */

/* Prints the model in Chrome's trace format to standard output. */
void trace_json_print(const struct trace_model *model);
/* Prints a picture of the model as SVG. */
void trace_svg_print(const struct trace_model *model, FILE *out);

#endif
