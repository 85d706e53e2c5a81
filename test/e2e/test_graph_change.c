/* test_graph_change.c - graphs whose calls are changed between launches: gs_graph_change and
 * gs_graph_enable. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bystander.h"
#include "harness/harness.h"

#define N 64u

struct scene {
    struct server *server;
    gs_session session;
    gs_module module;
    gs_stream stream;
    gs_kernel store, add;
    gs_devptr data, other;
    uint32_t *host; /* of gs_host_alloc: N words in, N words out */
};

static void scene_set_with(struct scene *s, const gs_attach_params *params)
{
    s->server = server_start(NULL);
    CHECK_OK(gs_attach(params, &s->session));
    s->module = kernels_load(s->session);
    s->store = kernels_get(s->module, "store");
    CHECK_OK(gs_stream_create(s->session, NULL, &s->stream));
    CHECK_OK(gs_malloc(s->session, N * 4, &s->data));
    CHECK_OK(gs_malloc(s->session, N * 4, &s->other));
    CHECK_OK(gs_host_alloc(s->session, 2 * N * 4, (void **)&s->host));
}

static void scene_set(struct scene *s)
{
    scene_set_with(s, NULL);
}

static void scene_end(struct scene *s)
{
    CHECK_OK(gs_detach(s->session));
    server_stop(s->server);
}

static uint32_t word(const struct scene *s, gs_devptr at)
{
    uint32_t value;

    CHECK_OK(gs_memcpy_dtoh(s->session, &value, at, sizeof(value)));
    return value;
}

/* data[at] = value */
static gs_status store(const struct scene *s, unsigned at, uint32_t value)
{
    gs_devptr to = s->data + 4 * at;

    return kernels_launch(s->stream, s->store, 1, 1, (void *[]){&to, &value});
}

/* A graph of `count` stores, of i + 1 in word i. */
static gs_graph stores(const struct scene *s, unsigned count)
{
    gs_graph graph;

    CHECK_OK(gs_graph_begin(s->session, s->stream));
    for (unsigned i = 0; i < count; i++)
        CHECK_OK(store(s, i, i + 1));
    CHECK_OK(gs_graph_end(s->session, s->stream, &graph));
    return graph;
}

static void store_change(const struct scene *s, gs_graph graph, unsigned step, unsigned at,
                         uint32_t value)
{
    CHECK_OK(gs_graph_begin(s->session, s->stream));
    CHECK_OK(store(s, at, value));
    CHECK_OK(gs_graph_change(s->session, s->stream, graph, &step, 1));
}

static void a_launch_makes_the_changed_calls(void)
{
    const unsigned steps[] = {3, 1};
    struct scene s;
    gs_graph graph;

    scene_set(&s);
    graph = stores(&s, 5);
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(word(&s, s.data + 4), 2);
    for (uint32_t round = 0; round < 50; round++) {
        CHECK_OK(gs_memset(s.session, s.data, 0, N * 4));
        CHECK_OK(gs_graph_begin(s.session, s.stream));
        CHECK_OK(store(&s, 10, 100 + round));
        CHECK_OK(store(&s, 1, 200 + round));
        CHECK_OK(gs_graph_change(s.session, s.stream, graph, steps, 2));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word(&s, s.data), 1);
        CHECK_EQUAL(word(&s, s.data + 4), 200 + round);
        CHECK_EQUAL(word(&s, s.data + 12), 0);
        CHECK_EQUAL(word(&s, s.data + 40), 100 + round);
    }
    /* As it was recorded. */
    store_change(&s, graph, 3, 3, 4);
    store_change(&s, graph, 1, 1, 2);
    CHECK_OK(gs_memset(s.session, s.data, 0, N * 4));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    for (unsigned i = 0; i < 6; i++)
        CHECK_EQUAL(word(&s, s.data + 4 * i), i < 5 ? i + 1 : 0);
    scene_end(&s);
}

/* Holds the stream until the test lets it go on. */
static void stream_hold(void *flag, gs_status status)
{
    (void)status;
    while (!atomic_load((_Atomic bool *)flag))
        test_pause();
}

