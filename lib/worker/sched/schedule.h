/*
 * schedule.h - how much of its work each session may give to the device, and which session goes
 * first: arithmetic on numbers, without a device, a clock or a thread of its own, so that tests can
 * play days of scheduling in a moment.
 *
 * An entity is a session as the scheduler sees it; a struct sched is one scheduling domain, whose
 * entities wait for each other (domain.h). Times are nanoseconds of any one clock. The caller
 * reports the work that it has given to the device (sched_issued), with the time that the work is
 * thought to take, and the work that has ended (sched_done), with the time that it took. "Device
 * time" is time multiplied by the part of the device that a kernel fills. An entity's virtual time
 * is its time on the device divided by its weight.
 */
#ifndef GS_WORKER_SCHED_SCHEDULE_H
#define GS_WORKER_SCHED_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

/* Work that goes to the device and ends together. */
struct sched_work {
    uint32_t launches;
    uint32_t wide;          /* kernels among them that fill the device */
    uint64_t ns, device_ns; /* how long the kernels are thought to take, one after the other */
    uint32_t width;         /* the widest kernel's part of its SMs, in units of SCHED_WIDTH */
};

/* The scheduler's view of a session. All zero: nothing in flight, normal class, weight 1. */
struct sched_entity {
    uint32_t cls;                /* gs_class */
    uint32_t weight;             /* 0 counts as 1 */
    uint32_t queue_depth;        /* the most launches in flight; 0: no cap */
    uint32_t launches;           /* launches given to the device and not known to have ended */
    uint32_t wide, overdue_wide; /* kernels among these that fill the device; overdue ones */
    /* the sum of its streams' widest kernels, without overdue ones */
    uint32_t width;
    /* how long its launches in flight are thought to take, one after the other */
    uint64_t launches_ns;
    uint64_t device_ns; /* the device time in it that other entities may wait for */
    /* the part of device_ns that is overdue: not thought to end soon */
    uint64_t overdue_ns;
    uint64_t last_ns, last_device_ns; /* ns and device_ns of the work issued last */
    uint32_t last_width;              /* the width of the work issued last */
    uint64_t vtime;                   /* virtual time: the entity that has least goes first */
    /* when its last kernel ended, or one was issued while none was in flight */
    uint64_t done_ns;
    uint64_t served_ns;   /* when it last issued something, or began to wait */
    uint64_t deadline_ns; /* of its next launch; 0: none */
    bool waiting;         /* some of its work is held back */
};

struct sched {
    /* Two cache lines each, because some domains belong to other lanes and the processor fetches
     * lines in pairs. */
    _Alignas(128) uint32_t sms;
    uint32_t sms_all; /* the domain has `sms` of the device's `sms_all` SMs; 0: all */
    /* the virtual time of the domain: that of the entity served last by its share; never goes
     * back */
    uint64_t vnow;
    /* device time in flight that entities may wait for, without the latency class */
    uint64_t device_ns;
    uint64_t done_ns; /* when a kernel of that work last ended, or the first was issued */
    uint32_t wide;    /* kernels of that work that fill the device */
    uint32_t width;   /* the sum of the widths, without the latency class */
    uint32_t waiting; /* the number of entities that wait */
    bool weights_off; /* entities with an allowance go at once, in the order of classes */
};

#define SCHED_WIDTH      256u     /* the width of a kernel that fills the device */
#define SCHED_STREAM_MAX 64u      /* the most launches in flight of a stream */
#define SCHED_UNKNOWN_NS 250000u  /* how long a kernel is thought to run before it is measured */
#define SCHED_AHEAD_NS   2000000u /* a session's most in flight, or two launches if longer */
#define SCHED_BACK_NS    1000000u /* the same for best effort */
#define SCHED_REFILL_NS  50000u   /* while several wait, the next goes when less is in flight */
#define SCHED_QUANTUM_NS 500000u  /* the time that one entity is given while several wait */
#define SCHED_NARROW     20u /* a kernel that fills a 20th of the device or less delays no other */
#define SCHED_STARVED_NS 50000000u  /* an entity that has waited this long goes first */
#define SCHED_ADVANCE_NS 100000000u /* how far a deadline lets a session run ahead of its share */

