/*
 * test_peer_memory.c - memory of one device that sessions of another device import: who may, what
 * both see, whom it counts against, and what becomes of it when its owner takes it back, frees it
 * or ends, and when a worker or the supervisor is killed. On the software device, which can be
 * several.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness/harness.h"

#define MIB ((size_t)1 << 20)
#define N   4096u

static const char plain_ptx[] = PTX_HEAD PTX_FILL PTX_HOLD;

/* The owner on device 0, an importer on device 1, and one beside the owner. */
enum { OWNER, PEER, NEIGHBOUR, SESSIONS };

struct shared {
    struct server *server;
    gs_session session[SESSIONS];
    gs_kernel fill[SESSIONS];
    gs_devptr at[SESSIONS];
    gs_mem_handle handle;
    size_t size;
};

static struct server *server_of(const char *devices, const char *fence)
{
    const char *const arguments[] = {"--devices", "all", "--fence", fence, NULL};
    const char *const environment[] = {"GSHARE_SOFT_DEVICES=2", devices, NULL};
    const struct server_options options = {
        .device = "soft", .arguments = arguments, .environment = environment};

    return server_start(&options);
}

/* With a limit of its own, so that gs_mem_info tells what the session is charged. */
static gs_session attach(int device)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.device = device;
    params.mem_limit = 512 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

static gs_kernel kernel_of(gs_session session, const char *name)
{
    gs_module module;

    CHECK_OK(gs_module_load(session, plain_ptx, strlen(plain_ptx), &module));
    return kernels_get(module, name);
}

static struct shared shared_start(const char *fence, size_t size)
{
    struct shared s = {.server = server_of(NULL, fence), .size = size};

    for (int i = 0; i < SESSIONS; i++) {
        s.session[i] = attach(i == PEER);
        s.fill[i] = kernel_of(s.session[i], "fill");
    }
    CHECK_OK(gs_malloc(s.session[OWNER], size, &s.at[OWNER]));
    CHECK_OK(gs_mem_export(s.session[OWNER], s.at[OWNER], GS_EXPORT_TO_USER, &s.handle));
    return s;
}

static void shared_import(struct shared *s, int who)
{
    size_t size = 0;

    CHECK_OK(gs_mem_import(s->session[who], &s->handle, &s->at[who], &size));
    CHECK_EQUAL(size, s->size);
}

static void shared_end(struct shared *s)
{
    for (int i = 0; i < SESSIONS; i++) {
        if (s->session[i])
            CHECK_OK(gs_detach(s->session[i]));
    }
    CHECK_WITHIN(10000, server_memory_used(s->server) == 0);
    server_stop(s->server);
}

static void fill(const struct shared *s, int who, uint32_t value)
{
    CHECK_OK(kernels_launch(NULL, s->fill[who], N / 128, 128,
                            (void *[]){(void *)&s->at[who], &value, &(uint32_t){N}}));
    CHECK_OK(gs_sync(s->session[who]));
}

static void check_filled(const struct shared *s, int who, uint32_t value)
{
    uint32_t words[N];

    memset(words, 0xee, sizeof(words));
    CHECK_OK(gs_memcpy_dtoh(s->session[who], words, s->at[who], sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], value + i);
}

static uint64_t free_of(gs_session session)
{
    size_t left, total;

    CHECK_OK(gs_mem_info(session, &left, &total));
    return left;
}

static bool revoked(gs_session session, gs_devptr memory)
{
    uint32_t word;
    gs_status status = gs_memcpy_dtoh(session, &word, memory, sizeof(word));

    if (status == GS_OK)
        return false;
    CHECK_STATUS(status, GS_ERR_INVALID_POINTER);
    CHECK_TEXT(gs_last_error_message(), "revoked");
    return true;
}

/* The import is gone, nobody is charged for it, and kernels that still use the address find other
 * memory there. */