static void a_queued_launch_keeps_the_calls_that_it_was_launched_with(void)
{
    struct scene s;
    gs_stream late;
    gs_graph graph;

    scene_set(&s);
    graph = stores(&s, 3);
    CHECK_OK(gs_stream_create(s.session, NULL, &late));
    for (uint32_t round = 0; round < 20; round++) {
        _Atomic bool go = false;

        CHECK_OK(gs_launch_host(s.session, late, stream_hold, &go));
        store_change(&s, graph, 0, 0, 1000 + round);
        CHECK_OK(gs_graph_launch(graph, late));
        CHECK_OK(gs_memcpy_dtod_async(s.session, s.other, s.data, 4, late));
        store_change(&s, graph, 0, 0, 2000 + round);
        CHECK_OK(gs_graph_launch(graph, late));
        CHECK_OK(gs_memcpy_dtod_async(s.session, s.other + 4, s.data, 4, late));
        CHECK_OK(gs_graph_enable(graph, (const unsigned[]){0}, 1, 0));
        /* In another stream, before the device has begun with the two. */
        store_change(&s, graph, 0, 20, 3000 + round);
        CHECK_OK(gs_graph_enable(graph, (const unsigned[]){0}, 1, 1));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word(&s, s.data + 80), 3000 + round);
        CHECK_STATUS(gs_stream_query(s.session, late), GS_NOT_READY);
        atomic_store(&go, true);
        CHECK_OK(gs_stream_sync(s.session, late));
        CHECK_EQUAL(word(&s, s.other), 1000 + round);
        CHECK_EQUAL(word(&s, s.other + 4), 2000 + round);
    }
    scene_end(&s);
}

/* Two streams launch one graph by turns, each with calls of its own. */
static void launches_in_several_streams_have_their_own_calls(void)
{
    enum { ROUNDS = 300 };
    struct scene s;
    gs_stream side;
    gs_graph graph;
    gs_devptr sums;

    scene_set(&s);
    CHECK_OK(gs_stream_create(s.session, NULL, &side));
    CHECK_OK(gs_malloc(s.session, 2 * ROUNDS * 4, &sums));
    graph = stores(&s, 8);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (unsigned turn = 0; turn < 2; turn++) {
            gs_devptr to = sums + 4 * (uint64_t)(2 * round + turn);
            uint32_t value = 10 * round + turn;

            CHECK_OK(gs_graph_begin(s.session, s.stream));
            CHECK_OK(kernels_launch(s.stream, s.store, 1, 1, (void *[]){&to, &value}));
            CHECK_OK(gs_graph_change(s.session, s.stream, graph, (const unsigned[]){5}, 1));
            CHECK_OK(gs_graph_launch(graph, turn ? side : s.stream));
        }
    }
    CHECK_OK(gs_sync(s.session));
    for (uint32_t round = 0; round < ROUNDS; round++) {
        for (unsigned turn = 0; turn < 2; turn++)
            CHECK_EQUAL(word(&s, sums + 4 * (uint64_t)(2 * round + turn)), 10 * round + turn);
    }
    scene_end(&s);
}

struct changer {
    struct scene *scene;
    gs_graph graph;
    _Atomic bool over;
    uint32_t last;
};

/* Puts numbers that grow into the graph's second call, and leaves its third one out by turns. */
static void *changer_run(void *argument)
{
    struct changer *self = argument;
    const struct scene *s = self->scene;

    for (self->last = 3; !atomic_load(&self->over); self->last++) {
        store_change(s, self->graph, 1, 1, self->last);
        CHECK_OK(gs_graph_enable(self->graph, (const unsigned[]){2}, 1, self->last & 1));
    }
    return NULL;
}

/* Each launch has the calls of one moment, and never earlier ones than the launch before. */
static void a_graph_changes_beside_launches_of_another_thread(void)
{
    struct scene s;
    struct changer changer = {.scene = &s};
    uint32_t before = 0;
    pthread_t thread;
    gs_stream side;

    scene_set(&s);
    CHECK_OK(gs_stream_create(s.session, NULL, &side));
    changer.graph = stores(&s, 4);
    CHECK_EQUAL(pthread_create(&thread, NULL, changer_run, &changer), 0);
    for (unsigned i = 0; i < 500; i++) {
        CHECK_OK(gs_graph_launch(changer.graph, side));
        CHECK_OK(gs_memcpy_dtoh_async(s.session, s.host, s.data, 16, side));
        CHECK_OK(gs_stream_sync(s.session, side));
        CHECK_EQUAL(s.host[0], 1);
        CHECK(s.host[1] >= before);
        CHECK_EQUAL(s.host[3], 4);
        before = s.host[1];
    }
    atomic_store(&changer.over, true);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK(before <= changer.last && changer.last > 3);
    scene_end(&s);
}

