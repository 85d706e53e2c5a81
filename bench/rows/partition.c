/*
 * partition.c - what quality of service costs: a launch with an affinity of its own, and a session
 * that is moved to other SMs while it runs. gshare only; one tenant.
 *
 * New SMs are a set that no grant and no launch of this server had before: each count of SMs, then
 * sets of groups picked at random. That they are new is not believed: the report of a second launch
 * tells the number of the partition, and no number is used twice. There are fewer of them than the
 * server keeps, so all of them are known afterwards. Those leave the server no moment for itself,
 * as an operator's changes do: so at the end come more, with a rest before each.
 */
#include <string.h>

#include "common/util.h"
#include "gshare.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gshare_call.h"
#include "lib/stats.h"
#include "rows/rows.h"

#define BURST      64 /* launches before a sync */
#define BURSTS     300
#define SETS_MAX   150       /* the server keeps 160 */
#define GRAPHS     64        /* sets for which the session's graphs are kept */
#define FEW        40        /* sets among which it changes with its graphs there */
#define RESTED_MAX 100       /* new sets after a rest */
#define CHANGES    120       /* between them */
#define REST_NS    10000000u /* in which all threads on a grant's way fall asleep */
#define SECONDS    3         /* at most, each part; the software device does less */
#define SMS_MAX    (GS_SM_MASK_WORDS * 64)

static gs_session session;
static gs_kernel nop;
static unsigned sms, granularity;

/* The sets of SMs that the session has had. */
static struct {
    gs_exec_affinity wish;
    gs_exec_affinity granted;
    unsigned partition; /* as reports tell it */
} sets[SETS_MAX + RESTED_MAX];
static unsigned set_count;
static unsigned override_partition; /* 0: none */

static void session_open(void)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_module module;

    GS(gs_attach, NULL, &session);
    GS(gs_session_info, session, &desc);
    sms = desc.sm_count;
    granularity = desc.sm_granularity;
    GS(gs_module_load, session, plan.facts->image, plan.facts->image_size, &module);
    GS(gs_kernel_get, module, kernel_names[KERNEL_NOP], &nop);
}

static void launch_with(const gs_qos *qos, gs_report_id *report)
{
    static struct kernel_args args = {1, 2, 3, 4};
    void *params[] = {&args.a, &args.b, &args.c, &args.d};
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;

    config.qos = qos;
    config.report = report;
    GS(gs_launch, NULL, nop, &config, params);
}

static void launch(const gs_qos *qos)
{
    launch_with(qos, NULL);
}

/* The report of one more launch. */
static gs_report report_of(const gs_qos *qos)
{
    gs_report report = GS_REPORT_INIT;
    gs_status status;
    gs_report_id id;

    launch_with(qos, &id);
    GS(gs_stream_sync, session, NULL);
    while ((status = gs_launch_report(session, id, &report)) == GS_NOT_READY)
        cpu_relax(); /* the server writes the report some microseconds after the launch is complete
                      */
    if (status != GS_OK)
        gshare_call_failed("gs_launch_report", status);
    return report;
}

static gs_qos count_of(unsigned count)
{
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = count;
    return qos;
}

/* ---- One launch ------------------------------------------------------------------------------ */

/* Nanoseconds for each launch of a burst, up to the burst's end. */
static double burst(const gs_qos *qos)
{
    uint64_t start = clock_ns();

    for (int i = 0; i < BURST; i++)
        launch(qos);
    GS(gs_stream_sync, session, NULL);
    return (double)(clock_ns() - start) / BURST;
}

/* By turns, so that both meet the same machine. */
static void overrides_measure(void)
{
    static double plain[BURSTS], own[BURSTS];
    const gs_qos half = count_of(sms / 2 / granularity * granularity);
    uint64_t deadline = clock_ns() + SECONDS * 1000000000ull;
    int count = 0, most = plan.quick ? BURSTS / 5 : BURSTS;

    for (int i = 0; i < 4; i++) { /* the partition and the graphs are there */
        burst(NULL);
        burst(&half);
    }
    override_partition = report_of(&half).partition;
    while (count < most && clock_ns() < deadline) {
        plain[count] = burst(NULL);
        own[count++] = burst(&half);
    }
    if (count == 0)
        cell_fail("not one burst of launches in %d s", SECONDS);
    double without = stats_median(plain, (size_t)count), with = stats_median(own, (size_t)count);
    cell_metric(without, "launch_plain");
    cell_metric(with, "launch_own");
    cell_metric(with - without, "launch_extra");
}