static void check_taken_back(struct shared *s, uint64_t left)
{
    CHECK_WITHIN(10000, revoked(s->session[PEER], s->at[PEER]));
    CHECK_EQUAL(free_of(s->session[PEER]), left);
    fill(s, PEER, 99);
    CHECK_OK(gs_free(s->session[PEER], s->at[PEER]));
}

static bool in_window(const gs_session_desc *desc, gs_devptr at, size_t size)
{
    return at >= desc->window_base && at + size <= desc->window_base + desc->window_size;
}

/* ---- Sharing ---- */

static void devices_share(const char *fence)
{
    struct shared s = shared_start(fence, 5 * MIB + 12);
    const uint64_t used = server_memory_used(s.server), left = free_of(s.session[PEER]);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_devptr second;

    fill(&s, OWNER, 1000);
    shared_import(&s, PEER);
    shared_import(&s, NEIGHBOUR);
    /* Fenced kernels do not leave their session's window. */
    CHECK_OK(gs_session_info(s.session[PEER], &desc));
    if (desc.fenced)
        CHECK(in_window(&desc, s.at[PEER], s.size));
    else
        CHECK_EQUAL(s.at[PEER], s.at[OWNER]);
    check_filled(&s, PEER, 1000);
    for (int i = 0; i < SESSIONS; i++) {
        fill(&s, i, 2000 + (uint32_t)i);
        for (int j = 0; j < SESSIONS; j++)
            check_filled(&s, j, 2000 + (uint32_t)i);
    }
    CHECK_OK(gs_memset(s.session[PEER], s.at[PEER] + s.size - 1, 0x5A, 1));
    CHECK_STATUS(gs_memset(s.session[PEER], s.at[PEER] + s.size, 1, 1), GS_ERR_INVALID_POINTER);
    /* The memory is in use once, on its owner's device, and counts against its owner alone. */
    CHECK_EQUAL(server_memory_used(s.server), used);
    CHECK_OK(gs_mem_import(s.session[PEER], &s.handle, &second, NULL));
    CHECK(second != s.at[PEER]);
    CHECK_EQUAL(free_of(s.session[PEER]), left);
    CHECK_OK(gs_free(s.session[PEER], second));
    CHECK_OK(gs_free(s.session[PEER], s.at[PEER]));
    CHECK_STATUS(gs_memset(s.session[PEER], s.at[PEER], 1, 1), GS_ERR_INVALID_POINTER);
    check_filled(&s, OWNER, 2000 + NEIGHBOUR);
    shared_import(&s, PEER);
    check_filled(&s, PEER, 2000 + NEIGHBOUR);
    shared_end(&s);
}

static void two_devices_work_on_the_same_memory(void)
{
    devices_share("never");
}

static void fenced_sessions_of_two_devices_work_on_the_same_memory(void)
{
    devices_share("always");
}

static void who_may_not_import_is_refused(void)
{
    struct shared s = shared_start("never", 2 * MIB);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_mem_handle named, other;
    gs_devptr at;

    CHECK_OK(gs_session_info(s.session[PEER], &desc));
    CHECK_OK(gs_mem_export(s.session[OWNER], s.at[OWNER], desc.session_id + 1000, &named));
    CHECK_STATUS(gs_mem_import(s.session[PEER], &named, &at, NULL), GS_ERR_PERMISSION);
    CHECK_OK(gs_mem_export(s.session[OWNER], s.at[OWNER], desc.session_id, &named));
    CHECK_OK(gs_mem_import(s.session[PEER], &named, &at, NULL));
    CHECK_STATUS(gs_mem_export(s.session[PEER], at, GS_EXPORT_TO_USER, &other), GS_ERR_PERMISSION);
    CHECK_STATUS(gs_mem_revoke(s.session[PEER], at), GS_ERR_PERMISSION);
    CHECK_OK(gs_free(s.session[PEER], at));
    /* Each bit of a handle counts, whichever device it then names. */
    for (unsigned bit = 0; bit < 8 * sizeof(other); bit += 3) {
        other = s.handle;
        other.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        for (int who = 0; who < SESSIONS; who++)
            CHECK_STATUS(gs_mem_import(s.session[who], &other, &at, NULL), GS_ERR_NOT_FOUND);
    }
    shared_end(&s);
}

