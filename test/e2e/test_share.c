/*
 * test_share.c - memory that one session exports and others import: who may, what both see, what
 * becomes of it when it is revoked and when its owner or an importer ends.
 *
 * The owner is mostly the test's own process; importers are processes of their own, which take what
 * they need from a board of shared memory and go on from gate to gate.
 */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "harness/harness.h"
#include "raw_client.h"

#define MIB   ((size_t)1 << 20)
#define CHUNK (2 * MIB)
#define N     4096u /* words that kernels work on */

/* What processes tell each other. */
struct board {
    struct gate attached, exported, imported, checked, done, end;
    uint64_t session_id[4];
    gs_mem_handle handle;
    uint64_t size; /* of what is exported */
    const char *instance;
};

static uint64_t id_of(gs_session session)
{
    gs_session_desc desc = GS_SESSION_DESC_INIT;

    CHECK_OK(gs_session_info(session, &desc));
    return desc.session_id;
}

static gs_devptr exported_to(gs_session session, size_t size, uint64_t receiver,
                             gs_mem_handle *handle)
{
    gs_devptr memory;

    CHECK_OK(gs_malloc(session, size, &memory));
    CHECK_OK(gs_mem_export(session, memory, receiver, handle));
    return memory;
}

static void fill(gs_module module, gs_devptr memory, uint32_t value)
{
    uint32_t n = N;

    CHECK_OK(kernels_launch(NULL, kernels_get(module, "fill"), N / 128, 128,
                            (void *[]){&memory, &value, &n}));
}

static void check_filled(gs_session session, gs_devptr memory, uint32_t value)
{
    uint32_t words[N];

    CHECK_OK(gs_memcpy_dtoh(session, words, memory, sizeof(words)));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], value + i);
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

/* ---- Two ranks ---- */

static void rank_run(void *argument)
{
    struct board *board = argument;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_session session;
    gs_devptr memory;
    gs_module module;
    size_t size = 0;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_session_info(session, &desc));
    board->session_id[0] = desc.session_id;
    gate_pass(&board->attached);
    gate_wait(&board->exported, 1);
    CHECK_OK(gs_mem_import(session, &board->handle, &memory, &size));
    CHECK_EQUAL(size, board->size);
    CHECK(memory >= desc.window_base && memory + size <= desc.window_base + desc.window_size);
    check_filled(session, memory, 1000);
    module = kernels_load(session);
    fill(module, memory, 5000);
    CHECK_OK(gs_memset(session, memory + size - 1, 0x5A, 1));
    CHECK_STATUS(gs_memset(session, memory + size, 1, 1), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_sync(session));
    CHECK_OK(gs_module_unload(module)); /* its variables take memory */
    gate_pass(&board->imported);
    gate_wait(&board->done, 1);
    CHECK_OK(gs_free(session, memory));
    CHECK_STATUS(gs_memset(session, memory, 1, 1), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_detach(session));
}

static void two_ranks_work_on_the_same_memory(void)
{
    struct server *server = server_start(&server_unfenced);
    struct board *board = shared_alloc(sizeof(*board));
    pid_t rank = tenant_start(rank_run, board);
    unsigned char last;
    gs_session session;
    gs_devptr memory;
    uint64_t before;

    gate_wait(&board->attached, 1);
    CHECK_OK(server_attach(server, &session));
    board->size = 5 * MIB + 12;
    memory = exported_to(session, board->size, board->session_id[0], &board->handle);
    fill(kernels_load(session), memory, 1000);
    CHECK_OK(gs_sync(session));
    before = server_memory_used(server);
    gate_pass(&board->exported);
    gate_wait(&board->imported, 1);
    check_filled(session, memory, 5000);
    CHECK_OK(gs_memcpy_dtoh(session, &last, memory + board->size - 1, 1));
    CHECK_EQUAL(last, 0x5A);
    /* Nothing is taken from the device twice. */
    CHECK_EQUAL(server_memory_used(server), before);
    gate_pass(&board->done);
    tenant_join(rank);
    server_wait_tenants(server, 1, 5000);
    CHECK_EQUAL(server_memory_used(server), before);
    check_filled(session, memory, 5000);
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* ---- Who may ---- */

static void only_the_receiver_can_import(void)
{
    struct server *server = server_start(NULL);
    gs_session owner, second, third;
    gs_mem_handle one, all, again;
    gs_devptr memory, at = 7;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &second));
    CHECK_OK(server_attach(server, &third));
    memory = exported_to(owner, CHUNK, id_of(second), &one);
    CHECK_STATUS(gs_mem_import(third, &one, &at, NULL), GS_ERR_PERMISSION);
    CHECK_STATUS(gs_mem_import(owner, &one, &at, NULL), GS_ERR_PERMISSION);
    CHECK_EQUAL(at, 7);
    CHECK_OK(gs_mem_import(second, &one, &at, NULL));
    CHECK_OK(gs_mem_export(owner, memory, GS_EXPORT_TO_USER, &all));
    CHECK_OK(gs_mem_import(third, &all, &at, NULL));
    CHECK_OK(gs_mem_export(owner, memory, id_of(second), &again));
    CHECK_MEMORY(&again, &one, sizeof(one));
    CHECK(memcmp(&all, &one, sizeof(one)) != 0);
    CHECK_OK(gs_detach(owner));
    CHECK_OK(gs_detach(second));
    CHECK_OK(gs_detach(third));
    server_stop(server);
}

