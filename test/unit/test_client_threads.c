/* test_client_threads.c - libgshare used by many threads at once, also while another destroys what
 * they use. Meant for ThreadSanitizer and AddressSanitizer as much as for its own checks. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/util.h"
#include "fake_server.h"
#include "gshare.h"

#define THREADS 6u

struct fixture {
    char instance[32];
    struct fake *fake;
    gs_session s;
    gs_module module;
    gs_kernel fill;
    gs_stream stream;
    gs_event event;
    atomic_bool stop;
    atomic_uint next;   /* number of a thread */
    atomic_uint wrong;  /* results that were */
    atomic_uint worked; /* calls that gave GS_OK */
    atomic_uint gone;   /* calls that gave GS_ERR_INVALID_HANDLE */
};

static gs_status attach(const char *instance, gs_session *s)
{
    gs_attach_params params = GS_ATTACH_PARAMS_INIT;

    params.instance = instance;
    return gs_attach(&params, s);
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof(*f));

    snprintf(f->instance, sizeof(f->instance), "test-ct-%d", (int)getpid());
    f->fake = fake_start(f->instance);
    if (attach(f->instance, &f->s) != GS_OK ||
        gs_module_load(f->s, ".version 8.0", 0, &f->module) != GS_OK ||
        gs_kernel_get(f->module, "fill", &f->fill) != GS_OK ||
        gs_stream_create(f->s, NULL, &f->stream) != GS_OK ||
        gs_event_create(f->s, &f->event) != GS_OK)
        return -1;
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;
    int bad = 0;

    if (f->s)
        bad = gs_detach(f->s) != GS_OK;
    bad |= fake_sessions_open(f->fake) != 0 || fake_lost_bells(f->fake) != 0;
    fake_stop(f->fake);
    free(f);
    return bad;
}

static void run_threads(struct fixture *f, void *(*body)(void *),
                        void (*meanwhile)(struct fixture *))
{
    pthread_t thread[THREADS];

    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, body, f), 0);
    if (meanwhile)
        meanwhile(f);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(thread[i], NULL), 0);
}

/* Counts a call that may lose the race against a destruction, and nothing else. */
static bool count(struct fixture *f, gs_status status)
{
    if (status == GS_OK || status == GS_NOT_READY)
        atomic_fetch_add(&f->worked, 1);
    else if (status == GS_ERR_INVALID_HANDLE)
        atomic_fetch_add(&f->gone, 1);
    else
        atomic_fetch_add(&f->wrong, 1);
    return status == GS_OK;
}

static gs_status fill(const struct fixture *f, gs_stream stream, gs_devptr x, uint32_t value,
                      uint32_t words)
{
    return gs_launch(stream, f->fill, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 32),
                     (void *[]){&x, &value, &words});
}

/* ---- Work of several threads does not mix ---- */

static bool work_on(struct fixture *f, gs_stream stream, uint32_t value)
{
    uint32_t words[64], big = 300 << 10;
    unsigned char *bytes = malloc(big), *back = malloc(big);
    gs_devptr x, y;
    bool right = bytes && back && gs_malloc(f->s, sizeof(words), &x) == GS_OK &&
                 gs_malloc(f->s, big, &y) == GS_OK;

    for (unsigned i = 0; i < 20 && right; i++) {
        right = fill(f, stream, x, value + i, 64) == GS_OK &&
                gs_memcpy_dtoh_async(f->s, words, x, sizeof(words), stream) == GS_OK &&
                words[0] == value + i && words[63] == value + i;
        memset(bytes, (int)(value + i), big);
        right = right && gs_memcpy_htod_async(f->s, y, bytes, big, stream) == GS_OK &&
                gs_memcpy_dtoh_async(f->s, back, y, big, stream) == GS_OK &&
                !memcmp(bytes, back, big);
    }
    if (right)
        right = gs_free(f->s, x) == GS_OK && gs_free(f->s, y) == GS_OK;
    free(bytes);
    free(back);
    return right;
}

static void *work_on_the_default_stream(void *arg)
{
    struct fixture *f = arg;

    if (!work_on(f, NULL, 1000 * (1 + atomic_fetch_add(&f->next, 1))))
        atomic_fetch_add(&f->wrong, 1);
    return NULL;
}

static void *work_on_an_own_stream(void *arg)
{
    struct fixture *f = arg;
    gs_stream stream;

    for (unsigned i = 0; i < 3; i++) {
        if (gs_stream_create(f->s, NULL, &stream) != GS_OK ||
            !work_on(f, stream, 1000 * (1 + atomic_fetch_add(&f->next, 1))) ||
            gs_stream_destroy(stream) != GS_OK)
            atomic_fetch_add(&f->wrong, 1);
    }
    return NULL;
}

static void threads_share_one_stream(void **state)
{
    struct fixture *f = *state;

    run_threads(f, work_on_the_default_stream, NULL);
    assert_int_equal(atomic_load(&f->wrong), 0);
}

static void threads_have_a_stream_each(void **state)
{
    struct fixture *f = *state;

    run_threads(f, work_on_an_own_stream, NULL);
    assert_int_equal(atomic_load(&f->wrong), 0);
}

