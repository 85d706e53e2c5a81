/*
 * test_server_reaper.c - how a worker has ended is known at once, and its process is reaped later.
 */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/segment.h"
#include "common/util.h"
#include "server/base/reaper.h"

static struct loop loop;
static struct reaper reaper;

/* A child that ends by the signal, or with the status if that is 0; *segment, unless NULL: one that
 * it made and did not mark for removal. */
static struct child child_with_segment(int signal, int status, int *segment)
{
    struct child child = CHILD_NONE;
    void *memory;
    int ids[2];

    assert_int_equal(pipe(ids), 0);
    child.pid = fork();
    if (child.pid == 0) {
        int id = -1;

        if (segment && segment_begin(4096, S_IRUSR | S_IWUSR, geteuid(), &id, &memory) < 0)
            id = -1;
        if (write(ids[1], &id, sizeof(id)) != sizeof(id))
            _exit(1);
        if (signal)
            raise(signal);
        _exit(status);
    }
    assert_true(child.pid > 0);
    child.process.fd = (int)syscall(SYS_pidfd_open, child.pid, 0);
    assert_true(child.process.fd >= 0);
    if (segment)
        assert_int_equal(read(ids[0], segment, sizeof(*segment)), sizeof(*segment));
    close(ids[0]);
    close(ids[1]);
    return child;
}

static struct child child_start(int signal, int status)
{
    return child_with_segment(signal, status, NULL);
}

static void wait_for_end(const struct child *child)
{
    siginfo_t info;

    assert_int_equal(waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT), 0);
}

static bool is_reaped(const struct child *child)
{
    siginfo_t info;

    return waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOHANG | WNOWAIT) < 0;
}

static int setup(void **state)
{
    (void)state;
    return loop_init(&loop);
}

static int teardown(void **state)
{
    (void)state;
    reaper_deinit(&reaper, &loop);
    loop_deinit(&loop);
    return 0;
}

static void how_it_ended_is_known_at_once(void **state)
{
    static const struct {
        int signal, status;
    } ends[] = {{0, 0}, {0, 3}, {SIGKILL, 0}, {SIGTERM, 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        struct child child = child_start(ends[i].signal, ends[i].status);
        int status = 0;

        wait_for_end(&child);
        assert_true(reaper_ended(&reaper, &loop, &child, &status));
        if (ends[i].signal)
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == ends[i].signal);
        else
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == ends[i].status);
        assert_false(is_reaped(&child));
        child_close(&loop, &child);
    }
}

static void it_is_reaped_later(void **state)
{
    struct child child = child_start(0, 0), copy = child;
    const uint64_t deadline = clock_ns() + 10000000000u;
    int status;

    (void)state;
    wait_for_end(&child);
    assert_true(reaper_ended(&reaper, &loop, &child, &status));
    child_close(&loop, &child);
    while (!is_reaped(&copy) && clock_ns() < deadline)
        assert_int_equal(loop_round(&loop), 0);
    assert_true(is_reaped(&copy));
}

/* A process that another one has started, and reaps, as the keeper reaps a former supervisor's. */
static struct child orphan_start(void)
{
    struct child child = CHILD_NONE;
    int ids[2];

    assert_int_equal(pipe(ids), 0);
    if (fork() == 0) {
        const pid_t pid = fork();
        if (pid == 0) {
            pause();
            _exit(0);
        }
        if (write(ids[1], &pid, sizeof(pid)) != sizeof(pid))
            _exit(1);
        waitpid(pid, NULL, 0);
        _exit(0);
    }
    assert_int_equal(read(ids[0], &child.pid, sizeof(child.pid)), sizeof(child.pid));
    close(ids[0]);
    close(ids[1]);
    child.process.fd = (int)syscall(SYS_pidfd_open, child.pid, 0);
    assert_true(child.process.fd >= 0);
    return child;
}

static void orphan_kill(const struct child *child)
{
    struct pollfd process = {child->process.fd, POLLIN, 0};

    child_signal(child, SIGKILL);
    assert_int_equal(poll(&process, 1, 10000), 1);
}

static void how_an_orphan_ended_is_what_the_keeper_tells(void **state)
{
    struct child child = orphan_start();
    int status = 0;

    (void)state;
    assert_false(reaper_ended(&reaper, &loop, &child, &status));
    orphan_kill(&child);
    assert_false(reaper_ended(&reaper, &loop, &child, &status)); /* it has not told yet */
    orphan_add(&reaper.orphans, child.pid + 1, 0);
    assert_false(reaper_ended(&reaper, &loop, &child, &status));
    orphan_add(&reaper.orphans, child.pid, W_EXITCODE(0, SIGSEGV));
    assert_true(reaper_ended(&reaper, &loop, &child, &status));
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
    assert_false(orphan_take(&reaper.orphans, child.pid, &status));
    orphan_remove(&reaper.orphans, child.pid + 1);
    child_close(&loop, &child);
}

