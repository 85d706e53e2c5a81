/*
 * top.h - what the files of `gsctl top` share: top_row.c has the rows and columns, top_sample.c
 * asks the server for them and prints them as JSON, top.c draws them.
 */
#ifndef GS_GSCTL_TOP_TOP_H
#define GS_GSCTL_TOP_TOP_H

#include "gsctl/base/format.h"
#include "gsctl/base/options.h"

/* Returns the exit status. */
int command_top(struct control *control, const struct command_options *options);

/* A tenant, and its activity since the previous sample. */
struct top_row {
    struct ctl_tenant t;
    double gpu, launches, copied; /* per second; gpu: in seconds */
    uint64_t p50, p99, wait_p99;  /* of launches that ended in that time; 0: none */
    uint64_t limit;               /* its memory limit; the device's memory if it has none */
    uint32_t faults;              /* workers lost by its user's sessions */
};

/* The keys that sort, in the order of enum top_sort, a blank between two. */
#define TOP_SORTS "n s g l m p d x"
enum top_sort {
    TOP_SESSION,
    TOP_SMS,
    TOP_GPU,
    TOP_LAUNCHES,
    TOP_MEMORY,
    TOP_LATENCY,
    TOP_DEPTH,
    TOP_STRAYS
};

int top_by_session(const void *a, const void *b); /* of struct ctl_tenant */
/* Makes a row. `last`: the tenants of the previous sample, sorted by session; `ns`: the time since
 * then. */
struct top_row top_row_make(const struct ctl_tenant *t, const struct ctl_tenant *last,
                            size_t last_count, uint64_t ns, const struct ctl_status_reply *status);
/* Sorts the rows, the largest on top; equal rows by session. */
void top_rows_sort(struct top_row *row, size_t count, enum top_sort sort, bool reversed);

/* Columns in the order of the line. */
struct top_column {
    const char *title;
    int width; /* below 0: aligned to the left */
    int from;  /* the least width of a terminal that shows it */
    void (*text)(char out[FORMAT_MAX], const struct top_row *row);
};
#define TOP_PIDS_FROM 120 /* terminals of this width show pids */
extern const struct top_column top_columns[];
extern const size_t top_column_count;

/* ---- top_sample.c ---------------------------------------------------------------------------- */

struct top_sample {
    struct control *control;
    struct ctl_status_reply status;
    struct top_row *row; /* the wanted rows, sorted */
    size_t count;
    struct ctl_tenant *last; /* of the previous sample, by session */
    size_t last_count;
    uint64_t last_ns;
    uint64_t span_ns; /* since the previous sample; 0: there was none */
    enum top_sort sort;
    bool reversed;
    bool filtered; /* only the tenants of this user */
    uid_t user;
};
/* Returns a sample that has not been taken yet. */
struct top_sample top_sample_of(struct control *control, const struct command_options *options);
gs_status top_sample_take(struct top_sample *sample, char message[REQUEST_MESSAGE_MAX]);
void top_sample_sort(struct top_sample *sample);
void top_sample_deinit(struct top_sample *sample);
/* Runs `gsctl top --json`: prints the tenants' activity in a second, or repeatedly with --watch.
 * Returns the exit status. */
int top_json(struct control *control, const struct command_options *options);

#endif
