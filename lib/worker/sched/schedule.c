/*
 * schedule.c - see schedule.h.
 *
 * A lone session is held back by nothing but how far it may be ahead of the device. Where several
 * wait, the device is given to one at a time: a quantum to the one of the highest class, among
 * these to the one with the earliest deadline, then to the one of least virtual time; the next when
 * what is in flight is nearly done. So a session's time on the device is what its weight says,
 * whatever the length of its kernels: who ran a long one waits for as long as the others need to
 * catch up. Kernels that fill little of the device go beside each other as long as they do not slow
 * each other down.
 */
#include "worker/sched/schedule.h"

static uint64_t by_weight(const struct sched_entity *entity, uint64_t ns)
{
    return ns * 64 / (entity->weight ? entity->weight : 1);
}

/* A round has one time: what happened within it may be later. */
static bool long_ago(uint64_t then, uint64_t now)
{
    return now > then && now - then > SCHED_STARVED_NS;
}

static bool held_back(const struct sched_entity *entity)
{
    return entity->cls != GS_CLASS_LATENCY;
}

/* Does it fill so little of the device that it is in nobody's way? */
static bool fills_little(uint64_t ns, uint64_t device_ns)
{
    return ns > 0 && device_ns <= ns / SCHED_NARROW;
}

/* Did what it gave last? */
static bool narrow(const struct sched_entity *entity)
{
    return fills_little(entity->last_ns, entity->last_device_ns);
}

/* The device time of it that others may have to wait for. */
static uint64_t in_the_way_ns(const struct sched_work *work)
{
    return fills_little(work->ns, work->device_ns) ? 0 : work->device_ns;
}

/* Its virtual time once what it has in flight has ended. */
static uint64_t due(const struct sched_entity *entity)
{
    return entity->vtime +
           by_weight(entity, narrow(entity) ? entity->device_ns : entity->inflight_ns);
}

/* Time that is a quantum of device time, going by what it gave last, which was not narrow. */
static uint64_t quantum(const struct sched_entity *entity)
{
    if (entity->last_ns == 0)
        return SCHED_QUANTUM_NS;
    return (uint64_t)((double)SCHED_QUANTUM_NS * (double)entity->last_ns /
                      (double)entity->last_device_ns);
}

struct sched_allowance sched_allowance(const struct sched *sched, const struct sched_entity *entity)
{
    uint64_t ahead = entity->cls == GS_CLASS_BEST_EFFORT ? SCHED_BACK_NS : SCHED_AHEAD_NS;
    uint32_t most = entity->inflight_max ? entity->inflight_max : UINT32_MAX;
    struct sched_allowance allowance = {0, 0};

