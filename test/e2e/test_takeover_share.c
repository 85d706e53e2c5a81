/*
 * test_takeover_share.c - memory that several sessions share outlives the worker: what one writes
 * the others see, handles stay good, what was taken back stays taken back, and nobody is charged
 * otherwise than before. Whatever happens to the owner, to an importer, or in the middle of an
 * import.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/harness.h"

#define MIB    ((size_t)1 << 20)
#define N      4096u
#define ROUNDS 3u

static const char plain_ptx[] = PTX_HEAD PTX_FILL PTX_HOLD
    ".visible .entry fault(.param .u64 at)\n"
    "{ .reg .b64 %rd; ld.param.u64 %rd, [at]; st.global.u32 [%rd], 1; ret; }\n";

static const struct server_options fenced = {.arguments =
                                                 (const char *const[]){"--fence", "always", NULL}};

static gs_kernel kernel_of(gs_session session, const char *name)
{
    gs_module module;

    CHECK_OK(gs_module_load(session, plain_ptx, strlen(plain_ptx), &module));
    return kernels_get(module, name);
}

static void fill(gs_session session, gs_kernel kernel, gs_devptr data, uint32_t value)
{
    CHECK_OK(kernels_launch(NULL, kernel, N / 128, 128, (void *[]){&data, &value, &(uint32_t){N}}));
    CHECK_OK(gs_sync(session));
}

static void check_filled(gs_session session, gs_devptr data, uint32_t value)
{
    uint32_t words[N];

    memset(words, 0xee, sizeof(words));
    CHECK_OK(gs_memcpy_dtoh(session, words, data, sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], value + i);
}

/* With a limit of its own, so that gs_mem_info tells what the session is charged. What a killed
 * worker leaves unfinished runs again. */
static gs_session attach(void)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;

    params.mem_limit = 512 * MIB;
    params.on_fault = GS_ON_FAULT_REPLAY;
    CHECK_OK(gs_attach(&params, &session));
    return session;
}

static uint64_t free_of(gs_session session)
{
    size_t left, total;

    CHECK_OK(gs_mem_info(session, &left, &total));
    return left;
}

/* What the server shows under the session: shared memory, under who has had it longest. */
static uint64_t shown_of(gs_session session)
{
    static char output[16384];
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    char id[32];

    CHECK_OK(gs_session_info(session, &desc));
    snprintf(id, sizeof(id), "\"session\":%llu,", (unsigned long long)desc.session_id);
    CHECK_EQUAL(
        program_run((const char *[]){"bin/gsctl", "ps", "--json", NULL}, output, sizeof(output)),
        0);
    const char *row = strstr(output, id);
    const char *used = row ? strstr(row, "\"memory_used\":") : NULL;
    CHECK(used != NULL);
    return strtoull(strchr(used, ':') + 1, NULL, 10);
}

/* Another tenant's kernel loses the device. */
static void worker_fault(const struct server *server, unsigned device)
{
    const pid_t worker = server_worker_pid_of(server, device);
    gs_session culprit;
    uint64_t nowhere = 16;

    CHECK_OK(server_attach(server, &culprit));
    CHECK_OK(kernels_launch(NULL, kernel_of(culprit, "fault"), 1, 1, (void *[]){&nowhere}));
    CHECK_EQUAL(gs_sync(culprit), GS_ERR_FAULT);
    CHECK_EQUAL(gs_detach(culprit), GS_ERR_FAULT);
    CHECK_WITHIN(20000, server_worker_other(server, device, worker));
}

/* The owner and two importers, one of them attached, and so taken up, before the owner. */
struct shared {
    struct server *server;
    gs_session session[3];
    gs_devptr at[3];
    gs_kernel fill[3];
    gs_mem_handle handle;
    size_t size;
};

#define OWNER 1u

static struct shared shared_start(const struct server_options *options, size_t size)
{
    struct shared s = {.server = server_start(options), .size = size};
    size_t got;

