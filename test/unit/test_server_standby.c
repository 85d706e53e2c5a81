// A standby that does not answer does not take the worker's place, and is killed in the end; one
// that is merely slow stays.
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "server/base/reaper.h"
#include "server/state/server.h"
#include "server/workers/standby.h"

static struct server server;
static struct device *const device = &server.device[0];
static struct standby *const standby = &server.device[0].standby;
static int standby_side; // of the socketpair

// A standby that has said that it is ready, as a supervisor finds it. This test speaks for it; its
// process sleeps, for there must be something to kill.
static int set(void **state)
{
    int pair[2];

    (void)state;
    log_init("test", "error");
    memset(&server, 0, sizeof(server));
    server.options.instance = "unit";
    server.phase = PHASE_SERVING;
    server.device_count = 1;
    device_init(device, &server, 0);
    if (loop_init(&server.loop) < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair))
        return -1;
    standby_side = pair[1];
    standby->child.pid = fork();
    if (standby->child.pid == 0) {
        close(pair[1]);
        for (;;)
            pause();
    }
    standby->child.process.fd = (int)syscall(SYS_pidfd_open, standby->child.pid, 0);
    standby->child.link.fd = pair[0];
    standby->child.said_ready = true;
    standby_restore(device);
    return standby_ready(device) ? 0 : -1;
}

static int unset(void **state)
{
    (void)state;
    standby_kill(device);
    close(standby_side);
    reaper_deinit(&server.reaper, &server.loop);
    loop_deinit(&server.loop);
    return waitpid(-1, NULL, WNOHANG) < 0 ? 0 : -1; // no process is left
}

static void beats(unsigned count)
{
    while (count--)
        standby_beat(device);
}

// It has been asked once, and answers.
static void answer(void)
{
    struct link_message message;

    assert_int_equal(recv(standby_side, &message, sizeof(message), 0), sizeof(message));
    assert_int_equal(message.op, LINK_PING);
    assert_int_equal(recv(standby_side, &message, sizeof(message), 0), -1);
    message.op = LINK_PONG;
    assert_int_equal(send(standby_side, &message, sizeof(message), 0), sizeof(message));
    assert_true(loop_round(&server.loop) >= 0);
}

static bool take(struct worker_process *worker)
{
    *worker = (struct worker_process){.child = CHILD_NONE};
    return standby_take(device, worker, NULL, NULL);
}

static void one_that_answers_late_stays(void **state)
{
    (void)state;
    for (unsigned i = 0; i < BEATS_MAX; i++) {
        beats(BEATS_SILENT);
        assert_int_equal(standby_ready(device), standby->child.pid);
        answer();
    }
    beats(BEATS_MAX);
    assert_int_equal(standby_ready(device), 0);
    answer();
    assert_int_equal(standby_ready(device), standby->child.pid);
}

// Its next answer is the worker's.
static void one_that_has_just_been_asked_takes_the_workers_place(void **state)
{
    const pid_t pid = standby->child.pid;
    struct worker_process worker;

    (void)state;
    beats(2);
    const uint64_t asked = standby->pinged_ns;
    assert_true(take(&worker));
    assert_int_equal(worker.child.pid, pid);
    assert_int_equal(worker.pinged_ns, asked);
    assert_int_equal(standby->child.pid, 0);
    assert_int_equal(standby->pinged_ns, 0);
    child_end(&server.loop, &worker.child);
}

static void one_that_is_silent_does_not(void **state)
{
    struct pollfd process = {standby->child.process.fd, POLLIN, 0};
    struct worker_process worker;

    (void)state;
    beats(1 + BEATS_SILENT);
    assert_int_equal(standby_ready(device), 0);
    assert_false(take(&worker));
    assert_int_equal(poll(&process, 1, 10000), 1); // it has been killed
}

static void one_that_stays_silent_is_killed(void **state)
{
    struct pollfd process = {standby->child.process.fd, POLLIN, 0};

    (void)state;
    beats(BEATS_MAX);
    assert_int_equal(poll(&process, 1, 0), 0);
    beats(1);
    assert_int_equal(poll(&process, 1, 10000), 1);
}

// It maps what the sessions have, which takes as long as it takes.
static void one_that_gets_ready_for_sessions_is_not_asked(void **state)
{
    (void)state;
    standby->preload.phase = PRELOAD_SENT;
    beats(2 * BEATS_MAX);
    assert_int_equal(standby_ready(device), standby->child.pid);
    standby->preload.phase = PRELOAD_NONE;
    beats(1);
    answer();
}

#define STANDBY_TEST(test) cmocka_unit_test_setup_teardown(test, set, unset)

int main(void)
{
    const struct CMUnitTest tests[] = {
        STANDBY_TEST(one_that_answers_late_stays),
        STANDBY_TEST(one_that_has_just_been_asked_takes_the_workers_place),
        STANDBY_TEST(one_that_is_silent_does_not),
        STANDBY_TEST(one_that_stays_silent_is_killed),
        STANDBY_TEST(one_that_gets_ready_for_sessions_is_not_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
