/*
 * trace.h - the trace segment: what tenants submit, what the device does and what becomes of
 * sessions, as `gsctl trace` reads it while it happens.
 *
 * The segment is a System V segment that the supervisor makes for one reader, who owns it. It has
 * one ring for the supervisor and one for each lane of the device's worker; each ring has one
 * producer. A ring keeps the last TRACE_EVENTS events: the producer never waits and never reads
 * what a reader may have written, but for the head, which it masks. A reader that was too slow
 * learns how many events it has missed. A worker that takes over goes on where the lost one
 * has stopped.
 *
 * All times are clock_ns(), of one machine.
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
    /* The supervisor's. begin_ns and end_ns are equal, but for TRACE_TAKEOVER. */
    TRACE_PRESENT = 1,  /* a session that was attached when the trace began */
    TRACE_ATTACHED = 2, /* u.session; text: the name */
    TRACE_DETACHED = 3,
    TRACE_GRANTED = 4,  /* u.session; mask: the SMs, all zero for the whole device */
    TRACE_LOST = 5,     /* the worker was lost. session: who is to blame, or 0; text: why */
    TRACE_TAKEOVER = 6, /* from the loss until the next worker had the sessions */
    /* The worker's. Of all, u.work; `work` is a REC_ number (wire_record.h). */
    TRACE_FETCHED = 7, /* a record: begin_ns: the lane fetched it; text: the kernel */
    TRACE_ISSUED = 8,  /* a driver call, and what it gave the device; text: the kernel */
    TRACE_ENDED = 9,   /* a fence: what was issued for it ran from begin_ns to end_ns */
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
            uint32_t sms;       /* ISSUED launch: on which it may run */
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

/* Writes an event. The ring's one producer; never waits. */
void trace_ring_put(struct trace_ring *ring, const struct trace_event *event);
/* Takes event number *next, or the oldest that there still is, and advances *next behind it; false:
 * there is none. *lost grows by the events that were overwritten before. Reader. */
bool trace_ring_take(struct trace_ring *ring, uint64_t *next, struct trace_event *event,
                     uint64_t *lost);

#endif