    for (unsigned i = 0; i < 3; i++) {
        s.session[i] = attach();
        s.fill[i] = kernel_of(s.session[i], "fill");
    }
    CHECK_OK(gs_malloc(s.session[OWNER], size, &s.at[OWNER]));
    CHECK_OK(gs_mem_export(s.session[OWNER], s.at[OWNER], GS_EXPORT_TO_USER, &s.handle));
    for (unsigned i = 0; i < 3; i += 2) {
        CHECK_OK(gs_mem_import(s.session[i], &s.handle, &s.at[i], &got));
        CHECK_EQUAL(got, size);
    }
    fill(s.session[OWNER], s.fill[OWNER], s.at[OWNER], 1000);
    return s;
}

static void shared_check(const struct shared *s, uint32_t value)
{
    for (unsigned i = 0; i < 3; i++) {
        if (s->session[i])
            check_filled(s->session[i], s->at[i], value);
    }
}

static void shared_end(struct shared *s)
{
    for (unsigned i = 0; i < 3; i++) {
        if (s->session[i])
            CHECK_OK(gs_detach(s->session[i]));
    }
    CHECK_WITHIN(10000, server_memory_used(s->server) == 0);
    server_stop(s->server);
}

static void sharers_go_on(const struct server_options *options,
                          void (*replace)(const struct server *server, unsigned device))
{
    struct shared s = shared_start(options, 5 * MIB + 12);
    const uint64_t used = server_memory_used(s.server);
    uint64_t left[3], shown[3];

    for (unsigned i = 0; i < 3; i++) {
        left[i] = free_of(s.session[i]);
        shown[i] = shown_of(s.session[i]);
    }
    CHECK_EQUAL(shown[OWNER], shown[0] + 6 * MIB);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        replace(s.server, 0);
        shared_check(&s, round ? 10 * round + 2 : 1000);
        for (uint32_t i = 0; i < 3; i++) {
            fill(s.session[i], s.fill[i], s.at[i], 10 * (round + 1) + i);
            shared_check(&s, 10 * (round + 1) + i);
        }
        CHECK_EQUAL(server_memory_used(s.server), used);
        for (unsigned i = 0; i < 3; i++) {
            CHECK_EQUAL(free_of(s.session[i]), left[i]);
            CHECK_EQUAL(shown_of(s.session[i]), shown[i]);
        }
    }
    /* Whoever lets go is charged no more, and the last one gives the memory back. */
    CHECK_OK(gs_free(s.session[0], s.at[0]));
    CHECK(free_of(s.session[0]) > left[0]);
    CHECK_STATUS(gs_memset(s.session[0], s.at[0], 1, 1), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_free(s.session[OWNER], s.at[OWNER]));
    CHECK_OK(gs_free(s.session[2], s.at[2]));
    CHECK_WITHIN(10000, server_memory_used(s.server) < used);
    shared_end(&s);
}

static void unfenced_sharers_go_on_after_a_killed_worker(void)
{
    sharers_go_on(&server_unfenced, server_worker_replace);
}

static void fenced_sharers_go_on_after_a_killed_worker(void)
{
    sharers_go_on(&fenced, server_worker_replace);
}

static void sharers_go_on_after_a_fault(void)
{
    sharers_go_on(&server_unfenced, worker_fault);
}

static void sharers_go_on_after_a_restart(void)
{
    sharers_go_on(&server_unfenced, server_worker_restart);
}

