/*
 * test_cooperative.c - cooperative launches: the blocks of a grid wait for one another, in a kernel
 * that nvcc has compiled from cooperative groups' grid.sync(), whoever else uses the device.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>

#include "bystander.h"
#include "common/ring.h"
#include "harness/harness.h"
#include "raw_client.h"

#define THREADS 64u
#define ROUNDS  3
#define SMEM    (16u << 10) /* dynamic shared memory of a block, so that an SM holds few */

static const struct server_options always = {.arguments =
                                                 (const char *const[]){"--fence", "always", NULL}};

/* A session with the kernel of test/corpus/grid_sync.cu:
 *   rotate_sum(int *a, int *b, int rounds)     two grid.sync() a round */
struct tenant {
    gs_session session;
    gs_module module;
    gs_kernel kernel;
    unsigned sms, each, blocks; /* SMs, blocks that one holds, and that all hold */
};

static void tenant_kernel(struct tenant *t)
{
    gs_qos qos = GS_QOS_INIT;

    CHECK_OK(gs_module_load_file(t->session, CORPUS_PTX "/grid_sync.O3.ptx", &t->module));
    t->kernel = kernels_get(t->module, "rotate_sum");
    CHECK_OK(gs_get_qos(t->session, &qos));
    CHECK_OK(gs_kernel_occupancy(t->kernel, THREADS, SMEM, &t->each));
    t->sms = qos.affinity.sm_count;
    t->blocks = t->sms * t->each;
    CHECK(t->each >= 1);
}

static struct tenant tenant_attach(const struct server *server)
{
    struct tenant t = {0};

    CHECK_OK(server_attach(server, &t.session));
    tenant_kernel(&t);
    return t;
}

/* One launch with its memory. */
struct rotation {
    struct tenant *tenant;
    unsigned n, blocks;
    gs_devptr a, b;
    uint32_t *words;
};

static struct rotation rotation_make(struct tenant *t, unsigned blocks)
{
    struct rotation r = {.tenant = t, .n = blocks * THREADS, .blocks = blocks};

    r.words = malloc(r.n * sizeof(*r.words));
    CHECK(r.words != NULL);
    for (unsigned i = 0; i < r.n; i++)
        r.words[i] = (uint32_t)test_random();
    CHECK_OK(gs_malloc(t->session, r.n * sizeof(*r.words), &r.a));
    CHECK_OK(gs_malloc(t->session, r.n * sizeof(*r.words), &r.b));
    CHECK_OK(gs_memcpy_htod(t->session, r.a, r.words, r.n * sizeof(*r.words)));
    return r;
}

static gs_launch_config cooperative(unsigned blocks)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(blocks, THREADS);

    config.dynamic_smem = SMEM;
    config.cooperative = 1;
    return config;
}

static gs_status rotation_launch(const struct rotation *r, gs_stream stream,
                                 const gs_launch_config *config)
{
    int rounds = ROUNDS;

    return gs_launch(stream, r->tenant->kernel, config,
                     (void *[]){(void *)&r->a, (void *)&r->b, &rounds});
}

/* What `launches` launches make of the words, against what is on the device. */
static void rotation_check(struct rotation *r, unsigned launches)
{
    const unsigned n = r->n;
    const size_t bytes = n * sizeof(uint32_t);
    uint32_t *b = malloc(bytes), *got = malloc(bytes);

    CHECK(b && got);
    for (unsigned round = 0; round < launches * ROUNDS; round++) {
        for (unsigned i = 0; i < n; i++)
            b[i] = r->words[i] + r->words[(i + 1) % n];
        for (unsigned i = 0; i < n; i++)
            r->words[i] = b[i] + b[(i + n - 1) % n];
    }
    CHECK_OK(gs_memcpy_dtoh(r->tenant->session, got, r->a, bytes));
    CHECK_MEMORY(got, r->words, bytes);
    free(b);
    free(got);
    free(r->words);
    CHECK_OK(gs_free(r->tenant->session, r->a));
    CHECK_OK(gs_free(r->tenant->session, r->b));
}

