/* explain.c - `gsctl explain`: prints for each limit of a session the value in force, and the
 * values of all sources. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/sm_groups.h"
#include "common/util.h"
#include "gsctl/ask/ask.h"
#include "gsctl/ask/tenants.h"
#include "gsctl/base/format.h"
#include "gsctl/base/json.h"
#include "gsctl/base/options.h"
#include "gsctl/show/show.h"

#define VALUE_MAX  96
#define LINES_MAX  12 /* the most sources of a limit */
#define SOURCE_MAX 48
#define LIMITS     10

static const char *const set_by[CTL_SOURCES] = {
    [CTL_SOURCE_DEFAULT] = "set --default",
    [CTL_SOURCE_DEFAULT_FILE] = "the policy file's [default]",
    [CTL_SOURCE_USER] = "set --user",
    [CTL_SOURCE_USER_FILE] = "the policy file's [user] or [group]",
    [CTL_SOURCE_OTHERS] = "other users than the server's",
    [CTL_SOURCE_SESSION] = "set for this session",
    [CTL_SOURCE_MPS] = "gshared's CUDA_MPS_ variables",
};

/* A limit: its value in force, and the value of each source. */
struct limit {
    const char *name;
    char value[VALUE_MAX];
    unsigned count;
    struct {
        char from[SOURCE_MAX], says[VALUE_MAX];
        bool counts; /* the source's value is the one in force */
    } line[LINES_MAX];
};

__attribute__((format(printf, 4, 5))) static void say(struct limit *limit, bool counts,
                                                      const char *from, const char *format, ...)
{
    va_list ap;

    if (limit->count == LINES_MAX)
        return;
    snprintf(limit->line[limit->count].from, SOURCE_MAX, "%s", from);
    va_start(ap, format);
    vsnprintf(limit->line[limit->count].says, VALUE_MAX, format, ap);
    va_end(ap);
    limit->line[limit->count++].counts = counts;
}

static bool somebody_counts(const struct limit *limit)
{
    bool any = false;

    for (unsigned i = 0; i < limit->count; i++)
        any = any || limit->line[i].counts;
    return any;
}

/* Adds the values that gsctl and the policy file set for the fields. `effect` has the values in
 * force. asked_decides: the request, or the default in its place, is in force, so no source has
 * lowered it. */
static void say_set(struct limit *limit, const struct ctl_explain_reply *r, uint32_t bits,
                    const struct ctl_settings *effect, bool asked_decides)
{
    for (unsigned source = 0; source < CTL_SOURCES; source++) {
        const struct ctl_settings *set = &r->set[source];

        for (size_t i = 0; i < setting_field_count; i++) {
            const struct setting_field *field = &setting_fields[i];
            char value[SETTING_TEXT_MAX], now[SETTING_TEXT_MAX];

            if (!(set->fields & bits & field->bit))
                continue;
            setting_print(value, set, field);
            say(limit, !asked_decides && !strcmp(value, setting_print(now, effect, field)),
                set_by[source], "%s %.60s", field->name, value);
        }
    }
}

static void bytes_value(struct limit *limit, uint64_t bytes, const char *none)
{
    char text[FORMAT_MAX];

    snprintf(limit->value, VALUE_MAX, "%s", bytes ? size_rounded(text, bytes) : none);
}

/* ---- The limits ------------------------------------------------------------------------------ */

static const char program[] = "the program", environment[] = "the program's environment",
                  by_default[] = "the default";

/* Returns the source of a request's field: the program or its environment. */
static const char *asked_by(const struct ctl_explain_reply *r, uint32_t field)
{
    return r->asked.environment & field ? environment : program;
}

/* Returns the number of SMs that a limit on SMs leaves; 0 for other fields. */
static uint32_t sms_left(const struct ctl_explain_reply *r, const struct ctl_settings *set,
                         uint32_t bit)
{
    struct sm_mask mask = sm_mask_of(set->sm_mask);

    switch (bit) {
    case CTL_PERCENTAGE:
        return sm_count_of_hundredths(r->device_sms, set->hundredths);
    case CTL_SMS:
        return set->sms;
    case CTL_MASK:
        return sm_mask_count(&mask);
    default:
        return 0;
    }
}

