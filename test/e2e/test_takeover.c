/*
 * test_takeover.c - a worker that is lost is replaced by another, which takes the sessions up where
 * they were: a tenant without unfinished work notices a pause and nothing else.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bystander.h"
#include "harness/harness.h"
#include "worker/journal/journal.h"

#define MIB ((size_t)1 << 20)
#define N   4096u

static const char plain_ptx[] = PTX_HEAD PTX_FILL PTX_HOLD;

/* Counts in a variable of its own. */
static const char counter_ptx[] =
    PTX_HEAD ".visible .global .align 4 .u32 counter = 5;\n"
             ".visible .entry bump(.param .u64 to)\n"
             "{ .reg .b64 %rd; .reg .b32 %r; ld.param.u64 %rd, [to];\n"
             "  ld.global.u32 %r, [counter]; add.u32 %r, %r, 1; st.global.u32 [counter], %r;\n"
             "  st.global.u32 [%rd], %r; ret; }\n";

static const struct server_options fenced = {.arguments =
                                                 (const char *const[]){"--fence", "always", NULL}};

static gs_module load(gs_session session, const char *ptx)
{
    gs_module module;

    CHECK_OK(gs_module_load(session, ptx, strlen(ptx), &module));
    return module;
}

/* Whether all threads of the process are stopped: SIGSTOP takes effect when each next enters the
 * kernel, after kill() has returned. */
static bool stopped(pid_t pid)
{
    const struct dirent *entry;
    bool all = true;
    char path[400];

    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *tasks = opendir(path);
    CHECK(tasks != NULL);
    while ((entry = readdir(tasks))) {
        char line[128] = "";
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", (int)pid, entry->d_name);
        FILE *file = fopen(path, "re");
        CHECK(file != NULL && fgets(line, sizeof(line), file) != NULL);
        fclose(file);
        const char *name_end = strrchr(line, ')');
        all = all && name_end && name_end[1] == ' ' && name_end[2] == 'T';
    }
    closedir(tasks);
    return all;
}

static void check_filled(gs_session session, gs_devptr data, uint32_t value)
{
    static uint32_t words[N];

    memset(words, 0xee, sizeof(words));
    CHECK_OK(gs_memcpy_dtoh(session, words, data, sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], value + i);
}

static void fill(gs_stream stream, gs_kernel kernel, gs_devptr data, uint32_t value)
{
    CHECK_OK(
        kernels_launch(stream, kernel, N / 128, 128, (void *[]){&data, &value, &(uint32_t){N}}));
}

/* Small and large memory, kernels, streams, graphs, host memory: before, and after. */
static void goes_on(const struct server_options *options)
{
    struct server *server = server_start(options);
    gs_devptr small[20], large, graph_data;
    gs_session_desc before = GS_SESSION_DESC_INIT, after = GS_SESSION_DESC_INIT;
    uint64_t free_before, free_after, total;
    gs_stream stream, destroyed;
    gs_session session;
    gs_kernel kernel;
    gs_graph graph;
    uint32_t *host;

    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < ARRAY_SIZE(small); i++)
        CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &small[i]));
    CHECK_OK(gs_malloc(session, 5 * MIB, &large));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &graph_data));
    CHECK_OK(gs_free(session, small[3]));
    kernel = kernels_get(load(session, plain_ptx), "fill");
    CHECK_OK(gs_stream_create(session, NULL, &destroyed));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_stream_destroy(destroyed));
    CHECK_OK(gs_host_alloc(session, N * sizeof(uint32_t), (void **)&host));
    for (unsigned i = 4; i < ARRAY_SIZE(small); i++)
        fill(i % 2 ? stream : NULL, kernel, small[i], 100 * i);
    fill(stream, kernel, large, 7);
    CHECK_OK(gs_graph_begin(session, stream));
    fill(stream, kernel, graph_data, 4000);
    CHECK_OK(gs_memcpy_dtoh_async(session, host, graph_data, N * sizeof(uint32_t), stream));
    CHECK_OK(gs_graph_end(session, stream, &graph));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_mem_info(session, &free_before, &total));
    CHECK_OK(gs_session_info(session, &before));

    for (unsigned round = 0; round < 3; round++) {
        server_worker_replace(server, 0);
        for (unsigned i = 4; i < ARRAY_SIZE(small); i++)
            check_filled(session, small[i], 100 * i);
        check_filled(session, large, 7);
        CHECK_OK(gs_mem_info(session, &free_after, &total));
        CHECK_EQUAL(free_after, free_before);
        CHECK_OK(gs_session_info(session, &after));
        CHECK_EQUAL(after.window_base, before.window_base);
        memset(host, 0, N * sizeof(uint32_t));
        CHECK_OK(gs_graph_launch(graph, stream));
        CHECK_OK(gs_stream_sync(session, stream));
        for (uint32_t i = 0; i < N; i++)
            CHECK_EQUAL(host[i], 4000 + round + i);
        CHECK_OK(gs_graph_begin(session, stream));
        fill(stream, kernel, graph_data, 4001 + round);
        CHECK_OK(gs_graph_change(session, stream, graph, NULL, 1));
        fill(NULL, kernel, small[5], 1);
        CHECK_OK(gs_sync(session));
        check_filled(session, small[5], 1);
        fill(NULL, kernel, small[5], 500);
        CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &small[0]));
        fill(stream, kernel, small[0], round);
        CHECK_OK(gs_stream_sync(session, stream));
        check_filled(session, small[0], round);
        CHECK_OK(gs_free(session, small[0]));
        CHECK_OK(gs_sync(session));
    }
    CHECK_OK(gs_host_free(session, host));
    CHECK_OK(gs_free(session, large));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void an_idle_session_goes_on(void)
{
    goes_on(&server_unfenced);
}

