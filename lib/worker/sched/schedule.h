/*
 * schedule.h - who may give the device how much, and who goes first: arithmetic on numbers, without
 * a device, a clock or a thread of its own, so that tests can play days of it in a moment.
 *
 * Times are nanoseconds of any one clock. The caller says what it has given to the device
 * (sched_issued), with how long it thinks that this takes, and what has ended (sched_done), with
 * how long it took. "Device time" is time multiplied by the part of the device that a kernel fills.
 */
#ifndef GS_WORKER_SCHED_SCHEDULE_H
#define GS_WORKER_SCHED_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

/* What goes to the device and ends together. */
struct sched_work {
    uint32_t launches;
    uint32_t wide;          /* kernels among them that fill the device */
    uint64_t ns, device_ns; /* how long they are thought to take, one after the other */
    uint32_t width;         /* by SCHED_WIDTH, the part of their SMs that the widest fills */
};

/* One per session. Zeroed: nothing in flight, normal class, weight 1. */
struct sched_entity {
    uint32_t cls;                     /* gs_class */
    uint32_t weight;                  /* 0: 1 */
    uint32_t inflight_max;            /* launches; 0: the class's own */
    uint32_t inflight;                /* launches given to the device and not known to have ended */
    uint32_t wide, overdue_wide;      /* of these, kernels that fill the device; as device_ns */
    uint32_t width;                   /* of its streams' widest ones, together; overdue ones not */
    uint64_t inflight_ns;             /* how long they are thought to take, one after the other */
    uint64_t device_ns;               /* of that, device time that others may wait for */
    uint64_t overdue_ns;              /* of that, what is not thought to end soon */
    uint64_t last_ns, last_device_ns; /* the same of what it was given last */
    uint32_t last_width;              /* of that */
    uint64_t vtime;                   /* time on it by weight: who has least goes first */
    uint64_t done_ns;                 /* when a kernel of it last ended, or was the first to go */
    uint64_t served_ns;               /* when it last was given something, or began to wait */
    uint64_t deadline_ns;             /* of its next launch; 0: none */
    bool waiting;                     /* has work that was held back */
};

struct sched {
    /* Two cache lines each, for they are fetched in pairs: some are other lanes'. */
    _Alignas(128) uint32_t sms;
    uint32_t sms_all;   /* it is about so many of the device's; 0: all */
    uint64_t vnow;      /* the virtual time: of who was served last by its share; never goes back */
    uint64_t device_ns; /* such device time in flight, of all but the latency class */
    uint64_t done_ns;   /* when a kernel of that last ended, or was the first to go */
    uint32_t wide;      /* kernels of that which fill the device */
    uint32_t width;     /* of all but the latency class, together */
    uint32_t waiting;   /* entities that wait */
    bool weights_off;   /* whoever has an allowance goes, in the order of classes */
};

#define SCHED_WIDTH      256u       /* the width of a kernel that fills the device */
#define SCHED_STREAM_MAX 64u        /* launches in flight of a stream */
#define SCHED_UNKNOWN_NS 250000u    /* a kernel that was never measured is taken to run so long */
#define SCHED_AHEAD_NS   2000000u   /* a session has so much in flight, and two launches at least */
#define SCHED_BACK_NS    1000000u   /* the same of best effort */
#define SCHED_REFILL_NS  50000u     /* while several wait: the next when less is in flight */
#define SCHED_QUANTUM_NS 500000u    /* what one is given at a time then */
#define SCHED_NARROW     20u        /* who fills a 20th of the device or less is in nobody's way */
#define SCHED_STARVED_NS 50000000u  /* who has waited so long goes first */
#define SCHED_ADVANCE_NS 100000000u /* a deadline lets a session run so far ahead of its share */

/* What may be given to the device now: launches, and how long they may be thought to take. At least
 * one launch may go where launches is not 0, however long it is. */
struct sched_allowance {
    uint32_t launches;
    uint64_t ns;
};
struct sched_allowance sched_allowance(const struct sched *sched,
                                       const struct sched_entity *entity);

/* Do several wait? Then they are served one at a time, as sched_pick says. */
static inline bool sched_contended(const struct sched *sched)
{
    return sched->waiting > 1 && !sched->weights_off;
}

/* It has work and was idle, or was refused an allowance. Safe to call again. */
void sched_wait(struct sched *sched, struct sched_entity *entity, uint64_t now);
/* Nothing of its work is held back any more. */
void sched_satisfied(struct sched *sched, struct sched_entity *entity);

/* 0 for the class that goes first, up to 2. */
uint32_t sched_rank(uint32_t cls);
/* Does `a` go before `b`? Both wait. */
bool sched_before(const struct sched *sched, const struct sched_entity *a,
                  const struct sched_entity *b, uint64_t now);
/* May the first of all that wait and have an allowance be given something now? */
bool sched_open(const struct sched *sched, const struct sched_entity *first, uint64_t now);
/* May it be given something behind one that is due before it and can have no more in flight? Only
 * where both have an allowance, or what runs may wait for it. */
bool sched_may_pass(const struct sched *sched, const struct sched_entity *entity, uint64_t now);
/* It has been passed by another: what it cannot use is not owed to it for ever. */
void sched_passed(struct sched_entity *entity, const struct sched_entity *by);
/* How long the SMs that it is about need for what is in flight. */
static inline uint64_t sched_busy_ns(const struct sched *sched)
{
    return sched->sms < sched->sms_all
               ? (uint64_t)((double)sched->device_ns * sched->sms_all / sched->sms)
               : sched->device_ns;
}

/* How long it still is until what is in flight, of all or of one, is thought to have ended. */
static inline uint64_t sched_left(uint64_t ns, uint64_t done_ns, uint64_t now)
{
    uint64_t ran = now > done_ns ? now - done_ns : 0;

    return ns > ran ? ns - ran : 0;
}
/* Is it below what the operator lets it have in flight? */
static inline bool sched_allowed(const struct sched_entity *entity)
{
    return !entity->inflight_max || entity->inflight < entity->inflight_max;
}

void sched_issued(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                  uint64_t now);
/* Of what was issued, this has ended; took_ns: what of the time counts for its share. */
void sched_done(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                uint64_t took_ns, uint64_t now);
/* What one of its streams has in flight fills so much at a time, no longer what it did. */
void sched_width(struct sched *sched, struct sched_entity *entity, uint32_t before, uint32_t after);
/* It is one of those of `sched` from now on, with all that it has in flight. The other one forgets
 * it by itself. */
void sched_add(struct sched *sched, const struct sched_entity *entity);
/* It is none of them any more, with all that it has in flight. */
void sched_part(struct sched *sched, const struct sched_entity *entity);
void sched_class(struct sched *sched, struct sched_entity *entity, uint32_t cls);
/* What it has in flight is not thought to end soon: nobody waits for that. */
void sched_overdue(struct sched *sched, struct sched_entity *entity, const struct sched_work *work);
/* It has ended after all; before sched_done. */
void sched_overdue_end(struct sched *sched, struct sched_entity *entity,
                       const struct sched_work *work);
/* It is going: all that it has in flight is forgotten. */
void sched_remove(struct sched *sched, struct sched_entity *entity);

#endif
