/*
 * lanes.c - the side lanes: threads that issue light work beside the main lane.
 *
 * The driver's launch lock belongs to the context, and each green context has its own lock, even a
 * green context of all SMs (measured: eight threads launch 1.1 M graphs a second in green contexts
 * of their own, and 0.43 M in one context). So each side lane launches in its own green context of
 * all SMs.
 *
 * A session belongs to one lane at a time, and only that lane writes the parts of the session that
 * belong to a lane. Every session begins and ends with the main lane. Only the main lane decides
 * which sessions wait for each other, keeps SMs free for latency work, makes quiet moments and
 * takes requests. When several tenants keep the main lane busy, it gives away sessions whose
 * launches delay no other session, because they are known to be short and to fill little of the
 * device. A side lane returns a session when anything else comes up: a request, an event, a
 * recorded graph, a kernel that is wide or not measured yet, silence, or a recall. So the sessions
 * of side lanes are never contended, and a side lane reads no scheduling account that another lane
 * writes.
 *
 * The main lane gives a session away only while the device has no work of it; the session's streams
 * then use CUDA streams of the side lane's context. The session may come back with work in flight;
 * its streams then stay in that context until they are idle (stream_move).
 */
#include "worker/loop/lanes.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/cpus.h"
#include "common/log.h"
#include "common/util.h"
#include "worker/driver/wake.h"
#include "worker/loop/lane_choice.h"
#include "worker/loop/rings.h"
#include "worker/partition/green_context.h"
#include "worker/partition/partition.h"
#include "worker/sched/domain.h"
#include "worker/sched/inflight.h"
#include "worker/sched/priority.h"
#include "worker/session/chore.h"
#include "worker/session/grant.h"
#include "worker/session/polling.h"
#include "worker/submit/pool.h"
#include "worker/submit/stream.h"

#define CPUS_EACH    2u  /* CPUs per lane; with fewer, a lane is not worth its thread */
#define LANES_PAY    8u  /* the most lanes that are worth their threads */
#define STREAMS_EACH 32u /* CUDA streams of a side lane; each takes half a MiB on an H200 */
/* How long the main lane waits after a try to give a session away. A try asks the driver whether
 * sessions that seem idle are idle, which costs a microsecond each. */
#define GIVE_NS      50000u
#define WATCH_NS     5000000u /* how often a side lane asks the driver about its streams */

/* A side lane. */
struct side {
    struct lane lane;
    struct waker waker;
    struct partition context;
    _Atomic(struct session *) given; /* sessions for the side lane, newest first, by ->lane_next */
    uint32_t members;                /* how many sessions it has; counted by the main lane */
    uint64_t next_watch;
};

static struct {
    uint32_t count; /* of side lanes */
    struct side *side[LANES_MAX];
    struct lane *main;
    /* sessions for the main lane, newest first, by ->lane_next */
    _Atomic(struct session *) returned;
    _Atomic bool recall; /* side lanes return all sessions */
    uint32_t cpus;
    uint64_t next_give;      /* the main lane gives no session away before this time */
    _Atomic bool cpus_short; /* more threads stay awake than there are CPUs */
} lanes;

/* ---- Handing over ---------------------------------------------------------------------------- */

static void stack_push(_Atomic(struct session *) *stack, struct session *session)
{
    struct session *head = atomic_load_explicit(stack, memory_order_relaxed);

    do {
        session->lane_next = head;
        /* seq_cst: publishes the session for stack_take, and orders the store before the load of
         * the receiver's `asleep` (waker_wake) */
    } while (!atomic_compare_exchange_weak(stack, &head, session));
}

static struct session *stack_take(_Atomic(struct session *) *stack)
{
    if (!atomic_load_explicit(stack, memory_order_relaxed))
        return NULL;
    /* acquire: pairs with stack_push */
    return atomic_exchange_explicit(stack, NULL, memory_order_acquire);
}

/* ---- A lane's thread ------------------------------------------------------------------------- */

void lane_priority_raise(const struct lane *lane)
{
    if (cpus_to_spare() && setpriority(PRIO_PROCESS, (id_t)gettid(), -10))
        log_debug("dispatch lane %u gets no higher priority than other threads: %s", lane->index,
                  strerror(errno));
}