    if (entity->inflight >= most)
        return allowance;
    /* One at a time: how much is in flight is sched_open's to say. Kernels that fill little of the
     * device are in nobody's way. */
    if (sched_contended(sched) && entity->cls == GS_CLASS_NORMAL && !narrow(entity)) {
        allowance.ns = quantum(entity) < ahead ? quantum(entity) : ahead;
        /* Of all its streams together; but one launch each. */
        allowance.ns = allowance.ns > entity->inflight_ns ? allowance.ns - entity->inflight_ns : 1;
        allowance.launches = most - entity->inflight;
        return allowance;
    }
    /* Refilled at half, so that what goes out goes in runs. */
    if (entity->inflight_ns <= ahead / 2) {
        allowance.ns = ahead - entity->inflight_ns;
        allowance.launches = most - entity->inflight;
    } else if (entity->inflight < 2) {
        allowance.launches = 2 - entity->inflight < most - entity->inflight
                                 ? 2 - entity->inflight
                                 : most - entity->inflight;
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
    if (entity->inflight == 0 && entity->vtime < sched->vnow)
        entity->vtime = sched->vnow; /* time in which it wanted nothing is not owed to it */
}

void sched_satisfied(struct sched *sched, struct sched_entity *entity)
{
    if (!entity->waiting)
        return;
    entity->waiting = false;
    sched->waiting--;
}

uint32_t sched_rank(uint32_t cls)
{
    return cls == GS_CLASS_LATENCY ? 0 : cls == GS_CLASS_NORMAL ? 1 : 2;
}

/* Its deadline, unless it has used them to get far ahead of its share. */
static uint64_t deadline(const struct sched *sched, const struct sched_entity *entity)
{
    if (!entity->deadline_ns || due(entity) > sched->vnow + by_weight(entity, SCHED_ADVANCE_NS))
        return UINT64_MAX;
    return entity->deadline_ns;
}

bool sched_before(const struct sched *sched, const struct sched_entity *a,
                  const struct sched_entity *b, uint64_t now)
{
    bool a_starved = long_ago(a->served_ns, now) && a->inflight == 0;
    bool b_starved = long_ago(b->served_ns, now) && b->inflight == 0;

    /* Across classes only: within one, virtual time lets nobody starve. */
    if (sched_rank(a->cls) != sched_rank(b->cls))
        return a_starved != b_starved ? a_starved : sched_rank(a->cls) < sched_rank(b->cls);
    uint64_t a_deadline = deadline(sched, a), b_deadline = deadline(sched, b);
    if (a_deadline != b_deadline)
        return a_deadline < b_deadline;
    return due(a) < due(b);
}

/* The part of its SMs that it fills at a time, going by what it gave last. */
static uint32_t width_of(const struct sched_entity *entity)
{
    uint32_t last = entity->last_ns > 0 ? entity->last_width : SCHED_WIDTH;

    return last > entity->width ? last : entity->width;
}

/* Is there room for it beside what the others have on the device? Up to half of the threads that
 * fill it: so many do not slow each other down. And is it to have more there? */
static bool beside(const struct sched *sched, const struct sched_entity *entity)
{
    uint32_t others = sched->width - (held_back(entity) ? entity->width : 0);

    return others + width_of(entity) <= SCHED_WIDTH / 2 &&
           (entity->inflight < 2 || entity->inflight_ns <= quantum(entity) / 2);
}

/* What is on the device may wait for this one. */
static bool stuck(const struct sched *sched, const struct sched_entity *entity, uint64_t now)
{
    return entity->inflight == 0 && long_ago(sched->done_ns, now);
}

bool sched_may_pass(const struct sched *sched, const struct sched_entity *entity, uint64_t now)
{
    return entity->cls == GS_CLASS_LATENCY || narrow(entity) || beside(sched, entity) ||
           stuck(sched, entity, now);
}

void sched_passed(struct sched_entity *entity, const struct sched_entity *by)
{
    uint64_t least = due(by), credit = by_weight(entity, SCHED_ADVANCE_NS) + due(entity);

    if (credit < least)
        entity->vtime += least - credit;
}

bool sched_open(const struct sched *sched, const struct sched_entity *first, uint64_t now)
{
    /* What runs has run since the one before it ended. A long kernel's end is waited for: a gap
     * behind it costs little, and how long it still runs is not known so well. */
    uint64_t ran = now > sched->done_ns ? now - sched->done_ns : 0;
    if (ran > SCHED_AHEAD_NS)
        ran = SCHED_AHEAD_NS;

    /* Behind the last kernel, not between several: who had how much could not be told, and theirs
     * would wait for the whole of this one's. */
    return sched_may_pass(sched, first, now) ||
           (sched->wide <= 1 && sched_busy_ns(sched) < SCHED_REFILL_NS + ran);
}

/* Counts in the device's sum, or no longer. */
static void device_add(struct sched *sched, const struct sched_entity *entity, uint32_t wide,
                       uint64_t device_ns, uint32_t width)
{
    if (!held_back(entity))
        return;
    sched->width += width;
    sched->wide += wide;
    sched->device_ns += device_ns;
}

static void device_take(struct sched *sched, const struct sched_entity *entity, uint32_t wide,
                        uint64_t device_ns, uint32_t width)
{
    if (!held_back(entity))
        return;
    sched->width -= width;
    sched->wide -= wide;
    sched->device_ns -= device_ns;
}

void sched_issued(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                  uint64_t now)
{
    if (entity->inflight == 0 && !entity->waiting && entity->vtime < sched->vnow)
        entity->vtime = sched->vnow;
    /* Who is served for its deadline is ahead of its share, and does not take the others along. */
    if (entity->waiting && entity->vtime > sched->vnow && deadline(sched, entity) == UINT64_MAX)
        sched->vnow = entity->vtime;
    /* The device is idle, and nobody is held back: what it has had was at nobody's cost. */
    if (sched->waiting == 0 && sched->device_ns == 0 && entity->vtime > sched->vnow)
        sched->vnow = entity->vtime;
    /* Nothing of that kind is ever held back: that others had more is not owed to it. */
    const uint64_t credit = by_weight(entity, SCHED_ADVANCE_NS);
    if (fills_little(work->ns, work->device_ns) && entity->vtime + credit < sched->vnow)
        entity->vtime = sched->vnow - credit;
    if (work->ns > 0) {
        entity->last_ns = work->ns;
        entity->last_device_ns = work->device_ns;
        entity->last_width = work->width;
    }
    if (entity->inflight_ns == 0)
        entity->done_ns = now;
    entity->inflight += work->launches;
    entity->wide += work->wide;
    entity->inflight_ns += work->ns;
    entity->device_ns += in_the_way_ns(work);
    entity->served_ns = now;
    if (sched->device_ns == 0)
        sched->done_ns = now;
    device_add(sched, entity, work->wide, in_the_way_ns(work), 0);
}

void sched_done(struct sched *sched, struct sched_entity *entity, const struct sched_work *work,
                uint64_t took_ns, uint64_t now)
{
    entity->inflight -= work->launches;
    entity->wide -= work->wide;
    entity->inflight_ns -= work->ns;
    entity->device_ns -= in_the_way_ns(work);
    device_take(sched, entity, work->wide, in_the_way_ns(work), 0);
    entity->vtime += by_weight(entity, took_ns);
    if (work->ns == 0)
        return; /* a copy: it says nothing of how far the kernels are */
    entity->done_ns = now;
    if (held_back(entity) && in_the_way_ns(work) > 0)
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
    device_add(sched, entity, entity->wide - entity->overdue_wide,
               entity->device_ns - entity->overdue_ns, entity->width);
}

void sched_part(struct sched *sched, const struct sched_entity *entity)
{
    sched->waiting -= entity->waiting;
    device_take(sched, entity, entity->wide - entity->overdue_wide,
                entity->device_ns - entity->overdue_ns, entity->width);
}

void sched_class(struct sched *sched, struct sched_entity *entity, uint32_t cls)
{
    uint32_t wide = entity->wide - entity->overdue_wide;
    uint64_t device_ns = entity->device_ns - entity->overdue_ns;

    device_take(sched, entity, wide, device_ns, entity->width);
    entity->cls = cls;
    device_add(sched, entity, wide, device_ns, entity->width);
}

void sched_remove(struct sched *sched, struct sched_entity *entity)
{
    sched_satisfied(sched, entity);
    device_take(sched, entity, entity->wide - entity->overdue_wide,
                entity->device_ns - entity->overdue_ns, entity->width);
    entity->inflight = 0;
    entity->width = 0;
    entity->wide = entity->overdue_wide = 0;
    entity->inflight_ns = 0;
    entity->device_ns = 0;
    entity->overdue_ns = 0;
}
