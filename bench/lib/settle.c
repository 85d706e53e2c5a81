/* settle.c - see settle.h. */
#include "lib/settle.h"

#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "lib/cell.h"
#include "lib/gshare_call.h"

#define SETTLE_NS (20ull * 1000000000u)

static bool standby_named(void)
{
    char command[PATH_MAX + 32], line[512];
    bool named = false;
    FILE *status;

    snprintf(command, sizeof(command), "'%s' status", plan.gsctl);
    status = popen(command, "re");
    while (status != NULL && fgets(line, sizeof(line), status) != NULL)
        named = named || strstr(line, "standby pid") != NULL;
    return status != NULL && pclose(status) == 0 && named;
}

void server_settle(void)
{
    const uint64_t deadline = clock_ns() + SETTLE_NS;
    gs_session session;

    GS(gs_attach, NULL, &session);
    while (!standby_named()) {
        if (clock_ns() > deadline)
            cell_fail("the server has no standby");
        poll(NULL, 0, 20);
    }
    GS(gs_detach, session);
}
