/*
 * schedule.h - computes how much work each session may issue to the device, and which session goes
 * first. It is arithmetic on numbers, without a device, a clock or a thread of its own, so that
 * tests can simulate days of scheduling in a moment.
 *
 * An entity is a session as the scheduler sees it; a struct sched is one scheduling domain, whose
 * entities wait for each other (domain.h). Times are nanoseconds of any one clock. The caller
 * reports the work that it has issued to the device (sched_issued), with its expected time, and the
 * work that has ended (sched_done), with the time that it took. "Device time" is time multiplied by
 * the part of the device that a kernel fills. An entity's virtual time is its time on the device
 * divided by its weight.
 */
#ifndef GS_WORKER_SCHED_SCHEDULE_H
#define GS_WORKER_SCHED_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

#include "gshare.h"

/* Work that is issued and ends together. */
struct sched_work {
    uint32_t launches;
    uint32_t wide; /* how many of these kernels fill their SMs */
    /* the expected time and device time of the kernels, one after the other */
    uint64_t ns, device_ns;
    uint32_t width; /* the widest kernel's part of its SMs, in units of SCHED_WIDTH */
};

/* The scheduler's view of a session. All zero: nothing in flight, normal class, weight 1. */
struct sched_entity {
    uint32_t cls;          /* gs_class */
    uint32_t weight;       /* 0 counts as 1 */
    uint32_t launches_max; /* the most launches in flight; 0: no cap */
    uint32_t launches;     /* launches issued and not known to have ended */
    /* how many of these kernels fill their SMs; how many of those are overdue */
    uint32_t wide, overdue_wide;
    /* the sum of the widths of its streams' widest kernels, without overdue ones */
    uint32_t width;
    /* the expected time of its launches in flight, one after the other */
    uint64_t launches_ns;
    /* the device time of its launches in flight that other entities may wait for */
    uint64_t device_ns;
    /* the part of device_ns that is overdue, so not expected to end soon */
    uint64_t overdue_ns;
    uint64_t last_ns, last_device_ns; /* ns and device_ns of the work issued last */
    uint32_t last_width;              /* the width of the work issued last */
    uint64_t vtime;                   /* virtual time; the entity with the least goes first */
    /* when its last kernel ended, or was issued while no other was in flight */
    uint64_t done_ns;
    uint64_t served_ns;   /* when the entity last issued something, or began to wait */
    uint64_t deadline_ns; /* the deadline of its next launch; 0: none */
    bool waiting;         /* some of its work is held back */
};

struct sched {
    /* A domain has whole pairs of cache lines, because some domains belong to other lanes and the
     * processor fetches lines in pairs. */
    _Alignas(128) uint32_t sms;
    uint32_t sms_all; /* the domain has `sms` of the device's `sms_all` SMs; 0: all */
    /* the virtual time of the domain: that of the entity that was last served by virtual time; it
     * never goes back */
    uint64_t vnow;
    /* the device time in flight that entities may wait for, without the latency class */
    uint64_t device_ns;
    uint64_t done_ns; /* when a kernel of that work last ended, or the first of it was issued */
    uint32_t wide;    /* how many kernels of that work fill their SMs */
    uint32_t width;   /* the sum of the widths, without the latency class */
    uint32_t waiting; /* the number of entities that wait */
    bool weights_off; /* entities that have an allowance issue at once, in the order of classes */
};

#define SCHED_WIDTH      256u    /* the width of a kernel that fills the device */
#define SCHED_STREAM_MAX 64u     /* the most launches in flight of a stream */
#define SCHED_UNKNOWN_NS 250000u /* the expected time of a kernel that was never measured */
/* the most expected time that a session has in flight, or two launches if longer */
#define SCHED_AHEAD_NS   2000000u
#define SCHED_BACK_NS    1000000u /* the same for best effort */
/* while several wait, the next one issues when less than this is in flight */
#define SCHED_REFILL_NS  50000u
#define SCHED_QUANTUM_NS 500000u /* the time that each entity gets in turn while several wait */
/* kernels that fill this fraction (a 20th) of the device or less delay no others */
#define SCHED_NARROW     20u
#define SCHED_STARVED_NS 50000000u  /* an entity that has waited this long goes first */
#define SCHED_ADVANCE_NS 100000000u /* how far a deadline lets a session run ahead of its share */

