/* ask.c - see ask.h. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/servers.h"
#include "gsctl/base/format.h"
#include "gsctl/base/memory.h"

/* A server that runs answers in milliseconds, and a change in OPERATOR_PATIENCE_NS. */
#define ASK_NS      1900000000u
#define ANNOUNCE_NS 1000000000u /* a longer wait is announced */

gs_status page_check(uint32_t count, uint32_t most, uint64_t next, uint64_t cursor,
                     char message[REQUEST_MESSAGE_MAX])
{
    if (count <= most && (next == 0 || next > cursor))
        return GS_OK;
    snprintf(message, REQUEST_MESSAGE_MAX, "the server's answer has a page of %u rows", count);
    return GS_ERR_PROTOCOL;
}

uint64_t ask_deadline(void)
{
    return clock_ns() + ASK_NS;
}

bool wait_due(const struct wait *wait)
{
    return !wait->announced && clock_ns() >= wait->since_ns + ANNOUNCE_NS;
}

void wait_announce(struct wait *wait, uint64_t deadline_ns, const char *format, ...)
{
    const uint64_t now = clock_ns();
    va_list ap;

    if (!wait_due(wait))
        return;
    wait->announced = true;
    fputs("gsctl: waiting: ", stderr);
    va_start(ap, format);
    vfprintf(stderr, format, ap);
    va_end(ap);
    if (deadline_ns > now)
        fprintf(stderr, "; %u s more at most", (unsigned)((deadline_ns - now) / 1000000000u + 1));
    fputs("; Ctrl-C ends only the wait\n", stderr);
}

static const struct control *asked;
static const char *asked_of_mps; /* NULL: no command of MPS runs */

void ask_begin(const struct control *control)
{
    asked = control;
}

void ask_of_mps(const char *command)
{
    asked_of_mps = command;
}

/* Returns whether the server ended in order: it then has removed its queue, which a killed server
 * leaves. */
static bool quit_in_order(void)
{
    struct stat st;

    return asked && asked->queue >= 0 && fstat(asked->queue, &st) == 0 && st.st_nlink == 0;
}

/* Returns advice on a failure of this kind; "": the message suffices. */
static const char *hint(gs_status status)
{
    static char text[80];
    char owner[FORMAT_MAX];

    switch (status) {
    case GS_ERR_NO_SERVER:
        return servers_any() ? "; gsctl servers lists those that run" : "";
    case GS_ERR_PERMISSION:
        snprintf(text, sizeof(text), "; run gsctl as %s%s",
                 format_user(owner, asked ? asked->owner : 0),
                 asked && asked->owner ? ", or as root" : "");
        return text;
    case GS_ERR_TIMEOUT:
        return "; is it stopped (ps -C gshared -o pid,stat,args)? The server's log may say more";
    case GS_ERR_VERSION:
        return "; use the gsctl that was installed with the server, or start the server anew";
    case GS_ERR_SERVER_LOST:
        return quit_in_order() ? ": it was told to quit; gshared -d starts it again"
                               : "; its log says why; start it again with gshared -d";
    default:
        return "";
    }
}

int ask_failed(gs_status status, const char *message)
{
    if (asked_of_mps)
        fprintf(stderr, "gsctl: mps: %s: %s%s\n", asked_of_mps, message, hint(status));
    else
        fprintf(stderr, "gsctl: %s%s\n", message, hint(status));
    return status == GS_ERR_NO_SERVER || status == GS_ERR_SERVER_LOST ? EXIT_NO_SERVER : EXIT_ERROR;
}
