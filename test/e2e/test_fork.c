/* test_fork.c - a child of a process with a session: its parent's handles are not its own. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bystander.h"
#include "common/sanitizers.h"
#include "harness/harness.h"

struct scene {
    struct server *server;
    gs_session session;
    gs_module module;
    gs_kernel fill;
    gs_stream stream;
    gs_event event;
    gs_graph graph;
    gs_devptr data;
    void *block;
};

#define N 256u

static void scene_set(struct scene *s)
{
    s->server = server_start(NULL);
    CHECK_OK(server_attach(s->server, &s->session));
    s->module = kernels_load(s->session);
    s->fill = kernels_get(s->module, "fill");
    CHECK_OK(gs_stream_create(s->session, NULL, &s->stream));
    CHECK_OK(gs_event_create(s->session, &s->event));
    CHECK_OK(gs_malloc(s->session, N * 4, &s->data));
    CHECK_OK(gs_host_alloc(s->session, 4096, &s->block));
    CHECK_OK(gs_graph_begin(s->session, s->stream));
    CHECK_OK(gs_memset_async(s->session, s->data, 1, 4, s->stream));
    CHECK_OK(gs_graph_end(s->session, s->stream, &s->graph));
}

static void session_check(const struct scene *s)
{
    uint32_t out[N], value = (uint32_t)test_random(), n = N;
    gs_devptr data = s->data;

    memset(s->block, 7, 4096);
    CHECK_OK(kernels_launch(s->stream, s->fill, N / 64, 64, (void *[]){&data, &value, &n}));
    CHECK_OK(gs_memcpy_dtoh_async(s->session, out, data, sizeof(out), s->stream));
    for (uint32_t i = 0; i < N; i++)
        CHECK_EQUAL(out[i], value + i);
}

static void own_session_check(void)
{
    struct scene own = {.server = NULL};

    CHECK_OK(gs_attach(NULL, &own.session));
    own.module = kernels_load(own.session);
    own.fill = kernels_get(own.module, "fill");
    CHECK_OK(gs_malloc(own.session, N * 4, &own.data));
    CHECK_OK(gs_host_alloc(own.session, 4096, &own.block));
    session_check(&own);
    CHECK_OK(gs_detach(own.session));
}

static void child_run(void *argument)
{
    const struct scene *s = argument;
    uint32_t value = 0, n = 1;
    gs_devptr data = s->data, more;
    gs_kernel kernel;
    gs_stream stream;
    gs_session_desc desc = GS_SESSION_DESC_INIT;
    gs_fault fault = GS_FAULT_INIT;
    size_t size;

    for (unsigned round = 0; round < 2; round++) {
        CHECK_STATUS(gs_sync(s->session), GS_ERR_FORKED);
        CHECK_STATUS(gs_session_info(s->session, &desc), GS_ERR_FORKED);
        CHECK_STATUS(gs_last_fault(s->session, &fault), GS_ERR_FORKED);
        CHECK_STATUS(gs_malloc(s->session, 16, &more), GS_ERR_FORKED);
        CHECK_STATUS(gs_free(s->session, data), GS_ERR_FORKED);
        CHECK_STATUS(gs_mem_info(s->session, &size, NULL), GS_ERR_FORKED);
        CHECK_STATUS(gs_memset(s->session, data, 0, 4), GS_ERR_FORKED);
        CHECK_STATUS(gs_memcpy_htod(s->session, data, &value, 4), GS_ERR_FORKED);
        CHECK_STATUS(gs_stream_sync(s->session, s->stream), GS_ERR_FORKED);
        CHECK_STATUS(gs_stream_create(s->session, NULL, &stream), GS_ERR_FORKED);
        CHECK_STATUS(gs_stream_destroy(s->stream), GS_ERR_FORKED);
        CHECK_STATUS(gs_event_record(s->event, s->stream), GS_ERR_FORKED);
        CHECK_STATUS(gs_event_query(s->event), GS_ERR_FORKED);
        CHECK_STATUS(gs_kernel_get(s->module, "fill", &kernel), GS_ERR_FORKED);
        CHECK_STATUS(gs_module_unload(s->module), GS_ERR_FORKED);
        CHECK_STATUS(gs_graph_launch(s->graph, s->stream), GS_ERR_FORKED);
        CHECK_STATUS(kernels_launch(s->stream, s->fill, 1, 1, (void *[]){&data, &value, &n}),
                     GS_ERR_FORKED);
        CHECK_STATUS(gs_detach(s->session), GS_ERR_FORKED);
        /* Attached anew, the old handles are still the parent's. */
        own_session_check();
    }
}

static void a_child_attaches_anew_and_its_parent_goes_on(void)
{
    struct scene s;

    scene_set(&s);
    for (unsigned i = 0; i < 10; i++) {
        tenant_join(tenant_start(child_run, &s));
        session_check(&s);
    }
    CHECK_EQUAL(server_tenants(s.server), 1);
    CHECK_OK(gs_detach(s.session));
    CHECK_EQUAL(server_tenants(s.server), 0);
    server_stop(s.server);
}

static void killed_run(void *argument)
{
    (void)argument;
    raise(SIGKILL);
}

static void the_end_of_a_child_is_not_its_parents(void)
{
    struct scene s;

    scene_set(&s);
    for (unsigned i = 0; i < 50; i++) {
        pid_t pid = tenant_start(killed_run, NULL);

        session_check(&s);
        tenant_wait(pid, 20);
        session_check(&s);
    }
    CHECK_OK(gs_detach(s.session));
    server_stop(s.server);
}

