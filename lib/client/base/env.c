/* env.c - see env.h. */
#include "client/base/env.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/error.h"
#include "common/util.h"

static unsigned suffix_shift(char c)
{
    switch (toupper((unsigned char)c)) {
    case 'K':
        return 10;
    case 'M':
        return 20;
    case 'G':
        return 30;
    case 'T':
        return 40;
    default:
        return 0;
    }
}

/* Reads a size at the beginning of the text, such as 512, 512M or 512MB (the form of MPS's manual);
 * sets *end to the text behind it. */
static bool size_prefix(const char *text, uint64_t *bytes, const char **end)
{
    char *after;
    unsigned long long number;
    unsigned shift;

    if (!isdigit((unsigned char)*text)) /* strtoull would accept signs and blanks */
        return false;
    errno = 0;
    number = strtoull(text, &after, 10);
    if (errno || !number)
        return false;
    shift = suffix_shift(*after);
    if (number > UINT64_MAX >> shift)
        return false;
    *bytes = (uint64_t)number << shift;
    if (shift)
        after += toupper((unsigned char)after[1]) == 'B' ? 2 : 1;
    *end = after;
    return true;
}

bool env_parse_size(const char *text, uint64_t *bytes)
{
    uint64_t parsed;
    const char *end;

    if (!size_prefix(text, &parsed, &end) || *end)
        return false;
    *bytes = parsed;
    return true;
}

/* Reads "N=SIZE" at the beginning of the text. */
static bool device_size_prefix(const char *text, int *device, uint64_t *bytes, const char **end)
{
    char *after;
    long number;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    number = strtol(text, &after, 10);
    if (errno || number > INT_MAX || *after != '=')
        return false;
    *device = (int)number;
    return size_prefix(after + 1, bytes, end);
}

bool env_parse_mem_limit(const char *text, int device, uint64_t *bytes)
{
    uint64_t limit = 0, size;
    const char *next;
    int number;

    if (env_parse_size(text, bytes))
        return true;
    for (;; text = next + 1) {
        if (!device_size_prefix(text, &number, &size, &next) || (*next && *next != ','))
            return false;
        if ((number == device || device == GS_DEVICE_AUTO) && (!limit || size < limit))
            limit = size;
        if (!*next)
            break;
    }
    *bytes = limit;
    return true;
}

bool env_parse_percentage(const char *text, double *percentage)
{
    char *end;
    double parsed;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    parsed = strtod(text, &end);
    if (errno || *end || !isfinite(parsed) || parsed <= 0 || parsed > 100)
        return false;
    *percentage = parsed;
    return true;
}

bool env_parse_priority(const char *text, int *priority)
{
    char *end;
    long parsed;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    parsed = strtol(text, &end, 10);
    if (errno || *end || parsed > INT_MAX)
        return false;
    *priority = (int)parsed;
    return true;
}

/* ---- The variables ---- */

/* Returns the value of gshare's variable, else of MPS's, and sets *name to that variable's name.
 * NULL: neither is set. */
static const char *either(const char *own, const char *mps, const char **name)
{
    const char *value = getenv(own);

    *name = own;
    if (!value) {
        value = getenv(mps);
        *name = mps;
    }
    return value;
}

static gs_status not_understood(const char *name, const char *value, const char *expected)
{
    return error_set(GS_ERR_INVALID_VALUE, "%s is \"%.64s\", not %s", name, value, expected);
}

static gs_status mem_limit_apply(int device, uint64_t *mem_limit)
{
    const char *name,
        *value = either("GSHARE_MEM_LIMIT", "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT", &name);
    uint64_t limit;

    if (!value)
        return GS_OK;
    if (!env_parse_mem_limit(value, device, &limit))
        return not_understood(name, value, "a size such as 512M, or 0=1G,1=512M");
    if (limit && (!*mem_limit || limit < *mem_limit))
        *mem_limit = limit;
    return GS_OK;
}