/* ---- A side lane's thread -------------------------------------------------------------------- */

static void session_return(struct lane *lane, struct session *session)
{
    polled_remove(lane, session);
    inflight_lane_leave(session);
    domain_leave(session);
    session->submit.light = 0;
    stack_push(&lanes.returned, session);
    dispatch_wake();
}

static void sessions_accept(struct side *side)
{
    struct lane *lane = &side->lane;

    for (struct session *session = stack_take(&side->given); session;) {
        struct session *next = session->lane_next;
        polled_add(lane, session);
        domain_enter(session, lane->index);
        inflight_lane_enter(session);
        session = next;
    }
}

/* Issues the session's records. Returns false when the main lane must have the session: its next
 * record is for the main lane, or waits for something other than room on the device. */
static bool side_serve(struct session *session)
{
    if (!session->round.pending)
        return true;
    const unsigned drained = rings_drain(session);
    rings_seen(session);
    return !(drained & (RINGS_ELSEWHERE | RINGS_STALLED));
}

/* Returns whether the session stays with the side lane. */
static bool session_stays(const struct lane *lane, struct session *session)
{
    return !(session->round.pending & REQUEST_BIT) && !session->submit.faulted &&
           !session_runs_on(session) &&
           (session->round.pending || lane_keeps(lane, lane->now - session->poll.active_ns)) &&
           !atomic_load_explicit(&session->recalled, memory_order_relaxed) &&
           !atomic_load_explicit(&lanes.recall, memory_order_relaxed);
}

/* Tells the clients of the lane's sessions whether a waiting client should soon yield its CPU. */
static void clients_tell(struct lane *lane)
{
    const bool yield_soon = atomic_load_explicit(&lanes.cpus_short, memory_order_relaxed);

    for (uint32_t i = 0; i < lane->polled_count; i++) {
        struct session *session = lane->polled[i];
        if (session->round.yield_soon == yield_soon)
            continue;
        session->round.yield_soon = yield_soon;
        atomic_store_explicit(&session->server_page->yield_soon, yield_soon, memory_order_relaxed);
    }
}

static void side_round(struct side *side)
{
    struct lane *lane = &side->lane;

    lane->round++;
    inflight_poll_all(&lane->inflight_lane, lane->now);
    lane->active_now = lane->active_lately = 0;
    for (uint32_t i = 0; i < lane->polled_count; i++)
        rings_look(lane->polled[i]);
    lane->crowded = lane->active_now > 2;
    clients_tell(lane);
    for (uint32_t i = lane->polled_count; i > 0; i--) {
        struct session *session = lane->polled[i - 1];
        if (!session_stays(lane, session) || !side_serve(session))
            session_return(lane, session);
    }
}

/* Asks the driver about the streams of busy sessions, so that the lane detects a lost context even
 * when it makes no other driver call. */
static void side_watch(struct side *side)
{
    struct lane *lane = &side->lane;

    for (uint32_t i = 0; i < lane->polled_count; i++) {
        if (lane->polled[i]->inflight.busy)
            streams_idle(lane->polled[i]);
    }
    side->next_watch = lane->now + WATCH_NS;
}

static void side_sleep(struct side *side)
{
    struct pollfd event = {side->waker.fd, POLLIN, 0};

    waker_doze(&side->waker);
    lane_sleeps(&side->lane);
    if (!atomic_load(&side->given) && !lost_pending())
        poll(&event, 1, -1);
    waker_up(&side->waker);
}

static void *side_main(void *argument)
{
    struct side *side = argument;

    lane_priority_raise(&side->lane);
    lost_lane();
    DRV_MUST(cuCtxSetCurrent, worker->context);
    thread_context_set(&side->context);
    for (;;) {
        lane_begins(&side->lane);
        if (lost_pending())
            lost_stop();
        sessions_accept(side);
        side_round(side);
        if (side->lane.now >= side->next_watch)
            side_watch(side);
        if (side->lane.polled_count == 0)
            side_sleep(side);
        else
            cpu_relax();
    }
    return NULL;
}

