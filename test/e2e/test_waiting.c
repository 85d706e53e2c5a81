/*
 * test_waiting.c - waits with a timeout, descriptors for event loops, and host functions: a kernel
 * that runs until it is told to end stands for work that takes long.
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/sanitizers.h"
#include "driver_server.h"
#include "harness/harness.h"

#define MS      UINT64_C(1000000)
#define FOREVER UINT64_MAX

struct scene {
    struct server *server;
    gs_session session;
    gs_stream stream, other;
    gs_kernel spin_until;
    gs_devptr flag;
    gs_event event;
};

static struct scene scene_open(void)
{
    struct scene s = {.server = server_start(NULL)};

    CHECK_OK(server_attach(s.server, &s.session));
    CHECK_OK(gs_stream_create(s.session, NULL, &s.stream));
    CHECK_OK(gs_stream_create(s.session, NULL, &s.other));
    CHECK_OK(gs_event_create(s.session, &s.event));
    CHECK_OK(gs_malloc(s.session, sizeof(uint32_t), &s.flag));
    CHECK_OK(gs_memset(s.session, s.flag, 0, sizeof(uint32_t)));
    s.spin_until = kernels_get(kernels_load(s.session), "spin_until");
    return s;
}

/* Work of s->stream that ends after scene_release, with the event behind it. */
static void scene_busy(struct scene *s)
{
    CHECK_OK(kernels_launch(s->stream, s->spin_until, 1, 1, (void *[]){&s->flag}));
    CHECK_OK(gs_event_record(s->event, s->stream));
}

static void scene_release(struct scene *s)
{
    CHECK_OK(gs_memset_async(s->session, s->flag, 1, sizeof(uint32_t), s->other));
}

static void scene_close(struct scene *s)
{
    CHECK_OK(gs_detach(s->session));
    server_stop(s->server);
}

static bool readable(int fd, int milliseconds)
{
    struct pollfd look = {.fd = fd, .events = POLLIN};

    return poll(&look, 1, milliseconds) == 1 && look.revents & POLLIN;
}

/* ---- Timeouts -------------------------------------------------------------------------------- */

static void a_wait_ends_when_its_time_has_passed(void)
{
    struct scene s = scene_open();
    uint64_t begun;

    scene_busy(&s);
    begun = clock_ns();
    CHECK_STATUS(gs_event_sync_for(s.event, 30 * MS), GS_NOT_READY);
    CHECK(clock_ns() - begun >= 30 * MS);
    begun = clock_ns();
    CHECK_STATUS(gs_stream_sync_for(s.session, s.stream, 30 * MS), GS_NOT_READY);
    CHECK(clock_ns() - begun >= 30 * MS);
    CHECK_STATUS(gs_event_sync_for(s.event, 0), GS_NOT_READY);
    CHECK_STATUS(gs_stream_sync_for(s.session, s.stream, 0), GS_NOT_READY);
    CHECK_STATUS(gs_stream_sync_for(s.session, s.other, 0), GS_OK);
    scene_release(&s);
    CHECK_OK(gs_event_sync_for(s.event, FOREVER));
    CHECK_OK(gs_stream_sync_for(s.session, s.stream, FOREVER));
    CHECK_OK(gs_event_sync_for(s.event, 0));
    scene_close(&s);
}