static gs_status priority_apply(struct env_limits *limits)
{
    const char *value = getenv("GSHARE_PRIORITY");
    int limit = 0;

    if (value) {
        if (!env_parse_priority(value, &limit))
            return not_understood("GSHARE_PRIORITY", value, "a whole number from 0");
        if (limit < limits->priority)
            limits->priority = limit;
        return GS_OK;
    }
    value = getenv("CUDA_MPS_CLIENT_PRIORITY");
    if (!value)
        return GS_OK;
    if (strcmp(value, "0") && strcmp(value, "1"))
        return not_understood("CUDA_MPS_CLIENT_PRIORITY", value, "0 or 1");
    if (*value == '1') { /* below normal; 0 is normal and lowers nothing */
        limits->priority = 0;
        limits->cls = GS_CLASS_BEST_EFFORT;
    }
    return GS_OK;
}

static gs_status percentage_apply(struct env_limits *limits)
{
    const char *name, *value = either("GSHARE_ACTIVE_THREAD_PERCENTAGE",
                                      "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", &name);
    double limit;

    if (!value)
        return GS_OK;
    if (!env_parse_percentage(value, &limit))
        return not_understood(name, value, "a percentage over 0 and up to 100");
    /* A request carries whole percents: the fraction is kept once the device is known. */
    if (limit < limits->percentage) {
        limits->hundredths = (unsigned)(limit * 100 + 0.5);
        limits->hundredths += limits->hundredths == 0;
        limits->percentage = (limits->hundredths + 99) / 100;
    }
    return GS_OK;
}

gs_status env_apply(int device, struct env_limits *limits)
{
    struct env_limits lowered = *limits;
    gs_status status = mem_limit_apply(device, &lowered.mem_limit);

    if (status == GS_OK)
        status = priority_apply(&lowered);
    if (status == GS_OK)
        status = percentage_apply(&lowered);
    if (status == GS_OK)
        *limits = lowered;
    return status;
}

gs_status env_reservation(const char **name, int *device)
{
    const char *value = getenv("GSHARE_RESERVATION");
    char *end;
    long number;

    if (*name)
        return GS_OK;
    if (value) {
        *name = value;
        return GS_OK;
    }
    value = getenv("CUDA_MPS_SM_PARTITION");
    if (!value)
        return GS_OK;
    errno = 0;
    number = strtol(value, &end, 10);
    if (!isdigit((unsigned char)*value) || errno || number > INT_MAX || *end != '/' || !end[1])
        return not_understood("CUDA_MPS_SM_PARTITION", value, "a device's number, '/' and a name");
    if (*device == GS_DEVICE_AUTO)
        *device = (int)number;
    *name = end + 1;
    return GS_OK;
}

gs_status env_fence(gs_fence *fence)
{
    static const char *const names[] = {
        [GS_FENCE_ON] = "on", [GS_FENCE_REPORT] = "report", [GS_FENCE_STRICT] = "strict"};
    const char *value = getenv("GSHARE_FENCE");

    if (!value)
        return GS_OK;
    for (int i = GS_FENCE_ON; i <= GS_FENCE_STRICT; i++) {
        if (strcmp(value, names[i]) == 0) {
            if ((int)*fence < i)
                *fence = (gs_fence)i;
            return GS_OK;
        }
    }
    return not_understood("GSHARE_FENCE", value, "on, report or strict");
}

gs_status env_local_rank(uint32_t *rank)
{
    /* A launcher may run under Slurm, so the launcher's own variables come first. */
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                        "PMI_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_RANK",
                                        "SLURM_LOCALID"};
    const char *value = NULL;
    size_t i = 0;
    int parsed;

    while (i < ARRAY_SIZE(names) && !(value = getenv(names[i])))
        i++;
    if (!value) {
        *rank = 0;
        return GS_OK;
    }
    if (!env_parse_priority(value, &parsed)) /* a rank has the same form: a whole number from 0 */
        return not_understood(names[i], value, "a rank, a whole number from 0");
    *rank = (uint32_t)parsed + 1;
    return GS_OK;
}

const char *env_instance(const char *instance)
{
    if (instance)
        return instance;
    instance = getenv("GSHARE_INSTANCE");
    return instance && *instance ? instance
                                 : "default"; /* an empty value counts as unset, as in gshared */
}