static void devices_that_cannot_reach_each_other_are_told_so(void)
{
    struct server *server = server_of("GSHARE_SOFT_PEERS=0", "never");
    gs_session owner = attach(0), peer = attach(1);
    const uint64_t left = free_of(peer);
    gs_mem_handle handle;
    gs_devptr at;

    CHECK_OK(gs_malloc(owner, 2 * MIB, &at));
    CHECK_OK(gs_mem_export(owner, at, GS_EXPORT_TO_USER, &handle));
    CHECK_STATUS(gs_mem_import(peer, &handle, &at, NULL), GS_ERR_NOT_SUPPORTED);
    CHECK_TEXT(gs_last_error_message(), "device 1 of this machine cannot reach memory of device 0");
    CHECK_EQUAL(free_of(peer), left);
    CHECK_OK(gs_detach(owner));
    CHECK_OK(gs_detach(peer));
    server_stop(server);
}

/* ---- Taking back ---- */

static void revoke_it(struct shared *s)
{
    CHECK_OK(gs_mem_revoke(s->session[OWNER], s->at[OWNER]));
    check_filled(s, OWNER, 1000);
}

static void free_it(struct shared *s)
{
    CHECK_OK(gs_free(s->session[OWNER], s->at[OWNER]));
}

static void detach_owner(struct shared *s)
{
    CHECK_OK(gs_detach(s->session[OWNER]));
    s->session[OWNER] = NULL;
}

static void (*const ways[])(struct shared *s) = {revoke_it, free_it, detach_owner};

static void an_import_ends_when_its_owner_revokes_frees_or_detaches(void)
{
    for (unsigned way = 0; way < ARRAY_SIZE(ways); way++) {
        for (unsigned fenced = 0; fenced < 2; fenced++) {
            struct shared s = shared_start(fenced ? "always" : "never", 2 * MIB);
            const uint64_t left = free_of(s.session[PEER]);
            gs_devptr at;

            shared_import(&s, PEER);
            fill(&s, OWNER, 1000);
            ways[way](&s);
            check_taken_back(&s, left);
            CHECK_STATUS(gs_mem_import(s.session[PEER], &s.handle, &at, NULL), GS_ERR_NOT_FOUND);
            shared_end(&s);
        }
    }
}

/* Its worker, or the supervisor, learns of it afterwards. */
static void what_is_taken_back_while_a_process_is_replaced_is_gone(void)
{
    for (unsigned way = 0; way < ARRAY_SIZE(ways); way++) {
        for (unsigned victim = 0; victim < 3; victim++) {
            struct shared s = shared_start("never", 2 * MIB);
            const uint64_t left = free_of(s.session[PEER]);
            const pid_t pid =
                victim < 2 ? server_worker_pid_of(s.server, victim) : server_supervisor(s.server);

            shared_import(&s, PEER);
            fill(&s, OWNER, 1000);
            CHECK_EQUAL(kill(pid, SIGKILL), 0);
            ways[way](&s);
            check_taken_back(&s, left);
            shared_end(&s);
        }
    }
}

struct board {
    struct gate attached, exported, importing;
    gs_mem_handle handle;
    gs_devptr at;
};

static void owner_run(void *argument)
{
    struct board *board = argument;
    gs_session session = attach(0);
    gs_devptr at;

    CHECK_OK(gs_malloc(session, 3 * MIB, &at));
    CHECK_OK(gs_mem_export(session, at, GS_EXPORT_TO_USER, &board->handle));
    board->at = at;
    gate_pass(&board->exported);
    for (;;)
        pause();
}

