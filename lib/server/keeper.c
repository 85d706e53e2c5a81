/* keeper.c - see keeper.h. */
#include "server/keeper.h"

#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "server/base/child.h"
#include "server/base/out_of_memory.h"
#include "server/upgrade.h"

/* The number of supervisors that die within DEATHS_NS, after which the keeper gives the server
 * up. */
#define DEATHS_MAX 10u
#define DEATHS_NS  UINT64_C(10000000000)

static sigset_t signals_blocked(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, KEEPER_GONE);
    sigaddset(&set, UPGRADE_SIGNAL);
    return set;
}

/* Forks a child that shares the table of descriptors instead of getting a copy. */
static pid_t fork_sharing(void)
{
    return (pid_t)syscall(SYS_clone, CLONE_FILES | SIGCHLD, NULL, NULL, NULL, NULL);
}

/* Passes a signal on. A terminal signals the whole process group, so the supervisor may get the
 * signal twice, which does no harm. */
static void signal_pass(pid_t supervisor, siginfo_t *info)
{
    info->si_code = SI_QUEUE; /* the kernel lets a process say whose signal it passes on */
    if (syscall(SYS_rt_sigqueueinfo, supervisor, info->si_signo, info) < 0)
        kill(supervisor, info->si_signo);
}

/* Returns the pid of a child that has ended and is not reaped yet, and its *status; 0: there is
 * none. */
static pid_t ended_find(int *status)
{
    siginfo_t info = {0};

    if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return 0;
    *status = child_status(&info);
    return info.si_pid;
}

/* Reaps all children that have ended. Besides the supervisor these may be workers of a supervisor
 * that was killed, whose statuses are noted for the next one before they are reaped, since reaping
 * may take long (reaper.h). Returns whether the supervisor was among them. */
static bool supervisor_reaped(struct server_memory *memory, pid_t supervisor, int *status)
{
    bool found = false;
    pid_t pid;
    int how;

    while ((pid = ended_find(&how)) > 0) {
        if (pid == supervisor) {
            *status = how;
            found = true;
        } else {
            orphan_add(&memory->server.reaper.orphans, pid, how);
        }
        waitpid(pid, NULL, 0);
        if (pid != supervisor)
            metrics_process_reaped(&memory->metrics, &memory->server.options, pid);
    }
    return found;
}

/* Waits for the end of the supervisor. Returns its status, as waitpid's. Sets *upgrade if this
 * process has killed it in order to become another program. */
static int supervisor_await(struct server_memory *memory, pid_t supervisor, bool *upgrade)
{
    const struct server *server = &memory->server;
    const sigset_t set = signals_blocked();
    siginfo_t info;
    int status;

    *upgrade = false;
    while (!supervisor_reaped(memory, supervisor, &status)) {
        if (server->phase >= PHASE_STOPPING)
            metrics_process_stop(&memory->metrics);
        if (sigwaitinfo(&set, &info) < 0 || info.si_signo == SIGCHLD)
            continue;
        if (info.si_signo == SIGHUP)
            metrics_process_hangup(&memory->metrics);
        if (info.si_signo != UPGRADE_SIGNAL) {
            signal_pass(supervisor, &info);
        } else if (!*upgrade && server->phase == PHASE_SERVING && upgrade_possible()) {
            *upgrade = true;
            kill(supervisor, SIGKILL); /* the pid is valid: the child has not been reaped */
        }
    }
    return status;
}

/* Ends the server without a supervisor. Kills the workers, because a stopped worker would not
 * notice that its socket closes. */
static int server_give_up(const struct server *server)
{
    server_kill_all(server);
    return EXIT_FAILURE;
}

/* Returns whether another supervisor can take over from the one that was killed. */
static bool supervisor_replaceable(const struct server *server)
{
    static uint64_t first_ns;
    static uint32_t deaths;
    const uint64_t now = clock_ns();

    if (server->phase != PHASE_SERVING && server->phase != PHASE_DRAINING)
        return false;
    if (now - first_ns > DEATHS_NS) {
        first_ns = now;
        deaths = 0;
    }
    return ++deaths <= DEATHS_MAX;
}

