/*
 * schedule.c - see schedule.h.
 *
 * A lone session is limited only by how far it may be ahead of the device. When several wait, one
 * at a time gets the device, for a quantum: the one of the highest class; among these, the one with
 * the earliest deadline; then the one with the least virtual time. The next one follows when the
 * work in flight is nearly done. So each session's time on the device follows its weight, whatever
 * the length of its kernels: after a long kernel, a session waits until the others have caught up.
 * Kernels that fill little of the device run beside each other as long as they do not slow each
 * other down.
 */
#include "worker/sched/schedule.h"

#include "common/qos_class.h"
#include "worker/sched/class_traits.h"

static uint64_t by_weight(const struct sched_entity *entity, uint64_t ns)
{
    return ns * 64 / (entity->weight ? entity->weight : 1);
}

/* Returns whether `then` is more than SCHED_STARVED_NS ago. `now` is the time when the round began,
 * so `then` may be later if it is in the same round. */
static bool long_ago(uint64_t then, uint64_t now)
{
    return now > then && now - then > SCHED_STARVED_NS;
}

/* Returns whether the domain's sums include the entity's work. They leave out a class that waits
 * for nobody. */
static bool counted(const struct sched_entity *entity)
{
    return class_traits(entity->cls).waits;
}

/* Returns whether work fills so little of the device that no entity waits for it. */
static bool fills_little(uint64_t ns, uint64_t device_ns)
{
    return ns > 0 && device_ns <= ns / SCHED_NARROW;
}

/* Returns whether the work that the entity issued last is that narrow. */
static bool narrow(const struct sched_entity *entity)
{
    return fills_little(entity->last_ns, entity->last_device_ns);
}

/* Returns the device time of the work for which other entities may have to wait. */
static uint64_t in_the_way_ns(const struct sched_work *work)
{
    return fills_little(work->ns, work->device_ns) ? 0 : work->device_ns;
}

/* Returns the entity's virtual finish time: its virtual time once all that it has in flight has
 * ended. */
static uint64_t virtual_finish(const struct sched_entity *entity)
{
    return entity->vtime +
           by_weight(entity, narrow(entity) ? entity->device_ns : entity->launches_ns);
}

/* Returns the time that makes up a quantum of device time, judged by the work that the entity
 * issued last, which was not narrow. */
static uint64_t quantum(const struct sched_entity *entity)
{
    if (entity->last_ns == 0)
        return SCHED_QUANTUM_NS;
    return (uint64_t)((double)SCHED_QUANTUM_NS * (double)entity->last_ns /
                      (double)entity->last_device_ns);
}

struct sched_allowance sched_allowance(const struct sched *sched, const struct sched_entity *entity)
{
    uint64_t ahead = class_traits(entity->cls).ahead_ns;
    uint32_t most = entity->launches_max ? entity->launches_max : UINT32_MAX;
    struct sched_allowance allowance = {0, 0};

    if (entity->launches >= most)
        return allowance;
    /* Only one entity issues at a time, and sched_open limits what is in flight. Narrow kernels
     * make no other entity wait. */
    if (sched_contended(sched) && class_traits(entity->cls).by_quantum && !narrow(entity)) {
        allowance.ns = quantum(entity) < ahead ? quantum(entity) : ahead;
        /* All streams of the entity share this time, but each may issue one launch. */
        allowance.ns = allowance.ns > entity->launches_ns ? allowance.ns - entity->launches_ns : 1;
        allowance.launches = most - entity->launches;
        return allowance;
    }
    /* An entity is refilled once it is half empty, so that launches go out in batches. */
    if (entity->launches_ns <= ahead / 2) {
        allowance.ns = ahead - entity->launches_ns;
        allowance.launches = most - entity->launches;
    } else if (entity->launches < 2) {
        allowance.launches = 2 - entity->launches < most - entity->launches
                                 ? 2 - entity->launches
                                 : most - entity->launches;
        allowance.ns = 1;
    }
    return allowance;
}

void sched_wait(struct sched *sched, struct sched_entity *entity, uint64_t now)
{
    if (entity->waiting)
        return;
    entity->waiting = true;
    sched->waiting++;
    entity->served_ns = now;
    if (entity->launches == 0 && entity->vtime < sched->vnow)
        /* an idle entity is owed nothing for the time in which it wanted nothing */
        entity->vtime = sched->vnow;
}