/* The keeper may be stopped. */
static void one_of_which_nothing_is_told_has_ended_all_the_same(void **state)
{
    struct child child = orphan_start();
    const uint64_t deadline = clock_ns() + 10000000000u;
    bool ended = false;
    int status = 0;

    (void)state;
    orphan_kill(&child);
    while (!ended && clock_ns() < deadline)
        ended = reaper_ended(&reaper, &loop, &child, &status);
    assert_true(ended);
    assert_int_equal(status, CHILD_STATUS_UNKNOWN);
    child_close(&loop, &child);
}

static void what_is_told_of_a_process_is_not_taken_for_a_later_one_s(void **state)
{
    int status;

    (void)state;
    orphan_add(&reaper.orphans, 7, W_EXITCODE(0, SIGSEGV));
    orphan_add(&reaper.orphans, 7, W_EXITCODE(0, SIGBUS));
    orphan_remove(&reaper.orphans, 7);
    assert_false(orphan_take(&reaper.orphans, 7, &status));
    for (int pid = 1; pid <= (int)ORPHANS_MOST + 1; pid++)
        orphan_add(&reaper.orphans, pid, W_EXITCODE(pid, 0));
    assert_false(orphan_take(&reaper.orphans, 1, &status)); /* the oldest makes room */
    for (int pid = 2; pid <= (int)ORPHANS_MOST + 1; pid++)
        assert_true(orphan_take(&reaper.orphans, pid, &status) && WEXITSTATUS(status) == pid);
}

static bool is_there(int segment)
{
    struct shmid_ds status;

    return shmctl(segment, IPC_STAT, &status) == 0;
}

static void what_a_killed_worker_had_not_marked_for_removal_goes(void **state)
{
    int segment, status;
    struct child child = child_with_segment(SIGKILL, 0, &segment);
    const uint64_t deadline = clock_ns() + 10000000000u;

    (void)state;
    assert_true(segment >= 0);
    wait_for_end(&child);
    assert_true(is_there(segment));
    assert_true(reaper_ended(&reaper, &loop, &child, &status));
    child_close(&loop, &child);
    while (is_there(segment) && clock_ns() < deadline)
        assert_int_equal(loop_round(&loop), 0);
    assert_false(is_there(segment));
}

static void it_goes_at_the_end_too(void **state)
{
    int segment, status;
    struct child child = child_with_segment(SIGKILL, 0, &segment);

    (void)state;
    assert_true(segment >= 0);
    wait_for_end(&child);
    assert_true(reaper_ended(&reaper, &loop, &child, &status));
    child_close(&loop, &child);
    reaper_deinit(&reaper, &loop);
    assert_false(is_there(segment));
}

static void who_runs_has_not_ended(void **state)
{
    struct child child = child_start(SIGSTOP, 0);
    int status;

    (void)state;
    assert_false(reaper_ended(&reaper, &loop, &child, &status));
    child_end(&loop, &child);
}

static void however_many_end_all_are_reaped(void **state)
{
    struct child child[3 * REAPER_MOST];
    int status;

    (void)state;
    for (size_t i = 0; i < sizeof(child) / sizeof(child[0]); i++) {
        child[i] = child_start(0, 0);
        wait_for_end(&child[i]);
        assert_true(reaper_ended(&reaper, &loop, &child[i], &status));
    }
    reaper_deinit(&reaper, &loop);
    for (size_t i = 0; i < sizeof(child) / sizeof(child[0]); i++) {
        assert_true(is_reaped(&child[i]));
        child_close(&loop, &child[i]);
    }
}

#define REAPER_TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        REAPER_TEST(how_it_ended_is_known_at_once),
        REAPER_TEST(it_is_reaped_later),
        REAPER_TEST(how_an_orphan_ended_is_what_the_keeper_tells),
        REAPER_TEST(one_of_which_nothing_is_told_has_ended_all_the_same),
        REAPER_TEST(what_is_told_of_a_process_is_not_taken_for_a_later_one_s),
        REAPER_TEST(what_a_killed_worker_had_not_marked_for_removal_goes),
        REAPER_TEST(it_goes_at_the_end_too),
        REAPER_TEST(who_runs_has_not_ended),
        REAPER_TEST(however_many_end_all_are_reaped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