/* ---- The main lane --------------------------------------------------------------------------- */

/* Takes a returned session back into the main lane. */
static void session_adopt(struct lane *main, struct session *session)
{
    lanes.side[session->lane->index - 1]->members--;
    atomic_store_explicit(&session->recalled, false, memory_order_relaxed);
    session->lane = main;
    session->elsewhere = false;
    domain_enter(session, 0);
    inflight_lane_enter(session);
    session->sched.polled = false;
    session_poll_begin(session);
}

/* Moves all streams of the session to a side lane's context. Returns false when the device has work
 * of the session, or when the pool has no CUDA stream in that context. Some streams may have moved
 * by then, which does no harm. */
static bool streams_move(struct session *session, struct partition *context)
{
    if (!streams_idle(session))
        return false;
    for (uint32_t i = 0; i < SEG_STREAMS; i++) {
        if (!stream_move(session, &session->submit.streams[i], context))
            return false;
    }
    return true;
}

static void session_give(struct session *session, struct side *side)
{
    session_poll_stop(session);
    session->sched.polled = true; /* its client need not ring the doorbell */
    inflight_lane_leave(session);
    domains_remove(session);
    domain_leave(session);
    session->lane = &side->lane;
    session->elsewhere = true;
    side->members++;
    log_debug("session %llu goes to lane %u", (unsigned long long)session->id, side->lane.index);
    stack_push(&side->given, session);
    waker_wake(&side->waker);
}

/* Returns the side lane that gets one more session (lane_choice.h); NULL: none does. */
static struct side *side_for_more(const struct lane *main)
{
    uint32_t members[LANES_MAX];

    for (uint32_t i = 0; i < lanes.count; i++)
        members[i] = lanes.side[i]->members;
    const uint32_t chosen = lane_choose(members, lanes.count, main->active_lately, lanes.cpus);
    return chosen == LANE_NONE ? NULL : lanes.side[chosen];
}

/* Gives one of the main lane's sessions to a side lane, if lane_choice.h names a lane and a session
 * is light. */
static void one_give(struct lane *main)
{
    struct side *side = side_for_more(main);

    if (main->now < lanes.next_give || !side || side->members >= STREAMS_EACH)
        return;
    lanes.next_give = main->now + GIVE_NS;
    for (uint32_t i = 0; i < main->polled_count; i++) {
        struct session *session = main->polled[i];
        if (!session_light(session) || !streams_move(session, &side->context))
            continue;
        session_give(session, side);
        lanes.next_give = 0;
        return;
    }
}

/* Finds out whether there are more busy threads than CPUs. Each active tenant and each lane that
 * has sessions counts as one thread. */
static void cpus_count(const struct lane *main)
{
    uint32_t threads = main->active_lately + 1;

    for (uint32_t i = 0; i < lanes.count; i++) {
        const uint32_t members = lanes.side[i]->members;
        threads += members ? members + 1 : 0;
    }
    const bool cpus_short = threads > lanes.cpus;
    if (atomic_load_explicit(&lanes.cpus_short, memory_order_relaxed) != cpus_short)
        atomic_store_explicit(&lanes.cpus_short, cpus_short, memory_order_relaxed);
}

void lanes_share(struct lane *main)
{
    for (struct session *session = stack_take(&lanes.returned); session;) {
        struct session *next = session->lane_next;
        session_adopt(main, session);
        session = next;
    }
    if (lanes.count > 0 && main->active_lately > 1 &&
        !atomic_load_explicit(&lanes.recall, memory_order_relaxed) && !chores_any() &&
        !grants_any())
        one_give(main);
    main->alone = main->active_lately <= 1 && !lanes_any();
    cpus_count(main);
    clients_tell(main);
}

void lanes_recall(bool on)
{
    if (atomic_load_explicit(&lanes.recall, memory_order_relaxed) != on)
        atomic_store_explicit(&lanes.recall, on, memory_order_relaxed);
}

void lanes_recall_session(struct session *session)
{
    if (session_elsewhere(session))
        atomic_store_explicit(&session->recalled, true, memory_order_relaxed);
}

