/* settings.c - see settings.h. */
#include "server/state/settings.h"

#include <string.h>

#include "common/setting_text.h"

/* Returns the index of the user's settings, or the index at which they would be inserted. */
static uint32_t user_index(const struct settings *settings, uid_t uid)
{
    uint32_t low = 0, high = settings->user_count;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (settings->user[middle].uid < uid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct ctl_settings *settings_find_user(const struct settings *settings, uid_t uid)
{
    uint32_t at = user_index(settings, uid);

    return at < settings->user_count && settings->user[at].uid == uid ? &settings->user[at].set
                                                                      : NULL;
}

struct ctl_settings settings_of_user(const struct settings *settings, uid_t uid)
{
    const struct ctl_settings *user = settings_find_user(settings, uid);

    return user ? *user : (struct ctl_settings){0};
}

bool settings_put_user(struct settings *settings, uid_t uid, const struct ctl_settings *set)
{
    uint32_t at = user_index(settings, uid), count = settings->user_count;
    bool there = at < count && settings->user[at].uid == uid;

    if (there && set->fields == 0) {
        memmove(settings->user + at, settings->user + at + 1,
                (count - at - 1) * sizeof(*settings->user));
        settings->user_count--;
        return true;
    }
    if (!there) {
        if (set->fields == 0)
            return true;
        if (count == SETTINGS_USERS_MAX)
            return false;
        memmove(settings->user + at + 1, settings->user + at,
                (count - at) * sizeof(*settings->user));
        settings->user_count++;
    }
    settings->user[at] = (struct user_settings){uid, *set};
    return true;
}

uint32_t settings_find_reservation(const struct settings *settings, const char *name)
{
    uint32_t i = 0;

    while (i < SETTINGS_RESERVATIONS_MAX && strcmp(settings->reservation[i].name, name) != 0)
        i++;
    return *name ? i : SETTINGS_RESERVATIONS_MAX;
}

bool reservation_name_valid(const char name[32])
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    size_t length = strnlen(name, 32);

    return length > 0 && length < 32 && strspn(name, allowed) == length;
}

struct ctl_settings settings_merge(const struct ctl_settings *old, uint32_t unset,
                                   const struct ctl_settings *set)
{
    static const struct ctl_settings nothing;
    struct ctl_settings merged = *old;

    merged.fields = (old->fields & ~unset) | set->fields;
    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];

        if (set->fields & field->bit)
            setting_copy(&merged, field, set);
        else if (!(merged.fields & field->bit))
            setting_copy(&merged, field, &nothing);
    }
    return merged;
}
