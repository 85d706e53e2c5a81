/*
 * loop.c - the main lane's thread. It polls sessions, drains their rings and issues the work to the
 * device, gives sessions to the side lanes (lanes.c), and moves all jobs from step to step
 * (route.c).
 *
 * The thread sleeps in poll() when no session is polled and nothing needs watching. It never waits
 * for a tenant or for another thread: jobs are handed over through lock-free stacks.
 */
#include "worker/loop/loop.h"

#include <poll.h>
#include <pthread.h>
#include <stdlib.h>

#include "common/log.h"
#include "common/util.h"
#include "worker/driver/prewake.h"
#include "worker/driver/wake.h"
#include "worker/jobs/job.h"
#include "worker/loop/lanes.h"
#include "worker/loop/round.h"
#include "worker/loop/route.h"
#include "worker/memory/deferred_release.h"
#include "worker/module/kernel_fault.h"
#include "worker/sched/domain.h"
#include "worker/sched/inflight.h"
#include "worker/sched/lane.h"
#include "worker/sched/session_table.h"
#include "worker/sched/trace.h"
#include "worker/session/chore.h"
#include "worker/session/evict.h"
#include "worker/session/grant.h"
#include "worker/session/polling.h"
#include "worker/session/quiet.h"
#include "worker/session/trial.h"
#include "worker/submit/placement.h"
#include "worker/submit/pool.h"
#include "worker/submit/stream.h"

/* how often the doorbell queue is emptied while the lane is awake */
#define BELL_NS        100000000u
#define QUIET_NAP_NS   200000u  /* how long the lane sleeps at a time during a long quiet job */
#define WATCH_NS       5000000u /* how often the driver is asked about a busy device */
#define WATCH_SESSIONS 16u      /* the most sessions that are asked about each time */

static struct lane lane;

/* What other threads have left for the main lane, and when its periodic tasks are due. */
static struct {
    _Atomic(struct link_policy *) policy; /* a new policy; NULL: none */
    _Atomic(struct trace *) trace;        /* a new trace, or trace_end; NULL: neither */
    uint64_t next_bell, next_watch;
    uint32_t watch_cursor;
} loop;

/* ---- What comes from other threads ----------------------------------------------------------- */

void loop_policy(const struct link_policy *policy)
{
    struct link_policy *copy = malloc(sizeof(*copy));

    if (!copy) {
        log_error("event=worker-failed reason=\"no memory for a policy\"");
        return;
    }
    *copy = *policy;
    /* The exchange publishes the copy's contents to policy_take. A former policy that policy_take
     * has not taken yet is freed here. */
    free(atomic_exchange(&loop.policy, copy));
    dispatch_wake(); /* side lanes may have sessions while the main lane sleeps */
}

static struct trace trace_end; /* stands for the end of the trace */

static void trace_drop(struct trace *trace)
{
    if (trace != &trace_end)
        trace_free(trace);
}

void loop_trace(const struct link_trace *link)
{
    struct trace *trace = link->segment_id < 0 ? &trace_end : trace_open(link);

    if (!trace)
        return;
    /* The exchange publishes the trace's contents to trace_change. */
    trace_drop(atomic_exchange(&loop.trace, trace));
    dispatch_wake();
}

/* Returns whether a new policy or trace waits to be taken. */
static bool change_waits(void)
{
    /* seq_cst: must come after waker_doze; pairs with the exchange in loop_policy and loop_trace */
    return atomic_load(&loop.policy) || atomic_load(&loop.trace);
}

static void trace_change(void)
{
    struct trace *trace = atomic_exchange_explicit(&loop.trace, NULL, memory_order_acquire);

    if (trace)
        trace_set(trace == &trace_end ? NULL : trace);
}

static void policy_take(void)
{
    struct link_policy *policy = atomic_exchange_explicit(&loop.policy, NULL, memory_order_acquire);

    if (!policy)
        return;
    worker_set_policy(policy);
    domains_set_weights(policy->weights);
    round_policy(&lane);
    placements_prepare();
    free(policy);
}

/* Takes a new policy and trace, once no side lane has a session: lanes that have sessions read both
 * without a lock. */
static void change_take(void)
{
    if (!change_waits() || lanes_any())
        return;
    policy_take();
    trace_change();
}

/* ---- The device ------------------------------------------------------------------------------ */

static void session_watch(struct session *session)
{
    if (streams_idle(session))
        kernel_strays_count(session);
    else
        lane.busy = true;
}

/* Asks the driver whether some busy streams are idle. That detects a lost context even when no
 * other driver call is made, and clears finished work from the accounts. */
