/* mps_change.c - the commands of MPS that start and end servers and clients, and set SMs apart: see
 * mps.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/rows.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/change/change.h"
#include "gsctl/mps/mps.h"

int mps_server_start(const struct mps_call *call)
{
    uid_t uid;

    if (strcmp(call->argument[0], "-uid") != 0)
        return mps_wrong(call, EXIT_USAGE, "takes %s", call->command->arguments);
    if (call->count > 2)
        return mps_wrong(call, EXIT_ERROR, "%s: devices are not divided by their memory here",
                         call->argument[2]);
    if (!user_parse(call->argument[1], &uid))
        return mps_wrong(call, EXIT_USAGE, "'%s': there is no such user", call->argument[1]);
    if (call->json) {
        json_open(NULL, '{');
        json_text("remark", "nothing has changed: the server serves all users");
        json_close('}');
    }
    return 0;
}

static int server_end(const struct mps_call *call, uint32_t timeout_s)
{
    char message[REQUEST_MESSAGE_MAX];
    int32_t pid;
    gs_status status = server_quit(call->control, timeout_s, &pid, message);

    if (status != GS_OK)
        return ask_failed(status, message);
    if (call->json) {
        json_open(NULL, '{');
        json_pid("ended_pid", pid);
        json_close('}');
    }
    return 0;
}

int mps_server_shutdown(const struct mps_call *call)
{
    struct ctl_status_reply reply;
    int result;

    if (call->count == 2 && strcmp(call->argument[1], "-f") != 0)
        return mps_wrong(call, EXIT_USAGE, "takes %s", call->command->arguments);
    result = mps_server(call, call->argument[0], &reply);
    return result ? result : server_end(call, call->count == 2 ? 0 : CTL_QUIT_PATIENT);
}

int mps_quit(const struct mps_call *call)
{
    uint64_t seconds = CTL_QUIT_PATIENT;

    if (call->count == 1 || (call->count == 2 && strcmp(call->argument[0], "-t") != 0))
        return mps_wrong(call, EXIT_USAGE, "takes %s", call->command->arguments);
    if (call->count == 2 && !mps_number(call, call->argument[1], UINT32_MAX, &seconds))
        return EXIT_USAGE;
    return server_end(call, (uint32_t)seconds);
}

int mps_client_terminate(const struct mps_call *call)
{
    struct ctl_kill request = {.target = CTL_KILL_PROCESS, .grace_ms = GRACE_MS};
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply reply;
    uint32_t count;
    gs_status status;
    int result = mps_server(call, call->argument[0], &reply);

    if (result == 0 && !mps_number(call, call->argument[1], INT32_MAX, &request.id))
        result = EXIT_USAGE;
    if (result != 0)
        return result;
    status = sessions_end(call->control, &request, &count, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    if (call->json) {
        json_open(NULL, '{');
        json_number("ended_sessions", count);
        json_close('}');
    } else {
        printf("0\n"); /* as MPS's daemon prints it (bench/results/h200/mps-shapes.txt) */
    }
    return 0;
}

/* ---- Partitions ------------------------------------------------------------------------------ */

/* Chooses the first of the names mps1, mps2, ... that no reservation has. */
static gs_status name_choose(struct control *control, char name[32],
                             char message[REQUEST_MESSAGE_MAX])
{
    struct rows rows;
    gs_status status = rows_read(control, &rows, message);
    bool taken = true;

    for (unsigned number = 1; taken && status == GS_OK; number++) {
        snprintf(name, 32, "mps%u", number);
        taken = false;
        for (size_t i = 0; i < rows.count; i++)
            taken = taken || (row_target(&rows.row[i]) == CTL_RESERVATION &&
                              !strcmp(rows.row[i].name, name));
    }
    free(rows.row);
    return status;
}

static int partition_add(const struct mps_call *call)
{
    struct ctl_reserve request = {0};
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply reply;
    uint64_t chunks;
    uint32_t device;
    gs_status status;
    int result = mps_device(call, call->argument[1], &device, &reply);

    if (result == 0 &&
        !mps_number(call, call->argument[2], GS_SM_MASK_WORDS * 64 / MPS_CHUNK_SMS, &chunks))
        result = EXIT_USAGE;
    if (result != 0)
        return result;
    if (chunks == 0)
        return mps_wrong(call, EXIT_USAGE, "0 chunks: 1 and up");
    status = name_choose(call->control, request.name, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    request.device = (int32_t)device;
    request.sms = (uint32_t)chunks * MPS_CHUNK_SMS;
    result = change_ask(call->control, &request.h, CTL_RESERVE, sizeof(request), false);
    if (result != 0)
        return result;
    if (call->json) {
        char partition[64];

        snprintf(partition, sizeof(partition), "%u/%s", device, request.name);
        json_open(NULL, '{');
        json_text("partition", partition);
        json_close('}');
    } else {
        printf("%u/%s\n", device, request.name);
    }
    return 0;
}

/* Removes the partition "0/mps1", or "0" and "mps1" as two arguments. Only the name counts, since
 * names of reservations are unique. */
static int partition_remove(const struct mps_call *call)
{
    struct ctl_reserve request = {0};
    const char *name = strchr(call->argument[1], '/');

    if (call->count == 3)
        name = call->argument[2];
    else if (name)
        name++;
    if (!name || !*name || strlen(name) >= sizeof(request.name))
        return mps_wrong(call, EXIT_USAGE, "no partition's name: lspart shows them");
    memcpy(request.name, name, strlen(name) + 1);
    return change_ask(call->control, &request.h, CTL_RELEASE, sizeof(request), call->json);
}

int mps_partition(const struct mps_call *call)
{
    if (!strcmp(call->argument[0], "add") && call->count == 3)
        return partition_add(call);
    if (!strcmp(call->argument[0], "rm"))
        return partition_remove(call);
    return mps_wrong(call, EXIT_USAGE, "takes %s", call->command->arguments);
}
