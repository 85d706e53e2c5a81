/*
 * busy.c - names the session that keeps the device busy, and the command that ends it, to a tenant
 * whose request waits in vain for a moment without kernels, and to the operator. In a server that a
 * user runs, kernels have no time limit by default, so that command is the way out. The text has
 * only the session's number; gsctl ps tells whose session it is to those who may see that.
 *
 * Runs on the main lane.
 */
#include "worker/session/busy.h"

#include <stdio.h>

#include "common/util.h"
#include "worker/sched/session_table.h"
#include "worker/submit/stream.h"

/* A session's kernel counts as long if the session last issued work longer ago than this. More
 * recent work may be one of many short kernels. */
#define LONG_NS 1000000000u

const char *busy_describe(char text[BUSY_TEXT_MAX])
{
    const struct session *oldest = NULL;
    const uint64_t now = clock_ns();
    uint32_t others = 0;
    int n;

    for (const struct session *s = session_table_next(NULL); s; s = session_table_next(s)) {
        if (session_elsewhere(s) || !session_may_run(s))
            continue;
        others += oldest != NULL;
        if (!oldest || s->poll.given_ns < oldest->poll.given_ns)
            oldest = s;
    }
    if (!oldest) {
        snprintf(text, BUSY_TEXT_MAX, "some ran on and on");
        return text;
    }
    if (now > oldest->poll.given_ns + LONG_NS)
        n = snprintf(text, BUSY_TEXT_MAX, "session %llu has had some for %llu s",
                     (unsigned long long)oldest->id,
                     (unsigned long long)(now - oldest->poll.given_ns) / 1000000000u);
    else
        n = snprintf(text, BUSY_TEXT_MAX, "session %llu has some all the time",
                     (unsigned long long)oldest->id);
    if (n < (int)BUSY_TEXT_MAX)
        n += snprintf(text + n, BUSY_TEXT_MAX - (size_t)n, " (gsctl kill %llu ends it)",
                      (unsigned long long)oldest->id);
    if (others && n < (int)BUSY_TEXT_MAX)
        snprintf(text + n, BUSY_TEXT_MAX - (size_t)n, ", as have %u other%s", others,
                 others == 1 ? "" : "s");
    return text;
}
