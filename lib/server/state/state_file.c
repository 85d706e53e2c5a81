/* state_file.c - see state_file.h. */
#include "server/state/state_file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/setting_text.h"
#include "common/util.h"

/* ---- Reading --------------------------------------------------------------------------------- */

enum section { SECTION_NONE, SECTION_SETTINGS, SECTION_RESERVATION, SECTION_PROVISION };

struct reader {
    struct settings *settings;
    char *error;
    unsigned line;
    enum section section;
    /* The section that is being read; put where it belongs at its end. */
    uint32_t target; /* enum ctl_target */
    uint64_t id;
    struct ctl_settings set;
    struct reservation reservation;
    bool device_given, mode_given;
    /* Sections that may come only once. */
    bool default_seen, provision_seen, device_seen[SETTINGS_DEVICES_MAX];
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct reader *r, const char *format, ...)
{
    int n = snprintf(r->error, STATE_ERROR_MAX, "line %u: ", r->line);
    va_list ap;

    va_start(ap, format);
    vsnprintf(r->error + n, STATE_ERROR_MAX - (size_t)n, format, ap);
    va_end(ap);
    return false;
}

static char *trim(char *text)
{
    char *end;

    while (isspace((unsigned char)*text))
        text++;
    end = text + strlen(text);
    while (end > text && isspace((unsigned char)end[-1]))
        end--;
    *end = 0;
    return text;
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

/* Puts what has been read where it belongs. */
static bool section_end(struct reader *r)
{
    switch (r->section) {
    case SECTION_RESERVATION:
        return reservation_end(r);
    case SECTION_SETTINGS:
        if (r->set.exclusive && !(r->set.fields & (CTL_PERCENTAGE | CTL_SMS | CTL_MASK)))
            return wrong(r,
                         "a section ends here that is exclusive without percentage, sms or mask");
        if (r->target == CTL_DEFAULT)
            r->settings->everybody = r->set;
        else if (r->target == CTL_DEVICE)
            r->settings->device[r->id] = r->set;
        else if (!settings_put_user(r->settings, (uid_t)r->id, &r->set))
            return wrong(r, "more than %u users, or no memory", SETTINGS_USERS_MAX);
        return true;
    case SECTION_PROVISION:
    case SECTION_NONE:
        break;
    }
    return true;
}

static bool user_begin(struct reader *r, const char *id)
{
    r->target = CTL_USER;
    if (!whole_number(id, UINT32_MAX - 1, &r->id))
        return wrong(r, "'%.40s' is no uid", id);
    if (settings_find_user(r->settings, (uid_t)r->id))
        return wrong(r, "[user %.40s] a second time", id);
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

static bool once(struct reader *r, bool *seen, const char *kind)
{
    if (*seen)
        return wrong(r, "[%s] a second time", kind);
    *seen = true;
    return true;
}

static bool section_begin(struct reader *r, char *text)
{
    size_t length = strlen(text);
    char *kind, *id;

    if (text[length - 1] != ']' || length < 3)
        return wrong(r, "'%.60s' is no [section]", text);
    if (!section_end(r))
        return false;
    text[length - 1] = 0;
    kind = trim(text + 1);
    id = kind + strcspn(kind, " \t");
    if (*id)
        *id++ = 0;
    id = trim(id);
    r->section = SECTION_SETTINGS;
    r->set = (struct ctl_settings){0};
    r->reservation = (struct reservation){0};
    r->device_given = r->mode_given = false;
    r->target = CTL_DEFAULT;
    r->id = 0;
    if (!strcmp(kind, "user"))
        return user_begin(r, id);
    if (!strcmp(kind, "others") && *id == 0)
        return others_begin(r);
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

static bool setting_value(struct reader *r, const char *name, const char *value)
{
    const struct setting_field *field = setting_find(name);

    if (!field || (r->target == CTL_DEVICE) != (field->bit == CTL_LATENCY_SMS))
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
    name = trim(text);
    value = trim(value);
    switch (r->section) {
    case SECTION_SETTINGS:
        return setting_value(r, name, value);
    case SECTION_RESERVATION:
        return reservation_value(r, name, value);
    case SECTION_PROVISION:
        if (strcmp(name, "mode") || r->mode_given)
            return wrong(r, "[provision] has one mode");
        r->mode_given = true;
        r->settings->provision = provision_find(value);
        return r->settings->provision < CTL_PROVISION_MODES ||
               wrong(r, "mode = %.40s: exact, uniform, half or weighted", value);
    case SECTION_NONE:
        break;
    }
    return wrong(r, "'%.40s' before the first [section]", name);
}

static bool line_read(struct reader *r, char *text)
{
    text = trim(text);
    if (*text == 0 || *text == '#' || *text == ';')
        return true;
    return *text == '[' ? section_begin(r, text) : value_read(r, text);
}

bool state_parse(struct settings *settings, const char *text, size_t size,
                 char error[STATE_ERROR_MAX])
{
    struct reader r = {.settings = settings, .error = error};
    const char *at = text, *end = text + size;
    bool good = true;
    char line[2048];

    while (good && at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at);

        r.line++;
        if (length >= sizeof(line) || memchr(at, 0, length)) {
            good = wrong(&r, length >= sizeof(line) ? "too long" : "not text");
            break;
        }
        memcpy(line, at, length);
        line[length] = 0;
        good = line_read(&r, line);
        at += length + 1;
    }
    good = good && section_end(&r);
    if (!good)
        settings_deinit(settings);
    return good;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void settings_print(FILE *out, const struct ctl_settings *settings)
{
    char value[SETTING_TEXT_MAX];

    for (size_t i = 0; i < setting_field_count; i++) {
        const struct setting_field *field = &setting_fields[i];

        if (settings->fields & field->bit)
            fprintf(out, "%s = %s\n", field->name, setting_print(value, settings, field));
    }
}

static void reservation_print(FILE *out, const struct reservation *reservation)
{
    char mask[SM_MASK_TEXT_MAX];

    fprintf(out, "\n[reservation %s]\ndevice = %d\n", reservation->name, reservation->device);
    if (reservation->sms)
        fprintf(out, "sms = %u\n", reservation->sms);
    else
        fprintf(out, "mask = %s\n", sm_mask_print(mask, sizeof(mask), &reservation->wanted));
}

char *state_print(const struct settings *settings, size_t *length)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, length);

    if (!out)
        return NULL;
    fputs("# Written by gshared at every change; read when it starts. See gsctl(1).\n", out);
    if (settings->everybody.fields) {
        fputs("\n[default]\n", out);
        settings_print(out, &settings->everybody);
    }
    for (uint32_t i = 0; i < settings->user_count; i++) {
        if (settings->user[i].uid == CTL_OTHERS)
            fputs("\n[others]\n", out);
        else
            fprintf(out, "\n[user %u]\n", (unsigned)settings->user[i].uid);
        settings_print(out, &settings->user[i].set);
    }
    for (uint32_t i = 0; i < SETTINGS_DEVICES_MAX; i++) {
        if (settings->device[i].fields == 0)
            continue;
        fprintf(out, "\n[device %u]\n", i);
        settings_print(out, &settings->device[i]);
    }
    for (uint32_t i = 0; i < SETTINGS_RESERVATIONS_MAX; i++) {
        if (settings->reservation[i].name[0])
            reservation_print(out, &settings->reservation[i]);
    }
    if (settings->provision != CTL_PROVISION_EXACT)
        fprintf(out, "\n[provision]\nmode = %s\n", provision_name(settings->provision));
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* ---- The file -------------------------------------------------------------------------------- */

static bool failed(char error[STATE_ERROR_MAX], const char *what)
{
    snprintf(error, STATE_ERROR_MAX, "%.60s: %s", what, strerror(errno));
    return false;
}

/* -1 with errno: there is no such folder. */
static int folder_open(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash ? (int)(slash - path) + (slash == path) : 1;

    snprintf(folder, sizeof(folder), "%.*s", n, slash ? path : ".");
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* The path still leads to the file that was opened: its holder may have replaced it since. */
static bool file_current(int fd, const char *path)
{
    struct stat ours, named;

    return fstat(fd, &ours) == 0 && stat(path, &named) == 0 && ours.st_ino == named.st_ino &&
           ours.st_dev == named.st_dev;
}

static int file_open(const char *path, char error[STATE_ERROR_MAX])
{
    /* The file is opened for writing too, without which NFS gives no exclusive lock. */
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);

    if (fd < 0 && (errno == EACCES || errno == EROFS))
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT) {
        CLEANUP_FD int folder = folder_open(path);

        failed(error, folder < 0 ? "opening its folder" : "making it");
    } else if (fd < 0) {
        failed(error, "opening or making it");
    }
    return fd;
}

int state_take(const char *path, char error[STATE_ERROR_MAX])
{
    for (;;) {
        int fd = file_open(path, error);

        if (fd < 0)
            return -1;
        if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
            if (errno == EWOULDBLOCK)
                snprintf(error, STATE_ERROR_MAX, "another server uses it: each needs its own");
            else
                failed(error, "locking it");
            close(fd);
            return -1;
        }
        if (file_current(fd, path))
            return fd;
        close(fd);
    }
}

