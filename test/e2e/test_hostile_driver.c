/*
 * test_hostile_driver.c - a driver that refuses, dawdles, hands out memory with something in it,
 * and keeps what it should give back: what a tenant gets is a status, what the others get is their
 * results.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "admin.h"
#include "driver_server.h"
#include "where.h"

#define CALLS_MAX 5000u /* far more than there are */
#define CHUNK     ((size_t)2 << 20)

struct scene {
    struct server *server;
    struct driver_plan *plan;
    pid_t worker;
    gs_session before; /* a tenant that was there before */
    gs_devptr memory;
    uint64_t held; /* by it */
};

/* The driver keeps so much of each partition. */
static void scene_set_keeping(struct scene *s, uint64_t keeps)
{
    s->server = driver_server_start(NULL, keeps, &s->plan);
    s->worker = server_worker_pid(s->server);
    CHECK_OK(gs_attach(NULL, &s->before));
    CHECK_OK(gs_malloc(s->before, 4096, &s->memory));
    s->held = server_memory_used(s->server);
}

static void scene_set(struct scene *s)
{
    scene_set_keeping(s, 0);
}

/* So that partitions can be told apart, and asked for anew each time. */
static void groups_find(struct scene *s)
{
    struct where where;

    where_open(&where, s->before);
    where_find_groups(&where);
    s->held = server_memory_used(s->server);
}

static void scene_end(struct scene *s)
{
    CHECK_OK(gs_detach(s->before));
    server_wait_tenants(s->server, 0, 5000);
    CHECK_EQUAL(server_memory_used(s->server), 0);
    server_stop(s->server);
}

/* ---- Each call fails once -------------------------------------------------------------------- */

static void driver_arm(struct driver_plan *plan, uint32_t calls)
{
    atomic_store(&plan->calls, calls);
    atomic_store(&plan->failures, 0);
    memset(plan->name, 0, sizeof(plan->name));
    atomic_store(&plan->armed, 1);
}

/* Whether there was a failure. */
static bool driver_disarm(struct driver_plan *plan)
{
    atomic_store(&plan->armed, 0);
    return atomic_load(&plan->failures) != 0;
}

/* All as it was before, the other tenant served. */
static void scene_check(const struct scene *s, uint32_t call)
{
    unsigned char byte = 0;

    if (server_worker_pid(s->server) != s->worker)
        test_fail(__FILE__, __LINE__, "call %u, %s: the worker ended", call, s->plan->name);
    server_wait_tenants(s->server, 1, 10000);
    CHECK_OK(gs_memset(s->before, s->memory, (int)call, 1));
    CHECK_OK(gs_memcpy_dtoh(s->before, &byte, s->memory, 1));
    CHECK_EQUAL(byte, call & 0xFF);
    CHECK_EQUAL(server_memory_used(s->server), s->held);
}

static void status_check(const struct scene *s, uint32_t call, gs_status status)
{
    if (status == GS_NOT_READY || status < GS_OK || status > GS_ERR_ILLEGAL_ADDRESS ||
        status == GS_ERR_SERVER_LOST)
        test_fail(__FILE__, __LINE__, "call %u, %s: %s", call, s->plan->name,
                  gs_status_name(status));
    if (status != GS_OK && gs_last_error_message()[0] == '\0')
        test_fail(__FILE__, __LINE__, "call %u, %s: %s without a message", call, s->plan->name,
                  gs_status_name(status));
}

/* The groups of SMs whose bits the number has; others for each number up to 200. */
static gs_qos qos_place(unsigned number)
{
    struct sm_mask mask = {{0}};

    for (unsigned i = 0; i < 8; i++) {
        if (((number % 200 + 1) >> i) & 1)
            mask = sm_mask_or(mask, where_group(i));
    }
    return where_mask(&mask);
}

/* Launches: alone, in chains, reported, at a place and priority of their own; in a partition; a
 * recorded graph that moves with its session; events, copies. */
