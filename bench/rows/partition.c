/* partition.c - what quality of service costs: a launch with an affinity of its own, and a session
 * that is moved to other SMs while it runs. gshare only; one tenant. */
#include "common/util.h"
#include "gshare.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gshare_call.h"
#include "lib/stats.h"
#include "rows/rows.h"

#define BURST   64 /* launches before a sync */
#define BURSTS  300
#define CHANGES 40
#define SECONDS 3 /* at most, each part; the software device does less */

static gs_session session;
static gs_kernel nop;
static unsigned sms, granularity;

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

static void launch(const gs_qos *qos)
{
    static struct kernel_args args = {1, 2, 3, 4};
    void *params[] = {&args.a, &args.b, &args.c, &args.d};
    gs_launch_config config = GS_LAUNCH_CONFIG_INIT;

    config.qos = qos;
    GS(gs_launch, NULL, nop, &config, params);
}

static gs_qos count_of(unsigned count)
{
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = count;
    return qos;
}

/* ---- One launch ------------------------------------------------------------------------------ */

/* Nanoseconds of a launch in a burst, its end counted in. */
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

/* From the request to the end of the first launch under it. */
static double change(unsigned count)
{
    const gs_qos qos = count_of(count);
    uint64_t start = clock_ns();

    GS(gs_set_qos, session, &qos);
    launch(NULL);
    GS(gs_stream_sync, session, NULL);
    return (double)(clock_ns() - start);
}

static void changes_measure(void)
{
    double fresh[CHANGES], known[CHANGES];
    uint64_t deadline = clock_ns() + SECONDS * 1000000000ull;
    size_t made = 0, again = 0;

    for (unsigned groups = 1; made < CHANGES && groups * granularity < sms; groups++) {
        if (clock_ns() > deadline)
            break;
        fresh[made++] = change(groups * granularity);
    }
    deadline = clock_ns() + SECONDS * 1000000000ull;
    while (again < CHANGES && clock_ns() < deadline) {
        known[again] = change((1 + again % made) * granularity);
        again++;
    }
    cell_summary(fresh, made, "change_new");
    cell_summary(known, again, "change_known");
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
