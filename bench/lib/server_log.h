/* server_log.h - what a gshared of a cell says in its log; in the cell, not in its tenants. */
#ifndef GS_BENCH_SERVER_LOG_H
#define GS_BENCH_SERVER_LOG_H

#include <stddef.h>
#include <stdio.h>

/* Opens the log; fails the cell where there is none. */
FILE *server_log_open(const char *path);

/* Reads on to a line with the text, which comes within 30 s, else the cell fails; `rest` is called
 * each millisecond meanwhile, and may be NULL. */
void server_log_await(FILE *log, const char *text, char *line, size_t size, void (*rest)(void));

/* The same for the line of a standby that is ready. The server logs at level debug. */
void server_log_standby(FILE *log, void (*rest)(void));

#endif