struct outlive {
    struct gate go, done;
};

static void outlive_run(void *argument)
{
    struct outlive *outlive = argument;

    gate_wait(&outlive->go, 1);
    own_session_check();
    gate_pass(&outlive->done);
}

static void nested_run(void *argument)
{
    gs_session session;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_EQUAL(fork() < 0, false); /* the child of the child goes on in parallel */
    if (gs_sync(session) == GS_ERR_FORKED) {
        outlive_run(argument);
        _exit(0);
    }
    CHECK_OK(gs_detach(session));
    while (wait(NULL) > 0)
        ;
}

static void a_child_does_not_keep_its_parents_session_alive(void)
{
    struct server *server = server_start(NULL);
    struct outlive *outlive = shared_alloc(sizeof(*outlive));
    gs_session session;
    pid_t pid;

    CHECK_OK(server_attach(server, &session));
    pid = tenant_start(outlive_run, outlive);
    CHECK_OK(gs_detach(session));
    CHECK_EQUAL(server_tenants(server), 0);
    CHECK_EQUAL(server_memory_used(server), 0);
    gate_pass(&outlive->go);
    tenant_join(pid);
    tenant_join(tenant_start(nested_run, outlive));
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

static void parent_dies_run(void *argument)
{
    gs_session session;
    gs_devptr memory;

    CHECK_OK(gs_attach(NULL, &session));
    CHECK_OK(gs_malloc(session, 1 << 20, &memory));
    if (fork() == 0) {
        outlive_run(argument);
        _exit(0);
    }
    _exit(0);
}

static void a_parent_that_dies_leaves_its_child_no_session(void)
{
    struct server *server = server_start(NULL);

    for (unsigned i = 0; i < 5; i++) {
        struct outlive *outlive = shared_alloc(sizeof(*outlive));

        tenant_join(tenant_start(parent_dies_run, outlive));
        CHECK_WITHIN(3000, server_tenants(server) == 0 && server_memory_used(server) == 0);
        gate_pass(&outlive->go);
        gate_wait(&outlive->done, 1);
    }
    server_stop(server);
}

/* The server asks the kernel who attached the segment last; a child that is forked right after
 * gs_attach, and ends, must not be taken for it. */
static void forking_right_after_attaching(void)
{
    struct server *server = server_start(NULL);
    struct scene s = {.server = server};
    gs_session other;

    /* Where sessions are fenced, it keeps their user's sinks: 128 MiB, else zeroed for each anew.
     */
    CHECK_OK(server_attach(server, &other));
    for (unsigned i = 0; i < 100; i++) {
        pid_t pid;

        CHECK_OK(server_attach(server, &s.session));
        pid = fork();
        if (pid == 0)
            _exit(0);
        CHECK(pid > 0);
        waitpid(pid, NULL, 0);
        s.module = kernels_load(s.session);
        s.fill = kernels_get(s.module, "fill");
        s.stream = NULL;
        CHECK_OK(gs_malloc(s.session, N * 4, &s.data));
        CHECK_OK(gs_host_alloc(s.session, 4096, &s.block));
        session_check(&s);
        CHECK_OK(gs_detach(s.session));
    }
    CHECK_OK(gs_detach(other));
    CHECK_EQUAL(server_tenants(server), 0);
    server_stop(server);
}

/* ---- Forking while other threads are in calls ---- */

struct busy {
    struct scene *scene;
    _Atomic bool stop;
};

static void *busy_run(void *argument)
{
    struct busy *busy = argument;

    while (!atomic_load(&busy->stop)) {
        gs_devptr memory;
        gs_session session;

        CHECK_OK(gs_malloc(busy->scene->session, 4096, &memory));
        CHECK_OK(gs_memset(busy->scene->session, memory, 1, 4096));
        CHECK_OK(gs_free(busy->scene->session, memory));
        CHECK_OK(gs_attach(NULL, &session));
        CHECK_OK(gs_detach(session));
    }
    return NULL;
}

static void forking_while_threads_are_in_calls(void)
{
    struct scene s;
    struct busy busy = {.scene = &s};
    pthread_t thread[3];

#if ADDRESS_SANITIZER || THREAD_SANITIZER
    test_skip("a sanitizer's allocator keeps its locks over fork");
#endif

    scene_set(&s);
    for (unsigned i = 0; i < ARRAY_SIZE(thread); i++)
        CHECK(pthread_create(&thread[i], NULL, busy_run, &busy) == 0);
    for (unsigned i = 0; i < 20; i++)
        tenant_join(tenant_start(child_run, &s));
    atomic_store(&busy.stop, true);
    for (unsigned i = 0; i < ARRAY_SIZE(thread); i++)
        pthread_join(thread[i], NULL);
    session_check(&s);
    CHECK_OK(gs_detach(s.session));
    CHECK_WITHIN(1000, server_tenants(s.server) == 0);
    server_stop(s.server);
}

static const struct test tests[] = {
    TEST(a_child_attaches_anew_and_its_parent_goes_on),
    TEST(the_end_of_a_child_is_not_its_parents),
    TEST(a_child_does_not_keep_its_parents_session_alive),
    TEST(a_parent_that_dies_leaves_its_child_no_session),
    TEST(forking_right_after_attaching),
    TEST(forking_while_threads_are_in_calls),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