static void an_import_ends_with_an_owner_that_is_killed(void)
{
    struct server *server = server_of(NULL, "never");
    struct board *board = shared_alloc(sizeof(*board));
    const pid_t owner = tenant_start(owner_run, board);
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session peer = attach(1);
    gs_devptr at;

    gate_wait(&board->exported, 1);
    CHECK_OK(gs_mem_import(peer, &board->handle, &at, NULL));
    /* Where another process has its memory, this one may have something of its own. */
    CHECK_OK(gs_session_info(peer, &desc));
    CHECK(at != board->at && in_window(&desc, at, 3 * MIB));
    CHECK(!revoked(peer, at));
    tenant_kill(owner, SIGKILL);
    CHECK_WITHIN(10000, revoked(peer, at));
    CHECK_OK(gs_detach(peer));
    CHECK_WITHIN(10000, server_memory_used(server) == 0);
    server_stop(server);
}

static void importer_run(void *argument)
{
    struct board *board = argument;
    gs_session session = attach(1);
    gs_devptr at;

    gate_pass(&board->attached);
    gate_wait(&board->exported, 1);
    gate_pass(&board->importing);
    gs_mem_import(session, &board->handle, &at, NULL);
    test_fail(__FILE__, __LINE__, "the import did not wait for the owner's worker");
}

/* Whether the process's first thread sleeps. */
static bool asleep(pid_t pid)
{
    char path[64], line[256] = "";
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    CHECK(file != NULL);
    CHECK(fgets(line, sizeof(line), file) != NULL);
    fclose(file);
    return strstr(line, ") S ") != NULL;
}

/* The owner's worker, which is asked, does not answer meanwhile. */
static void an_importer_can_end_while_it_waits(void)
{
    struct server *server = server_of(NULL, "never");
    struct board *board = shared_alloc(sizeof(*board));
    const pid_t importer = tenant_start(importer_run, board);
    const pid_t worker = server_worker_pid_of(server, 0);
    gs_session owner = attach(0);
    gs_devptr memory;

    CHECK_OK(gs_malloc(owner, 2 * MIB, &memory));
    CHECK_OK(gs_mem_export(owner, memory, GS_EXPORT_TO_USER, &board->handle));
    gate_wait(&board->attached, 1);
    CHECK_EQUAL(kill(worker, SIGSTOP), 0);
    gate_pass(&board->exported);
    gate_wait(&board->importing, 1);
    CHECK_WITHIN(10000, asleep(importer)); /* the request was posted a while ago */
    tenant_kill(importer, SIGKILL);
    server_wait_tenants(server, 1, 10000);
    CHECK_EQUAL(kill(worker, SIGCONT), 0);
    CHECK_OK(gs_detach(owner));
    server_stop(server);
}

/* The owner's worker does not answer; more importers wait than a worker has threads for slow jobs.
 */
static void importers_that_wait_keep_nobody_from_allocating(void)
{
    struct server *server = server_of(NULL, "never");
    struct board *board = shared_alloc(sizeof(*board));
    const pid_t worker = server_worker_pid_of(server, 0);
    gs_session owner = attach(0), other = attach(1);
    gs_devptr memory;
    pid_t importer[6];

    for (unsigned i = 0; i < ARRAY_SIZE(importer); i++)
        importer[i] = tenant_start(importer_run, board);
    CHECK_OK(gs_malloc(owner, 2 * MIB, &memory));
    CHECK_OK(gs_mem_export(owner, memory, GS_EXPORT_TO_USER, &board->handle));
    gate_wait(&board->attached, ARRAY_SIZE(importer));
    CHECK_EQUAL(kill(worker, SIGSTOP), 0);
    gate_pass(&board->exported);
    gate_wait(&board->importing, ARRAY_SIZE(importer));
    for (unsigned i = 0; i < ARRAY_SIZE(importer); i++)
        CHECK_WITHIN(10000, asleep(importer[i]));
    CHECK_OK(gs_malloc(other, 128 * MIB, &memory));
    CHECK_EQUAL(server_worker_pid_of(server, 0), worker);
    for (unsigned i = 0; i < ARRAY_SIZE(importer); i++)
        tenant_kill(importer[i], SIGKILL);
    server_wait_tenants(server, 2, 10000);
    CHECK_EQUAL(kill(worker, SIGCONT), 0);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(owner));
    server_stop(server);
}

