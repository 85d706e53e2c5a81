/*
 * test_heap.c - the heap that a session's kernels allocate from: whose it is, what it holds, what
 * it is counted as, and what neighbours see of it. Each test runs with and without the fence.
 */
#include <signal.h>
#include <string.h>

#include "common/embed.h"
#include "e2e/fence_modes.h"
#include "harness/harness.h"

#define MIB        ((size_t)1 << 20)
#define HEAP_BYTES (8 * MIB)
#define MOST       65536u

EMBED_TEXT(heap_ptx, HEAP_PTX)

/* A session with the kernels of heap.cu, and memory for their results. */
struct tenant {
    gs_session session;
    gs_module module;
    gs_devptr out, words;
};

static gs_module heap_load(gs_session session)
{
    gs_module module;

    CHECK_OK(gs_module_load(session, heap_ptx, strlen(heap_ptx), &module));
    return module;
}

static struct tenant tenant_with_heap(const struct server *server, uint64_t heap)
{
    struct tenant t;

    CHECK_OK(server_attach(server, &t.session));
    CHECK_OK(gs_kernel_heap(t.session, heap));
    t.module = heap_load(t.session);
    CHECK_OK(gs_malloc(t.session, MOST * sizeof(gs_devptr), &t.out));
    CHECK_OK(gs_malloc(t.session, 2 * sizeof(uint32_t), &t.words));
    return t;
}

static struct tenant tenant_begin(const struct server *server)
{
    return tenant_with_heap(server, 0);
}

static void launch(const struct tenant *t, const char *kernel, uint32_t n, void **args)
{
    gs_stream stream;

    CHECK_OK(gs_stream_create(t->session, NULL, &stream));
    CHECK_OK(kernels_launch(stream, kernels_get(t->module, kernel), (n + 127) / 128, 128, args));
    CHECK_OK(gs_sync(t->session));
    CHECK_OK(gs_stream_destroy(stream));
}

/* How many of N threads got memory. */
static uint32_t take(const struct tenant *t, uint32_t n, uint32_t bytes, uint32_t spread)
{
    static gs_devptr got[MOST];
    uint32_t count = 0;
    gs_devptr out = t->out;

    launch(t, "take", n, (void *[]){&out, &bytes, &spread, &n});
    CHECK_OK(gs_memcpy_dtoh(t->session, got, t->out, n * sizeof(*got)));
    for (uint32_t i = 0; i < n; i++)
        count += got[i] != 0;
    return count;
}

static void clear_words(const struct tenant *t)
{
    CHECK_OK(gs_memcpy_htod(t->session, t->words, (uint32_t[2]){0, 0}, 2 * sizeof(uint32_t)));
}

static void read_words(const struct tenant *t, uint32_t words[2])
{
    CHECK_OK(gs_memcpy_dtoh(t->session, words, t->words, 2 * sizeof(uint32_t)));
}

static void check(const struct tenant *t, uint32_t n, uint32_t bytes, uint32_t spread)
{
    gs_devptr at = t->out, wrong = t->words;
    uint32_t words[2];

    clear_words(t);
    launch(t, "check", n, (void *[]){&at, &bytes, &spread, &n, &wrong});
    read_words(t, words);
    CHECK_EQUAL(words[0], 0);
}

static void give(const struct tenant *t, uint32_t n)
{
    gs_devptr at = t->out;

    launch(t, "give", n, (void *[]){&at, &n});
}

/* How many of N threads got memory; none of its words may be other than 0. */
static uint32_t look(const struct tenant *t, uint32_t n, uint32_t bytes)
{
    gs_devptr out = t->words;
    uint32_t words[2];

    clear_words(t);
    launch(t, "look", n, (void *[]){&bytes, &out});
    read_words(t, words);
    CHECK_EQUAL(words[0], 0);
    return words[1];
}

static size_t free_bytes(gs_session session)
{
    size_t bytes, total;

    CHECK_OK(gs_mem_info(session, &bytes, &total));
    return bytes;
}

/* ---- What it gives ---- */