/* Grids and blocks, memsets and copies of every kind change, and the branches stay. */
static void all_kinds_of_calls_change(void)
{
    const unsigned both[] = {0, 1};
    uint32_t n = N, rounds = 1, seed = 5;
    struct scene s;
    gs_kernel chain;
    gs_graph graph;

    scene_set(&s);
    chain = kernels_get(s.module, "chain");
    for (unsigned i = 0; i < N; i++)
        s.host[i] = i;
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(gs_memcpy_htod_async(s.session, s.data, s.host, N * 4, s.stream));
    CHECK_OK(gs_graph_after(s.session, s.stream, NULL, 0));
    CHECK_OK(gs_memset_async(s.session, s.other, 0x11, N * 4, s.stream));
    CHECK_OK(gs_graph_after(s.session, s.stream, both, 2));
    CHECK_OK(kernels_launch(s.stream, chain, 1, N, (void *[]){&s.data, &n, &rounds, &seed}));
    CHECK_OK(gs_memcpy_dtod_async(s.session, s.other, s.data, 16, s.stream));
    CHECK_OK(gs_memcpy_dtoh_async(s.session, s.host + N, s.other, N * 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (unsigned round = 0; round < 30; round++) {
        const uint32_t threads = 1u << round % 6;

        n = N - round;
        rounds = 1 + round % 3;
        seed = (uint32_t)test_random();
        CHECK_OK(gs_graph_begin(s.session, s.stream));
        CHECK_OK(gs_memcpy_htod_async(s.session, s.data + 4, s.host + 1, (N - 1) * 4, s.stream));
        CHECK_OK(gs_memset_async(s.session, s.other, (int)round, N * 4 - 4, s.stream));
        CHECK_OK(kernels_launch(s.stream, chain, N / threads, threads,
                                (void *[]){&s.data, &n, &rounds, &seed}));
        CHECK_OK(
            gs_memcpy_dtod_async(s.session, s.other + 8, s.data + 4, 4 * (1 + round), s.stream));
        CHECK_OK(
            gs_memcpy_dtoh_async(s.session, s.host + N + 1, s.other + 4, (N - 2) * 4, s.stream));
        CHECK_OK(gs_graph_change(s.session, s.stream, graph, NULL, 5));
        memset(s.host + N, 0xCC, N * 4);
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(s.host[N], 0xCCCCCCCC);
        CHECK_EQUAL(s.host[2 * N - 1], 0xCCCCCCCC);
        for (unsigned i = 1; i < N - 1; i++)
            CHECK_EQUAL(s.host[N + i], i >= 2 && i < 3 + round ? chain_expected(i - 1, rounds, seed)
                                                               : round * 0x01010101);
    }
    scene_end(&s);
}

/* The blocks of its cluster, from each block. */
static const char tell_ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry tell(.param .u64 out)\n"
    "{ .reg .b64 %rd0; .reg .b32 %r<2>; ld.param.u64 %rd0, [out]; mov.u32 %r0, %ctaid.x;\n"
    "  mov.u32 %r1, %cluster_nctarank; mad.wide.u32 %rd0, %r0, 4, %rd0; st.global.u32 [%rd0], "
    "%r1;\n"
    "  ret; }\n";

static void clusters_change_with_their_launch(void)
{
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(4, 1);
    gs_module module;
    gs_kernel tell;
    gs_graph graph;
    struct scene s;

    scene_set(&s);
    CHECK_OK(gs_module_load(s.session, tell_ptx, 0, &module));
    CHECK_OK(gs_kernel_get(module, "tell", &tell));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    config.cluster = (gs_dim3){4, 1, 1};
    CHECK_OK(gs_launch(s.stream, tell, &config, (void *[]){&s.data}));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (uint32_t blocks = 4; blocks > 0; blocks /= 2) {
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        for (unsigned i = 0; i < 4; i++)
            CHECK_EQUAL(word(&s, s.data + 4 * i), blocks);
        config.cluster = (gs_dim3){blocks > 1 ? blocks / 2 : 1, 1, 1};
        CHECK_OK(gs_graph_begin(s.session, s.stream));
        CHECK_OK(gs_launch(s.stream, tell, &config, (void *[]){&s.data}));
        CHECK_OK(gs_graph_change(s.session, s.stream, graph, NULL, 1));
    }
    scene_end(&s);
}

static void disabled_calls_are_left_out(void)
{
    const unsigned middle[] = {1, 2};
    struct scene s;
    gs_graph graph;

    scene_set(&s);
    graph = stores(&s, 4);
    for (unsigned round = 0; round < 20; round++) {
        CHECK_OK(gs_memset(s.session, s.data, 0, N * 4));
        CHECK_OK(gs_graph_enable(graph, middle, 2, 0));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        for (unsigned i = 0; i < 4; i++)
            CHECK_EQUAL(word(&s, s.data + 4 * i), i == 1 || i == 2 ? 0 : i + 1);
        /* It takes a change meanwhile. */
        store_change(&s, graph, 2, 2, 77);
        CHECK_OK(gs_graph_enable(graph, &middle[1], 1, 1));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word(&s, s.data + 4), 0);
        CHECK_EQUAL(word(&s, s.data + 8), 77);
        CHECK_OK(gs_graph_enable(graph, middle, 2, 1));
        store_change(&s, graph, 2, 2, 3);
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        for (unsigned i = 0; i < 4; i++)
            CHECK_EQUAL(word(&s, s.data + 4 * i), i + 1);
    }
    CHECK_OK(gs_graph_enable(graph, NULL, 4, 0));
    CHECK_OK(gs_memset(s.session, s.data, 0, N * 4));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(word(&s, s.data), 0);
    scene_end(&s);
}

/* Memory that a call names may go when the call has been changed or is left out. */
static void a_changed_call_may_outlive_the_memory_of_the_former(void)
{
    struct scene s;
    gs_devptr first, second;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_malloc(s.session, N * 4, &first));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(gs_memset_async(s.session, s.data, 1, 4, s.stream));
    CHECK_OK(gs_memset_async(s.session, first, 2, N * 4, s.stream));
    CHECK_OK(gs_memset_async(s.session, s.data + 4, 3, 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_OK(gs_malloc(s.session, 2 * N * 4, &second));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(gs_memset_async(s.session, second, 4, 2 * N * 4, s.stream));
    CHECK_OK(gs_graph_change(s.session, s.stream, graph, (const unsigned[]){1}, 1));
    CHECK_OK(gs_free(s.session, first));
    for (unsigned round = 0; round < 3; round++) {
        CHECK_OK(gs_memset(s.session, second, 0, 2 * N * 4));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word(&s, second + 4), 0x04040404);
    }
    CHECK_OK(gs_graph_enable(graph, (const unsigned[]){1}, 1, 0));
    CHECK_OK(gs_free(s.session, second));
    CHECK_OK(gs_memset(s.session, s.data, 0, N * 4));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(word(&s, s.data), 0x01010101);
    CHECK_EQUAL(word(&s, s.data + 4), 0x03030303);
    /* What is launched all the same ends the session. */
    CHECK_OK(gs_graph_enable(graph, (const unsigned[]){1}, 1, 1));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK(gs_stream_sync(s.session, s.stream) != GS_OK);
    gs_detach(s.session);
    server_stop(s.server);
}

/* The numbers of host blocks and kernels are used again, so that a call may name another by the
 * same bytes. Unchanged, it is not to reach what is gone. */
static void a_call_may_name_what_has_the_number_of_the_former(void)
{
    const unsigned all[] = {0, 1};
    struct scene s;
    gs_graph graph;

    scene_set(&s);
    CHECK_OK(gs_memset(s.session, s.data, 0, N * 4));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(store(&s, 0, 1));
    CHECK_OK(gs_memcpy_dtoh_async(s.session, s.host, s.data, N * 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    for (uint32_t round = 0; round < 10; round++) {
        CHECK_OK(gs_host_free(s.session, s.host));
        CHECK_OK(gs_module_unload(s.module));
        CHECK_OK(gs_sync(s.session));
        s.module = kernels_load(s.session);
        s.store = kernels_get(s.module, "store");
        CHECK_OK(gs_host_alloc(s.session, 2 * N * 4, (void **)&s.host));
        memset(s.host, 0xCC, 2 * N * 4);
        CHECK_OK(gs_graph_begin(s.session, s.stream));
        CHECK_OK(store(&s, 0, 1));
        CHECK_OK(gs_memcpy_dtoh_async(s.session, s.host, s.data, N * 4, s.stream));
        CHECK_OK(gs_graph_change(s.session, s.stream, graph, all, 2));
        for (unsigned i = 0; i < 2; i++) {
            s.host[0] = 7;
            CHECK_OK(gs_memset(s.session, s.data, 0, N * 4));
            CHECK_OK(gs_graph_launch(graph, s.stream));
            CHECK_OK(gs_stream_sync(s.session, s.stream));
            CHECK_EQUAL(s.host[0], 1);
            CHECK_EQUAL(s.host[N - 1], 0);
        }
    }
    CHECK_OK(gs_host_free(s.session, s.host));
    CHECK_OK(gs_host_alloc(s.session, 2 * N * 4, (void **)&s.host));
    CHECK_OK(gs_graph_enable(graph, all, 2, 0));
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    scene_end(&s);
}

/* Longer than one graph of the server takes. */
static void a_graph_of_thousands_changes(void)
{
    enum { STEPS = 5000 };
    static uint32_t words[STEPS];
    static unsigned steps[STEPS / 50];
    struct scene s;
    gs_graph graph;
    gs_devptr data;

    scene_set(&s);
    CHECK_OK(gs_malloc(s.session, sizeof(words), &data));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    for (unsigned i = 0; i < STEPS; i++)
        CHECK_OK(gs_memset_async(s.session, data + 4 * i, 1, 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));
    for (unsigned round = 2; round < 6; round++) {
        CHECK_OK(gs_graph_begin(s.session, s.stream));
        for (unsigned i = 0; i < ARRAY_SIZE(steps); i++) {
            steps[i] = 50 * i + round;
            CHECK_OK(gs_memset_async(s.session, data + 4 * steps[i], (int)round, 4, s.stream));
        }
        CHECK_OK(gs_graph_change(s.session, s.stream, graph, steps, ARRAY_SIZE(steps)));
        CHECK_OK(gs_graph_launch(graph, s.stream));
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_OK(gs_memcpy_dtoh(s.session, words, data, sizeof(words)));
        for (unsigned i = 0; i < STEPS; i++) {
            const unsigned of = i % 50;

            CHECK_EQUAL(words[i], (of >= 2 && of <= round ? of : 1) * 0x01010101);
        }
    }
    scene_end(&s);
}

static void what_does_not_fit_changes_nothing(void)
{
    const unsigned zero = 0, beyond = 3;
    struct scene s;
    gs_graph graph, copies;
    gs_devptr data;

    scene_set(&s);
    graph = stores(&s, 3);
    CHECK_STATUS(gs_graph_change(s.session, s.stream, graph, &zero, 1), GS_ERR_RECORDING);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(gs_memset_async(s.session, s.data, 9, 4, s.stream));
    CHECK_STATUS(gs_graph_change(s.session, s.stream, graph, &zero, 1), GS_ERR_NOT_SUPPORTED);
    /* That has ended the recording. */
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(store(&s, 0, 9));
    CHECK_STATUS(gs_graph_change(s.session, s.stream, graph, &beyond, 1), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(store(&s, 0, 9));
    CHECK_STATUS(gs_graph_change(s.session, s.stream, graph, NULL, 2), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(store(&s, 0, 9));
    CHECK_STATUS(gs_memset_async(s.session, s.data, 1, N * 4 + 1, s.stream),
                 GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_graph_change(s.session, s.stream, graph, &zero, 1), GS_ERR_INVALID_POINTER);
    CHECK_STATUS(gs_graph_enable(graph, &beyond, 1, 0), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_graph_launch(graph, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(word(&s, s.data), 1);
    /* A copy to the host is not one to the device, and a launch holds only so many changes. */
    CHECK_OK(gs_malloc(s.session, 2048 * 8, &data));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    for (unsigned i = 0; i < 2048; i++)
        CHECK_OK(gs_memcpy_htod_async(s.session, data + 4 * i, s.host, 4, s.stream));
    CHECK_OK(gs_graph_end(s.session, s.stream, &copies));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_OK(gs_memcpy_dtoh_async(s.session, s.host, data, 4, s.stream));
    CHECK_STATUS(gs_graph_change(s.session, s.stream, copies, &zero, 1), GS_ERR_NOT_SUPPORTED);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    for (unsigned i = 0; i < 2048; i++)
        CHECK_OK(gs_memcpy_htod_async(s.session, data + 4 * (2047 - i), s.host + 1, 8, s.stream));
    CHECK_STATUS(gs_graph_change(s.session, s.stream, copies, NULL, 2048), GS_ERR_LIMIT);
    s.host[0] = 55;
    s.host[1] = 66;
    CHECK_OK(gs_graph_launch(copies, s.stream));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(word(&s, data), 55);
    CHECK_EQUAL(word(&s, data + 4 * 2047), 55);
    CHECK_EQUAL(word(&s, data + 4 * 2048), 0);
    CHECK_OK(gs_graph_destroy(copies));
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_STATUS(gs_graph_change(s.session, s.stream, copies, NULL, 0), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_graph_enable(copies, NULL, 0, 0), GS_ERR_INVALID_HANDLE);
    scene_end(&s);
}

/* Each launch makes the calls that it was launched with, whichever worker makes them: the graph is
 * changed, launched, and its worker killed before or behind the launch. */
static void changes_hold_from_worker_to_worker(void)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;
    struct scene s;
    gs_graph graph;

    params.on_fault = GS_ON_FAULT_REPLAY;
    scene_set_with(&s, &params);
    graph = stores(&s, 3);
    for (uint32_t round = 0; round < 32; round++) {
        const pid_t worker = server_worker_pid(s.server);
        const bool on = round % 3, before = round % 8 == 1, behind = round % 8 == 5;

        CHECK_OK(gs_memset(s.session, s.data, 0, N * 4));
        store_change(&s, graph, 0, 5, 100 + round);
        CHECK_OK(gs_graph_enable(graph, (const unsigned[]){1}, 1, on));
        if (before)
            CHECK_EQUAL(kill(worker, SIGKILL), 0);
        CHECK_OK(gs_graph_launch(graph, s.stream));
        if (behind)
            CHECK_EQUAL(kill(worker, SIGKILL), 0);
        /* for a launch that is not this one */
        store_change(&s, graph, 0, 6, 7);
        CHECK_OK(gs_stream_sync(s.session, s.stream));
        CHECK_EQUAL(word(&s, s.data), 0);
        CHECK_EQUAL(word(&s, s.data + 4), on ? 2 : 0);
        CHECK_EQUAL(word(&s, s.data + 8), 3);
        CHECK_EQUAL(word(&s, s.data + 20), 100 + round);
        CHECK_EQUAL(word(&s, s.data + 24), 0);
        if (before || behind)
            CHECK_WITHIN(20000, server_worker_other(s.server, 0, worker));
    }
    scene_end(&s);
}

static const struct test tests[] = {
    TEST(a_launch_makes_the_changed_calls),
    TEST(a_queued_launch_keeps_the_calls_that_it_was_launched_with),
    TEST(launches_in_several_streams_have_their_own_calls),
    TEST(a_graph_changes_beside_launches_of_another_thread),
    TEST(all_kinds_of_calls_change),
    TEST(clusters_change_with_their_launch),
    TEST(disabled_calls_are_left_out),
    TEST(a_changed_call_may_outlive_the_memory_of_the_former),
    TEST(a_call_may_name_what_has_the_number_of_the_former),
    TEST(a_graph_of_thousands_changes),
    TEST(what_does_not_fit_changes_nothing),
    TEST(changes_hold_from_worker_to_worker),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
