/*
 * headroom.c - see headroom.h.
 *
 * A best-effort kernel that fills the device when a latency request arrives delays that request by
 * up to the kernel's whole length. So it is not enough to leave SMs free from the beginning of the
 * request on. Two things help. Where requests arrive at regular times, best effort leaves all of
 * the headroom free ahead of each request, by as much time as it has on the device. Where they do
 * not, it always leaves a few SMs free, on which small kernels begin at once. That costs a quarter
 * as much (HEADROOM_PARTIAL_COST), so it is also done where the first way would leave the headroom
 * free for more than a quarter of the time.
 *
 * A request is what a session does with idle times of at most `linger` in between. The start of the
 * next request is forecast from the mean period and a phase, which follows each start half-way: the
 * starts of a sender that goes by the clock stray around the clock's times, whereas a sender that
 * sleeps between requests shifts all later starts.
 */
#include "worker/sched/headroom.h"

/* ---- One session ----------------------------------------------------------------------------- */

/* Returns for how many nanoseconds all of the headroom is kept after the session's work has
 * ended. */
static uint64_t linger(const struct headroom_entity *entity)
{
    return entity->idle_ns && entity->idle_ns < HEADROOM_LINGER_MAX_NS ? HEADROOM_LINGER_MAX_NS
                                                                       : HEADROOM_LINGER_NS;
}

