/* pager.c - see pager.h. */
#include "cudart/state/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the handler asks; it lies on the stack of the thread that waits. */
struct request {
    const void *address;
    _Atomic uint32_t answer; /* 0: none yet */
};
enum { ANSWER_RETRY = 1, ANSWER_FAULT = 2 };

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t process; /* that has the pager: a child of a fork has none */
static int requests[2] = {-1, -1};
enum { MOST_RESOLVERS = 2 };
static pager_resolve_t resolvers[MOST_RESOLVERS]; /* those of a start come before its thread */
static _Atomic unsigned resolver_count;
static struct sigaction former;
static _Atomic pid_t excluded; /* a thread; the lock that it has admits one at a time */

static pid_t thread_id(void)
{
    return (pid_t)syscall(SYS_gettid);
}

void pager_exclude_begin(void)
{
    atomic_store(&excluded, thread_id());
}

void pager_exclude_end(void)
{
    atomic_store(&excluded, 0);
}

/* ---- The pager ------------------------------------------------------------------------------- */

static bool resolve(const void *address)
{
    unsigned count = atomic_load(&resolver_count);

    for (unsigned i = 0; i < count; i++) {
        if (resolvers[i](address))
            return true;
    }
    return false;
}

static void *pager_run(void *unused)
{
    struct request *request;

    (void)unused;
    for (;;) {
        ssize_t got = read(requests[0], &request, sizeof(request));

        if (got < 0 && errno == EINTR)
            continue;
        if (got != sizeof(request))
            return NULL;
        atomic_store(&request->answer, resolve(request->address) ? ANSWER_RETRY : ANSWER_FAULT);
        /* The thread may have gone on by now, and its stack be another thing's: a wake-up there is
         * one too many, which every waiter on a futex expects. */
        syscall(SYS_futex, &request->answer, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

/* ---- The handler ----------------------------------------------------------------------------- */

/* As the kernel would have done without this handler. */
static void fault_pass_on(int number, siginfo_t *info, void *context)
{
    if (former.sa_flags & SA_SIGINFO) {
        former.sa_sigaction(number, info, context);
    } else if (former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN) {
        signal(number, SIG_DFL); /* the access is tried again, and ends the process */
    } else {
        former.sa_handler(number);
    }
}

static bool fault_resolve(const void *address)
{
    struct request request, *pointer = &request;

    request.address = address;
    atomic_init(&request.answer, 0);
    if (getpid() != process || atomic_load(&excluded) == thread_id())
        return false;
    while (write(requests[1], &pointer, sizeof(pointer)) != sizeof(pointer)) {
        if (errno != EINTR)
            return false;
    }
    while (atomic_load(&request.answer) == 0)
        syscall(SYS_futex, &request.answer, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return atomic_load(&request.answer) == ANSWER_RETRY;
}

static void fault_handle(int number, siginfo_t *info, void *context)
{
    int error = errno;
    bool resolved = info->si_code == SEGV_ACCERR && fault_resolve(info->si_addr);

    errno = error;
    if (!resolved)
        fault_pass_on(number, info, context);
}

/* ---- Start ----------------------------------------------------------------------------------- */

static bool resolver_add(pager_resolve_t function)
{
    unsigned count = atomic_load(&resolver_count);

    for (unsigned i = 0; i < count; i++) {
        if (resolvers[i] == function)
            return true;
    }
    if (count == MOST_RESOLVERS)
        return false;
    resolvers[count] = function;
    atomic_store(&resolver_count, count + 1);
    return true;
}

static bool start_locked(void)
{
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    sigset_t all, kept;
    pthread_t thread;
    bool started;

    if (process == getpid())
        return true;
    if (process != 0 || pipe2(requests, O_CLOEXEC) < 0)
        return false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &kept);
    started = pthread_create(&thread, NULL, pager_run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &kept, NULL);
    if (!started) {
        close(requests[0]);
        close(requests[1]);
        return false;
    }
    pthread_detach(thread);
    process = getpid();
    action.sa_sigaction = fault_handle;
    sigemptyset(&action.sa_mask);
    return sigaction(SIGSEGV, &action, &former) == 0;
}

bool pager_start(pager_resolve_t function)
{
    bool started;

    pthread_mutex_lock(&start_lock);
    started = resolver_add(function) && start_locked();
    pthread_mutex_unlock(&start_lock);
    return started;
}
