/* log_json.h - `gsctl log --json`: an object a line, with "time", "program", "process" (of the
 * process that wrote it), and either "event" and the line's other keys, or "message". */
#ifndef GS_GSCTL_SHOW_LOG_JSON_H
#define GS_GSCTL_SHOW_LOG_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of a log that have not become a whole line yet. Starts zeroed. */
struct log_json {
    bool of_journal; /* lines are journalctl's, in its form short-iso-precise */
    size_t length;
    char line[4096];
};
/* Prints the lines that these bytes complete. */
void log_json_bytes(struct log_json *json, const char *bytes, size_t size);

#endif
