/* settings_log.c - see settings_log.h. */
#include "server/state/settings_log.h"

#include <stdio.h>
#include <string.h>

#include "common/setting_text.h"

static void target_put(struct log_event *event, uint32_t target, uint64_t id)
{
    switch (target) {
    case CTL_USER:
        if (id == CTL_OTHERS)
            log_event_text(event, "for", "others");
        else
            log_event_user(event, "for", (uid_t)id);
        break;
    case CTL_DEFAULT:
        log_event_text(event, "for", "default");
        break;
    case CTL_SESSIONS_OF:
        log_event_text(event, "for", class_name((uint32_t)id));
        break;
    default:
        log_event_text(event, "for", target_name(target));
        log_event_number(event, target_name(target), id);
        break;
    }
}

void settings_change_log(struct log_event event, uint32_t target, uint64_t id,
                         const struct ctl_settings *old, const struct ctl_settings *set)
{
    bool changed = false;

    target_put(&event, target, id);
    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];
        char former[SETTING_TEXT_MAX] = "none", present[SETTING_TEXT_MAX] = "none", key[48];

        if (old->fields & field->bit)
            setting_print(former, old, field);
        if (set->fields & field->bit)
            setting_print(present, set, field);
        if (!strcmp(former, present))
            continue;
        snprintf(key, sizeof(key), "%s_was", field->name);
        log_event_text(&event, field->name, present);
        log_event_text(&event, key, former);
        changed = true;
    }
    if (changed)
        log_event_write(&event, LOG_LEVEL_INFO);
}

static struct log_event by_file(const char *path)
{
    struct log_event event = log_event_begin("limits");

    log_event_text(&event, "by", path);
    return event;
}

void settings_policy_log(const char *path, const struct settings *former,
                         const struct settings *settings)
{
    static const struct ctl_settings nothing;

    settings_change_log(by_file(path), CTL_DEFAULT, 0, &former->everybody, &settings->everybody);
    for (uint32_t i = 0; i < CLASSES; i++)
        settings_change_log(by_file(path), CTL_SESSIONS_OF, i, &former->cls[i], &settings->cls[i]);
    for (uint32_t i = 0; i < settings->user_count; i++) {
        const struct ctl_settings *old = settings_find_user(former, settings->user[i].uid);

        settings_change_log(by_file(path), CTL_USER, settings->user[i].uid, old ? old : &nothing,
                            &settings->user[i].set);
    }
    for (uint32_t i = 0; i < former->user_count; i++) {
        if (!settings_find_user(settings, former->user[i].uid))
            settings_change_log(by_file(path), CTL_USER, former->user[i].uid, &former->user[i].set,
                                &nothing);
    }
}
