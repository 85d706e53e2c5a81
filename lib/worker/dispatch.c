/*
 * dispatch.c - the dispatcher: one thread that polls sessions, drains their rings and hands the
 * work to the device. One does this best: several contend for the driver's lock.
 *
 * A session is hot (its activity word is polled) or cold (its client rings the doorbell after
 * setting the word). Without hot sessions and without anything to watch, the thread sleeps in
 * poll(). Nothing a tenant does makes it wait: jobs go to and come from other threads through
 * lock-free stacks.
 */
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/log.h"
#include "common/ring.h"
#include "common/util.h"
#include "worker/chore.h"
#include "worker/flight.h"
#include "worker/grant.h"
#include "worker/graph.h"
#include "worker/graveyard.h"
#include "worker/parked.h"
#include "worker/record.h"
#include "worker/report.h"
#include "worker/request.h"
#include "worker/session.h"
#include "worker/stream.h"

#define REQUEST_BIT (UINT64_C(1) << SEG_REQUEST_BIT)

#define DRAIN_BUDGET    64u        /* records of a stream a turn */
#define CROWD_NS        30000u     /* what "shortly before" means for a crowd: a few round trips */
#define HOT_NS          200000u    /* a session stays polled so long after its last activity */
#define BELL_NS         100000000u /* how often the doorbell is emptied while awake */
#define COLD_A_TURN     4u         /* cold sessions looked at in each turn while awake */
#define WATCH_NS        5000000u   /* how often a busy device is asked whether it still lives */
#define NAP_SHORTEST_NS 50000u
#define NAP_LONGEST_NS  1000000u
#define WATCH_SESSIONS  16u /* sessions asked each time */

static struct {
    mqd_t bell;
    int wake;                    /* eventfd: the inbox has something */
    _Atomic(struct job *) inbox; /* newest first */
    _Atomic bool asleep;

    struct session *slots[LINK_SLOTS_MAX];
    uint32_t slots_used; /* slots at and beyond this are NULL */
    struct session *hot[LINK_SLOTS_MAX];
    uint32_t hot_count;
    uint32_t crowd; /* sessions that had something new in this turn or shortly before */
    uint64_t now, next_bell, next_watch;
    uint32_t watch_cursor, cold_cursor;
    bool busy;                      /* some stream may have unfinished work */
    const struct session *draining; /* whose records are being issued */
    uint64_t turn;
    uint64_t latency_ns; /* when a session of the latency class last had work */
    uint32_t hot_of[3];  /* in this turn, by rank of their class */
    bool live;           /* some hot session is not just waiting for the device */

    _Atomic(struct link_policy *) policy; /* a new one */

    _Atomic CUresult lost; /* a service thread met a lost context */
} d;
static _Thread_local bool on_dispatcher;

static void wake_up(void)
{
    static const uint64_t one = 1;

    if (atomic_load(&d.asleep) && write(d.wake, &one, sizeof(one)) < 0 && errno != EAGAIN)
        log_error("eventfd: %s", strerror(errno));
}

/* ---- A lost context -------------------------------------------------------------------------- */

/* By the marks, which only the device writes, or by its completion words, for what has no mark. */
static bool suspect(struct session *session)
{
    flights_poll(session, clock_ns());
    return session->flying || !session_seems_idle(session);
}

/* The only session with unfinished work is the one to blame for a lost context: the device writes
 * no completion after a fault, and what had ended before is not suspect.
 * One that is being closed is in no slot any more, but waits among the parked. */
static const struct session *only_busy(void)
{
    const struct session *found = NULL;

    for (uint32_t i = 0; i < d.slots_used; i++) {
        if (!d.slots[i] || !suspect(d.slots[i]))
            continue;
        if (found)
            return NULL;
        found = d.slots[i];
    }
    for (const struct job *job = parked_first(); job; job = job->next) {
        struct session *session = job->session;
        if (!session || session == found || !suspect(session))
            continue;
        if (found)
            return NULL;
        found = session;
    }
    /* Nobody else is suspect: it was the call that was being made. */
    return found ? found : d.draining;
}

