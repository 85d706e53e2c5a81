/*
 * turns.c - see turns.h.
 *
 * A tenant has a session with each server; an idle worker takes nothing from the other. Launches a
 * second drift by more than the difference. So turns are short, and four of them are one
 * comparison: on, off, off, on, of which a steady drift takes as much from one as from the other.
 * Where threads run makes more: two servers with the same options differ by up to 11 percent for as
 * long as they run. So each tenant has a processor of its own, and the main lanes of both servers,
 * of which one works at a time, the same one. And how memory happens to lie is the same in all
 * turns: so there are rounds, each with servers and tenants of its own.
 */
#include "lib/turns.h"

#include <stdio.h>
#include <string.h>

#include "common/util.h"
#include "gshare.h"
#include "lib/cell.h"
#include "lib/device.h"
#include "lib/gshare_call.h"
#include "lib/pin.h"
#include "lib/service.h"
#include "lib/stats.h"
#include "lib/tenants.h"

#define PIPELINE     1000     /* launches before a sync */
#define WARM_UP      10       /* pipelines */
#define SETTLE_NS    3000000u /* of a turn, not measured: sessions become polled */
#define TURN_NS      12000000u
#define ROUNDS       8
#define QUADS_MAX    16 /* of a round */
#define TENANTS_MAX  4
#define SECONDS      4 /* at most, each part of a round; the software device does less */
#define LOG_PATH_MAX 4200

/* The processors of both servers' main lanes, of which one works at a time, and of the first
 * tenant. */
enum { CPU_SERVERS, CPU_TENANTS };

static const int quad[] = {TURN_ON, TURN_OFF, TURN_OFF, TURN_ON};
#define TURNS ARRAY_SIZE(quad)

/* What the cell tells its tenants of the next turn. */
struct pair {
    const struct turns *turns;
    char instance[TURN_MODES][32];
    int mode;
    uint64_t from, until;
    _Atomic uint32_t passed; /* tenants that have seen its end */
    bool over;               /* no turn follows */
    bool pinned;             /* each on a processor of its own */
};

struct comparison {
    unsigned tenants, most; /* quads of a round */
    unsigned count;         /* of quads */
    double rate[TURN_MODES][ROUNDS * QUADS_MAX], loss[ROUNDS * QUADS_MAX];
    double round[ROUNDS]; /* their median loss */
};

static void session_open(const struct pair *pair, int mode, gs_session *session, gs_kernel *nop)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_module module;

    params.instance = pair->instance[mode];
    GS(gs_attach, &params, session);
    GS(gs_module_load, *session, pair->turns->image, pair->turns->image_size, &module);
    GS(gs_kernel_get, module, kernel_names[KERNEL_NOP], nop);
}

static void pipeline(gs_session session, gs_kernel nop)
{
    struct kernel_args args = {1, 2, 3, 4};
    void *params[] = {&args.a, &args.b, &args.c, &args.d};
    const gs_launch_config config = GS_LAUNCH_CONFIG_INIT;

    for (int i = 0; i < PIPELINE; i++)
        GS(gs_launch, NULL, nop, &config, params);
    GS(gs_stream_sync, session, NULL);
}

/* Launches a second from the turn's begin to its end. They are counted at syncs, parts of what is
 * between two by their time. Nobody stops before all have seen the end: who is left would be faster
 * than the turn was. */
static double launches_measure(struct pair *pair, unsigned tenants, gs_session session,
                               gs_kernel nop)
{
    uint64_t now = clock_ns();
    double launches = 0;
    bool passed = false;

    /* relaxed: a number by itself */
    while (atomic_load_explicit(&pair->passed, memory_order_relaxed) < tenants) {
        uint64_t start = now, first, last;

        pipeline(session, nop);
        now = clock_ns();
        first = start > pair->from ? start : pair->from;
        last = now < pair->until ? now : pair->until;
        if (last > first)
            launches += PIPELINE * (double)(last - first) / (double)(now - start);
        if (!passed && now >= pair->until) {
            atomic_fetch_add_explicit(&pair->passed, 1, memory_order_relaxed);
            passed = true;
        }
    }
    return launches * 1e9 / (double)(pair->until - pair->from);
}

static void pair_body(struct tenant *tenant)
{
    struct pair *pair = (struct pair *)(uintptr_t)tenant->arg;
    gs_session session[TURN_MODES];
    gs_kernel nop[TURN_MODES];

    for (int mode = 0; mode < TURN_MODES; mode++) {
        session_open(pair, mode, &session[mode], &nop[mode]);
        for (int i = 0; i < WARM_UP; i++)
            pipeline(session[mode], nop[mode]);
    }
    if (pair->pinned)
        pin_self(CPU_TENANTS + tenant->index);
    for (uint32_t turn = 1;; turn++) {
        int mode;

        tenant_arrive(tenant, turn);
        if (pair->over)
            break;
        mode = pair->mode;
        tenant->value[0] = launches_measure(pair, tenant->group->count, session[mode], nop[mode]);
    }
    for (int mode = 0; mode < TURN_MODES; mode++)
        GS(gs_detach, session[mode]);
}