static void stranger_run(void *argument)
{
    struct board *board = argument;
    gs_session session;
    gs_devptr at;

    CHECK(setresuid(65534, 65534, 65534) == 0);
    CHECK_OK(gs_attach(NULL, &session));
    board->session_id[0] = id_of(session);
    gate_pass(&board->attached);
    gate_wait(&board->exported, 1);
    CHECK_STATUS(gs_mem_import(session, &board->handle, &at, NULL), GS_ERR_PERMISSION);
    gate_pass(&board->imported);
    gate_wait(&board->exported, 2);
    CHECK_OK(gs_mem_import(session, &board->handle, &at, NULL));
    check_filled(session, at, 77);
    CHECK_OK(gs_detach(session));
}

static void another_user_needs_to_be_named(void)
{
    struct board *board = shared_alloc(sizeof(*board));
    struct server *server;
    gs_session session;
    gs_devptr memory;
    pid_t stranger;

    if (geteuid() != 0)
        test_skip("needs root, to be two users");
    server = server_start(NULL);
    stranger = tenant_start(stranger_run, board);
    gate_wait(&board->attached, 1);
    CHECK_OK(server_attach(server, &session));
    memory = exported_to(session, CHUNK, GS_EXPORT_TO_USER, &board->handle);
    fill(kernels_load(session), memory, 77);
    CHECK_OK(gs_sync(session));
    gate_pass(&board->exported);
    gate_wait(&board->imported, 1);
    CHECK_OK(gs_mem_export(session, memory, board->session_id[0], &board->handle));
    gate_pass(&board->exported);
    tenant_join(stranger);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void a_handle_cannot_be_guessed(void)
{
    struct server *server = server_start(NULL);
    gs_session owner, other;
    gs_mem_handle handle, wrong;
    gs_devptr memory, at;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &other));
    memory = exported_to(owner, CHUNK, GS_EXPORT_TO_USER, &handle);
    for (unsigned bit = 0; bit < sizeof(handle) * 8; bit++) {
        wrong = handle;
        wrong.bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        CHECK_STATUS(gs_mem_import(other, &wrong, &at, NULL), GS_ERR_NOT_FOUND);
    }
    for (unsigned i = 0; i < 200; i++) {
        for (unsigned k = 0; k < sizeof(wrong); k++)
            wrong.bytes[k] = i % 2 && k < 8 ? handle.bytes[k] : (unsigned char)test_random();
        CHECK_STATUS(gs_mem_import(other, &wrong, &at, NULL), GS_ERR_NOT_FOUND);
    }
    memset(&wrong, 0, sizeof(wrong));
    CHECK_STATUS(gs_mem_import(other, &wrong, &at, NULL), GS_ERR_NOT_FOUND);
    CHECK_OK(gs_mem_import(other, &handle, &at, NULL));
    /* Void when freed, and never the same again. */
    CHECK_OK(gs_free(owner, memory));
    CHECK_STATUS(gs_mem_import(other, &handle, &at, NULL), GS_ERR_NOT_FOUND);
    memory = exported_to(owner, CHUNK, GS_EXPORT_TO_USER, &wrong);
    CHECK(memcmp(&wrong, &handle, sizeof(wrong)) != 0);
    CHECK_STATUS(gs_mem_import(other, &handle, &at, NULL), GS_ERR_NOT_FOUND);
    CHECK_OK(gs_detach(owner));
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

