/* rows.h - asks for the rows of CTL_GET: what is set, and what sessions have of it. */
#ifndef GS_GSCTL_ASK_ROWS_H
#define GS_GSCTL_ASK_ROWS_H

#include "common/request.h"

struct rows {
    struct ctl_row *row; /* the caller frees it, also on failure */
    size_t count;
    uint32_t provision;
};
gs_status rows_read(struct control *control, struct rows *rows, char message[REQUEST_MESSAGE_MAX]);
/* One row; none if the server has none of that name, but for a user, who may have no settings. */
gs_status row_read(struct control *control, enum ctl_target target, uint64_t id, struct rows *rows,
                   char message[REQUEST_MESSAGE_MAX]);
/* How many of the device's `tenants`, as its status tells, have no row. Root sees all: one may have
 * gone between the two answers. */
uint32_t rows_hidden(const struct rows *rows, uint32_t device, uint32_t tenants);
enum ctl_target row_target(const struct ctl_row *row);
unsigned long long row_id(const struct ctl_row *row); /* of its target */
/* What a session may hold: its own limit, or its user's where that is less; 0: no limit. */
uint64_t row_memory_limit(const struct ctl_row *row);

#endif
