/* reservations.c - see reservations.h. */
#include "server/reconcile/reservations.h"

#include <string.h>

#include "common/log.h"
#include "server/state/grants.h"
#include "server/state/server.h"
#include "server/state/settings_fit.h"

/* Returns SMs for a reservation out of the unreserved ones; none if there are not enough. */
static struct sm_mask reservation_choose(const struct device *device,
                                         const struct reservation *reservation,
                                         const struct sm_mask *unreserved, const uint32_t *load)
{
    struct sm_mask none = {{0}}, mask;

    if (reservation->sms == 0)
        return placer_mask_whole(&device->sms, &reservation->wanted) &&
                       sm_mask_within(&reservation->wanted, unreserved)
                   ? reservation->wanted
                   : none;
    mask = placer_mask_choose(&device->sms, unreserved, reservation->sms, load);
    return sm_mask_count(&mask) >= reservation->sms ? mask : none;
}

static void misfit_log(const struct device *device, const struct reservation *reservation)
{
    const struct placer_device *sms = &device->sms;
    struct ctl_settings wanted = {.fields = reservation->sms ? CTL_SMS : CTL_MASK,
                                  .sms = reservation->sms};
    char text[REFUSAL_TEXT_MAX];

    memcpy(wanted.sm_mask, reservation->wanted.word, sizeof(wanted.sm_mask));
    if (settings_check_sms(sms, &wanted, text) == GS_OK)
        refusal(text, GS_ERR_LIMIT, "other reservations leave %u SMs",
                sm_mask_count(&device->space[0]));
    log_warning("event=not-applied device=%d reservation=%s reason=%s", device->index,
                reservation->name, text);
}

void reservations_place(struct device *device)
{
    const struct settings *settings = &device->server->settings;

    device->space[0] = device->sms.all;
    for (uint32_t i = 0; i < SETTINGS_RESERVATIONS_MAX; i++) {
        const struct reservation *r = &settings->reservation[i];
        struct sm_mask *space = &device->space[i + 1];

        *space = (struct sm_mask){{0}};
        if (r->name[0] == 0 || r->device != device->index)
            continue;
        *space = reservation_choose(device, r, &device->space[0], NULL);
        if (sm_mask_empty(space))
            misfit_log(device, r);
        device->space[0] = sm_mask_minus(device->space[0], *space);
    }
}

static gs_status room_refusal(const struct reservation *reservation, const struct sm_mask *room,
                              char text[REFUSAL_TEXT_MAX])
{
    const struct sm_mask free = sm_mask_and(*room, reservation->wanted);

    if (reservation->sms)
        return refusal(text, GS_ERR_LIMIT, "%u SMs are wanted, and %u of the device's are free",
                       reservation->sms, sm_mask_count(room));
    return refusal(text, GS_ERR_LIMIT, "%u SMs are wanted, and %u of these are free",
                   sm_mask_count(&reservation->wanted), sm_mask_count(&free));
}

gs_status reservation_place(struct device *device, uint32_t index, char text[REFUSAL_TEXT_MAX])
{
    const struct reservation *reservation = &device->server->settings.reservation[index];
    struct sm_mask room = device->space[0], mask;
    uint32_t load[PLACER_GROUPS_MAX] = {0};

    grants_load(device, load, &room);
    mask = reservation_choose(device, reservation, &room, load);
    if (sm_mask_empty(&mask))
        return room_refusal(reservation, &room, text);
    device->space[index + 1] = mask;
    device->space[0] = sm_mask_minus(device->space[0], mask);
    return GS_OK;
}

void reservation_remove(struct device *device, uint32_t index)
{
    device->space[0] = sm_mask_or(device->space[0], device->space[index + 1]);
    device->space[index + 1] = (struct sm_mask){{0}};
}
