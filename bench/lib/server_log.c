/* server_log.c - see server_log.h. */
#include "lib/server_log.h"

#include <poll.h>
#include <string.h>

#include "common/util.h"
#include "lib/cell.h"

#define AWAIT_NS 30000000000u

FILE *server_log_open(const char *path)
{
    FILE *log = fopen(path, "re");

    if (log == NULL)
        cell_fail("%s cannot be read", path);
    return log;
}

void server_log_await(FILE *log, const char *text, char *line, size_t size, void (*rest)(void))
{
    const uint64_t deadline = clock_ns() + AWAIT_NS;

    while (clock_ns() < deadline) {
        if (fgets(line, (int)size, log) == NULL) {
            clearerr(log);
            poll(NULL, 0, 1);
            if (rest != NULL)
                rest();
        } else if (strstr(line, text) != NULL) {
            return;
        }
    }
    cell_fail("the server's log does not say '%s'", text);
}

void server_log_standby(FILE *log, void (*rest)(void))
{
    char line[512];

    server_log_await(log, "is its standby", line, sizeof(line), rest);
}
