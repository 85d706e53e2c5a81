/* mps_variables.c - see mps_variables.h. */
#include "server/mps_variables.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/setting_text.h"

#define SIZE_TEXT_MAX 32

static bool not_understood(char error[MPS_ERROR_MAX], const char *name, const char *value,
                           const char *expected)
{
    snprintf(error, MPS_ERROR_MAX, "%s is '%.40s': %s", name, value, expected);
    return false;
}

static bool percentage_read(struct ctl_settings *settings, char error[MPS_ERROR_MAX])
{
    static const char name[] = "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE";
    const char *value = getenv(name);
    const struct setting_field *field = setting_find("percentage");

    if (!value)
        return true;
    return (setting_parse(settings, field, value) && setting_possible(settings, field)) ||
           not_understood(error, name, value, "a percentage over 0 and up to 100");
}

/* Reads a size in MPS's form, such as 512MB, where gsctl's settings have 512M. */
static bool size_read(const char *text, size_t length, struct ctl_settings *settings)
{
    char copy[SIZE_TEXT_MAX];

    if (length && toupper((unsigned char)text[length - 1]) == 'B')
        length--;
    if (length >= sizeof(copy))
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    return setting_parse(settings, setting_find("mem"), copy) &&
           setting_possible(settings, setting_find("mem"));
}

/* Reads DEVICE=SIZE, possibly several with commas. The limit applies to each session on whatever
 * device it is, so with several devices all sizes must be the same. */
static bool mem_limit_read(struct ctl_settings *settings, int devices, char error[MPS_ERROR_MAX])
{
    static const char name[] = "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT";
    const char *value = getenv(name);
    struct ctl_settings first = {0};

    for (const char *at = value; at && *at;) {
        struct ctl_settings one = {0};
        char *size;
        const long device = strtol(at, &size, 10);
        const size_t length = strcspn(at, ",");

        if (!isdigit((unsigned char)*at) || *size != '=' ||
            !size_read(size + 1, length - (size_t)(size + 1 - at), &one))
            return not_understood(error, name, value, "0=1G,1=512M, of 2M and more, is its form");
        at += length + (at[length] == ',');
        if (devices == 1 && device != 0)
            continue;
        if (first.fields && first.mem != one.mem)
            return not_understood(error, name, value,
                                  "gshared has one limit for all of its devices");
        first = one;
    }
    if (first.fields)
        settings->mem = first.mem;
    settings->fields |= first.fields;
    return true;
}

static bool priority_read(struct ctl_settings *settings, char error[MPS_ERROR_MAX])
{
    static const char name[] = "CUDA_MPS_CLIENT_PRIORITY";
    const char *value = getenv(name);

    if (!value || !strcmp(value, "0"))
        return true;
    if (strcmp(value, "1") != 0)
        return not_understood(error, name, value, "0, or 1 for below normal");
    settings->cls = GS_CLASS_BEST_EFFORT;
    settings->fields |= CTL_CLASS;
    return true;
}

bool mps_variables_read(struct ctl_settings *settings, int devices, char error[MPS_ERROR_MAX])
{
    *settings = (struct ctl_settings){0};
    return percentage_read(settings, error) && mem_limit_read(settings, devices, error) &&
           priority_read(settings, error);
}

bool mps_variables_log(char *path, size_t size)
{
    const char *folder = getenv("CUDA_MPS_LOG_DIRECTORY");

    if (!folder || !*folder || snprintf(path, size, "%s/gshared.log", folder) >= (int)size)
        return false;
    mkdir(folder, 0755); /* a failure shows when the log is opened */
    return true;
}
