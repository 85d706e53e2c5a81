/* restart.c - `gsctl restart-worker`: replaces a device's worker, and waits for the new one. */
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/change/change.h"

/* The server gives up after 45 s, which include a standby's context, 10 s for a quiet moment, and
 * the takeover. */
#define RESTART_NS 60000000000u

static void announce_wait(int sig)
{
    static const char text[] = "gsctl: waiting: a standby is made ready, and kernels that run have "
                               "10 s to end; 59 s more at most; Ctrl-C ends only the wait\n";

    (void)sig;
    (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
}

static gs_status restart_ask(struct control *control, struct ctl_restart *request,
                             struct ctl_done_reply *reply, char message[REQUEST_MESSAGE_MAX])
{
    gs_status status;

    sigaction(SIGALRM, &(struct sigaction){.sa_handler = announce_wait}, NULL);
    alarm(1);
    status = control_ask(control, &request->h, CTL_RESTART, sizeof(*request), reply, sizeof(*reply),
                         clock_ns() + RESTART_NS, message);
    alarm(0);
    return status;
}

int command_restart(struct control *control, const struct command_options *options)
{
    struct ctl_restart request = {.device = options->device < 0 ? 0 : options->device,
                                  .force = options->force};
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply now;
    struct ctl_done_reply reply;
    /* The restart may take long, so a server that does not answer is found first. */
    gs_status status = status_read(control, &now, message);

    if (status != GS_OK)
        return ask_failed(status, message);
    status = restart_ask(control, &request, &reply, message);
    if (status == GS_ERR_TIMEOUT) {
        fprintf(stderr, "gsctl: %s; try later, or end what runs with gsctl kill\n", message);
        return EXIT_ERROR;
    }
    if (status != GS_OK)
        return ask_failed(status, message);
    reply.message[sizeof(reply.message) - 1] = 0;
    if (options->json) {
        json_open(NULL, '{');
        json_text("done", reply.message);
        json_close('}');
    } else {
        puts(reply.message);
    }
    return 0;
}
