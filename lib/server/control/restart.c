/* restart.c - CTL_RESTART: the operator wants another worker for a device. */
#include "server/workers/restart.h"
#include "server/control/operator.h"
#include "server/state/server.h"

void operator_restart(struct server *server, const struct ctl_restart *request, struct reply *reply)
{
    char text[REFUSAL_TEXT_MAX];
    const gs_status status = server_device_check(server, request->device, text);

    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    if (server->phase != PHASE_SERVING) {
        reply_refuse(reply, GS_ERR_REFUSED, "the server is ending");
        return;
    }
    restart_begin(&server->device[request->device], request->force != 0, reply);
}
