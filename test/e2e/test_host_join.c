/*
 * test_host_join.c - memory of gs_host_alloc to which sessions of another device join
 * (gs_host_join): where kernels of each reach it, who may, whom it counts against, and what becomes
 * of it when either session frees it or ends, and when a worker or the supervisor is replaced. On
 * the software device, which can be several.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "driver_server.h"
#include "harness/harness.h"
#include "raw_client.h"

#define MIB ((size_t)1 << 20)
#define N   4096u

static const char plain_ptx[] = PTX_HEAD PTX_FILL PTX_HOLD;

/* The maker on device 0, and who joins it on device 1. */
enum { MAKER, OTHER, SESSIONS };

struct scene {
    struct server *server;
    gs_session session[SESSIONS];
    gs_kernel fill[SESSIONS], hold[SESSIONS];
    uint32_t *words;
    gs_devptr at[SESSIONS];
};

static struct server *server_of(const char *fence)
{
    const char *const arguments[] = {"--devices", "all", "--fence", fence, NULL};
    const char *const environment[] = {"GSHARE_SOFT_DEVICES=2", NULL};
    const struct server_options options = {
        .device = "soft", .arguments = arguments, .environment = environment};

    return server_start(&options);
}

static void session_begin(struct scene *s, int who)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_module module;

    params.device = who;
    CHECK_OK(gs_attach(&params, &s->session[who]));
    CHECK_OK(gs_module_load(s->session[who], plain_ptx, strlen(plain_ptx), &module));
    s->fill[who] = kernels_get(module, "fill");
    s->hold[who] = kernels_get(module, "hold");
}

static void session_end(struct scene *s, int who)
{
    CHECK_OK(gs_detach(s->session[who]));
    s->session[who] = NULL;
}

static struct scene scene_set(const char *fence)
{
    struct scene s = {.server = server_of(fence)};

    for (int i = 0; i < SESSIONS; i++)
        session_begin(&s, i);
    return s;
}

static void block_make(struct scene *s, size_t size)
{
    CHECK_OK(gs_host_alloc(s->session[MAKER], size, (void **)&s->words));
    CHECK_OK(gs_host_device_ptr(s->session[MAKER], s->words, &s->at[MAKER]));
}

static void block_join(struct scene *s)
{
    CHECK_OK(gs_host_join(s->session[OTHER], s->session[MAKER], s->words));
    CHECK_OK(gs_host_device_ptr(s->session[OTHER], s->words, &s->at[OTHER]));
}

static void block_free(struct scene *s, int who)
{
    CHECK_OK(gs_host_free(s->session[who], s->words));
}

static void scene_end(struct scene *s)
{
    for (int i = 0; i < SESSIONS; i++) {
        if (s->session[i])
            session_end(s, i);
    }
    server_stop(s->server);
}

