/* status.c - `gsctl status`: the server and its devices. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/status.h"
#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/server.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/options.h"
#include "gsctl/show/show.h"

static void version_text(char out[FORMAT_MAX], uint32_t version)
{
    snprintf(out, FORMAT_MAX, "%u.%u.%u", version / 10000, version / 100 % 100, version % 100);
}

static void device_json(uint32_t index, const struct ctl_device *d)
{
    char compute[FORMAT_MAX];

    snprintf(compute, sizeof(compute), "%u.%u", d->compute_major, d->compute_minor);
    json_open(NULL, '{');
    json_number("index", index);
    json_text("name", d->name);
    json_text("driver", d->driver);
    json_text("compute", compute);
    json_number("sm_count", d->sm_count);
    json_number("memory_total", d->memory_total);
    json_number("memory_used", d->memory_used);
    json_number("tenants", d->tenants);
    json_number("tenants_ending", d->ending);
    json_number("drained", d->drained);
    json_text("state", device_state_name(d->state));
    json_pid("worker_pid", d->worker_pid);
    json_pid("standby_pid", d->standby_pid);
    json_number("faults", d->faults);
    json_text("uuid", d->uuid);
    json_text("pci_bus_id", d->pci);
    json_open("takeovers", '{');
    for (uint32_t cause = 0; cause < CTL_TAKEOVERS; cause++)
        json_number(takeover_cause_name(cause), d->takeovers[cause]);
    json_close('}');
    json_close('}');
}

void devices_json(const struct ctl_status_reply *reply)
{
    json_open("devices", '[');
    for (uint32_t i = 0; i < reply->device_count; i++)
        device_json(i, &reply->device[i]);
    json_close(']');
}

void status_members_json(const struct ctl_status_reply *r, const struct control *control)
{
    char version[FORMAT_MAX], owner[FORMAT_MAX];

    version_text(version, r->server_version);
    json_text("instance", control->instance);
    json_text("owner", format_user(owner, control->owner));
    json_number("owner_uid", control->owner);
    json_text("version", version);
    json_number("pid", (uint32_t)r->server_pid);
    json_number("uptime_ns", r->uptime_ns);
    json_number("tenants", r->tenants);
    json_number("tenants_max", r->tenants_max);
    json_number("sessions_total", r->sessions_total);
    json_text("ending", r->message);
    devices_json(r);
    json_open("refusals", '{');
    for (uint32_t status = 0; status < CTL_STATUSES; status++) {
        if (r->refusals[status])
            json_number(status_name((gs_status)status), r->refusals[status]);
    }
    json_close('}');
}

static void print_text(const struct ctl_status_reply *r, const struct control *control)
{
    char version[FORMAT_MAX], owner[FORMAT_MAX], a[FORMAT_MAX], b[FORMAT_MAX], ending[FORMAT_MAX];
    char worker[FORMAT_MAX], standby[FORMAT_MAX];

    version_text(version, r->server_version);
    printf("server    '%s' of %s, version %s, pid %d, up %s\n", control->instance,
           format_user(owner, control->owner), version, r->server_pid,
           format_duration(a, r->uptime_ns));
    printf("tenants   %u of at most %u; %llu since the start\n", r->tenants, r->tenants_max,
           (unsigned long long)r->sessions_total);
    if (*r->message)
        printf("ending    %s\n", r->message);
    for (uint32_t i = 0; i < r->device_count; i++) {
        const struct ctl_device *d = &r->device[i];

        device_title_print(i, d);
        ending[0] = 0;
        if (d->ending)
            snprintf(ending, sizeof(ending), " (%u ending)", d->ending);
        standby[0] = 0;
        if (d->standby_pid)
            snprintf(standby, sizeof(standby), ", standby pid %d", d->standby_pid);
        printf("          %s%s, %s%s%s%s\n", device_state_name(d->state),
               d->drained ? ", drained" : "", format_worker(worker, d), standby,
               *d->driver ? ", " : "", d->driver);
        printf("          tenants: %u%s, holding %s of %s; workers lost: %u\n", d->tenants, ending,
               size_rounded(a, d->memory_used), size_rounded(b, d->memory_total), d->faults);
    }
}

/* Returns where the log is, as text; NULL: the server tells only its owner and root. Other users do
 * not ask, since each denied request is a warning in the log. */
static const char *log_text(struct control *control, struct ctl_log_reply *reply)
{
    char message[REQUEST_MESSAGE_MAX];

    if (geteuid() != 0 && geteuid() != control->owner)
        return NULL;
    if (log_destination_read(control, reply, message) != GS_OK)
        return NULL;
    return reply->destination == CTL_LOG_JOURNAL   ? "journal"
           : reply->destination == CTL_LOG_NOWHERE ? "none"
                                                   : reply->path;
}

int command_status(struct control *control, const struct command_options *options)
{
    char message[REQUEST_MESSAGE_MAX];
    struct ctl_status_reply reply;
    struct ctl_log_reply destination;
    gs_status status = status_read(control, &reply, message);

    if (status != GS_OK)
        return ask_failed(status, message);
    const char *log = log_text(control, &destination);
    if (!options->json) {
        print_text(&reply, control);
        if (log)
            printf("log       %s\n", log);
        return 0;
    }
    json_open(NULL, '{');
    status_members_json(&reply, control);
    json_text("log", log ? log : "");
    json_close('}');
    return 0;
}
