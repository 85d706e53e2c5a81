/* tenants.c - see tenants.h. */
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/memory.h"

/* Asks for the page at *cursor and sets *cursor to the next page; 0: there is none. */
static gs_status page_ask(struct control *control, uint64_t *cursor, struct ctl_ps_reply *reply,
                          char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_admin request = {.cursor = *cursor};
    gs_status status = control_ask(control, &request.h, CTL_PS, sizeof(request), reply,
                                   sizeof(*reply), ask_deadline(), message);

    if (status == GS_OK)
        status = page_check(reply->count, CTL_PS_ROWS, reply->next_cursor, *cursor, message);
    if (status != GS_OK)
        return status;
    for (uint32_t i = 0; i < reply->count; i++)
        reply->tenant[i].name[sizeof(reply->tenant[i].name) - 1] = 0;
    *cursor = reply->next_cursor;
    snprintf(message, REQUEST_MESSAGE_MAX, "%.*s", (int)sizeof(reply->message) - 1, reply->message);
    return GS_OK;
}

gs_status tenants_read(struct control *control, struct ctl_tenant **tenants, size_t *count,
                       uint32_t *hidden, char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_ps_reply reply;
    uint64_t cursor = 0;
    gs_status status;

    *tenants = NULL;
    *count = 0;
    do {
        status = page_ask(control, &cursor, &reply, message);
        if (status != GS_OK)
            return status;
        *tenants = memory_more(*tenants, *count + reply.count, sizeof(**tenants));
        memcpy(*tenants + *count, reply.tenant, reply.count * sizeof(**tenants));
        *count += reply.count;
    } while (cursor);
    if (hidden)
        *hidden = reply.hidden;
    return GS_OK;
}

uint64_t histogram_sum(const struct ctl_histogram *h)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        sum += h->count[i];
    return sum;
}

const char *state_name(uint32_t state)
{
    static const char *const names[] = {[CTL_TENANT_ATTACHED] = "attached",
                                        [CTL_TENANT_ATTACHING] = "attaching",
                                        [CTL_TENANT_ENDING] = "ending",
                                        [CTL_TENANT_LOST] = "lost",
                                        [CTL_TENANT_RESUMING] = "resuming"};

    return state < sizeof(names) / sizeof(names[0]) ? names[state] : "?";
}
