/*
 * accounting.c - what it costs that GPU time is counted and shared by weight: launches a second of
 * tenants of a server that does, and of one that does not, by turns.
 *
 * The cell starts the second server. A tenant has a session with each; an idle worker takes nothing
 * from the other. Both keep their tenants from running far ahead of the device, for which the ends
 * of kernels are told by the device to either: that is not part of the difference.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "gshare.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gshare_call.h"
#include "lib/service.h"
#include "lib/stats.h"
#include "lib/tenants.h"
#include "rows/rows.h"

#define PIPELINE    1000 /* launches before a sync */
#define TURN_NS     50000000u
#define TURNS       24 /* of each */
#define TENANTS_MAX 4

enum { ON, OFF, MODES };

/* Instances of the servers; of each turn: launches a second of all. */
struct pair {
    char instance[MODES][32];
    unsigned turns;
};

static void session_open(const char *instance, gs_session *session, gs_kernel *nop)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_module module;

    params.instance = instance;
    GS(gs_attach, &params, session);
    GS(gs_module_load, *session, plan.facts->image, plan.facts->image_size, &module);
    GS(gs_kernel_get, module, kernel_names[KERNEL_NOP], nop);
}

/* Launches a second. */
static double launches_measure(gs_session session, gs_kernel nop)
{
    struct kernel_args args = {1, 2, 3, 4};
    void *params[] = {&args.a, &args.b, &args.c, &args.d};
    const gs_launch_config config = GS_LAUNCH_CONFIG_INIT;
    uint64_t start = clock_ns(), now = start;
    double launches = 0;

    while (now < start + TURN_NS) {
        for (int i = 0; i < PIPELINE; i++)
            GS(gs_launch, NULL, nop, &config, params);
        GS(gs_stream_sync, session, NULL);
        launches += PIPELINE;
        now = clock_ns();
    }
    return launches * 1e9 / (double)(now - start);
}

static void pair_body(struct tenant *tenant)
{
    const struct pair *pair = tenant->arg;
    gs_session session[MODES];
    gs_kernel nop[MODES];

    for (int mode = 0; mode < MODES; mode++) {
        session_open(pair->instance[mode], &session[mode], &nop[mode]);
        launches_measure(session[mode], nop[mode]);
    }
    for (uint32_t turn = 0; turn < pair->turns * MODES; turn++) {
        int mode = turn % MODES;

        tenant_arrive(tenant, turn + 1);
        tenant->value[0] = launches_measure(session[mode], nop[mode]);
    }
    tenant_arrive(tenant, pair->turns * MODES + 1);
    for (int mode = 0; mode < MODES; mode++)
        GS(gs_detach, session[mode]);
}

static double sum_of(const struct tenants *group)
{
    double sum = 0;

    for (unsigned i = 0; i < group->count; i++)
        sum += group->tenant[i].value[0];
    return sum;
}

static void pair_of(unsigned count, const struct pair *pair)
{
    struct tenants *group = tenants_start(count, pair_body, pair);
    double rate[MODES][TURNS], on, off;

    tenants_await(group, 1);
    for (uint32_t turn = 0; turn < pair->turns * MODES; turn++) {
        tenants_go(group, turn + 1);
        tenants_await(group, turn + 2);
        rate[turn % MODES][turn / MODES] = sum_of(group);
    }
    tenants_go(group, pair->turns * MODES + 1);
    tenants_join(group);
    on = stats_median(rate[ON], pair->turns);
    off = stats_median(rate[OFF], pair->turns);
    cell_metric(on, "on_%u", count);
    cell_metric(off, "off_%u", count);
    cell_metric(1 - on / off, "loss_%u", count);
}

void row_accounting(void)
{
    static const char *const options[] = {"--no-accounting", "--no-weights", NULL};
    struct pair *pair = cell_shared(sizeof(*pair));
    struct server plain = {0};
    char log[4200], text[FAILURE_TEXT_MAX];

    snprintf(pair->instance[ON], sizeof(pair->instance[ON]), "%s", getenv("GSHARE_INSTANCE"));
    snprintf(log, sizeof(log), "%s/gshared-plain.log", plan.output);
    if (!server_start(&plain, plan.gshared, plan.facts->soft ? "soft" : "cuda", options, log, text,
                      sizeof(text)))
        cell_fail("%s", text);
    memcpy(pair->instance[OFF], plain.instance, sizeof(plain.instance));
    pair->turns = plan.quick ? TURNS / 4 : TURNS;
    for (unsigned count = 1; count <= TENANTS_MAX; count *= 4)
        pair_of(count, pair);
    if (!server_stop(&plain, text, sizeof(text)))
        cell_fail("%s", text);
}