static void a_report_is_waited_for(void)
{
    struct scene s = scene_open();
    gs_launch_config config = GS_LAUNCH_CONFIG_1D(1, 1);
    gs_report report = GS_REPORT_INIT;
    gs_report_id id;

    config.report = &id;
    CHECK_OK(gs_launch(s.stream, s.spin_until, &config, (void *[]){&s.flag}));
    CHECK_STATUS(gs_launch_report_for(s.session, id, &report, 20 * MS), GS_NOT_READY);
    scene_release(&s);
    CHECK_OK(gs_launch_report_for(s.session, id, &report, FOREVER));
    CHECK(report.run_ns > 0); /* the device may have begun it late */
    CHECK_STATUS(gs_launch_report_for(s.session, id, &report, FOREVER), GS_ERR_INVALID_VALUE);
    scene_close(&s);
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static void a_descriptor_is_readable_once_the_work_is_complete(void)
{
    struct scene s = scene_open();
    int before, after, never;

    CHECK_OK(gs_event_fd(s.event, &never)); /* it has captured nothing */
    CHECK(readable(never, 0));
    scene_busy(&s);
    CHECK_OK(gs_event_fd(s.event, &before));
    CHECK(!readable(before, 50));
    scene_release(&s);
    CHECK(readable(before, -1));
    CHECK_OK(gs_event_query(s.event));
    CHECK_OK(gs_event_fd(s.event, &after));
    CHECK(readable(after, 0));
    close(never);
    close(before);
    close(after);
    scene_close(&s);
}

/* More than one can be waited for, and the first to end is the first to be told. */
static void an_event_loop_waits_for_many(void)
{
    enum { STREAMS = 8 };
    struct scene s = scene_open();
    const int loop = epoll_create1(EPOLL_CLOEXEC);
    gs_devptr flags;
    unsigned told = 0;
    struct {
        gs_stream stream;
        gs_event event;
        int fd;
    } row[STREAMS];

    CHECK(loop >= 0);
    CHECK_OK(gs_malloc(s.session, sizeof(row), &flags));
    CHECK_OK(gs_memset(s.session, flags, 0, STREAMS * sizeof(uint32_t)));
    for (unsigned i = 0; i < STREAMS; i++) {
        gs_devptr flag = flags + i * sizeof(uint32_t);
        struct epoll_event wanted = {.events = EPOLLIN, .data.u32 = i};

        CHECK_OK(gs_stream_create(s.session, NULL, &row[i].stream));
        CHECK_OK(gs_event_create(s.session, &row[i].event));
        CHECK_OK(kernels_launch(row[i].stream, s.spin_until, 1, 1, (void *[]){&flag}));
        CHECK_OK(gs_event_record(row[i].event, row[i].stream));
        CHECK_OK(gs_event_fd(row[i].event, &row[i].fd));
        CHECK(epoll_ctl(loop, EPOLL_CTL_ADD, row[i].fd, &wanted) == 0);
    }
    for (unsigned i = 0; i < STREAMS; i++) {
        const unsigned next = i * 5 % STREAMS;
        struct epoll_event found;

        CHECK_OK(gs_memset_async(s.session, flags + next * sizeof(uint32_t), 1, sizeof(uint32_t),
                                 s.other));
        CHECK(epoll_wait(loop, &found, 1, -1) == 1);
        CHECK_EQUAL(found.data.u32, next);
        CHECK_OK(gs_event_query(row[next].event));
        close(row[next].fd);
        told++;
    }
    CHECK_EQUAL(told, STREAMS);
    close(loop);
    scene_close(&s);
}

static void closing_it_early_does_no_harm(void)
{
    struct scene s = scene_open();
    int fds[3];

    scene_busy(&s);
    for (unsigned i = 0; i < ARRAY_SIZE(fds); i++)
        CHECK_OK(gs_event_fd(s.event, &fds[i]));
    close(fds[0]);
    CHECK_OK(gs_event_destroy(s.event));
    close(fds[1]);
    scene_release(&s);
    CHECK(readable(fds[2], -1));
    close(fds[2]);
    scene_close(&s);
}

/* The end of the session, of whatever kind, is no reason to wait on. */
static void the_end_of_the_session_is_told(void)
{
    struct scene s = scene_open();
    int lost, detached;
    gs_event event;

    CHECK_OK(kernels_launch(s.stream, kernels_get(kernels_load(s.session), "trap"), 1, 1, NULL));
    CHECK_OK(gs_event_record(s.event, s.stream));
    CHECK_OK(gs_event_fd(s.event, &lost));
    CHECK(readable(lost, -1));
    CHECK_STATUS(gs_event_query(s.event), GS_ERR_FAULT);
    CHECK_STATUS(gs_detach(s.session), GS_ERR_FAULT);
    close(lost);

    CHECK_OK(server_attach(s.server, &s.session));
    CHECK_OK(gs_event_create(s.session, &event));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(s.session), "spin"), 1, 1,
                            (void *[]){&(uint64_t){100 * MS}}));
    CHECK_OK(gs_event_record(event, NULL));
    CHECK_OK(gs_event_fd(event, &detached));
    CHECK_OK(gs_detach(s.session));
    CHECK(readable(detached, -1));
    close(detached);
    server_stop(s.server);
}