static void rotate(struct tenant *t, unsigned blocks, unsigned launches)
{
    struct rotation r = rotation_make(t, blocks);
    gs_launch_config config = cooperative(blocks);

    for (unsigned i = 0; i < launches; i++)
        CHECK_OK(rotation_launch(&r, NULL, &config));
    CHECK_OK(gs_sync(t->session));
    rotation_check(&r, launches);
}

static void capped_attach(const struct server *server, unsigned sms, struct tenant *t)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = GS_QOS_INIT;

    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = sms;
    params.instance = server->instance;
    params.qos = &qos;
    CHECK_OK(gs_attach(&params, &t->session));
    tenant_kernel(t);
}

/* ---- What it does ---- */

static void the_blocks_of_a_cooperative_grid_meet(void)
{
    const struct server_options *const options[] = {&server_unfenced, &always};

    for (unsigned i = 0; i < ARRAY_SIZE(options); i++) {
        struct server *server = server_start(options[i]);
        struct tenant t = tenant_attach(server);

        rotate(&t, 1, 2);
        rotate(&t, t.blocks, 1);
        rotate(&t, t.blocks / 2 + 1, 3);
        CHECK_OK(gs_detach(t.session));
        server_stop(server);
    }
}

static void a_cooperative_launch_reports_and_keeps_its_order(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach(server);
    struct rotation r = rotation_make(&t, t.blocks);
    gs_launch_config config = cooperative(t.blocks);
    gs_report report = GS_REPORT_INIT;
    gs_report_id id;
    gs_event event;

    config.report = &id;
    CHECK_OK(gs_event_create(t.session, &event));
    CHECK_OK(rotation_launch(&r, NULL, &config));
    config.report = NULL;
    CHECK_OK(rotation_launch(&r, NULL, &config));
    CHECK_OK(gs_event_record(event, NULL));
    CHECK_OK(gs_event_sync(event));
    CHECK_WITHIN(10000, gs_launch_report(t.session, id, &report) == GS_OK);
    CHECK_EQUAL(report.sm_count, t.sms);
    CHECK(report.run_ns > 0);
    rotation_check(&r, 2);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* Their barriers are one variable of the module where the session is fenced. */
static void grids_of_two_streams_do_not_meet_each_other(void)
{
    const struct server_options *const options[] = {&server_unfenced, &always};

    for (unsigned i = 0; i < ARRAY_SIZE(options); i++) {
        struct server *server = server_start(options[i]);
        struct tenant t = tenant_attach(server);
        struct rotation r[2] = {rotation_make(&t, t.blocks), rotation_make(&t, t.sms)};
        gs_stream stream[2];

        for (unsigned s = 0; s < 2; s++)
            CHECK_OK(gs_stream_create(t.session, NULL, &stream[s]));
        for (unsigned n = 0; n < 40; n++) {
            gs_launch_config config = cooperative(r[n % 2].blocks);
            CHECK_OK(rotation_launch(&r[n % 2], stream[n % 2], &config));
        }
        CHECK_OK(gs_sync(t.session));
        rotation_check(&r[0], 20);
        rotation_check(&r[1], 20);
        CHECK_OK(gs_detach(t.session));
        server_stop(server);
    }
}

#define TENANTS 6u

struct meeting {
    struct gate loaded;
    const struct server *server;
};

static void rotate_when_all_have_loaded(struct meeting *meeting, struct tenant *t)
{
    gate_pass(&meeting->loaded); /* a module may wait in vain for grids to end: it is no grid */
    gate_wait(&meeting->loaded, TENANTS);
    rotate(t, t->blocks, 8);
    CHECK_OK(gs_detach(t->session));
}

static void rotate_on_some_sms(void *argument)
{
    struct meeting *meeting = argument;
    struct tenant t = {0};

    capped_attach(meeting->server, 8, &t);
    rotate_when_all_have_loaded(meeting, &t);
}

static void rotate_on_all_sms(void *argument)
{
    struct meeting *meeting = argument;
    struct tenant t = tenant_attach(meeting->server);

    rotate_when_all_have_loaded(meeting, &t);
}

static void grids_of_several_tenants_do_not_lock_each_other(void)
{
    struct server *server = server_start(NULL);
    struct meeting *meeting = shared_alloc(sizeof(*meeting));
    pid_t pid[TENANTS];

    meeting->server = server;
    for (unsigned i = 0; i < TENANTS; i++)
        pid[i] = tenant_start(i % 2 ? rotate_on_some_sms : rotate_on_all_sms, meeting);
    for (unsigned i = 0; i < TENANTS; i++)
        tenant_join(pid[i]);
    server_stop(server);
}

/* A cooperative grid waits for earlier ones, but not for what these wait for. */
static void a_grid_behind_an_endless_kernel_holds_up_nobody(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach(server), other = tenant_attach(server);
    struct rotation r = rotation_make(&t, 2);
    gs_launch_config config = cooperative(2);
    uint32_t set = 1;
    gs_devptr flag;
    gs_stream aside;

    CHECK_OK(gs_stream_create(t.session, NULL, &aside));
    CHECK_OK(gs_malloc(t.session, sizeof(set), &flag));
    CHECK_OK(gs_memset(t.session, flag, 0, sizeof(set)));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(t.session), "spin_until"), 1, 1,
                            (void *[]){&flag}));
    CHECK_OK(rotation_launch(&r, NULL, &config));
    for (unsigned i = 0; i < 3; i++)
        rotate(&other, other.sms, 2);
    CHECK_OK(gs_memset_async(t.session, flag, 1, sizeof(set), aside));
    CHECK_OK(gs_sync(t.session));
    rotation_check(&r, 1);
    CHECK_OK(gs_detach(t.session));
    CHECK_OK(gs_detach(other.session));
    server_stop(server);
}

