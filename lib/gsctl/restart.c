/* restart.c - `gsctl restart-worker`: has another worker take a device over, and waits for it. */
#include <stdio.h>

#include "common/util.h"
#include "gsctl/gsctl.h"

/* The server gives up after 45 s: for a standby's context, 10 s for a moment without running
 * kernels, and the takeover. */
#define RESTART_NS 60000000000u

int command_restart(struct control *control, const struct command_options *options)
{
    struct ctl_restart request = {.device = options->device < 0 ? 0 : options->device,
                                  .force = options->force};
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_done_reply reply;
    gs_status status = control_ask(control, &request.h, CTL_RESTART, sizeof(request), &reply,
                                   sizeof(reply), clock_ns() + RESTART_NS, message);

    if (status != GS_OK)
        return ask_failed(status, message);
    reply.message[sizeof(reply.message) - 1] = 0;
    if (options->json) {
        json_open(NULL, '{');
        json_text("done", reply.message);
        json_close('}');
        putchar('\n');
    } else {
        puts(reply.message);
    }
    return 0;
}