/* Its session's kernels and copies reach the block. */
static void check_reached(const struct scene *s, int who, uint32_t value)
{
    uint32_t copied[N];

    CHECK_OK(kernels_launch(NULL, s->fill[who], N / 128, 128,
                            (void *[]){(void *)&s->at[who], &value, &(uint32_t){N}}));
    CHECK_OK(gs_memcpy_dtoh(s->session[who], copied, s->at[who], sizeof(copied)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(copied[i], value + i);
}

static void check_shared(const struct scene *s, uint32_t value)
{
    for (int who = 0; who < SESSIONS; who++) {
        check_reached(s, who, value + (uint32_t)who);
        for (uint32_t i = 0; i < N; i++)
            CHECK_EQUAL(s->words[i], value + (uint32_t)who + i);
    }
}

/* ---- Joining ---- */

static void both_reach_it(const char *fence, size_t size)
{
    struct scene s = scene_set(fence);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_devptr memory;
    char *got = (char *)s.words;

    block_make(&s, size);
    block_join(&s);
    CHECK_OK(gs_session_info(s.session[OTHER], &desc));
    if (desc.fenced)
        CHECK(s.at[OTHER] - desc.window_base < desc.window_size);
    else
        CHECK_EQUAL(s.at[OTHER], s.at[MAKER]);
    check_shared(&s, 100);
    /* As pinned memory of copies too, by the host's address. */
    CHECK_OK(gs_malloc(s.session[OTHER], size, &memory));
    CHECK_OK(gs_memset(s.session[OTHER], memory, 0x33, size));
    CHECK_OK(gs_memcpy_dtoh(s.session[OTHER], s.words, memory, size));
    got = (char *)s.words;
    CHECK_EQUAL(got[0], 0x33);
    CHECK_EQUAL(got[size - 1], 0x33);
    CHECK_STATUS(gs_memset(s.session[OTHER], s.at[OTHER] + size - 1, 1, 2), GS_ERR_INVALID_POINTER);
    scene_end(&s);
}

static void unfenced_sessions_of_two_devices_reach_it_at_one_address(void)
{
    both_reach_it("never", N * sizeof(uint32_t));
    both_reach_it("never", 3 * MIB);
}

static void fenced_sessions_of_two_devices_reach_it(void)
{
    both_reach_it("always", N * sizeof(uint32_t));
    both_reach_it("always", 3 * MIB);
}

/* The kernels wait for one word, each tells so in a word of its own. */
static void running_kernels_of_two_devices_wait_for_one_word(void)
{
    struct scene s = scene_set("never");
    _Atomic uint32_t *words;

    block_make(&s, 4096);
    block_join(&s);
    words = (_Atomic uint32_t *)s.words;
    for (int who = 0; who < SESSIONS; who++) {
        CHECK_OK(kernels_launch(NULL, s.hold[who], 1, 1, (void *[]){&s.at[who]}));
        CHECK_WITHIN(20000, atomic_load(&words[1]) == 1);
        atomic_store(&words[1], 0);
    }
    CHECK_STATUS(gs_stream_query(s.session[MAKER], NULL), GS_NOT_READY);
    CHECK_STATUS(gs_stream_query(s.session[OTHER], NULL), GS_NOT_READY);
    atomic_store(&words[0], 1);
    for (int who = 0; who < SESSIONS; who++)
        CHECK_OK(gs_sync(s.session[who]));
    scene_end(&s);
}

static void what_is_no_block_of_the_other_session_is_refused(void)
{
    struct scene s = scene_set("never");
    gs_devptr at;

    block_make(&s, MIB);
    CHECK_STATUS(gs_host_join(s.session[OTHER], s.session[MAKER], s.words + 1),
                 GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_host_join(s.session[MAKER], s.session[OTHER], s.words), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_host_join(s.session[MAKER], s.session[MAKER], s.words), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_host_device_ptr(s.session[OTHER], s.words, &at), GS_ERR_INVALID_POINTER);
    block_join(&s);
    CHECK_STATUS(gs_host_join(s.session[OTHER], s.session[MAKER], s.words), GS_ERR_INVALID_VALUE);
    block_free(&s, MAKER);
    CHECK_STATUS(gs_host_join(s.session[MAKER], s.session[OTHER], s.words), GS_ERR_INVALID_POINTER);
    scene_end(&s);
}

struct joiner {
    pthread_t thread;
    const struct scene *scene;
    pthread_barrier_t *begin;
    gs_status status;
};

static void *joiner_run(void *argument)
{
    struct joiner *joiner = argument;
    const struct scene *s = joiner->scene;

    pthread_barrier_wait(joiner->begin);
    joiner->status = gs_host_join(s->session[OTHER], s->session[MAKER], s->words);
    return NULL;
}

static void of_two_threads_one_joins_it(void)
{
    struct scene s = scene_set("never");
    pthread_barrier_t begin;

    CHECK_EQUAL(pthread_barrier_init(&begin, NULL, 2), 0);
    block_make(&s, N * sizeof(uint32_t));
    for (unsigned round = 0; round < 50; round++) {
        struct joiner joiners[2];

        for (unsigned i = 0; i < 2; i++) {
            joiners[i] = (struct joiner){.scene = &s, .begin = &begin};
            CHECK_EQUAL(pthread_create(&joiners[i].thread, NULL, joiner_run, &joiners[i]), 0);
        }
        for (unsigned i = 0; i < 2; i++)
            CHECK_EQUAL(pthread_join(joiners[i].thread, NULL), 0);
        CHECK_EQUAL(joiners[joiners[0].status == GS_OK].status, GS_ERR_INVALID_VALUE);
        CHECK_EQUAL(joiners[joiners[0].status != GS_OK].status, GS_OK);
        block_free(&s, OTHER);
    }
    pthread_barrier_destroy(&begin);
    scene_end(&s);
}

/* One session more than another has windows for. */
#define MAKERS 8u

static void makers_begin(gs_session *makers, int device)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    params.device = device;
    for (unsigned i = 0; i < MAKERS; i++)
        CHECK_OK(gs_attach(&params, &makers[i]));
}

static void makers_end(const gs_session *makers)
{
    for (unsigned i = 0; i < MAKERS; i++)
        CHECK_OK(gs_detach(makers[i]));
}

/* What a client without the library may name: of the server's making, and of the
 * user. */
static void segments_that_are_no_host_blocks_are_refused(void)
{
    struct server *server = server_of("never");
    struct raw_request request = {.op = REQ_HOST_ALLOC, .arg = {MIB, 2}};
    struct raw_client raw;
    uint64_t block;
    int alien;

    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    CHECK_EQUAL(raw_ask(&raw, &request), GS_OK);
    block = request.ret[1];
    const uint64_t bad[][2] = {
        {(uint64_t)-1, 0},           {UINT32_MAX, 0},     {(uint64_t)raw.grant.segment_id, 0},
        {block, request.ret[2] + 1}, {block, UINT64_MAX}, {0x7fffffff, 0}};
    for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
        request = (struct raw_request){.op = REQ_HOST_JOIN, .arg = {bad[i][0], bad[i][1], 1}};
        CHECK_EQUAL(raw_ask(&raw, &request), GS_ERR_INVALID_VALUE);
    }
    if (geteuid() == 0) { /* a segment of another user */
        struct shmid_ds about;

        alien = shmget(IPC_PRIVATE, MIB, 0600);
        CHECK(alien >= 0 && shmctl(alien, IPC_STAT, &about) == 0);
        about.shm_perm.uid = 65534;
        CHECK_EQUAL(shmctl(alien, IPC_SET, &about), 0);
        request = (struct raw_request){.op = REQ_HOST_JOIN, .arg = {(uint64_t)alien}};
        CHECK_EQUAL(raw_ask(&raw, &request), GS_ERR_INVALID_VALUE);
        CHECK_EQUAL(shmctl(alien, IPC_RMID, NULL), 0);
    }
    /* An address of nobody's, or of a session that is none, is not believed: the block lies in the
     * session's own window. */
    request = (struct raw_request){.op = REQ_HOST_JOIN, .arg = {block, UINT64_C(1) << 45, 77}};
    CHECK_EQUAL(raw_ask(&raw, &request), GS_OK);
    CHECK(request.ret[2] - raw.info.window_base < raw.info.window_size);
    CHECK(raw_open(&raw));
    raw_detach(&raw);
    server_stop(server);
}

