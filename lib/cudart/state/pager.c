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
#include <ucontext.h>
#include <unistd.h>

/* A fault that the handler passes to the pager; it is on the stack of the thread that waits. */
struct request {
    const void *address;
    _Atomic uint32_t answer; /* 0: none yet */
};
enum { ANSWER_RETRY = 1, ANSWER_FAULT = 2 };

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static pid_t process; /* the process that has the pager; a forked child has none */
static int requests[2] = {-1, -1};
static _Atomic pager_resolve_t resolve; /* NULL: not set yet */
static _Atomic pager_wait_t wait_here;  /* likewise */
static struct sigaction former;
static _Atomic pid_t excluded; /* a thread; the lock that it holds admits one at a time */

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
        atomic_store(&request->answer,
                     atomic_load(&resolve)(request->address) ? ANSWER_RETRY : ANSWER_FAULT);
        /* The thread may have continued by now, and its stack may be reused: then this wake-up is
         * spurious, which every futex waiter must expect. */
        syscall(SYS_futex, &request->answer, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    }
}

/* ---- The handler ----------------------------------------------------------------------------- */

/* Does what the kernel would have done without this handler. */
static void fault_pass_on(int number, siginfo_t *info, void *context)
{
    if (former.sa_flags & SA_SIGINFO) {
        former.sa_sigaction(number, info, context);
    } else if (former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN) {
        signal(number, SIG_DFL); /* the access is repeated, and ends the process */
    } else {
        former.sa_handler(number);
    }
}

static bool fault_resolve(const void *address)
{
    struct request request, *pointer = &request;

    request.address = address;
    atomic_init(&request.answer, 0);
    if (getpid() != process || atomic_load(&excluded) == thread_id() ||
        atomic_load(&resolve) == NULL)
        return false;
    while (write(requests[1], &pointer, sizeof(pointer)) != sizeof(pointer)) {
        if (errno != EINTR)
            return false;
    }
    while (atomic_load(&request.answer) == 0)
        syscall(SYS_futex, &request.answer, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
    return atomic_load(&request.answer) == ANSWER_RETRY;
}

/* Whether the access was a write, and not a jump to data, as far as the processor reports it. */
static bool is_write(const siginfo_t *info, const ucontext_t *context)
{
#if defined(__x86_64__)
    (void)info;
    return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__aarch64__)
    return context->uc_mcontext.pc != (uintptr_t)info->si_addr;
#else
    (void)info, (void)context;
    return true;
#endif
}

static bool fault_wait(const siginfo_t *info, const ucontext_t *context)
{
    pager_wait_t function = atomic_load(&wait_here);

    return function != NULL && is_write(info, context) && function(info->si_addr);
}

static void fault_handle(int number, siginfo_t *info, void *context)
{
    int error = errno;
    bool resolved =
        info->si_code == SEGV_ACCERR && (fault_wait(info, context) || fault_resolve(info->si_addr));

    errno = error;
    if (!resolved)
        fault_pass_on(number, info, context);
}

/* ---- Start ----------------------------------------------------------------------------------- */

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
    sigdelset(&all, SIGSEGV); /* the pager writes to the heap, too, and waits like any thread */
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

bool pager_start(pager_resolve_t function, pager_wait_t wait)
{
    bool started;

    pthread_mutex_lock(&start_lock);
    if (function != NULL)
        atomic_store(&resolve, function);
    if (wait != NULL)
        atomic_store(&wait_here, wait);
    started = start_locked();
    pthread_mutex_unlock(&start_lock);
    return started;
}