/* A session whose kernel `first` is in a file of test/ptx. */
static void goes_on_with(const char *file)
{
    struct server *server = server_start(&server_unfenced);
    char path[512];
    float in = 2.f, out = 0;
    gs_session session;
    gs_module module;
    gs_kernel first;
    gs_devptr from, to;
    int n = 1;

    snprintf(path, sizeof(path), "%s/test/ptx/%s", getenv("GSHARE_SOURCE_DIR"), file);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(in), &from));
    CHECK_OK(gs_malloc(session, sizeof(out), &to));
    CHECK_OK(gs_memcpy_htod(session, from, &in, sizeof(in)));
    CHECK_OK(gs_module_load_file(session, path, &module));
    first = kernels_get(module, "first");
    server_worker_replace(server, 0);
    CHECK_OK(kernels_launch(NULL, first, 1, 1, (void *[]){&to, &from, &n}));
    CHECK_OK(gs_memcpy_dtoh(session, &out, to, sizeof(out)));
    CHECK(out == 4.5f);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* As nvcc packs it, with machine code for another device: what counts is the PTX that was compiled,
 * not that it came in a container. */
static void a_session_with_a_fat_binary_goes_on(void)
{
    goes_on_with("tiny_none.fatbin");
}

/* An H200 runs the machine code in it, the software device the PTX. */
static void a_session_with_machine_code_goes_on(void)
{
    goes_on_with("tiny_code_none.fatbin");
    goes_on_with("tiny_code_size.fatbin");
}

/* Loads a cubin for sm_90, replaces the worker, and returns the status of what comes then. */
static gs_status after_takeover(const char *file)
{
    struct server *server = server_start(&server_unfenced);
    char path[512];
    gs_session session;
    gs_module module;

    snprintf(path, sizeof(path), "%s/test/ptx/%s", getenv("GSHARE_SOURCE_DIR"), file);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_module_load_file(session, path, &module));
    server_worker_replace(server, 0);
    gs_devptr data;
    const gs_status status = gs_malloc(session, 16, &data);
    gs_detach(session);
    server_stop(server);
    return status;
}

static void machine_code_that_keeps_something_ends_its_session(void)
{
    if (strcmp(getenv("GSHARE_TEST_DEVICE"), "soft") == 0)
        test_skip("the software device runs PTX only");
    CHECK_STATUS(after_takeover("machine_plain.cubin"), GS_OK);
    CHECK_STATUS(after_takeover("machine_variable.cubin"), GS_ERR_INTERRUPTED);
    CHECK_STATUS(after_takeover("machine_pointer.cubin"), GS_ERR_INTERRUPTED);
}

static void a_fenced_session_goes_on(void)
{
    goes_on(&fenced);
}

