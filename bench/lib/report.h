/*
 * report.h - the results as people and programs read them: a table of 100 columns, JSON, and all
 * raw figures. report_lines is the one place that knows which figures are shown and what the goals
 * are.
 */
#ifndef GS_BENCH_REPORT_H
#define GS_BENCH_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "lib/cell.h"

/* A row of measurements and what became of it. */
struct row {
    const char *name, *title;
    void (*measure)(void);
    unsigned sides;       /* SIDE_BIT: measured on these */
    unsigned quick_sides; /* with --quick */
    unsigned timeout_s;   /* of one side */
    bool gpu_only;        /* tells nothing on the software device */
    bool settled;         /* gshared has its standby before the measurement */
    bool chosen;
    double seconds; /* all of it: with the start and the end of what a side needs */
    struct board *board[SIDE_COUNT]; /* NULL: not measured */
};

struct run_info {
    const struct facts *facts;
    const char *revision; /* of the source; "" unknown */
    char when[32];
    long cpus;
    bool quick, mps;
    double seconds;
};

extern const char *const side_names[SIDE_COUNT];

void report_table(FILE *out, const struct run_info *info, const struct row *rows, size_t count);
void report_json(FILE *out, const struct run_info *info, const struct row *rows, size_t count);
void report_raw(FILE *out, const struct run_info *info, const struct row *rows, size_t count);

#endif