/* ---- Killed processes ---- */

static bool supervisor_other(const struct server *server, pid_t former)
{
    const pid_t supervisor = server_supervisor(server);

    return supervisor != 0 && supervisor != former;
}

static void supervisor_replace(const struct server *server)
{
    const pid_t supervisor = server_supervisor(server);

    CHECK_EQUAL(kill(supervisor, SIGKILL), 0);
    CHECK_WITHIN(20000, supervisor_other(server, supervisor));
}

static void sharers_go_on(const char *fence)
{
    struct shared s = shared_start(fence, 5 * MIB);
    const uint64_t left = free_of(s.session[PEER]);
    uint64_t used;

    shared_import(&s, PEER);
    fill(&s, OWNER, 1000);
    used = server_memory_used(s.server);
    for (uint32_t round = 0; round < 10; round++) {
        const int writer = round % 2 ? OWNER : PEER;
        gs_devptr at;

        if (round % 5 == 4)
            supervisor_replace(s.server);
        else if (round % 5 >= 2)
            server_worker_restart(s.server, round % 2);
        else
            server_worker_replace(s.server, round % 2);
        check_filled(&s, OWNER, 1000 + round);
        check_filled(&s, PEER, 1000 + round);
        fill(&s, writer, 1001 + round);
        check_filled(&s, PEER, 1001 + round);
        CHECK_EQUAL(free_of(s.session[PEER]), left);
        CHECK_EQUAL(server_memory_used(s.server), used);
        CHECK_OK(gs_mem_import(s.session[PEER], &s.handle, &at, NULL));
        CHECK_OK(gs_free(s.session[PEER], at));
    }
    CHECK_OK(gs_mem_revoke(s.session[OWNER], s.at[OWNER]));
    check_taken_back(&s, left);
    shared_end(&s);
}

static void unfenced_sharers_go_on_after_workers_and_supervisors_are_replaced(void)
{
    sharers_go_on("never");
}

static void fenced_sharers_go_on_after_workers_and_supervisors_are_replaced(void)
{
    sharers_go_on("always");
}

static bool room_for(gs_session session, size_t size)
{
    gs_devptr at;
    gs_status status = gs_malloc(session, size, &at);

    if (status == GS_OK)
        CHECK_OK(gs_free(session, at));
    else
        CHECK_STATUS(status, GS_ERR_QUOTA);
    return status == GS_OK;
}