/* Between each two steps of sharing the worker is another. */
static void handles_stay_good(void)
{
    struct shared s = shared_start(&server_unfenced, 2 * MIB);
    const uint64_t used = server_memory_used(s.server);
    gs_mem_handle again, another;
    gs_devptr more, at;
    uint64_t left;

    for (uint32_t round = 0; round < ROUNDS; round++) {
        server_worker_replace(s.server, 0);
        CHECK_OK(gs_mem_export(s.session[OWNER], s.at[OWNER], GS_EXPORT_TO_USER, &again));
        CHECK_MEMORY(&again, &s.handle, sizeof(again));
        left = free_of(s.session[2]);
        CHECK_OK(gs_mem_import(s.session[2], &s.handle, &at, NULL));
        CHECK(at != s.at[2] && free_of(s.session[2]) == left);
        server_worker_replace(s.server, 0);
        fill(s.session[2], s.fill[2], at, 100 * round);
        shared_check(&s, 100 * round);
        CHECK_OK(gs_free(s.session[2], at));
        CHECK_EQUAL(free_of(s.session[2]), left);
    }
    CHECK_EQUAL(server_memory_used(s.server), used);
    /* Memory of a former worker's is exported now for the first time. */
    CHECK_OK(gs_malloc(s.session[0], 3 * MIB, &more));
    server_worker_replace(s.server, 0);
    CHECK_OK(gs_mem_export(s.session[0], more, GS_EXPORT_TO_USER, &another));
    server_worker_replace(s.server, 0);
    CHECK_OK(gs_mem_import(s.session[OWNER], &another, &at, NULL));
    server_worker_replace(s.server, 0);
    fill(s.session[0], s.fill[0], more, 7);
    check_filled(s.session[OWNER], at, 7);
    /* A handle goes with its memory, and is not another's after that. */
    CHECK_OK(gs_free(s.session[0], more));
    CHECK_OK(gs_malloc(s.session[0], 3 * MIB, &more));
    server_worker_replace(s.server, 0);
    CHECK_STATUS(gs_mem_import(s.session[2], &another, &at, NULL), GS_ERR_NOT_FOUND);
    shared_end(&s);
}

static void importers_keep_memory_whose_owner_has_detached(void)
{
    struct shared s = shared_start(&server_unfenced, 3 * MIB);
    gs_devptr at;

    CHECK_OK(gs_detach(s.session[OWNER]));
    s.session[OWNER] = NULL;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        shared_check(&s, 1000 + round);
        server_worker_replace(s.server, 0);
        shared_check(&s, 1000 + round);
        CHECK_STATUS(gs_mem_import(s.session[0], &s.handle, &at, NULL), GS_ERR_NOT_FOUND);
        fill(s.session[2 * (round % 2)], s.fill[2 * (round % 2)], s.at[2 * (round % 2)],
             1001 + round);
    }
    CHECK_EQUAL(server_memory_used(s.server), 4 * MIB);
    shared_end(&s);
}

struct board {
    struct gate exported;
    gs_mem_handle handle;
};

static void owner_run(void *argument)
{
    struct board *board = argument;
    gs_session session;
    gs_devptr at;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_malloc(session, 3 * MIB, &at));
    fill(session, kernel_of(session, "fill"), at, 55);
    CHECK_OK(gs_mem_export(session, at, GS_EXPORT_TO_USER, &board->handle));
    gate_pass(&board->exported);
    for (;;)
        pause();
}