/* Returns a text of how a process ended, in a static buffer. */
static const char *end_describe(int status)
{
    static char text[64];

    if (!WIFSIGNALED(status))
        return "could not begin";
    snprintf(text, sizeof(text), "was killed by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
    return text;
}

static void supervisor_begin(pid_t keeper)
{
    prctl(PR_SET_PDEATHSIG, KEEPER_GONE);
    if (getppid() != keeper)
        _exit(EXIT_FAILURE);
}

/* Maps the memory that supervisors share, and makes it if `fd` is negative. Returns NULL on
 * failure. */
static struct server_memory *memory_map(int fd)
{
    struct server_memory *memory;
    const bool made = fd < 0;

    if (made)
        fd = memfd_create("gshare-server", MFD_CLOEXEC);
    if (fd < 0 || (made && ftruncate(fd, sizeof(*memory)) < 0))
        return NULL;
    memory = mmap(NULL, sizeof(*memory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED)
        return NULL;
    memory->fd = fd;
    return memory;
}

/* Starts a supervisor. Returns 0 in the supervisor. */
static pid_t supervisor_start(void)
{
    const pid_t keeper = getpid(), supervisor = fork_sharing();

    if (supervisor == 0)
        supervisor_begin(keeper);
    if (supervisor < 0)
        log_error("event=supervisor-failed reason=%s", strerror(errno));
    return supervisor;
}

/* Runs one supervisor after the other. Returns the exit status, in each supervisor and in the
 * keeper. */
static int supervisors_run(struct server_memory *memory, bool again,
                           int (*supervise)(struct server_memory *memory, bool again))
{
    for (bool upgrade;; again = true) {
        const pid_t supervisor = supervisor_start();
        int status;

        if (supervisor == 0)
            return supervise(memory, again);
        /* The warnings' descriptor is shared with the supervisor, which closes it; the number is
         * used again. */
        log_warnings_also(-1);
        if (supervisor < 0)
            return server_give_up(&memory->server);
        status = supervisor_await(memory, supervisor, &upgrade);
        if (WIFEXITED(status) && WEXITSTATUS(status) != KEEPER_AGAIN)
            return WEXITSTATUS(status);
        memory->crashed = WIFSIGNALED(status) && WTERMSIG(status) != SIGKILL;
        if (upgrade) {
            log_info("event=upgraded reason=\"the server goes on as the program that is installed "
                     "now\"");
            status_page_pause();
            upgrade_now(memory->fd);
            status_page_go_on(&memory->server.status);
        } else if (!supervisor_replaceable(&memory->server)) {
            log_error(
                "event=supervisor-lost supervisor=%d reason=\"%s, and no other takes its place\"",
                (int)supervisor, end_describe(status));
            return server_give_up(&memory->server);
        } else {
            log_warning(
                "event=supervisor-lost supervisor=%d reason=\"%s: another takes its place\"",
                (int)supervisor, end_describe(status));
        }
    }
}

int keeper_run(int fd, bool (*prepare)(struct server_memory *memory),
               int (*supervise)(struct server_memory *memory, bool again))
{
    const pid_t keeper = getpid();
    struct server_memory *memory = memory_map(fd);
    const sigset_t blocked = signals_blocked();
    int status;

    if (!memory) {
        log_error("event=start-failed reason=\"memory for the server: %s\"", strerror(errno));
        return EXIT_FAILURE;
    }
    log_as(keeper);           /* lines of all supervisors have the keeper's pid, which gsctl
                                 shows as the server's */
    signal(SIGCHLD, SIG_DFL); /* if it were ignored, the kernel would reap the workers */
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    out_of_memory_spare();
    if (!prepare(memory))
        return EXIT_FAILURE;
    memory->here = memory;
    status = supervisors_run(memory, fd >= 0, supervise);
    if (getpid() == keeper)
        metrics_process_stop(&memory->metrics);
    return status;
}