/* An importer's kernel has the memory for as long as it runs. */
static void what_importers_keep_counts_against_its_owner_on(void)
{
    static const char *const limit[] = {"bin/gsctl", "set", "--default", "--user-mem", "40M", NULL};
    struct shared s = shared_start("never", 16 * MIB);
    const uint32_t zero[2] = {0, 0}, one = 1;
    gs_session peer = s.session[PEER];
    gs_devptr words, more;
    char output[1024];
    gs_stream aside;

    CHECK_EQUAL(program_run(limit, output, sizeof(output)), 0);
    CHECK_OK(gs_malloc(peer, sizeof(zero), &words));
    CHECK_OK(gs_memcpy_htod(peer, words, zero, sizeof(zero)));
    CHECK_OK(gs_stream_create(peer, NULL, &aside));
    shared_import(&s, PEER);
    CHECK_OK(gs_mem_import(peer, &s.handle, &more, NULL)); /* the same memory counts once */
    CHECK_OK(kernels_launch(NULL, kernel_of(peer, "hold"), 1, 1, (void *[]){&words}));
    CHECK_OK(gs_free(s.session[OWNER], s.at[OWNER]));
    CHECK_WITHIN(10000, !room_for(s.session[NEIGHBOUR], 32 * MIB));
    CHECK(room_for(s.session[NEIGHBOUR], 24 * MIB));
    CHECK(room_for(peer, 38 * MIB)); /* it is no memory of that device */
    /* Whoever is replaced, and though no session of the user is left there. */
    server_worker_replace(s.server, 0);
    CHECK_WITHIN(10000, !room_for(s.session[NEIGHBOUR], 32 * MIB));
    supervisor_replace(s.server);
    CHECK(!room_for(s.session[NEIGHBOUR], 32 * MIB));
    CHECK_OK(gs_detach(s.session[OWNER]));
    CHECK_OK(gs_detach(s.session[NEIGHBOUR]));
    server_wait_tenants(s.server, 1, 10000);
    s.session[OWNER] = attach(0);
    s.session[NEIGHBOUR] = NULL;
    CHECK(!room_for(s.session[OWNER], 32 * MIB));
    CHECK_OK(gs_memcpy_htod_async(peer, words, &one, sizeof(one), aside));
    CHECK_OK(gs_sync(peer));
    CHECK_WITHIN(10000, room_for(s.session[OWNER], 40 * MIB));
    shared_end(&s);
}