static void what_cannot_be_shared_is_refused(void)
{
    struct server *server = server_start(NULL);
    gs_devptr small, large, at;
    gs_session owner, other;
    gs_mem_handle handle;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &other));
    CHECK_OK(gs_malloc(owner, 1000, &small));
    CHECK_OK(gs_malloc(owner, MIB, &large));
    CHECK_STATUS(gs_mem_export(owner, small, 0, &handle), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "1048576");
    CHECK_STATUS(gs_mem_revoke(owner, small), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_mem_export(owner, large + 256, 0, &handle), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_mem_export(owner, 0, 0, &handle), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_mem_export(other, large, 0, &handle), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_mem_export(owner, large, 0, NULL), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_mem_export(owner, large, 0, &handle));
    CHECK_STATUS(gs_mem_import(other, NULL, &at, NULL), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_mem_import(other, &handle, NULL, NULL), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_mem_import(other, &handle, &at, NULL));
    CHECK_STATUS(gs_mem_export(other, at, 0, &handle), GS_ERR_PERMISSION);
    CHECK_STATUS(gs_mem_revoke(other, at), GS_ERR_PERMISSION);
    CHECK_STATUS(gs_mem_revoke(other, large), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_free(owner, large));
    CHECK_STATUS(gs_mem_export(owner, large, 0, &handle), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_detach(owner));
    CHECK_STATUS(gs_mem_export(owner, large, 0, &handle), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

/* ---- Limits ---- */

static void an_import_counts_against_the_importers_limit(void)
{
    struct server *server = server_start(NULL);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session owner, other;
    gs_mem_handle handle, large;
    size_t free_bytes, total;
    gs_devptr at, again, more;

    CHECK_OK(server_attach(server, &owner));
    params.mem_limit = 8 * MIB;
    CHECK_OK(gs_attach(&params, &other));
    exported_to(owner, 10 * MIB, 0, &large);
    exported_to(owner, 4 * MIB, 0, &handle);
    CHECK_STATUS(gs_mem_import(other, &large, &at, NULL), GS_ERR_QUOTA);
    CHECK_OK(gs_mem_info(other, &free_bytes, &total));
    CHECK_EQUAL(free_bytes, 8 * MIB);
    CHECK_OK(gs_mem_import(other, &handle, &at, NULL));
    CHECK_OK(gs_mem_info(other, &free_bytes, &total));
    CHECK_EQUAL(free_bytes, 4 * MIB);
    CHECK_OK(gs_malloc(other, 4 * MIB, &more));
    CHECK_OK(gs_mem_import(other, &handle, &again, NULL)); /* the same memory counts once */
    CHECK_OK(gs_free(other, more));
    CHECK_OK(gs_free(other, at));
    CHECK_OK(gs_mem_info(other, &free_bytes, &total));
    CHECK_EQUAL(free_bytes, 4 * MIB);
    server_worker_replace(server, 0);
    CHECK_OK(gs_mem_info(other, &free_bytes, &total));
    CHECK_EQUAL(free_bytes, 4 * MIB);
    CHECK_OK(gs_free(other, again));
    CHECK_OK(gs_mem_info(other, &free_bytes, &total));
    CHECK_EQUAL(free_bytes, 8 * MIB);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(owner));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* ---- Revoking ---- */

static void a_revoked_import_is_an_error_for_calls_and_zeros_for_kernels(void)
{
    struct server *server = server_start(NULL);
    gs_devptr memory, at, copy;
    gs_session owner, other;
    gs_mem_handle handle, anew;
    gs_module module;
    uint64_t sum[1] = {99};
    uint32_t n = N;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &other));
    module = kernels_load(other);
    memory = exported_to(owner, 7 * MIB, id_of(other), &handle);
    fill(kernels_load(owner), memory, 500);
    CHECK_OK(gs_sync(owner));
    CHECK_OK(gs_mem_import(other, &handle, &at, NULL));
    CHECK_OK(gs_malloc(other, 4096, &copy));
    check_filled(other, at, 500);

    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_STATUS(gs_mem_import(other, &handle, &copy, NULL), GS_ERR_NOT_FOUND);
    CHECK_WITHIN(10000, revoked(other, at));
    CHECK_STATUS(gs_memset(other, at, 1, 1), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_memcpy_dtod(other, copy, at, 8), GS_ERR_INVALID_POINTER);
    /* A kernel that still has the address finds zeros, and cannot reach the owner's memory. */
    CHECK_OK(
        kernels_launch(NULL, kernels_get(module, "sum"), N / 128, 128, (void *[]){&at, &copy, &n}));
    CHECK_OK(gs_memcpy_dtoh(other, sum, copy, sizeof(sum)));
    CHECK_EQUAL(sum[0], 0);
    for (gs_devptr part = at; part < at + 6 * MIB; part += MIB)
        fill(module, part, 9);
    CHECK_OK(gs_sync(other));
    check_filled(owner, memory, 500);

    /* It can be shared again, beside what was taken back. */
    CHECK_OK(gs_mem_export(owner, memory, id_of(other), &anew));
    CHECK(memcmp(&handle, &anew, sizeof(anew)) != 0);
    gs_devptr second;
    CHECK_OK(gs_mem_import(other, &anew, &second, NULL));
    CHECK(second != at);
    check_filled(other, second, 500);
    CHECK_OK(gs_free(other, at));
    check_filled(other, second, 500);
    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_WITHIN(10000, revoked(other, second));
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(owner));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* While a kernel that uses it runs, the memory stays where it is: what the kernel writes after the
 * call arrives whole, or, where it had not been handed to the device yet, not at all. */
