/*
 * test_schedule.c - what the scheduler promises, seen by tenants: best effort keeps off the SMs
 * that are reserved while latency work is about, time on the device is counted, deadlines are told,
 * and nobody starves beside tenants that never pause.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/harness.h"

/* SMs that are granted together; 0: the device has no partitions. */
static unsigned granularity_of(gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(session, &desc));
    return desc.sm_granularity;
}

/* One launch that is measured; returns when it has ended. */
static gs_report launch_reported(gs_session session, gs_kernel kernel, const gs_qos *qos,
                                 void **args)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_report report = GS_REPORT_INIT;
    gs_report_id id;

    config.report = &id;
    config.qos = qos;
    CHECK_OK(gs_launch(NULL, kernel, &config, args));
    CHECK_OK(gs_sync(session));
    CHECK_WITHIN(10000, gs_launch_report(session, id, &report) == GS_OK);
    return report;
}

/* ---- Classes --------------------------------------------------------------------------------- */

static void best_effort_leaves_sms_to_latency_work_and_gets_them_back(void)
{
    struct server *server = server_start(NULL);
    gs_session latency = attach_class(GS_CLASS_LATENCY), back = attach_class(GS_CLASS_BEST_EFFORT);
    uint32_t zero = 0, one = 1;
    char group[16], output[1024];
    gs_devptr flag;

    if (!granularity_of(back)) {
        gs_detach(latency);
        gs_detach(back);
        server_stop(server);
        test_skip("the device has no partitions");
    }
    /* Of one group, the few that are left between requests are all that is left at any time. */
    snprintf(group, sizeof(group), "%u", granularity_of(back));
    CHECK_EQUAL(program_run((const char *const[]){"bin/gsctl", "set", "--device", "0",
                                                  "--latency-sms", group, NULL},
                            output, sizeof(output)),
                0);
    gs_kernel nothing = kernels_get(kernels_load(back), "nothing");
    gs_kernel wait = kernels_get(kernels_load(latency), "spin_until");
    CHECK_OK(gs_malloc(latency, sizeof(zero), &flag));

    gs_report all = launch_reported(back, nothing, NULL, NULL), less;
    CHECK_EQUAL(all.partition, 0);
    /* The partition is made at a quiet moment, so the latency session's kernels come and go. */
    do {
        CHECK_OK(gs_memcpy_htod(latency, flag, &one, sizeof(one)));
        CHECK_OK(kernels_launch(NULL, wait, 1, 1, (void *[]){&flag}));
        less = launch_reported(back, nothing, NULL, NULL);
        CHECK_OK(gs_sync(latency));
    } while (less.partition == 0); /* the test's deadline ends it */
    CHECK(less.sm_count < all.sm_count);
    /* Now it is there: as long as the latency kernel runs, every launch keeps off. */
    gs_stream other;
    CHECK_OK(gs_stream_create(latency, NULL, &other));
    CHECK_OK(gs_memcpy_htod(latency, flag, &zero, sizeof(zero)));
    CHECK_OK(kernels_launch(NULL, wait, 1, 1, (void *[]){&flag}));
    do
        less = launch_reported(back, nothing, NULL, NULL);
    while (less.partition == 0); /* until the worker has seen the latency launch */
    for (int i = 0; i < 10; i++)
        CHECK_EQUAL(launch_reported(back, nothing, NULL, NULL).sm_count, less.sm_count);
    CHECK_OK(gs_memset_async(latency, flag, 1, sizeof(one), other));
    CHECK_OK(gs_sync(latency));
    CHECK_WITHIN(10000, launch_reported(back, nothing, NULL, NULL).partition == 0);
    CHECK_OK(gs_detach(latency));
    CHECK_OK(gs_detach(back));
    server_stop(server);
}

/* ---- Time and deadlines ---------------------------------------------------------------------- */

/* What `gsctl ps` says that all tenants had of the device. */
static uint64_t gpu_time(void)
{
    char output[4096];
    uint64_t sum = 0;

    CHECK_EQUAL(program_run((const char *const[]){"bin/gsctl", "ps", "--json", NULL}, output,
                            sizeof(output)),
                0);
    for (const char *at = output; (at = strstr(at, "\"gpu_ns\":"));) {
        at += strlen("\"gpu_ns\":");
        sum += strtoull(at, NULL, 10);
    }
    return sum;
}

