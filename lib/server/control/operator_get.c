/* operator_get.c - CTL_GET: what is set, and what sessions have of it, in rows by key. */
#include <string.h>

#include "server/control/operator.h"
#include "server/state/qos.h"
#include "server/state/settings_fit.h"

#define KEY_ID(key) ((key) & ((UINT64_C(1) << 56) - 1))

static struct ctl_row row_new(enum ctl_target target, uint64_t id)
{
    return (struct ctl_row){.key = ctl_row_key(target, id), .device = -1};
}

/* Returns the fields that do not fit some device: what is set for sessions is for all devices. */
static uint32_t unfit_anywhere(const struct server *server, const struct ctl_settings *set)
{
    uint32_t unfit = 0;

    for (int i = 0; i < server->device_count; i++)
        unfit |= settings_unfit(&server->device[i], set);
    return unfit;
}

/* Each of these gives the first row of its kind whose id is at least `from`. false: there is none.
 */
static bool row_default(const struct server *server, uid_t asker, uint64_t from,
                        struct ctl_row *row)
{
    (void)asker;
    if (from > 0)
        return false;
    *row = row_new(CTL_DEFAULT, 0);
    row->set = qos_set_everybody(server);
    row->unfit = unfit_anywhere(server, &row->set);
    return true;
}

/* Returns the first user from that uid on in one of the two tables that the asker sees; CTL_OTHERS:
 * there is none. */
static uint32_t user_next(const struct server *server, uid_t asker, const struct settings *settings,
                          uint64_t from)
{
    uint32_t i = 0;

    while (i < settings->user_count &&
           (settings->user[i].uid < from || !server_shows(server, asker, settings->user[i].uid)))
        i++;
    return i < settings->user_count ? settings->user[i].uid : CTL_OTHERS;
}

static bool row_user(const struct server *server, uid_t asker, uint64_t from, struct ctl_row *row)
{
    uint32_t uid = user_next(server, asker, &server->settings, from);
    uint32_t more = user_next(server, asker, &server->policy, from);

    uid = more < uid ? more : uid;
    if (from > CTL_OTHERS || (uid == CTL_OTHERS && !server_serves_others(&server->options)))
        return false;
    *row = row_new(CTL_USER, uid);
    row->uid = uid;
    row->set =
        uid == CTL_OTHERS ? qos_others(server, &server->device[0]) : qos_set_user(server, uid);
    row->unfit = unfit_anywhere(server, &row->set);
    return true;
}

static bool row_device(const struct server *server, uid_t asker, uint64_t from, struct ctl_row *row)
{
    const struct device *device;

    (void)asker;
    if (from >= (uint64_t)server->device_count)
        return false;
    device = &server->device[from];
    *row = row_new(CTL_DEVICE, from);
    row->device = device->index;
    row->set = server->settings.device[from];
    row->unfit = settings_unfit(device, &row->set);
    row->sm_count = device->headroom_sms;
    memcpy(row->sm_mask, device->policy.headroom_mask[0], sizeof(row->sm_mask));
    return true;
}

static bool row_reservation(const struct server *server, uid_t asker, uint64_t from,
                            struct ctl_row *row)
{
    (void)asker; /* whoever is to attach to one has to know its name */
    for (uint64_t i = from; i < SETTINGS_RESERVATIONS_MAX; i++) {
        const struct reservation *r = &server->settings.reservation[i];

        if (r->name[0] == 0)
            continue;
        *row = row_new(CTL_RESERVATION, i);
        row->device = r->device;
        row->state = CTL_NO_SUCH_DEVICE;
        if (r->device < server->device_count) {
            const struct sm_mask *space = &server->device[r->device].space[i + 1];
            row->sm_count = sm_mask_count(space);
            row->state = row->sm_count ? CTL_RESERVED : CTL_NOT_RESERVED;
            memcpy(row->sm_mask, space->word, sizeof(row->sm_mask));
        }
        memcpy(row->name, r->name, sizeof(row->name));
        return true;
    }
    return false;
}

static bool row_session(const struct server *server, uid_t asker, uint64_t from,
                        struct ctl_row *row)
{
    const uid_t *of = server_shows_all(server, asker) ? NULL : &asker;
    const struct link_grant *grant;
    struct session *s;
    struct sm_mask sms;

    if (!registry_page(&server->registry, from, of, &s, 1))
        return false;
    grant = &s->grant.target;
    sms = grants_sms(s);
    *row = row_new(CTL_TENANT, s->id);
    row->uid = s->uid;
    row->device = s->device->index;
    row->sm_count = sm_mask_count(&sms);
    memcpy(row->sm_mask, sms.word, sizeof(row->sm_mask));
    row->exclusive = s->grant.applied.exclusive;
    row->priority = grant->priority;
    row->cls = grant->cls;
    row->weight = grant->weight;
    row->launches_max = grant->launches_max;
    row->mem_limit = s->mem_limit;
    row->user_mem_limit = grant->user_mem_limit;
    row->set = s->set;
    row->state = session_tenant_state(s);
    memcpy(row->name, s->name, sizeof(row->name));
    if (s->space)
        memcpy(row->reservation, server->settings.reservation[s->space - 1].name,
               sizeof(row->reservation));
    return true;
}

/* Finds the first row from a key on that the asker sees. false: there is none. */
static bool row_next(const struct server *server, uid_t asker, uint64_t key, struct ctl_row *row)
{
    static bool (*const kinds[])(const struct server *server, uid_t asker, uint64_t from,
                                 struct ctl_row *row) = {
        [CTL_DEFAULT] = row_default,         [CTL_USER] = row_user,      [CTL_DEVICE] = row_device,
        [CTL_RESERVATION] = row_reservation, [CTL_TENANT] = row_session,
    };

    for (uint64_t kind = key >> 56; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
        if (kinds[kind](server, asker, kind == key >> 56 ? KEY_ID(key) : 0, row))
            return true;
    }
    return false;
}

void operator_get(struct server *server, const struct ctl_admin *request, const struct reply *reply)
{
    struct ctl_get_reply answer = {.status = GS_OK, .provision = server->settings.provision};
    uint64_t key = request->cursor;
    struct ctl_row row;

    while (row_next(server, reply->uid, key, &row)) {
        if (answer.count == CTL_GET_ROWS) {
            answer.next_cursor = row.key;
            break;
        }
        answer.row[answer.count++] = row;
        key = row.key + 1;
    }
    reply_send(reply, &answer.h, sizeof(answer));
}
