/* rows.h - the measurements, each in a file of its own; see bench.c for the table of them. Each
 * runs in a cell for one side at a time, and notes its results by name for report_lines.c. */
#ifndef GS_BENCH_ROWS_H
#define GS_BENCH_ROWS_H

void row_attach(void);
void row_launch(void);
void row_trip(void);
void row_rate(void);
void row_many(void);
void row_long(void);
void row_copies(void);
void row_memory(void);
void row_crowd(void);
void row_idle(void);
void row_neighbour(void);
void row_alloc(void);
void row_partition(void);
void row_request(void);
void row_weights(void);
void row_accounting(void);
void row_takeover(void);
void row_faults(void);
void row_operator(void);
void row_standby(void);
void row_fenceload(void);
void row_soft(void);

#endif
