/* mps_list.c - the commands of MPS that list, in the shapes of nvidia-cuda-mps-control: see mps.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/memory.h"
#include "gsctl/base/options.h"
#include "gsctl/mps/mps.h"

/* Reads the server's status. If the argument is given, it must be the server's pid. */
static int status_of(const struct mps_call *call, int argument, struct ctl_status_reply *reply)
{
    char message[REQUEST_MESSAGE_MAX];
    gs_status status;

    if (argument < call->count)
        return mps_server(call, call->argument[argument], reply);
    status = status_read(call->control, reply, message);
    return status == GS_OK ? 0 : ask_failed(status, message);
}

/* Reads the clients, and the server's status as status_of. A client that was terminated does not
 * count, though its process may live. The caller frees *tenants, also on failure. */
static int clients_of(const struct mps_call *call, int argument, struct ctl_status_reply *reply,
                      struct ctl_tenant **tenants, size_t *count)
{
    char message[REQUEST_MESSAGE_MAX];
    int result = status_of(call, argument, reply);
    size_t all = 0;
    gs_status status;

    *tenants = NULL;
    *count = 0;
    if (result != 0)
        return result;
    status = tenants_read(call->control, tenants, &all, NULL, message);
    if (status != GS_OK)
        return ask_failed(status, message);
    for (size_t i = 0; i < all; i++) {
        if ((*tenants)[i].state != CTL_TENANT_LOST)
            (*tenants)[(*count)++] = (*tenants)[i];
    }
    return 0;
}

/* Prints each pid once. A tenant in another PID namespace has none. */
static void pids_print(const struct ctl_tenant *tenants, size_t count, bool json)
{
    for (size_t i = 0; i < count; i++) {
        size_t first = 0;

        if (tenants[i].pid == 0)
            continue;
        while (tenants[first].pid != tenants[i].pid)
            first++;
        if (first == i && json) {
            json_open(NULL, '{');
            json_pid("pid", tenants[i].pid);
            json_user(tenants[i].uid);
            json_close('}');
        } else if (first == i) {
            printf("%" PRId32 "\n", tenants[i].pid);
        }
    }
}

int mps_server_list(const struct mps_call *call)
{
    struct ctl_status_reply reply;
    int result = status_of(call, call->count, &reply);

    if (result == 0 && call->json) {
        json_open(NULL, '{');
        json_open("servers", '[');
        json_open(NULL, '{');
        json_pid("pid", reply.server_pid);
        json_close('}');
        json_close(']');
        json_close('}');
    } else if (result == 0) {
        printf("%" PRId32 "\n", reply.server_pid);
    }
    return result;
}

int mps_server_status(const struct mps_call *call)
{
    struct ctl_status_reply reply;
    int result = status_of(call, 0, &reply);
    const char *state = "ACTIVE";

    if (result != 0)
        return result;
    for (uint32_t i = 0; i < reply.device_count; i++) {
        if (reply.device[i].state == CTL_DEVICE_STARTING && strcmp(state, "FAULT") != 0)
            state = "INITIALIZING";
        else if (reply.device[i].state > CTL_DEVICE_READY)
            state = "FAULT";
    }
    if (call->json) {
        json_open(NULL, '{');
        json_pid("pid", reply.server_pid);
        json_text("status", state);
        json_close('}');
    } else {
        puts(state);
    }
    return 0;
}

int mps_client_list(const struct mps_call *call)
{
    struct ctl_status_reply reply;
    struct ctl_tenant *tenants;
    size_t count;
    int result = clients_of(call, 0, &reply, &tenants, &count);

    if (result == 0 && call->json) {
        json_open(NULL, '{');
        json_open("clients", '[');
    }
    if (result == 0)
        pids_print(tenants, count, call->json);
    if (result == 0 && call->json) {
        json_close(']');
        json_close('}');
    }
    free(tenants);
    return result;
}

static const char *shown(const char *text)
{
    return *text ? text : "-";
}

/* Returns bus, device and function, without the domain. */
static const char *pci_short(const char *pci)
{
    const char *bus = strchr(pci, ':');

    return shown(bus ? bus + 1 : pci);
}