/* A session has 7 windows of others: one that is named, with an address that is not in it, takes
 * none. */
static void a_window_that_is_not_used_is_given_up(void)
{
    struct server *server = server_of("never");
    struct raw_request request = {.op = REQ_HOST_ALLOC, .arg = {MIB, 2}};
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session makers[MAKERS];
    struct raw_client raw;
    uint64_t block;

    CHECK_EQUAL(raw_attach(&raw, server->instance), GS_OK);
    CHECK_EQUAL(raw_ask(&raw, &request), GS_OK);
    block = request.ret[1];
    makers_begin(makers, !raw.info.device);
    for (unsigned i = 0; i < MAKERS; i++) {
        const bool last = i == MAKERS - 1;

        CHECK_OK(gs_session_info(makers[i], &desc));
        request = (struct raw_request){
            .op = REQ_HOST_JOIN,
            .arg = {block, last ? desc.window_base : UINT64_C(1) << 45, desc.session_id}};
        CHECK_EQUAL(raw_ask(&raw, &request), GS_OK);
        CHECK_EQUAL(request.ret[2] == desc.window_base, last);
    }
    raw_detach(&raw);
    makers_end(makers);
    server_stop(server);
}

static void a_joined_block_counts_against_both(void)
{
    static const char *const limit[] = {"bin/gsctl",       "set", "--default",
                                        "--user-host-mem", "8M",  NULL};
    struct scene s = scene_set("never");
    char output[1024];
    void *more;

    CHECK_EQUAL(program_run(limit, output, sizeof(output)), 0);
    block_make(&s, 6 * MIB);
    CHECK_OK(gs_host_alloc(s.session[OTHER], 4 * MIB, &more));
    CHECK_STATUS(gs_host_join(s.session[OTHER], s.session[MAKER], s.words), GS_ERR_LIMIT);
    CHECK_OK(gs_host_free(s.session[OTHER], more));
    block_join(&s); /* what rests makes room */
    CHECK_STATUS(gs_host_alloc(s.session[OTHER], 4 * MIB, &more), GS_ERR_LIMIT);
    block_free(&s, OTHER);
    CHECK_OK(gs_host_alloc(s.session[OTHER], 6 * MIB, &more));
    scene_end(&s);
}

