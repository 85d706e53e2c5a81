/* test_graph.c - recording what a stream is given, and launching it again and again. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bystander.h"
#include "harness/harness.h"

#define N 256u

struct scene {
    struct server *server;
    gs_session session;
    gs_module module;
    gs_stream stream;
    gs_devptr data, mirror;
    uint32_t *block; /* of gs_host_alloc: N words in, N words out */
};

static void scene_set(struct scene *scene)
{
    scene->server = server_start(NULL);
    CHECK_OK(server_attach(scene->server, &scene->session));
    scene->module = kernels_load(scene->session);
    CHECK_OK(gs_stream_create(scene->session, NULL, &scene->stream));
    CHECK_OK(gs_malloc(scene->session, N * 4, &scene->data));
    CHECK_OK(gs_malloc(scene->session, N * 4, &scene->mirror));
    CHECK_OK(gs_host_alloc(scene->session, 2 * N * 4, (void **)&scene->block));
}

static void scene_end(struct scene *scene)
{
    CHECK_OK(gs_detach(scene->session));
    server_stop(scene->server);
}

static gs_status chain_on(const struct scene *scene, gs_stream stream, uint32_t seed)
{
    uint32_t n = N, rounds = 3;
    gs_devptr data = scene->data;

    return kernels_launch(stream, kernels_get(scene->module, "chain"), N / 64, 64,
                          (void *[]){&data, &n, &rounds, &seed});
}

/* block in -> data -> chain twice -> mirror -> block out */
static gs_graph round_trip(const struct scene *scene)
{
    gs_graph graph;

    CHECK_OK(gs_graph_begin(scene->session, scene->stream));
    CHECK_OK(gs_memcpy_htod_async(scene->session, scene->data, scene->block, N * 4, scene->stream));
    CHECK_OK(chain_on(scene, scene->stream, 11));
    CHECK_OK(chain_on(scene, scene->stream, 22));
    CHECK_OK(gs_memset_async(scene->session, scene->mirror, 0xEE, N * 4, scene->stream));
    CHECK_OK(
        gs_memcpy_dtod_async(scene->session, scene->mirror, scene->data, N * 4 - 4, scene->stream));
    CHECK_OK(gs_memcpy_dtoh_async(scene->session, scene->block + N, scene->mirror, N * 4,
                                  scene->stream));
    CHECK_OK(gs_graph_end(scene->session, scene->stream, &graph));
    return graph;
}

static void out_check(const struct scene *scene)
{
    for (unsigned i = 0; i + 1 < N; i++)
        CHECK_EQUAL(scene->block[N + i],
                    chain_expected(chain_expected(scene->block[i], 3, 11), 3, 22));
    CHECK_EQUAL(scene->block[2 * N - 1], 0xEEEEEEEE);
}