static void what_is_wrong_is_refused(void)
{
    struct scene s = scene_open();
    int fd = -1;

    CHECK_STATUS(gs_event_fd(s.event, NULL), GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_event_fd(NULL, &fd), GS_ERR_INVALID_HANDLE);
    CHECK_OK(gs_event_destroy(s.event));
    CHECK_STATUS(gs_event_fd(s.event, &fd), GS_ERR_INVALID_HANDLE);
    CHECK_STATUS(gs_event_sync_for(s.event, FOREVER), GS_ERR_INVALID_HANDLE);
    CHECK_EQUAL(fd, -1);
    scene_close(&s);
}

/* ---- Host functions -------------------------------------------------------------------------- */

struct call {
    _Atomic bool go;     /* the function returns when this is set */
    _Atomic int called;  /* how often it has returned */
    _Atomic int status;  /* what it was told */
    pthread_t thread;    /* that called it */
    _Atomic bool inside; /* it has been called */
};

static void call_wait(void *data, gs_status status)
{
    struct call *call = data;

    call->thread = pthread_self();
    atomic_store(&call->inside, true);
    while (!atomic_load(&call->go))
        sched_yield();
    atomic_store(&call->status, (int)status);
    atomic_fetch_add(&call->called, 1);
}

static void a_host_function_holds_back_its_stream_alone(void)
{
    struct scene s = scene_open();
    struct call call = {.status = -1};
    uint32_t seen = 0;
    gs_devptr p;

    CHECK_OK(gs_malloc(s.session, sizeof(seen), &p));
    scene_busy(&s);
    CHECK_OK(gs_launch_host(s.session, s.stream, call_wait, &call));
    CHECK_OK(gs_memset_async(s.session, p, 1, sizeof(seen), s.stream));
    CHECK_OK(gs_event_record(s.event, s.stream));
    CHECK(!atomic_load(&call.inside)); /* the kernel before it runs on */
    scene_release(&s);
    while (!atomic_load(&call.inside))
        sched_yield();
    CHECK(!pthread_equal(call.thread, pthread_self()));
    CHECK_STATUS(gs_stream_sync_for(s.session, s.stream, 20 * MS), GS_NOT_READY);
    CHECK_STATUS(gs_event_query(s.event), GS_NOT_READY);
    CHECK_OK(gs_memcpy_dtoh(s.session, &seen, p, sizeof(seen))); /* in the default stream */
    CHECK_EQUAL(seen, 0);
    atomic_store(&call.go, true);
    CHECK_OK(gs_event_sync(s.event));
    CHECK_EQUAL(atomic_load(&call.called), 1);
    CHECK_EQUAL(atomic_load(&call.status), GS_OK);
    CHECK_OK(gs_memcpy_dtoh(s.session, &seen, p, sizeof(seen)));
    CHECK_EQUAL(seen, 0x01010101);
    scene_close(&s);
}

static uint64_t worker_ns(const struct server *server)
{
    struct timespec used;
    clockid_t clock;

    CHECK(clock_getcpuclockid(server_worker_pid(server), &clock) == 0 &&
          clock_gettime(clock, &used) == 0);
    return (uint64_t)used.tv_sec * 1000 * MS + (uint64_t)used.tv_nsec;
}

/* The lane forgets the stream until the function has returned, and sleeps. */
static void a_stream_that_waits_for_its_host_function_costs_nothing(void)
{
    struct scene s = scene_open();
    struct call call = {.status = -1};
    uint64_t before;

    CHECK_OK(gs_launch_host(s.session, s.stream, call_wait, &call));
    CHECK_OK(gs_memset_async(s.session, s.flag, 0, 4, s.stream));
    while (!atomic_load(&call.inside))
        sched_yield();
    CHECK_STATUS(gs_stream_sync_for(s.session, s.stream, 200 * MS), GS_NOT_READY);
    before = worker_ns(s.server);
    CHECK_STATUS(gs_stream_sync_for(s.session, s.stream, 1000 * MS), GS_NOT_READY);
    CHECK(worker_ns(s.server) - before < 100 * MS);
    atomic_store(&call.go, true);
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    scene_close(&s);
}