/* Returns the running mean of about the last `of` values. */
static uint64_t mean_of(uint64_t mean, uint64_t last, uint64_t of)
{
    return mean ? (mean * (of - 1) + last) / of : last;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void period_begin(struct headroom_entity *entity, uint64_t period)
{
    entity->period_ns = period;
    entity->error_ns = period / 8;
    entity->met = 0;
    entity->odd = 0;
}

/* Returns how many SMs of the headroom the session wants: one for each block of its kernels, at
 * most a share. */
static uint32_t entity_wants(const struct headroom *headroom, const struct headroom_entity *entity)
{
    const uint32_t blocks =
        entity->blocks > entity->blocks_now ? entity->blocks : entity->blocks_now;

    if (headroom->share_sms == 0)
        return 1;
    return blocks && blocks < headroom->share_sms ? blocks : headroom->share_sms;
}

/* Notes that a request begins. A single period that is far from the mean says nothing: the session
 * was idle for a while, or two requests came close together. */
static void request_note(struct headroom_entity *entity, uint64_t now)
{
    const uint64_t period = now - entity->start_ns;
    uint64_t phase = now;

    entity->blocks = entity->blocks_now;
    entity->blocks_now = 0;
    if (!entity->start_ns || period > HEADROOM_FORGET_NS) {
        period_begin(entity, 0);
    } else if (entity->period_ns && period > entity->period_ns / 2 &&
               period < entity->period_ns * 2) {
        uint64_t error = distance(now, entity->next_ns);
        entity->error_ns = mean_of(entity->error_ns, error, 4);
        entity->period_ns = mean_of(entity->period_ns, period, 8);
        if (error < entity->period_ns / HEADROOM_PARTIAL_COST) {
            entity->met++;
            phase = entity->next_ns > now ? now + error / 2 : now - error / 2;
        } else {
            entity->met = 0;
        }
        entity->odd = 0;
    } else {
        entity->met = 0;
        if (!entity->period_ns || ++entity->odd == 3)
            period_begin(entity, period);
    }
    entity->start_ns = now;
    entity->next_ns = phase + entity->period_ns;
}

/* Notes that the session has work again. */
static void work_begin(struct headroom_entity *entity, uint64_t now)
{
    const uint64_t idle = now - entity->work_ns;

    if (!entity->start_ns || idle > linger(entity))
        request_note(entity, now);
    /* All idle times that are long count with the same length. */
    if (idle > HEADROOM_LINGER_NS)
        entity->idle_ns =
            mean_of(entity->idle_ns,
                    idle < 2 * HEADROOM_LINGER_MAX_NS ? idle : 2 * HEADROOM_LINGER_MAX_NS, 8);
}

/* Returns the level that an idle session's next request needs now, given that best effort is `lead`
 * nanoseconds ahead. */
static enum headroom_level entity_level(struct headroom_entity *entity, uint64_t lead, uint64_t now)
{
    const uint64_t margin = 4 * entity->error_ns + HEADROOM_MARGIN_NS;

    if (now < entity->work_ns + linger(entity))
        return HEADROOM_FULL;
    if (entity->met < HEADROOM_MET || lead + margin > entity->period_ns / HEADROOM_PARTIAL_COST)
        return HEADROOM_PARTIAL;
    if (now + lead + margin < entity->next_ns)
        return HEADROOM_NONE;
    if (now < entity->next_ns + margin)
        return HEADROOM_FULL;
    entity->met = 0; /* the request did not come when it was expected */
    return HEADROOM_PARTIAL;
}

/* ---- All of them ----------------------------------------------------------------------------- */

void headroom_note(struct headroom *headroom, struct headroom_entity *entity, bool at_work,
                   uint64_t now)
{
    if (at_work) {
        if (!entity->at_work)
            work_begin(entity, now);
        if (!entity->listed) {
            entity->next = headroom->first;
            headroom->first = entity;
            entity->listed = true;
        }
        if (!entity->counted)
            headroom->wanted += entity_wants(headroom, entity);
        entity->counted = true;
        headroom->level = HEADROOM_FULL;
    }
    if (at_work || entity->at_work)
        entity->work_ns = now;
    entity->at_work = at_work;
}

void headroom_ahead(struct headroom *headroom, uint64_t ns, uint64_t now)
{
    if (now - headroom->interval_ns >= HEADROOM_INTERVAL_NS) {
        headroom->ahead_before_ns =
            now - headroom->interval_ns < 2 * HEADROOM_INTERVAL_NS ? headroom->ahead_ns : 0;
        headroom->ahead_ns = 0;
        headroom->interval_ns = now;
    }
    if (ns > headroom->ahead_ns)
        headroom->ahead_ns = ns;
}

enum headroom_level headroom_update(struct headroom *headroom, uint64_t now)
{
    const uint64_t ahead = headroom->ahead_ns > headroom->ahead_before_ns
                               ? headroom->ahead_ns
                               : headroom->ahead_before_ns;
    enum headroom_level level = HEADROOM_NONE;

    headroom->wanted = 0;
    for (struct headroom_entity **link = &headroom->first; *link;) {
        struct headroom_entity *entity = *link;
        if (!entity->at_work && now > entity->work_ns + HEADROOM_FORGET_NS) {
            entity->listed = entity->counted = false;
            *link = entity->next;
            continue;
        }
        enum headroom_level wanted =
            entity->at_work ? HEADROOM_FULL : entity_level(entity, ahead + HEADROOM_SLACK_NS, now);
        entity->counted = wanted == HEADROOM_FULL;
        if (entity->counted)
            headroom->wanted += entity_wants(headroom, entity);
        if (wanted > level)
            level = wanted;
        link = &entity->next;
    }
    headroom->level = level;
    return level;
}

uint32_t headroom_now(const struct headroom *headroom)
{
    const uint32_t share = headroom->share_sms ? headroom->share_sms : 1;
    uint32_t level = headroom->level;

    if (level == HEADROOM_FULL && headroom->wanted > share)
        level += (headroom->wanted - 1) / share;
    return level < HEADROOM_LEVEL_MAX ? level : HEADROOM_LEVEL_MAX;
}

void headroom_remove(struct headroom *headroom, struct headroom_entity *entity)
{
    for (struct headroom_entity **link = &headroom->first; *link; link = &(*link)->next) {
        if (*link == entity) {
            *link = entity->next;
            break;
        }
    }
    *entity = (struct headroom_entity){0};
}
