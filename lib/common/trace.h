/*
 * All times are clock_ns() of one machine.
 */
#ifndef GS_COMMON_TRACE_H
#define GS_COMMON_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"

#define TRACE_EVENTS 65536u /* of a ring; a power of two */
/* Ring 0 is the supervisor's, ring 1 the main lane's. */
#define TRACE_RINGS  (1 + LINK_LANES_MAX)
#define TRACE_TEXT   64u

enum trace_kind {
    /* Events of the supervisor. begin_ns and end_ns are equal, except in TRACE_TAKEOVER. */
    TRACE_PRESENT = 1,  /* a session that was attached when the trace began */
    TRACE_ATTACHED = 2, /* u.session; text: the name */
    TRACE_DETACHED = 3,
    TRACE_GRANTED = 4,  /* u.session; mask: the SMs, all zero for the whole device */
    TRACE_LOST = 5,     /* the worker was lost. session: the one to blame, or 0; text: the reason */
    TRACE_TAKEOVER = 6, /* from the loss until the next worker had the sessions */
    /* Events of the worker, with u.work unless noted; `work` is a REC_ number (wire_record.h). */
    TRACE_FETCHED = 7, /* a record: begin_ns: the lane fetched it; text: the kernel */
    TRACE_ISSUED = 8,  /* a driver call and the work that it gave the device; text: the kernel */
    TRACE_ENDED = 9,   /* a fence: the work issued with it ran from begin_ns to end_ns */
    TRACE_WORKER = 10  /* a worker writes from now on; u.session.pid */
};

#define TRACE_WORDS 16u
struct trace_event {
    uint64_t at_ns; /* when the event was written: the order of the events of a session */
    uint64_t begin_ns, end_ns;
    uint64_t session; /* id; 0: none */
    uint64_t amount;  /* FETCHED launch: blocks; ISSUED copy or memset: bytes; ENDED: the time that
                         the session is charged, in nanoseconds */
    uint16_t kind;    /* enum trace_kind */
    uint16_t work;    /* REC_LAUNCH, REC_COPY, ... */
    union {
        struct {
            uint32_t stream;
            uint32_t fence;     /* ISSUED, ENDED: which fence of the stream; 24 bits */
            uint32_t count;     /* ISSUED: launches */
            uint32_t sms;       /* ISSUED launch: the number of SMs on which it may run */
            uint32_t partition; /* ISSUED: its number; 0: the whole device */
        } work;
        struct {
            uint32_t uid;
            int32_t pid;
            uint32_t cls;
            uint32_t sms;
            int32_t priority;
        } session;
    } u;
    union {
        char text[TRACE_TEXT]; /* ends with 0 */
        uint64_t mask[GS_SM_MASK_WORDS];
    } v;
};
static_assert(sizeof(struct trace_event) == TRACE_WORDS * sizeof(uint64_t), "trace_event");

struct trace_ring {
    _Alignas(128) _Atomic uint64_t head; /* events ever written */
    _Alignas(128) _Atomic uint64_t word[TRACE_EVENTS][TRACE_WORDS];
};

struct trace_segment {
    uint32_t magic;   /* WIRE_MAGIC */
    uint32_t version; /* WIRE_VERSION */
    struct trace_ring ring[TRACE_RINGS];
};

/* Writes an event. Only the ring's one producer calls this; it never waits. */
void trace_ring_put(struct trace_ring *ring, const struct trace_event *event);
/* Takes event number *next, or the oldest event left if that is overwritten, and advances *next
 * behind it. Returns false if there is none. *lost grows by the number of events that were
 * overwritten unread. Only the ring's reader calls this. */
bool trace_ring_take(struct trace_ring *ring, uint64_t *next, struct trace_event *event,
                     uint64_t *lost);

#endif
