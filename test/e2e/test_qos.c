/* test_qos.c - quality of service: what is granted is exact, on the SMs themselves; changes are
 * live, and lose nothing. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/link.h"
#include "harness/harness.h"
#include "where.h"

/* environment: as server_start's; NULL: none. */
static struct server *scene(struct where *where, const char *const *environment)
{
    struct server *server;
    gs_session session;

    server = server_start(&(struct server_options){.environment = environment});
    CHECK_OK(server_attach(server, &session));
    where_open(where, session);
    return server;
}

/* Where a device has no partitions there is nothing to test but that. */
static struct server *scene_on(struct where *where, const char *const *environment)
{
    struct server *server = scene(where, environment);

    if (!where->granularity) {
        gs_detach(where->session);
        server_stop(server);
        test_skip("the device has no partitions");
    }
    return server;
}

static struct server *scene_with_groups(struct where *where)
{
    return scene_on(where, NULL);
}

static void scene_end(struct where *where, struct server *server)
{
    CHECK_OK(gs_detach(where->session));
    server_stop(server);
}

/* ---- Grants ---------------------------------------------------------------------------------- */

static void attach_with(struct where *where, const gs_qos *qos)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.qos = qos;
    CHECK_OK(gs_attach(&params, &session));
    where_open(where, session);
}

static void a_session_attaches_with_exactly_the_sms_it_asks_for(void)
{
    struct where first, where;
    struct server *server = scene_with_groups(&first);
    const unsigned counts[] = {1, 2, 3, first.sms / 2 + 1, first.sms - 1, first.sms};
    const unsigned percentages[] = {1, 13, 50, 99, 100};

    where_find_groups(&first);
    for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
        const gs_qos qos = where_count(counts[i]);
        attach_with(&where, &qos);
        const struct sm_mask got = where_exact(&where);
        CHECK_EQUAL(sm_mask_count(&got), where_rounded(&where, counts[i]));
        CHECK_OK(gs_detach(where.session));
    }
    for (size_t i = 0; i < ARRAY_SIZE(percentages); i++) {
        const gs_qos qos = where_percentage(percentages[i]);
        attach_with(&where, &qos);
        const struct sm_mask got = where_exact(&where);
        CHECK_EQUAL(sm_mask_count(&got),
                    where_rounded(&where, sm_count_of_percentage(where.sms, percentages[i])));
        CHECK_OK(gs_detach(where.session));
    }
    for (unsigned i = 0; i < 8; i++) {
        const struct sm_mask all = sm_mask_first(first.sms), mask = where_some(&all);
        const gs_qos qos = where_mask(&mask);
        attach_with(&where, &qos);
        CHECK_SMS(where_exact(&where), mask);
        CHECK_OK(gs_detach(where.session));
    }
    scene_end(&first, server);
}

static void a_change_holds_from_the_next_launch_on(void)
{
    struct where where;
    struct server *server = scene_with_groups(&where);

    where_find_groups(&where);
    for (unsigned i = 0; i < 40; i++) {
        const struct sm_mask all = sm_mask_first(where.sms), mask = where_some(&all);
        const gs_qos qos = i % 8 == 7 ? (gs_qos)GS_QOS_INIT : where_mask(&mask);

        CHECK_OK(gs_set_qos(where.session, &qos));
        CHECK_SMS(where_run(&where, NULL, sm_mask_count(i % 8 == 7 ? &all : &mask), NULL, NULL),
                  i % 8 == 7 ? all : mask);
        CHECK_SMS(where_granted(&where), i % 8 == 7 ? all : mask);
    }
    scene_end(&where, server);
}

/* Two streams whose kernels do not commute, while the session's SMs and priority change. */
struct pipeline {
    struct where *where;
    atomic_bool stop;
    uint32_t launched[2];
    gs_stream stream[2];
    gs_devptr state[2];
};

