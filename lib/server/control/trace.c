/* trace.c - CTL_TRACE: begins, renews or ends a trace of a device. Everybody whom the server serves
 * may ask; session/trace.c decides what the asker sees. */
#include "server/session/trace.h"
#include "server/control/control.h"

void trace_handle(struct server *server, const struct ctl_trace *request, const struct reply *reply)
{
    struct ctl_trace_reply answer = {.status = GS_OK, .segment_id = request->segment_id};
    char text[REFUSAL_TEXT_MAX];
    gs_status status = server_device_check(server, request->device, text);
    bool there = true;

    if (status == GS_OK && request->action > CTL_TRACE_END)
        status = refusal(text, GS_ERR_INVALID_VALUE, "action %u: there are 0 to %d",
                         request->action, CTL_TRACE_END);
    if (status != GS_OK) {
        reply_refuse(reply, status, "%s", text);
        return;
    }
    struct device *device = &server->device[request->device];
    if (request->action == CTL_TRACE_BEGIN)
        status = device_trace_begin(device, reply, &answer.segment_id, text);
    else if (request->action == CTL_TRACE_KEEP)
        there = device_trace_keep(device, reply->uid, request->segment_id);
    else
        there = device_trace_finish(device, reply->uid, request->segment_id);
    if (status != GS_OK)
        reply_refuse(reply, status, "%s", text);
    else if (!there)
        reply_refuse(reply, GS_ERR_NOT_FOUND,
                     "the trace has ended: it was not renewed in time, or the server's owner "
                     "began another");
    else
        reply_send(reply, &answer.h, sizeof(answer));
}