static gs_status work_play(gs_session session, unsigned number)
{
    uint32_t value = 3, n = 1000, words[1000];
    gs_qos place = qos_place(2 * number), alone = qos_place(2 * number + 1), urgent = GS_QOS_INIT;
    gs_launch_config reported = GS_LAUNCH_CONFIG_1D(8, 128), own = GS_LAUNCH_CONFIG_1D(8, 128);
    void *args[] = {NULL, &value, &n};
    gs_report report = GS_REPORT_INIT;
    gs_stream stream;
    gs_module module;
    gs_devptr memory;
    gs_report_id id;
    gs_kernel fill;
    gs_event event;
    gs_graph graph;
    void *block;

    args[0] = &memory;
    urgent.priority = 1;
    reported.report = &id;
    own.qos = &alone;
    TRY(gs_malloc(session, sizeof(words), &memory));
    TRY(gs_module_load(session, kernels_ptx, 0, &module));
    TRY(gs_kernel_get(module, "fill", &fill));
    TRY(gs_stream_create(session, &urgent, &stream));
    TRY(gs_event_create(session, &event));
    TRY(gs_host_alloc(session, 10000, &block));
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < 20; i++)
            TRY(kernels_launch(NULL, fill, 8, 128, args));
        TRY(gs_sync(session));
        for (unsigned i = 0; i < 4; i++) {
            TRY(kernels_launch(NULL, fill, 8, 128, args));
            TRY(gs_sync(session));
        }
        TRY(gs_launch(NULL, fill, &reported, args));
        TRY(gs_launch(stream, fill, &own, args));
        TRY(gs_event_record(event, stream));
        TRY(gs_stream_wait_event(NULL, event));
        if (round == 0) {
            TRY(gs_graph_begin(session, stream));
            TRY(gs_memset_async(session, memory, 0, 16, stream));
            TRY(kernels_launch(stream, fill, 8, 128, args));
            TRY(gs_memcpy_dtoh_async(session, block, memory, 4000, stream));
            TRY(gs_graph_end(session, stream, &graph));
        }
        TRY(gs_graph_launch(graph, stream));
        TRY(gs_sync(session));
        TRY(gs_set_qos(session, &place));
        own.qos = &urgent;
    }
    TRY(gs_graph_launch(graph, stream));
    TRY(gs_memcpy_dtoh_async(session, words, memory, sizeof(words), stream));
    TRY(gs_sync(session));
    for (uint32_t i = 0; i < n; i++) {
        CHECK_EQUAL(words[i], value + i);
        CHECK_EQUAL(((uint32_t *)block)[i], value + i);
    }
    TRY(gs_launch_report(session, id, &report));
    TRY(gs_graph_destroy(graph));
    TRY(gs_module_unload(module));
    TRY(gs_stream_destroy(stream));
    TRY(gs_free(session, memory));
    return GS_OK;
}

/* Memory of one session in the other, taken back there. */
static gs_status share_play(gs_session owner, gs_session importer)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_mem_handle handle;
    gs_devptr memory, import;
    unsigned char byte;
    gs_status status;
    size_t size;

    TRY(gs_session_info(importer, &desc));
    TRY(gs_malloc(owner, 3 * CHUNK, &memory));
    TRY(gs_memset(owner, memory, 7, 3 * CHUNK));
    TRY(gs_mem_export(owner, memory, desc.session_id, &handle));
    TRY(gs_mem_import(importer, &handle, &import, &size));
    TRY(gs_memcpy_dtoh(importer, &byte, import + size - 1, 1));
    CHECK_EQUAL(byte, 7);
    TRY(gs_mem_revoke(owner, memory));
    /* Refused once it is taken back; where that failed, the session has ended. */
    CHECK_WITHIN(10000, (status = gs_memcpy_dtoh(importer, &byte, import, 1)) != GS_OK);
    if (status != GS_ERR_INVALID_POINTER)
        return status;
    TRY(gs_free(importer, import));
    TRY(gs_free(owner, memory));
    return GS_OK;
}