static void *pipeline_run(void *argument)
{
    struct pipeline *p = argument;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);

    while (!atomic_load(&p->stop)) {
        for (unsigned i = 0; i < 64; i++) {
            uint32_t value = p->launched[i % 2];
            CHECK_OK(gs_launch(p->stream[i % 2], p->where->mix, &config,
                               (void *[]){&p->state[i % 2], &value}));
            p->launched[i % 2]++;
        }
    }
    return NULL;
}

static void changes_neither_stop_nor_reorder_nor_lose_a_launch(void)
{
    struct where where;
    struct server *server = scene_with_groups(&where);
    struct pipeline p = {.where = &where};
    pthread_t thread;

    where_find_groups(&where);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_OK(gs_stream_create(where.session, NULL, &p.stream[i]));
        CHECK_OK(gs_malloc(where.session, sizeof(uint32_t), &p.state[i]));
    }
    CHECK(!pthread_create(&thread, NULL, pipeline_run, &p));
    for (unsigned i = 0; i < 60; i++) {
        const struct sm_mask all = sm_mask_first(where.sms), mask = where_some(&all);
        gs_qos qos = where_mask(&mask);
        qos.priority = (int)(i % 4);
        CHECK_OK(gs_set_qos(where.session, &qos));
    }
    atomic_store(&p.stop, true);
    pthread_join(thread, NULL);
    CHECK_OK(gs_sync(where.session));
    for (unsigned i = 0; i < 2; i++) {
        uint32_t wanted = 0, got;
        for (uint32_t n = 0; n < p.launched[i]; n++)
            wanted = wanted * 1664525u + n;
        CHECK_OK(gs_memcpy_dtoh(where.session, &got, p.state[i], sizeof(got)));
        CHECK_EQUAL(got, wanted);
    }
    scene_end(&where, server);
}

static void a_recorded_graph_moves_with_its_session(void)
{
    struct where where;
    struct server *server = scene_with_groups(&where);
    const unsigned blocks = where.granularity;
    gs_graph graph;
    uint32_t one = 1;
    gs_devptr state;

    where_find_groups(&where);
    CHECK_OK(gs_malloc(where.session, sizeof(one), &state));
    CHECK_OK(gs_graph_begin(where.session, NULL));
    CHECK_OK(where_launch(&where, NULL, blocks, NULL, NULL));
    for (unsigned i = 0; i < 3; i++)
        CHECK_OK(gs_launch(NULL, where.mix, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1),
                           (void *[]){&state, &one}));
    CHECK_OK(gs_graph_end(where.session, NULL, &graph));
    for (unsigned i = 0; i < 12; i++) { /* more than it keeps variants */
        const struct sm_mask mask = where_group(i % 5 % where_groups());
        gs_qos qos = where_mask(&mask);
        qos.priority = (int)(i % 2);
        CHECK_OK(gs_set_qos(where.session, &qos));
        CHECK_OK(gs_graph_launch(graph, NULL));
        CHECK_SMS(where_read(&where, NULL, blocks), mask);
    }
    uint32_t got, wanted = 0;
    for (unsigned i = 0; i < 36; i++)
        wanted = wanted * 1664525u + 1;
    CHECK_OK(gs_memcpy_dtoh(where.session, &got, state, sizeof(got)));
    CHECK_EQUAL(got, wanted);
    CHECK_OK(gs_graph_destroy(graph));
    scene_end(&where, server);
}

/* ---- One launch ------------------------------------------------------------------------------ */

static void a_launch_runs_on_the_sms_it_asks_for(void)
{
    struct where where;
    struct server *server = scene_with_groups(&where);
    struct sm_mask granted = sm_mask_first(where.sms);

    where_find_groups(&where);
    for (unsigned round = 0; round < 30; round++) {
        unsigned count = 1 + (unsigned)test_random() % sm_mask_count(&granted);
        gs_qos qos = where_count(count);
        struct sm_mask used = where_run(&where, NULL, where_rounded(&where, count), &qos, NULL),
                       mask;
        CHECK(sm_mask_within(&used, &granted));
        mask = where_some(&granted);
        qos = where_mask(&mask);
        CHECK_SMS(where_run(&where, NULL, sm_mask_count(&mask), &qos, NULL), mask);
        /* The next one is the session's again. */
        CHECK_SMS(where_run(&where, NULL, sm_mask_count(&granted), NULL, NULL), granted);
        if (round % 10 == 9) {
            const struct sm_mask all = sm_mask_first(where.sms);
            granted = where_some(&all);
            qos = where_mask(&granted);
            CHECK_OK(gs_set_qos(where.session, &qos));
        }
    }
    scene_end(&where, server);
}

