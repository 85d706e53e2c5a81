/* settings_read.c - see settings_read.h. */
#include "server/state/settings_read.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/setting_text.h"
#include "common/util.h"
#include "server/state/group_members.h"

enum section {
    SECTION_NONE,
    SECTION_WRONG, /* the heading is invalid, and the section's lines are skipped */
    SECTION_SETTINGS,
    SECTION_RESERVATION,
    SECTION_PROVISION,
    SECTION_SERVER
};

/* The settings for the members of a Unix group. */
struct group_section {
    char name[33];
    struct ctl_settings set;
};

struct reader {
    struct settings *settings;
    struct policy *policy; /* NULL for a state file, which has no [server] and no user names */
    char *error;           /* the first error */
    void (*said)(const char *error);
    bool good;
    unsigned line;
    enum section section;
    /* The section that is being read, whose values are stored at its end. */
    uint32_t target; /* enum ctl_target */
    uint64_t id;
    struct ctl_settings set;
    struct reservation reservation;
    bool device_given, mode_given, is_group;
    bool nobodys; /* the section of an unknown user, whose lines are checked and then dropped */
    /* Kept until all [user] sections are read, which take precedence. */
    struct group_section group[POLICY_GROUPS_MAX];
    uint32_t group_count;
    /* Sections that may come only once. */
    bool default_seen, provision_seen, server_seen, device_seen[SETTINGS_DEVICES_MAX],
        class_seen[CLASSES];
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct reader *r, const char *format, ...)
{
    char error[STATE_ERROR_MAX];
    int n = snprintf(error, sizeof(error), "line %u: ", r->line);
    va_list ap;

    va_start(ap, format);
    vsnprintf(error + n, sizeof(error) - (size_t)n, format, ap);
    va_end(ap);
    if (r->said)
        r->said(error);
    if (r->good)
        memcpy(r->error, error, sizeof(error));
    r->good = false;
    return false;
}

static bool whole_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return errno == 0 && *end == 0 && *number <= max;
}

static bool reservation_end(struct reader *r)
{
    struct settings *settings = r->settings;
    uint32_t at = 0;

    if (r->reservation.sms == 0 && sm_mask_empty(&r->reservation.wanted))
        return wrong(r, "reservation '%s' ends here without sms or mask", r->reservation.name);
    if (r->reservation.sms && !sm_mask_empty(&r->reservation.wanted))
        return wrong(r, "reservation '%s' ends here with both sms and mask", r->reservation.name);
    while (at < SETTINGS_RESERVATIONS_MAX && settings->reservation[at].name[0])
        at++;
    if (at == SETTINGS_RESERVATIONS_MAX)
        return wrong(r, "more than %u reservations", SETTINGS_RESERVATIONS_MAX);
    settings->reservation[at] = r->reservation;
    return true;
}

/* Stores the values of the section that has been read. */
static bool section_end(struct reader *r)
{
    switch (r->section) {
    case SECTION_RESERVATION:
        return reservation_end(r);
    case SECTION_SETTINGS:
        if (r->set.exclusive && !(r->set.fields & (CTL_PERCENTAGE | CTL_SMS | CTL_MASK)))
            return wrong(r,
                         "a section ends here that is exclusive without percentage, sms or mask");
        if (r->nobodys)
            return true;
        if (r->is_group)
            r->group[r->group_count++].set = r->set;
        else if (r->target == CTL_DEFAULT)
            r->settings->everybody = r->set;
        else if (r->target == CTL_DEVICE)
            r->settings->device[r->id] = r->set;
        else if (r->target == CTL_SESSIONS_OF)
            r->settings->cls[r->id] = r->set;
        else if (!settings_put_user(r->settings, (uid_t)r->id, &r->set))
            return wrong(r, "more than %u users", SETTINGS_USERS_MAX);
        return true;
    case SECTION_PROVISION:
    case SECTION_SERVER:
    case SECTION_NONE:
    case SECTION_WRONG:
        break;
    }
    return true;
}

