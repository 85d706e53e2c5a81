/*
 * dispatch.c - the dispatcher: one thread that polls sessions, drains their rings and hands the
 * work to the device. One does this best: several contend for the driver's lock.
 *
 * Without sessions to poll and without anything to watch, the thread sleeps in poll(). Nothing a
 * tenant does makes it wait: jobs go to and come from other threads through lock-free stacks.
 */
#include "worker/dispatch.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/log.h"
#include "common/util.h"
#include "worker/blame.h"
#include "worker/chore.h"
#include "worker/expect.h"
#include "worker/flight.h"
#include "worker/grant.h"
#include "worker/graveyard.h"
#include "worker/job.h"
#include "worker/lines.h"
#include "worker/parked.h"
#include "worker/roster.h"
#include "worker/stock.h"
#include "worker/stream.h"
#include "worker/turn.h"

#define BELL_NS        100000000u /* how often the doorbell is emptied while awake */
#define WATCH_NS       5000000u   /* how often a busy device is asked whether it still lives */
#define WATCH_SESSIONS 16u        /* sessions asked each time */

struct dispatch dispatch;

static struct {
    int wake;                    /* eventfd: there is something to see */
    _Atomic(struct job *) inbox; /* newest first */
    _Atomic bool asleep;
    _Atomic(struct link_policy *) policy; /* a new one */
    uint64_t next_bell, next_watch;
    uint32_t watch_cursor;
} d;

/* ---- What comes from other threads ----------------------------------------------------------- */

void dispatch_wake(void)
{
    static const uint64_t one = 1;

    if (atomic_load(&d.asleep) && write(d.wake, &one, sizeof(one)) < 0 && errno != EAGAIN)
        log_error("eventfd: %s", strerror(errno));
}

void dispatch_push(struct job *job)
{
    struct job *head = atomic_load_explicit(&d.inbox, memory_order_relaxed);

    do {
        job->next = head;
        /* seq_cst: the job before the look at `asleep`; pairs with sleep_until_woken */
    } while (!atomic_compare_exchange_weak(&d.inbox, &head, job));
    dispatch_wake();
}

static void inbox_take(void)
{
    struct job *first = NULL;

    if (!atomic_load_explicit(&d.inbox, memory_order_relaxed))
        return;
    /* acquire: the jobs' contents; pairs with dispatch_push */
    for (struct job *job = atomic_exchange_explicit(&d.inbox, NULL, memory_order_acquire); job;) {
        struct job *older = job->next;
        job->next = first;
        first = job;
        job = older;
    }
    while (first) {
        struct job *job = first;
        first = job->next;
        job_returned(job);
    }
}

void dispatch_policy(const struct link_policy *policy)
{
    struct link_policy *copy = malloc(sizeof(*copy));

    if (!copy) {
        log_error("no memory for a policy");
        return;
    }
    *copy = *policy;
    /* acq_rel: its contents, for policy_take; and one that was never taken is freed here */
    free(atomic_exchange_explicit(&d.policy, copy, memory_order_acq_rel));
}

static void policy_take(void)
{
    if (!atomic_load_explicit(&d.policy, memory_order_relaxed))
        return;
    struct link_policy *policy = atomic_exchange_explicit(&d.policy, NULL, memory_order_acquire);
    worker.policy = *policy;
    worker.policy_count++;
    lines_weights(policy->weights);
    turn_policy();
    grants_prepare();
    free(policy);
}

/* ---- The device -------------------------------------------------------------------------------
 */

static void session_watch(struct session *session)
{
    if (!streams_idle(session))
        dispatch.busy = true;
}

/* Asks some busy streams: finds a lost context even when no call is made, and forgets finished
 * work. */
static void device_watch(void)
{
    uint32_t asked = 0;

    dispatch.busy = false;
    /* Not dispatch.now: work may have been issued and have ended since. */
    flights_poll(clock_ns());
    for (uint32_t n = 0; n < roster.slots_used && asked < WATCH_SESSIONS; n++) {
        uint32_t i = (d.watch_cursor + n) % roster.slots_used;
        if (!roster.slots[i] || !roster.slots[i]->busy)
            continue;
        asked++;
        session_watch(roster.slots[i]);
        if (asked == WATCH_SESSIONS) {
            d.watch_cursor = i + 1;
            dispatch.busy = true; /* the others are still to be asked */
        }
    }
    for (struct session *session = roster.leaving; session; session = session->next_leaving)
        session_watch(session);
    if (!dispatch.busy)
        stock_refill();
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* How long the thread may sleep when no session is hot; 0: until woken. */
static uint64_t sleep_time(void)
{
    if (parked_first() || chores_any())
        return 1000000u;
    return dispatch.busy || graves_any() ? WATCH_NS : 0;
}

static void sleep_until_woken(uint64_t most)
{
    const struct timespec time = {.tv_sec = 0, .tv_nsec = (long)most};
    struct pollfd events[] = {{bell_descriptor(), POLLIN, 0}, {d.wake, POLLIN, 0}};
    uint64_t count;

    /* seq_cst: asleep before the look at the inbox; pairs with dispatch_push */
    atomic_store(&d.asleep, true);
    if (!atomic_load(&d.inbox) && !blame_wanted())
        ppoll(events, 2, most ? &time : NULL, NULL);
    atomic_store_explicit(&d.asleep, false, memory_order_relaxed);
    if (read(d.wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
        log_error("eventfd: %s", strerror(errno));
    dispatch.now = clock_ns();
    d.next_bell = 0;
}

/* Every tenant waits for this thread, so it goes before them where that is permitted (for root). */
static void priority_raise(void)
{
    if (setpriority(PRIO_PROCESS, (id_t)gettid(), -10))
        log_debug("the dispatcher runs at normal priority: %s", strerror(errno));
}

static void *dispatch_main(void *unused)
{
    (void)unused;
    blame_begin();
    priority_raise();
    DRV_MUST(cuCtxSetCurrent, worker.context);
    for (;;) {
        dispatch.now = clock_ns();
        blame_look();
        inbox_take();
        policy_take();
        turn_take();
        cold_look();
        if (dispatch.now >= d.next_bell) {
            bell_take();
            d.next_bell = dispatch.now + BELL_NS;
        }
        parked_poll(dispatch.now);
        grants_poll();
        chores_poll(dispatch.now);
        if ((dispatch.busy || graves_any()) && dispatch.now >= d.next_watch) {
            device_watch();
            graves_look(dispatch.now);
            d.next_watch = dispatch.now + WATCH_NS;
        }
        /* A quiet job's tenant waits, and nobody else's work goes out meanwhile. */
        if (parked_under_way() || expecting(EXPECT_JOBS, dispatch.now))
            cpu_relax();
        else if (roster.hot_count == 0)
            sleep_until_woken(sleep_time());
        else if (!dispatch.live)
            sleep_until_woken(turn_nap());
        else
            cpu_relax();
    }
    return NULL;
}

bool dispatch_start(void)
{
    pthread_t thread;

    if (!bell_open())
        return false;
    turn_init();
    d.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (d.wake < 0 || pthread_create(&thread, NULL, dispatch_main, NULL))
        return false;
    pthread_setname_np(thread, "gs-dispatch");
    pthread_detach(thread);
    return true;
}