static void a_cooperative_grid_finds_its_place_beside_endless_small_launches(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *bystanders = bystanders_start(3);
    struct tenant t = tenant_attach(server);

    for (unsigned i = 0; i < 5; i++)
        rotate(&t, t.blocks, 2);
    CHECK_OK(gs_detach(t.session));
    bystanders_stop(bystanders);
    server_stop(server);
}

/* ---- What it refuses ---- */

static void a_kernel_that_synchronises_its_grid_needs_the_option(void)
{
    const struct server_options *const options[] = {&server_unfenced, &always};

    for (unsigned i = 0; i < ARRAY_SIZE(options); i++) {
        struct server *server = server_start(options[i]);
        struct bystanders *bystanders = bystanders_start(1);
        struct tenant t = tenant_attach(server);
        struct rotation r = rotation_make(&t, 2);
        gs_launch_config config = cooperative(2);
        gs_devptr barrier;

        /* The barrier's memory in a fenced session has a name of gshare's. */
        CHECK_STATUS(gs_global_get(t.module, "gshare$grid", &barrier, NULL), GS_ERR_NOT_FOUND);
        config.cooperative = 0;
        CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_LAUNCH_CONFIG);
        CHECK_TEXT(gs_last_error_message(), "gs_launch_config.cooperative");
        /* A program that was compiled before the option was there. */
        config.size = offsetof(gs_launch_config, cooperative);
        config.cooperative = 1;
        CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_LAUNCH_CONFIG);
        config.size = sizeof(config);
        CHECK_OK(rotation_launch(&r, NULL, &config));
        rotation_check(&r, 1);
        CHECK_OK(gs_detach(t.session));
        bystanders_stop(bystanders);
        server_stop(server);
    }
}