/* Returns the program's request in the form of settings. */
static struct ctl_settings request_settings(const struct ctl_explain_reply *r)
{
    struct ctl_settings set = {.sms = r->asked.sm_count,
                               .hundredths = 100 * r->asked.percentage,
                               .exclusive = r->asked.exclusive};

    memcpy(set.sm_mask, r->asked.sm_mask, sizeof(set.sm_mask));
    if (r->asked.affinity_type == GS_EXEC_AFFINITY_SM_COUNT)
        set.fields = CTL_SMS;
    else if (r->asked.affinity_type == GS_EXEC_AFFINITY_SM_MASK)
        set.fields = CTL_MASK;
    else if (r->asked.affinity_type == GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE)
        set.fields = CTL_PERCENTAGE;
    if (set.exclusive)
        set.fields |= CTL_EXCLUSIVE;
    return set;
}

/* Returns whether the source is the reason why the session has exclusive SMs, or has none. */
static bool exclusive_counts(const struct ctl_explain_reply *r, const struct ctl_settings *set,
                             const char *from)
{
    if (set->exclusive)
        return r->exclusive && (from == program || from == environment || !r->asked.exclusive);
    return !r->exclusive && r->asked.exclusive;
}

/* Adds one source's settings of SMs. The source that leaves the fewest is marked afterwards. */
static void say_sms(struct limit *limit, const struct ctl_explain_reply *r,
                    const struct ctl_settings *set, const char *from, uint32_t left[LINES_MAX])
{
    for (size_t i = 0; i < setting_field_count && limit->count < LINES_MAX; i++) {
        const struct setting_field *field = &setting_fields[i];
        char value[SETTING_TEXT_MAX];

        if (!(set->fields & (CTL_PERCENTAGE | CTL_SMS | CTL_MASK | CTL_EXCLUSIVE) & field->bit))
            continue;
        left[limit->count] = sms_left(r, set, field->bit);
        say(limit, field->bit == CTL_EXCLUSIVE && exclusive_counts(r, set, from), from, "%s %.60s",
            field->name, setting_print(value, set, field));
    }
}

static void explain_sms(struct limit *limit, const struct ctl_explain_reply *r)
{
    const struct ctl_settings asked = request_settings(r);
    struct sm_mask granted = sm_mask_of(r->sm_mask);
    char mask[SM_MASK_TEXT_MAX];
    uint32_t left[LINES_MAX] = {0}, fewest = r->device_sms;

    limit->name = "SMs";
    snprintf(limit->value, VALUE_MAX, "%u of %u%s: %.60s", r->sm_count, r->device_sms,
             r->exclusive ? ", for it alone" : "", sm_mask_print(mask, sizeof(mask), &granted));
    say_sms(limit, r, &asked, asked_by(r, CTL_PERCENTAGE), left);
    for (unsigned source = 0; source < CTL_SOURCES; source++)
        say_sms(limit, r, &r->set[source], set_by[source], left);
    for (unsigned i = 0; i < limit->count; i++)
        fewest = left[i] && left[i] < fewest ? left[i] : fewest;
    for (unsigned i = 0; i < limit->count; i++)
        limit->line[i].counts |=
            left[i] && left[i] == fewest && fewest < r->device_sms && r->sm_count >= fewest;
    if (r->reservation[0])
        say(limit, r->sm_count < fewest, program, "reservation %s", r->reservation);
    else if (r->provision != CTL_PROVISION_EXACT && provision_name(r->provision))
        say(limit, r->sm_count < fewest, "provision", "%s", provision_name(r->provision));
    else if (r->sm_count && r->sm_count < fewest)
        say(limit, true, "others", "reservations and exclusive SMs: see gsctl info");
    if (limit->count && !somebody_counts(limit) && r->sm_count == r->device_sms)
        say(limit, true, by_default, "all");
}

/* Returns whether the session's own settings have the field. A class or priority set for the
 * session replaces its request. */
static bool session_sets(const struct ctl_explain_reply *r, uint32_t bit)
{
    return r->set[CTL_SOURCE_SESSION].fields & bit;
}

static void explain_class(struct limit *limit, const struct ctl_explain_reply *r,
                          const struct ctl_settings *effect)
{
    const bool asked_decides = r->asked.cls == r->cls && !session_sets(r, CTL_CLASS);

    limit->name = "class";
    snprintf(limit->value, VALUE_MAX, "%s", class_name(r->cls));
    say(limit, asked_decides, r->asked.cls == GS_CLASS_NORMAL ? by_default : asked_by(r, CTL_CLASS),
        "%s", class_name(r->asked.cls));
    say_set(limit, r, CTL_CLASS, effect, asked_decides);
}