void sched_satisfied(struct sched *sched, struct sched_entity *entity)
{
    if (!entity->waiting)
        return;
    entity->waiting = false;
    sched->waiting--;
}

/* Returns the entity's deadline; UINT64_MAX: it has none, or its deadlines have brought it too far
 * ahead of its share. */
static uint64_t deadline(const struct sched *sched, const struct sched_entity *entity)
{
    if (!entity->deadline_ns ||
        virtual_finish(entity) > sched->vnow + by_weight(entity, SCHED_ADVANCE_NS))
        return UINT64_MAX;
    return entity->deadline_ns;
}

bool sched_before(const struct sched *sched, const struct sched_entity *a,
                  const struct sched_entity *b, uint64_t now)
{
    bool a_starved = long_ago(a->served_ns, now) && a->launches == 0;
    bool b_starved = long_ago(b->served_ns, now) && b->launches == 0;

    /* Starvation counts across classes only: within a class, virtual time lets no entity starve. */
    if (class_rank(a->cls) != class_rank(b->cls))
        return a_starved != b_starved ? a_starved : class_rank(a->cls) < class_rank(b->cls);
    uint64_t a_deadline = deadline(sched, a), b_deadline = deadline(sched, b);
    if (a_deadline != b_deadline)
        return a_deadline < b_deadline;
    return virtual_finish(a) < virtual_finish(b);
}

/* Returns the part of its SMs that the entity fills at a time, judged by its widest work in flight
 * and by the work that it issued last. */
static uint32_t width_of(const struct sched_entity *entity)
{
    uint32_t last = entity->last_ns > 0 ? entity->last_width : SCHED_WIDTH;

    return last > entity->width ? last : entity->width;
}

/* Returns whether there is room for the entity's work beside the others', and the entity may have
 * more in flight. Together the entities may fill up to half of the device's threads: that many do
 * not slow each other down. */
static bool beside(const struct sched *sched, const struct sched_entity *entity)
{
    uint32_t others = sched->width - (counted(entity) ? entity->width : 0);

    return others + width_of(entity) <= SCHED_WIDTH / 2 &&
           (entity->launches < 2 || entity->launches_ns <= quantum(entity) / 2);
}

/* Returns whether running work may be waiting for what this entity is about to issue. */
static bool stuck(const struct sched *sched, const struct sched_entity *entity, uint64_t now)
{
    return entity->launches == 0 && long_ago(sched->done_ns, now);
}

bool sched_may_pass(const struct sched *sched, const struct sched_entity *entity, uint64_t now)
{
    return !class_traits(entity->cls).waits || narrow(entity) || beside(sched, entity) ||
           stuck(sched, entity, now);
}

void sched_passed(struct sched_entity *entity, const struct sched_entity *by)
{
    uint64_t least = virtual_finish(by),
             credit = by_weight(entity, SCHED_ADVANCE_NS) + virtual_finish(entity);

    if (credit < least)
        entity->vtime += least - credit;
}

bool sched_open(const struct sched *sched, const struct sched_entity *first, uint64_t now)
{
    /* The running work has run since the work before it ended. The end of a long kernel is waited
     * for: the gap after it costs little, and its remaining time is known less well. */
    uint64_t ran = now > sched->done_ns ? now - sched->done_ns : 0;
    if (ran > SCHED_AHEAD_NS)
        ran = SCHED_AHEAD_NS;

    /* The entity issues only behind the last wide kernel in flight. If several were in flight,
     * nobody could tell which session had how much time, and the other kernels would wait for all
     * work of this entity. */
    return sched_may_pass(sched, first, now) ||
           (sched->wide <= 1 && sched_busy_ns(sched) < SCHED_REFILL_NS + ran);
}

/* device_add adds an entity's work to the domain's sums, if they count it; device_take removes it
 * again. */
static void device_add(struct sched *sched, const struct sched_entity *entity, uint32_t wide,
                       uint64_t device_ns, uint32_t width)
{
    if (!counted(entity))
        return;
    sched->width += width;
    sched->wide += wide;
    sched->device_ns += device_ns;
}

static void device_take(struct sched *sched, const struct sched_entity *entity, uint32_t wide,
                        uint64_t device_ns, uint32_t width)
{
    if (!counted(entity))
        return;
    sched->width -= width;
    sched->wide -= wide;
    sched->device_ns -= device_ns;
}