static void any_kernel_may_be_launched_cooperatively(void)
{
    struct server *server = server_start(NULL);
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(2, 32);
    uint32_t word = 0;
    gs_session session;
    gs_devptr counter;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(word), &counter));
    CHECK_OK(gs_memset(session, counter, 0, sizeof(word)));
    config.cooperative = 1;
    CHECK_OK(gs_launch(NULL, kernels_get(kernels_load(session), "count"), &config,
                       (void *[]){&counter}));
    CHECK_OK(gs_memcpy_dtoh(session, &word, counter, sizeof(word)));
    CHECK_EQUAL(word, 64);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_grid_that_the_sms_do_not_hold_at_once_is_refused(void)
{
    struct server *server = server_start(NULL);
    struct tenant all = tenant_attach(server), capped = {0};
    gs_launch_config config = cooperative(all.blocks + 1);
    struct rotation r = rotation_make(&all, all.blocks);
    unsigned blocks = 0;

    CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_LAUNCH_CONFIG);
    CHECK_TEXT(gs_last_error_message(), "at once");
    config.grid = (gs_dim3){1u << 30, 65535, 65535};
    CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_LAUNCH_CONFIG);
    config.grid.x = 0;
    CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_LAUNCH_CONFIG);
    config = cooperative(1);
    config.block.x = 0;
    CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_LAUNCH_CONFIG);
    config.block = (gs_dim3){1u << 31, 1u << 31, 4};
    CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(gs_kernel_occupancy(all.kernel, 1u << 20, 0, &blocks), GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(gs_kernel_occupancy(all.kernel, 0, 0, &blocks), GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(gs_kernel_occupancy(all.kernel, 1, 1u << 30, &blocks), GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(gs_kernel_occupancy(all.kernel, 1, 0, NULL), GS_ERR_INVALID_VALUE);
    CHECK_EQUAL(blocks, 0);
    config = cooperative(all.blocks);
    CHECK_OK(rotation_launch(&r, NULL, &config));
    rotation_check(&r, 1);

    capped_attach(server, 8, &capped);
    CHECK_EQUAL(capped.sms, 8);
    rotate(&capped, capped.blocks, 2);
    r = rotation_make(&capped, capped.blocks + 1);
    config = cooperative(capped.blocks + 1);
    CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_LAUNCH_CONFIG);
    free(r.words);
    CHECK_OK(gs_detach(capped.session));
    CHECK_OK(gs_detach(all.session));
    server_stop(server);
}

static void a_cooperative_launch_has_no_affinity_of_its_own(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach(server);
    struct rotation r = rotation_make(&t, 1);
    gs_launch_config config = cooperative(1);
    gs_qos qos = GS_QOS_INIT;

    config.qos = &qos;
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = 2;
    CHECK_STATUS(rotation_launch(&r, NULL, &config), GS_ERR_NOT_SUPPORTED);
    qos.affinity.type = GS_EXEC_AFFINITY_NONE;
    qos.cls = GS_CLASS_BEST_EFFORT;
    CHECK_OK(rotation_launch(&r, NULL, &config));
    rotation_check(&r, 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void a_cooperative_launch_is_not_recorded(void)
{
    struct server *server = server_start(NULL);
    struct tenant t = tenant_attach(server);
    struct rotation r = rotation_make(&t, 2);
    gs_launch_config config = cooperative(2);
    gs_stream stream;
    gs_graph graph;

    CHECK_OK(gs_stream_create(t.session, NULL, &stream));
    CHECK_OK(gs_graph_begin(t.session, stream));
    CHECK_STATUS(rotation_launch(&r, stream, &config), GS_ERR_RECORDING);
    CHECK_TEXT(gs_last_error_message(), "cooperative");
    CHECK_STATUS(gs_graph_end(t.session, stream, &graph), GS_ERR_RECORDING);
    CHECK_OK(rotation_launch(&r, stream, &config));
    CHECK_OK(gs_sync(t.session));
    rotation_check(&r, 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* ---- What no library sends ---- */

/* What the reader takes for a kernel that synchronises its grid. */
static const char syncs_ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
                                ".visible .entry syncs(.param .u64 a, .param .u32 b)\n"
                                "{ .reg .b32 %r; .reg .pred %p; mov.u32 %r, %envreg1;\n"
                                "  setp.ne.u32 %p, %r, 0; @%p ret; trap; }\n";

static uint32_t raw_kernel(struct raw_client *raw)
{
    struct raw_request request = {.op = REQ_HOST_ALLOC, .arg = {4096, 1}};

    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    void *block = shmat((int)request.ret[1], NULL, 0);
    CHECK(block != (void *)-1);
    memcpy(block, syncs_ptx, sizeof(syncs_ptx));
    CHECK(!shmdt(block));
    request =
        (struct raw_request){.op = REQ_MODULE_LOAD, .arg = {request.ret[0], sizeof(syncs_ptx)}};
    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    request = (struct raw_request){.op = REQ_KERNEL_GET, .arg = {request.ret[0]}, .name = "syncs"};
    CHECK_EQUAL(raw_ask(raw, &request), GS_OK);
    return (uint32_t)request.ret[0];
}

/* A launch with these flags, in a session of its own. */
static void raw_launch(const struct server *server, uint16_t flags, uint32_t blocks,
                       struct wire_qos *qos, uint32_t kind, const char *message)
{
    unsigned char bytes[REC_SIZE_MAX] = {0};
    struct raw_client raw = {0};

    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    struct rec_launch r = {.h = {.op = REC_LAUNCH, .flags = flags},
                           .kernel = raw_kernel(&raw),
                           .param_bytes = 12,
                           .grid = {blocks, 1, 1},
                           .block = {1, 1, 1}};
    r.h.size = launch_record_size(flags, r.param_bytes);
    memcpy(bytes, &r, sizeof(r));
    if (qos)
        memcpy(bytes + launch_record_qos(r.param_bytes), qos, sizeof(*qos));
    raw_push(&raw, 0, bytes, r.h.size);
    CHECK_WITHIN(10000, !raw_open(&raw));
    CHECK_EQUAL(raw.server->fault.kind, kind);
    CHECK_TEXT(raw.server->fault.message, message);
    raw_drop(&raw);
}

static void the_server_believes_no_cooperative_record(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *bystanders = bystanders_start(1);
    struct wire_qos qos = {.affinity_type = GS_EXEC_AFFINITY_SM_COUNT, .sm_count = 2};

    raw_launch(server, REC_LAUNCH_COOPERATIVE, 1u << 20, NULL, GS_FAULT_LAUNCH, "at once");
    raw_launch(server, REC_LAUNCH_COOPERATIVE | REC_LAUNCH_QOS, 1, &qos, GS_FAULT_REJECTED,
               "affinity");
    raw_launch(server, 0, 1, NULL, GS_FAULT_REJECTED, "synchronises its grid");
    raw_launch(server, 0x8000, 1, NULL, GS_FAULT_REJECTED, "no known meaning");
    bystanders_stop(bystanders);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(the_blocks_of_a_cooperative_grid_meet),
    TEST(a_cooperative_launch_reports_and_keeps_its_order),
    TEST(grids_of_two_streams_do_not_meet_each_other),
    TEST(grids_of_several_tenants_do_not_lock_each_other),
    TEST(a_grid_behind_an_endless_kernel_holds_up_nobody),
    TEST(a_cooperative_grid_finds_its_place_beside_endless_small_launches),
    TEST(a_kernel_that_synchronises_its_grid_needs_the_option),
    TEST(any_kernel_may_be_launched_cooperatively),
    TEST(a_grid_that_the_sms_do_not_hold_at_once_is_refused),
    TEST(a_cooperative_launch_has_no_affinity_of_its_own),
    TEST(a_cooperative_launch_is_not_recorded),
    TEST(the_server_believes_no_cooperative_record),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
