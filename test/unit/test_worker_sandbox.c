/* test_worker_sandbox.c - what ptxas cannot do once it is in its sandbox, whoever's text has taken
 * it over: change a file, reach another process, start one, leave its group. Each is tried by a
 * process that may do it outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util.h"
#include "worker/module/assembler_sandbox.h"

static char file[] = "/tmp/gshare-sandbox-XXXXXX";
static int queue = -1;

static int file_make(void **state)
{
    const int fd = mkstemp(file);

    (void)state;
    if (fd < 0 || write(fd, "text", 4) != 4)
        return -1;
    close(fd);
    queue = msgget(IPC_PRIVATE, 0600);
    return queue < 0 ? -1 : 0;
}

static int file_remove(void **state)
{
    (void)state;
    msgctl(queue, IPC_RMID, NULL);
    return unlink(file);
}

/* Whether the act succeeds in a process of its own, in the sandbox, to which the file is the
 * program that it may read. */
static bool can(bool (*act)(void))
{
    int status = -1;
    const pid_t pid = fork();

    if (pid == 0)
        _exit(sandbox_enter(file) ? (act() ? 1 : 0) : 2);
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_not_equal(WEXITSTATUS(status), 2);
    return WEXITSTATUS(status) == 1;
}

/* ---- Files ---- */

static bool file_truncates(void)
{
    return !truncate(file, 0);
}

static bool file_opens_truncated(void)
{
    return open(file, O_RDONLY | O_TRUNC) >= 0;
}

static bool file_changes_mode(void)
{
    const int fd = open(file, O_RDONLY);

    return !chmod(file, 0777) || !fchmodat(AT_FDCWD, file, 0777, 0) || !fchmod(fd, 0777);
}

static bool file_changes_owner(void)
{
    return !chown(file, geteuid(), getegid()) || !fchownat(AT_FDCWD, file, geteuid(), getegid(), 0);
}

static bool file_reads(void)
{
    char text[4];
    const int fd = open(file, O_RDONLY);

    return read(fd, text, sizeof(text)) == 4;
}

static void it_changes_no_file(void **state)
{
    struct stat now;

    (void)state;
    assert_true(can(file_reads));
    assert_false(can(file_truncates));
    assert_false(can(file_changes_mode));
    assert_false(can(file_changes_owner));
    assert_int_equal(stat(file, &now), 0);
    assert_int_equal(now.st_size, 4);
    assert_int_equal(now.st_mode & 0777, 0600);
}

static void it_does_not_truncate_what_it_reads(void **state)
{
    struct stat now;

    (void)state;
    if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION) < 3)
        skip(); /* this kernel's Landlock knows of no truncation */
    assert_false(can(file_opens_truncated));
    assert_int_equal(stat(file, &now), 0);
    assert_int_equal(now.st_size, 4);
}

/* ---- Processes ---- */

static bool signals_the_parent(void)
{
    return !kill(getppid(), 0);
}

static bool signals_by_a_pipe(void)
{
    const struct f_owner_ex owner = {.type = F_OWNER_PID, .pid = getppid()};
    int ends[2];

    return !pipe(ends) &&
           (!fcntl(ends[0], F_SETOWN, getppid()) || !fcntl(ends[0], F_SETOWN_EX, &owner));
}

static bool makes_sockets(void)
{
    int ends[2];

    return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 || !socketpair(AF_UNIX, SOCK_STREAM, 0, ends);
}

static bool sends_a_message(void)
{
    const struct {
        long type;
        char text[4];
    } message = {1, "hi"};

    return !msgsnd(queue, &message, sizeof(message.text), IPC_NOWAIT);
}

static void it_reaches_no_other_process(void **state)
{
    (void)state;
    assert_false(can(signals_the_parent));
    assert_false(can(signals_by_a_pipe));
    assert_false(can(makes_sockets));
    assert_false(can(sends_a_message));
}

/* Whether a clone with these flags is made, which ends at once. */
static bool clones(unsigned long flags)
{
    const long pid = syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);

    if (pid == 0)
        _exit(0);
    return pid > 0;
}

static bool forks(void)
{
    return clones(0) || fork() > 0;
}

#ifdef SYS_fork
static bool forks_by_the_old_call(void)
{
    const long pid = syscall(SYS_fork);

    if (pid == 0)
        _exit(0);
    return pid > 0;
}
#endif

/* As vfork and posix_spawn do. */
static bool clones_with_its_memory(void)
{
    return clones(CLONE_VM | CLONE_VFORK);
}

static bool clones_a_namespace(void)
{
    return clones(CLONE_NEWUSER);
}

static bool clones_a_sibling(void)
{
    return clones(CLONE_PARENT);
}

static bool clones_by_memory(void)
{
    return syscall(SYS_clone3, NULL, 0) == 0 || errno != ENOSYS;
}

static void it_starts_no_process(void **state)
{
    (void)state;
    assert_false(can(forks));
#ifdef SYS_fork
    assert_false(can(forks_by_the_old_call));
#endif
    assert_false(can(clones_with_its_memory));
    assert_false(can(clones_a_namespace));
    assert_false(can(clones_a_sibling));
    assert_false(can(clones_by_memory));
}

static bool leaves_the_group(void)
{
    return setsid() >= 0 || !setpgid(0, 0) || errno != EPERM;
}

static void it_stays_in_its_group(void **state)
{
    (void)state;
    assert_false(can(leaves_the_group));
}

static bool outlives_the_parent(void)
{
    return !prctl(PR_SET_PDEATHSIG, 0) || errno != EPERM;
}

static bool names_itself(void)
{
    return !prctl(PR_SET_NAME, "other");
}

static void it_ends_with_the_worker(void **state)
{
    (void)state;
    assert_false(can(outlives_the_parent));
    assert_true(can(names_itself));
}

/* ---- What a compiler needs ---- */

static void *nothing(void *argument)
{
    return argument;
}

static bool has_threads(void)
{
    pthread_t thread;

    return !pthread_create(&thread, NULL, nothing, NULL) && !pthread_join(thread, NULL);
}

static bool ends_itself(void)
{
    signal(SIGUSR1, SIG_IGN);
    return !kill(getpid(), SIGUSR1);
}

static void it_has_threads_and_its_own_signals(void **state)
{
    (void)state;
    assert_true(can(has_threads));
    assert_true(can(ends_itself));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_changes_no_file),
        cmocka_unit_test(it_does_not_truncate_what_it_reads),
        cmocka_unit_test(it_reaches_no_other_process),
        cmocka_unit_test(it_starts_no_process),
        cmocka_unit_test(it_stays_in_its_group),
        cmocka_unit_test(it_ends_with_the_worker),
        cmocka_unit_test(it_has_threads_and_its_own_signals),
    };

    return cmocka_run_group_tests(tests, file_make, file_remove);
}