static void more_partitions_than_are_kept_are_all_exact(void)
{
    struct where where;
    struct server *server = scene_with_groups(&where);
    const struct sm_mask all = sm_mask_first(where.sms);

    where_find_groups(&where);
    for (unsigned i = 0; i < 400; i++) { /* about 200 different ones where there are 8 groups */
        const struct sm_mask mask = where_some(&all);
        const gs_qos qos = where_mask(&mask);
        CHECK_SMS(where_run(&where, NULL, sm_mask_count(&mask), &qos, NULL), mask);
    }
    scene_end(&where, server);
}

/* Where tenants have filled the device's memory, a launch goes another way: as exact, in order. */
static void without_memory_for_graphs_launches_stay_exact_and_in_order(void)
{
    struct where where;
    static const char *const environment[] = {"GSHARE_SOFT_GRAPHS=0", NULL};
    struct server *server = scene_on(&where, environment);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    uint32_t got, wanted = 0;
    gs_devptr state;

    where_find_groups(&where);
    CHECK_OK(gs_malloc(where.session, sizeof(got), &state));
    for (uint32_t i = 0; i < 300; i++) {
        const gs_qos qos = where_count(where.granularity * (1 + i % 3));
        config.qos = i % 4 ? &qos : NULL;
        CHECK_OK(gs_launch(NULL, where.mix, &config, (void *[]){&state, &i}));
        wanted = wanted * 1664525u + i;
    }
    CHECK_OK(gs_memcpy_dtoh(where.session, &got, state, sizeof(got)));
    CHECK_EQUAL(got, wanted);
    for (unsigned i = 0; i < 10; i++) {
        const struct sm_mask all = sm_mask_first(where.sms), mask = where_some(&all);
        gs_qos qos = where_mask(&mask);
        qos.priority = (int)(i % 3);
        CHECK_OK(gs_set_qos(where.session, &qos));
        CHECK_SMS(where_exact(&where), mask);
    }
    scene_end(&where, server);
}

static void a_report_tells_where_a_launch_ran(void)
{
    struct where where;
    struct server *server = scene_with_groups(&where);
    gs_report whole = GS_REPORT_INIT, part = GS_REPORT_INIT, again = GS_REPORT_INIT,
              urgent = GS_REPORT_INIT;
    const unsigned blocks = where.granularity;
    gs_qos qos = where_count(1), early = GS_QOS_INIT;
    gs_report_id id;

    where_run(&where, NULL, where.sms, NULL, &id);
    CHECK_WITHIN(10000, gs_launch_report(where.session, id, &whole) != GS_NOT_READY);
    CHECK_EQUAL(whole.sm_count, where.sms);
    CHECK_EQUAL(whole.partition, 0);
    CHECK_EQUAL(whole.late, 0);
    qos.priority = 2;
    where_run(&where, NULL, blocks, &qos, &id);
    CHECK_WITHIN(10000, gs_launch_report(where.session, id, &part) != GS_NOT_READY);
    CHECK_EQUAL(part.sm_count, blocks);
    CHECK(part.partition != 0);
    CHECK(part.priority < whole.priority); /* CUDA's: lower is earlier */
    where_run(&where, NULL, blocks, &qos, &id);
    CHECK_WITHIN(10000, gs_launch_report(where.session, id, &again) != GS_NOT_READY);
    CHECK_EQUAL(again.partition, part.partition);
    early.deadline_ns = 1;
    where_run(&where, NULL, where.sms, &early, &id);
    CHECK_WITHIN(10000, gs_launch_report(where.session, id, &urgent) != GS_NOT_READY);
    CHECK_EQUAL(urgent.late, 1);
    CHECK_EQUAL(urgent.priority, whole.priority);
    scene_end(&where, server);
}

