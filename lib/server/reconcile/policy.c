/* policy.c - see policy.h. */
#include "server/reconcile/policy.h"

#include <string.h>

#include "server/link/worker_link.h"
#include "server/state/grants.h"
#include "server/state/server.h"

/* The part of the device that is left to each latency session at work if the operator has set none:
 * 16 SMs of 132, with which a request's tail latency stays within a tenth of what it is alone. At
 * most half of the device is left in all. */
#define LATENCY_PERCENT 12u
/* The part of the headroom that is left free while latency work may come at any time: one SM in
 * PARTIAL_OF. */
#define PARTIAL_OF      4u

/* Returns the number of SMs for `sessions` sessions at work. The operator's setting holds for any
 * number of sessions. */
static uint32_t latency_sms(const struct device *device, uint32_t sessions)
{
    const struct ctl_settings *set = &device->server->settings.device[device->index];
    const uint32_t share = (device->sms.sm_count * LATENCY_PERCENT + 99) / 100;

    if (set->fields & CTL_LATENCY_SMS)
        return set->latency_sms;
    return sessions * share <= device->sms.sm_count / 2 ? sessions * share
                                                        : device->sms.sm_count / 2;
}

/* Chooses headroom from the SMs that best-effort sessions may use: those with the fewest capped
 * sessions, and never all. The result contains `chosen`, and keeps SMs of `former` if possible. */
static struct sm_mask headroom_choose(const struct device *device, uint32_t sms,
                                      struct sm_mask chosen, struct sm_mask former,
                                      struct sm_mask room, const uint32_t *load)
{
    uint32_t most = sm_mask_count(&room);

    most = most > device->sms.granularity ? most - device->sms.granularity : 0;
    if (device->sms.group_count == 0 || sms == 0 || most == 0)
        return (struct sm_mask){{0}};
    if (sms > most)
        sms = most;
    if (sm_mask_count(&chosen) >= sms)
        return chosen;
    if (sm_mask_within(&chosen, &former) && sm_mask_within(&former, &room) &&
        sm_mask_count(&former) >= sms && sm_mask_count(&former) < sms + device->sms.granularity)
        return former;
    room = sm_mask_minus(room, chosen);
    room = placer_mask_choose(&device->sms, &room, sms - sm_mask_count(&chosen), load);
    return sm_mask_or(chosen, room);
}

void policy_update(struct device *device)
{
    struct link_message message = {.op = LINK_POLICY};
    const struct server_options *options = &device->server->options;
    struct link_policy policy = {.accounting = !options->no_accounting,
                                 .weights = !options->no_weights};
    struct sm_mask headroom = {{0}}, room = device->space[0], share, partial;
    uint32_t load[PLACER_GROUPS_MAX] = {0};

    if (device->worker.state != WORKER_READY)
        return;
    grants_load(device, load, &room);
    for (uint32_t i = 0; i < LINK_SHARES; i++) {
        headroom = headroom_choose(device, latency_sms(device, i + 1), headroom,
                                   sm_mask_of(device->policy.headroom_mask[i]), room, load);
        memcpy(policy.headroom_mask[i], headroom.word, sizeof(policy.headroom_mask[i]));
    }
    share = sm_mask_of(policy.headroom_mask[0]);
    partial = placer_mask_choose(&device->sms, &share,
                                 (sm_mask_count(&share) + PARTIAL_OF - 1) / PARTIAL_OF, NULL);
    memcpy(policy.partial_mask, partial.word, sizeof(policy.partial_mask));
    if (device->policy_sent && memcmp(&policy, &device->policy, sizeof(policy)) == 0)
        return;
    device->policy = policy;
    device->headroom_sms = sm_mask_count(&share);
    device->policy_sent = true;
    message.u.policy = policy;
    message.slot = 0;
    worker_send(device, &message);
}
