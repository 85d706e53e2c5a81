/* admin.h - what an administrator sees of a server, asked over its control queue. */
#ifndef GS_TEST_ADMIN_H
#define GS_TEST_ADMIN_H

#include <stdbool.h>

#include "common/wire.h"
#include "harness/harness.h"

/* The row of a session; false: the server has no such session. */
bool admin_tenant(const struct server *server, uint64_t session_id, struct ctl_tenant *row);
/* Number of rows, over all pages. */
unsigned admin_rows(const struct server *server);

#endif