static void a_priority_that_changes_holds_for_streams_that_there_are(void)
{
    struct where where;
    struct server *server = scene_with_groups(&where);
    static const struct {
        gs_class cls;
        int priority;
    } steps[] = {{GS_CLASS_BEST_EFFORT, 0}, {GS_CLASS_BEST_EFFORT, 5}, {GS_CLASS_NORMAL, 0},
                 {GS_CLASS_NORMAL, 5},      {GS_CLASS_LATENCY, 0},     {GS_CLASS_LATENCY, 1}};
    gs_report report[ARRAY_SIZE(steps)];
    gs_qos qos = GS_QOS_INIT;

    for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
        gs_report_id id;
        report[i] = (gs_report)GS_REPORT_INIT;
        qos.cls = steps[i].cls;
        qos.priority = steps[i].priority;
        CHECK_OK(gs_set_qos(where.session, &qos));
        for (unsigned n = 0; n < 4; n++) /* plainly, and by graphs */
            where_run(&where, NULL, where.sms, NULL, &id);
        CHECK_WITHIN(10000, gs_launch_report(where.session, id, &report[i]) != GS_NOT_READY);
    }
    for (unsigned i = 1; i < ARRAY_SIZE(steps); i++)
        CHECK(report[i].priority < report[i - 1].priority);
    scene_end(&where, server);
}

/* Where it runs then cannot be made any more while that kernel runs: it is there already. */
static void the_first_best_effort_kernel_beside_a_latency_kernel_keeps_off(void)
{
    struct where back, latency;
    struct server *server = scene_with_groups(&back);
    const gs_launch_config single = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_report report = GS_REPORT_INIT;
    gs_devptr word, state;
    uint32_t value = 0, two = 2;
    gs_qos qos = GS_QOS_INIT;
    gs_session session = attach_class(GS_CLASS_LATENCY);
    gs_stream copying;
    gs_report_id id;

    qos.cls = GS_CLASS_BEST_EFFORT;
    CHECK_OK(gs_set_qos(back.session, &qos));
    where_open(&latency, session);
    CHECK_OK(gs_malloc(session, sizeof(value), &word));
    CHECK_OK(gs_malloc(back.session, sizeof(value), &state));
    CHECK_OK(gs_stream_create(session, NULL, &copying));
    CHECK_OK(gs_launch(NULL, latency.hold, &single, (void *[]){&word}));
    while (value == 0) { /* until it runs */
        CHECK_OK(gs_memcpy_dtoh_async(session, &value, word, sizeof(value), copying));
        CHECK_OK(gs_stream_sync(session, copying));
    }
    config.report = &id;
    CHECK_OK(gs_launch(NULL, back.mix, &config, (void *[]){&state, &value}));
    CHECK_OK(gs_sync(back.session));
    CHECK_WITHIN(10000, gs_launch_report(back.session, id, &report) != GS_NOT_READY);
    CHECK(report.sm_count < back.sms);
    CHECK(report.partition != 0);
    CHECK_OK(gs_memcpy_htod_async(session, word, &two, sizeof(two), copying));
    CHECK_OK(gs_detach(session));
    scene_end(&back, server);
}

/* A partition cannot be made beside a kernel that runs on: the launch waits for it, its stream too,
 * and nobody else. */
