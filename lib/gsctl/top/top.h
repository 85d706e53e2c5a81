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

/* A tenant, and what it did since the sample before. */
struct top_row {
    struct ctl_tenant t;
    double gpu, launches, copied; /* a second; gpu: seconds */
    uint64_t p50, p99, wait_p99;  /* of launches that ended meanwhile; 0: none did */
    uint64_t limit;               /* of its memory; the device's where it has none */
    uint32_t faults;              /* workers that were lost by its user's sessions */
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
/* last: the tenants of the sample before, by session; ns: how long ago that was. */
struct top_row top_row_make(const struct ctl_tenant *t, const struct ctl_tenant *last,
                            size_t last_count, uint64_t ns, const struct ctl_status_reply *status);
/* The largest on top; those that are equal, by session. */
void top_rows_sort(struct top_row *row, size_t count, enum top_sort sort, bool reversed);

/* Columns in the order of the line. */
struct top_column {
    const char *title;
    int width; /* below 0: aligned to the left */
    int from;  /* the columns of a terminal from which on it is shown */
    void (*text)(char out[FORMAT_MAX], const struct top_row *row);
};
#define TOP_PIDS_FROM 120 /* terminals of so many columns show pids */
extern const struct top_column top_columns[];
extern const size_t top_column_count;

/* ---- top_sample.c ---------------------------------------------------------------------------- */

struct top_sample {
    struct control *control;
    struct ctl_status_reply status;
    struct top_row *row; /* those wanted, sorted */
    size_t count;
    struct ctl_tenant *last; /* of the sample before, by session */
    size_t last_count;
    uint64_t last_ns;
    uint64_t span_ns; /* since the sample before; 0: there was none */
    enum top_sort sort;
    bool reversed;
    bool filtered; /* only the tenants of this user */
    uid_t user;
};
/* One that no sample has been taken of. */
struct top_sample top_sample_of(struct control *control, const struct command_options *options);
gs_status top_sample_take(struct top_sample *sample, char message[REQUEST_MESSAGE_MAX]);
void top_sample_sort(struct top_sample *sample);
void top_sample_deinit(struct top_sample *sample);
/* `gsctl top --json`: what the tenants did in a second, or again and again in --watch's time.
 * Returns the exit status. */
int top_json(struct control *control, const struct command_options *options);

#endif
