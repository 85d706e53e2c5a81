/*
 * host_call.c - see host_call.h.
 *
 * A REC_HOST record holds its stream back until seg_client.host_done has passed it. The thread
 * watches the completion word of each stream that has such a record; when the work before the
 * record is complete it calls the function, stores host_done and sets the stream's bit in the
 * activity word. A record is complete only when the one before it in the stream is, so a stream's
 * functions are called in its order.
 *
 * A call keeps its session: gs_detach waits for the calls before it frees the session.
 */
#include "client/submit/host_call.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "client/base/backoff.h"
#include "client/base/error.h"
#include "client/base/thread.h"
#include "client/submit/submit.h"
#include "client/submit/wait.h"
#include "common/util.h"

struct call {
    struct call *next;
    struct session *session;
    uint32_t stream;
    uint64_t position; /* of its record */
    gs_host_fn fn;
    void *data;
};

/* Members are guarded by `lock`. A child of fork has neither the thread nor calls. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more, returned;
    struct call *first, **end;
    struct session *running; /* the session of the function that is being called; NULL: no
                                function is */
    bool runs;               /* the thread runs */
    _Atomic pthread_t thread;
    _Atomic uint32_t changes; /* a futex: the number of additions so far */
} calls = {
    .lock = PTHREAD_MUTEX_INITIALIZER,
    .more = PTHREAD_COND_INITIALIZER,
    .returned = PTHREAD_COND_INITIALIZER,
    .end = &calls.first,
};

/* ---- The thread ------------------------------------------------------------------------------ */

static bool call_due(const struct call *call)
{
    struct session *session = call->session;

    return position_passed(position_complete(session, call->stream), call->position) ||
           !session_alive(session) || (fault_seen(session) && fault_is_late(session));
}

/* Takes the first call that is due out of the list and returns it; NULL: none is due. The lock is
 * held. */
static struct call *call_take(void)
{
    for (struct call **at = &calls.first, *call; (call = *at) != NULL; at = &call->next) {
        if (!call_due(call))
            continue;
        *at = call->next;
        if (calls.end == &call->next)
            calls.end = at;
        return call;
    }
    return NULL;
}

static gs_status call_status(struct session *session, const struct call *call)
{
    const bool reached = position_passed(position_complete(session, call->stream), call->position);

    if (session_alive(session))
        return fault_check(session, reached ? GS_OK : GS_NOT_READY);
    return session_trouble(session);
}

/* Calls the function and releases the stream. The lock is not held. */
static void call_run(const struct call *call)
{
    struct session *session = call->session;

    call->fn(call->data, call_status(session, call));
    /* seq_cst: before activity_signal's load of the activity word, as a ring's tail is. */
    atomic_store(&session->client->host_done[call->stream],
                 call->position + sizeof(struct rec_host));
    activity_signal(session, call->stream);
}

static void *calls_main(void *unused)
{
    struct backoff backoff = BACKOFF_INIT;
    struct call *call;

    (void)unused;
    pthread_mutex_lock(&calls.lock);
    atomic_store_explicit(&calls.thread, pthread_self(), memory_order_relaxed);
    for (;;) {
        while (calls.first == NULL) {
            pthread_cond_wait(&calls.more, &calls.lock);
            backoff = (struct backoff)BACKOFF_INIT;
        }
        const uint32_t changes = atomic_load_explicit(&calls.changes, memory_order_relaxed);
        call = call_take();
        calls.running = call != NULL ? call->session : NULL;
        pthread_mutex_unlock(&calls.lock);
        if (call != NULL) {
            call_run(call);
            free(call);
            backoff = (struct backoff)BACKOFF_INIT;
        } else {
            backoff_pause_on(&backoff, &calls.changes, changes);
            if (atomic_load_explicit(&calls.changes, memory_order_relaxed) != changes)
                backoff = (struct backoff)BACKOFF_INIT;
        }
        pthread_mutex_lock(&calls.lock);
        if (calls.running != NULL)
            pthread_cond_broadcast(&calls.returned);
        calls.running = NULL;
    }
    return NULL;
}

bool host_call_inside(void)
{
    return pthread_equal(atomic_load_explicit(&calls.thread, memory_order_relaxed), pthread_self());
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void fork_prepare(void)
{
    pthread_mutex_lock(&calls.lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&calls.lock);
}

static struct call *parent_calls; /* kept reachable for leak checkers */

/* Async-signal-safe. */
static void fork_child(void)
{
    static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;

    memcpy(&calls.more, &fresh, sizeof(fresh));
    memcpy(&calls.returned, &fresh, sizeof(fresh));
    parent_calls = calls.first;
    calls.first = NULL;
    calls.end = &calls.first;
    calls.running = NULL;
    calls.runs = false;
    atomic_store_explicit(&calls.thread, (pthread_t)0, memory_order_relaxed);
    pthread_mutex_unlock(&calls.lock);
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_error; /* of pthread_atfork; 0: the handlers are registered */

static void fork_register(void)
{
    fork_error = pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- Adding and ending ----------------------------------------------------------------------- */

/* Starts the thread unless it runs. The thread does not block the signals that an instruction of a
 * host function may raise. The lock is held. */
static gs_status caller_start(void)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT, 0};
    const int failed = calls.runs ? 0 : thread_start(calls_main, own);

    if (failed) {
        errno = failed;
        return error_system("a thread that calls host functions");
    }
    calls.runs = true;
    return GS_OK;
}

gs_status host_call_add(struct session *session, uint32_t stream, uint64_t position, gs_host_fn fn,
                        void *data)
{
    struct call *call;
    gs_status status;

    pthread_once(&fork_once, fork_register); /* before the lock is taken for the first time */
    if (fork_error)
        return error_set(GS_ERR_NO_MEMORY, "pthread_atfork: %s", strerror(fork_error));
    call = malloc(sizeof(*call));
    if (!call)
        return error_set(GS_ERR_NO_MEMORY, "no memory for a host function");
    *call = (struct call){NULL, session, stream, position, fn, data};
    pthread_mutex_lock(&calls.lock);
    status = caller_start();
    if (status == GS_OK) {
        *calls.end = call;
        calls.end = &call->next;
        atomic_fetch_add_explicit(&calls.changes, 1, memory_order_relaxed);
        pthread_cond_signal(&calls.more);
        futex_wake(&calls.changes);
    }
    pthread_mutex_unlock(&calls.lock);
    if (status != GS_OK)
        free(call);
    return status;
}

/* The lock is held. */
static bool session_has_calls(const struct session *session)
{
    for (const struct call *call = calls.first; call; call = call->next) {
        if (call->session == session)
            return true;
    }
    return calls.running == session;
}

void host_calls_finish(const struct session *session)
{
    pthread_mutex_lock(&calls.lock);
    while (session_has_calls(session))
        pthread_cond_wait(&calls.returned, &calls.lock);
    pthread_mutex_unlock(&calls.lock);
}
