/* report.h - lines to stderr, as libgshare writes them: $GSHARE_LOG names the level. */
#ifndef GS_CUDART_REPORT_H
#define GS_CUDART_REPORT_H

/* Reports a problem to the program's user. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* As report_error, unless the process has written this line before. */
void report_once(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes a line with GSHARE_LOG=debug only. */
void report_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_debug_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