static gs_status tenants_play(const struct scene *s, uint32_t call)
{
    gs_session first, second;
    gs_status status = gs_attach(NULL, &first);

    status_check(s, call, status);
    if (status != GS_OK)
        return status;
    status = work_play(first, call);
    status_check(s, call, status);
    if (status == GS_OK) {
        status = gs_attach(NULL, &second);
        status_check(s, call, status);
        if (status == GS_OK) {
            status = share_play(first, second);
            status_check(s, call, status);
            status_check(s, call, gs_detach(second));
        }
    }
    status_check(s, call, gs_detach(first)); /* it says so, too, where the session had ended */
    return status;
}

static void each_call_of_the_driver_fails_once(void)
{
    unsigned failed = 0;
    struct scene s;
    uint32_t call;

    scene_set(&s);
    groups_find(&s);
    for (call = 0; call < CALLS_MAX; call++) {
        gs_status status;
        bool happened;

        driver_arm(s.plan, call);
        status = tenants_play(&s, call);
        happened = driver_disarm(s.plan);
        failed += status != GS_OK;
        if (getenv("V") && happened)
            printf("# %u %s: %s\n", call, s.plan->name, gs_status_name(status));
        scene_check(&s, call);
        if (!happened) {
            CHECK_OK(status);
            break;
        }
    }
    printf("# %u calls failed, %u times it showed\n", call, failed);
    CHECK(call > 100 && call < CALLS_MAX && failed > 30);
    scene_end(&s);
}

/* The next call of the function fails. */
static void driver_arm_for(struct driver_plan *plan, const char *function)
{
    snprintf(plan->only, sizeof(plan->only), "%s", function);
    driver_arm(plan, 0);
}

/* A graph is only a faster way, from its making to its launch. */
static void a_launch_that_has_no_memory_for_its_graph_goes_without(void)
{
    static const char *const functions[] = {"cuGraphCreate", "cuGraphAddKernelNode_v2",
                                            "cuGraphInstantiateWithFlags",
                                            "cuGraphExecKernelNodeSetParams_v2", "cuGraphLaunch"};
    uint32_t value = 0, n = 100, words[100];
    struct scene s;
    gs_session session;

    scene_set(&s);
    CHECK_OK(gs_attach(NULL, &session));
    gs_kernel fill = kernels_get(kernels_load(session), "fill");
    gs_devptr memory;
    CHECK_OK(gs_malloc(session, sizeof(words), &memory));
    for (unsigned i = 0; i < ARRAY_SIZE(functions); i++) {
        /* Its own shape each time, so that graphs are made again. */
        for (unsigned round = 0; round < 30; round++) {
            if (round == 2)
                driver_arm_for(s.plan, functions[i]);
            value++;
            CHECK_OK(kernels_launch(NULL, fill, 1, 128 + 32 * i, (void *[]){&memory, &value, &n}));
            if (round % 3 == 0)
                CHECK_OK(gs_sync(session));
        }
        CHECK_OK(gs_memcpy_dtoh(session, words, memory, sizeof(words)));
        CHECK_EQUAL(words[99], value + 99);
        CHECK(driver_disarm(s.plan));
    }
    CHECK_OK(gs_detach(session));
    scene_end(&s);
}

/* An event that cannot be made is the driver's refusal, not a record that is wrong. */
static void what_the_driver_refuses_is_told_as_that(void)
{
    gs_fault fault = GS_FAULT_INIT;
    struct scene s;
    gs_session session;
    gs_event event;

    scene_set(&s);
    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_event_create(session, &event));
    driver_arm_for(s.plan, "cuEventCreate");
    CHECK_OK(gs_event_record(event, NULL));
    CHECK_STATUS(gs_sync(session), GS_ERR_NO_DEVICE_MEMORY);
    CHECK(driver_disarm(s.plan));
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_EQUAL(fault.kind, GS_FAULT_LAUNCH);
    CHECK_STATUS(gs_detach(session), GS_ERR_NO_DEVICE_MEMORY);
    scene_end(&s);
}