/* Before the worker is lost, after it, and while the sessions are taken up. */
static void importers_keep_memory_whose_owner_is_killed(void)
{
    struct server *server = server_start(&server_unfenced);

    for (unsigned moment = 0; moment < 6; moment++) {
        struct board *board = shared_alloc(sizeof(*board));
        const pid_t owner = tenant_start(owner_run, board), worker = server_worker_pid(server);
        gs_session session;
        gs_devptr at;

        CHECK_OK(server_attach(server, &session));
        gate_wait(&board->exported, 1);
        CHECK_OK(gs_mem_import(session, &board->handle, &at, NULL));
        if (moment % 3 == 0)
            kill(owner, SIGKILL);
        kill(worker, SIGKILL);
        if (moment % 3 == 1)
            kill(owner, SIGKILL);
        CHECK_WITHIN(20000, server_worker_other(server, 0, worker));
        tenant_kill(owner, SIGKILL);
        check_filled(session, at, 55);
        server_wait_tenants(server, 1, 10000);
        CHECK_WITHIN(10000, server_memory_used(server) == 4 * MIB);
        server_worker_replace(server, 0);
        check_filled(session, at, 55);
        CHECK_OK(gs_detach(session));
        CHECK_WITHIN(10000, server_memory_used(server) == 0);
    }
    server_stop(server);
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

static void what_was_revoked_stays_revoked(const struct server_options *options)
{
    struct shared s = shared_start(options, 2 * MIB);
    const gs_devptr former = s.at[2];
    uint64_t left = free_of(s.session[2]);
    gs_devptr at;

    CHECK_OK(gs_mem_revoke(s.session[OWNER], s.at[OWNER]));
    CHECK_WITHIN(10000, revoked(s.session[0], s.at[0]) && revoked(s.session[2], s.at[2]));
    CHECK_EQUAL(free_of(s.session[2]), left + 2 * MIB);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        server_worker_replace(s.server, 0);
        CHECK(revoked(s.session[0], s.at[0]) && revoked(s.session[2], s.at[2]));
        CHECK_STATUS(gs_mem_import(s.session[2], &s.handle, &at, NULL), GS_ERR_NOT_FOUND);
        CHECK_EQUAL(free_of(s.session[2]), left + 2 * MIB);
        /* A kernel that goes there meets no memory of the owner's, and loses nobody. */
        CHECK_OK(kernels_launch(NULL, s.fill[2], N / 128, 128,
                                (void *[]){&s.at[2], &(uint32_t){3}, &(uint32_t){N}}));
        CHECK_OK(gs_sync(s.session[2]));
        check_filled(s.session[OWNER], s.at[OWNER], 1000);
    }
    CHECK_OK(gs_free(s.session[2], s.at[2]));
    CHECK_OK(gs_mem_export(s.session[OWNER], s.at[OWNER], GS_EXPORT_TO_USER, &s.handle));
    CHECK_OK(gs_mem_import(s.session[2], &s.handle, &s.at[2], NULL));
    CHECK_EQUAL(s.at[2], former);
    server_worker_replace(s.server, 0);
    check_filled(s.session[2], s.at[2], 1000);
    shared_end(&s);
}

static void what_was_revoked_of_an_unfenced_session_stays_revoked(void)
{
    what_was_revoked_stays_revoked(&server_unfenced);
}

static void what_was_revoked_of_a_fenced_session_stays_revoked(void)
{
    what_was_revoked_stays_revoked(&fenced);
}

/* The importer's kernel runs, so it still has the memory when its worker is lost; then the owner is
 * there no more to take it back again. */
static void what_an_importer_had_not_yet_given_up_it_has_no_more(void)
{
    struct server *server = server_start(&server_unfenced);
    const uint32_t one = 1;
    gs_session owner, importer = attach();
    gs_devptr at, memory, words;
    gs_mem_handle handle;
    uint32_t started = 0, word = 0;
    gs_stream aside;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(gs_malloc(owner, 2 * MIB, &memory));
    fill(owner, kernel_of(owner, "fill"), memory, 5);
    CHECK_OK(gs_mem_export(owner, memory, GS_EXPORT_TO_USER, &handle));
    CHECK_OK(gs_mem_import(importer, &handle, &at, NULL));
    CHECK_OK(gs_malloc(importer, 2 * sizeof(uint32_t), &words));
    CHECK_OK(gs_stream_create(importer, NULL, &aside));
    CHECK_OK(kernels_launch(NULL, kernel_of(importer, "hold"), 1, 1, (void *[]){&words}));
    while (!started) {
        CHECK_OK(gs_memcpy_dtoh_async(importer, &started, words + sizeof(uint32_t), sizeof(started),
                                      aside));
        CHECK_OK(gs_stream_sync(importer, aside));
    }
    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_OK(gs_memcpy_dtoh_async(importer, &word, at, sizeof(word), aside));
    CHECK_OK(gs_stream_sync(importer, aside));
    CHECK_EQUAL(word, 5);
    CHECK_OK(gs_detach(owner));
    server_worker_replace(server, 0);
    /* The first request is answered once the session is taken up. */
    CHECK_EQUAL(free_of(importer), 510 * MIB);
    CHECK_STATUS(gs_memcpy_dtoh_async(importer, &word, at, sizeof(word), aside),
                 GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_memcpy_htod_async(importer, words, &one, sizeof(one), aside));
    CHECK_OK(gs_sync(importer));
    CHECK_OK(gs_free(importer, at));
    CHECK_WITHIN(10000, server_memory_used(server) == 2 * MIB);
    CHECK_OK(gs_detach(importer));
    server_stop(server);
}