static void threads_allocate_and_another_launch_reads_and_frees(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);

    for (unsigned round = 0; round < 2; round++) {
        CHECK_EQUAL(take(&t, 20000, 1, 300), 20000);
        check(&t, 20000, 1, 300);
        give(&t, 20000);
    }
    CHECK_EQUAL(take(&t, 300, 1000, 30000), 300);
    check(&t, 300, 1000, 30000);
    give(&t, 300);
    /* Nothing stayed behind: all of it can be had in one piece. */
    CHECK_EQUAL(take(&t, 1, 2000 * 4096, 0), 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void threads_take_and_give_back_beside_each_other(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);
    uint32_t rounds = 6, most = 100, seed = (uint32_t)test_random(), words[2];
    gs_devptr wrong = t.words, nulls = t.words + sizeof(uint32_t);

    for (; most < 10000; most *= 60, rounds = 2) {
        clear_words(&t);
        launch(&t, "churn", most > 100 ? 512 : 2560,
               (void *[]){&rounds, &most, &seed, &wrong, &nulls});
        read_words(&t, words);
        CHECK_EQUAL(words[0], 0);
        CHECK(most > 100 || words[1] == 0);
    }
    CHECK_EQUAL(take(&t, 1, 2000 * 4096, 0), 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void a_full_heap_gives_null_and_what_is_freed_again(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server);
    uint32_t got = take(&t, 3000, 4096, 0);

    CHECK(got > 2000 && got <= HEAP_BYTES / 4096);
    give(&t, 3000);
    CHECK_EQUAL(take(&t, 3000, 4096, 0), got);
    CHECK_EQUAL(take(&t, 100, 1, 0), 0);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void all_modules_of_a_session_have_one_heap(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_begin(server), second = t;
    size_t before = free_bytes(t.session);

    second.module = heap_load(t.session);
    /* The driver takes memory for code now and then; a second heap would be more. */
    CHECK(before - free_bytes(t.session) < HEAP_BYTES);
    CHECK_EQUAL(take(&t, 1000, 100, 50), 1000);
    check(&second, 1000, 100, 50);
    give(&second, 1000);
    CHECK_OK(gs_module_unload(t.module));
    CHECK_EQUAL(take(&second, 1, 2000 * 4096, 0), 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

static void it_outlives_the_worker(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant t = tenant_with_heap(server, 16 * MIB);
    const pid_t worker = server_worker_pid(server);
    size_t before;

    CHECK_EQUAL(take(&t, 5000, 1, 300), 5000);
    before = free_bytes(t.session);
    CHECK_EQUAL(kill(worker, SIGKILL), 0);
    CHECK_WITHIN(20000, server_worker_pid(server) != 0 && server_worker_pid(server) != worker);
    CHECK_EQUAL(free_bytes(t.session), before);
    check(&t, 5000, 1, 300);
    give(&t, 5000);
    CHECK_EQUAL(take(&t, 1, 2 * 2000 * 4096, 0), 1);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* ---- What it counts ---- */

static void the_heap_is_charged_and_freed_with_the_session(const char *mode)
{
    struct server *server = server_in_mode(mode);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    size_t before;

    params.mem_limit = 64 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    before = free_bytes(session);
    kernels_load(session); /* which do not allocate */
    CHECK(before - free_bytes(session) < HEAP_BYTES);
    before = free_bytes(session);
    heap_load(session);
    CHECK_EQUAL(before - free_bytes(session), HEAP_BYTES);
    CHECK(server_memory_used(server) >= HEAP_BYTES);
    CHECK_OK(gs_detach(session));
    CHECK_WITHIN(5000, server_memory_used(server) == 0);
    server_stop(server);
}

static void without_room_for_the_heap_the_load_fails_and_says_why(const char *mode)
{
    struct server *server = server_in_mode(mode);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_module module;
    size_t before;

    params.mem_limit = 6 * MIB;
    CHECK_OK(gs_attach(&params, &session));
    before = free_bytes(session);
    CHECK_STATUS(gs_module_load(session, heap_ptx, strlen(heap_ptx), &module), GS_ERR_QUOTA);
    CHECK_TEXT(gs_last_error_message(), "kernels call malloc");
    CHECK_TEXT(gs_last_error_message(), "heap of 8 MiB");
    CHECK_EQUAL(free_bytes(session), before);
    kernels_load(session);
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void the_size_asked_for_at_attach_holds(const char *mode)
{
    static const struct {
        uint64_t asked, charged;
    } sizes[] = {{20 * MIB, 20 * MIB}, {3 * MIB, 4 * MIB}, {1, 2 * MIB}};
    struct server *server = server_in_mode(mode);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    gs_session session;
    gs_module module;

    params.mem_limit = 64 * MIB;
    for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
        struct tenant t;

        params.kernel_heap = sizes[i].asked;
        CHECK_OK(gs_attach(&params, &t.session));
        CHECK_OK(gs_malloc(t.session, MOST * sizeof(gs_devptr), &t.out));
        size_t before = free_bytes(t.session);
        t.module = heap_load(t.session);
        CHECK_EQUAL(before - free_bytes(t.session), sizes[i].charged);
        uint32_t got = take(&t, 6000, 4096, 0);
        CHECK(got <= sizes[i].charged / 4096 && got > sizes[i].charged / 4096 * 98 / 100);
        CHECK_OK(gs_detach(t.session));
    }
    params.kernel_heap = UINT64_MAX;
    CHECK_OK(gs_attach(&params, &session));
    CHECK_STATUS(gs_module_load(session, heap_ptx, strlen(heap_ptx), &module), GS_ERR_QUOTA);
    CHECK_TEXT(gs_last_error_message(), "kernels call malloc");
    CHECK_OK(gs_kernel_heap(session, 2 * MIB));
    CHECK_OK(gs_module_load(session, heap_ptx, strlen(heap_ptx), &module));
    CHECK_OK(gs_detach(session));
    server_stop(server);
}

static void the_size_may_change_until_kernels_allocate(const char *mode)
{
    struct server *server = server_in_mode(mode);
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    struct tenant t;

    params.mem_limit = 64 * MIB;
    CHECK_OK(gs_attach(&params, &t.session));
    CHECK_OK(gs_malloc(t.session, MOST * sizeof(gs_devptr), &t.out));
    kernels_load(t.session); /* they allocate nothing */
    CHECK_OK(gs_kernel_heap(t.session, 30 * MIB));
    CHECK_OK(gs_kernel_heap(t.session, 20 * MIB));
    size_t before = free_bytes(t.session);
    t.module = heap_load(t.session);
    CHECK_EQUAL(before - free_bytes(t.session), 20 * MIB);
    CHECK_STATUS(gs_kernel_heap(t.session, 24 * MIB), GS_ERR_INVALID_VALUE);
    CHECK_TEXT(gs_last_error_message(), "have their heap, of 20 MiB");
    CHECK(take(&t, 6000, 4096, 0) > 20 * MIB / 4096 * 98 / 100);
    CHECK_OK(gs_detach(t.session));
    server_stop(server);
}

/* ---- What neighbours see ---- */

static void nobody_sees_what_another_session_had_in_its_heap(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant first = tenant_begin(server), beside = tenant_begin(server), next;

    CHECK(take(&first, 3000, 4096, 0) > 2000);
    give(&first, 3000);
    CHECK(look(&beside, 3000, 4096) > 2000);
    CHECK_OK(gs_detach(first.session));
    for (unsigned i = 0; i < 3; i++) {
        next = tenant_begin(server);
        CHECK(look(&next, 3000, 4096) > 2000);
        CHECK_OK(gs_detach(next.session));
    }
    CHECK_OK(gs_detach(beside.session));
    server_stop(server);
}

/* Over all of the heap, its control words too. */
static void who_scribbles_over_its_heap_harms_itself_alone(const char *mode)
{
    struct server *server = server_in_mode(mode);
    struct tenant honest = tenant_begin(server), hostile = tenant_begin(server);
    gs_kernel fill = kernels_get(kernels_load(hostile.session), "fill");
    uint32_t words = HEAP_BYTES / sizeof(uint32_t), one[2];
    gs_devptr base;

    CHECK_EQUAL(take(&honest, 5000, 1, 500), 5000);
    CHECK_EQUAL(take(&hostile, 1, 16, 0), 1);
    CHECK_OK(gs_memcpy_dtoh(hostile.session, &base, hostile.out, sizeof(base)));
    base &= ~(gs_devptr)(2 * MIB - 1);
    for (unsigned round = 0; round < 4; round++) {
        uint32_t value = round ? (uint32_t)test_random() : 0x01000000;

        CHECK_OK(kernels_launch(NULL, fill, words / 256, 256, (void *[]){&base, &value, &words}));
        CHECK_OK(gs_sync(hostile.session));
        launch(&hostile, "look", 32, (void *[]){&(uint32_t){64}, &hostile.words});
        launch(&hostile, "look", 32, (void *[]){&(uint32_t){9000}, &hostile.words});
        read_words(&hostile, one);
    }
    check(&honest, 5000, 1, 500);
    give(&honest, 5000);
    CHECK_EQUAL(take(&honest, 1, 2000 * 4096, 0), 1);
    CHECK_OK(gs_detach(hostile.session));
    CHECK_OK(gs_detach(honest.session));
    server_stop(server);
}

BOTH(threads_allocate_and_another_launch_reads_and_frees)
BOTH(threads_take_and_give_back_beside_each_other)
BOTH(a_full_heap_gives_null_and_what_is_freed_again)
BOTH(all_modules_of_a_session_have_one_heap)
BOTH(it_outlives_the_worker)
BOTH(the_heap_is_charged_and_freed_with_the_session)
BOTH(without_room_for_the_heap_the_load_fails_and_says_why)
BOTH(the_size_asked_for_at_attach_holds)
BOTH(the_size_may_change_until_kernels_allocate)
BOTH(nobody_sees_what_another_session_had_in_its_heap)
BOTH(who_scribbles_over_its_heap_harms_itself_alone)

static const struct test tests[] = {
    TESTS_OF(threads_allocate_and_another_launch_reads_and_frees),
    TESTS_OF(threads_take_and_give_back_beside_each_other),
    TESTS_OF(a_full_heap_gives_null_and_what_is_freed_again),
    TESTS_OF(all_modules_of_a_session_have_one_heap),
    TESTS_OF(it_outlives_the_worker),
    TESTS_OF(the_heap_is_charged_and_freed_with_the_session),
    TESTS_OF(without_room_for_the_heap_the_load_fails_and_says_why),
    TESTS_OF(the_size_asked_for_at_attach_holds),
    TESTS_OF(the_size_may_change_until_kernels_allocate),
    TESTS_OF(nobody_sees_what_another_session_had_in_its_heap),
    TESTS_OF(who_scribbles_over_its_heap_harms_itself_alone),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
