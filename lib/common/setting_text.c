/* setting_text.c - see setting_text.h. */
#include "common/setting_text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/size_text.h"
#include "common/sm_groups.h"
#include "common/util.h"

#define AT(member) offsetof(struct ctl_settings, member)

const struct setting_field setting_fields[] = {
    {CTL_PERCENTAGE, "percentage", "0.01 to 100", SETTING_PERCENT, AT(hundredths), 1,
     SM_HUNDREDTHS},
    {CTL_SMS, "sms", "1 to as many SMs as there are", SETTING_NUMBER, AT(sms), 1, SM_MASK_SMS},
    {CTL_MASK, "mask", "SMs, such as 0-7,16", SETTING_MASK, AT(sm_mask), 0, 0},
    {CTL_EXCLUSIVE, "exclusive", "yes or no", SETTING_YES, AT(exclusive), 0, 1},
    {CTL_PRIORITY, "priority", "0 to what the device has, at most 64", SETTING_NUMBER, AT(priority),
     0, 64},
    {CTL_CLASS, "class", "latency, normal or best-effort", SETTING_CLASS, AT(cls), 0,
     GS_CLASS_BEST_EFFORT},
    {CTL_WEIGHT, "weight", "1 to 1000", SETTING_NUMBER, AT(weight), 1, QOS_WEIGHT_MAX},
    {CTL_MEM, "mem", "bytes, 2M at least, or whole K, M, G or T", SETTING_BYTES, AT(mem),
     SETTING_MEM_LEAST, UINT64_MAX},
    {CTL_USER_MEM, "user-mem", "bytes, 2M at least, or whole K, M, G or T", SETTING_BYTES,
     AT(user_mem), SETTING_MEM_LEAST, UINT64_MAX},
    {CTL_USER_SESSIONS, "user-sessions", "1 to 4096 sessions", SETTING_NUMBER, AT(user_sessions), 1,
     SETTING_SESSIONS_MAX},
    {CTL_USER_HOSTS, "user-hosts", "1 to 1048576 host blocks", SETTING_NUMBER, AT(user_hosts), 1,
     SETTING_COUNT_MAX},
    {CTL_USER_PIECES, "user-pieces", "1 to 1048576 pieces of memory", SETTING_NUMBER,
     AT(user_pieces), 1, SETTING_COUNT_MAX},
    {CTL_TRUST, "trust", "yes or no", SETTING_YES, AT(trust), 0, 1},
    {CTL_LAUNCHES_MAX, "inflight", "1 to 4096 kernels", SETTING_NUMBER, AT(launches_max), 1,
     SETTING_INFLIGHT_MAX},
    {CTL_KERNEL_LIMIT, "kernel-limit", "1 to 86400000 ms that a kernel may run", SETTING_NUMBER,
     AT(kernel_limit), 1, SETTING_KERNEL_LIMIT_MAX},
    {CTL_LATENCY_SMS, "latency-sms", "a number of SMs; 0: none", SETTING_NUMBER, AT(latency_sms), 0,
     SM_MASK_SMS},
    {CTL_USER_HOST_MEM, "user-host-mem", "bytes, 2M at least, or whole K, M, G or T", SETTING_BYTES,
     AT(user_host_mem), SETTING_MEM_LEAST, UINT64_MAX},
    {CTL_USER_SETS, "user-sets", "1 to 128 sets of SMs", SETTING_NUMBER, AT(user_sets), 1,
     SETTING_SETS_MAX},
    {CTL_USER_DRIVER_MEM, "user-driver-mem", "bytes, 2M at least, or whole K, M, G or T",
     SETTING_BYTES, AT(user_driver_mem), SETTING_MEM_LEAST, UINT64_MAX},
    {CTL_USER_COMPILE, "user-compile", "1 to 6400 percent of a CPU", SETTING_NUMBER,
     AT(user_compile), 1, SETTING_COMPILE_MAX},
};
const size_t setting_field_count = ARRAY_SIZE(setting_fields);

static const char *const classes[] = {[GS_CLASS_NORMAL] = "normal",
                                      [GS_CLASS_LATENCY] = "latency",
                                      [GS_CLASS_BEST_EFFORT] = "best-effort"};
static const char *const modes[] = {[CTL_PROVISION_EXACT] = "exact",
                                    [CTL_PROVISION_UNIFORM] = "uniform",
                                    [CTL_PROVISION_HALF] = "half",
                                    [CTL_PROVISION_WEIGHTED] = "weighted"};
static_assert(ARRAY_SIZE(modes) == CTL_PROVISION_MODES, "provisioning policies");
static const char *const targets[] = {
    [CTL_DEFAULT] = "default",         [CTL_USER] = "user",      [CTL_DEVICE] = "device",
    [CTL_RESERVATION] = "reservation", [CTL_TENANT] = "session", [CTL_SESSIONS_OF] = "class"};

/* ---- Names ----------------------------------------------------------------------------------- */

const struct setting_field *setting_find(const char *name)
{
    for (size_t i = 0; i < setting_field_count; i++) {
        if (!strcmp(setting_fields[i].name, name))
            return &setting_fields[i];
    }
    return NULL;
}

/* Returns the index of a name; count if there is none. */
static uint32_t name_find(const char *const names[], uint32_t count, const char *name)
{
    uint32_t i = 0;

    while (i < count && strcmp(names[i], name) != 0)
        i++;
    return i;
}