static bool user_begin(struct reader *r, const char *id)
{
    uid_t uid;

    r->target = CTL_USER;
    if (r->policy && user_parse(id, &uid))
        r->id = uid;
    else if (!whole_number(id, UINT32_MAX - 1, &r->id))
        r->nobodys = true;
    if (r->nobodys)
        return wrong(r, "'%.40s' is no %s", id, r->policy ? "user" : "uid");
    if (settings_find_user(r->settings, (uid_t)r->id))
        return wrong(r, "[user %.40s] a second time", id);
    return true;
}

static bool group_begin(struct reader *r, const char *name)
{
    struct group_section *group = &r->group[r->group_count];

    r->target = CTL_USER;
    r->is_group = true;
    r->nobodys = strlen(name) >= sizeof(group->name) || !group_exists(name);
    if (r->nobodys)
        return wrong(r, "'%.40s' is no group", name);
    for (uint32_t i = 0; i < r->group_count; i++)
        if (!strcmp(r->group[i].name, name))
            return wrong(r, "[group %s] a second time", name);
    if (r->group_count == POLICY_GROUPS_MAX)
        return wrong(r, "more than %u groups", POLICY_GROUPS_MAX);
    strcpy(group->name, name);
    return true;
}

static bool others_begin(struct reader *r)
{
    r->target = CTL_USER;
    r->id = CTL_OTHERS;
    return !settings_find_user(r->settings, CTL_OTHERS) || wrong(r, "[others] a second time");
}

static bool device_begin(struct reader *r, const char *id)
{
    r->target = CTL_DEVICE;
    if (!whole_number(id, SETTINGS_DEVICES_MAX - 1, &r->id))
        return wrong(r, "'%.40s' is no device: 0 to %u", id, SETTINGS_DEVICES_MAX - 1);
    if (r->device_seen[r->id])
        return wrong(r, "[device %.40s] a second time", id);
    r->device_seen[r->id] = true;
    return true;
}

static bool once(struct reader *r, bool *seen, const char *kind)
{
    if (*seen)
        return wrong(r, "[%s] a second time", kind);
    *seen = true;
    return true;
}

static bool class_begin(struct reader *r, const char *name)
{
    const struct setting_field *field = setting_find("class");
    struct ctl_settings named = {0};

    r->target = CTL_SESSIONS_OF;
    r->nobodys = !setting_parse(&named, field, name);
    if (r->nobodys)
        return wrong(r, "'%.40s' is no class: %s", name, field->values);
    r->id = named.cls;
    return once(r, &r->class_seen[r->id], name);
}

static bool reservation_begin(struct reader *r, const char *name)
{
    char field[sizeof(r->reservation.name)] = "";

    r->section = SECTION_RESERVATION;
    if (strlen(name) < sizeof(field))
        memcpy(field, name, strlen(name));
    if (!reservation_name_valid(field))
        return wrong(r, "'%.40s' is no name of a reservation", name);
    if (settings_find_reservation(r->settings, name) < SETTINGS_RESERVATIONS_MAX)
        return wrong(r, "[reservation %s] a second time", name);
    memcpy(r->reservation.name, field, sizeof(field));
    return true;
}

static bool server_begin(struct reader *r)
{
    r->section = SECTION_SERVER;
    if (r->server_seen)
        return wrong(r, "[server] a second time");
    r->server_seen = true;
    return true;
}

static bool section_begin(struct reader *r, char *text)
{
    size_t length = strlen(text);
    char *kind, *id;

    if (text[length - 1] != ']' || length < 3)
        return wrong(r, "'%.60s' is no [section]", text);
    text[length - 1] = 0;
    kind = value_trim(text + 1);
    id = kind + strcspn(kind, " \t");
    if (*id)
        *id++ = 0;
    id = value_trim(id);
    r->section = SECTION_SETTINGS;
    r->set = (struct ctl_settings){0};
    r->reservation = (struct reservation){0};
    r->device_given = r->mode_given = r->is_group = r->nobodys = false;
    r->target = CTL_DEFAULT;
    r->id = 0;
    if (!strcmp(kind, "user"))
        return user_begin(r, id);
    if (!strcmp(kind, "others") && *id == 0)
        return others_begin(r);
    if (r->policy && !strcmp(kind, "server") && *id == 0)
        return server_begin(r);
    if (r->policy && !strcmp(kind, "group"))
        return group_begin(r, id);
    if (r->policy && !strcmp(kind, "class"))
        return class_begin(r, id);
    if (r->policy && (strcmp(kind, "default") || *id))
        return wrong(r,
                     "[%.40s]: there are [server], [default], [others], [class NAME], [group NAME] "
                     "and [user NAME]",
                     kind);
    if (!strcmp(kind, "device"))
        return device_begin(r, id);
    if (!strcmp(kind, "reservation"))
        return reservation_begin(r, id);
    if (!strcmp(kind, "default") && *id == 0)
        return once(r, &r->default_seen, kind);
    if (strcmp(kind, "provision") || *id)
        return wrong(r, "there is no section [%.40s]", kind);
    r->section = SECTION_PROVISION;
    return once(r, &r->provision_seen, kind);
}

