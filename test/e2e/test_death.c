/*
 * test_death.c - tenants that die at any moment leave no session, no memory, no queue and no
 * segment, and the others do not notice. test_main itself looks for what is left at the end.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "admin.h"
#include "bystander.h"
#include "harness/harness.h"

#define MIB         ((size_t)1 << 20)
#define FREE_MS     100  /* what a dead tenant held is free again */
#define BUSY_MS     3000 /* the same where other programs have the processors */
#define MOMENTS     200u
#define VICTIM_HELD (3 * MIB)

static void pause_us(uint64_t us)
{
    struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};

    nanosleep(&t, NULL);
}

/* Attach, allocate, load, launch, copy, sync, detach; and again, until it is killed. */
static void victim_run(void *argument)
{
    struct gate *started = argument;

    gate_pass(started);
    for (;;) {
        uint32_t words[1024], n = 1024, value = 1, rounds = 50;
        gs_session session;
        gs_stream stream;
        gs_module module;
        gs_graph graph;
        gs_devptr data, more;
        void *block;

        CHECK_OK(gs_attach(NULL, &session));
        CHECK_OK(gs_malloc(session, VICTIM_HELD, &data));
        module = kernels_load(session);
        CHECK_OK(gs_stream_create(session, NULL, &stream));
        CHECK_OK(gs_host_alloc(session, MIB, &block));
        CHECK_OK(gs_graph_begin(session, stream));
        CHECK_OK(gs_memcpy_htod_async(session, data, block, MIB, stream));
        CHECK_OK(gs_graph_end(session, stream, &graph));
        for (unsigned i = 0; i < 20; i++) {
            CHECK_OK(kernels_launch(stream, kernels_get(module, "fill"), 8, 128,
                                    (void *[]){&data, &value, &n}));
            CHECK_OK(kernels_launch(NULL, kernels_get(module, "chain"), 8, 128,
                                    (void *[]){&data, &n, &rounds, &value}));
            CHECK_OK(gs_graph_launch(graph, stream));
            CHECK_OK(gs_memcpy_htod(session, data, words, sizeof(words)));
            CHECK_OK(gs_memcpy_dtoh_async(session, words, data, sizeof(words), stream));
            CHECK_OK(gs_malloc(session, 10000, &more));
            CHECK_OK(gs_stream_sync(session, stream));
            CHECK_OK(gs_free(session, more));
        }
        CHECK_OK(gs_detach(session));
    }
}

/* All that the bystanders hold, seen when nobody else holds anything. */
struct quiet {
    uint64_t memory;
    unsigned tenants;
};

/* Bystanders allocate and free 4 KiB all the time: their memory swings by what one of those takes,
 * at most a chunk; a victim holds more. */
static bool quiet_again(const struct server *server, const struct quiet *quiet)
{
    return server_tenants(server) == quiet->tenants &&
           server_memory_used(server) < quiet->memory + VICTIM_HELD;
}

/* Milliseconds until all is free. */
static double quiet_await(const struct server *server, const struct quiet *quiet, unsigned moment)
{
    uint64_t killed = clock_ns(), deadline = test_deadline(BUSY_MS);

    while (!quiet_again(server, quiet)) {
        if (clock_ns() > deadline)
            test_fail(__FILE__, __LINE__, "moment %u: a dead tenant's session stays", moment);
        test_pause();
    }
    return (double)(clock_ns() - killed) * 1e-6;
}

static void at_200_random_moments(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *others = bystanders_start(2);
    struct gate *started = shared_alloc(sizeof(*started));
    struct quiet quiet = {server_memory_used(server), 2};
    double limit = (double)(test_deadline(FREE_MS) - clock_ns()) * 1e-6, longest = 0;
    unsigned late = 0;

    for (unsigned i = 0; i < MOMENTS; i++) {
        pid_t pid = tenant_start(victim_run, started);

        gate_wait(started, i + 1);
        /* Mostly within the first round, where each moment is another call. */
        pause_us(test_random() % (i % 4 ? 15000 : 60000));
        if (i % 5 == 4) {
            kill(pid, SIGSTOP);
            pause_us(test_random() % 5000);
        }
        tenant_kill(pid, SIGKILL);
        double ms = quiet_await(server, &quiet, i);
        late += ms > limit;
        longest = ms > longest ? ms : longest;
    }
    printf("# the longest took %.1f ms; %u of %u took over %.0f ms\n", longest, late, MOMENTS,
           limit);
    /* A machine with much else to do may stop anyone for a while, but not at each moment. */
    CHECK(late <= MOMENTS / 10);
    bystanders_stop(others);
    CHECK_WITHIN(BUSY_MS, server_tenants(server) == 0 && server_memory_used(server) == 0);
    CHECK_EQUAL(admin_rows(server), 0);
    server_stop(server);
}

/* ---- Ends of other kinds ---- */

static gs_session busy_session(void)
{
    gs_session session;
    gs_module module;
    gs_devptr data;
    uint64_t nanoseconds = 2000000;

    CHECK_OK(gs_attach(NULL, &session));
    module = kernels_load(session);
    CHECK_OK(gs_malloc(session, VICTIM_HELD, &data));
    for (unsigned i = 0; i < 5; i++)
        CHECK_OK(kernels_launch(NULL, kernels_get(module, "spin"), 1, 1, (void *[]){&nanoseconds}));
    return session;
}

static void exit_run(void *argument)
{
    busy_session();
    busy_session();
    if (*(int *)argument == 0)
        return; /* exit() */
    if (*(int *)argument == 1)
        _exit(0);
    if (*(int *)argument == 2)
        execl("/bin/true", "true", (char *)NULL);
}

