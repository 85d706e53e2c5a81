/*
 * test_waiting.c - waits with a timeout, and descriptors for event loops: a kernel that runs until
 * it is told to end stands for work that takes long.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/sanitizers.h"
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
    CHECK(report.run_ns >= 20 * MS);
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

/* A child of fork has descriptors of the parent's work, and watches for its own session. */
static void a_child_watches_for_itself(void)
{
    struct scene s;
    int fd, status;
    pid_t child;

    if (THREAD_SANITIZER)
        test_skip("ThreadSanitizer starts no threads in a child of several threads");
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
    TEST(a_child_watches_for_itself),
};

int main(int argc, char **argv)
{
    return test_main(argc, argv, tests, ARRAY_SIZE(tests));
}
