/*
 * event_watch.c - see event_watch.h.
 *
 * The thread finds a watch's session by its handle and enters it for each look, like any caller. So
 * gs_detach waits for a look at most, and the next look finds the session gone.
 */
#include "client/submit/event_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/base/backoff.h"
#include "client/base/error.h"
#include "client/base/thread.h"
#include "client/submit/wait.h"
#include "common/util.h"

struct watch {
    struct handle session;
    uint32_t stream;
    uint64_t position;
    int fd; /* a pipe's end to write to; the caller has the other, and may close it at any time */
};

/* Members are guarded by `lock`. A child of fork has neither the thread nor watches. */
static struct {
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct watch *watches;
    size_t count, room;
    bool runs;                /* the thread runs */
    _Atomic uint32_t changes; /* a futex: the number of additions so far */
} watched = {.lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER};

/* ---- The thread ------------------------------------------------------------------------------ */

static bool watch_over(const struct watch *watch)
{
    struct session *session;
    bool over;

    if (session_enter(watch->session, HANDLE_SESSION, &session) != GS_OK)
        return true;
    over = position_passed(position_complete(session, watch->stream), watch->position) ||
           !session_alive(session) || (fault_seen(session) && fault_is_late(session));
    session_leave(session);
    return over;
}

/* Makes the other end readable. The write fails harmlessly if the caller has closed that end, since
 * the thread blocks SIGPIPE. */
static void pipe_tell(int fd)
{
    (void)!write(fd, "", 1);
    close(fd);
}

/* Signals the descriptors of all watches that are over, and removes these. Returns their number. */
static size_t watches_look(void)
{
    size_t left = 0, before = watched.count;

    for (size_t i = 0; i < before; i++) {
        const struct watch watch = watched.watches[i];

        if (watch_over(&watch)) {
            pipe_tell(watch.fd);
        } else {
            watched.watches[left++] = watch;
        }
    }
    watched.count = left;
    return before - left;
}

static void *watch_main(void *unused)
{
    struct backoff backoff = BACKOFF_INIT;
    size_t seen = 0;

    (void)unused;
    pthread_mutex_lock(&watched.lock);
    for (;;) {
        while (watched.count == 0)
            pthread_cond_wait(&watched.more, &watched.lock);
        /* New or ended work restarts the back-off. */
        if (watches_look() > 0 || watched.count != seen)
            backoff = (struct backoff)BACKOFF_INIT;
        seen = watched.count;
        const uint32_t changes = atomic_load_explicit(&watched.changes, memory_order_relaxed);
        pthread_mutex_unlock(&watched.lock);
        backoff_pause_on(&backoff, &watched.changes, changes);
        pthread_mutex_lock(&watched.lock);
    }
    return NULL;
}

/* ---- fork ------------------------------------------------------------------------------------ */

static void fork_prepare(void)
{
    pthread_mutex_lock(&watched.lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&watched.lock);
}

/* Async-signal-safe. The memory stays reachable, so that leak checkers do not report it. */
static void fork_child(void)
{
    static const pthread_cond_t fresh = PTHREAD_COND_INITIALIZER;

    for (size_t i = 0; i < watched.count; i++)
        close(watched.watches[i].fd);
    memcpy(&watched.more, &fresh, sizeof(fresh));
    watched.count = 0;
    watched.runs = false;
    pthread_mutex_unlock(&watched.lock);
}

static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
static int fork_error; /* of pthread_atfork; 0: the handlers are registered */

static void fork_register(void)
{
    fork_error = pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- Watching -------------------------------------------------------------------------------- */

/* The lock is held. */
static gs_status watcher_start(void)
{
    const int failed = watched.runs ? 0 : thread_start(watch_main, NULL);

    if (failed) {
        errno = failed;
        return error_system("a thread that watches events");
    }
    watched.runs = true;
    return GS_OK;
}

/* The lock is held. */
static gs_status watch_add(const struct watch *watch)
{
    if (watched.count == watched.room) {
        const size_t room = watched.room ? 2 * watched.room : 16;
        struct watch *larger = reallocarray(watched.watches, room, sizeof(*larger));

        if (!larger)
            return error_set(GS_ERR_NO_MEMORY, "no memory for %zu watched events", room);
        watched.watches = larger;
        watched.room = room;
    }
    watched.watches[watched.count++] = *watch;
    atomic_fetch_add_explicit(&watched.changes, 1, memory_order_relaxed);
    pthread_cond_signal(&watched.more);
    futex_wake(&watched.changes);
    return GS_OK;
}

gs_status event_watch(const struct session *session, uint32_t stream, uint64_t position, int *fd)
{
    struct watch watch = {
        .session = {.kind = HANDLE_SESSION,
                    .session = session->index,
                    .generation = session->generation},
        .stream = stream,
        .position = position,
    };
    gs_status status;
    int ends[2];

    /* An eventfd that thread and caller share would stay in an epoll after the caller's close. */
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return error_system("a pipe");
    fcntl(ends[0], F_SETPIPE_SZ, 1); /* one page, since a user's pages in pipes are limited */
    watch.fd = ends[1];
    if (watch_over(&watch)) {
        pipe_tell(watch.fd);
        *fd = ends[0];
        return GS_OK;
    }
    pthread_once(&fork_once, fork_register); /* before the lock is taken for the first time */
    if (fork_error) {
        close(ends[0]);
        close(ends[1]);
        return error_set(GS_ERR_NO_MEMORY, "pthread_atfork: %s", strerror(fork_error));
    }
    pthread_mutex_lock(&watched.lock);
    status = watcher_start();
    if (status == GS_OK)
        status = watch_add(&watch);
    pthread_mutex_unlock(&watched.lock);
    if (status == GS_OK) {
        *fd = ends[0];
    } else {
        close(ends[0]);
        close(ends[1]);
    }
    return status;
}
