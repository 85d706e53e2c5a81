/*
 * test_threads.c - many threads in one session: on one stream, on streams of their own, making and
 * destroying what others use, and detaching under them. Meant for ThreadSanitizer as well.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "bystander.h"
#include "harness/harness.h"

#define THREADS 8u

struct shared {
    gs_session session;
    gs_module module;
    gs_kernel chain, count;
    gs_stream stream; /* one for all */
    gs_devptr counter;
    _Atomic uint32_t started;
    _Atomic bool stop;
    /* What is being made and destroyed; handles of the dead stay here and are used. */
    _Atomic(gs_stream) shaky_stream;
    _Atomic(gs_event) shaky_event;
    _Atomic(gs_module) shaky_module;
    _Atomic(gs_kernel) shaky_kernel;
    _Atomic(gs_graph) shaky_graph;
    _Atomic gs_devptr shaky_memory;
};

static void shared_set(struct shared *shared, struct server **server)
{
    *server = server_start(NULL);
    *shared = (struct shared){.session = NULL};
    CHECK_OK(server_attach(*server, &shared->session));
    shared->module = kernels_load(shared->session);
    shared->chain = kernels_get(shared->module, "chain");
    shared->count = kernels_get(shared->module, "count");
    CHECK_OK(gs_stream_create(shared->session, NULL, &shared->stream));
    CHECK_OK(gs_malloc(shared->session, 4, &shared->counter));
}

static void threads_run(struct shared *shared, unsigned count, void *(*body)(void *))
{
    pthread_t thread[32];

    for (unsigned i = 0; i < count; i++)
        CHECK(pthread_create(&thread[i], NULL, body, shared) == 0);
    for (unsigned i = 0; i < count; i++)
        pthread_join(thread[i], NULL);
}

/* Numbers for threads: test_random is the process's. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* ---- All on one stream ---- */

#define COUNT_ROUNDS 400u

static void *count_run(void *argument)
{
    struct shared *shared = argument;
    gs_event event;

    CHECK_OK(gs_event_create(shared->session, &event));
    for (unsigned i = 0; i < COUNT_ROUNDS; i++) {
        CHECK_OK(
            kernels_launch(shared->stream, shared->count, 1, 32, (void *[]){&shared->counter}));
        if (i % 16 == 0) {
            CHECK_OK(gs_event_record(event, shared->stream));
            CHECK_OK(gs_event_sync(event));
        }
        if (i % 64 == 0)
            CHECK_OK(gs_stream_sync(shared->session, shared->stream));
    }
    CHECK_OK(gs_event_destroy(event));
    return NULL;
}

static void many_threads_launch_in_one_stream(void)
{
    struct shared shared;
    struct server *server;
    uint32_t counted;

    shared_set(&shared, &server);
    threads_run(&shared, THREADS, count_run);
    CHECK_OK(gs_memcpy_dtoh_async(shared.session, &counted, shared.counter, 4, shared.stream));
    CHECK_EQUAL(counted, THREADS * COUNT_ROUNDS * 32);
    CHECK_OK(gs_detach(shared.session));
    server_stop(server);
}

/* ---- Each on a stream of its own ---- */

static void *own_run(void *argument)
{
    enum { WORDS = 256 };
    struct shared *shared = argument;
    uint64_t state = 88172645463325252u + atomic_fetch_add(&shared->started, 1);
    uint32_t in[WORDS], out[WORDS], n = WORDS, rounds = 4, seed;
    gs_session session = shared->session;
    gs_stream stream;
    gs_graph graph;
    gs_devptr data;

    CHECK_OK(gs_stream_create(session, NULL, &stream));
    for (unsigned i = 0; i < 40; i++) {
        CHECK_OK(gs_malloc(session, sizeof(in), &data));
        seed = (uint32_t)next(&state);
        for (unsigned k = 0; k < WORDS; k++)
            in[k] = (uint32_t)next(&state);
        CHECK_OK(gs_memcpy_htod_async(session, data, in, sizeof(in), stream));
        CHECK_OK(gs_graph_begin(session, stream));
        CHECK_OK(kernels_launch(stream, shared->chain, WORDS / 64, 64,
                                (void *[]){&data, &n, &rounds, &seed}));
        CHECK_OK(gs_graph_end(session, stream, &graph));
        CHECK_OK(gs_graph_launch(graph, stream));
        CHECK_OK(gs_memcpy_dtoh_async(session, out, data, sizeof(out), stream));
        for (unsigned k = 0; k < WORDS; k++)
            CHECK_EQUAL(out[k], chain_expected(in[k], rounds, seed));
        CHECK_OK(gs_graph_destroy(graph));
        CHECK_OK(gs_free(session, data));
    }
    CHECK_OK(gs_stream_destroy(stream));
    return NULL;
}