/* The importer's worker can take no descriptor for a while. */
static void what_could_not_be_handed_over_counts_against_nobody(void)
{
    static const char *const limit[] = {"bin/gsctl", "set", "--default", "--user-mem", "40M", NULL};
    struct shared s = shared_start("never", 16 * MIB);
    const pid_t worker = server_worker_pid_of(s.server, PEER);
    struct rlimit before, none;
    char output[1024];

    CHECK_EQUAL(program_run(limit, output, sizeof(output)), 0);
    CHECK_EQUAL(prlimit(worker, RLIMIT_NOFILE, NULL, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    CHECK_EQUAL(prlimit(worker, RLIMIT_NOFILE, &none, NULL), 0);
    CHECK_STATUS(gs_mem_import(s.session[PEER], &s.handle, &s.at[PEER], NULL), GS_ERR_LIMIT);
    CHECK_EQUAL(prlimit(worker, RLIMIT_NOFILE, &before, NULL), 0);
    CHECK_OK(gs_free(s.session[OWNER], s.at[OWNER]));
    /* A session is opened once the worker has been told what came before. */
    for (int i = 0; i < 2; i++)
        CHECK_OK(gs_detach(attach(OWNER)));
    CHECK(room_for(s.session[NEIGHBOUR], 40 * MIB));
    shared_end(&s);
}

/* Whichever process is killed meanwhile, the import is there or was refused for the session's end.
 */
static void an_import_outlives_what_is_killed_under_it(void)
{
    struct shared s = shared_start("never", 2 * MIB);
    const uint64_t left = free_of(s.session[PEER]);

    fill(&s, OWNER, 1000);
    for (unsigned round = 0; round < 9; round++) {
        const pid_t pid =
            round % 3 < 2 ? server_worker_pid_of(s.server, round % 3) : server_supervisor(s.server);

        CHECK_EQUAL(kill(pid, SIGKILL), 0);
        shared_import(&s, PEER);
        check_filled(&s, PEER, 1000);
        CHECK_OK(gs_free(s.session[PEER], s.at[PEER]));
        CHECK_EQUAL(free_of(s.session[PEER]), left);
        if (round % 3 < 2)
            CHECK_WITHIN(20000, server_worker_other(s.server, round % 3, pid));
        else
            CHECK_WITHIN(20000, supervisor_other(s.server, pid));
    }
    shared_end(&s);
}

/* What a user of root's server and root have to say to each other. */
struct visit {
    uint64_t session_id; /* of the user's session on device 1 */
    gs_mem_handle named, of_user;
    struct gate attached, exported, imported;
};

static void visitor_run(void *argument)
{
    struct visit *visit = argument;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session, own;
    gs_mem_handle handle;
    gs_devptr at;
    uint32_t word;

    CHECK(setresuid(65534, 65534, 65534) == 0);
    session = attach(1);
    CHECK_OK(gs_session_info(session, &desc));
    visit->session_id = desc.session_id;
    gate_pass(&visit->attached);
    gate_wait(&visit->exported, 1);
    CHECK_STATUS(gs_mem_import(session, &visit->of_user, &at, NULL), GS_ERR_PERMISSION);
    CHECK_OK(gs_mem_import(session, &visit->named, &at, NULL));
    CHECK_OK(gs_memcpy_dtoh(session, &word, at, sizeof(word)));
    CHECK_EQUAL(word, 0x5A5A5A5Au);
    gate_pass(&visit->imported);
    CHECK_WITHIN(10000, revoked(session, at));
    /* Its own, from its session of the other device. */
    own = attach(0);
    CHECK_OK(gs_malloc(own, 4 * MIB, &at));
    CHECK_OK(gs_memset(own, at, 0x33, sizeof(word)));
    CHECK_OK(gs_mem_export(own, at, GS_EXPORT_TO_USER, &handle));
    CHECK_OK(gs_mem_import(session, &handle, &at, NULL));
    CHECK_OK(gs_memcpy_dtoh(session, &word, at, sizeof(word)));
    CHECK_EQUAL(word, 0x33333333u);
    CHECK_OK(gs_detach(own));
    CHECK_OK(gs_detach(session));
}

static void users_of_roots_server_import_what_is_exported_to_them(void)
{
    struct visit *visit = shared_alloc(sizeof(*visit));
    struct server *server;
    gs_session owner;
    gs_devptr memory;
    pid_t visitor;

    if (geteuid() != 0)
        test_skip("needs root, to be two users");
    server = server_of(NULL, "auto");
    visitor = tenant_start(visitor_run, visit);
    gate_wait(&visit->attached, 1);
    owner = attach(0);
    CHECK_OK(gs_malloc(owner, 4 * MIB, &memory));
    CHECK_OK(gs_memset(owner, memory, 0x5A, 4 * MIB));
    CHECK_OK(gs_mem_export(owner, memory, visit->session_id, &visit->named));
    CHECK_OK(gs_mem_export(owner, memory, GS_EXPORT_TO_USER, &visit->of_user));
    gate_pass(&visit->exported);
    gate_wait(&visit->imported, 1);
    CHECK_OK(gs_free(owner, memory));
    tenant_join(visitor);
    CHECK_OK(gs_detach(owner));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(two_devices_work_on_the_same_memory),
    TEST(fenced_sessions_of_two_devices_work_on_the_same_memory),
    TEST(who_may_not_import_is_refused),
    TEST(users_of_roots_server_import_what_is_exported_to_them),
    TEST(devices_that_cannot_reach_each_other_are_told_so),
    TEST(an_import_ends_when_its_owner_revokes_frees_or_detaches),
    TEST(what_is_taken_back_while_a_process_is_replaced_is_gone),
    TEST(an_import_ends_with_an_owner_that_is_killed),
    TEST(an_importer_can_end_while_it_waits),
    TEST(importers_that_wait_keep_nobody_from_allocating),
    TEST(unfenced_sharers_go_on_after_workers_and_supervisors_are_replaced),
    TEST(fenced_sharers_go_on_after_workers_and_supervisors_are_replaced),
    TEST(what_importers_keep_counts_against_its_owner_on),
    TEST(what_could_not_be_handed_over_counts_against_nobody),
    TEST(an_import_outlives_what_is_killed_under_it),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
