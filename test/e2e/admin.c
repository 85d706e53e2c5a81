/* admin.c - see admin.h. */
#include "admin.h"

#include "common/request.h"

static void page_ask(const struct server *server, uint64_t cursor, struct ctl_ps_reply *reply)
{
    char message[REQUEST_MESSAGE_MAX] = "";
    struct ctl_admin request = {.cursor = cursor};
    struct control control;
    gs_status status = control_open(&control, server->instance, message);

    if (status == GS_OK) {
        status = control_ask(&control, &request.h, CTL_PS, sizeof(request), reply, sizeof(*reply),
                             test_deadline(5000), message);
        control_close(&control);
    }
    if (status != GS_OK)
        test_fail(__FILE__, __LINE__, "asking for the tenants: %s: %s", gs_status_name(status),
                  message);
    CHECK(reply->count <= CTL_PS_ROWS);
}

bool admin_tenant(const struct server *server, uint64_t session_id, struct ctl_tenant *row)
{
    struct ctl_ps_reply reply = {.next_cursor = 0};

    do {
        page_ask(server, reply.next_cursor, &reply);
        for (uint32_t i = 0; i < reply.count; i++) {
            if (reply.tenant[i].session_id == session_id) {
                *row = reply.tenant[i];
                return true;
            }
        }
    } while (reply.next_cursor != 0);
    return false;
}

unsigned admin_rows(const struct server *server)
{
    struct ctl_ps_reply reply = {.next_cursor = 0};
    unsigned rows = 0;

    do {
        page_ask(server, reply.next_cursor, &reply);
        rows += reply.count;
    } while (reply.next_cursor != 0);
    return rows;
}