static bool reservation_value(struct reader *r, const char *name, const char *value)
{
    struct reservation *reservation = &r->reservation;
    uint64_t number;

    if (!strcmp(name, "device")) {
        if (r->device_given)
            return wrong(r, "device a second time");
        if (!whole_number(value, SETTINGS_DEVICES_MAX - 1, &number))
            return wrong(r, "device = %.40s: 0 to %u", value, SETTINGS_DEVICES_MAX - 1);
        r->device_given = true;
        reservation->device = (int)number;
    } else if (!strcmp(name, "sms")) {
        if (reservation->sms)
            return wrong(r, "sms a second time");
        if (!whole_number(value, SM_MASK_SMS, &number) || number == 0)
            return wrong(r, "sms = %.40s: 1 to %u", value, SM_MASK_SMS);
        reservation->sms = (uint32_t)number;
    } else if (!strcmp(name, "mask")) {
        if (!sm_mask_empty(&reservation->wanted))
            return wrong(r, "mask a second time");
        if (!sm_mask_parse(&reservation->wanted, value))
            return wrong(r, "mask = %.60s: SMs, such as 0-7,16", value);
    } else {
        return wrong(r, "a reservation has device, sms and mask, no '%.40s'", name);
    }
    return true;
}

static bool users_value(struct reader *r, struct user_list *list, const char *name,
                        const char *value)
{
    char error[80];

    if (list->given)
        return wrong(r, "%s a second time", name);
    return user_list_parse(list, value, error, sizeof(error)) || wrong(r, "%s = %s", name, error);
}

static bool server_value(struct reader *r, const char *name, char *value)
{
    struct ctl_settings memory = {0};
    uint64_t number;

    if (!strcmp(name, "allow-users"))
        return users_value(r, &r->policy->served, name, value);
    if (!strcmp(name, "observers"))
        return users_value(r, &r->policy->observers, name, value);
    if (!strcmp(name, "max-tenants")) {
        if (r->policy->max_tenants)
            return wrong(r, "max-tenants a second time");
        if (!whole_number(value, SETTING_SESSIONS_MAX, &number) || number == 0)
            return wrong(r, "max-tenants = %.40s: 1 to %u", value, SETTING_SESSIONS_MAX);
        r->policy->max_tenants = (uint32_t)number;
        return true;
    }
    if (!strcmp(name, "mem-limit")) {
        const struct setting_field *field = setting_find("mem");

        if (r->policy->mem_limit)
            return wrong(r, "mem-limit a second time");
        if (!setting_parse(&memory, field, value) || !setting_possible(&memory, field))
            return wrong(r, "mem-limit = %.40s: %s", value, field->values);
        r->policy->mem_limit = memory.mem;
        return true;
    }
    if (!strcmp(name, "cache")) {
        if (r->policy->cache[0])
            return wrong(r, "cache a second time");
        if (!cache_parse(r->policy->cache, value))
            return wrong(r, "cache = %.40s: a directory's whole path, or none", value);
        return true;
    }
    if (!strcmp(name, "metrics")) {
        if (r->policy->metrics[0])
            return wrong(r, "metrics a second time");
        if (!metrics_parse(r->policy->metrics, value))
            return wrong(r,
                         "metrics = %.40s: ADDR:PORT, both in numbers, PORT of the loopback, or "
                         "none",
                         value);
        return true;
    }
    return wrong(
        r,
        "[server] has allow-users, cache, max-tenants, mem-limit, metrics and observers, no "
        "'%.40s'",
        name);
}