/* entity_add adds all work of the entity that others may wait for to the domain's sums; entity_take
 * removes it again. */
static void entity_add(struct sched *sched, const struct sched_entity *entity)
{
    device_add(sched, entity, entity->wide - entity->overdue_wide,
               entity->device_ns - entity->overdue_ns, entity->width);
}

static void entity_take(struct sched *sched, const struct sched_entity *entity)
{
    device_take(sched, entity, entity->wide - entity->overdue_wide,
                entity->device_ns - entity->overdue_ns, entity->width);
}

void sched_issued(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                  uint64_t now)
{
    if (entity->launches == 0 && !entity->waiting && entity->vtime < sched->vnow)
        entity->vtime = sched->vnow;
    /* An entity that is served because of its deadline is ahead of its share, and does not advance
     * the domain's virtual time. */
    if (entity->waiting && entity->vtime > sched->vnow && deadline(sched, entity) == UINT64_MAX)
        sched->vnow = entity->vtime;
    /* The device is idle and no entity is held back, so the time that this entity has had cost no
     * other entity anything. */
    if (sched->waiting == 0 && sched->device_ns == 0 && entity->vtime > sched->vnow)
        sched->vnow = entity->vtime;
    /* Narrow work is never held back, so the entity is owed SCHED_ADVANCE_NS at most of the time
     * that others have had. */
    const uint64_t credit = by_weight(entity, SCHED_ADVANCE_NS);
    if (fills_little(work->ns, work->device_ns) && entity->vtime + credit < sched->vnow)
        entity->vtime = sched->vnow - credit;
    if (work->ns > 0) {
        entity->last_ns = work->ns;
        entity->last_device_ns = work->device_ns;
        entity->last_width = work->width;
    }
    if (entity->launches_ns == 0)
        entity->done_ns = now;
    entity->launches += work->launches;
    entity->wide += work->wide;
    entity->launches_ns += work->ns;
    entity->device_ns += in_the_way_ns(work);
    entity->served_ns = now;
    if (sched->device_ns == 0)
        sched->done_ns = now;
    device_add(sched, entity, work->wide, in_the_way_ns(work), 0);
}

void sched_done(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                uint64_t took_ns, uint64_t now)
{
    entity->launches -= work->launches;
    entity->wide -= work->wide;
    entity->launches_ns -= work->ns;
    entity->device_ns -= in_the_way_ns(work);
    device_take(sched, entity, work->wide, in_the_way_ns(work), 0);
    entity->vtime += by_weight(entity, took_ns);
    if (work->ns == 0)
        return; /* a copy, whose end does not tell how far the kernels are */
    entity->done_ns = now;
    if (counted(entity) && in_the_way_ns(work) > 0)
        sched->done_ns = now;
}

void sched_width(struct sched *sched, struct sched_entity *entity, uint32_t before, uint32_t after)
{
    device_take(sched, entity, 0, 0, before);
    device_add(sched, entity, 0, 0, after);
    entity->width += after - before;
}

void sched_overdue(struct sched *sched, struct sched_entity *entity, const struct sched_work *work)
{
    entity->overdue_wide += work->wide;
    entity->overdue_ns += in_the_way_ns(work);
    device_take(sched, entity, work->wide, in_the_way_ns(work), 0);
}

void sched_overdue_end(struct sched *sched, struct sched_entity *entity,
                       const struct sched_work *work)
{
    entity->overdue_wide -= work->wide;
    entity->overdue_ns -= in_the_way_ns(work);
    device_add(sched, entity, work->wide, in_the_way_ns(work), 0);
}

void sched_add(struct sched *sched, const struct sched_entity *entity)
{
    sched->waiting += entity->waiting;
    entity_add(sched, entity);
}

void sched_part(struct sched *sched, const struct sched_entity *entity)
{
    sched->waiting -= entity->waiting;
    entity_take(sched, entity);
}

void sched_class(struct sched *sched, struct sched_entity *entity, uint32_t cls)
{
    entity_take(sched, entity);
    entity->cls = cls;
    entity_add(sched, entity);
}

void sched_remove(struct sched *sched, struct sched_entity *entity)
{
    sched_satisfied(sched, entity);
    entity_take(sched, entity);
    entity->launches = 0;
    entity->width = 0;
    entity->wide = entity->overdue_wide = 0;
    entity->launches_ns = 0;
    entity->device_ns = 0;
    entity->overdue_ns = 0;
}