/* How much an entity may give to the device now: a number of launches, and their expected time
 * together. Where launches is not 0, at least one launch may go, however long it is. */
struct sched_allowance {
    uint32_t launches;
    uint64_t ns;
};
struct sched_allowance sched_allowance(const struct sched *sched,
                                       const struct sched_entity *entity);

/* Whether several entities wait. They are then served one at a time, in the order of sched_before
 * and as sched_open lets them. */
static inline bool sched_contended(const struct sched *sched)
{
    return sched->waiting > 1 && !sched->weights_off;
}

/* Notes that the entity waits: it has work and was idle, or was refused an allowance. May be called
 * again. */
void sched_wait(struct sched *sched, struct sched_entity *entity, uint64_t now);
/* Notes that none of the entity's work is held back any more. */
void sched_satisfied(struct sched *sched, struct sched_entity *entity);

/* Whether `a` goes before `b`, when both wait. */
bool sched_before(const struct sched *sched, const struct sched_entity *a,
                  const struct sched_entity *b, uint64_t now);
/* Whether the first of all entities that wait and have an allowance may issue something now. */
bool sched_open(const struct sched *sched, const struct sched_entity *first, uint64_t now);
/* Whether the entity may issue something although another one is due before it and can have no more
 * in flight: only if it is of the latency class, fills little of the device, or has room beside the
 * others' work, or if running work may wait for it. */
bool sched_may_pass(const struct sched *sched, const struct sched_entity *entity, uint64_t now);
/* Notes that another entity has passed this one, which is owed no more than SCHED_ADVANCE_NS of the
 * time that it could not use. */
void sched_passed(struct sched_entity *entity, const struct sched_entity *by);
/* How long the domain's SMs need for the work in flight. */
static inline uint64_t sched_busy_ns(const struct sched *sched)
{
    return sched->sms < sched->sms_all
               ? (uint64_t)((double)sched->device_ns * sched->sms_all / sched->sms)
               : sched->device_ns;
}

/* How long the work in flight, of a domain or of one entity, is still thought to run. */
static inline uint64_t sched_left(uint64_t ns, uint64_t done_ns, uint64_t now)
{
    uint64_t ran = now > done_ns ? now - done_ns : 0;

    return ns > ran ? ns - ran : 0;
}
/* Whether the entity has less in flight than the operator allows. */
static inline bool sched_allowed(const struct sched_entity *entity)
{
    return !entity->queue_depth || entity->launches < entity->queue_depth;
}

/* Notes that the entity has given this work to the device. */
void sched_issued(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                  uint64_t now);
/* Notes that a part of the issued work has ended; took_ns is the part of its time that counts for
 * the entity's share. */
void sched_done(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                uint64_t took_ns, uint64_t now);
/* Notes that the width of one of the entity's streams has changed from `before` to `after`. */
void sched_width(struct sched *sched, struct sched_entity *entity, uint32_t before, uint32_t after);
/* Adds the entity to the domain, with all that it has in flight. The caller takes it out of the old
 * domain (sched_part) or clears that domain's sums. */
void sched_add(struct sched *sched, const struct sched_entity *entity);
/* Takes the entity out of the domain, with all that it has in flight. */
void sched_part(struct sched *sched, const struct sched_entity *entity);
/* Gives the entity another class. */
void sched_class(struct sched *sched, struct sched_entity *entity, uint32_t cls);
/* Notes that work in flight is overdue: it is not thought to end soon, and no entity waits for
 * it. */
void sched_overdue(struct sched *sched, struct sched_entity *entity, const struct sched_work *work);
/* Notes that overdue work has ended after all. Called before sched_done. */
void sched_overdue_end(struct sched *sched, struct sched_entity *entity,
                       const struct sched_work *work);
/* Forgets all that the entity has in flight, since its session is going. */
void sched_remove(struct sched *sched, struct sched_entity *entity);

#endif