static void a_launch_that_waits_for_its_partition_holds_up_its_stream_only(void)
{
    struct where where, other;
    struct server *server = scene_with_groups(&where);
    const gs_launch_config single = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_qos qos = where_count(1);
    gs_stream waiting, copying;
    gs_devptr word, state;
    uint32_t value = 0, two = 2;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    where_open(&other, session);
    CHECK_OK(gs_stream_create(where.session, NULL, &waiting));
    CHECK_OK(gs_stream_create(session, NULL, &copying));
    CHECK_OK(gs_malloc(where.session, sizeof(value), &state));
    CHECK_OK(gs_malloc(session, sizeof(value), &word));
    CHECK_OK(gs_launch(NULL, other.hold, &single, (void *[]){&word}));
    while (value == 0) /* until it runs */
        CHECK_OK(gs_memcpy_dtoh_async(session, &value, word, sizeof(value), copying));

    CHECK_OK(where_launch(&where, waiting, where.granularity, &qos, NULL));
    CHECK_OK(gs_launch(NULL, where.mix, &single, (void *[]){&state, &value}));
    CHECK_OK(gs_stream_sync(where.session, NULL));
    CHECK_STATUS(gs_stream_query(where.session, waiting), GS_NOT_READY);
    CHECK_OK(gs_memcpy_htod_async(session, word, &two, sizeof(two), copying));
    CHECK_OK(gs_sync(session));
    const struct sm_mask used = where_read(&where, waiting, where.granularity);
    CHECK_EQUAL(sm_mask_count(&used), where.granularity);
    CHECK_OK(gs_detach(session));
    scene_end(&where, server);
}

/* So does an attach, or another grant. It gives up before the client does, and says why. */
static void who_waits_in_vain_for_a_partition_is_told_for_whom(void)
{
    struct where where, other;
    struct server *server = scene_with_groups(&where);
    const gs_launch_config single = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    const gs_qos qos = where_count(1), more = where_count(where.granularity + 1);
    const uint32_t two = 2;
    gs_session session, third;
    char holder[32], way_out[64];
    gs_stream copying;
    gs_devptr word;

    params.name = "holder";
    CHECK_OK(gs_attach(&params, &session));
    where_open(&other, session);
    CHECK_OK(gs_session_info(session, &desc));
    snprintf(holder, sizeof(holder), "session %llu ", (unsigned long long)desc.session_id);
    snprintf(way_out, sizeof(way_out), "(gsctl kill %llu ends it)",
             (unsigned long long)desc.session_id);
    CHECK_OK(gs_stream_create(session, NULL, &copying));
    CHECK_OK(gs_malloc(session, sizeof(two), &word));
    CHECK_OK(gs_memset(session, word, 0, sizeof(two)));
    CHECK_OK(gs_launch(NULL, other.hold, &single, (void *[]){&word}));

    params.name = "waits";
    params.qos = &qos;
    params.timeout_ms = (unsigned)((test_deadline(6000) - clock_ns()) / 1000000);
    CHECK_STATUS(gs_attach(&params, &third), GS_ERR_TIMEOUT);
    CHECK_TEXT(gs_last_error_message(), holder);
    CHECK_TEXT(gs_last_error_message(), way_out);
    CHECK_STATUS(gs_set_qos(where.session, &more), GS_ERR_TIMEOUT);
    CHECK_TEXT(gs_last_error_message(), holder);
    CHECK_TEXT(gs_last_error_message(), way_out);

    CHECK_OK(gs_memcpy_htod_async(session, word, &two, sizeof(two), copying));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_attach(&params, &third));
    CHECK_OK(gs_detach(third));
    CHECK_OK(gs_detach(session));
    scene_end(&where, server);
}

/* ---- Exclusive ------------------------------------------------------------------------------- */

static void exclusive_sms_are_taken_from_all_others(void)
{
    struct where where, owner;
    struct server *server = scene_with_groups(&where);
    struct sm_mask all = sm_mask_first(where.sms), own, left;
    gs_qos qos = where_count(where.sms / 2);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    qos.affinity.exclusive = 1;
    attach_with(&owner, &qos);
    own = where_exact(&owner);
    left = where_exact(&where);
    CHECK_SMS(sm_mask_and(own, left), (struct sm_mask){{0}});
    CHECK_SMS(sm_mask_or(own, left), all);
    /* No more of them than there are, and the refusal says what is free. */
    params.qos = &qos;
    qos.affinity.sm_count = where.sms;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_LIMIT);
    CHECK_SMS(where_exact(&owner), own);
    CHECK_OK(gs_detach(owner.session));
    CHECK_WITHIN(10000, (left = where_granted(&where), sm_mask_equal(&left, &all)));
    CHECK_SMS(where_exact(&where), all);
    scene_end(&where, server);
}