/* Longer than one graph of the server takes: each copy needs the one before it. */
static void a_graph_of_thousands_keeps_its_order(void)
{
    enum { WORDS = 10000 };
    static uint32_t words[WORDS];
    gs_graph graph, other;
    gs_devptr chain;
    struct scene s;

    scene_set(&s);
    CHECK_OK(gs_malloc(s.session, sizeof(words), &chain));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    for (uint32_t i = 0; i + 1 < WORDS; i++)
        CHECK_OK(gs_memcpy_dtod_async(s.session, chain + 4 * (i + 1), chain + 4 * i, 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (uint32_t round = 1; round <= 3; round++) {
        CHECK_OK(gs_memset_async(s.session, chain, (int)round, 4, s.stream));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_memset_async(s.session, chain, 0, 4, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_OK(gs_memcpy_dtoh(s.session, words, chain, sizeof(words)));
        for (uint32_t i = 0; i < WORDS; i++)
            CHECK_EQUAL(words[i], i ? round * 0x01010101 : 0);
    }
    CHECK_OK(gs_graph_destroy(graph));
    /* Each of the server's graphs is there again. */
    for (unsigned i = 0; i < 1024; i++) {
        CHECK_OK(gs_graph_begin(s.session, s.stream));
        CHECK_OK(gs_memset_async(s.session, chain, 1, 4, s.stream));
        CHECK_OK(gs_graph_end(s.session, s.stream, &other));
    }
    scene_end(&s);
}

static void a_graph_runs_what_was_recorded_each_time(void)
{
    struct scene s;
    gs_graph graph;

    scene_set(&s);
    memset(s.block, 0xCC, 2 * N * 4);
    graph = round_trip(&s);
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(s.block[N], 0xCCCCCCCC); /* recording runs nothing */
    for (unsigned round = 0; round < 100; round++) {
        for (unsigned i = 0; i < N; i++)
            s.block[i] = (uint32_t)test_random();
        memset(s.block + N, 0, N * 4);
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        out_check(&s);
    }
    CHECK_OK(gs_graph_destroy(graph));
    CHECK_STATUS(gs_graph_launch(graph, s.stream), GS_ERR_INVALID_HANDLE);
    scene_end(&s);
}

/* Holds the stream until the test lets it go on. */
static void stream_hold(void *flag, gs_status status)
{
    (void)status;
    while (!atomic_load((_Atomic bool *)flag))
        test_pause();
}

/* gs_graph_destroy returns while the launches wait, which end only when the test lets them. More
 * than the session may have at a time. */
static void launches_of_a_destroyed_graph_go_on_to_their_end(void)
{
    struct scene s;

    scene_set(&s);
    for (unsigned i = 0; i < 40; i++) {
        gs_graph graph = round_trip(&s), other = round_trip(&s);
        _Atomic bool go = false;

        for (unsigned k = 0; k < N; k++)
            s.block[k] = (uint32_t)test_random();
        memset(s.block + N, 0, N * 4);
        CHECK_OK(gs_launch_host(s.session, s.stream, stream_hold, &go));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_graph_destroy(graph));
        CHECK_STATUS(gs_graph_destroy(graph), GS_ERR_INVALID_HANDLE);
        CHECK_STATUS(gs_graph_launch(graph, s.stream), GS_ERR_INVALID_HANDLE);
        CHECK_OK(gs_graph_launch(other, s.stream));
        CHECK_OK(gs_graph_destroy(other));
        CHECK_STATUS(gs_stream_query(s.session, s.stream), GS_NOT_READY);
        atomic_store(&go, true);
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        out_check(&s);
    }
    scene_end(&s);
}

/* The first branch ends only when the second has run, and what follows waits for both. */
static void branches_of_a_graph_run_beside_each_other(void)
{
    const unsigned both[] = {0, 1}, later[] = {3};
    gs_devptr flag;
    gs_graph graph;
    struct scene s;
    unsigned steps;

    scene_set(&s);
    CHECK_OK(gs_malloc(s.session, 4, &flag));
    CHECK_STATUS(gs_graph_steps(s.session, s.stream, &steps), GS_ERR_RECORDING);
    CHECK_STATUS(gs_graph_after(s.session, s.stream, both, 2), GS_ERR_RECORDING);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(
        kernels_launch(s.stream, kernels_get(s.module, "spin_until"), 1, 1, (void *[]){&flag}));
    CHECK_OK(gs_graph_after(s.session, s.stream, NULL, 0));
    CHECK_OK(gs_memset_async(s.session, flag, 1, 4, s.stream));
    CHECK_OK(gs_graph_steps(s.session, s.stream, &steps));
    CHECK_EQUAL(steps, 2);
    CHECK_OK(gs_graph_after(s.session, s.stream, both, 2));
    CHECK_OK(gs_memset_async(s.session, flag, 0, 4, s.stream));
    CHECK_OK(gs_memcpy_dtoh_async(s.session, s.block, flag, 4, s.stream));
    CHECK_STATUS(gs_graph_after(s.session, s.stream, (const unsigned[]){4}, 1),
                 GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_graph_after(s.session, s.stream, later, 1));
    CHECK_OK(gs_memset_async(s.session, flag, 0, 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (unsigned round = 0; round < 20; round++) {
        s.block[0] = 7;
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(s.block[0], 0);
    }
    CHECK_OK(gs_graph_destroy(graph));
    /* The server refuses a step that is named twice. */
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(gs_memset_async(s.session, flag, 0, 4, s.stream));
    CHECK_OK(gs_graph_after(s.session, s.stream, (const unsigned[]){0, 0}, 2));
    CHECK_OK(gs_memset_async(s.session, flag, 0, 4, s.stream));
    CHECK_STATUS(gs_graph_end(s.session, s.stream, &graph), GS_ERR_INVALID_VALUE);
    scene_end(&s);
}

/* Each step adds what all steps since the last join have made; of more steps than one graph of the
 * server takes, where a part begins between a step and those that it waits for. */
static void a_long_graph_of_branches_keeps_its_edges(void)
{
    enum { WIDTH = 5, ROUNDS = 700 };
    static uint32_t words[WIDTH * (ROUNDS + 1)];
    gs_devptr data;
    gs_graph graph;
    struct scene s;
    unsigned before[WIDTH], now[WIDTH];

    scene_set(&s);
    CHECK_OK(gs_malloc(s.session, sizeof(words), &data));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    /* Word w of a round is a copy of word w + 1 of the round before. */
    for (unsigned r = 0; r < ROUNDS; r++) {
        for (unsigned w = 0; w < WIDTH; w++) {
            const unsigned from = (w + 1) % WIDTH;

            CHECK_OK(gs_graph_after(s.session, s.stream, r ? &before[from] : NULL, r ? 1 : 0));
            CHECK_OK(gs_graph_steps(s.session, s.stream, &now[w]));
            CHECK_OK(gs_memcpy_dtod_async(s.session, data + 4 * (uint64_t)((r + 1) * WIDTH + w),
                                          data + 4 * (uint64_t)(r * WIDTH + from), 4, s.stream));
        }
        memcpy(before, now, sizeof(before));
    }
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (uint32_t round = 0; round < 3; round++) {
        memset(words, 0, sizeof(words));
        for (uint32_t w = 0; w < WIDTH; w++)
            words[w] = 100 * round + w;
        CHECK_OK(gs_memcpy_htod(s.session, data, words, sizeof(words)));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_OK(gs_memcpy_dtoh(s.session, words, data, sizeof(words)));
        for (uint32_t w = 0; w < WIDTH; w++)
            CHECK_EQUAL(words[WIDTH * ROUNDS + w], 100 * round + (w + ROUNDS) % WIDTH);
    }
    scene_end(&s);
}

struct freer {
    gs_session session;
    _Atomic bool over;
    unsigned count;
};

static void *freer_run(void *argument)
{
    struct freer *self = argument;

    while (!atomic_load(&self->over)) {
        gs_devptr memory;

        CHECK_OK(gs_malloc(self->session, 4096, &memory));
        CHECK_OK(gs_free(self->session, memory));
        self->count++;
    }
    return NULL;
}

/* Each free makes graphs check their records again, of which this one has thousands. */
static void a_long_graph_goes_on_beside_a_thread_that_frees(void)
{
    const unsigned rounds = 20, copies = 5000;
    struct scene s;
    struct freer freer = {0};
    pthread_t thread;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    for (unsigned i = 0; i < copies; i++)
        CHECK_OK(gs_memcpy_htod_async(s.session, s.data + i % N * 4, s.block + i % N, 4, s.stream));
    CHECK_OK(gs_memcpy_dtoh_async(s.session, s.block + N, s.data, N * 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    freer.session = s.session;
    CHECK_EQUAL(pthread_create(&thread, NULL, freer_run, &freer), 0);
    for (unsigned round = 0; round < rounds; round++) {
        for (unsigned i = 0; i < N; i++)
            s.block[i] = (uint32_t)test_random();
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK(memcmp(s.block, s.block + N, N * 4) == 0);
    }
    atomic_store(&freer.over, true);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(freer.count > 0);
    scene_end(&s);
}

static void a_graph_can_be_launched_in_other_streams(void)
{
    struct scene s;
    gs_stream other;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_stream_create(s.session, NULL, &other));
    graph = round_trip(&s);
    for (unsigned round = 0; round < 20; round++) {
        gs_stream where = round % 3 == 0 ? NULL : round % 3 == 1 ? other : s.stream;

        for (unsigned i = 0; i < N; i++)
            s.block[i] = (uint32_t)test_random();
        CHECK_OK(gs_graph_launch(graph, where));
        CHECK_OK(gs_stream_sync(s.session, where));
        out_check(&s);
    }
    scene_end(&s);
}

static void many_launches_of_a_graph_queue_up_in_order(void)
{
    enum { LAUNCHES = 3000, PER_GRAPH = 5 };
    struct scene s;
    uint32_t counted;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    for (unsigned i = 0; i < PER_GRAPH; i++)
        CHECK_OK(kernels_launch(s.stream, kernels_get(s.module, "increment"), 1, 1,
                                (void *[]){&s.data}));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (unsigned i = 0; i < LAUNCHES; i++)
        CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_memcpy_dtoh_async(s.session, &counted, s.data, sizeof(counted), s.stream));
    CHECK_EQUAL(counted, LAUNCHES * PER_GRAPH);
    scene_end(&s);
}

static void an_empty_graph_does_nothing(void)
{
    struct scene s;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_OK(gs_graph_destroy(graph));
    scene_end(&s);
}

static void what_cannot_be_recorded_says_so(void)
{
    struct scene s;
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_report_id report;
    uint32_t word = 0;
    gs_graph graph, earlier;
    gs_event event;

    scene_set(&s);
    earlier = round_trip(&s);
    CHECK_OK(gs_event_create(s.session, &event));
    CHECK_STATUS(gs_graph_end(s.session, s.stream, &graph), GS_ERR_RECORDING);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_STATUS(gs_graph_begin(s.session, s.stream), GS_ERR_RECORDING);
    CHECK_STATUS(gs_stream_sync(s.session, s.stream), GS_ERR_RECORDING);
    CHECK_STATUS(gs_stream_query(s.session, s.stream), GS_ERR_RECORDING);
    CHECK_STATUS(gs_event_record(event, s.stream), GS_ERR_RECORDING);
    CHECK_STATUS(gs_stream_wait_event(s.stream, event), GS_ERR_RECORDING);
    CHECK_STATUS(gs_graph_launch(earlier, s.stream), GS_ERR_RECORDING);
    CHECK_STATUS(gs_stream_destroy(s.stream), GS_ERR_RECORDING);
    CHECK_STATUS(gs_memcpy_htod_async(s.session, s.data, &word, 4, s.stream), GS_ERR_RECORDING);
    config.report = &report;
    CHECK_STATUS(gs_launch(s.stream, kernels_get(s.module, "nothing"), &config, NULL),
                 GS_ERR_RECORDING);
    /* Other streams are not affected. */
    CHECK_OK(gs_memcpy_htod(s.session, s.data, &word, 4));
    CHECK_OK(gs_sync(s.session));
    gs_graph_end(s.session, s.stream, &graph);
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_OK(chain_on(&s, s.stream, 1));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    scene_end(&s);
}

static void a_recording_that_failed_ends_with_its_first_failure(void)
{
    struct scene s;
    gs_graph graph = (gs_graph)0x77;

    scene_set(&s);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(chain_on(&s, s.stream, 1));
    CHECK_STATUS(gs_memset_async(s.session, s.data, 1, N * 4 + 1, s.stream),
                 GS_ERR_INVALID_POINTER);
    CHECK_STATUS(kernels_launch(s.stream, kernels_get(s.module, "nothing"), 0, 1, NULL),
                 GS_ERR_LAUNCH_CONFIG);
    CHECK_STATUS(gs_graph_end(s.session, s.stream, &graph), GS_ERR_INVALID_POINTER);
    CHECK(graph == (gs_graph)0x77);
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_OK(gs_graph_launch(round_trip(&s), s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    out_check(&s);
    scene_end(&s);
}

/* What a graph uses may be freed after it was recorded: launching it then is a mistake of the
 * tenant's that must not reach the device. */
static void a_graph_whose_memory_is_gone_harms_nobody(void)
{
    struct scene s;
    struct bystanders *others;
    gs_graph graph;
    gs_status status;

    scene_set(&s);
    others = bystanders_start(1);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(gs_memset_async(s.session, s.mirror, 1, N * 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_OK(gs_free(s.session, s.mirror));
    status = gs_graph_launch(graph, s.stream);
    if (status == GS_OK)
        status = gs_stream_sync(s.session, s.stream);
    CHECK(status != GS_OK);
    CHECK(gs_last_error_message()[0] != '\0');
    bystanders_stop(others);
    gs_detach(s.session);
    server_stop(s.server);
}

static void graphs_have_a_limit(void)
{
    static gs_graph graph[1024];
    struct scene s;
    gs_graph more;

    scene_set(&s);
    for (unsigned i = 0; i <= ARRAY_SIZE(graph); i++) {
        CHECK_OK(gs_graph_begin(s.session, s.stream));
        CHECK_OK(gs_memset_async(s.session, s.data, (int)i, 4, s.stream));
        if (i < ARRAY_SIZE(graph))
            CHECK_OK(gs_graph_end(s.session, s.stream, &graph[i]));
        else
            CHECK_STATUS(gs_graph_end(s.session, s.stream, &more), GS_ERR_LIMIT);
    }
    CHECK_TEXT(gs_last_error_message(), "1024");
    CHECK_OK(gs_graph_destroy(graph[3]));
    CHECK_OK(gs_graph_launch(round_trip(&s), s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    out_check(&s);
    scene_end(&s);
}

static const struct test tests[] = {
    TEST(a_graph_runs_what_was_recorded_each_time),
    TEST(a_graph_of_thousands_keeps_its_order),
    TEST(a_long_graph_goes_on_beside_a_thread_that_frees),
    TEST(a_graph_can_be_launched_in_other_streams),
    TEST(many_launches_of_a_graph_queue_up_in_order),
    TEST(launches_of_a_destroyed_graph_go_on_to_their_end),
    TEST(branches_of_a_graph_run_beside_each_other),
    TEST(a_long_graph_of_branches_keeps_its_edges),
    TEST(an_empty_graph_does_nothing),
    TEST(what_cannot_be_recorded_says_so),
    TEST(a_recording_that_failed_ends_with_its_first_failure),
    TEST(a_graph_whose_memory_is_gone_harms_nobody),
    TEST(graphs_have_a_limit),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