static void revoking_under_a_running_kernel_faults_nobody(void)
{
    struct server *server = server_start(NULL);
    uint32_t one = 1, started = 0, n = N, value = 800, words[N];
    gs_devptr memory, signals, at, flags, flag;
    gs_session owner, other;
    gs_mem_handle handle, flag_handle;
    gs_module module;
    bool arrived;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &other));
    module = kernels_load(other);
    memory = exported_to(owner, CHUNK, 0, &handle);
    signals = exported_to(owner, CHUNK, 0, &flag_handle);
    CHECK_OK(gs_mem_import(other, &handle, &at, NULL));
    CHECK_OK(gs_mem_import(other, &flag_handle, &flags, NULL));
    flag = flags + 4;
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "store"), 1, 1, (void *[]){&flags, &one}));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "spin_until"), 1, 1, (void *[]){&flag}));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "fill"), N / 128, 128,
                            (void *[]){&at, &value, &n}));
    while (!started)
        CHECK_OK(gs_memcpy_dtoh(owner, &started, signals, sizeof(started)));
    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_OK(gs_memset(owner, signals + 4, 1, 4));
    CHECK_OK(gs_sync(other));
    CHECK_WITHIN(10000, revoked(other, at));
    CHECK_OK(gs_memcpy_dtoh(owner, words, memory, sizeof(words)));
    arrived = words[0] == value;
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(words[i], arrived ? value + i : 0);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(owner));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* A kernel that waits for its session's other stream must get what it waits for. */
static void revoking_does_not_stop_an_importer_that_is_busy(void)
{
    struct server *server = server_start(&server_unfenced);
    gs_devptr memory, at, own, flag, more;
    uint32_t started = 0, one = 1;
    gs_session owner, other;
    gs_mem_handle handle;
    gs_stream second;
    gs_module module;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &other));
    module = kernels_load(other);
    CHECK_OK(gs_stream_create(other, NULL, &second));
    memory = exported_to(owner, CHUNK, 0, &handle);
    CHECK_OK(gs_mem_import(other, &handle, &at, NULL));
    CHECK_OK(gs_malloc(other, 8, &own));
    flag = own + 4;
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "store"), 1, 1, (void *[]){&own, &one}));
    CHECK_OK(kernels_launch(NULL, kernels_get(module, "spin_until"), 1, 1, (void *[]){&flag}));
    while (!started) {
        CHECK_OK(gs_memcpy_dtoh_async(other, &started, own, sizeof(started), second));
        CHECK_OK(gs_stream_sync(other, second));
    }
    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_OK(gs_malloc(other, 4 * MIB, &more));
    CHECK_OK(gs_memset_async(other, more, 1, 4 * MIB, second));
    CHECK_OK(gs_stream_sync(other, second));
    CHECK_OK(gs_malloc(other, 4 * MIB, &more));
    CHECK_OK(gs_memset_async(other, flag, 1, 4, second));
    CHECK_OK(gs_sync(other));
    CHECK_WITHIN(10000, revoked(other, at));
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(owner));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* Two streams, each of which has a kernel until the other one's next kernel has started, or has not
 * for longer than the server would hold it back for a while. */