static void exits_without_detaching(void)
{
    struct server *server = server_start(NULL);

    for (int how = 0; how < 3; how++) {
        pid_t pid = tenant_start(exit_run, &how);
        tenant_join(pid);
        CHECK_WITHIN(BUSY_MS, server_tenants(server) == 0 && server_memory_used(server) == 0);
    }
    server_stop(server);
}

struct held {
    struct gate ready;
    _Atomic bool asked;
};

static void stopped_run(void *argument)
{
    struct held *held = argument;

    busy_session();
    gate_pass(&held->ready);
    for (;;)
        pause();
}

static void stopped_then_killed(void)
{
    struct server *server = server_start(NULL);
    struct held *held = shared_alloc(sizeof(*held));
    struct bystanders *others = bystanders_start(1);
    struct quiet quiet = {server_memory_used(server), 1};
    uint64_t rounds;
    pid_t pid = tenant_start(stopped_run, held);

    gate_wait(&held->ready, 1);
    kill(pid, SIGSTOP);
    /* A stopped tenant is a tenant, and nobody waits for it. */
    rounds = bystanders_rounds(others);
    CHECK_WITHIN(10000, bystanders_rounds(others) > rounds + 10);
    CHECK_EQUAL(server_tenants(server), 2);
    tenant_kill(pid, SIGKILL);
    CHECK_WITHIN(BUSY_MS, quiet_again(server, &quiet));
    bystanders_stop(others);
    server_stop(server);
}

/* A kernel that is still running when its tenant dies: the session goes when the device is done
 * with it, the others are not held up meanwhile. */
static void while_its_kernel_runs(void)
{
    struct server *server = server_start(NULL);
    struct held *held = shared_alloc(sizeof(*held));
    struct bystanders *others = bystanders_start(1);
    struct quiet quiet = {server_memory_used(server), 1};

    for (unsigned i = 0; i < 10; i++) {
        pid_t pid = tenant_start(stopped_run, held);

        gate_wait(&held->ready, i + 1);
        tenant_kill(pid, SIGKILL);
        CHECK_WITHIN(BUSY_MS, quiet_again(server, &quiet));
    }
    bystanders_stop(others);
    server_stop(server);
}

static void loading_run(void *argument)
{
    gs_session session;
    gs_devptr data;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_malloc(session, VICTIM_HELD, &data));
    gate_pass(argument);
    kernels_load(session);
    for (;;)
        pause();
}

/* A module waits for a moment without kernels, the memory of its dead tenant does not. */
static void while_its_module_waits_for_anothers_kernel(void)
{
    struct server *server = server_start(NULL);
    struct gate *ready = shared_alloc(sizeof(*ready));
    struct quiet quiet = {0, 1};
    gs_session session;
    gs_kernel spin_until;
    gs_stream aside;
    gs_devptr flag;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_stream_create(session, NULL, &aside));
    CHECK_OK(gs_malloc(session, sizeof(uint32_t), &flag));
    CHECK_OK(gs_memset(session, flag, 0, sizeof(uint32_t)));
    spin_until = kernels_get(kernels_load(session), "spin_until");
    quiet.memory = server_memory_used(server);
    CHECK_OK(kernels_launch(NULL, spin_until, 1, 1, (void *[]){&flag}));
    for (unsigned i = 0; i < 5; i++) {
        pid_t pid = tenant_start(loading_run, ready);

        gate_wait(ready, i + 1);
        pause_us(20000 + test_random() % 50000);
        tenant_kill(pid, SIGKILL);
        CHECK_WITHIN(BUSY_MS, quiet_again(server, &quiet));
    }
    CHECK_STATUS(gs_stream_query(session, NULL), GS_NOT_READY);
    CHECK_OK(gs_memset_async(session, flag, 1, sizeof(uint32_t), aside));
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void crash_run(void *argument)
{
    (void)argument;
    busy_session();
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void crashes(void)
{
    struct server *server = server_start(NULL);
    pid_t pid = tenant_start(crash_run, NULL);
    int status = tenant_wait(pid, 20);

    CHECK(!WIFEXITED(status) || WEXITSTATUS(status) != 0);
    CHECK_WITHIN(BUSY_MS, server_tenants(server) == 0 && server_memory_used(server) == 0);
    server_stop(server);
}

static void many_at_once(void)
{
    struct server *server = server_start(NULL);
    struct bystanders *others = bystanders_start(1);
    struct gate *started = shared_alloc(sizeof(*started));
    struct quiet quiet = {server_memory_used(server), 1};
    uint32_t count = 0;
    pid_t pid[12];

    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < ARRAY_SIZE(pid); i++)
            pid[i] = tenant_start(victim_run, started);
        gate_wait(started, count += ARRAY_SIZE(pid));
        pause_us(20000 + test_random() % 50000);
        for (unsigned i = 0; i < ARRAY_SIZE(pid); i++)
            kill(pid[i], SIGKILL);
        for (unsigned i = 0; i < ARRAY_SIZE(pid); i++)
            tenant_wait(pid[i], 20);
        CHECK_WITHIN(BUSY_MS, quiet_again(server, &quiet));
    }
    bystanders_stop(others);
    server_stop(server);
}

static const struct test tests[] = {
    TEST_WITHIN(at_200_random_moments, 180),
    TEST(exits_without_detaching),
    TEST(stopped_then_killed),
    TEST(while_its_kernel_runs),
    TEST(while_its_module_waits_for_anothers_kernel),
    TEST(crashes),
    TEST(many_at_once),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