/* ---- The place of best-effort work ----------------------------------------------------------- */

/* Where one launch ran, while the other session has just had work. 0: anywhere. */
static unsigned partition_of_launch(gs_session session, gs_kernel nothing, gs_session latency,
                                    gs_kernel latency_nothing)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_report report = GS_REPORT_INIT;
    gs_report_id id;

    config.report = &id;
    CHECK_OK(kernels_launch(NULL, latency_nothing, 1, 1, NULL));
    CHECK_OK(gs_launch(NULL, nothing, &config, NULL));
    CHECK_OK(gs_sync(session));
    CHECK_WITHIN(10000, gs_launch_report(session, id, &report) == GS_OK);
    CHECK_OK(gs_sync(latency));
    return report.partition;
}

static void best_effort_keeps_off_later_where_its_place_could_not_be_made(void)
{
    struct scene s;

    scene_set(&s);
    gs_session latency = attach_class(GS_CLASS_LATENCY);
    gs_kernel latency_nothing = kernels_get(kernels_load(latency), "nothing");
    driver_arm_for(s.plan, "cuGreenCtxCreate"); /* it is made once there is best effort too */
    gs_session back = attach_class(GS_CLASS_BEST_EFFORT);
    gs_kernel nothing = kernels_get(kernels_load(back), "nothing");
    while (!atomic_load(&s.plan->failures)) /* the test's deadline ends it */
        partition_of_launch(back, nothing, latency, latency_nothing);
    driver_disarm(s.plan);
    while (partition_of_launch(back, nothing, latency, latency_nothing) == 0)
        ; /* the same */
    CHECK_OK(gs_detach(latency));
    CHECK_OK(gs_detach(back));
    scene_end(&s);
}

/* ---- What was in memory before --------------------------------------------------------------- */

static void nothing_that_was_in_memory_is_ever_seen(void)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    static unsigned char bytes[CHUNK], zeros[CHUNK];
    gs_session owner, importer;
    gs_devptr memory, import, sum_at;
    gs_mem_handle handle;
    struct scene s;
    uint32_t n = CHUNK / sizeof(uint32_t);
    uint64_t sum;
    size_t size;

    scene_set(&s);
    CHECK_OK(gs_attach(NULL, &owner));
    CHECK_OK(gs_attach(NULL, &importer));
    CHECK_OK(gs_session_info(importer, &desc));
    CHECK_OK(gs_malloc(owner, CHUNK, &memory));
    CHECK_OK(gs_memcpy_dtoh(owner, bytes, memory, CHUNK));
    CHECK_MEMORY(bytes, zeros, CHUNK);
    CHECK_OK(gs_malloc(importer, sizeof(sum), &sum_at));
    CHECK_OK(gs_memcpy_dtoh(importer, bytes, sum_at, sizeof(sum)));
    CHECK_MEMORY(bytes, zeros, sizeof(sum));
    CHECK_OK(gs_mem_export(owner, memory, desc.session_id, &handle));
    CHECK_OK(gs_mem_import(importer, &handle, &import, &size));
    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_WITHIN(10000, gs_memcpy_dtoh(importer, bytes, import, 1) == GS_ERR_INVALID_POINTER);
    /* Copies are refused, kernels go on: in what is there now. */
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(importer), "sum"), n / 256, 256,
                            (void *[]){&import, &sum_at, &n}));
    CHECK_OK(gs_memcpy_dtoh(importer, &sum, sum_at, sizeof(sum)));
    CHECK_EQUAL(sum, 0);
    CHECK_OK(gs_detach(importer));
    CHECK_OK(gs_detach(owner));
    scene_end(&s);
}

/* ---- What a driver keeps --------------------------------------------------------------------- */