static void explain_priority(struct limit *limit, const struct ctl_explain_reply *r,
                             const struct ctl_settings *effect)
{
    const bool asked_decides = r->asked.priority == r->priority && !session_sets(r, CTL_PRIORITY);

    limit->name = "priority";
    snprintf(limit->value, VALUE_MAX, "%d", r->priority);
    say(limit, asked_decides,
        r->asked.priority || r->asked.environment & CTL_PRIORITY ? asked_by(r, CTL_PRIORITY)
                                                                 : by_default,
        "%d", r->asked.priority);
    say_set(limit, r, CTL_PRIORITY, effect, asked_decides);
}

static void explain_weight(struct limit *limit, const struct ctl_explain_reply *r,
                           const struct ctl_settings *effect)
{
    limit->name = "weight";
    snprintf(limit->value, VALUE_MAX, "%u", r->weight);
    if (r->asked.weight)
        say(limit, r->asked.weight == r->weight, program, "%u", r->asked.weight);
    say_set(limit, r, CTL_WEIGHT, effect, r->asked.weight == r->weight);
}

static void explain_memory(struct limit *limit, const struct ctl_explain_reply *r,
                           const struct ctl_settings *effect)
{
    char text[FORMAT_MAX];

    limit->name = "memory";
    bytes_value(limit, r->mem_limit, "the device's");
    if (r->mem_asked)
        say(limit, r->mem_asked == r->mem_limit, asked_by(r, CTL_MEM), "%s",
            size_rounded(text, r->mem_asked));
    if (r->server_mem_limit)
        say(limit, r->server_mem_limit == r->mem_limit && r->mem_asked != r->mem_limit,
            "gshared --mem-limit", "%s", size_rounded(text, r->server_mem_limit));
    say_set(limit, r, CTL_MEM, effect, r->mem_asked == r->mem_limit);
    if (limit->count && !somebody_counts(limit))
        say(limit, true, by_default, "the device's");
}

static void explain_fence(struct limit *limit, const struct ctl_explain_reply *r)
{
    static const char *const policies[] = {"auto", "always", "never"};
    static const char *const fences[] = {"no", "yes", "yes, strays reported", "yes, strays end it"};
    bool trusted =
        (r->set[CTL_SOURCE_USER].fields & CTL_TRUST && r->set[CTL_SOURCE_USER].trust) ||
        (r->set[CTL_SOURCE_USER_FILE].fields & CTL_TRUST && r->set[CTL_SOURCE_USER_FILE].trust);
    /* What the server would do without a request. */
    bool fenced = r->fence_policy == 1 || (r->fence_policy == 0 && r->other && !trusted);
    bool asked = r->fenced > 1 || (r->fenced && !fenced);

    limit->name = "fence";
    snprintf(limit->value, VALUE_MAX, "%s",
             r->fenced < ARRAY_SIZE(fences) ? fences[r->fenced] : "?");
    if (asked)
        say(limit, true, program, "asked for at its attach");
    /* With the policy auto the user decides. */
    say(limit, !asked && r->fence_policy != 0, "gshared --fence", "%s",
        r->fence_policy < ARRAY_SIZE(policies) ? policies[r->fence_policy] : "?");
    if (r->fence_policy == 0)
        say(limit, !asked, "its user", "%s",
            !r->other ? "the server's or root: not fenced by itself"
            : trusted ? "trusted: not fenced by itself"
                      : "another: fenced");
}

/* Adds the policy file's limit for the session's class, if no other source has set the limit in
 * force. */
static void explain_class_limit(struct limit *limit, const struct ctl_explain_reply *r)
{
    if (r->kernel_limit && !somebody_counts(limit))
        say(limit, true, "policy file", "[class %s] %u ms", class_name(r->cls), r->kernel_limit);
}

