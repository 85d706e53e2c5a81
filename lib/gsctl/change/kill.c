/* kill.c - `gsctl kill`: ends sessions, and waits for their end. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/json.h"
#include "gsctl/base/options.h"
#include "gsctl/change/change.h"

#define END_NS 30000000000u /* time after the grace for a next worker to start */

static bool meant(const struct ctl_kill *request, const struct ctl_tenant *t)
{
    switch (request->target) {
    case CTL_KILL_SESSION:
        return t->session_id == request->id;
    case CTL_KILL_PROCESS:
        return t->pid > 0 && (uint64_t)t->pid == request->id;
    default:
        return t->uid == request->id;
    }
}

/* Counts the sessions of the request that still hold something of a device. */
static gs_status remaining(struct control *control, const struct ctl_kill *request, size_t *left,
                           char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_tenant *tenants;
    size_t count;
    gs_status status = tenants_read(control, &tenants, &count, NULL, message);

    *left = 0;
    for (size_t i = 0; i < count && status == GS_OK; i++)
        *left += meant(request, &tenants[i]) && tenants[i].state == CTL_TENANT_ENDING;
    free(tenants);
    return status;
}

/* Announces what the end of sessions waits for: kernels, or a worker that does not answer. */
static void end_announce(struct control *control, struct wait *wait, uint64_t deadline_ns,
                         size_t left, uint32_t grace_ms)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply now;

    if (!wait_due(wait))
        return;
    if (status_read(control, &now, message) != GS_OK)
        now.device_count = 0;
    for (uint32_t i = 0; i < now.device_count; i++) {
        if (now.device[i].state == CTL_DEVICE_SILENT || now.device[i].state == CTL_DEVICE_STUCK)
            wait_announce(wait, deadline_ns,
                          "worker %d of device %u %s, and is ended when %u ms (--grace) are over",
                          now.device[i].worker_pid, i,
                          now.device[i].state == CTL_DEVICE_STUCK ? "is stuck in a driver call"
                                                                  : "does not answer",
                          grace_ms);
    }
    wait_announce(wait, deadline_ns,
                  "%zu session%s kernels on the device, which %s %u ms (--grace) to end", left,
                  left == 1 ? " has" : "s have", left == 1 ? "has" : "have", grace_ms);
}

int kill_check(const struct command_options *options)
{
    if (options->pid && options->target_given)
        usage("one of a session's id, --user and --pid at a time");
    if (!options->pid && !options->target_given)
        usage("whom: gsctl kill SESSION, --pid PID or --user NAME");
    return 0;
}

static struct ctl_kill request_make(const struct command_options *options)
{
    struct ctl_kill request = {.target = CTL_KILL_SESSION, .grace_ms = options->grace_ms};

    if (options->target_given && options->target == CTL_USER)
        request.target = CTL_KILL_USER;
    request.id = options->id;
    if (options->pid) {
        request.target = CTL_KILL_PROCESS;
        request.id = (uint64_t)options->pid;
    }
    return request;
}

gs_status sessions_end(struct control *control, struct ctl_kill *request, uint32_t *count,
                       char message[REQUEST_MESSAGE_MAX])
{
    const uint64_t deadline = clock_ns() + request->grace_ms * UINT64_C(1000000) + END_NS;
    struct wait wait = {clock_ns(), false};
    struct ctl_kill_reply reply;
    size_t left = 1;
    gs_status status = control_ask(control, &request->h, CTL_KILL, sizeof(*request), &reply,
                                   sizeof(reply), ask_deadline(), message);

    while (status == GS_OK && (status = remaining(control, request, &left, message)) == GS_OK &&
           left) {
        if (clock_ns() > deadline) {
            snprintf(message, REQUEST_MESSAGE_MAX, "%zu of them have not ended", left);
            return GS_ERR_TIMEOUT;
        }
        end_announce(control, &wait, deadline, left, request->grace_ms);
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    }
    if (status == GS_OK)
        *count = reply.count;
    return status;
}

int command_kill(struct control *control, const struct command_options *options)
{
    struct ctl_kill request = request_make(options);
    char message[REQUEST_MESSAGE_MAX];
    uint32_t count;
    gs_status status = sessions_end(control, &request, &count, message);

    if (status != GS_OK)
        return ask_failed(status, message);
    if (options->json) {
        json_open(NULL, '{');
        json_number("ended_sessions", count);
        json_close('}');
    } else {
        printf("%" PRIu32 " session%s ended\n", count, count == 1 ? " has" : "s have");
    }
    return 0;
}