struct asker {
    gs_session session;
    gs_mem_handle handle;
    gs_devptr at;
    gs_status status;
};

static void *ask(void *argument)
{
    struct asker *asker = argument;

    asker->status = gs_mem_import(asker->session, &asker->handle, &asker->at, NULL);
    return NULL;
}

static unsigned stopped_threads(pid_t pid)
{
    char command[96], line[32] = "";

    snprintf(command, sizeof(command), "cat /proc/%d/task/*/stat | grep -vc ' [Tt] '", (int)pid);
    FILE *pipe = popen(command, "r");
    CHECK(pipe != NULL && fgets(line, sizeof(line), pipe) != NULL);
    pclose(pipe);
    return line[0] == '0';
}

/* The next worker finds the request of a session that it takes up first, and whose exporter comes
 * last, behind others with much memory. */
static void an_import_waits_for_its_exporter(void)
{
    struct server *server = server_start(&server_unfenced);
    struct asker asker = {.status = GS_OK};
    gs_session other[8];
    gs_devptr memory = 0;
    pthread_t thread;

    CHECK_OK(server_attach(server, &asker.session));
    for (unsigned i = 0; i < ARRAY_SIZE(other); i++) {
        CHECK_OK(server_attach(server, &other[i]));
        for (unsigned n = 0; n < 40; n++)
            CHECK_OK(gs_malloc(other[i], 2 * MIB, &memory));
    }
    fill(other[7], kernel_of(other[7], "fill"), memory, 9);
    CHECK_OK(gs_mem_export(other[7], memory, GS_EXPORT_TO_USER, &asker.handle));
    for (unsigned round = 0; round < ROUNDS; round++) {
        const pid_t worker = server_worker_pid(server);
        kill(worker, SIGSTOP);
        CHECK_WITHIN(10000, stopped_threads(worker));
        CHECK_EQUAL(pthread_create(&thread, NULL, ask, &asker), 0);
        kill(worker, SIGKILL);
        pthread_join(thread, NULL);
        CHECK_OK(asker.status);
        check_filled(asker.session, asker.at, 9);
        CHECK_OK(gs_free(asker.session, asker.at));
        CHECK_WITHIN(20000, server_worker_other(server, 0, worker));
    }
    for (unsigned i = 0; i < ARRAY_SIZE(other); i++)
        CHECK_OK(gs_detach(other[i]));
    CHECK_OK(gs_detach(asker.session));
    server_stop(server);
}

struct importer {
    gs_mem_handle handle;
    _Atomic uint32_t imported, stop;
};

/* Imports, looks, and gives up, without an end. */
static void importer_run(void *argument)
{
    struct importer *self = argument;
    gs_session session;
    gs_devptr at[4];
    uint64_t left;

    session = attach();
    left = free_of(session);
    while (!atomic_load(&self->stop)) {
        for (unsigned i = 0; i < ARRAY_SIZE(at); i++)
            CHECK_OK(gs_mem_import(session, &self->handle, &at[i], NULL));
        for (unsigned i = 0; i < ARRAY_SIZE(at); i++) {
            check_filled(session, at[i], 31);
            CHECK_OK(gs_free(session, at[i]));
        }
        /* What a lost worker had begun is not charged. */
        CHECK_EQUAL(free_of(session), left);
        atomic_fetch_add(&self->imported, 1);
    }
    CHECK_OK(gs_detach(session));
}