static void variables_keep_their_values(const struct server_options *options)
{
    struct server *server = server_start(options);
    uint32_t value;
    gs_session session;
    gs_kernel bump;
    gs_devptr to;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, sizeof(uint32_t), &to));
    bump = kernels_get(load(session, counter_ptx), "bump");
    for (uint32_t i = 0; i < 4; i++) {
        CHECK_OK(kernels_launch(NULL, bump, 1, 1, (void *[]){&to}));
        CHECK_OK(gs_sync(session));
        server_worker_replace(server, 0);
        CHECK_OK(gs_memcpy_dtoh(session, &value, to, sizeof(value)));
        CHECK_EQUAL(value, 6 + i);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void variables_of_a_fenced_module_keep_their_values(void)
{
    variables_keep_their_values(&fenced);
}

static void variables_of_an_unfenced_module_keep_their_values(void)
{
    variables_keep_their_values(&server_unfenced);
}

/* A variable that the tenant reaches by its name, beside one that the first begins with. */
static void named_variables_keep_their_place_and_values(void)
{
    static const char ptx[] =
        PTX_HEAD ".visible .global .align 4 .u32 counter[1024] = {7, 8};\n"
                 ".visible .global .align 8 .u64 where = counter+4;\n"
                 ".visible .entry follow(.param .u64 to)\n"
                 "{ .reg .b64 %rd<2>; .reg .b32 %r<2>; ld.param.u64 %rd0, [to];\n"
                 "  ld.global.u64 %rd1, [where]; ld.global.u32 %r0, [%rd1];\n"
                 "  ld.u32 %r1, [counter+4]; add.u32 %r0, %r0, %r1; mov.u64 %rd1, counter;\n"
                 "  atom.global.add.u32 %r1, [%rd1+4], 1; st.global.u32 [%rd0], %r0; ret; }\n";
    struct server *server = server_start(&server_unfenced);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    uint32_t value, wanted = 8;
    gs_devptr counter, to;
    gs_session session;
    gs_kernel follow;
    gs_module module;
    size_t size;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_malloc(session, sizeof(uint32_t), &to));
    module = load(session, ptx);
    follow = kernels_get(module, "follow");
    CHECK_OK(gs_global_get(module, "counter", &counter, &size));
    CHECK_EQUAL(size, 4096);
    CHECK(counter >= desc.window_base && counter < desc.window_base + desc.window_size);
    for (uint32_t round = 0; round < 4; round++) {
        CHECK_OK(kernels_launch(NULL, follow, 1, 1, (void *[]){&to}));
        CHECK_OK(gs_memcpy_dtoh(session, &value, to, sizeof(value)));
        CHECK_EQUAL(value, 2 * wanted);
        server_worker_replace(server, 0);
        wanted = 100 * round;
        CHECK_OK(gs_memcpy_htod(session, counter + 4, &wanted, sizeof(wanted)));
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* What would be wrong without a word is not kept: addresses of functions. */
static void a_session_whose_pointers_to_functions_are_lost_is_ended(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session session;
    gs_fault fault = GS_FAULT_INIT;

    CHECK_OK(server_attach(server, &session));
    kernels_load_bound(session);
    server_worker_replace(server, 0);
    CHECK_WITHIN(20000, gs_sync(session) == GS_ERR_INTERRUPTED);
    CHECK_OK(gs_last_fault(session, &fault));
    CHECK_TEXT(fault.message, "pointers to functions");
    CHECK_EQUAL(gs_detach(session), GS_ERR_INTERRUPTED);
    server_stop(server);
}

static void unfinished_work_ends_its_session_alone(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session busy, idle;
    gs_devptr words, data;
    uint32_t started = 0;
    gs_kernel kernel;
    gs_stream aside;

    CHECK_OK(server_attach(server, &busy));
    CHECK_OK(server_attach(server, &idle));
    CHECK_OK(gs_malloc(idle, N * sizeof(uint32_t), &data));
    kernel = kernels_get(load(idle, plain_ptx), "fill");
    fill(NULL, kernel, data, 3);
    CHECK_OK(gs_sync(idle));
    CHECK_OK(gs_malloc(busy, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_stream_create(busy, NULL, &aside));
    CHECK_OK(
        kernels_launch(NULL, kernels_get(load(busy, plain_ptx), "hold"), 1, 1, (void *[]){&words}));
    while (!started) {
        CHECK_OK(
            gs_memcpy_dtoh_async(busy, &started, words + sizeof(uint32_t), sizeof(started), aside));
        CHECK_OK(gs_stream_sync(busy, aside));
    }
    server_worker_replace(server, 0);
    CHECK_EQUAL(gs_sync(busy), GS_ERR_INTERRUPTED);
    check_filled(idle, data, 3);
    CHECK_EQUAL(gs_detach(busy), GS_ERR_INTERRUPTED);
    CHECK_OK(gs_detach(idle));
    server_stop(server);
}

/* Each waits for its results, so it is at rest in some of the moments and not in others: it goes on
 * with the right words, or is told. */
static void results_are_right_or_refused(void)
{
    struct server *server = server_start(&server_unfenced);
    unsigned kept = 0;

    for (unsigned round = 0; round < 10; round++) {
        gs_session session;
        gs_kernel kernel;
        gs_devptr data;
        pid_t worker = server_worker_pid(server);
        gs_status status = GS_OK;
        uint32_t words[N], value = 0;

        CHECK_OK(server_attach(server, &session));
        CHECK_OK(gs_malloc(session, sizeof(words), &data));
        kernel = kernels_get(load(session, plain_ptx), "fill");
        for (; value < 2000 && status == GS_OK; value++) {
            if (value == 100 * round)
                CHECK_EQUAL(kill(worker, SIGKILL), 0);
            status = kernels_launch(NULL, kernel, N / 128, 128,
                                    (void *[]){&data, &value, &(uint32_t){N}});
            if (status == GS_OK)
                status = gs_sync(session);
            if (status == GS_OK)
                status = gs_memcpy_dtoh(session, words, data, sizeof(words));
            for (uint32_t i = 0; i < N && status == GS_OK; i++)
                CHECK_EQUAL(words[i], value + i);
        }
        CHECK(status == GS_OK || status == GS_ERR_INTERRUPTED);
        kept += status == GS_OK;
        CHECK_EQUAL(gs_detach(session), status);
        CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
    }
    CHECK(kept > 0);
    server_stop(server);
}

static void a_tenant_that_dies_meanwhile_leaves_nothing(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session session;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 8 * MIB, &data));
    for (unsigned i = 0; i < 5; i++) {
        const pid_t worker = server_worker_pid(server);
        gs_session other;

        CHECK_OK(server_attach(server, &other));
        CHECK_OK(gs_malloc(other, 8 * MIB, &data));
        CHECK_EQUAL(kill(worker, SIGKILL), 0);
        CHECK_OK(gs_detach(other));
        CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
    }
    server_wait_tenants(server, 1, 10000);
    CHECK_WITHIN(10000, server_memory_used(server) == 8 * MIB);
    CHECK_OK(gs_detach(session));
    CHECK_WITHIN(10000, server_memory_used(server) == 0);
    server_stop(server);
}

/* Attaches and detaches until it is to stop, whatever comes of it. */
static void attaches_run(void *stop)
{
    while (!atomic_load((_Atomic bool *)stop)) {
        gs_session session;
        gs_devptr data;

        if (gs_attach(NULL, &session) != GS_OK)
            continue;
        gs_malloc(session, MIB, &data);
        gs_detach(session);
    }
}

/* The next worker's addresses are all free: new sessions must not take those of the sessions that
 * it is still to take up. */
static void new_sessions_leave_addresses_to_those_that_are_taken_up(void)
{
    const char *const arguments[] = {"--fence", "never", "--no-standby", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    _Atomic bool *stop = shared_alloc(sizeof(*stop));
    gs_session session[8];
    gs_devptr data[8];
    pid_t others[8];

    for (unsigned i = 0; i < ARRAY_SIZE(session); i++) {
        CHECK_OK(server_attach(server, &session[i]));
        CHECK_OK(gs_malloc(session[i], N * sizeof(uint32_t), &data[i]));
        fill(NULL, kernels_get(load(session[i], plain_ptx), "fill"), data[i], i);
        CHECK_OK(gs_sync(session[i]));
    }
    for (unsigned i = 0; i < ARRAY_SIZE(others); i++)
        others[i] = tenant_start(attaches_run, (void *)stop);
    for (unsigned round = 0; round < 10; round++) {
        server_worker_replace(server, 0);
        for (unsigned i = 0; i < ARRAY_SIZE(session); i++)
            check_filled(session[i], data[i], i);
    }
    atomic_store(stop, true);
    for (unsigned i = 0; i < ARRAY_SIZE(others); i++)
        tenant_join(others[i]);
    for (unsigned i = 0; i < ARRAY_SIZE(session); i++)
        CHECK_OK(gs_detach(session[i]));
    server_stop(server);
}

/* Its partition is made anew, however long ago its attach was to be answered. */
static void a_session_with_sms_of_its_own_goes_on(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_qos qos = GS_QOS_INIT;
    gs_exec_affinity before, after;
    const uint64_t begin = clock_ns();
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_kernel kernel;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_session_info(session, &desc));
    CHECK_OK(gs_detach(session));
    if (!desc.sm_granularity)
        test_skip("the device has no partitions");
    qos.affinity.type = GS_EXEC_AFFINITY_SM_COUNT;
    qos.affinity.sm_count = desc.sm_granularity;
    qos.affinity.exclusive = 1;
    params.qos = &qos;
    params.timeout_ms = 1000;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    kernel = kernels_get(load(session, plain_ptx), "fill");
    CHECK_OK(gs_get_exec_affinity(session, &before));
    while (clock_ns() < begin + 1500000000u) {
        fill(NULL, kernel, data, 9);
        CHECK_OK(gs_sync(session));
    }
    for (unsigned round = 0; round < 2; round++) {
        server_worker_replace(server, 0);
        check_filled(session, data, 9);
        CHECK_OK(gs_get_exec_affinity(session, &after));
        CHECK_MEMORY(&after.sm_mask, &before.sm_mask, sizeof(before.sm_mask));
        fill(NULL, kernel, data, 9);
        CHECK_OK(gs_sync(session));
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Until all are taken up none has new work: who comes first must not keep the others out. */
static void work_that_waits_keeps_nobody_from_being_taken_up(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_devptr words, data[3];
    gs_session idle[3], busy;
    gs_stream aside;
    gs_kernel hold;
    pid_t worker;

    CHECK_OK(server_attach(server, &busy));
    CHECK_OK(gs_stream_create(busy, NULL, &aside));
    CHECK_OK(gs_malloc(busy, 2 * sizeof(uint32_t), &words));
    hold = kernels_get(load(busy, plain_ptx), "hold");
    for (unsigned i = 0; i < 3; i++) {
        CHECK_OK(server_attach(server, &idle[i]));
        CHECK_OK(gs_malloc(idle[i], N * sizeof(uint32_t), &data[i]));
        fill(NULL, kernels_get(load(idle[i], plain_ptx), "fill"), data[i], 10 * i);
        CHECK_OK(gs_sync(idle[i]));
    }
    worker = server_worker_pid(server);
    kill(worker, SIGSTOP); /* so that the next one finds the launch */
    CHECK_WITHIN(10000, stopped(worker));
    CHECK_OK(kernels_launch(NULL, hold, 1, 1, (void *[]){&words}));
    kill(worker, SIGKILL);
    for (unsigned i = 0; i < 3; i++) {
        check_filled(idle[i], data[i], 10 * i);
        CHECK_OK(gs_detach(idle[i]));
    }
    CHECK_OK(gs_memset_async(busy, words, 1, sizeof(uint32_t), aside));
    CHECK_OK(gs_sync(busy));
    CHECK_OK(gs_detach(busy));
    server_stop(server);
}

/* ---- The standby ---- */

static unsigned workers_count(const struct server *server)
{
    pid_t pids[SERVER_WORKERS_MAX];

    return server_workers(server, pids);
}

/* The standby has been there before the worker is lost, and the server's status names it. */
static void a_standby_takes_the_workers_place(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session session;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    fill(NULL, kernels_get(load(session, plain_ptx), "fill"), data, 5);
    CHECK_OK(gs_sync(session));
    for (unsigned round = 0; round < 3; round++) {
        pid_t standby = 0;

        CHECK_WITHIN(20000, (standby = server_standby_pid(server)) != 0);
        server_worker_replace(server, 0);
        CHECK_EQUAL(server_worker_pid(server), standby);
        check_filled(session, data, 5);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Whichever of the two is lost, or both. */
static void a_lost_standby_loses_nobody(void)
{
    struct server *server = server_start(&server_unfenced);
    pid_t pids[SERVER_WORKERS_MAX];
    gs_session session;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    fill(NULL, kernels_get(load(session, plain_ptx), "fill"), data, 5);
    CHECK_OK(gs_sync(session));
    CHECK_WITHIN(20000, server_workers(server, pids) == 2);
    kill(pids[pids[0] == server_worker_pid(server)], SIGKILL);
    CHECK_WITHIN(20000, server_log_lines(server, "event=standby-lost device=0 worker=") == 1);
    check_filled(session, data, 5);
    server_worker_replace(server, 0);
    check_filled(session, data, 5);
    CHECK_WITHIN(20000, server_workers(server, pids) == 2);
    kill(pids[0], SIGKILL);
    kill(pids[1], SIGKILL);
    check_filled(session, data, 5);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* A standby that is stopped is none, until it goes on; another worker is started in its place. */
static void a_stopped_standby_is_not_waited_for(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session session;
    gs_devptr data;
    pid_t standby;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    fill(NULL, kernels_get(load(session, plain_ptx), "fill"), data, 5);
    CHECK_OK(gs_sync(session));
    CHECK_WITHIN(20000, (standby = server_standby_pid(server)) != 0);
    kill(standby, SIGSTOP);
    CHECK_WITHIN(20000, server_standby_pid(server) == 0);
    kill(standby, SIGCONT);
    CHECK_WITHIN(20000, server_standby_pid(server) == standby);
    kill(standby, SIGSTOP);
    CHECK_WITHIN(20000, server_standby_pid(server) == 0);
    server_worker_replace(server, 0);
    CHECK(server_worker_pid(server) != standby);
    CHECK_EQUAL(server_log_lines(server, "event=standby-lost device=0 worker="), 1);
    check_filled(session, data, 5);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void without_a_standby_there_is_one_worker(void)
{
    const char *const arguments[] = {"--fence", "never", "--no-standby", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    const uint64_t until = clock_ns() + 3000000000u;
    gs_session session;
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    while (clock_ns() < until) {
        CHECK_EQUAL(workers_count(server), 1);
        test_pause();
    }
    server_worker_replace(server, 0);
    CHECK_OK(gs_memset(session, data, 1, N));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* ---- Half-made requests ---- */

/* How many descriptors of files in memory the supervisor has whose name has the text. The path of
 * one of them: for open. */
static unsigned supervisor_files(const struct server *server, const char *name, char path[400])
{
    char folder[64], other[400], target[64];
    const struct dirent *entry;
    unsigned count = 0;

    snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)server_supervisor(server));
    DIR *descriptors = opendir(folder);
    CHECK(descriptors != NULL);
    while ((entry = readdir(descriptors))) {
        snprintf(other, sizeof(other), "%s/%s", folder, entry->d_name);
        const ssize_t n = readlink(other, target, sizeof(target) - 1);
        if (n <= 0 || !strstr((target[n] = '\0', target), name))
            continue;
        count++;
        memcpy(path, other, sizeof(other));
    }
    closedir(descriptors);
    return count;
}

/* The journal of the server's only session, as its worker has it. */
static struct journal *journal_take(const struct server *server)
{
    char path[400] = "";

    CHECK_EQUAL(supervisor_files(server, "gshare-journal", path), 1);
    struct journal *journal =
        journal_open(open(path, O_RDWR | O_CLOEXEC), 1, geteuid(), UINT64_MAX);
    CHECK(journal != NULL);
    return journal;
}

static void worker_stop(const struct server *server)
{
    CHECK_EQUAL(kill(server_worker_pid(server), SIGSTOP), 0);
    CHECK_WITHIN(10000, stopped(server_worker_pid(server)));
}

/* Notes that the request to remove something is answered, as a worker does before it removes the
 * entry. */
static void removal_note(struct journal *journal, enum journal_kind kind, uint64_t key)
{
    const struct journal_answer answer = {
        .serial = 1000000, .change = JOURNAL_REMOVES, .kind = kind, .key = key};

    journal_answer(journal, &answer);
}

/* A worker that is lost between the answer of a free and its doing. Memory that is one piece, and
 * small memory, alone and beside others in its piece. */
static void what_was_being_freed_is_free(void)
{
    static const size_t sizes[] = {2 * MIB, 5 * MIB, 100, 100};
    struct server *server = server_start(&server_unfenced);
    const bool beside[] = {false, false, false, true};
    gs_devptr kept, other, freed;
    gs_session session;
    uint64_t used;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, 3 * MIB, &kept));
    CHECK_OK(gs_memset(session, kept, 7, 3 * MIB));
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        used = server_memory_used(server);
        CHECK_OK(gs_malloc(session, sizes[i], &freed));
        CHECK(server_memory_used(server) > used);
        if (beside[i]) {
            CHECK_OK(gs_malloc(session, sizes[i], &other));
            used = server_memory_used(server);
        }
        worker_stop(server);
        struct journal *journal = journal_take(server);
        removal_note(journal, JOURNAL_ALLOCATION, freed);
        journal_free(journal);
        server_worker_replace(server, 0);
        CHECK_STATUS(gs_free(session, freed), GS_ERR_INVALID_POINTER);
        CHECK_EQUAL(server_memory_used(server), used);
        if (beside[i]) {
            CHECK_OK(gs_memset(session, other, 1, sizes[i]));
            CHECK_OK(gs_free(session, other));
        }
    }
    CHECK_OK(gs_free(session, kept));
    CHECK_OK(gs_detach(session));
    CHECK_WITHIN(10000, server_memory_used(server) == 0);
    server_stop(server);
}

/* The piece was noted, and not yet whose it is: the request was not answered. */
static void what_was_being_allocated_is_not_charged(void)
{
    struct server *server = server_start(&fenced);
    gs_session session;
    gs_devptr half;
    uint64_t used;

    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < 2; i++) {
        used = server_memory_used(server);
        CHECK_OK(gs_malloc(session, i ? 4 * MIB : 100, &half));
        CHECK(server_memory_used(server) > used);
        worker_stop(server);
        struct journal *journal = journal_take(server);
        journal_remove(journal, JOURNAL_ALLOCATION, half);
        journal_free(journal);
        server_worker_replace(server, 0);
        CHECK_STATUS(gs_free(session, half), GS_ERR_INVALID_POINTER);
        CHECK_EQUAL(server_memory_used(server), used);
        load(session, counter_ptx); /* memory that no allocation names */
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* A module that was being unloaded goes with its kernels and variables, and not the session. */
static void a_module_that_was_being_unloaded_is_gone(void)
{
    struct server *server = server_start(&fenced);
    gs_module going, staying;
    gs_session session;
    gs_devptr counter, data;
    gs_kernel fill_kernel;
    uint64_t used;
    size_t size;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    staying = load(session, plain_ptx); /* number 0 */
    fill_kernel = kernels_get(staying, "fill");
    used = server_memory_used(server);
    going = load(session, counter_ptx); /* number 1 */
    kernels_get(going, "bump");
    CHECK_OK(gs_global_get(going, "counter", &counter, &size));
    worker_stop(server);
    struct journal *journal = journal_take(server);
    CHECK(journal_find(journal, JOURNAL_MODULE, 1) != NULL);
    removal_note(journal, JOURNAL_MODULE, 1);
    journal_free(journal);
    server_worker_replace(server, 0);
    fill(NULL, fill_kernel, data, 5);
    check_filled(session, data, 5);
    CHECK_STATUS(gs_free(session, counter), GS_ERR_INVALID_POINTER);
    CHECK_EQUAL(server_memory_used(server), used);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Nobody notices before, and a restart that is not forced loses nobody. */
static void without_takeovers_a_session_ends_with_its_worker(void)
{
    const char *const arguments[] = {"--fence", "never", "--no-takeover", NULL};
    struct server *server = server_start(&(struct server_options){.arguments = arguments});
    gs_session session;
    char output[256];
    gs_devptr data;

    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    fill(NULL, kernels_get(load(session, plain_ptx), "fill"), data, 3);
    check_filled(session, data, 3);
    CHECK_EQUAL(
        program_run((const char *[]){"bin/gsctl", "restart-worker", NULL}, output, sizeof(output)),
        1);
    CHECK_TEXT(output, "session 1 would end: the server keeps none (--no-takeover)");
    check_filled(session, data, 3);
    server_worker_replace(server, 0);
    CHECK_STATUS(gs_memset(session, data, 1, N), GS_ERR_INTERRUPTED);
    gs_detach(session);
    CHECK_OK(server_attach(server, &session));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Neither descriptors of memory nor journals. A server that keeps them shows that they are seen. */
static void without_takeovers_nothing_is_kept_of_shared_memory(void)
{
    static const char *const never[] = {"--no-takeover", NULL};
    char path[400];

    for (unsigned kept = 0; kept < 2; kept++) {
        struct server *server =
            server_start(&(struct server_options){.arguments = kept ? NULL : never});
        gs_session owner, other, late;
        gs_mem_handle handle;
        gs_devptr at, seen;
        size_t size;

        CHECK_OK(server_attach(server, &owner));
        if (!test_device_is_soft(owner)) {
            server_stop(server);
            test_skip("only the software device's memory has a name");
        }
        CHECK_OK(server_attach(server, &other));
        CHECK_OK(gs_malloc(owner, 4 * MIB, &at));
        CHECK_OK(gs_mem_export(owner, at, GS_EXPORT_TO_USER, &handle));
        CHECK_OK(gs_mem_import(other, &handle, &seen, &size));
        CHECK_OK(gs_memset(other, seen, 1, 4 * MIB));
        CHECK_OK(gs_sync(other));
        CHECK_OK(server_attach(server, &late)); /* what came before has been read by now */
        CHECK_EQUAL(supervisor_files(server, "gshare-journal", path), kept ? 3 : 0);
        CHECK_EQUAL(supervisor_files(server, "memfd:softcuda", path), kept ? 2 : 0);
        CHECK_OK(gs_detach(late));
        CHECK_OK(gs_detach(other));
        CHECK_OK(gs_detach(owner));
        server_stop(server);
    }
}

/* ---- Replay ---- */

static gs_session attach_replaying(void)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.on_fault = GS_ON_FAULT_REPLAY;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

/* Waits until the kernel that holds the device runs, also once more. */
static void hold_await(gs_session session, gs_devptr words, gs_stream aside)
{
    uint32_t started = 0;

    while (!started) {
        CHECK_OK(gs_memcpy_dtoh_async(session, &started, words + sizeof(uint32_t), sizeof(started),
                                      aside));
        CHECK_OK(gs_stream_sync(session, aside));
    }
    started = 0;
    CHECK_OK(
        gs_memcpy_htod_async(session, words + sizeof(uint32_t), &started, sizeof(started), aside));
    CHECK_OK(gs_stream_sync(session, aside));
}

/* A kernel in the middle, and what waits behind it, in its stream and in another. */
static void unfinished_work_runs_again(void)
{
    struct server *server = server_start(&server_unfenced);
    const uint32_t one = 1;
    gs_session session = attach_replaying();
    gs_devptr words, data, more, changed;
    gs_stream aside, other;
    gs_module module;
    gs_event event;
    gs_graph graph;

    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_malloc(session, 2 * N * sizeof(uint32_t), &changed));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &more));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    CHECK_OK(gs_stream_create(session, NULL, &other));
    CHECK_OK(gs_event_create(session, &event));
    module = load(session, plain_ptx);
    CHECK_OK(gs_graph_begin(session, other));
    fill(other, kernels_get(module, "fill"), changed, 22);
    CHECK_OK(gs_graph_end(session, other, &graph));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "hold"), 1, 1, (void *[]){&words}));
    fill(NULL, kernels_get(module, "fill"), data, 11);
    CHECK_OK(gs_graph_launch(graph, NULL));
    CHECK_OK(gs_graph_begin(session, other));
    fill(other, kernels_get(module, "fill"), changed + N * sizeof(uint32_t), 33);
    CHECK_OK(gs_graph_change(session, other, graph, NULL, 1));
    CHECK_OK(gs_graph_launch(graph, NULL));
    CHECK_OK(gs_event_record(event, NULL));
    CHECK_OK(gs_stream_wait_event(other, event));
    CHECK_OK(gs_memcpy_dtod_async(session, more, data, N * sizeof(uint32_t), other));
    for (unsigned round = 0; round < 3; round++) {
        hold_await(session, words, aside);
        server_worker_replace(server, 0);
    }
    hold_await(session, words, aside);
    CHECK_EQUAL(gs_event_query(event), GS_NOT_READY);
    CHECK_OK(gs_memcpy_htod_async(session, words, &one, sizeof(one), aside));
    CHECK_OK(gs_sync(session));
    check_filled(session, data, 11);
    check_filled(session, more, 11);
    check_filled(session, changed, 22);
    check_filled(session, changed + N * sizeof(uint32_t), 33);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Work that nobody is to blame for may be what loses the device. */
static void work_that_loses_worker_after_worker_is_given_up(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session session = attach_replaying();
    gs_devptr words;
    gs_stream aside;

    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    CHECK_OK(kernels_launch(NULL, kernels_get(load(session, plain_ptx), "hold"), 1, 1,
                            (void *[]){&words}));
    for (unsigned round = 0; round < 3; round++) {
        hold_await(session, words, aside);
        server_worker_replace(server, 0);
    }
    hold_await(session, words, aside);
    server_worker_replace(server, 0);
    CHECK_EQUAL(gs_sync(session), GS_ERR_INTERRUPTED);
    CHECK_EQUAL(gs_detach(session), GS_ERR_INTERRUPTED);
    server_stop(server);
}

static const char fault_ptx[] =
    PTX_HEAD ".visible .entry fault(.param .u64 at)\n"
             "{ .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd], 1; ret; }\n";

/* Two have unfinished work when a kernel faults, and both run it again, one after the other: so it
 * is found whose it is, and the other loses nothing however often that happens. */
static void the_suspect_at_fault_is_found(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session session = attach_replaying();
    const uint32_t one = 1, zero = 0;
    const uint64_t nowhere = 16;
    gs_devptr words, data;
    gs_module module;
    gs_stream aside;

    CHECK_OK(gs_malloc(session, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    module = load(session, plain_ptx);
    for (uint32_t round = 0; round < 5; round++) {
        const pid_t worker = server_worker_pid(server);
        gs_session culprit = attach_replaying();
        gs_kernel fault = kernels_get(load(culprit, fault_ptx), "fault");
        gs_fault seen = GS_FAULT_INIT;

        CHECK_OK(gs_memcpy_htod(session, words, &zero, sizeof(zero)));
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "hold"), 1, 1, (void *[]){&words}));
        fill(NULL, kernels_get(module, "fill"), data, round);
        hold_await(session, words, aside);
        CHECK_OK(kernels_launch(NULL, fault, 1, 1, (void *[]){(void *)&nowhere}));
        CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
        CHECK_OK(gs_memcpy_htod_async(session, words, &one, sizeof(one), aside));
        do /* the other always has more to do */
            fill(NULL, kernels_get(module, "fill"), data, round);
        while (gs_stream_query(culprit, NULL) == GS_NOT_READY);
        CHECK_EQUAL(gs_sync(culprit), GS_ERR_FAULT);
        CHECK_OK(gs_last_fault(culprit, &seen));
        CHECK_TEXT(seen.kernel, "fault");
        CHECK_EQUAL(gs_detach(culprit), GS_ERR_FAULT);
        CHECK_OK(gs_sync(session));
        check_filled(session, data, round);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

/* Kernels reach host memory at the addresses that they had, and a tenant frees and makes more. */
static void host_memory_goes_on(const struct server_options *options)
{
    struct server *server = server_start(options);
    _Atomic uint32_t *words;
    gs_devptr device[4];
    uint32_t *host[4];
    gs_session session;
    gs_module module;

    CHECK_OK(server_attach(server, &session));
    module = load(session, plain_ptx);
    for (unsigned i = 0; i < 4; i++) {
        CHECK_OK(gs_host_alloc(session, (i + 1) * MIB, (void **)&host[i]));
        CHECK_OK(gs_host_device_ptr(session, host[i], &device[i]));
        host[i][N] = i;
    }
    for (uint32_t round = 0; round < 3; round++) {
        CHECK_OK(gs_sync(session));
        server_worker_replace(server, 0);
        for (unsigned i = 0; i < 4; i++)
            fill(NULL, kernels_get(module, "fill"), device[i], 100 * round + i);
        CHECK_OK(gs_sync(session));
        for (unsigned i = 0; i < 4; i++) {
            for (uint32_t k = 0; k < N; k++)
                CHECK_EQUAL(host[i][k], 100 * round + i + k);
            CHECK_EQUAL(host[i][N], i);
        }
        words = (_Atomic uint32_t *)host[0];
        atomic_store(&words[0], 0);
        atomic_store(&words[1], 0);
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "hold"), 1, 1, (void *[]){&device[0]}));
        CHECK_WITHIN(20000, atomic_load(&words[1]) == 1);
        atomic_store(&words[0], 1);
        CHECK_OK(gs_sync(session));
        CHECK_OK(gs_memset(session, device[3] + MIB, 0, MIB));
        CHECK_OK(gs_host_free(session, host[1]));
        CHECK_OK(gs_host_alloc(session, 2 * MIB, (void **)&host[1]));
        CHECK_OK(gs_host_device_ptr(session, host[1], &device[1]));
        host[1][N] = 1;
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void host_memory_that_kernels_reach_goes_on(void)
{
    host_memory_goes_on(&server_unfenced);
}

static void host_memory_that_fenced_kernels_reach_goes_on(void)
{
    host_memory_goes_on(&fenced);
}

/* Whoever's kernel faults is not replayed, and the others are, as often as it takes. */
static void anothers_faults_are_not_noticed(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session session = attach_replaying();
    uint32_t *host;
    gs_kernel kernel;
    gs_stream stream;
    gs_devptr data;

    CHECK_OK(gs_malloc(session, N * sizeof(uint32_t), &data));
    CHECK_OK(gs_host_alloc(session, N * sizeof(uint32_t), (void **)&host));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    kernel = kernels_get(load(session, plain_ptx), "fill");
    for (uint32_t round = 0; round < 6; round++) {
        const pid_t worker = server_worker_pid(server);
        const uint64_t nowhere = 16;
        gs_session culprit = attach_replaying();
        gs_module module = load(culprit, fault_ptx);

        fill(stream, kernel, data, round);
        CHECK_OK(gs_stream_sync(session, stream));
        CHECK_OK(
            kernels_launch(NULL, kernels_get(module, "fault"), 1, 1, (void *[]){(void *)&nowhere}));
        CHECK_EQUAL(gs_sync(culprit), GS_ERR_FAULT);
        for (uint32_t i = 0; i < 20; i++) {
            fill(stream, kernel, data, 100 * round + i);
            CHECK_OK(gs_memcpy_dtoh_async(session, host, data, N * sizeof(uint32_t), stream));
        }
        CHECK_OK(gs_stream_sync(session, stream));
        for (uint32_t i = 0; i < N; i++)
            CHECK_EQUAL(host[i], 100 * round + 19 + i);
        CHECK_WITHIN(20000, server_worker_pid(server) != worker);
        CHECK_EQUAL(gs_detach(culprit), GS_ERR_FAULT);
    }
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(host_memory_that_kernels_reach_goes_on),
    TEST(host_memory_that_fenced_kernels_reach_goes_on),
    TEST(a_session_with_sms_of_its_own_goes_on),
    TEST(work_that_waits_keeps_nobody_from_being_taken_up),
    TEST(a_standby_takes_the_workers_place),
    TEST(a_lost_standby_loses_nobody),
    TEST(a_stopped_standby_is_not_waited_for),
    TEST(without_a_standby_there_is_one_worker),
    TEST(without_takeovers_a_session_ends_with_its_worker),
    TEST(without_takeovers_nothing_is_kept_of_shared_memory),
    TEST(what_was_being_freed_is_free),
    TEST(what_was_being_allocated_is_not_charged),
    TEST(a_module_that_was_being_unloaded_is_gone),
    TEST(an_idle_session_goes_on),
    TEST(a_session_with_a_fat_binary_goes_on),
    TEST(a_session_with_machine_code_goes_on),
    TEST(machine_code_that_keeps_something_ends_its_session),
    TEST(a_fenced_session_goes_on),
    TEST(variables_of_a_fenced_module_keep_their_values),
    TEST(variables_of_an_unfenced_module_keep_their_values),
    TEST(named_variables_keep_their_place_and_values),
    TEST(a_session_whose_pointers_to_functions_are_lost_is_ended),
    TEST(unfinished_work_ends_its_session_alone),
    TEST(unfinished_work_runs_again),
    TEST(work_that_loses_worker_after_worker_is_given_up),
    TEST(the_suspect_at_fault_is_found),
    TEST(anothers_faults_are_not_noticed),
    TEST(results_are_right_or_refused),
    TEST(a_tenant_that_dies_meanwhile_leaves_nothing),
    TEST(new_sessions_leave_addresses_to_those_that_are_taken_up),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