/* The session is granted the groups whose bits the number has. */
static gs_status set_have(gs_session session, unsigned number)
{
    struct sm_mask mask = {{0}};

    for (unsigned i = 0; i < where_groups(); i++) {
        if (number >> i & 1)
            mask = sm_mask_or(mask, where_group(i));
    }
    gs_qos qos = where_mask(&mask);
    return gs_set_qos(session, &qos);
}

static void sets_have(gs_session session, unsigned sets)
{
    for (unsigned number = 1; number <= sets; number++)
        CHECK_OK(set_have(session, number));
}

/* A worker makes 160 of this device's 255 sets, and half of that without being replaced. Sessions
 * that there are keep it. */
static void a_worker_that_has_made_many_partitions_is_replaced_when_nobody_uses_it(void)
{
    struct where where;
    struct scene s;

    scene_set_keeping(&s, (uint64_t)4 << 20);
    groups_find(&s);
    sets_have(s.before, 60);
    CHECK_OK(gs_detach(s.before));
    server_wait_tenants(s.server, 0, 5000);
    CHECK_OK(gs_attach(NULL, &s.before));
    CHECK_EQUAL(server_worker_pid(s.server), s.worker);
    sets_have(s.before, 120);
    where_open(&where, s.before);
    where_exact(&where);
    CHECK_EQUAL(server_worker_pid(s.server), s.worker);
    CHECK_OK(gs_detach(s.before));
    CHECK_WITHIN(20000, server_worker_pid(s.server) > 0 && server_worker_pid(s.server) != s.worker);
    CHECK_OK(gs_attach(NULL, &s.before));
    sets_have(s.before, 70);
    where_open(&where, s.before);
    where_exact(&where);
    scene_end(&s);
}

/* Nor does it make more than that. */
static void sets_of_sms_that_no_memory_is_left_for_are_refused(void)
{
    struct where where;
    struct scene s;

    scene_set_keeping(&s, (uint64_t)4 << 20);
    groups_find(&s);
    sets_have(s.before, 150);
    gs_status status = GS_OK;
    for (unsigned number = 151; number < 255 && status == GS_OK; number++)
        status = set_have(s.before, number);
    CHECK_STATUS(status, GS_ERR_LIMIT);
    CHECK(strstr(gs_last_error_message(), "160 is the limit"));
    where_open(&where, s.before);
    where_exact(&where);
    sets_have(s.before, 150); /* what there was is there */
    scene_end(&s);
}

/* ---- A session that is being closed ---------------------------------------------------------- */

struct doomed {
    struct scene *scene;
    struct gate loaded, begun, launched;
    uint64_t session_id;
    gs_mem_handle flag; /* which its kernel waits for before it faults */
};

/* Its kernel ends the context while its last request is still at the driver. */
static void culprit_run(void *argument)
{
    /* What nobody has loaded before is compiled. */
    static const char another[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                                  ".visible .entry another() { ret; }\n";
    struct doomed *doomed = argument;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_devptr flag;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_session_info(session, &desc));
    doomed->session_id = desc.session_id;
    gs_module module = kernels_load(session);
    gs_kernel wait = kernels_get(module, "spin_until"), fault = kernels_get(module, "misaligned");
    CHECK_OK(gs_mem_import(session, &doomed->flag, &flag, NULL));
    gate_pass(&doomed->loaded);
    gate_wait(&doomed->begun, 1);
    CHECK_OK(kernels_launch(NULL, wait, 1, 1, (void *[]){&flag}));
    CHECK_OK(kernels_launch(NULL, fault, 1, 1, NULL));
    driver_hold(doomed->scene->plan, "cuLinkComplete");
    gate_pass(&doomed->launched);
    gs_module_load(session, another, strlen(another), &module);
}