static void a_worker_that_is_lost_in_the_middle_of_an_import_is_not_noticed(void)
{
    struct server *server = server_start(&server_unfenced);
    struct importer *importer = shared_alloc(sizeof(*importer));
    gs_session owner;
    gs_devptr at;
    pid_t tenants[2];

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(gs_malloc(owner, 2 * MIB, &at));
    fill(owner, kernel_of(owner, "fill"), at, 31);
    CHECK_OK(gs_mem_export(owner, at, GS_EXPORT_TO_USER, &importer->handle));
    for (unsigned i = 0; i < 2; i++)
        tenants[i] = tenant_start(importer_run, importer);
    for (unsigned round = 0; round < 12; round++) {
        const uint32_t before = atomic_load(&importer->imported);
        CHECK_WITHIN(20000, atomic_load(&importer->imported) > before + test_random() % 16);
        server_worker_replace(server, 0);
    }
    atomic_store(&importer->stop, 1);
    for (unsigned i = 0; i < 2; i++)
        tenant_join(tenants[i]);
    check_filled(owner, at, 31);
    server_wait_tenants(server, 1, 10000);
    CHECK_WITHIN(10000, server_memory_used(server) == 2 * MIB);
    CHECK_OK(gs_detach(owner));
    server_stop(server);
}

static void supervisor_replace(const struct server *server)
{
    const pid_t supervisor = server_supervisor(server);

    CHECK_EQUAL(kill(supervisor, SIGKILL), 0);
    CHECK_WITHIN(20000, server_supervisor(server) != 0 && server_supervisor(server) != supervisor);
}

/* The vault that a next supervisor finds is the same. */
static void sharers_go_on_after_a_killed_supervisor_and_worker(void)
{
    struct shared s = shared_start(&server_unfenced, 3 * MIB);

    for (uint32_t round = 0; round < ROUNDS; round++) {
        supervisor_replace(s.server);
        server_worker_replace(s.server, 0);
        shared_check(&s, 1000 + round);
        fill(s.session[0], s.fill[0], s.at[0], 1001 + round);
        shared_check(&s, 1001 + round);
    }
    shared_end(&s);
}

/* Its function pointers are lost with the worker, so it is; who shares its memory is not. */
static void an_owner_that_cannot_be_kept_takes_nobody_along(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_session owner, importer;
    gs_mem_handle handle;
    gs_devptr memory, at;

    CHECK_OK(server_attach(server, &importer));
    CHECK_OK(server_attach(server, &owner));
    kernels_load_bound(owner);
    CHECK_OK(gs_malloc(owner, 2 * MIB, &memory));
    fill(owner, kernel_of(owner, "fill"), memory, 8);
    CHECK_OK(gs_mem_export(owner, memory, GS_EXPORT_TO_USER, &handle));
    CHECK_OK(gs_mem_import(importer, &handle, &at, NULL));
    server_worker_replace(server, 0);
    CHECK_WITHIN(20000, gs_sync(owner) == GS_ERR_INTERRUPTED);
    CHECK_EQUAL(gs_detach(owner), GS_ERR_INTERRUPTED);
    check_filled(importer, at, 8);
    server_worker_replace(server, 0);
    check_filled(importer, at, 8);
    CHECK_OK(gs_detach(importer));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(unfenced_sharers_go_on_after_a_killed_worker),
    TEST(fenced_sharers_go_on_after_a_killed_worker),
    TEST(sharers_go_on_after_a_fault),
    TEST(sharers_go_on_after_a_restart),
    TEST(handles_stay_good),
    TEST(importers_keep_memory_whose_owner_has_detached),
    TEST(importers_keep_memory_whose_owner_is_killed),
    TEST(what_was_revoked_of_an_unfenced_session_stays_revoked),
    TEST(what_was_revoked_of_a_fenced_session_stays_revoked),
    TEST(what_an_importer_had_not_yet_given_up_it_has_no_more),
    TEST(an_import_waits_for_its_exporter),
    TEST(a_worker_that_is_lost_in_the_middle_of_an_import_is_not_noticed),
    TEST(sharers_go_on_after_a_killed_supervisor_and_worker),
    TEST(an_owner_that_cannot_be_kept_takes_nobody_along),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