/* Each driver call of it fails once. Where no address for kernels can be had, the block may be
 * joined all the same, for copies or at another address. */
static void joining_may_fail(void)
{
    static const char *const calls[] = {"cuMemAddressReserve", "cuMemHostRegister_v2",
                                        "cuMemHostGetDevicePointer_v2"};
    static const char *const arguments[] = {"--devices", "all", "--fence", "never", NULL};
    struct driver_plan *plan;
    struct scene s = {0};

    CHECK_EQUAL(setenv("GSHARE_SOFT_DEVICES", "2", 1), 0);
    s.server = driver_server_start(arguments, 0, &plan);
    for (int i = 0; i < SESSIONS; i++)
        session_begin(&s, i);
    for (uint32_t i = 0; i < ARRAY_SIZE(calls); i++) {
        gs_status status;

        block_make(&s, N * sizeof(uint32_t));
        snprintf(plan->only, sizeof(plan->only), "%s", calls[i]);
        atomic_store(&plan->failures, 0);
        atomic_store(&plan->calls, 0);
        atomic_store(&plan->armed, 1);
        status = gs_host_join(s.session[OTHER], s.session[MAKER], s.words);
        atomic_store(&plan->armed, 0);
        CHECK_EQUAL(atomic_load(&plan->failures), 1);
        if (status == GS_OK)
            block_free(&s, OTHER);
        block_make(&s, N * sizeof(uint32_t));
        block_join(&s);
        CHECK_EQUAL(s.at[OTHER], s.at[MAKER]);
        check_shared(&s, i);
    }
    scene_end(&s);
}

/* ---- Ends ---- */

static void each_session_may_free_it_first(void)
{
    for (int first = 0; first < SESSIONS; first++) {
        struct scene s = scene_set("never");

        block_make(&s, MIB);
        block_join(&s);
        check_shared(&s, 1);
        block_free(&s, first);
        check_reached(&s, !first, 2);
        block_free(&s, !first);
        scene_end(&s);
    }
}

static void each_session_may_end_first(void)
{
    for (int first = 0; first < SESSIONS; first++) {
        struct scene s = scene_set("never");

        block_make(&s, MIB);
        block_join(&s);
        session_end(&s, first);
        check_reached(&s, !first, 2);
        scene_end(&s);
    }
}

