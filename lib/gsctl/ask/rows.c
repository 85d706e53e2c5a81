/* rows.c - see rows.h. */
#include <string.h>
#include <unistd.h>

#include "common/setting_text.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/rows.h"
#include "gsctl/base/memory.h"

uint32_t rows_hidden(const struct rows *rows, uint32_t device, uint32_t tenants)
{
    uint32_t shown = 0;

    for (size_t i = 0; i < rows->count; i++)
        shown += rows->row[i].device == (int32_t)device && row_target(&rows->row[i]) == CTL_TENANT;
    return geteuid() != 0 && tenants > shown ? tenants - shown : 0;
}

enum ctl_target row_target(const struct ctl_row *row)
{
    return (enum ctl_target)(row->key >> 56);
}

unsigned long long row_id(const struct ctl_row *row)
{
    return row->key & ((UINT64_C(1) << 56) - 1);
}

/* Asks for the page at *cursor and sets *cursor to the next page; 0: there is none. */
static gs_status page_ask(struct control *control, uint64_t *cursor, struct ctl_get_reply *reply,
                          char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_admin request = {.cursor = *cursor};
    gs_status status = control_ask(control, &request.h, CTL_GET, sizeof(request), reply,
                                   sizeof(*reply), ask_deadline(), message);

    if (status == GS_OK)
        status = page_check(reply->count, CTL_GET_ROWS, reply->next_cursor, *cursor, message);
    if (status != GS_OK)
        return status;
    for (uint32_t i = 0; i < reply->count; i++) {
        struct ctl_row *row = &reply->row[i];

        row->name[sizeof(row->name) - 1] = 0;
        row->reservation[sizeof(row->reservation) - 1] = 0;
    }
    *cursor = reply->next_cursor;
    return GS_OK;
}

static gs_status page_add(struct control *control, uint64_t *cursor, struct rows *rows,
                          char message[REQUEST_MESSAGE_MAX])
{
    struct ctl_get_reply reply;
    gs_status status = page_ask(control, cursor, &reply, message);

    if (status != GS_OK)
        return status;
    rows->provision = reply.provision;
    rows->row = memory_more(rows->row, rows->count + reply.count, sizeof(*rows->row));
    memcpy(rows->row + rows->count, reply.row, reply.count * sizeof(*rows->row));
    rows->count += reply.count;
    return GS_OK;
}

gs_status rows_read(struct control *control, struct rows *rows, char message[REQUEST_MESSAGE_MAX])
{
    uint64_t cursor = 0;
    gs_status status;

    *rows = (struct rows){0};
    do {
        status = page_add(control, &cursor, rows, message);
    } while (status == GS_OK && cursor);
    return status;
}

gs_status row_read(struct control *control, enum ctl_target target, uint64_t id, struct rows *rows,
                   char message[REQUEST_MESSAGE_MAX])
{
    uint64_t key = ctl_row_key(target, id), cursor = key;
    gs_status status;

    *rows = (struct rows){0};
    status = page_add(control, &cursor, rows, message);
    if (status != GS_OK)
        return status;
    rows->count = rows->count && rows->row[0].key == key;
    /* The server has no row for a user without settings. */
    if (target == CTL_USER && rows->count == 0) {
        rows->row = memory_more(rows->row, 1, sizeof(*rows->row));
        rows->row[0] = (struct ctl_row){.key = key, .uid = (uint32_t)id};
        rows->count = 1;
    }
    return GS_OK;
}

uint64_t row_memory_limit(const struct ctl_row *row)
{
    return limit_lower(row->mem_limit, row->user_mem_limit);
}