bool lanes_returned(void)
{
    /* seq_cst: must come after waker_doze; pairs with stack_push and dispatch_wake */
    return atomic_load(&lanes.returned);
}

bool lanes_any(void)
{
    for (uint32_t i = 0; i < lanes.count; i++) {
        if (lanes.side[i]->members)
            return true;
    }
    return false;
}

/* ---- All lanes ------------------------------------------------------------------------------- */

void lanes_wake(void)
{
    for (uint32_t i = 0; i < lanes.count; i++)
        waker_wake(&lanes.side[i]->waker);
}

void lanes_poll(uint64_t now)
{
    for (struct session *session = stack_take(&lanes.returned); session;) {
        struct session *next = session->lane_next;
        domain_enter(session, session->lane->index);
        inflight_lane_enter(session);
        session = next;
    }
    inflight_poll_all(&lanes.main->inflight_lane, now);
    for (uint32_t i = 0; i < lanes.count; i++) {
        sessions_accept(lanes.side[i]);
        inflight_poll_all(&lanes.side[i]->lane.inflight_lane, now);
    }
}

const struct session *lanes_draining(void)
{
    const struct session *draining = lanes.main->draining;

    for (uint32_t i = 0; i < lanes.count; i++) {
        const struct session *other = lanes.side[i]->lane.draining;
        if (other && draining)
            return NULL; /* several lanes were issuing, and the loss may be due to any of them */
        draining = draining ? draining : other;
    }
    return draining;
}

static uint64_t lane_stuck_ns(struct lane *lane, uint64_t now)
{
    const uint64_t began = atomic_load_explicit(&lane->awake_ns, memory_order_relaxed);

    return began && now > began ? now - began : 0;
}

uint64_t lanes_stuck_ns(void)
{
    const uint64_t now = clock_ns();
    uint64_t longest = lane_stuck_ns(lanes.main, now);

    for (uint32_t i = 0; i < lanes.count; i++) {
        const uint64_t ns = lane_stuck_ns(&lanes.side[i]->lane, now);

        longest = ns > longest ? ns : longest;
    }
    return longest;
}

void lanes_main(struct lane *main)
{
    lanes.main = main;
}

/* Returns how many lanes to make, including the main lane. */
static uint32_t lanes_wanted(void)
{
    const char *text = getenv("GSHARE_LANES");
    const long asked = text ? strtol(text, NULL, 10) : 0;

    if (asked > 0)
        return asked < (long)LANES_MAX ? (uint32_t)asked : LANES_MAX;
    const uint32_t pay = lanes.cpus / CPUS_EACH;
    return pay < 4 ? 1 : pay < LANES_PAY ? pay : LANES_PAY;
}

static CUresult side_make(struct side *side)
{
    CUresult result = partition_whole(&side->context);

    if (!result)
        result = pool_fill_lane(&side->context, STREAMS_EACH);
    return result ? result
                  : (waker_init(&side->waker) ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM);
}

void lanes_init(void)
{
    lanes.cpus = cpus_allowed();
    const uint32_t wanted = lanes_wanted();

    for (uint32_t i = 1; i < wanted; i++) {
        struct side *side = calloc(1, sizeof(*side));
        CUresult result = side ? side_make(side) : CUDA_ERROR_OUT_OF_MEMORY;
        if (result) {
            char text[128];
            driver_describe(text, sizeof(text));
            log_info("event=lanes lanes=%u wanted=%u reason=%s", i, wanted, text);
            free(side);
            break;
        }
        side->lane.index = i;
        side->lane.context = &side->context;
        lanes.side[lanes.count++] = side;
    }
    log_debug("%u dispatch lanes", lanes.count + 1);
}

bool lanes_start(void)
{
    for (uint32_t i = 0; i < lanes.count; i++) {
        pthread_t thread;
        char name[32];

        lost_join();
        if (pthread_create(&thread, NULL, side_main, lanes.side[i]))
            return false;
        snprintf(name, sizeof(name), "gs-lane-%u", i + 1);
        pthread_setname_np(thread, name);
        pthread_detach(thread);
    }
    return true;
}