/* ---- Changes --------------------------------------------------------------------------------- */

/* Nanoseconds from gs_set_qos to the end of the first launch under it. */
static double change(const gs_exec_affinity *wish)
{
    gs_qos qos = GS_QOS_INIT;
    uint64_t start = clock_ns();

    qos.affinity = *wish;
    GS(gs_set_qos, session, &qos);
    launch(NULL);
    GS(gs_stream_sync, session, NULL);
    return (double)(clock_ns() - start);
}

/* Checks that what was granted is what was asked for. */
static void granted_check(const gs_exec_affinity *wish, gs_exec_affinity *granted)
{
    unsigned wanted = 0;

    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        wanted += (unsigned)__builtin_popcountll(wish->sm_mask[i]);
    if (wish->type == GS_EXEC_AFFINITY_SM_COUNT)
        wanted = wish->sm_count;
    GS(gs_get_exec_affinity, session, granted);
    if (granted->sm_count != wanted ||
        (wish->type == GS_EXEC_AFFINITY_SM_MASK &&
         memcmp(granted->sm_mask, wish->sm_mask, sizeof(wish->sm_mask)) != 0))
        cell_fail("asked for %u SMs, was granted %u, or others", wanted, granted->sm_count);
}

static bool partition_is_new(unsigned partition)
{
    for (unsigned i = 0; i < set_count; i++) {
        if (sets[i].partition == partition)
            return false;
    }
    return partition != 0 && partition != override_partition;
}

/* Changes to the set. True: nobody had it before, so it is kept in `sets`, and *ns is the time. */
static bool set_try(const gs_exec_affinity *wish, double *ns)
{
    double time = change(wish);
    gs_exec_affinity granted;
    gs_report report;

    granted_check(wish, &granted);
    report = report_of(NULL);
    if (report.sm_count != granted.sm_count)
        cell_fail("%u SMs were granted, a launch had %u", granted.sm_count, report.sm_count);
    if (!partition_is_new(report.partition))
        return false;
    sets[set_count].wish = *wish;
    sets[set_count].granted = granted;
    sets[set_count++].partition = report.partition;
    *ns = time;
    return true;
}

/* ---- Sets of SMs ----------------------------------------------------------------------------- */

/* SMs that are in the same ones of all sets so far: whole groups, for each set is, so any union of
 * them can be asked for. */
static unsigned part_of[SMS_MAX], parts;

static void parts_find(void)
{
    memset(part_of, 0, sizeof(part_of));
    for (unsigned set = 0; set < set_count; set++) {
        const uint64_t *mask = sets[set].granted.sm_mask;
        int number[2 * SMS_MAX];

        memset(number, -1, sizeof(number));
        parts = 0;
        for (unsigned sm = 0; sm < sms; sm++) {
            unsigned key = part_of[sm] * 2 + (mask[sm / 64] >> sm % 64 & 1);

            if (number[key] < 0)
                number[key] = (int)parts++;
            part_of[sm] = (unsigned)number[key];
        }
    }
}

/* The same sequence in each run: xorshift32, by Marsaglia. */
static uint32_t dice(void)
{
    static uint32_t state = 2463534242u;

    state ^= state << 13;
    state ^= state >> 17;
    return state ^= state << 5;
}

/* A mask of `count` parts, picked at random. */
static gs_exec_affinity mask_of(unsigned count)
{
    gs_exec_affinity wish = {.type = GS_EXEC_AFFINITY_SM_MASK};
    bool in[SMS_MAX] = {false};

    for (unsigned i = 0; i < count; i++) {
        unsigned part = dice() % parts;

        while (in[part])
            part = (part + 1) % parts;
        in[part] = true;
    }
    for (unsigned sm = 0; sm < sms; sm++)
        wish.sm_mask[sm / 64] |= (uint64_t)in[part_of[sm]] << sm % 64;
    return wish;
}