/* The kernel of the one runs on while the other frees the block, and ends. */
static void a_kernel_has_it_until_it_ends(void)
{
    struct scene s = scene_set("never");
    const uint32_t one = 1;
    uint32_t seen = 0;
    gs_stream aside;

    block_make(&s, 4096);
    block_join(&s);
    CHECK_OK(gs_stream_create(s.session[OTHER], NULL, &aside));
    CHECK_OK(kernels_launch(NULL, s.hold[OTHER], 1, 1, (void *[]){&s.at[OTHER]}));
    block_free(&s, MAKER);
    session_end(&s, MAKER);
    while (!seen) {
        CHECK_OK(gs_memcpy_dtoh_async(s.session[OTHER], &seen, s.at[OTHER] + 4, 4, aside));
        CHECK_OK(gs_stream_sync(s.session[OTHER], aside));
    }
    CHECK_OK(gs_memcpy_htod_async(s.session[OTHER], s.at[OTHER], &one, sizeof(one), aside));
    CHECK_OK(gs_sync(s.session[OTHER]));
    scene_end(&s);
}

/* What rests in both sessions is the same segment, which is given and joined again; or another one
 * of a larger size takes its place. A block of the joining session's own is never one of these. */
static void blocks_are_freed_and_joined_again(const char *fence)
{
    struct scene s = scene_set(fence);
    uint32_t *own;

    for (uint32_t round = 0; round < 12; round++) {
        block_make(&s, round % 3 == 2 ? 8 * MIB : MIB);
        block_join(&s);
        check_shared(&s, 10 * round);
        block_free(&s, round % 2 ? MAKER : OTHER);
        CHECK_OK(gs_host_alloc(s.session[OTHER], MIB, (void **)&own));
        check_reached(&s, round % 2 ? OTHER : MAKER, 77);
        for (uint32_t i = 0; i < N; i++)
            CHECK_EQUAL(own[i], 0);
        block_free(&s, round % 2 ? OTHER : MAKER);
        CHECK_OK(gs_host_free(s.session[OTHER], own));
        if (round == 5) { /* another session finds the addresses free */
            session_end(&s, OTHER);
            session_begin(&s, OTHER);
        }
        if (strcmp(fence, "never") == 0)
            CHECK_EQUAL(s.at[OTHER], s.at[MAKER]);
    }
    scene_end(&s);
}

static void unfenced_blocks_are_freed_and_joined_again(void)
{
    blocks_are_freed_and_joined_again("never");
}

static void fenced_blocks_are_freed_and_joined_again(void)
{
    blocks_are_freed_and_joined_again("always");
}

/* What was joined and rests gives its window up for another session's block. */
static void resting_blocks_make_room_for_another_window(void)
{
    struct server *server = server_of("never");
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session makers[MAKERS], joiner;
    void *block[MAKERS];
    gs_devptr at;

    params.device = OTHER;
    CHECK_OK(gs_attach(&params, &joiner));
    makers_begin(makers, MAKER);
    for (unsigned i = 0; i < MAKERS; i++) {
        CHECK_OK(gs_host_alloc(makers[i], MIB, &block[i]));
        CHECK_OK(gs_host_join(joiner, makers[i], block[i]));
        CHECK_OK(gs_host_device_ptr(joiner, block[i], &at));
        CHECK_EQUAL(at, (uintptr_t)block[i]);
        CHECK_OK(gs_host_free(joiner, block[i]));
    }
    /* Where all are in use, the block lies elsewhere. */
    for (unsigned i = 0; i < MAKERS; i++) {
        CHECK_OK(gs_host_join(joiner, makers[i], block[i]));
        CHECK_OK(gs_host_device_ptr(joiner, block[i], &at));
        CHECK_EQUAL(at == (uintptr_t)block[i], i < MAKERS - 1);
    }
    CHECK_OK(gs_detach(joiner));
    makers_end(makers);
    server_stop(server);
}

/* Launches on the other device, and counts after how many launches more had been released. */
struct neighbour {
    pthread_t thread;
    gs_session session;
    gs_kernel fill;
    gs_devptr words;
    struct driver_plan *plan;
    _Atomic bool ends;
    uint32_t steps;
};

static void *neighbour_run(void *argument)
{
    struct neighbour *n = argument;
    uint32_t released = 0, value = 1, count = 1;

    while (!atomic_load(&n->ends)) {
        CHECK_OK(kernels_launch(NULL, n->fill, 1, 1, (void *[]){&n->words, &value, &count}));
        CHECK_OK(gs_sync(n->session));
        const uint32_t now = atomic_load(&n->plan->slow_calls);
        n->steps += now != released;
        released = now;
    }
    return NULL;
}

