/* test_stream_memory.c - memory that streams allocate and free in their order. */
#include <stdatomic.h>
#include <string.h>

#include "harness/harness.h"

#define SIZE 4096u
#define MIB  ((size_t)1 << 20)

struct scene {
    struct server *server;
    gs_session session;
    gs_stream stream, other;
    _Atomic bool go;
};

static void scene_set(struct scene *s, size_t limit)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    s->server = server_start(NULL);
    params.mem_limit = limit;
    CHECK_OK(gs_attach(&params, &s->session));
    CHECK_OK(gs_stream_create(s->session, NULL, &s->stream));
    CHECK_OK(gs_stream_create(s->session, NULL, &s->other));
    atomic_store(&s->go, false);
}

static void scene_end(const struct scene *s)
{
    CHECK_OK(gs_detach(s->session));
    server_wait_tenants(s->server, 0, 5000);
    CHECK_EQUAL(server_memory_used(s->server), 0);
    server_stop(s->server);
}

/* Holds the stream until the test lets it go on. */
static void hold(void *go, gs_status status)
{
    (void)status;
    while (!atomic_load((_Atomic bool *)go))
        test_pause();
}

static gs_devptr allocate(const struct scene *s, gs_stream stream, size_t size)
{
    gs_devptr ptr = 0;

    CHECK_OK(gs_malloc_async(s->session, size, stream, &ptr));
    CHECK(ptr != 0);
    return ptr;
}

/* The stream has done nothing yet, and what uses the memory next comes behind what used it. */
static void memory_given_back_is_its_streams_again_at_once(void)
{
    static unsigned char first[SIZE], second[SIZE];
    struct scene s;
    gs_devptr memory, copies, again;

    scene_set(&s, 0);
    CHECK_OK(gs_malloc(s.session, 2 * SIZE, &copies));
    memory = allocate(&s, s.stream, SIZE);
    CHECK_OK(gs_launch_host(s.session, s.stream, hold, &s.go));
    CHECK_OK(gs_memset_async(s.session, memory, 1, SIZE, s.stream));
    CHECK_OK(gs_memcpy_dtod_async(s.session, copies, memory, SIZE, s.stream));
    CHECK_OK(gs_free_async(s.session, memory, s.stream));
    again = allocate(&s, s.stream, SIZE - 100); /* of the same rounded size */
    CHECK_EQUAL(again, memory);
    CHECK_OK(gs_memset_async(s.session, again, 2, SIZE - 100, s.stream));
    CHECK_OK(gs_memcpy_dtod_async(s.session, copies + SIZE, again, SIZE - 100, s.stream));
    CHECK_STATUS(gs_stream_query(s.session, s.stream), GS_NOT_READY);
    atomic_store(&s.go, true);
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_OK(gs_memcpy_dtoh(s.session, first, copies, SIZE));
    CHECK_OK(gs_memcpy_dtoh(s.session, second, copies + SIZE, SIZE - 100));
    for (unsigned i = 0; i < SIZE - 100; i++)
        CHECK(first[i] == 1 && second[i] == 2);
    scene_end(&s);
}

static void a_block_that_is_too_large_to_keep_leaves_the_others(void)
{
    gs_devptr memory, large;
    struct scene s;

    scene_set(&s, 0);
    memory = allocate(&s, s.stream, SIZE);
    large = allocate(&s, s.stream, 65 * MIB);
    CHECK_OK(gs_launch_host(s.session, s.stream, hold, &s.go));
    CHECK_OK(gs_free_async(s.session, memory, s.stream));
    CHECK_OK(gs_free_async(s.session, large, s.stream));
    CHECK_EQUAL(allocate(&s, s.stream, SIZE), memory);
    atomic_store(&s.go, true);
    scene_end(&s);
}

static void another_stream_gets_it_when_the_work_is_done(void)
{
    struct scene s;
    gs_devptr memory, elsewhere;

    scene_set(&s, 0);
    memory = allocate(&s, s.stream, SIZE);
    CHECK_OK(gs_launch_host(s.session, s.stream, hold, &s.go));
    CHECK_OK(gs_memset_async(s.session, memory, 1, SIZE, s.stream));
    CHECK_OK(gs_free_async(s.session, memory, s.stream));
    elsewhere = allocate(&s, s.other, SIZE);
    CHECK(elsewhere != memory);
    CHECK(allocate(&s, NULL, SIZE) != memory);
    atomic_store(&s.go, true);
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(allocate(&s, s.other, SIZE), memory);
    scene_end(&s);
}

static void what_was_given_back_is_nobodys(void)
{
    struct scene s;
    gs_devptr memory, plain;

    scene_set(&s, 0);
    memory = allocate(&s, s.stream, SIZE);
    CHECK_OK(gs_free_async(s.session, memory, s.stream));
    CHECK_STATUS(gs_memset(s.session, memory, 0, SIZE), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_free_async(s.session, memory, s.stream), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_free(s.session, memory), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_free_async(s.session, 0, s.stream));
    CHECK_OK(gs_malloc(s.session, SIZE, &plain)); /* of zeros: never what was given back */
    CHECK(plain != memory);
    CHECK_STATUS(gs_free_async(s.session, plain + 256, s.stream), GS_ERR_INVALID_POINTER);
    CHECK_OK(gs_free_async(s.session, plain, s.stream));
    CHECK_OK(gs_free(s.session, allocate(&s, s.stream, SIZE)));
    CHECK_STATUS(gs_malloc_async(s.session, 0, s.stream, &memory), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_malloc_async(s.session, SIZE, s.stream, NULL), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_malloc_async(s.session, SIZE_MAX, s.stream, &memory), GS_ERR_QUOTA);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_STATUS(gs_malloc_async(s.session, SIZE, s.stream, &memory), GS_ERR_RECORDING);
    CHECK_STATUS(gs_free_async(s.session, memory, s.stream), GS_ERR_RECORDING);
    scene_end(&s);
}

static size_t free_bytes(const struct scene *s)
{
    size_t free_now, total;

    CHECK_OK(gs_mem_info(s->session, &free_now, &total));
    return free_now;
}

static void a_session_keeps_so_much_and_gives_it_up_for_other_memory(void)
{
    enum { COUNT = 10 };
    gs_devptr memory[COUNT], large;
    struct scene s;
    size_t before;

    scene_set(&s, 256 * MIB);
    before = free_bytes(&s);
    for (unsigned i = 0; i < COUNT; i++)
        memory[i] = allocate(&s, s.stream, 16 * MIB);
    CHECK_EQUAL(free_bytes(&s), before - COUNT * 16 * MIB);
    for (unsigned i = 0; i < COUNT; i++)
        CHECK_OK(gs_free_async(s.session, memory[i], s.stream));
    CHECK_WITHIN(5000, free_bytes(&s) == before - 64 * MIB);
    CHECK_OK(gs_malloc(s.session, before - 32 * MIB, &large));
    CHECK_OK(gs_free(s.session, large));
    CHECK_WITHIN(5000, free_bytes(&s) == before);
    scene_end(&s);
}

static const struct test tests[] = {
    TEST(memory_given_back_is_its_streams_again_at_once),
    TEST(a_block_that_is_too_large_to_keep_leaves_the_others),
    TEST(another_stream_gets_it_when_the_work_is_done),
    TEST(what_was_given_back_is_nobodys),
    TEST(a_session_keeps_so_much_and_gives_it_up_for_other_memory),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