/* The same for streams that wait for that one: the position of their event does not come. */
static void a_wait_for_a_position_that_does_not_come_costs_little(void)
{
    struct scene s = scene_open();
    struct call call = {.status = -1};
    uint64_t before;

    CHECK_OK(gs_launch_host(s.session, s.stream, call_wait, &call));
    CHECK_OK(gs_event_record(s.event, s.stream));
    CHECK_OK(gs_stream_wait_event(s.other, s.event));
    CHECK_OK(gs_memset_async(s.session, s.flag, 0, 4, s.other));
    while (!atomic_load(&call.inside))
        sched_yield();
    CHECK_STATUS(gs_stream_sync_for(s.session, s.other, 200 * MS), GS_NOT_READY);
    before = worker_ns(s.server);
    CHECK_STATUS(gs_stream_sync_for(s.session, s.other, 1000 * MS), GS_NOT_READY);
    CHECK(worker_ns(s.server) - before < 300 * MS);
    atomic_store(&call.go, true);
    CHECK_OK(gs_stream_sync(s.session, s.other));
    scene_close(&s);
}

/* How often the worker's main lane has given its processor up. */
static unsigned long lane_sleeps(const struct server *server)
{
    char folder[64], path[400], line[128], name[64] = "";
    unsigned long sleeps = 0, found = 0;
    const struct dirent *entry;

    snprintf(folder, sizeof(folder), "/proc/%d/task", (int)server_worker_pid(server));
    DIR *tasks = opendir(folder);
    CHECK(tasks != NULL);
    while ((entry = readdir(tasks))) {
        snprintf(path, sizeof(path), "%s/%s/status", folder, entry->d_name);
        FILE *file = entry->d_name[0] == '.' ? NULL : fopen(path, "re");
        while (file && fgets(line, sizeof(line), file)) {
            sscanf(line, "Name: %63s", name);
            if (sscanf(line, "voluntary_ctxt_switches: %lu", &sleeps) == 1 &&
                !strcmp(name, "gs-dispatch"))
                found = sleeps;
        }
        if (file)
            fclose(file);
    }
    closedir(tasks);
    CHECK(found > 0);
    return found;
}

static void *module_load(void *session)
{
    kernels_load(session);
    return NULL;
}

/* While the driver loads a module nobody's work goes out; requests are served. */
static void a_module_that_loads_slowly_takes_no_processor(void)
{
    struct driver_plan *plan;
    struct server *server = driver_server_start(NULL, 0, &plan);
    gs_session loads, other;
    pthread_t thread;
    unsigned long before;
    gs_devptr data;

    CHECK_OK(server_attach(server, &loads));
    CHECK_OK(server_attach(server, &other));
    driver_hold(plan, "cuModuleLoadDataEx");
    CHECK_EQUAL(pthread_create(&thread, NULL, module_load, loads), 0);
    CHECK_WITHIN(10000, atomic_load(&plan->waiting) == 1);
    before = lane_sleeps(server);
    for (const uint64_t until = clock_ns() + 1000 * MS; clock_ns() < until;) {
        CHECK_OK(gs_malloc(other, 1000, &data));
        CHECK_OK(gs_free(other, data));
        test_pause();
    }
    CHECK(lane_sleeps(server) - before > 20);
    driver_go_on(plan);
    CHECK_EQUAL(pthread_join(thread, NULL), 0);
    CHECK_OK(gs_detach(loads));
    CHECK_OK(gs_detach(other));
    server_stop(server);
}

static void count(void *data, gs_status status)
{
    int *places = data;

    places[1 + places[0]] = status == GS_OK ? places[0] : -1;
    places[0]++;
}

/* More of them than a ring has places. */
static void host_functions_of_a_stream_keep_its_order(void)
{
    enum { CALLS = 3000 };
    static int places[1 + CALLS];
    struct scene s = scene_open();

    places[0] = 0;
    for (int i = 0; i < CALLS; i++)
        CHECK_OK(gs_launch_host(s.session, s.stream, count, places));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(places[0], CALLS);
    for (int i = 0; i < CALLS; i++)
        CHECK_EQUAL(places[1 + i], i);
    scene_close(&s);
}

static void detach_in_call(void *data, gs_status status)
{
    (void)status;
    ((int *)data)[0] = (int)gs_detach(*(gs_session *)((int **)data)[1]);
}

