/* servers.c - `gsctl servers`: lists the running servers, their users and their devices. */
#include <stdio.h>
#include <stdlib.h>

#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/ask/servers.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/show/show.h"

/* The time for the answers of all servers together. */
#define SERVERS_NS 1500000000u

static const char *const header[] = {"SERVER", "PID", "DEV", "STATE", "TENANTS", "UP", "DEVICE"};
static const bool right[] = {false, true, true, false, true, true, false};
#define COLUMNS (sizeof(header) / sizeof(header[0]))
static_assert(COLUMNS == sizeof(right) / sizeof(right[0]), "columns of servers");

/* One server's answer. */
struct answer {
    gs_status status; /* GS_OK: it has answered */
    struct control control;
    struct ctl_status_reply reply;
    char message[REQUEST_MESSAGE_MAX];
};

/* "USER:NAME", as --instance takes it. */
static void server_name(char *out, size_t size, const struct server_found *server)
{
    char owner[FORMAT_MAX];

    snprintf(out, size, "%s:%s", format_user(owner, server->owner),
             *server->instance ? server->instance : "?");
}

static void server_ask(const struct server_found *server, uint64_t deadline_ns,
                       struct answer *answer)
{
    char name[16 + WIRE_INSTANCE_MAX];

    answer->control.queue = -1;
    if (!*server->instance) {
        snprintf(answer->message, sizeof(answer->message),
                 "the server is of another version of gshare");
        answer->status = GS_ERR_VERSION;
        return;
    }
    snprintf(name, sizeof(name), "%u:%s", server->owner, server->instance);
    answer->status = control_open(&answer->control, name, answer->message);
    if (answer->status == GS_OK)
        answer->status =
            status_read_by(&answer->control, &answer->reply, deadline_ns, answer->message);
    control_close(&answer->control);
}

static const char *state_text(gs_status status)
{
    switch (status) {
    case GS_ERR_NO_SERVER: /* it has its page, but its queue not yet or no longer */
        return "starting or ending";
    case GS_ERR_SERVER_LOST:
        return "ending";
    case GS_ERR_TIMEOUT:
        return "not answering";
    case GS_ERR_VERSION:
        return "another version";
    case GS_ERR_REFUSED:
        return "not for this user";
    default:
        return "error";
    }
}

static void number_add(struct table *table, unsigned long long number)
{
    char text[FORMAT_MAX];

    snprintf(text, sizeof(text), "%llu", number);
    table_add(table, text);
}

static void silent_row_add(struct table *table, const struct server_found *server, gs_status status)
{
    char name[TABLE_CELL_MAX];

    server_name(name, sizeof(name), server);
    table_add(table, name);
    number_add(table, (unsigned)server->pid);
    table_add(table, "-");
    table_add(table, state_text(status));
    for (int i = 0; i < 3; i++)
        table_add(table, "-");
}

static void rows_add(struct table *table, const struct server_found *server,
                     const struct ctl_status_reply *reply)
{
    char text[TABLE_CELL_MAX], up[FORMAT_MAX];

    for (uint32_t i = 0; i < reply->device_count; i++) {
        const struct ctl_device *d = &reply->device[i];

        server_name(text, sizeof(text), server);
        table_add(table, text);
        number_add(table, (unsigned)reply->server_pid);
        number_add(table, i);
        snprintf(text, sizeof(text), "%s%s%s", device_state_name(d->state),
                 d->drained ? ", drained" : "", *reply->message ? ", ending" : "");
        table_add(table, text);
        number_add(table, d->tenants);
        table_add(table, format_duration(up, reply->uptime_ns));
        table_add(table, d->name);
    }
}

static void server_json(const struct server_found *server, const struct answer *answer)
{
    char owner[FORMAT_MAX];

    json_open(NULL, '{');
    if (answer->status == GS_OK) {
        status_members_json(&answer->reply, &answer->control);
    } else {
        json_text("instance", server->instance);
        json_text("owner", format_user(owner, server->owner));
        json_number("owner_uid", server->owner);
        json_pid("pid", server->pid);
    }
    json_text("error", answer->status == GS_OK ? "" : answer->message);
    json_close('}');
}

int command_servers(struct control *control, const struct command_options *options)
{
    static struct server_found found[SERVERS_MAX];
    struct table table = {.header = header, .right = right, .columns = COLUMNS};
    size_t count = servers_find(found);
    uint64_t end_ns = clock_ns() + SERVERS_NS;

    (void)control;
    if (options->json) {
        json_open(NULL, '{');
        json_open("servers", '[');
    }
    for (size_t i = 0; i < count; i++) {
        struct answer answer = {0};
        uint64_t now = clock_ns();

        server_ask(&found[i], now + (end_ns > now ? (end_ns - now) / (count - i) : 0), &answer);
        if (options->json)
            server_json(&found[i], &answer);
        else if (answer.status == GS_OK)
            rows_add(&table, &found[i], &answer.reply);
        else
            silent_row_add(&table, &found[i], answer.status);
    }
    if (options->json) {
        json_close(']');
        json_close('}');
    } else if (count) {
        table_print(&table);
    }
    table_deinit(&table);
    return count ? 0
                 : ask_failed(GS_ERR_NO_SERVER, "no gshare server runs here that serves this user; "
                                                "start one: gshared -d");
}
