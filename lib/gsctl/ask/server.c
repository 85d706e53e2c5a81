/* server.c - see server.h. */
#include <stdio.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"

const char *device_state_name(uint32_t state)
{
    static const char *const names[] = {[CTL_DEVICE_STARTING] = "starting",
                                        [CTL_DEVICE_READY] = "ready",
                                        [CTL_DEVICE_FAILED] = "failed",
                                        [CTL_DEVICE_SILENT] = "not answering",
                                        [CTL_DEVICE_STUCK] = "stuck in a driver call"};

    return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}

const char *takeover_cause_name(uint32_t cause)
{
    static const char *const names[] = {[CTL_TAKEOVER_FAULT] = "fault",
                                        [CTL_TAKEOVER_EVICTION] = "eviction",
                                        [CTL_TAKEOVER_WORKER] = "worker",
                                        [CTL_TAKEOVER_RESTART] = "restart",
                                        [CTL_TAKEOVER_RECYCLING] = "recycling"};

    return cause < ARRAY_SIZE(names) ? names[cause] : "?";
}

gs_status status_read(struct control *control, struct ctl_status_reply *reply,
                      char message[REQUEST_MESSAGE_MAX])
{
    return status_read_by(control, reply, ask_deadline(), message);
}

gs_status status_read_by(struct control *control, struct ctl_status_reply *reply,
                         uint64_t deadline_ns, char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_admin request = {0};
    gs_status status = control_ask(control, &request.h, CTL_STATUS, sizeof(request), reply,
                                   sizeof(*reply), deadline_ns, message);

    if (status != GS_OK)
        return status;
    if (reply->device_count > ARRAY_SIZE(reply->device)) {
        snprintf(message, REQUEST_MESSAGE_MAX, "the server's answer counts too many devices");
        return GS_ERR_PROTOCOL;
    }
    reply->message[sizeof(reply->message) - 1] = 0;
    for (uint32_t i = 0; i < reply->device_count; i++) {
        reply->device[i].name[sizeof(reply->device[i].name) - 1] = 0;
        reply->device[i].driver[sizeof(reply->device[i].driver) - 1] = 0;
        reply->device[i].uuid[sizeof(reply->device[i].uuid) - 1] = 0;
        reply->device[i].pci[sizeof(reply->device[i].pci) - 1] = 0;
    }
    return GS_OK;
}

gs_status log_destination_read(struct control *control, struct ctl_log_reply *reply,
                               char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_admin request = {.cursor = 0};
    gs_status status = control_ask(control, &request.h, CTL_LOG, sizeof(request), reply,
                                   sizeof(*reply), ask_deadline(), message);

    if (status == GS_OK)
        reply->path[sizeof(reply->path) - 1] = 0;
    return status;
}