/* A mask for each number from 1: binary, in groups. */
static struct sm_mask mask_number(unsigned number)
{
    struct sm_mask mask = {{0}};

    for (unsigned bit = 0; number >> bit; bit++) {
        if (number >> bit & 1)
            mask = sm_mask_or(mask, where_group(bit));
    }
    return mask;
}

static void partitions_are_limited_and_free_when_nobody_has_them(void)
{
    enum { LIMIT = LINK_SETS_MAX };
    struct where where, last;
    struct server *server = scene_with_groups(&where);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session sessions[LIMIT], session;
    struct sm_mask mask;
    char limit[32];
    gs_qos qos;

    where_find_groups(&where);
    params.qos = &qos;
    for (unsigned i = 0; i < LIMIT; i++) {
        mask = mask_number(i + 1);
        qos = where_mask(&mask);
        CHECK_OK(gs_attach(&params, &sessions[i]));
    }
    mask = mask_number(LIMIT + 1);
    qos = where_mask(&mask);
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_LIMIT);
    snprintf(limit, sizeof(limit), "%u different sets", LINK_SETS_MAX);
    CHECK_TEXT(gs_last_error_message(), limit);
    CHECK_STATUS(gs_set_qos(where.session, &qos), GS_ERR_LIMIT);
    CHECK_SMS(where_exact(&where), sm_mask_first(where.sms));
    CHECK_OK(gs_detach(sessions[7]));
    attach_with(&last, &qos);
    CHECK_SMS(where_exact(&last), mask);
    CHECK_OK(gs_detach(last.session));
    for (unsigned i = 0; i < LIMIT; i++) {
        if (i != 7)
            CHECK_OK(gs_detach(sessions[i]));
    }
    scene_end(&where, server);
}

/* The device has memory for eight: those that nobody holds make room, the others do not. */
static void without_memory_for_a_partition_the_old_grant_stays(void)
{
    enum { FIT = 8 };
    /* One lane: each further one would take one of the eight, as lanes do on machines with many
     * CPUs. */
    static const char *const environment[] = {"GSHARE_SOFT_GREENS=8", "GSHARE_LANES=1", NULL};
    struct where where, tenants[FIT - 1];
    struct server *server = scene_on(&where, environment);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    struct sm_mask mask, own;
    gs_session session;
    gs_qos qos;

    if (!test_device_is_soft(where.session)) {
        scene_end(&where, server);
        test_skip("a GPU has memory for more");
    }
    where_find_groups(&where);
    own = mask_number(1);
    qos = where_mask(&own);
    CHECK_OK(gs_set_qos(where.session, &qos));
    for (unsigned i = 0; i < FIT - 1; i++) {
        mask = mask_number(i + 2);
        qos = where_mask(&mask);
        attach_with(&tenants[i], &qos);
        CHECK_SMS(where_exact(&tenants[i]), mask);
    }
    mask = mask_number(100);
    qos = where_mask(&mask);
    CHECK_STATUS(gs_set_qos(where.session, &qos), GS_ERR_NO_DEVICE_MEMORY);
    CHECK_TEXT(gs_last_error_message(), "cuGreenCtxCreate");
    params.qos = &qos;
    CHECK_STATUS(gs_attach(&params, &session), GS_ERR_NO_DEVICE_MEMORY);
    CHECK_SMS(where_exact(&where), own);
    CHECK_OK(gs_detach(tenants[0].session));
    /* What the failure said is kept for a moment. */
    CHECK_WITHIN(10000, gs_set_qos(where.session, &qos) == GS_OK);
    CHECK_SMS(where_exact(&where), mask);
    for (unsigned i = 1; i < FIT - 1; i++)
        CHECK_OK(gs_detach(tenants[i].session));
    scene_end(&where, server);
}

/* ---- What cannot be had ---------------------------------------------------------------------- */