static void neighbour_begin(struct neighbour *n)
{
    gs_module module;

    CHECK_OK(gs_module_load(n->session, plain_ptx, strlen(plain_ptx), &module));
    n->fill = kernels_get(module, "fill");
    CHECK_OK(gs_malloc(n->session, sizeof(uint32_t), &n->words));
    CHECK_EQUAL(pthread_create(&n->thread, NULL, neighbour_run, n), 0);
}

static void neighbour_end(struct neighbour *n)
{
    atomic_store(&n->ends, true);
    CHECK_EQUAL(pthread_join(n->thread, NULL), 0);
    CHECK_OK(gs_detach(n->session));
}

/* The window in which the block is to lie is that of a session that has ended, and goes only after
 * all blocks in it. */
static void others_launch_while_a_join_waits_for_many_releases(void)
{
    enum { BLOCKS = 40, RELEASE_MS = 5 };
    static const char *const arguments[] = {"--devices", "all", "--fence", "never", NULL};
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    struct neighbour n = {.session = NULL};
    struct scene s = {0};
    void *blocks[BLOCKS];
    gs_session before;
    gs_devptr at;

    CHECK_EQUAL(setenv("GSHARE_SOFT_DEVICES", "2", 1), 0);
    s.server = driver_server_start(arguments, 0, &n.plan);
    for (int i = 0; i < SESSIONS; i++)
        session_begin(&s, i);
    params.device = OTHER;
    CHECK_OK(gs_attach(&params, &before));
    for (unsigned i = 0; i < BLOCKS; i++) {
        CHECK_OK(gs_host_alloc(s.session[MAKER], MIB, &blocks[i]));
        CHECK_OK(gs_host_join(before, s.session[MAKER], blocks[i]));
    }
    CHECK_OK(gs_attach(&params, &n.session));
    neighbour_begin(&n);
    driver_slow(n.plan, "cuMemHostUnregister", RELEASE_MS);
    CHECK_OK(gs_detach(before));
    CHECK_OK(gs_host_join(s.session[OTHER], s.session[MAKER], blocks[0]));
    CHECK_OK(gs_host_device_ptr(s.session[OTHER], blocks[0], &at));
    CHECK_EQUAL(at, (uintptr_t)blocks[0]);
    neighbour_end(&n);
    CHECK(n.steps > BLOCKS / 2);
    scene_end(&s);
}

struct board {
    struct gate joined;
    gs_devptr at;
};

static void killed_run(void *argument)
{
    struct board *board = argument;
    struct scene s = {0};

    for (int i = 0; i < SESSIONS; i++)
        session_begin(&s, i);
    block_make(&s, 4 * MIB);
    block_join(&s);
    board->at = s.at[OTHER];
    gate_pass(&board->joined);
    for (;;)
        pause();
}

/* Whether the device's worker has a System V segment attached at the address. */
static bool attached_at(const struct server *server, unsigned device, gs_devptr at)
{
    char path[64], line[512], begin[32];
    bool found = false;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)server_worker_pid_of(server, device));
    snprintf(begin, sizeof(begin), "%llx-", (unsigned long long)at);
    maps = fopen(path, "re");
    CHECK(maps != NULL);
    while (fgets(line, sizeof(line), maps))
        found = found || (strstr(line, "SYSV") && strncmp(line, begin, strlen(begin)) == 0);
    fclose(maps);
    return found;
}

static void a_process_that_is_killed_leaves_nothing(void)
{
    struct server *server;
    struct board *board;
    pid_t tenant;

    if (geteuid() != 0)
        test_skip("needs root, to see what a worker has mapped");
    server = server_of("never");
    board = shared_alloc(sizeof(*board));
    tenant = tenant_start(killed_run, board);
    gate_wait(&board->joined, 1);
    CHECK(attached_at(server, MAKER, board->at) && attached_at(server, OTHER, board->at));
    tenant_kill(tenant, SIGKILL);
    server_wait_tenants(server, 0, 30000);
    for (unsigned i = 0; i < SESSIONS; i++)
        CHECK_WITHIN(10000, !attached_at(server, i, board->at));
    server_stop(server);
}