/* ---- The parts ------------------------------------------------------------------------------- */

static bool time_left(uint64_t deadline)
{
    return clock_ns() < deadline;
}

static void times_tell(double *times, size_t count, const char *name)
{
    if (count > 0)
        cell_summary(times, count, name);
}

static void new_measure(void)
{
    static double fresh[SETS_MAX];
    uint64_t deadline = clock_ns() + SECONDS * 1000000000ull;
    unsigned most = plan.quick ? SETS_MAX / 5 : SETS_MAX, counts, tried = 0;

    for (unsigned n = granularity; n < sms && set_count < most; n += granularity) {
        const gs_exec_affinity wish = count_of(n).affinity;

        if (!time_left(deadline))
            break;
        set_try(&wish, &fresh[set_count]);
        tried++;
    }
    counts = set_count;
    parts_find();
    for (unsigned i = 0; parts > 1 && i < 2 * SETS_MAX && set_count < most; i++) {
        const gs_exec_affinity wish = mask_of(1 + i % (parts - 1));

        if (!time_left(deadline))
            break;
        set_try(&wish, &fresh[set_count]);
        tried++;
    }
    cell_metric(tried - set_count, "change_not_new");
    times_tell(fresh, counts, "change_count");
    times_tell(fresh + counts, set_count - counts, "change_mask");
    times_tell(fresh, set_count, "change_new");
}

/* Going round the last sets, with a rest before each change or none. */
static void known_measure(unsigned among, unsigned changes, uint64_t rest_ns, const char *name)
{
    static double known[CHANGES > SETS_MAX ? CHANGES : SETS_MAX];
    uint64_t deadline = clock_ns() + SECONDS * 1000000000ull;
    size_t count = 0;

    among = among < set_count ? among : set_count;
    for (unsigned i = 0; i < (plan.quick ? changes / 5 : changes); i++) {
        const gs_exec_affinity *wish = &sets[set_count - among + i % among].wish;
        gs_exec_affinity granted;

        if (!time_left(deadline))
            break;
        if (rest_ns)
            cell_sleep_until(clock_ns() + rest_ns);
        known[count++] = change(wish);
        granted_check(wish, &granted);
    }
    times_tell(known, count, name);
}

/* Checks that the server still has the partitions that were measured as known. */
static void known_check(void)
{
    for (unsigned i = 0; i < set_count; i++) {
        change(&sets[i].wish);
        if (report_of(NULL).partition != sets[i].partition)
            cell_fail("a set of SMs called known was made anew");
    }
}

static void new_rested_measure(void)
{
    static double fresh[RESTED_MAX];
    uint64_t deadline = clock_ns() + SECONDS * 1000000000ull;
    unsigned most = plan.quick ? RESTED_MAX / 5 : RESTED_MAX, count = 0;

    for (unsigned i = 0; parts > 1 && i < 2 * RESTED_MAX && count < most; i++) {
        const gs_exec_affinity wish = mask_of(1 + i % (parts - 1));

        if (!time_left(deadline))
            break;
        cell_sleep_until(clock_ns() + REST_NS);
        count += set_try(&wish, &fresh[count]);
    }
    times_tell(fresh, count, "change_new_rested");
}

static void changes_measure(void)
{
    new_measure();
    if (set_count == 0) {
        cell_note("the device has too few SMs for a set that is new");
        return;
    }
    known_measure(FEW, CHANGES, 0, "change_known");
    known_measure(FEW, CHANGES, REST_NS, "change_rested");
    if (set_count > GRAPHS) /* the least recently used go, so going round leaves none */
        known_measure(set_count, SETS_MAX, 0, "change_graphless");
    known_check();
    new_rested_measure();
}

void row_partition(void)
{
    session_open();
    if (granularity) {
        overrides_measure();
        changes_measure();
    } else {
        cell_note("the device has no partitions");
    }
    GS(gs_detach, session);
}
