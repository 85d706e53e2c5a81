/* log_json.h - `gsctl log --json`: prints an object for each line, with "time", "program",
 * "process" (the pid of the writer), and either "event" and the line's other keys, or "message". */
#ifndef GS_GSCTL_SHOW_LOG_JSON_H
#define GS_GSCTL_SHOW_LOG_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* The bytes of a log's incomplete last line. Initially zero. */
struct log_json {
    bool of_journal; /* lines are journalctl's, in its form short-iso-precise */
    size_t length;
    char line[4096];
};
/* Adds bytes, and prints the lines that they complete. */
void log_json_bytes(struct log_json *json, const char *bytes, size_t size);

#endif