/* ---- Processes that are replaced ---- */

static void supervisor_replace(const struct server *server)
{
    const pid_t supervisor = server_supervisor(server);

    CHECK_EQUAL(kill(supervisor, SIGKILL), 0);
    CHECK_WITHIN(20000, server_supervisor(server) != 0 && server_supervisor(server) != supervisor);
}

static void sharers_go_on(const char *fence)
{
    struct scene s = scene_set(fence);
    uint32_t *second, *own;

    block_make(&s, 3 * MIB);
    block_join(&s);
    for (uint32_t round = 0; round < 10; round++) {
        if (round % 5 == 4)
            supervisor_replace(s.server);
        else if (round % 5 >= 2)
            server_worker_restart(s.server, round % 2);
        else
            server_worker_replace(s.server, round % 2);
        check_shared(&s, 1000 * round);
        CHECK_OK(gs_host_alloc(s.session[MAKER], MIB, (void **)&second));
        CHECK_OK(gs_host_join(s.session[OTHER], s.session[MAKER], second));
        CHECK_OK(gs_host_free(s.session[MAKER], second));
        CHECK_OK(gs_host_free(s.session[OTHER], second));
    }
    /* That it is joined is known to the next worker too. */
    block_free(&s, OTHER);
    CHECK_OK(gs_host_alloc(s.session[OTHER], 3 * MIB, (void **)&own));
    check_reached(&s, MAKER, 5);
    CHECK_EQUAL(own[1], 0);
    scene_end(&s);
}

static void unfenced_sharers_go_on_after_workers_and_supervisors_are_replaced(void)
{
    sharers_go_on("never");
}

static void fenced_sharers_go_on_after_workers_and_supervisors_are_replaced(void)
{
    sharers_go_on("always");
}

/* Whichever process is killed meanwhile, the block is joined. */
static void joining_outlives_what_is_killed_under_it(void)
{
    struct scene s = scene_set("never");

    block_make(&s, MIB);
    for (unsigned round = 0; round < 9; round++) {
        const pid_t pid =
            round % 3 < 2 ? server_worker_pid_of(s.server, round % 3) : server_supervisor(s.server);

        CHECK_EQUAL(kill(pid, SIGKILL), 0);
        block_join(&s);
        CHECK_EQUAL(s.at[OTHER], s.at[MAKER]);
        check_shared(&s, round);
        block_free(&s, OTHER);
        if (round % 3 < 2)
            CHECK_WITHIN(20000, server_worker_other(s.server, round % 3, pid));
        else
            CHECK_WITHIN(20000,
                         server_supervisor(s.server) != 0 && server_supervisor(s.server) != pid);
    }
    scene_end(&s);
}

static const struct test tests[] = {
    TEST(unfenced_sessions_of_two_devices_reach_it_at_one_address),
    TEST(fenced_sessions_of_two_devices_reach_it),
    TEST(running_kernels_of_two_devices_wait_for_one_word),
    TEST(what_is_no_block_of_the_other_session_is_refused),
    TEST(of_two_threads_one_joins_it),
    TEST(segments_that_are_no_host_blocks_are_refused),
    TEST(a_window_that_is_not_used_is_given_up),
    TEST(a_joined_block_counts_against_both),
    TEST(joining_may_fail),
    TEST(each_session_may_free_it_first),
    TEST(each_session_may_end_first),
    TEST(a_kernel_has_it_until_it_ends),
    TEST(unfenced_blocks_are_freed_and_joined_again),
    TEST(fenced_blocks_are_freed_and_joined_again),
    TEST(resting_blocks_make_room_for_another_window),
    TEST(others_launch_while_a_join_waits_for_many_releases),
    TEST(a_process_that_is_killed_leaves_nothing),
    TEST(unfenced_sharers_go_on_after_workers_and_supervisors_are_replaced),
    TEST(fenced_sharers_go_on_after_workers_and_supervisors_are_replaced),
    TEST(joining_outlives_what_is_killed_under_it),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
