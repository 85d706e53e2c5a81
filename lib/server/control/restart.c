/* restart.c - CTL_RESTART: the operator wants another worker for a device. */
#include "server/workers/restart.h"
#include "server/control/operator.h"
#include "server/state/server.h"

void operator_restart(struct server *server, const struct ctl_restart *request, struct reply *reply)
{
    if (request->device < 0 || request->device >= server->device_count) {
        reply_refuse(reply, GS_ERR_NO_DEVICE, "the server has no device %d", request->device);
        return;
    }
    if (server->phase != PHASE_SERVING) {
        reply_refuse(reply, GS_ERR_REFUSED, "the server is ending");
        return;
    }
    restart_begin(&server->device[request->device], request->force != 0, reply);
}