static void many_threads_on_streams_of_their_own(void)
{
    struct shared shared;
    struct server *server;

    shared_set(&shared, &server);
    threads_run(&shared, THREADS, own_run);
    CHECK_OK(gs_detach(shared.session));
    server_stop(server);
}

/* ---- Sessions made and ended by many threads ---- */

static void *sessions_run(void *argument)
{
    (void)argument;
    for (unsigned i = 0; i < 25; i++) {
        unsigned char byte = 0;
        gs_session session;
        gs_devptr memory;

        CHECK_OK(gs_attach(NULL, &session));
        CHECK_OK(gs_malloc(session, 64, &memory));
        CHECK_OK(gs_memset(session, memory, (int)i, 64));
        CHECK_OK(gs_memcpy_dtoh(session, &byte, memory + 63, 1));
        CHECK_EQUAL(byte, i);
        CHECK_OK(gs_detach(session));
    }
    return NULL;
}

static void many_threads_attach_and_detach(void)
{
    struct shared shared;
    struct server *server;

    shared_set(&shared, &server);
    threads_run(&shared, THREADS, sessions_run);
    CHECK_OK(gs_detach(shared.session));
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

/* ---- Destroyed while in use ---- */

/* Only these may come of a race between use and destruction. */
static void race_check(gs_status status)
{
    if (status != GS_OK && status != GS_NOT_READY && status != GS_ERR_INVALID_HANDLE &&
        status != GS_ERR_INVALID_POINTER)
        test_fail(__FILE__, __LINE__, "%s in a race: %s", gs_status_name(status),
                  gs_last_error_message());
}

static void shaky_make(struct shared *s)
{
    gs_session session = s->session;
    gs_stream stream;
    gs_event event;
    gs_module module;
    gs_kernel kernel;
    gs_graph graph;
    gs_devptr memory;

    CHECK_OK(gs_malloc(session, 4096, &memory));
    CHECK_OK(gs_stream_create(session, NULL, &stream));
    CHECK_OK(gs_event_create(session, &event));
    module = kernels_load(session);
    kernel = kernels_get(module, "nothing");
    CHECK_OK(gs_graph_begin(session, stream));
    CHECK_OK(kernels_launch(stream, kernel, 1, 1, NULL));
    CHECK_OK(gs_graph_end(session, stream, &graph));
    atomic_store(&s->shaky_memory, memory);
    atomic_store(&s->shaky_stream, stream);
    atomic_store(&s->shaky_event, event);
    atomic_store(&s->shaky_module, module);
    atomic_store(&s->shaky_kernel, kernel);
    atomic_store(&s->shaky_graph, graph);
}

static void *destroyer_run(void *argument)
{
    struct shared *s = argument;

    for (unsigned i = 0; i < 25; i++) {
        CHECK_OK(gs_graph_destroy(atomic_load(&s->shaky_graph)));
        CHECK_OK(gs_module_unload(atomic_load(&s->shaky_module)));
        CHECK_OK(gs_event_destroy(atomic_load(&s->shaky_event)));
        CHECK_OK(gs_stream_destroy(atomic_load(&s->shaky_stream)));
        CHECK_OK(gs_free(s->session, atomic_load(&s->shaky_memory)));
        shaky_make(s);
    }
    atomic_store(&s->stop, true);
    return NULL;
}

static void *user_run(void *argument)
{
    struct shared *s = argument;
    unsigned char bytes[64];

    while (!atomic_load(&s->stop)) {
        gs_stream stream = atomic_load(&s->shaky_stream);
        gs_event event = atomic_load(&s->shaky_event);
        gs_devptr memory = atomic_load(&s->shaky_memory);
        gs_kernel kernel;
        size_t size;
        float ms;

        race_check(kernels_launch(stream, atomic_load(&s->shaky_kernel), 1, 1, NULL));
        race_check(kernels_launch(NULL, atomic_load(&s->shaky_kernel), 1, 1, NULL));
        race_check(gs_graph_launch(atomic_load(&s->shaky_graph), s->stream));
        race_check(gs_event_record(event, s->stream));
        race_check(gs_stream_wait_event(s->stream, event));
        race_check(gs_event_sync(event));
        gs_event_elapsed(event, event, &ms);
        race_check(gs_memset_async(s->session, memory, 1, 64, stream));
        race_check(gs_memcpy_dtoh(s->session, bytes, memory, sizeof(bytes)));
        race_check(gs_stream_query(s->session, stream));
        race_check(gs_kernel_get(atomic_load(&s->shaky_module), "fill", &kernel));
        race_check(gs_global_get(atomic_load(&s->shaky_module), "table", NULL, &size));
        race_check(gs_stream_sync(s->session, stream));
    }
    return NULL;
}

static void objects_destroyed_while_others_use_them(void)
{
    struct shared shared;
    struct server *server;
    pthread_t user[4], destroyer;

    shared_set(&shared, &server);
    shaky_make(&shared);
    for (unsigned i = 0; i < ARRAY_SIZE(user); i++)
        CHECK(pthread_create(&user[i], NULL, user_run, &shared) == 0);
    CHECK(pthread_create(&destroyer, NULL, destroyer_run, &shared) == 0);
    pthread_join(destroyer, NULL);
    for (unsigned i = 0; i < ARRAY_SIZE(user); i++)
        pthread_join(user[i], NULL);
    CHECK_OK(gs_sync(shared.session));
    CHECK_OK(gs_detach(shared.session));
    server_stop(server);
}

/* ---- Detached while others are in calls ---- */

static void *until_detached(void *argument)
{
    struct shared *s = argument;
    unsigned char bytes[100000] = {0};
    unsigned number = atomic_fetch_add(&s->started, 1);
    gs_status status = GS_OK;
    gs_devptr memory;

    while (status == GS_OK) {
        switch (number++ % 5) {
        case 0:
            status = kernels_launch(s->stream, s->count, 1, 1, (void *[]){&s->counter});
            break;
        case 1:
            status = gs_stream_sync(s->session, s->stream);
            break;
        case 2:
            status = gs_malloc(s->session, 4096, &memory);
            break;
        case 3:
            status = gs_memcpy_htod(s->session, s->shaky_memory, bytes, sizeof(bytes));
            break;
        default:
            status = gs_mem_info(s->session, NULL, NULL);
            break;
        }
    }
    CHECK_EQUAL(status, GS_ERR_INVALID_HANDLE);
    return NULL;
}

static void detaching_while_threads_are_in_calls(void)
{
    struct shared shared;
    struct server *server;
    pthread_t thread[THREADS];
    gs_session again;
    gs_devptr memory;

    shared_set(&shared, &server);
    for (unsigned round = 0; round < 10; round++) {
        if (round > 0) {
            CHECK_OK(server_attach(server, &shared.session));
            shared.module = kernels_load(shared.session);
            shared.count = kernels_get(shared.module, "count");
            CHECK_OK(gs_stream_create(shared.session, NULL, &shared.stream));
            CHECK_OK(gs_malloc(shared.session, 4, &shared.counter));
        }
        CHECK_OK(gs_malloc(shared.session, 100000, &memory));
        atomic_store(&shared.shaky_memory, memory);
        atomic_store(&shared.started, 0);
        for (unsigned i = 0; i < THREADS; i++)
            CHECK(pthread_create(&thread[i], NULL, until_detached, &shared) == 0);
        CHECK_WITHIN(10000, atomic_load(&shared.started) == THREADS);
        for (unsigned i = 0; i < test_random() % 50; i++)
            test_pause();
        CHECK_OK(gs_detach(shared.session));
        for (unsigned i = 0; i < THREADS; i++)
            pthread_join(thread[i], NULL);
        CHECK_EQUAL(server_tenants(server), 0);
    }
    CHECK_OK(server_attach(server, &again));
    CHECK_OK(gs_detach(again));
    server_stop(server);
}

static void *detach_run(void *argument)
{
    struct shared *s = argument;
    gs_status status = gs_detach(s->session);

    if (status == GS_OK)
        atomic_fetch_add(&s->started, 1);
    else
        CHECK_EQUAL(status, GS_ERR_INVALID_HANDLE);
    return NULL;
}

static void of_threads_that_detach_at_once_one_does_it(void)
{
    struct shared shared;
    struct server *server;

    shared_set(&shared, &server);
    threads_run(&shared, THREADS, detach_run);
    CHECK_EQUAL(atomic_load(&shared.started), 1);
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

/* ---- Messages are a thread's own ---- */

static void *message_run(void *argument)
{
    struct shared *s = argument;

    for (unsigned i = 0; i < 300; i++) {
        char text[32];
        unsigned number = atomic_fetch_add(&s->started, 1) + 2000;

        CHECK(gs_kernel_param_info(s->chain, number, NULL, NULL) == GS_ERR_INVALID_VALUE);
        snprintf(text, sizeof(text), "parameter %u ", number);
        CHECK_TEXT(gs_last_error_message(), text);
    }
    return NULL;
}

static void each_thread_has_its_own_last_message(void)
{
    struct shared shared;
    struct server *server;

    shared_set(&shared, &server);
    threads_run(&shared, THREADS, message_run);
    CHECK_OK(gs_detach(shared.session));
    server_stop(server);
}

static const struct test tests[] = {
    TEST(many_threads_launch_in_one_stream),    TEST(many_threads_on_streams_of_their_own),
    TEST(many_threads_attach_and_detach),       TEST(objects_destroyed_while_others_use_them),
    TEST(detaching_while_threads_are_in_calls), TEST(of_threads_that_detach_at_once_one_does_it),
    TEST(each_thread_has_its_own_last_message),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
