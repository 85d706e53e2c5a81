/* settings_fit.c - see settings_fit.h. */
#include "server/state/settings_fit.h"

#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "common/setting_text.h"
#include "common/sm_groups.h"
#include "server/placer/sm_check.h"
#include "server/state/qos.h"
#include "server/state/server.h"

gs_status settings_check_sms(const struct placer_device *sms, const struct ctl_settings *s,
                             char text[REFUSAL_TEXT_MAX])
{
    gs_status status = sm_check_partitions(sms, text);

    if (status == GS_OK && s->fields & CTL_SMS)
        status = sm_check_count(sms, s->sms, text);
    if (status == GS_OK && s->fields & CTL_MASK)
        status = sm_check_mask(sms, s->sm_mask, text);
    return status;
}

gs_status settings_field_fits(const struct device *device, const struct ctl_settings *set,
                              uint32_t bit, char text[REFUSAL_TEXT_MAX])
{
    const struct placer_device *sms = &device->sms;
    gs_status status;

    switch (bit) {
    case CTL_PERCENTAGE:
        return set->hundredths == SM_HUNDREDTHS ? GS_OK : sm_check_partitions(sms, text);
    case CTL_EXCLUSIVE:
        return set->exclusive ? sm_check_partitions(sms, text) : GS_OK;
    case CTL_SMS:
        status = sm_check_count(sms, set->sms, text);
        return status != GS_OK || set->sms == sms->sm_count ? status
                                                            : sm_check_partitions(sms, text);
    case CTL_MASK:
        status = sm_check_partitions(sms, text);
        return status == GS_OK ? sm_check_mask(sms, set->sm_mask, text) : status;
    case CTL_PRIORITY:
        return qos_check_priority(set->priority, qos_priority_most(device), text);
    case CTL_LATENCY_SMS:
        return sm_check_latency(sms, set->latency_sms, text);
    default:
        return GS_OK;
    }
}

uint32_t settings_unfit(const struct device *device, const struct ctl_settings *set)
{
    char text[REFUSAL_TEXT_MAX];
    uint32_t unfit = 0;

    for (size_t i = 0; device->sms.sm_count && i < setting_field_count; i++) {
        const uint32_t bit = setting_fields[i].bit;

        if (set->fields & bit && settings_field_fits(device, set, bit, text) != GS_OK)
            unfit |= bit;
    }
    return unfit;
}

/* ---- The log --------------------------------------------------------------------------------- */

/* Describes the effect of a field on this device, as qos.c and reconcile/policy.c apply it. */
static void effect_describe(const struct device *device, const struct ctl_settings *set,
                            uint32_t bit, char text[REFUSAL_TEXT_MAX])
{
    const struct placer_device *sms = &device->sms;
    struct sm_mask wanted = sm_mask_of(set->sm_mask), inner = placer_mask_inner(sms, &wanted);
    char list[48];

    if (bit == CTL_LATENCY_SMS)
        snprintf(text, REFUSAL_TEXT_MAX, "%s are left to latency work",
                 sms->group_count ? "as many as can be" : "none");
    else if (bit == CTL_PRIORITY || (bit == CTL_SMS && set->sms > sms->sm_count))
        snprintf(text, REFUSAL_TEXT_MAX, "it limits nothing here");
    else if (bit == CTL_MASK && sms->group_count && !sm_mask_empty(&inner))
        snprintf(text, REFUSAL_TEXT_MAX, "only %s of it count here",
                 sm_mask_print(list, sizeof(list), &inner));
    else
        snprintf(text, REFUSAL_TEXT_MAX, "whom it concerns cannot attach here");
}

static void unfit_log(const struct device *device, const char *section,
                      const struct ctl_settings *set)
{
    const uint32_t unfit = settings_unfit(device, set);

    for (size_t i = 0; unfit && i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];
        char value[SETTING_TEXT_MAX], why[REFUSAL_TEXT_MAX], effect[REFUSAL_TEXT_MAX];

        if (!(unfit & field->bit))
            continue;
        settings_field_fits(device, set, field->bit, why);
        effect_describe(device, set, field->bit, effect);
        log_warning("event=not-applied device=%d reason=\"[%s] %s = %s does not fit: %s; %s\"",
                    device->index, section, field->name, setting_print(value, set, field), why,
                    effect);
    }
}

static void users_log(const struct device *device, const struct settings *settings)
{
    char section[32];

    unfit_log(device, "default", &settings->everybody);
    for (uint32_t i = 0; i < settings->user_count; i++) {
        if (settings->user[i].uid == CTL_OTHERS)
            snprintf(section, sizeof(section), "others");
        else
            snprintf(section, sizeof(section), "user %u", (unsigned)settings->user[i].uid);
        unfit_log(device, section, &settings->user[i].set);
    }
}

void settings_fit_log(const struct device *device)
{
    const struct settings *settings = &device->server->settings;
    char section[32];

    users_log(device, &device->server->policy);
    users_log(device, settings);
    snprintf(section, sizeof(section), "device %d", device->index);
    unfit_log(device, section, &settings->device[device->index]);
    if (settings->provision != CTL_PROVISION_EXACT && device->sms.group_count == 0)
        log_warning(
            "event=not-applied device=%d reason=\"[provision] mode = %s does not fit: the device "
            "has no partitions; who would come to have less than all of it cannot attach here\"",
            device->index, provision_name(settings->provision));
}

void settings_fit_log_absent(const struct server *server)
{
    for (uint32_t i = (uint32_t)server->device_count; i < SETTINGS_DEVICES_MAX; i++) {
        if (server->settings.device[i].fields)
            log_warning("event=not-applied device=%u reason=\"of devices the server has %d, "
                        "counted from 0\"",
                        i, server->device_count);
    }
    for (uint32_t i = 0; i < SETTINGS_RESERVATIONS_MAX; i++) {
        const struct reservation *r = &server->settings.reservation[i];

        if (r->name[0] && r->device >= server->device_count)
            log_warning("event=not-applied device=%d reservation=%s reason=\"of devices the server "
                        "has %d, counted from 0\"",
                        r->device, r->name, server->device_count);
    }
}