bool state_load(struct settings *settings, const char *path, char error[STATE_ERROR_MAX])
{
    CLEANUP_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    CLEANUP_FREE char *text = NULL;
    struct stat st;
    size_t size = 0;

    if (fd < 0 || fstat(fd, &st) < 0)
        return failed(error, "opening it");
    if (!S_ISREG(st.st_mode) || st.st_size > (off_t)STATE_SIZE_MAX) {
        snprintf(error, STATE_ERROR_MAX, "not a file of at most %u bytes", STATE_SIZE_MAX);
        return false;
    }
    text = malloc((size_t)st.st_size + 1);
    if (!text)
        return failed(error, "reading it");
    while (size < (size_t)st.st_size) {
        ssize_t n = read(fd, text + size, (size_t)st.st_size - size);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return failed(error, "reading it");
        if (n == 0)
            break;
        size += (size_t)n;
    }
    return state_parse(settings, text, size, error);
}

static bool write_all(int fd, const char *text, size_t length)
{
    while (length) {
        ssize_t n = write(fd, text, length);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        text += n;
        length -= (size_t)n;
    }
    return true;
}

/* The new name is on the disk too. */
static bool folder_sync(const char *path)
{
    CLEANUP_FD int fd = folder_open(path);

    return fd >= 0 && fsync(fd) == 0;
}

bool state_save(const char *path, int *held, const char *text, size_t length,
                char error[STATE_ERROR_MAX])
{
    char temporary[PATH_MAX];
    bool good;
    int fd;

    if (snprintf(temporary, sizeof(temporary), "%s.new", path) >= (int)sizeof(temporary)) {
        errno = ENAMETOOLONG;
        return failed(error, "naming a new file");
    }
    /* A file that a killed server left is overwritten; a link there is not followed. */
    fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (fd < 0)
        return failed(error, "making a new file beside it");
    good = write_all(fd, text, length) && fsync(fd) == 0;
    if (!good)
        failed(error, "writing");
    /* The lock comes before the name: at no moment nobody holds a file of that name. */
    if (good && flock(fd, LOCK_EX | LOCK_NB) < 0)
        good = failed(error, "locking the new file");
    if (good && rename(temporary, path) < 0)
        good = failed(error, "renaming");
    if (!good) {
        unlink(temporary);
        close(fd);
        return false;
    }
    close(*held);
    *held = fd;
    return folder_sync(path) || failed(error, "syncing its folder");
}