struct relay {
    gs_session session;
    gs_stream stream[2];
    gs_kernel hold;
    struct words {
        _Atomic uint32_t ends, started;
    } * word; /* the device's too */
    gs_devptr at;
    unsigned turn;
};

static void relay_go(struct relay *r, unsigned which)
{
    gs_devptr words = r->at + which * sizeof(*r->word);

    r->word[which].started = r->word[which].ends = 0;
    CHECK_OK(kernels_launch(r->stream[which], r->hold, 1, 1, (void *[]){&words}));
}

static void relay_turn(struct relay *r)
{
    const unsigned next = ++r->turn % 2;
    const uint64_t until = clock_ns() + 1500000000;

    relay_go(r, next);
    while (!r->word[next].started && clock_ns() < until)
        usleep(1000);
    r->word[1 - next].ends = 1;
    CHECK_OK(gs_stream_sync(r->session, r->stream[1 - next]));
}

/* It has what was taken back for not much longer than its kernels may run. */
static void an_importer_that_is_never_idle_is_held_back_in_the_end(void)
{
    static const char hold_ptx[] = PTX_HEAD PTX_HOLD;
    static const char *const limit[] = {"bin/gsctl",      "set",  "--default",
                                        "--kernel-limit", "6000", NULL};
    struct server *server = server_start(&server_unfenced);
    struct relay r = {0};
    gs_devptr memory, at;
    gs_mem_handle handle;
    gs_module module;
    gs_session owner;
    gs_stream aside;
    void *block;

    CHECK_EQUAL(program_run(limit, (char[256]){0}, 256), 0);
    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &r.session));
    CHECK_OK(gs_module_load(r.session, hold_ptx, strlen(hold_ptx), &module));
    r.hold = kernels_get(module, "hold");
    for (unsigned i = 0; i < 2; i++)
        CHECK_OK(gs_stream_create(r.session, NULL, &r.stream[i]));
    CHECK_OK(gs_stream_create(r.session, NULL, &aside));
    CHECK_OK(gs_host_alloc(r.session, 4096, &block));
    CHECK_OK(gs_host_device_ptr(r.session, block, &r.at));
    r.word = block;
    memory = exported_to(owner, CHUNK, 0, &handle);
    CHECK_OK(gs_mem_import(r.session, &handle, &at, NULL));
    relay_go(&r, 0);
    CHECK_OK(gs_mem_revoke(owner, memory));
    const uint64_t until = test_deadline(30000);
    while (gs_memset_async(r.session, at, 0, 4, aside) == GS_OK) {
        CHECK(clock_ns() < until);
        relay_turn(&r);
    }
    CHECK_OK(gs_stream_query(r.session, r.stream[1 - r.turn % 2]));
    r.word[r.turn % 2].ends = 1;
    CHECK_OK(gs_detach(r.session));
    CHECK_OK(gs_detach(owner));
    server_stop(server);
}