static void time_on_the_device_is_counted(void)
{
    struct server *server = server_start(NULL);
    uint64_t each = 4000000, before, spent;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    gs_kernel spin = kernels_get(kernels_load(session), "spin");
    before = clock_ns();
    for (int i = 0; i < 20; i++)
        CHECK_OK(kernels_launch(NULL, spin, 1, 1, (void *[]){&each}));
    CHECK_OK(gs_sync(session));
    spent = clock_ns() - before;
    CHECK_WITHIN(5000, gpu_time() >= 19 * each);
    CHECK(gpu_time() <= spent + 2 * each);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_missed_deadline_is_told(void)
{
    struct server *server = server_start(NULL);
    uint64_t nanoseconds = 20000000;
    gs_qos qos = GS_QOS_INIT;
    gs_session session;

    CHECK_OK(server_attach(server, &session));
    gs_kernel spin = kernels_get(kernels_load(session), "spin");
    qos.deadline_ns = nanoseconds / 2;
    CHECK_EQUAL(launch_reported(session, spin, &qos, (void *[]){&nanoseconds}).late, 1);
    qos.deadline_ns = UINT64_C(600000000000);
    CHECK_EQUAL(launch_reported(session, spin, &qos, (void *[]){&nanoseconds}).late, 0);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Saturation ------------------------------------------------------------------------------ */

struct crowd {
    struct gate ready;
    _Atomic uint32_t stop;
    uint32_t members;
    _Atomic uint32_t rounds[4];
    _Atomic uint64_t granted[GS_SM_MASK_WORDS]; /* to those that have SMs of their own */
};
struct member {
    struct crowd *crowd;
    unsigned index;
    gs_class cls;
    uint64_t nanoseconds;
};

/* Its stream always has the next kernels before the last ones have ended. */
static void member_saturate(struct member *member, gs_session session)
{
    gs_kernel spin = kernels_get(kernels_load(session), "spin");
    gs_event event[2];

    for (int i = 0; i < 2; i++)
        CHECK_OK(gs_event_create(session, &event[i]));
    gate_pass(&member->crowd->ready);
    gate_wait(&member->crowd->ready,
              member->crowd->members); /* modules are loaded before any saturates */
    for (unsigned round = 0; !member->crowd->stop; round++) {
        for (int i = 0; i < 8; i++)
            CHECK_OK(kernels_launch(NULL, spin, 16, 128, (void *[]){&member->nanoseconds}));
        CHECK_OK(gs_event_record(event[round % 2], NULL));
        if (round > 0) {
            CHECK_OK(gs_event_sync(event[(round + 1) % 2]));
            member->crowd->rounds[member->index]++;
        }
    }
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
}

static void member_run(void *argument)
{
    struct member *member = argument;

    member_saturate(member, attach_class(member->cls));
}

static void nobody_starves_among_tenants_that_saturate(void)
{
    struct server *server = server_start(NULL);
    struct crowd *crowd = shared_alloc(sizeof(*crowd));
    struct member member[4] = {{crowd, 0, GS_CLASS_NORMAL, 20000},
                               {crowd, 1, GS_CLASS_NORMAL, 5000000},
                               {crowd, 2, GS_CLASS_BEST_EFFORT, 200000},
                               {crowd, 3, GS_CLASS_LATENCY, 20000}};
    pid_t pid[4];

    crowd->members = 4;
    for (unsigned i = 0; i < 4; i++)
        pid[i] = tenant_start(member_run, &member[i]);
    gate_wait(&crowd->ready, 4);
    for (unsigned i = 0; i < 4; i++)
        CHECK_WITHIN(40000, crowd->rounds[i] >= 3);
    crowd->stop = 1;
    for (unsigned i = 0; i < 4; i++)
        tenant_join(pid[i]);
    server_stop(server);
}

/* Half of the SMs each, which the server spreads so that they are different ones. */
static void half_run(void *argument)
{
    struct member *member = argument;
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_exec_affinity granted = {0};
    gs_qos qos = GS_QOS_INIT;
    gs_session session;

    qos.affinity.type = GS_EXEC_AFFINITY_ACTIVE_THREAD_PERCENTAGE;
    qos.affinity.percentage = 50;
    params.qos = &qos;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_get_exec_affinity(session, &granted));
    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        CHECK_EQUAL(atomic_fetch_or(&member->crowd->granted[i], granted.sm_mask[i]) &
                        granted.sm_mask[i],
                    0);
    member_saturate(member, session);
}

/* What comes and goes shares SMs with both halves, and makes them wait for one another and part
 * again. */
static void halves_go_on_beside_one_that_comes_and_goes(void)
{
    struct server *server = server_start(NULL);
    gs_session session = attach_class(GS_CLASS_NORMAL);
    struct crowd *crowd = shared_alloc(sizeof(*crowd));
    struct member member[2] = {{crowd, 0, GS_CLASS_NORMAL, 20000},
                               {crowd, 1, GS_CLASS_NORMAL, 2000000}};
    uint64_t nanoseconds = 100000;
    pid_t pid[2];

    if (granularity_of(session) == 0) {
        gs_detach(session);
        server_stop(server);
        test_skip("the device has no partitions");
    }
    gs_kernel spin = kernels_get(kernels_load(session), "spin");
    crowd->members = 2;
    for (unsigned i = 0; i < 2; i++)
        pid[i] = tenant_start(half_run, &member[i]);
    gate_wait(&crowd->ready, 2);
    for (unsigned n = 0; n < 5; n++) {
        const uint32_t before[2] = {crowd->rounds[0], crowd->rounds[1]};
        for (int i = 0; i < 20; i++) {
            CHECK_OK(kernels_launch(NULL, spin, 16, 128, (void *[]){&nanoseconds}));
            CHECK_OK(gs_sync(session));
        }
        for (unsigned i = 0; i < 2; i++)
            CHECK_WITHIN(20000, crowd->rounds[i] > before[i]);
    }
    crowd->stop = 1;
    for (unsigned i = 0; i < 2; i++)
        tenant_join(pid[i]);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(best_effort_leaves_sms_to_latency_work_and_gets_them_back),
    TEST(time_on_the_device_is_counted),
    TEST(a_missed_deadline_is_told),
    TEST_WITHIN(nobody_starves_among_tenants_that_saturate, 120),
    TEST_WITHIN(halves_go_on_beside_one_that_comes_and_goes, 200),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