void dispatch_lost(CUresult result)
{
    if (!on_dispatcher) { /* whom to blame stands in the dispatcher's tables */
        atomic_store(&d.lost, result);
        wake_up();
        for (;;)
            pause();
    }
    const struct session *blame = only_busy();

    worker_fatal(result, blame, blame ? stream_unfinished(blame) : 0);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

void dispatch_push(struct job *job)
{
    struct job *head = atomic_load_explicit(&d.inbox, memory_order_relaxed);

    do {
        job->next = head;
        /* seq_cst: the job before the look at `asleep`; pairs with sleep_until_woken */
    } while (!atomic_compare_exchange_weak(&d.inbox, &head, job));
    wake_up();
}

void dispatch_route(struct job *job)
{
    if (!(job->kind->flags & (JOB_QUIESCE | JOB_QUIET))) {
        service_push(job);
        return;
    }
    parked_add(job, d.now);
}

static void chore_take(struct job *job)
{
    struct session *session = d.slots[job->index];

    if (!session || session->id != job->arg[0]) {
        job_free(job);
        return;
    }
    job->session = session;
    chore_add(job);
}

static void close_begin(struct session *session, struct job *job)
{
    chores_drop(session);
    session->job = job;
    dispatch_begin(job);
}

/* A tenant's request has its answer, or a chore is done. */
static void request_end(struct job *job)
{
    struct session *session = job->session;

    if (!(job->kind->flags & JOB_CHORE))
        request_answer(job);
    session->job = NULL;
    partition_release(job->partition);
    job_free(job);
    if (session->close)
        close_begin(session, session->close);
    else if (session->phase == SESSION_LIVE)
        dispatch_resume(session); /* records may have had to wait for the job */
}

void dispatch_begin(struct job *job)
{
    if (job->kind->prepare)
        job->kind->prepare(job);
    if (job->status != GS_OK || !job->kind->work)
        request_end(job);
    else
        dispatch_route(job);
}

void dispatch_resume(struct session *session)
{
    session->active_ns = d.now;
    if (session->hot)
        return;
    session->hot = true;
    session->hot_index = d.hot_count;
    d.hot[d.hot_count++] = session;
    /* Its client need not ring now. A ring that is under way is read and ignored. */
    atomic_store_explicit(&session->server->need_bell, 0, memory_order_relaxed);
}

static void session_unlist(struct session *session)
{
    if (!session->hot)
        return;
    session->hot = false;
    struct session *last = d.hot[--d.hot_count];
    d.hot[session->hot_index] = last;
    last->hot_index = session->hot_index;
}

/* Stops polling a session, unless it turns out to have just become active. */
static void session_cool(struct session *session)
{
    /* seq_cst on both: the client sets activity, then reads need_bell; here the other way round, so
     * one of the two sees the other. */
    atomic_store(&session->server->need_bell, 1);
    if (atomic_load(&session->client->activity) != 0) {
        atomic_store_explicit(&session->server->need_bell, 0, memory_order_relaxed);
        session->active_ns = d.now;
        return;
    }
    session_unlist(session);
}

static void open_end(struct job *job)
{
    struct session *session = job->session;

    if (job->status == GS_OK) {
        d.slots[session->slot] = session;
        if (session->slot >= d.slots_used)
            d.slots_used = session->slot + 1;
        dispatch_resume(session);
        grant_apply(session, &job->grant, job->partition);
    }
    session_opened(job);
    if (job->status != GS_OK) {
        partition_release(job->partition);
        free(session);
    }
    job_free(job);
}

/* The control thread wants a session closed. */
static void close_request(struct job *job)
{
    struct session *session = d.slots[job->index];

    if (!session) {
        job_free(job);
        return;
    }
    job->session = session;
    d.slots[session->slot] = NULL;
    session_unlist(session);
    grant_cancel(session);
    sched_satisfied(&sched, &session->sched);
    session->phase = SESSION_CLOSING;
    session->pending = 0;
    if (session->job)
        session->close = job;
    else
        close_begin(session, job);
}

/* A grant for a session that is being closed is answered by nobody, for nobody waits. */
static void grant_request(struct job *job)
{
    job->session = d.slots[job->index];
    if (job->session)
        grant_take(job);
    else
        job_free(job);
}

static void job_returned(struct job *job)
{
    struct session *session = job->session;

    if (parked_returned(job))
        return;
    if (partition_returned(job)) {
        grants_poll();
    } else if (job->kind == &job_open_place) {
        grant_take(job);
    } else if (job->kind == &job_grant) {
        grant_request(job);
    } else if (job->kind == &job_open) {
        open_end(job);
    } else if (job->kind == &job_close && !session) {
        close_request(job);
    } else if (job->kind->flags & JOB_CHORE && !session) {
        chore_take(job);
    } else if (job->kind == &job_unload_all) {
        grant_drop(session);
        flights_leave(session);
        free(session);
        job_free(job);
    } else {
        if (job->status == GS_OK && job->kind->install)
            job->kind->install(job);
        if (job->status == GS_OK && job->kind->then) {
            job->kind = job->kind->then;
            dispatch_route(job);
            return;
        }
        session->paused = false;
        request_end(job);
    }
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

/* ---- Sessions -------------------------------------------------------------------------------- */

/* What may go to the device of one of the session's streams now. */
static struct sched_room stream_room(const struct session *session, uint32_t index)
{
    struct sched_room room = sched_room(&sched, &session->sched);
    uint32_t count = flight_count(&session->streams[index]);
    uint32_t most = parked_pressing() ? 2 : SCHED_STREAM_MAX;

    /* A stream with nothing on the device can have one launch there: what another stream of the
     * session has there may wait for it. */
    if (count == 0 && room.launches == 0 && sched_allowed(&session->sched))
        room = (struct sched_room){1, 1};
    /* Refilled at half, so that what goes out goes in chains. */
    if (count > most / 2)
        room.launches = 0;
    else if (room.launches > most - count)
        room.launches = most - count;
    if (room.launches > DRAIN_BUDGET)
        room.launches = DRAIN_BUDGET;
    return room;
}

static bool session_drain(struct session *session)
{
    uint64_t streams = session->pending & ~REQUEST_BIT;
    bool progress = false, held = false;

    d.draining = session;
    while (streams) {
        uint32_t index = (uint32_t)__builtin_ctzll(streams);
        struct sched_room room = stream_room(session, index);
        enum drained drained = DRAINED_SOME;
        uint32_t taken = room.launches ? stream_drain(session, index, room, &drained) : 0;

        streams &= streams - 1;
        progress = progress || taken > 0;
        held = held || drained == DRAINED_SOME;
        if (drained == DRAINED_ALL)
            session->pending &= ~(UINT64_C(1) << index);
    }
    d.draining = NULL;
    if (held)
        sched_wait(&sched, &session->sched, d.now);
    else
        sched_satisfied(&sched, &session->sched);
    return progress;
}

static uint32_t class_rank(const struct session *session)
{
    uint32_t cls = session->sched.cls;

    return cls == GS_CLASS_LATENCY ? 0 : cls == GS_CLASS_NORMAL ? 1 : 2;
}

/* The session drains, and notes whether it did. */
static bool session_serve(struct session *session)
{
    if (!session_drain(session)) {
        session->tried = d.turn;
        return false;
    }
    if (session->sched.cls == GS_CLASS_LATENCY)
        d.latency_ns = d.now;
    session->active_ns = d.now;
    d.busy = true;
    return true;
}

/* May any of its streams have something? */
static bool session_has_room(const struct session *session)
{
    for (uint64_t left = session->pending & ~REQUEST_BIT; left; left &= left - 1) {
        if (stream_room(session, (uint32_t)__builtin_ctzll(left)).launches)
            return true;
    }
    return false;
}

/* The session that goes first of those that wait and have room. */
static struct session *waiting_first(void)
{
    struct session *first = NULL;

    for (uint32_t i = 0; i < d.hot_count; i++) {
        struct session *session = d.hot[i];
        uint64_t streams = session->pending & ~REQUEST_BIT;
        if (!session->sched.waiting || session->tried == d.turn || session->paused || !streams ||
            !session_has_room(session))
            continue;
        session->sched.deadline_ns = stream_deadline(session, (uint32_t)__builtin_ctzll(streams));
        if (!first || sched_before(&sched, &session->sched, &first->sched, d.now))
            first = session;
    }
    return first;
}

/* Several sessions wait: one after the other, as long as the device is not full. */
static void waiting_serve(void)
{
    struct session *first;

    while (sched_contended(&sched) && (first = waiting_first()) &&
           sched_open(&sched, &first->sched, d.now))
        session_serve(first);
}

/* First pass of a turn: takes the activity word and fetches ahead what the second pass reads, so
 * that the other processor's cache lines of many sessions come at the same time. */
static void session_look(struct session *session)
{
    if (session->flying)
        flights_poll(session, d.now);
    d.hot_of[class_rank(session)]++;
    /* In step, tenants come one a turn: what counts is who came lately. */
    if (d.now - session->active_ns < CROWD_NS)
        d.crowd++;
    if (!atomic_load_explicit(&session->client->activity, memory_order_relaxed))
        return;
    /* seq_cst: taken before the tails are read; pairs with the client's store of its tail */
    session->pending |= atomic_exchange(&session->client->activity, 0);
    session->active_ns = d.now;
    for (uint64_t left = session->pending & ~REQUEST_BIT; left; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctzll(left);
        const unsigned char *ring =
            session->segment + SEG_OFF_RINGS + (size_t)index * SEG_RING_BYTES;
        uint64_t head = session->streams[index].head;
        __builtin_prefetch(&session->client->tail[index]);
        __builtin_prefetch(ring + ring_offset(head));
        __builtin_prefetch(ring + ring_offset(head + REC_ALIGN));
    }
}

/* Second pass. */
static void session_turn(struct session *session)
{
    /* While latency work is on the device its session is polled, so that best effort keeps off. */
    bool at_work =
        session->sched.cls == GS_CLASS_LATENCY && (session->flying || !session_seems_idle(session));
    bool active = session->reports_open > 0 || at_work;

    if (at_work)
        d.latency_ns = d.now;
    if (session->pending && !session->paused) {
        if (session->pending & REQUEST_BIT && !session->job) {
            session->pending &= ~REQUEST_BIT;
            session->job = request_take(session);
            if (session->job)
                dispatch_begin(session->job);
            active = true;
        }
        if (session->paused || parked_hold(d.now))
            active = true;
        else if (sched_contended(&sched) && session->sched.cls != GS_CLASS_LATENCY &&
                 session->pending & ~REQUEST_BIT)
            sched_wait(&sched, &session->sched, d.now); /* it has its turn with those that wait */
        else
            active = session_serve(session) || active || !session->sched.waiting;
    }
    if (session->reports_open)
        reports_poll(session);
    if (active)
        session->active_ns = d.now;
    else if (d.now - session->active_ns > HOT_NS) {
        if (session->pending & ~REQUEST_BIT)
            return; /* it waits for the device, which is looked at */
        session_cool(session);
        return;
    }
    d.live = true;
}

/* One turn of all that are polled, those of a higher class first. */
static void sessions_turn(void)
{
    d.turn++;
    d.crowd = 0;
    d.live = false;
    memset(d.hot_of, 0, sizeof(d.hot_of));
    for (uint32_t i = 0; i < d.hot_count; i++) {
        if (d.hot[i]->flying)
            flights_look(d.hot[i], d.now);
    }
    for (uint32_t i = 0; i < d.hot_count; i++)
        session_look(d.hot[i]);
    for (uint32_t rank = 0; rank < ARRAY_SIZE(d.hot_of); rank++) {
        for (uint32_t i = d.hot_of[rank] ? d.hot_count : 0; i > 0; i--) {
            if (class_rank(d.hot[i - 1]) == rank)
                session_turn(d.hot[i - 1]);
        }
    }
    if (sched_contended(&sched) && !parked_hold(d.now))
        waiting_serve();
}

/* ---- Doorbell and device --------------------------------------------------------------------- */

static void cold_look(struct session *session)
{
    if (session && !session->hot &&
        atomic_load_explicit(&session->client->activity, memory_order_relaxed))
        dispatch_resume(session);
}

/* While the dispatcher is awake it finds cold sessions that became active by looking at a few of
 * them in each turn: cheaper than a system call for the doorbell. */
static void cold_turn(void)
{
    for (uint32_t n = 0; n < COLD_A_TURN && n < d.slots_used; n++) {
        if (d.cold_cursor >= d.slots_used)
            d.cold_cursor = 0;
        cold_look(d.slots[d.cold_cursor++]);
    }
}

static void bell_take(void)
{
    uint32_t slot, messages = 0;
    ssize_t size;

    while ((size = mq_receive(d.bell, (char *)&slot, sizeof(slot), NULL)) >= 0) {
        messages++; /* a short one too: it took a place that another ring wanted */
        if (size == sizeof(slot) && slot < LINK_SLOTS_MAX)
            cold_look(d.slots[slot]);
        if (messages == BELL_QUEUE_DEPTH)
            break;
    }
    /* A full queue has turned rings away: look everywhere. */
    if (messages == BELL_QUEUE_DEPTH) {
        for (uint32_t i = 0; i < d.slots_used; i++)
            cold_look(d.slots[i]);
    }
}

bool sessions_idle(void)
{
    for (uint32_t i = 0; i < d.slots_used; i++) {
        if (d.slots[i] && !session_seems_idle(d.slots[i]))
            return false;
    }
    for (uint32_t i = 0; i < d.slots_used; i++) {
        if (d.slots[i] && !streams_idle(d.slots[i]))
            return false;
    }
    return true;
}

void sessions_leave_partition(struct partition *partition)
{
    for (uint32_t i = 0; i < d.slots_used; i++) {
        struct session *session = d.slots[i];
        if (!session || session->paused)
            continue;
        for (uint32_t n = 0; n < SEG_STREAMS; n++)
            launcher_leave(session->streams[n].launcher, partition);
        graphs_leave(session, partition);
    }
}

/* Asks some busy streams: finds a lost context even when no call is made, and forgets finished
 * work. */
static void device_watch(void)
{
    uint32_t asked = 0;

    d.busy = false;
    for (uint32_t n = 0; n < d.slots_used && asked < WATCH_SESSIONS; n++) {
        uint32_t i = (d.watch_cursor + n) % d.slots_used;
        if (!d.slots[i] || !d.slots[i]->busy)
            continue;
        asked++;
        flights_poll(d.slots[i], d.now);
        if (!streams_idle(d.slots[i]))
            d.busy = true;
        if (asked == WATCH_SESSIONS) {
            d.watch_cursor = i + 1;
            d.busy = true; /* the others are still to be asked */
        }
    }
}

/* ---- The loop -------------------------------------------------------------------------------- */

/* How long the thread may sleep when no session is hot; 0: until woken. */
static uint64_t sleep_time(void)
{
    if (parked_first() || chores_any())
        return 1000000u;
    return d.busy || graves_any() ? WATCH_NS : 0;
}

/* How long it may sleep when all that are hot wait for the device: a quarter of what the one that
 * needs it first still has there. */
static uint64_t nap_time(void)
{
    uint64_t least = 4 * NAP_LONGEST_NS;

    for (uint32_t i = 0; i < d.hot_count; i++) {
        if (d.hot[i]->sched.inflight_ns < least)
            least = d.hot[i]->sched.inflight_ns;
    }
    return least / 4 < NAP_SHORTEST_NS ? NAP_SHORTEST_NS : least / 4;
}

static void sleep_until_woken(uint64_t most)
{
    const struct timespec time = {.tv_sec = 0, .tv_nsec = (long)most};
    struct pollfd events[] = {{(int)d.bell, POLLIN, 0}, {d.wake, POLLIN, 0}};
    uint64_t count;

    /* seq_cst: asleep before the look at the inbox; pairs with dispatch_push */
    atomic_store(&d.asleep, true);
    if (!atomic_load(&d.inbox) && !atomic_load(&d.lost))
        ppoll(events, 2, most ? &time : NULL, NULL);
    atomic_store_explicit(&d.asleep, false, memory_order_relaxed);
    if (read(d.wake, &count, sizeof(count)) < 0 && errno != EAGAIN)
        log_error("eventfd: %s", strerror(errno));
    d.now = clock_ns();
    d.next_bell = 0;
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
    sched.weights_off = !policy->weights;
    free(policy);
}

bool dispatch_latency_active(void)
{
    return d.latency_ns && d.now - d.latency_ns < worker.policy.reserve_ns;
}

bool dispatch_crowded(void)
{
    return d.crowd > 2;
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
    on_dispatcher = true;
    priority_raise();
    DRV_MUST(cuCtxSetCurrent, worker.context);
    for (;;) {
        d.now = clock_ns();
        CUresult lost = atomic_load_explicit(&d.lost, memory_order_relaxed);
        if (lost) {
            driver_failed("a call of a service thread", lost);
            dispatch_lost(lost);
        }
        inbox_take();
        policy_take();
        sessions_turn();
        cold_turn();
        if (d.now >= d.next_bell) {
            bell_take();
            d.next_bell = d.now + BELL_NS;
        }
        parked_poll(d.now);
        chores_poll(d.now);
        if ((d.busy || graves_any()) && d.now >= d.next_watch) {
            device_watch();
            graves_look(d.now);
            d.next_watch = d.now + WATCH_NS;
        }
        if (d.hot_count == 0)
            sleep_until_woken(sleep_time());
        else if (!d.live)
            sleep_until_woken(nap_time());
        else
            cpu_relax();
    }
    return NULL;
}

bool dispatch_start(void)
{
    pthread_t thread;

    d.bell = mq_open(worker.bell_name, O_RDONLY | O_NONBLOCK);
    if (d.bell == (mqd_t)-1) {
        log_error("doorbell %s: %s", worker.bell_name, strerror(errno));
        return false;
    }
    d.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    if (d.wake < 0 || pthread_create(&thread, NULL, dispatch_main, NULL))
        return false;
    pthread_detach(thread);
    return true;
}
