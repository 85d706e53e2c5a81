/* quit.c - `gsctl quit`: ends the server, and waits for its end. */
#include <stdio.h>
#include <time.h>

#include "common/util.h"
#include "gsctl/gsctl.h"

/* Time for the worker to release its device, after the tenants' time is over. */
#define END_NS 15000000000u

int command_quit(struct control *control, const struct command_options *options)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_admin request = {.timeout_s = options->timeout_s};
    struct ctl_quit_reply reply;
    gs_status status = control_ask(control, &request.h, CTL_QUIT, sizeof(request), &reply,
                                   sizeof(reply), ask_deadline(), message);
    uint64_t deadline = clock_ns() + options->timeout_s * 1000000000ull + END_NS;

    if (status != GS_OK)
        return ask_failed(status, message);
    /* The kernel drops the server's lock on the queue when the process ends; no message tells. */
    while (control_served(control)) {
        if (clock_ns() > deadline) {
            snprintf(message, sizeof(message), "the server (pid %d) has not ended",
                     reply.server_pid);
            return ask_failed(GS_ERR_TIMEOUT, message);
        }
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    printf("the server '%s' (pid %d) has ended\n", options->instance, reply.server_pid);
    return 0;
}
