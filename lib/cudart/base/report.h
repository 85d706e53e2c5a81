/* report.h - lines to stderr, as libgshare writes them: $GSHARE_LOG names the level. */
#ifndef GS_CUDART_REPORT_H
#define GS_CUDART_REPORT_H

/* For who runs the program: what keeps it from working. */
void report_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, but not again where the process has said this line before. */
void report_once(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* For who asks with GSHARE_LOG=debug. */
void report_debug(const char *format, ...) __attribute__((format(printf, 1, 2)));
void report_debug_once(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