static void what_is_beyond_the_device_is_refused_with_the_limit(void)
{
    struct where where;
    struct server *server = scene_with_groups(&where);
    struct sm_mask mask = {{0}};
    char number[16];
    gs_qos qos = where_count(where.sms + 1);

    snprintf(number, sizeof(number), "%u", where.sms);
    CHECK_STATUS(gs_set_qos(where.session, &qos), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), number);
    sm_mask_set(&mask, where.sms);
    qos = where_mask(&mask);
    CHECK_STATUS(gs_set_qos(where.session, &qos), GS_ERR_INVALID_VALUE);
    mask = (struct sm_mask){{1}};
    qos = where_mask(&mask);
    snprintf(number, sizeof(number), "%u", where.granularity);
    CHECK_STATUS(gs_set_qos(where.session, &qos),
                 where.granularity > 1 ? GS_ERR_INVALID_VALUE : GS_OK);
    CHECK_TEXT(gs_last_error_message(), number);
    scene_end(&where, server);
}

static void a_device_without_partitions_says_so(void)
{
    struct where where;
    static const char *const environment[] = {"GSHARE_SOFT_SMS=2", NULL};
    struct server *server = scene(&where, environment);
    gs_qos qos = where_count(2);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    uint32_t one = 1;

    if (where.granularity) {
        scene_end(&where, server);
        test_skip("the device has partitions");
    }
    CHECK_STATUS(gs_set_qos(where.session, &qos), GS_ERR_NOT_SUPPORTED);
    config.qos = &qos;
    CHECK_STATUS(gs_launch(NULL, where.mix, &config, (void *[]){&where.words, &one}),
                 GS_ERR_NOT_SUPPORTED);
    qos.affinity.type = GS_EXEC_AFFINITY_NONE;
    CHECK_OK(gs_launch(NULL, where.mix, &config, (void *[]){&where.words, &one}));
    CHECK_SMS(where_exact(&where), sm_mask_first(where.sms));
    scene_end(&where, server);
}

static void the_environment_lowers_what_is_asked_for(void)
{
    static const char own[] = "GSHARE_ACTIVE_THREAD_PERCENTAGE";
    struct where first, where;
    struct server *server = scene_with_groups(&first);
    const struct sm_mask all = sm_mask_first(first.sms);
    const unsigned half = where_rounded(&first, sm_count_of_percentage(first.sms, 50));
    const gs_qos wishes[] = {GS_QOS_INIT, where_percentage(80), where_count(first.sms - 1),
                             where_mask(&all)};

    for (size_t i = 0; i < ARRAY_SIZE(wishes); i++) {
        setenv(i % 2 ? own : "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", "50", 1);
        attach_with(&where, &wishes[i]);
        unsetenv(own);
        const struct sm_mask got = where_exact(&where);
        CHECK_EQUAL(sm_mask_count(&got), half);
        CHECK_OK(gs_detach(where.session));
    }
    scene_end(&first, server);
}

static const struct test tests[] = {
    TEST(a_session_attaches_with_exactly_the_sms_it_asks_for),
    TEST(a_change_holds_from_the_next_launch_on),
    TEST(changes_neither_stop_nor_reorder_nor_lose_a_launch),
    TEST(a_recorded_graph_moves_with_its_session),
    TEST(a_launch_runs_on_the_sms_it_asks_for),
    TEST(more_partitions_than_are_kept_are_all_exact),
    TEST(without_memory_for_graphs_launches_stay_exact_and_in_order),
    TEST(a_report_tells_where_a_launch_ran),
    TEST(a_priority_that_changes_holds_for_streams_that_there_are),
    TEST(the_first_best_effort_kernel_beside_a_latency_kernel_keeps_off),
    TEST(a_launch_that_waits_for_its_partition_holds_up_its_stream_only),
    TEST(who_waits_in_vain_for_a_partition_is_told_for_whom),
    TEST(exclusive_sms_are_taken_from_all_others),
    TEST(partitions_are_limited_and_free_when_nobody_has_them),
    TEST(without_memory_for_a_partition_the_old_grant_stays),
    TEST(what_is_beyond_the_device_is_refused_with_the_limit),
    TEST(a_device_without_partitions_says_so),
    TEST(the_environment_lowers_what_is_asked_for),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