/* Fills in the limits and returns their number. */
static unsigned explain(const struct ctl_explain_reply *r, struct limit limits[LIMITS])
{
    /* The values in force, in the form of a source's settings. */
    const struct ctl_settings effect = {.cls = r->cls,
                                        .priority = r->priority,
                                        .weight = r->weight,
                                        .launches_max = r->launches_max,
                                        .kernel_limit = r->kernel_limit,
                                        .mem = r->mem_limit,
                                        .user_mem = r->user_mem_limit};
    struct limit *limit = limits;

    explain_sms(limit++, r);
    explain_class(limit++, r, &effect);
    explain_priority(limit++, r, &effect);
    explain_weight(limit++, r, &effect);
    explain_memory(limit++, r, &effect);
    limit->name = "user's memory";
    bytes_value(limit, r->user_mem_limit, "no limit");
    say_set(limit++, r, CTL_USER_MEM, &effect, false);
    limit->name = "kernel limit";
    snprintf(limit->value, VALUE_MAX, r->kernel_limit ? "%u ms" : "none", r->kernel_limit);
    say_set(limit, r, CTL_KERNEL_LIMIT, &effect, false);
    explain_class_limit(limit++, r);
    limit->name = "inflight";
    snprintf(limit->value, VALUE_MAX, r->launches_max ? "%u kernels" : "the class's",
             r->launches_max);
    say_set(limit++, r, CTL_LAUNCHES_MAX, &effect, false);
    limit->name = "deadline";
    snprintf(limit->value, VALUE_MAX, r->asked.deadline_ns ? "%.3f ms" : "none",
             (double)r->asked.deadline_ns * 1e-6);
    if (r->asked.deadline_ns)
        say(limit, true, program, "%.3f ms", (double)r->asked.deadline_ns * 1e-6);
    limit++;
    explain_fence(limit++, r);
    return (unsigned)(limit - limits);
}

/* ---- Printing -------------------------------------------------------------------------------- */

/* Prints a limit. The source of the value in force comes first, marked; if there is none, the value
 * is the default. */
static void limit_print(const struct limit *limit)
{
    bool bold = colour_wanted();

    printf("%s%-13s  %s%s\n", bold ? "\033[1m" : "", limit->name, limit->value,
           bold ? "\033[0m" : "");
    if (limit->count == 0)
        printf("               * %s\n", by_default);
    for (unsigned i = 0; i < limit->count; i++)
        printf("               %s %s: %s\n", limit->line[i].counts ? "*" : " ", limit->line[i].from,
               limit->line[i].says);
}

static void limit_json(const struct limit *limit)
{
    json_open(NULL, '{');
    json_text("limit", limit->name);
    json_text("value", limit->value);
    json_open("sources", '[');
    for (unsigned i = 0; i < limit->count; i++) {
        json_open(NULL, '{');
        json_text("from", limit->line[i].from);
        json_text("says", limit->line[i].says);
        json_number("counts", limit->line[i].counts);
        json_close('}');
    }
    json_close(']');
    json_close('}');
}

int command_explain(struct control *control, const struct command_options *options)
{
    struct ctl_admin request = {.cursor = options->id};
    char message[REQUEST_MESSAGE_MAX], user[FORMAT_MAX];
    struct limit limits[LIMITS] = {0};
    struct ctl_explain_reply r;
    gs_status status = control_ask(control, &request.h, CTL_EXPLAIN, sizeof(request), &r, sizeof(r),
                                   ask_deadline(), message);
    unsigned count;

    if (status != GS_OK)
        return ask_failed(status, message);
    r.name[sizeof(r.name) - 1] = r.reservation[sizeof(r.reservation) - 1] = 0;
    r.waits[sizeof(r.waits) - 1] = 0;
    count = explain(&r, limits);
    if (options->json) {
        json_open(NULL, '{');
        json_number("session", r.session_id);
        json_user(r.uid);
        json_text("name", r.name);
        json_text("state", state_name(r.state));
        json_number("waits_for", r.waits_for);
        json_text("waits", r.waits);
        json_open("limits", '[');
    } else {
        printf("session %" PRIu64 " (%s, %s), %s, on device %d\n", r.session_id,
               format_user(user, r.uid), r.name, state_name(r.state), r.device);
        if (r.waits[0])
            printf("waits for %s\n", r.waits);
        puts("The tightest counts; a class or priority of the session goes before its request.\n"
             "* marks who says what is in force.\n");
    }
    for (unsigned i = 0; i < count; i++)
        (options->json ? limit_json : limit_print)(&limits[i]);
    if (options->json) {
        json_close(']');
        json_close('}');
    }
    return 0;
}