const char *provision_name(uint32_t mode)
{
    return mode < ARRAY_SIZE(modes) ? modes[mode] : NULL;
}

uint32_t provision_find(const char *name)
{
    return name_find(modes, ARRAY_SIZE(modes), name);
}

const char *target_name(uint32_t target)
{
    return target < ARRAY_SIZE(targets) ? targets[target] : "?";
}

const char *class_name(uint32_t cls)
{
    return cls < ARRAY_SIZE(classes) ? classes[cls] : "?";
}

/* ---- Values ---------------------------------------------------------------------------------- */

static bool number_parse(uint64_t *number, const char *text, uint64_t max, bool units)
{
    static const char letters[] = "KMGT";
    unsigned shift = 0;
    char *end;

    if (!isdigit((unsigned char)text[0]))
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno)
        return false;
    if (units && *end) {
        const char *letter = strchr(letters, toupper((unsigned char)*end));
        if (!letter)
            return false;
        shift = 10u * (unsigned)(letter - letters + 1);
        end++;
    }
    if (*end || value > max >> shift)
        return false;
    *number = (uint64_t)value << shift;
    return true;
}

/* Reads digits and a fraction of any length, and rounds the value to hundredths. */
static bool percent_parse(uint64_t *hundredths, const char *text)
{
    char *end;
    double value;

    if (!isdigit((unsigned char)text[0]) || text[strspn(text, "0123456789.")])
        return false;
    value = strtod(text, &end);
    if (*end || value > 2 * SM_HUNDREDTHS)
        return false;
    *hundredths = (uint64_t)(value * 100 + 0.5);
    return true;
}

bool setting_parse(struct ctl_settings *settings, const struct setting_field *field,
                   const char *value)
{
    unsigned char *to = (unsigned char *)settings + field->offset;
    struct sm_mask mask;
    uint64_t number = 0;
    uint32_t word;

    switch (field->kind) {
    case SETTING_NUMBER:
        if (!number_parse(&number, value, INT32_MAX, false))
            return false;
        break;
    case SETTING_PERCENT:
        if (!percent_parse(&number, value))
            return false;
        break;
    case SETTING_BYTES:
        if (!number_parse(&number, value, UINT64_MAX, true))
            return false;
        memcpy(to, &number, sizeof(number));
        break;
    case SETTING_MASK:
        if (!sm_mask_parse(&mask, value))
            return false;
        memcpy(to, mask.word, sizeof(mask.word));
        break;
    case SETTING_YES:
        if (strcmp(value, "yes") && strcmp(value, "no"))
            return false;
        number = !strcmp(value, "yes");
        break;
    case SETTING_CLASS:
        number = name_find(classes, ARRAY_SIZE(classes), value);
        if (number == ARRAY_SIZE(classes))
            return false;
        break;
    }
    if (field->kind != SETTING_BYTES && field->kind != SETTING_MASK) {
        word = (uint32_t)number;
        memcpy(to, &word, sizeof(word));
    }
    settings->fields |= field->bit;
    return true;
}

/* Returns the size of a field in ctl_settings. */
static size_t field_size(const struct setting_field *field)
{
    if (field->kind == SETTING_MASK)
        return sizeof(((struct ctl_settings *)NULL)->sm_mask);
    return field->kind == SETTING_BYTES ? sizeof(uint64_t) : sizeof(uint32_t);
}

void setting_copy(struct ctl_settings *to, const struct setting_field *field,
                  const struct ctl_settings *from)
{
    memcpy((unsigned char *)to + field->offset, (const unsigned char *)from + field->offset,
           field_size(field));
}

uint64_t setting_number(const struct ctl_settings *settings, const struct setting_field *field)
{
    const unsigned char *from = (const unsigned char *)settings + field->offset;
    uint64_t number;
    uint32_t word;

    if (field->kind == SETTING_BYTES) {
        memcpy(&number, from, sizeof(number));
        return number;
    }
    memcpy(&word, from, sizeof(word));
    return word;
}

bool setting_possible(const struct ctl_settings *settings, const struct setting_field *field)
{
    const uint64_t number = setting_number(settings, field);

    return field->kind == SETTING_MASK || (number >= field->min && number <= field->max);
}

const char *setting_print(char out[SETTING_TEXT_MAX], const struct ctl_settings *settings,
                          const struct setting_field *field)
{
    const uint64_t number = setting_number(settings, field);
    char size[SIZE_TEXT_MAX];
    struct sm_mask mask;

    switch (field->kind) {
    case SETTING_NUMBER:
        snprintf(out, SETTING_TEXT_MAX, "%" PRIu64, number);
        break;
    case SETTING_PERCENT:
        snprintf(out, SETTING_TEXT_MAX, "%g", (double)number / 100);
        break;
    case SETTING_BYTES:
        snprintf(out, SETTING_TEXT_MAX, "%s", size_option(size, number));
        break;
    case SETTING_MASK:
        mask = sm_mask_of(settings->sm_mask);
        sm_mask_print(out, SETTING_TEXT_MAX, &mask);
        break;
    case SETTING_YES:
        snprintf(out, SETTING_TEXT_MAX, "%s", number ? "yes" : "no");
        break;
    case SETTING_CLASS:
        snprintf(out, SETTING_TEXT_MAX, "%s", class_name((uint32_t)number));
        break;
    }
    return out;
}