static void graphs_use_imports_and_outlive_their_end(void)
{
    struct server *server = server_start(NULL);
    gs_session owner, other;
    gs_mem_handle handle;
    gs_devptr memory, at;
    uint32_t *words, n = N, value = 300;
    gs_stream stream;
    gs_module module;
    gs_graph graph;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &other));
    module = kernels_load(other);
    CHECK_OK(gs_stream_create(other, NULL, &stream));
    CHECK_OK(gs_host_alloc(other, N * 4, (void **)&words));
    memory = exported_to(owner, 3 * MIB, 0, &handle);
    CHECK_OK(gs_mem_import(other, &handle, &at, NULL));
    CHECK_OK(gs_graph_begin(other, stream));
    CHECK_OK(gs_memset_async(other, at, 0, N * 4, stream));
    CHECK_OK(kernels_launch(stream, kernels_get(module, "fill"), N / 128, 128,
                            (void *[]){&at, &value, &n}));
    CHECK_OK(gs_memcpy_dtoh_async(other, words, at, N * 4, stream));
    CHECK_OK(gs_graph_end(other, stream, &graph));
    CHECK_OK(gs_graph_launch(graph, stream));
    CHECK_OK(gs_stream_sync(other, stream));
    CHECK_EQUAL(words[N - 1], value + N - 1);
    check_filled(owner, memory, value);

    CHECK_OK(gs_memset(owner, memory, 0, N * 4));
    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_WITHIN(10000, revoked(other, at));
    CHECK_OK(gs_graph_launch(graph, stream));
    CHECK_OK(gs_stream_sync(other, stream));
    CHECK_EQUAL(words[N - 1], value + N - 1); /* in its sink */
    memset(words, 0xFF, N * 4);
    CHECK_OK(gs_memcpy_dtoh(owner, words, memory, N * 4));
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(owner));
    server_stop(server);
}

/* ---- Ends ---- */

static void keeper_run(void *argument)
{
    struct board *board = argument;
    gs_session session;
    gs_devptr memory, own;
    gs_module module;

    CHECK_OK(gs_attach(NULL, &session));
    gate_pass(&board->attached);
    gate_wait(&board->exported, 1);
    CHECK_OK(gs_mem_import(session, &board->handle, &memory, NULL));
    gate_pass(&board->imported);
    gate_wait(&board->done, 1);
    check_filled(session, memory, 4242);
    gate_pass(&board->checked);
    gate_wait(&board->checked, 2); /* the other keeper looks at the same memory */
    CHECK_STATUS(gs_mem_import(session, &board->handle, &own, NULL), GS_ERR_NOT_FOUND);
    module = kernels_load(session);
    fill(module, memory, 1);
    check_filled(session, memory, 1);
    CHECK_OK(gs_module_unload(module)); /* its variables take memory */
    gate_pass(&board->imported);
    gate_wait(&board->end, 1);
    CHECK_OK(gs_detach(session));
}

static void owner_run(void *argument)
{
    struct board *board = argument;
    gs_session session;
    gs_devptr memory;

    CHECK_OK(gs_attach(NULL, &session));
    gate_wait(&board->attached, 2);
    memory = exported_to(session, board->size, GS_EXPORT_TO_USER, &board->handle);
    fill(kernels_load(session), memory, 4242);
    CHECK_OK(gs_sync(session));
    gate_pass(&board->exported);
    gate_wait(&board->imported, 2);
    if (board->session_id[0]) /* the test's way to say: end well */
        CHECK_OK(gs_detach(session));
    else
        gate_wait(&board->end, 2); /* does not come */
}

