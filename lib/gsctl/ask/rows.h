/* rows.h - asks for the rows of CTL_GET: the settings, and what sessions were granted under
 * them. */
#ifndef GS_GSCTL_ASK_ROWS_H
#define GS_GSCTL_ASK_ROWS_H

#include "common/request.h"

struct rows {
    struct ctl_row *row; /* the caller frees it, also on failure */
    size_t count;
    uint32_t provision;
};
gs_status rows_read(struct control *control, struct rows *rows, char message[REQUEST_MESSAGE_MAX]);
/* Reads one row; none if the server has no such target. For a user without settings it makes an
 * empty row. */
gs_status row_read(struct control *control, enum ctl_target target, uint64_t id, struct rows *rows,
                   char message[REQUEST_MESSAGE_MAX]);
/* Returns how many of the device's `tenants`, a number from its status, have no row because the
 * asker may not see them. 0 for root, who sees all: a tenant may have gone between the two
 * answers. */
uint32_t rows_hidden(const struct rows *rows, uint32_t device, uint32_t tenants);
enum ctl_target row_target(const struct ctl_row *row);
unsigned long long row_id(const struct ctl_row *row); /* the id of its target */
/* Returns how much memory a session may hold: its own limit, or its user's if that is lower; 0: no
 * limit. */
uint64_t row_memory_limit(const struct ctl_row *row);

#endif