static void a_host_function_is_called_once_whatever_becomes_of_its_session(void)
{
    struct scene s = scene_open();
    struct call call = {.go = true, .status = -1}, after = {.go = true, .status = -1};
    union {
        int status;
        void *word[2];
    } refused = {.word = {NULL, &s.session}};
    gs_graph graph;

    CHECK_OK(gs_launch_host(s.session, s.stream, detach_in_call, &refused));
    CHECK_OK(gs_stream_sync(s.session, s.stream));
    CHECK_EQUAL(refused.status, GS_ERR_INVALID_VALUE);
    CHECK_STATUS(gs_launch_host(s.session, s.stream, NULL, NULL), GS_ERR_INVALID_VALUE);
    CHECK_OK(gs_graph_begin(s.session, s.stream));
    CHECK_STATUS(gs_launch_host(s.session, s.stream, call_wait, &call), GS_ERR_RECORDING);
    CHECK_OK(gs_graph_end(s.session, s.stream, &graph));

    /* gs_detach waits for it */
    CHECK_OK(kernels_launch(s.stream, kernels_get(kernels_load(s.session), "spin"), 1, 1,
                            (void *[]){&(uint64_t){50 * MS}}));
    CHECK_OK(gs_launch_host(s.session, s.stream, call_wait, &call));
    CHECK_OK(gs_detach(s.session));
    CHECK_EQUAL(atomic_load(&call.called), 1);
    CHECK_EQUAL(atomic_load(&call.status), GS_OK);

    /* a session that has ended */
    CHECK_OK(server_attach(s.server, &s.session));
    CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(s.session), "trap"), 1, 1, NULL));
    CHECK_OK(gs_launch_host(s.session, NULL, call_wait, &after));
    while (!atomic_load(&after.called))
        sched_yield();
    CHECK_EQUAL(atomic_load(&after.status), GS_ERR_FAULT);
    CHECK_STATUS(gs_detach(s.session), GS_ERR_FAULT);
    CHECK_EQUAL(atomic_load(&after.called), 1);
    server_stop(s.server);
}

/* A child of fork has descriptors of the parent's work, and watches for its own session. */
static void a_child_watches_for_itself(void)
{
    struct scene s;
    int fd, status;
    pid_t child;

    if (THREAD_SANITIZER)
        test_skip("ThreadSanitizer starts no threads in a child of several threads");
    if (ADDRESS_SANITIZER)
        test_skip("AddressSanitizer's heap stays locked in a child where another thread had it");
    s = scene_open();
    scene_busy(&s);
    CHECK_OK(gs_event_fd(s.event, &fd));
    child = fork();
    if (child == 0) {
        struct scene own = {.server = s.server};
        int mine;

        CHECK_OK(server_attach(own.server, &own.session));
        CHECK_OK(gs_event_create(own.session, &own.event));
        CHECK_OK(kernels_launch(NULL, kernels_get(kernels_load(own.session), "spin"), 1, 1,
                                (void *[]){&(uint64_t){20 * MS}}));
        CHECK_OK(gs_event_record(own.event, NULL));
        CHECK_OK(gs_event_fd(own.event, &mine));
        CHECK(readable(mine, -1));
        CHECK_OK(gs_detach(own.session));
        CHECK(readable(fd, -1));
        _exit(0);
    }
    CHECK(child > 0);
    scene_release(&s);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK_EQUAL(status, 0);
    CHECK(readable(fd, -1));
    close(fd);
    scene_close(&s);
}

static const struct test tests[] = {
    TEST(a_wait_ends_when_its_time_has_passed),
    TEST(a_report_is_waited_for),
    TEST(a_descriptor_is_readable_once_the_work_is_complete),
    TEST(an_event_loop_waits_for_many),
    TEST(closing_it_early_does_no_harm),
    TEST(the_end_of_the_session_is_told),
    TEST(what_is_wrong_is_refused),
    TEST(a_host_function_holds_back_its_stream_alone),
    TEST(a_stream_that_waits_for_its_host_function_costs_nothing),
    TEST(a_wait_for_a_position_that_does_not_come_costs_little),
    TEST(a_module_that_loads_slowly_takes_no_processor),
    TEST(host_functions_of_a_stream_keep_its_order),
    TEST(a_host_function_is_called_once_whatever_becomes_of_its_session),
    TEST(a_child_watches_for_itself),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