/* Two importers keep what the owner had; nobody else can get it, and it goes with the last. */
static void owner_ends(bool well)
{
    struct server *server = server_start(&server_unfenced);
    struct board *board = shared_alloc(sizeof(*board));
    pid_t owner, keeper[2];

    board->size = 6 * MIB;
    board->session_id[0] = well;
    owner = tenant_start(owner_run, board);
    for (unsigned i = 0; i < 2; i++)
        keeper[i] = tenant_start(keeper_run, board);
    gate_wait(&board->imported, 2);
    if (well)
        tenant_join(owner);
    else
        tenant_kill(owner, SIGKILL);
    server_wait_tenants(server, 2, 5000);
    CHECK_WITHIN(5000, server_memory_used(server) == board->size); /* who was killed had more */
    gate_pass(&board->done);
    gate_wait(&board->imported, 3);
    tenant_kill(keeper[0], SIGKILL);
    server_wait_tenants(server, 1, 5000);
    CHECK_WITHIN(5000, server_memory_used(server) == board->size); /* who was killed had more */
    gate_pass(&board->end);
    tenant_join(keeper[1]);
    server_wait_tenants(server, 0, 5000);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static void importers_keep_what_a_detached_owner_had(void)
{
    owner_ends(true);
}

static void importers_keep_what_a_killed_owner_had(void)
{
    owner_ends(false);
}

static void busy_importer_run(void *argument)
{
    struct board *board = argument;
    gs_session session;
    gs_module module;

    CHECK_OK(gs_attach(NULL, &session));
    module = kernels_load(session);
    for (uint32_t i = 0;; i++) {
        gs_devptr memory;
        gs_status status = gs_mem_import(session, &board->handle, &memory, NULL);

        /* Nothing exported yet; or all that it has kept is as much as it may have. */
        if (status == GS_ERR_NOT_FOUND || status == GS_ERR_LIMIT || status == GS_ERR_QUOTA)
            continue;
        CHECK_STATUS(status, GS_OK);
        fill(module, memory, i);
        gate_pass(&board->imported);
        if (i % 4)
            CHECK_OK(gs_free(session, memory));
    }
}

static void an_importers_death_is_nothing_to_the_owner(void)
{
    struct server *server = server_start(NULL);
    struct board *board = shared_alloc(sizeof(*board));
    gs_devptr memory;
    gs_session session;
    uint32_t passed = 0;

    CHECK_OK(server_attach(server, &session));
    memory = exported_to(session, CHUNK, GS_EXPORT_TO_USER, &board->handle);
    CHECK_OK(gs_detach(session));
    for (unsigned i = 0; i < 20; i++) {
        /* Forked without a session of its own. */
        pid_t victim = tenant_start(busy_importer_run, board);

        CHECK_OK(server_attach(server, &session));
        memory = exported_to(session, CHUNK, GS_EXPORT_TO_USER, &board->handle);
        gate_wait(&board->imported, passed + 3 + (uint32_t)(test_random() % 10));
        if (i % 2)
            CHECK_OK(gs_mem_revoke(session, memory));
        tenant_kill(victim, SIGKILL);
        passed = atomic_load(&board->imported.count);
        CHECK_OK(gs_memset(session, memory, 1, CHUNK));
        server_wait_tenants(server, 1, 5000);
        CHECK_EQUAL(server_memory_used(server), CHUNK);
        CHECK_OK(gs_detach(session));
    }
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* ---- Over and over ---- */

static void a_thousand_cycles_leave_nothing(void)
{
    struct server *server = server_start(NULL);
    gs_session owner, other;
    uint64_t before;

    CHECK_OK(server_attach(server, &owner));
    CHECK_OK(server_attach(server, &other));
    before = server_memory_used(server);
    for (unsigned i = 0; i < 1000; i++) {
        gs_mem_handle handle;
        gs_devptr memory = exported_to(owner, CHUNK, i % 3 ? id_of(other) : 0, &handle), at;

        CHECK_OK(gs_mem_import(other, &handle, &at, NULL));
        if (i % 2)
            CHECK_OK(gs_mem_revoke(owner, memory));
        if (i % 4 < 2)
            CHECK_OK(gs_free(owner, memory));
        CHECK_OK(gs_free(other, at));
        if (i % 4 >= 2)
            CHECK_OK(gs_free(owner, memory));
    }
    CHECK_EQUAL(server_memory_used(server), before);
    CHECK_OK(gs_detach(other));
    CHECK_OK(gs_detach(owner));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

struct crowd {
    struct board *board;
    _Atomic bool over;
};

/* Imports whatever is offered, and uses it until it is gone. */
static void *crowd_member(void *argument)
{
    struct crowd *crowd = argument;
    gs_session session;
    gs_module module;

    CHECK_OK(gs_attach(NULL, &session));
    module = kernels_load(session);
    while (!atomic_load(&crowd->over)) {
        gs_mem_handle handle;
        gs_devptr memory;
        gs_status status;

        handle = crowd->board->handle; /* may be half an old one: then there is none of that name */
        status = gs_mem_import(session, &handle, &memory, NULL);
        if (status == GS_ERR_NOT_FOUND)
            continue;
        CHECK_STATUS(status, GS_OK);
        fill(module, memory, 3);
        status = gs_memset(session, memory, 1, CHUNK);
        CHECK(status == GS_OK || status == GS_ERR_INVALID_POINTER);
        CHECK_OK(gs_free(session, memory));
    }
    CHECK_OK(gs_detach(session));
    return NULL;
}

static void member_run(void *argument)
{
    crowd_member(argument);
}

static void sharing_and_revoking_at_the_same_time(void)
{
    struct server *server = server_start(NULL);
    struct crowd *crowd = shared_alloc(sizeof(*crowd));
    gs_session session;
    pid_t member[3];

    crowd->board = shared_alloc(sizeof(*crowd->board));
    for (unsigned i = 0; i < ARRAY_SIZE(member); i++)
        member[i] = tenant_start(member_run, crowd);
    CHECK_OK(server_attach(server, &session));
    for (unsigned i = 0; i < 150; i++) {
        gs_mem_handle handle;
        gs_devptr memory = exported_to(session, CHUNK, GS_EXPORT_TO_USER, &handle);

        crowd->board->handle = handle;
        CHECK_OK(gs_memset(session, memory, 2, CHUNK));
        if (i % 3)
            CHECK_OK(gs_mem_revoke(session, memory));
        CHECK_OK(gs_free(session, memory));
    }
    atomic_store(&crowd->over, true);
    for (unsigned i = 0; i < ARRAY_SIZE(member); i++)
        tenant_join(member[i]);
    CHECK_OK(gs_detach(session));
    server_wait_tenants(server, 0, 5000);
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

/* ---- Requests that the library would not send ---- */

static void odd_requests_are_refused(void)
{
    struct server *server = server_start(NULL);
    struct raw_client raw;
    gs_session owner;
    gs_mem_handle handle;
    gs_devptr memory;

    CHECK_OK(server_attach(server, &owner));
    memory = exported_to(owner, CHUNK, 0, &handle);
    CHECK_OK(raw_attach(&raw, server->instance));
    for (uint32_t op = REQ_MEM_EXPORT; op <= REQ_MEM_REVOKE; op++) {
        const uint64_t odd[] = {0, 1, memory, memory - 256, raw.info.window_base, UINT64_MAX};

        for (unsigned i = 0; i < ARRAY_SIZE(odd); i++) {
            struct raw_request request = {.op = op, .arg = {odd[i], 0, UINT64_MAX, i}};
            CHECK_EQUAL(raw_ask(&raw, &request),
                        op == REQ_MEM_IMPORT ? GS_ERR_NOT_FOUND : GS_ERR_INVALID_POINTER);
        }
    }
    CHECK(raw_open(&raw));
    /* As many imports as there are numbers; scribbling over what was revoked harms nobody. */
    struct raw_request import = {.op = REQ_MEM_IMPORT}, last;
    memcpy(import.arg, handle.bytes, sizeof(import.arg));
    memset((void *)raw.server->revoked, 0xFF, sizeof(raw.server->revoked));
    for (uint32_t i = 0; i < SEG_IMPORTS; i++) {
        last = import;
        CHECK_EQUAL(raw_ask(&raw, &last), GS_OK);
        CHECK_EQUAL(last.ret[2], i);
    }
    last = import;
    CHECK_EQUAL(raw_ask(&raw, &last), GS_ERR_LIMIT);
    CHECK_OK(gs_mem_revoke(owner, memory));
    CHECK_OK(gs_memset(owner, memory, 1, CHUNK));
    raw_detach(&raw);
    CHECK_OK(gs_detach(owner));
    CHECK_EQUAL(server_memory_used(server), 0);
    server_stop(server);
}

static const struct test tests[] = {
    TEST(two_ranks_work_on_the_same_memory),
    TEST(only_the_receiver_can_import),
    TEST(another_user_needs_to_be_named),
    TEST(a_handle_cannot_be_guessed),
    TEST(what_cannot_be_shared_is_refused),
    TEST(an_import_counts_against_the_importers_limit),
    TEST(a_revoked_import_is_an_error_for_calls_and_zeros_for_kernels),
    TEST(revoking_under_a_running_kernel_faults_nobody),
    TEST(revoking_does_not_stop_an_importer_that_is_busy),
    TEST(an_importer_that_is_never_idle_is_held_back_in_the_end),
    TEST(graphs_use_imports_and_outlive_their_end),
    TEST(importers_keep_what_a_detached_owner_had),
    TEST(importers_keep_what_a_killed_owner_had),
    TEST(an_importers_death_is_nothing_to_the_owner),
    TEST(a_thousand_cycles_leave_nothing),
    TEST(sharing_and_revoking_at_the_same_time),
    TEST(odd_requests_are_refused),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