static void *attach_and_detach(void *arg)
{
    struct fixture *f = arg;
    gs_session s;
    gs_devptr x;

    for (unsigned i = 0; i < 20; i++) {
        if (attach(f->instance, &s) != GS_OK || gs_malloc(s, 64, &x) != GS_OK ||
            gs_memset(s, x, 1, 64) != GS_OK || gs_detach(s) != GS_OK)
            atomic_fetch_add(&f->wrong, 1);
    }
    return NULL;
}

static void threads_have_a_session_each(void **state)
{
    struct fixture *f = *state;

    run_threads(f, attach_and_detach, NULL);
    assert_int_equal(atomic_load(&f->wrong), 0);
    assert_int_equal(fake_sessions_open(f->fake), 1);
}

/* ---- Destruction while others use the object ---- */

static void *use_everything(void *arg)
{
    struct fixture *f = arg;
    gs_kernel_desc desc = GS_KERNEL_DESC_INIT;
    gs_session_desc about = GS_SESSION_DESC_INIT;
    unsigned char bytes[100] = {0};
    gs_devptr x;

    while (!atomic_load(&f->stop)) {
        count(f, fill(f, NULL, 0, 1, 0));
        count(f, fill(f, f->stream, 0, 1, 0));
        count(f, gs_kernel_info(f->fill, &desc));
        count(f, gs_event_record(f->event, f->stream));
        count(f, gs_stream_wait_event(NULL, f->event));
        count(f, gs_event_query(f->event));
        count(f, gs_event_sync(f->event));
        count(f, gs_session_info(f->s, &about));
        if (count(f, gs_malloc(f->s, 100, &x))) {
            count(f, gs_memcpy_htod(f->s, x, bytes, sizeof(bytes)));
            count(f, gs_free(f->s, x));
        }
        count(f, gs_stream_sync(f->s, f->stream));
        count(f, gs_sync(f->s));
    }
    return NULL;
}

/* Until the threads have really been in it. */
static void let_them_work(struct fixture *f)
{
    unsigned goal = atomic_load(&f->worked) + 500;
    uint64_t deadline = clock_ns() + 20000000000u;

    while (atomic_load(&f->worked) < goal && clock_ns() < deadline)
        sched_yield();
    assert_true(atomic_load(&f->worked) >= goal);
}

static void let_them_notice(struct fixture *f)
{
    unsigned goal = atomic_load(&f->gone) + 200;
    uint64_t deadline = clock_ns() + 20000000000u;

    while (atomic_load(&f->gone) < goal && clock_ns() < deadline)
        sched_yield();
    assert_true(atomic_load(&f->gone) >= goal);
}

static void detach_meanwhile(struct fixture *f)
{
    let_them_work(f);
    assert_int_equal(gs_detach(f->s), GS_OK);
    let_them_notice(f);
    atomic_store(&f->stop, true);
}

static void detaching_ends_the_calls_of_other_threads(void **state)
{
    struct fixture *f = *state;

    run_threads(f, use_everything, detach_meanwhile);
    assert_int_equal(atomic_load(&f->wrong), 0);
    f->s = NULL;
}

static void destroy_meanwhile(struct fixture *f)
{
    gs_module module = f->module;

    let_them_work(f);
    assert_int_equal(gs_event_destroy(f->event), GS_OK);
    let_them_notice(f);
    assert_int_equal(gs_stream_destroy(f->stream), GS_OK);
    let_them_notice(f);
    assert_int_equal(gs_module_unload(module), GS_OK);
    let_them_notice(f);
    atomic_store(&f->stop, true);
}

static void destroying_an_object_gives_its_users_an_invalid_handle(void **state)
{
    struct fixture *f = *state;

    run_threads(f, use_everything, destroy_meanwhile);
    assert_int_equal(atomic_load(&f->wrong), 0);
}

/* ---- Kernels come and go beside launches ---- */

static void *load_and_unload(void *arg)
{
    struct fixture *f = arg;
    gs_module module;
    gs_kernel kernel;
    gs_graph graph;
    gs_stream stream;

    for (unsigned i = 0; i < 30; i++) {
        if (gs_module_load(f->s, ".version 8.0", 0, &module) != GS_OK ||
            gs_kernel_get(module, "none", &kernel) != GS_OK ||
            gs_launch(NULL, kernel, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL) != GS_OK ||
            gs_stream_create(f->s, NULL, &stream) != GS_OK ||
            gs_graph_begin(f->s, stream) != GS_OK ||
            gs_launch(stream, kernel, &(gs_launch_config)GS_LAUNCH_CONFIG_1D(1, 1), NULL) !=
                GS_OK ||
            gs_graph_end(f->s, stream, &graph) != GS_OK || gs_graph_launch(graph, NULL) != GS_OK ||
            gs_graph_destroy(graph) != GS_OK || gs_stream_destroy(stream) != GS_OK ||
            gs_module_unload(module) != GS_OK)
            atomic_fetch_add(&f->wrong, 1);
    }
    return NULL;
}

static void modules_and_graphs_come_and_go_in_every_thread(void **state)
{
    struct fixture *f = *state;

    run_threads(f, load_and_unload, NULL);
    assert_int_equal(atomic_load(&f->wrong), 0);
    assert_int_equal(fake_host_blocks(f->fake), 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(threads_share_one_stream),
        T(threads_have_a_stream_each),
        T(threads_have_a_session_each),
        T(detaching_ends_the_calls_of_other_threads),
        T(destroying_an_object_gives_its_users_an_invalid_handle),
        T(modules_and_graphs_come_and_go_in_every_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
