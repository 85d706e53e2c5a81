/* mps_partitions.c - `lspart` of MPS, which lists reservations: see mps.h. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gsctl/ask/ask.h"
#include "gsctl/ask/rows.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/json.h"
#include "gsctl/mps/mps.h"

static bool has_clients(const struct rows *rows, const char *reservation)
{
    for (size_t i = 0; i < rows->count; i++) {
        if (row_target(&rows->row[i]) == CTL_TENANT &&
            !strcmp(rows->row[i].reservation, reservation))
            return true;
    }
    return false;
}

/* Returns, in MPS's words, whether the reservation has clients; "-" if only clients that are not
 * shown may be in it. */
static const char *clients_text(const struct rows *rows, const char *reservation, uint32_t hidden)
{
    return has_clients(rows, reservation) ? "Yes" : hidden ? "-" : "No";
}

static uint32_t sms_reserved(const struct rows *rows, uint32_t device)
{
    uint32_t used = 0;

    for (size_t i = 0; i < rows->count; i++) {
        if (row_target(&rows->row[i]) == CTL_RESERVATION && rows->row[i].device == (int32_t)device)
            used += rows->row[i].sm_count;
    }
    return used;
}

static void partitions_print(const struct rows *rows, uint32_t device, const struct ctl_device *d)
{
    const uint32_t sms = d->sm_count, hidden = rows_hidden(rows, device, d->tenants);
    const uint32_t used = sms_reserved(rows, device);

    printf("%-13" PRIu32 " %-11s %-6u %-6u %-5u %-5u %s\n", device, "-",
           (sms - used) / MPS_CHUNK_SMS, used / MPS_CHUNK_SMS, sms - used, used, "-");
    for (size_t i = 0; i < rows->count; i++) {
        const struct ctl_row *row = &rows->row[i];

        if (row_target(row) == CTL_RESERVATION && row->device == (int32_t)device)
            printf("%-13" PRIu32 " %-11s %-6s %-6u %-5s %-5u %s\n", device, row->name, "-",
                   row->sm_count / MPS_CHUNK_SMS, "-", row->sm_count,
                   clients_text(rows, row->name, hidden));
    }
}

/* Prints one partition. Only a device's own row has the number of free SMs. */
static void partition_json(uint32_t device, const char *name, uint32_t used, uint32_t free)
{
    json_open(NULL, '{');
    json_number("gpu", device);
    json_text("partition", name);
    if (!*name)
        json_number("free_chunks", free / MPS_CHUNK_SMS);
    json_number("used_chunks", used / MPS_CHUNK_SMS);
    if (!*name)
        json_number("free_sms", free);
    json_number("used_sms", used);
}

static void partitions_json(const struct rows *rows, uint32_t device, const struct ctl_device *d)
{
    const uint32_t sms = d->sm_count, hidden = rows_hidden(rows, device, d->tenants);
    const uint32_t used = sms_reserved(rows, device);

    partition_json(device, "", used, sms - used);
    json_close('}');
    for (size_t i = 0; i < rows->count; i++) {
        const struct ctl_row *row = &rows->row[i];

        if (row_target(row) != CTL_RESERVATION || row->device != (int32_t)device)
            continue;
        partition_json(device, row->name, row->sm_count, 0);
        if (hidden && !has_clients(rows, row->name))
            json_figure("clients", "null");
        else
            json_number("clients", has_clients(rows, row->name));
        json_close('}');
    }
}

int mps_partitions(const struct mps_call *call)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply reply;
    struct rows rows = {0};
    gs_status status = status_read(call->control, &reply, message);

    if (status == GS_OK)
        status = rows_read(call->control, &rows, message);
    if (status == GS_OK && call->json) {
        json_open(NULL, '{');
        json_open("partitions", '[');
        for (uint32_t i = 0; i < reply.device_count; i++)
            partitions_json(&rows, i, &reply.device[i]);
        json_close(']');
        json_close('}');
    } else if (status == GS_OK) {
        printf("%-13s %-11s %-6s %-6s %-5s %-5s %s\n", "GPU", "Partition", "free", "used", "free",
               "used", "clients");
        printf("%-13s %-11s %-6s %-6s %-5s %-5s\n", "", "", "chunk", "chunk", "SM", "SM");
        for (uint32_t i = 0; i < reply.device_count; i++)
            partitions_print(&rows, i, &reply.device[i]);
    }
    free(rows.row);
    return status == GS_OK ? 0 : ask_failed(status, message);
}