static bool setting_value(struct reader *r, const char *name, const char *value)
{
    const struct setting_field *field = setting_find(name);
    bool one_user = r->target == CTL_USER && r->id != CTL_OTHERS;

    if (!field || (r->target == CTL_DEVICE) != (field->bit == CTL_LATENCY_SMS) ||
        (field->bit == CTL_TRUST && !one_user) ||
        (r->target == CTL_SESSIONS_OF && field->bit != CTL_KERNEL_LIMIT))
        return wrong(r, "there is no setting '%.40s' here", name);
    if (r->set.fields & field->bit)
        return wrong(r, "%s a second time", name);
    if (!setting_parse(&r->set, field, value) || !setting_possible(&r->set, field))
        return wrong(r, "%s = %.60s: %s", name, value, field->values);
    return true;
}

static bool value_read(struct reader *r, char *text)
{
    char *value = strchr(text, '=');
    const char *name;

    if (!value)
        return wrong(r, "'%.60s' is no 'name = value'", text);
    *value++ = 0;
    name = value_trim(text);
    value = value_trim(value);
    switch (r->section) {
    case SECTION_SETTINGS:
        return setting_value(r, name, value);
    case SECTION_RESERVATION:
        return reservation_value(r, name, value);
    case SECTION_SERVER:
        return server_value(r, name, value);
    case SECTION_PROVISION:
        if (strcmp(name, "mode") || r->mode_given)
            return wrong(r, "[provision] has one mode");
        r->mode_given = true;
        r->settings->provision = provision_find(value);
        return r->settings->provision < CTL_PROVISION_MODES ||
               wrong(r, "mode = %.40s: exact, uniform, half or weighted", value);
    case SECTION_WRONG:
        return true;
    case SECTION_NONE:
        break;
    }
    return wrong(r, "'%.40s' before the first [section]", name);
}

/* Reads one line. Returns false if reading ends, because one error is enough. */
static bool line_read(struct reader *r, char *text)
{
    text = value_trim(text);
    if (*text == 0 || *text == '#' || *text == ';')
        return true;
    if (*text != '[')
        return value_read(r, text) || r->said;
    if (!section_end(r) && !r->said)
        return false;
    if (!section_begin(r, text) && !r->nobodys)
        r->section = SECTION_WRONG;
    return r->good || r->said;
}

/* Sets for each member the fields that neither the user's section nor an earlier group sets. */
static bool group_apply(struct reader *r, const struct group_section *group)
{
    CLEANUP_FREE uid_t *uid = NULL;
    uint32_t count = 0;

    if (group_members(group->name, &uid, &count))
        return wrong(r, "the members of group %s cannot be found", group->name);
    for (uint32_t i = 0; i < count; i++) {
        const struct ctl_settings *own = settings_find_user(r->settings, uid[i]);
        const struct ctl_settings set = own ? settings_merge(&group->set, 0, own) : group->set;

        if (!settings_put_user(r->settings, uid[i], &set))
            return wrong(r, "group %s: more than %u users", group->name, SETTINGS_USERS_MAX);
    }
    return true;
}

bool settings_read(struct settings *settings, struct policy *policy, const char *text, size_t size,
                   void (*said)(const char *error), char error[STATE_ERROR_MAX])
{
    struct reader r = {
        .settings = settings, .policy = policy, .error = error, .said = said, .good = true};
    const char *at = text, *end = text + size;
    char line[2048];

    while ((r.good || said) && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);

        r.line++;
        if (length >= sizeof(line) || memchr(at, 0, length)) {
            wrong(&r, length >= sizeof(line) ? "too long" : "not text");
        } else {
            memcpy(line, at, length);
            line[length] = 0;
            if (!line_read(&r, line))
                break;
        }
        at += length + 1;
    }
    if (r.good || said)
        section_end(&r);
    for (uint32_t i = 0; r.good && i < r.group_count; i++)
        group_apply(&r, &r.group[i]);
    if (!r.good)
        memset(settings, 0, sizeof(*settings));
    return r.good;
}