static void device_clients_json(const struct ctl_status_reply *reply,
                                const struct ctl_tenant *tenants, size_t count)
{
    json_open(NULL, '{');
    json_open("devices", '[');
    for (uint32_t i = 0; i < reply->device_count; i++) {
        json_open(NULL, '{');
        json_number("device", i);
        json_text("pci", pci_short(reply->device[i].pci));
        json_text("name", reply->device[i].name);
        json_open("clients", '[');
        for (size_t k = 0; k < count; k++) {
            if (tenants[k].pid == 0 || tenants[k].device != (int32_t)i)
                continue;
            json_open(NULL, '{');
            json_pid("pid", tenants[k].pid);
            json_number("id", tenants[k].session_id);
            json_user(tenants[k].uid);
            json_close('}');
        }
        json_close(']');
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

int mps_device_client_list(const struct mps_call *call)
{
    struct ctl_status_reply reply;
    struct ctl_tenant *tenants;
    size_t count;
    int result = clients_of(call, 0, &reply, &tenants, &count);

    if (result == 0 && call->json)
        device_clients_json(&reply, tenants, count);
    for (uint32_t i = 0; i < reply.device_count && result == 0 && !call->json; i++) {
        printf("[%" PRIu32 "] %s, %s\n", i, pci_short(reply.device[i].pci), reply.device[i].name);
        for (size_t k = 0; k < count; k++) {
            if (tenants[k].pid != 0 && tenants[k].device == (int32_t)i)
                printf("%" PRId32 ".%" PRIu64 "\n", tenants[k].pid, tenants[k].session_id);
        }
    }
    free(tenants);
    return result;
}

/* Writes the number of a process's PID namespace; "-" if this process may not see it. */
static const char *pid_namespace(char out[FORMAT_MAX], int32_t pid)
{
    char path[64], link[64];
    ssize_t length;

    snprintf(out, FORMAT_MAX, "-");
    snprintf(path, sizeof(path), "/proc/%" PRId32 "/ns/pid", pid);
    length = pid ? readlink(path, link, sizeof(link) - 1) : -1;
    if (length > 6 && !strncmp(link, "pid:[", 5))
        snprintf(out, FORMAT_MAX, "%.*s", (int)length - 6, link + 5);
    return out;
}

static void client_print(const struct ctl_tenant *t, const struct ctl_status_reply *reply)
{
    const bool known = (uint32_t)t->device < reply->device_count;
    char pid[FORMAT_MAX], space[FORMAT_MAX];

    snprintf(pid, sizeof(pid), t->pid ? "%" PRId32 : "-", t->pid);
    printf("%-9s %-9" PRIu64 " %-14" PRId32 " %-25.22s %-14s %-15s\n", pid, t->session_id,
           reply->server_pid, known ? shown(reply->device[t->device].uuid) : "-",
           pid_namespace(space, t->pid), t->name);
}

static void client_json(const struct ctl_tenant *t, const struct ctl_status_reply *reply)
{
    const bool known = (uint32_t)t->device < reply->device_count;
    char space[FORMAT_MAX];

    json_open(NULL, '{');
    json_pid("pid", t->pid);
    json_number("id", t->session_id);
    json_pid("server", reply->server_pid);
    json_text("device", known ? reply->device[t->device].uuid : "");
    json_text("namespace", pid_namespace(space, t->pid));
    json_text("command", t->name);
    json_user(t->uid);
    json_close('}');
}

int mps_ps(const struct mps_call *call)
{
    struct ctl_status_reply reply;
    struct ctl_tenant *tenants;
    size_t count;
    int result;

    if (call->count == 1 || (call->count == 2 && strcmp(call->argument[0], "-p") != 0))
        return mps_wrong(call, EXIT_USAGE, "takes %s", call->command->arguments);
    result = clients_of(call, 1, &reply, &tenants, &count);
    if (result == 0 && call->json) {
        json_open(NULL, '{');
        json_open("clients", '[');
    } else if (result == 0) {
        printf("%-9s %-9s %-14s %-25s %-14s %-15s\n", "PID", "ID", "SERVER", "DEVICE", "NAMESPACE",
               "COMMAND");
    }
    for (size_t i = 0; i < count && result == 0; i++)
        (call->json ? client_json : client_print)(&tenants[i], &reply);
    if (result == 0 && call->json) {
        json_close(']');
        json_close('}');
    }
    free(tenants);
    return result;
}

/* Writes domain, bus, device and function in MPS's form, "0000:65.00.00". */
static const char *pci_dotted(char out[FORMAT_MAX], const char *pci)
{
    unsigned domain, bus, device, function;

    if (sscanf(pci, "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4)
        return shown(pci);
    snprintf(out, FORMAT_MAX, "%04x:%02x.%02x.%02x", domain, bus, device, function);
    return out;
}

static void devices_print(const struct ctl_status_reply *reply)
{
    char pci[FORMAT_MAX];

    printf("%-15s %-14s %-41s %-33s %s\n", "Device Ordinal", "PCI IDs", "UUID", "Name",
           "Attributes");
    for (uint32_t i = 0; i < reply->device_count; i++)
        printf("%-15" PRIu32 " %-14s %-41s %-33s %s\n", i, pci_dotted(pci, reply->device[i].pci),
               shown(reply->device[i].uuid), reply->device[i].name, "N/A");
}

static void query_json(const struct ctl_status_reply *reply)
{
    char pci[FORMAT_MAX];

    json_open(NULL, '{');
    json_pid("server", reply->server_pid);
    json_open("devices", '[');
    for (uint32_t i = 0; i < reply->device_count; i++) {
        json_open(NULL, '{');
        json_number("device_ordinal", i);
        json_text("pci_ids", pci_dotted(pci, reply->device[i].pci));
        json_text("uuid", reply->device[i].uuid);
        json_text("name", reply->device[i].name);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

/* Prints the devices. MPS prints those of its daemon and of each server, which are the same
 * here. */
int mps_device_query(const struct mps_call *call)
{
    struct ctl_status_reply reply;
    int result = status_of(call, 0, &reply);

    if (result != 0)
        return result;
    if (call->json) {
        query_json(&reply);
        return 0;
    }
    puts("Default");
    devices_print(&reply);
    printf("\nServer %" PRId32 "\n", reply.server_pid);
    devices_print(&reply);
    return 0;
}