static void who_is_being_closed_is_suspected_of_a_fault_too(void)
{
    struct doomed *doomed = shared_alloc(sizeof(*doomed));
    struct scene *s = shared_alloc(sizeof(*s));
    gs_fault fault = GS_FAULT_INIT;
    struct ctl_tenant row;
    gs_devptr flag, faults;
    gs_stream aside;
    pid_t culprit;

    scene_set(s);
    gs_kernel wait = kernels_get(kernels_load(s->before), "spin_until");
    CHECK_OK(gs_stream_create(s->before, NULL, &aside));
    CHECK_OK(gs_malloc(s->before, sizeof(uint32_t), &flag));
    CHECK_OK(gs_malloc(s->before, CHUNK, &faults));
    CHECK_OK(gs_mem_export(s->before, faults, GS_EXPORT_TO_USER, &doomed->flag));
    doomed->scene = s;
    culprit = tenant_start(culprit_run, doomed);
    gate_wait(&doomed->loaded, 1);
    CHECK_OK(kernels_launch(NULL, wait, 1, 1, (void *[]){&flag}));
    gate_pass(&doomed->begun);
    gate_wait(&doomed->launched, 1);
    CHECK_WITHIN(10000, s->plan->waiting == 1);
    tenant_kill(culprit, SIGKILL);
    CHECK_WITHIN(10000, admin_tenant(s->server, doomed->session_id, &row) &&
                            row.state == CTL_TENANT_ENDING);
    CHECK_OK(gs_memset_async(s->before, faults, 1, sizeof(uint32_t), aside));
    /* Two were at work: nobody is to blame for sure. */
    CHECK_STATUS(gs_sync(s->before), GS_ERR_INTERRUPTED);
    CHECK_OK(gs_last_fault(s->before, &fault));
    CHECK_STATUS(gs_detach(s->before), GS_ERR_INTERRUPTED);
    driver_go_on(s->plan);
    server_wait_tenants(s->server, 0, 10000);
    server_stop(s->server);
}

/* ---- A call takes long ------------------------------------------------------------------------
 */

static void *clusters_ask(void *argument)
{
    unsigned clusters;

    CHECK_OK(gs_kernel_clusters(*(gs_kernel *)argument, 32, 0, (gs_dim3){2, 1, 1}, &clusters));
    CHECK(clusters > 0);
    return NULL;
}

static void how_many_clusters_fit_is_asked_for_by_nobody_s_lane(void)
{
    gs_session session;
    gs_kernel kernel;
    pthread_t thread;
    gs_devptr memory;
    struct scene s;

    scene_set(&s);
    CHECK_OK(gs_attach(NULL, &session));
    kernel = kernels_get(kernels_load(session), "fill");
    driver_hold(s.plan, "cuOccupancyMaxActiveClusters");
    CHECK_EQUAL(pthread_create(&thread, NULL, clusters_ask, &kernel), 0);
    CHECK_WITHIN(10000, atomic_load(&s.plan->waiting) == 1);
    CHECK_OK(gs_malloc(s.before, 4096, &memory));
    CHECK_EQUAL(atomic_load(&s.plan->waiting), 1);
    driver_go_on(s.plan);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_OK(gs_free(s.before, memory));
    CHECK_OK(gs_detach(session));
    scene_end(&s);
}

static const struct test tests[] = {
    TEST_WITHIN(each_call_of_the_driver_fails_once, 300),
    TEST(a_launch_that_has_no_memory_for_its_graph_goes_without),
    TEST(what_the_driver_refuses_is_told_as_that),
    TEST(best_effort_keeps_off_later_where_its_place_could_not_be_made),
    TEST(nothing_that_was_in_memory_is_ever_seen),
    TEST(a_worker_that_has_made_many_partitions_is_replaced_when_nobody_uses_it),
    TEST(sets_of_sms_that_no_memory_is_left_for_are_refused),
    TEST(who_is_being_closed_is_suspected_of_a_fault_too),
    TEST(how_many_clusters_fit_is_asked_for_by_nobody_s_lane),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