/* Returns the launches a second of all tenants together. */
static double turn_run(struct tenants *group, struct pair *pair, uint32_t turn, int mode)
{
    double sum = 0;

    pair->mode = mode;
    pair->passed = 0;
    pair->from = clock_ns() + SETTLE_NS;
    pair->until = pair->from + TURN_NS;
    tenants_go(group, turn);
    tenants_await(group, turn + 1);
    for (unsigned i = 0; i < group->count; i++)
        sum += group->tenant[i].value[0];
    return sum;
}

static void quad_run(struct comparison *c, struct tenants *group, struct pair *pair, uint32_t turn)
{
    double sum[TURN_MODES] = {0};

    for (unsigned i = 0; i < TURNS; i++)
        sum[quad[i]] += turn_run(group, pair, turn + i, quad[i]);
    for (int mode = 0; mode < TURN_MODES; mode++)
        c->rate[mode][c->count] = sum[mode] * TURN_MODES / TURNS;
    c->loss[c->count++] = 1 - sum[TURN_ON] / sum[TURN_OFF];
}

static void part_run(struct comparison *c, struct pair *pair, unsigned round, const char *log)
{
    double loss[QUADS_MAX];
    unsigned before = c->count;
    struct tenants *group;
    uint32_t turn = 1;
    uint64_t deadline;

    pair->over = false;
    group = tenants_start(c->tenants, pair_body, pair);
    tenants_await(group, turn);
    if (log != NULL)
        pair->turns->settle(log);
    deadline = clock_ns() + SECONDS * 1000000000ull;
    for (; c->count - before < c->most && clock_ns() < deadline; turn += TURNS)
        quad_run(c, group, pair, turn);
    pair->over = true;
    tenants_go(group, turn);
    tenants_join(group);
    memcpy(loss, c->loss + before, (c->count - before) * sizeof(*loss));
    c->round[round] = stats_median(loss, c->count - before);
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static void mode_start(struct server *server, int mode, struct pair *pair, char log[LOG_PATH_MAX])
{
    const struct turns *turns = pair->turns;
    char text[FAILURE_TEXT_MAX];

    snprintf(log, LOG_PATH_MAX, "%s/%s", plan.output, turns->server[mode].log);
    remove(log);
    if (!server_start(server, plan.gshared, plan.facts->soft ? "soft" : "cuda",
                      turns->server[mode].options, log, text, sizeof(text)))
        cell_fail("%s", text);
    memcpy(pair->instance[mode], server->instance, sizeof(server->instance));
    if (pair->pinned && !pin_server(CPU_SERVERS, server))
        cell_fail("gshared's dispatcher is not among its threads");
}

static void round_run(struct comparison *comparisons, unsigned count, unsigned round,
                      struct pair *pair)
{
    struct server server[TURN_MODES] = {0};
    char text[FAILURE_TEXT_MAX], log[TURN_MODES][LOG_PATH_MAX];
    int first = round % TURN_MODES;

    mode_start(&server[first], first, pair, log[first]);
    mode_start(&server[!first], !first, pair, log[!first]);
    for (unsigned i = 0; i < count; i++)
        part_run(&comparisons[i], pair, round,
                 i == 0 && pair->turns->settle != NULL ? log[TURN_ON] : NULL);
    for (int mode = 0; mode < TURN_MODES; mode++) {
        if (!server_stop(&server[mode], text, sizeof(text)))
            cell_fail("%s", text);
    }
}

/* How sure the median is: by how the quads differ, and by how the rounds do, the larger. */
static void comparison_tell(struct comparison *c)
{
    double rounds = stats_mean_error(c->round, ROUNDS), quads;

    cell_metric(stats_median(c->rate[TURN_ON], c->count), "on_%u", c->tenants);
    cell_metric(stats_median(c->rate[TURN_OFF], c->count), "off_%u", c->tenants);
    cell_metric(stats_median(c->loss, c->count), "loss_%u", c->tenants);
    quads = stats_median_error(c->loss, c->count);
    cell_metric(quads > rounds ? quads : rounds, "loss_error_%u", c->tenants);
    cell_metric(stats_percentile(c->loss, c->count, 25), "loss_q1_%u", c->tenants);
    cell_metric(stats_percentile(c->loss, c->count, 75), "loss_q3_%u", c->tenants);
    cell_metric(c->count, "loss_n_%u", c->tenants);
    for (unsigned round = 0; round < ROUNDS; round++)
        cell_metric(c->round[round], "loss_round_%u_%u", c->tenants, round);
}

void turns_measure(const struct turns *turns)
{
    struct comparison comparisons[] = {
        {.tenants = 1, .most = QUADS_MAX / 2},
        {.tenants = TENANTS_MAX, .most = QUADS_MAX}, /* whose turns differ more */
    };
    struct pair *pair = cell_shared(sizeof(*pair));

    pair->turns = turns;
    pair->pinned = pin_possible(CPU_TENANTS + TENANTS_MAX);
    for (unsigned round = 0; round < ROUNDS; round++)
        round_run(comparisons, ARRAY_SIZE(comparisons), round, pair);
    for (unsigned i = 0; i < ARRAY_SIZE(comparisons); i++)
        comparison_tell(&comparisons[i]);
}