/* How much an entity may issue now: a number of launches, and their total expected time. If
 * `launches` is not 0, at least one launch may be issued, however long it is. */
struct sched_allowance {
    uint32_t launches;
    uint64_t ns;
};
struct sched_allowance sched_allowance(const struct sched *sched,
                                       const struct sched_entity *entity);

/* Returns whether several entities wait. If so, they are served one at a time, in the order of
 * sched_before and when sched_open allows. */
static inline bool sched_contended(const struct sched *sched)
{
    return sched->waiting > 1 && !sched->weights_off;
}

/* Notes that the entity waits: it has work, and was idle or was refused an allowance. May be called
 * again. */
void sched_wait(struct sched *sched, struct sched_entity *entity, uint64_t now);
/* Notes that none of the entity's work is held back any more. */
void sched_satisfied(struct sched *sched, struct sched_entity *entity);

/* Returns whether `a` is served before `b`, when both wait. */
bool sched_before(const struct sched *sched, const struct sched_entity *a,
                  const struct sched_entity *b, uint64_t now);
/* Returns whether the first of all entities that wait and have an allowance may issue something
 * now. */
bool sched_open(const struct sched *sched, const struct sched_entity *first, uint64_t now);
/* Returns whether the entity may issue something although another one, which can have no more in
 * flight, is due before it. It may if it is of the latency class, fills little of the device, or
 * has room beside the others' work, or if running work may be waiting for it. */
bool sched_may_pass(const struct sched *sched, const struct sched_entity *entity, uint64_t now);
/* Notes that the entity `by` has passed this one. Of the time that it could not use, this entity is
 * owed SCHED_ADVANCE_NS at most. */
void sched_passed(struct sched_entity *entity, const struct sched_entity *by);
/* Returns how many nanoseconds the domain's SMs need for the work in flight. */
static inline uint64_t sched_busy_ns(const struct sched *sched)
{
    return sched->sms < sched->sms_all
               ? (uint64_t)((double)sched->device_ns * sched->sms_all / sched->sms)
               : sched->device_ns;
}

/* Returns for how many more nanoseconds work in flight, of a domain or an entity, is expected to
 * run. ns: its expected time; done_ns: when it began to run. */
static inline uint64_t sched_left(uint64_t ns, uint64_t done_ns, uint64_t now)
{
    uint64_t ran = now > done_ns ? now - done_ns : 0;

    return ns > ran ? ns - ran : 0;
}
/* Returns whether the entity has fewer launches in flight than the operator allows. */
static inline bool sched_allowed(const struct sched_entity *entity)
{
    return !entity->launches_max || entity->launches < entity->launches_max;
}

/* Notes that the entity has issued this work. */
void sched_issued(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                  uint64_t now);
/* Notes that this part of the issued work has ended. took_ns: the time that is charged to the
 * entity's virtual time. */
void sched_done(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                uint64_t took_ns, uint64_t now);
/* Notes that the width of one of the entity's streams has changed from `before` to `after`. */
void sched_width(struct sched *sched, struct sched_entity *entity, uint32_t before, uint32_t after);
/* Adds the entity, with all it has in flight, to the domain. The caller removes it from the old
 * domain (sched_part) or clears that domain's sums. */
void sched_add(struct sched *sched, const struct sched_entity *entity);
/* Removes the entity, with all it has in flight, from the domain. */
void sched_part(struct sched *sched, const struct sched_entity *entity);
/* Changes the entity's class. */
void sched_class(struct sched *sched, struct sched_entity *entity, uint32_t cls);
/* Notes that work in flight is overdue: it is not expected to end soon, and no entity waits for
 * it. */
void sched_overdue(struct sched *sched, struct sched_entity *entity, const struct sched_work *work);
/* Notes that overdue work has ended after all. Called before sched_done. */
void sched_overdue_end(struct sched *sched, struct sched_entity *entity,
                       const struct sched_work *work);
/* Removes all that the entity has in flight, because its session is closed. */
void sched_remove(struct sched *sched, struct sched_entity *entity);

#endif
