// A worker that is stopped because the standby has its place: it is killed once the next one has
// its sessions, after a second at the latest, and reaped.
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/reaper.h"
#include "server/state/server.h"
#include "server/workers/former.h"

#define SECOND UINT64_C(1000000000)

static struct server server;
static struct device *const device = &server.device[0];
static struct former *const former = &server.device[0].former;

static void worker_ready(struct watch *watch, uint32_t events)
{
    (void)watch;
    (void)events;
    fail_msg("the watch was not moved");
}

// A process that is stopped, as a worker is that has come to rest, becomes the device's former one.
static void stop_and_take(void)
{
    struct child worker = CHILD_NONE;
    int status;

    worker.pid = fork();
    assert_true(worker.pid >= 0);
    if (worker.pid == 0) {
        raise(SIGSTOP);
        _exit(1);
    }
    assert_int_equal(waitpid(worker.pid, &status, WUNTRACED), worker.pid);
    worker.process.fd = (int)syscall(SYS_pidfd_open, worker.pid, 0);
    assert_int_equal(child_watch(&server.loop, &worker, NULL, worker_ready), 0);
    former_take(device, &worker);
    assert_int_equal(worker.process.fd, -1);
}

static int set(void **state)
{
    (void)state;
    log_init("test", "error");
    memset(&server, 0, sizeof(server));
    server.options.instance = "unit";
    server.phase = PHASE_SERVING;
    server.device_count = 1;
    device_init(device, &server, 0);
    // The standby takes the sessions up.
    device->worker.state = WORKER_READY;
    device->resuming = 1;
    return loop_init(&server.loop);
}

static int unset(void **state)
{
    (void)state;
    former_kill(device);
    reaper_deinit(&server.reaper, &server.loop);
    loop_deinit(&server.loop);
    return waitpid(-1, NULL, WNOHANG) < 0 ? 0 : -1; // no process is left
}

static bool alive(pid_t pid)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == 0;
}

// Rounds until the device has no former worker any more. Returns how long that took.
static uint64_t gone(void)
{
    const uint64_t begin = clock_ns();

    while (former->child.pid) {
        assert_true(clock_ns() - begin < 10 * SECOND);
        former_keep(device);
        assert_true(loop_round(&server.loop) >= 0);
    }
    assert_int_equal(former->child.process.fd, -1);
    return clock_ns() - begin;
}

// Whether it ends though no time passes in the loop.
static bool ends(void)
{
    struct pollfd process = {former->child.process.fd, POLLIN, 0};

    return poll(&process, 1, 10000) == 1;
}

static void it_is_left_alone_while_the_next_one_takes_sessions_up(void **state)
{
    (void)state;
    stop_and_take();
    former_keep(device);
    assert_true(alive(former->child.pid));
    device->worker.state = WORKER_STARTING;
    former_keep(device);
    assert_true(alive(former->child.pid));
}

static void it_is_killed_when_the_next_one_has_its_sessions(void **state)
{
    (void)state;
    stop_and_take();
    device->resuming = 0;
    former_keep(device);
    assert_true(ends());
    gone();
}

static void it_is_killed_when_the_next_one_is_lost_too(void **state)
{
    (void)state;
    stop_and_take();
    device->worker.state = WORKER_ENDING;
    former_keep(device);
    assert_true(ends());
    gone();
}

// It holds memory that the next one may need.
static void it_is_killed_after_a_second_at_the_latest(void **state)
{
    (void)state;
    stop_and_take();
    assert_true(gone() >= SECOND * 9 / 10);
}

static void another_can_follow_it(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        device->resuming = 1;
        stop_and_take();
        device->resuming = 0;
        gone();
    }
}

static void the_servers_end_does_not_wait_for_it(void **state)
{
    (void)state;
    stop_and_take();
    const pid_t pid = former->child.pid;
    former_kill(device);
    assert_int_equal(former->child.pid, 0);
    assert_int_equal(waitpid(pid, NULL, WNOHANG), -1); // reaped
    former_kill(device);
}

// What a supervisor finds that takes the place of one that was killed: the loop is another.
static void restore(void)
{
    const int process = former->child.process.fd;

    watch_remove(&server.loop, &former->child.process);
    former->child.process.fd = process;
    former_restore(device);
}

static void a_next_supervisor_kills_it(void **state)
{
    (void)state;
    stop_and_take();
    restore();
    assert_true(ends()); // whoever takes up what
    gone();
}

// The predecessor was killed just after it had closed the descriptor.
static void a_next_supervisor_forgets_one_that_had_ended(void **state)
{
    (void)state;
    stop_and_take();
    kill(former->child.pid, SIGKILL);
    waitpid(former->child.pid, NULL, 0);
    watch_remove(&server.loop, &former->child.process);
    former_restore(device);
    assert_int_equal(former->child.pid, 0);
    former_keep(device);
    stop_and_take();
    device->resuming = 0;
    gone();
}

static void without_one_there_is_nothing_to_do(void **state)
{
    (void)state;
    former_keep(device);
    former_restore(device);
    former_kill(device);
    assert_int_equal(former->child.pid, 0);
}

int main(void)
{
#define FORMER_TEST(test) cmocka_unit_test_setup_teardown(test, set, unset)
    const struct CMUnitTest tests[] = {
        FORMER_TEST(it_is_left_alone_while_the_next_one_takes_sessions_up),
        FORMER_TEST(it_is_killed_when_the_next_one_has_its_sessions),
        FORMER_TEST(it_is_killed_when_the_next_one_is_lost_too),
        FORMER_TEST(it_is_killed_after_a_second_at_the_latest),
        FORMER_TEST(another_can_follow_it),
        FORMER_TEST(the_servers_end_does_not_wait_for_it),
        FORMER_TEST(a_next_supervisor_kills_it),
        FORMER_TEST(a_next_supervisor_forgets_one_that_had_ended),
        FORMER_TEST(without_one_there_is_nothing_to_do),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
