/* report_lines.h - the lines of the table, with their goals; see report.h. */
#ifndef GS_BENCH_REPORT_LINES_H
#define GS_BENCH_REPORT_LINES_H

#include <stddef.h>

#include "lib/cell.h"

enum unit {
    UNIT_TIME,  /* nanoseconds */
    UNIT_RATE,  /* a second */
    UNIT_GB,    /* bytes a second, shown in GB/s */
    UNIT_BYTES, /* shown in MiB */
    UNIT_RATIO,
    UNIT_COUNT,
    UNIT_PERCENT, /* a share, shown in percent */
};

enum goal_kind {
    GOAL_NONE,
    GOAL_AT_MOST, /* gshare's value */
    GOAL_AT_LEAST,
    GOAL_RATIO_AT_MOST, /* gshare's value by that of another side in the same run */
    GOAL_RATIO_AT_LEAST,
    GOAL_SOFT_AT_MOST, /* the software device's value, under native: judged wherever it runs */
    GOAL_SOFT_AT_LEAST,
};

/* The machines that a line is for: with one NUMA node or several, the goals differ. */
enum goal_host { HOST_ANY, HOST_ONE_NODE, HOST_NODES };

struct goal {
    enum goal_kind kind;
    double bound;
    enum side against;
    enum goal_host host;
};

struct line {
    const char *row, *text, *metric;
    enum unit unit;
    struct goal goal;
};

extern const struct line report_lines[];
extern const size_t report_line_count;

#endif