static void device_watch(void)
{
    uint32_t asked = 0;

    lane.busy = false;
    /* The round's start time would be too early, because work may have been issued and have ended
     * since. */
    inflight_poll_all(&lane.inflight_lane, clock_ns());
    for (uint32_t n = 0; n < session_table_slots() && asked < WATCH_SESSIONS; n++) {
        uint32_t i = (loop.watch_cursor + n) % session_table_slots();
        struct session *session = session_table_at(i);
        if (!session || session_elsewhere(session) || !session->inflight.busy)
            continue;
        asked++;
        session_watch(session);
        if (asked == WATCH_SESSIONS) {
            loop.watch_cursor = i + 1;
            lane.busy = true; /* the remaining sessions have not been checked yet */
        }
    }
    for (struct session *session = session_table_next(NULL); session;
         session = session_table_next(session)) {
        /* A service thread may be freeing the session's objects, so this only asks the driver. */
        if (session->phase == SESSION_CLOSING && !streams_idle(session))
            lane.busy = true;
    }
    if (!lane.busy)
        pool_refill();
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void jobs_route(struct job *job)
{
    while (job) {
        struct job *next = job->next;
        job_returned(&lane, job);
        job = next;
    }
}

static void chores_begin(uint64_t now)
{
    struct job *job;

    while ((job = chore_due(now)))
        job_begin(job);
}

/* Starts the queued jobs that make partitions (partition_job). */
static void partitions_begin(void)
{
    struct job *job;

    while ((job = partition_job()))
        job_route(job);
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* Returns for how many nanoseconds the thread may sleep when no session is polled; 0: until it is
 * woken. */
static uint64_t sleep_time(void)
{
    if (quiet_first() || chores_any())
        return 1000000u;
    return lane.busy || deferred_release_any() ? WATCH_NS : 0;
}

static void sleep_until_woken(uint64_t most)
{
    struct waker *waker = dispatch_waker();
    struct pollfd events[] = {{bell_descriptor(), POLLIN, 0}, {waker->fd, POLLIN, 0}};

    waker_doze(waker);
    if (most == 0 && deferred_release_any()) /* the control thread may have added one just now */
        most = WATCH_NS;
    if (!jobs_returned() && !lanes_returned() && !change_waits() && !lost_pending()) {
        const struct timespec time = {.tv_sec = 0, .tv_nsec = (long)most};
        lane_sleeps(&lane);
        ppoll(events, 2, most ? &time : NULL, NULL);
    }
    waker_up(waker);
    lane.now = clock_ns();
    loop.next_bell = 0;
}

/* Relaxes or sleeps between two rounds. While a quiet job runs, no tenant's work is issued: the
 * lane stays awake if the job has just begun, and otherwise sleeps for QUIET_NAP_NS at a time, so
 * that it still looks for requests. */
static void round_rest(void)
{
    bool lately;
    const bool quiet = quiet_under_way(lane.now, &lately);

    if ((quiet && lately) || prewake_pending(PREWAKE_JOBS, lane.now))
        cpu_relax();
    else if (quiet)
        sleep_until_woken(QUIET_NAP_NS);
    else if (lane.polled_count == 0)
        sleep_until_woken(sleep_time());
    else if (!lane.stay_awake)
        sleep_until_woken(round_nap(&lane));
    else
        cpu_relax();
}

static void *loop_main(void *unused)
{
    (void)unused;
    lost_lane();
    lane_priority_raise(&lane);
    DRV_MUST(cuCtxSetCurrent, worker->context);
    for (;;) {
        lane_begins(&lane);
        if (lost_pending())
            lost_stop();
        jobs_route(jobs_for_returned()); /* before newer jobs for the same session */
        jobs_route(jobs_take());
        change_take();
        trial_poll(lane.now);
        round_look(&lane);
        lanes_recall(quiet_any() || change_waits() || trial_any());
        lanes_share(&lane);
        round_serve(&lane);
        asleep_look();
        if (lane.now >= loop.next_bell) {
            bell_take();
            loop.next_bell = lane.now + BELL_NS;
        }
        quiet_poll(lane.now);
        grants_poll(lane.now);
        chores_begin(lane.now);
        partitions_begin();
        if ((lane.busy || deferred_release_any()) && lane.now >= loop.next_watch) {
            device_watch();
            quiet_release_poll(lane.now);
            evict_overdue(lane.now);
            loop.next_watch = lane.now + WATCH_NS;
        }
        round_rest();
    }
    return NULL;
}

bool loop_start(void)
{
    pthread_t thread;

    round_init();
    lanes_main(&lane);
    lost_join();
    if (!waker_init(dispatch_waker()) || pthread_create(&thread, NULL, loop_main, NULL))
        return false;
    pthread_setname_np(thread, "gs-dispatch");
    pthread_detach(thread);
    return lanes_start();
}
