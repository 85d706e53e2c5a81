/*
 * reserve.c - see reserve.h.
 *
 * A kernel of best effort that fills the device and is there when a latency request comes costs
 * that request up to its own length, so it is not enough to keep off from the request's begin. Two
 * things help. Where requests come at regular times, best effort keeps off all of the reserve a
 * little ahead of each: by as much as it has on the device. Where they do not, it always keeps off
 * a few SMs, on which small kernels begin at once; that costs a quarter as much (RESERVE_FEW_SHARE)
 * and so is also what is done where "a little ahead" would be more than a quarter of the time.
 *
 * A request is what a session does with pauses of at most `remain` in between. When the next one
 * begins is told by the mean period and a phase that follows each start half-way: who sends by the
 * clock has starts that stray around it, who sleeps between requests has a clock that strays.
 */
#include "worker/reserve.h"

/* ---- One session ----------------------------------------------------------------------------- */

/* All of the reserve is kept so long after its work. */
static uint64_t remain(const struct reserve_entity *entity)
{
    return entity->pause_ns && entity->pause_ns < RESERVE_LONGEST_NS ? RESERVE_LONGEST_NS
                                                                     : RESERVE_REMAIN_NS;
}

/* The mean of the last few; `of` says how few. */
static uint64_t mean_of(uint64_t mean, uint64_t last, uint64_t of)
{
    return mean ? (mean * (of - 1) + last) / of : last;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void period_begin(struct reserve_entity *entity, uint64_t period)
{
    entity->period_ns = period;
    entity->error_ns = period / 8;
    entity->met = 0;
    entity->odd = 0;
}

/* What it wants of the reserve: an SM for each block, but no more than a share. */
static uint32_t entity_wants(const struct reserve *reserve, const struct reserve_entity *entity)
{
    const uint32_t blocks =
        entity->blocks > entity->blocks_now ? entity->blocks : entity->blocks_now;

    if (reserve->share_sms == 0)
        return 1;
    return blocks && blocks < reserve->share_sms ? blocks : reserve->share_sms;
}

/* A request begins. Of periods that are far from the mean one alone says nothing: it was a pause,
 * or two requests met. */
static void request_note(struct reserve_entity *entity, uint64_t now)
{
    const uint64_t period = now - entity->start_ns;
    uint64_t phase = now;

    entity->blocks = entity->blocks_now;
    entity->blocks_now = 0;
    if (!entity->start_ns || period > RESERVE_FORGET_NS) {
        period_begin(entity, 0);
    } else if (entity->period_ns && period > entity->period_ns / 2 &&
               period < entity->period_ns * 2) {
        uint64_t error = distance(now, entity->next_ns);
        entity->error_ns = mean_of(entity->error_ns, error, 4);
        entity->period_ns = mean_of(entity->period_ns, period, 8);
        if (error < entity->period_ns / RESERVE_FEW_SHARE) {
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

/* It has work again. */
static void work_begin(struct reserve_entity *entity, uint64_t now)
{
    const uint64_t pause = now - entity->work_ns;

    if (!entity->start_ns || pause > remain(entity))
        request_note(entity, now);
    /* A long pause says no more than that it was one. */
    if (pause > RESERVE_REMAIN_NS)
        entity->pause_ns = mean_of(
            entity->pause_ns, pause < 2 * RESERVE_LONGEST_NS ? pause : 2 * RESERVE_LONGEST_NS, 8);
}

/* What its next request asks for, with best effort `lead` ahead; it has no work. */
static enum reserve_kept entity_kept(struct reserve_entity *entity, uint64_t lead, uint64_t now)
{
    const uint64_t margin = 4 * entity->error_ns + RESERVE_MARGIN_NS;

    if (now < entity->work_ns + remain(entity))
        return RESERVE_ALL;
    if (entity->met < RESERVE_MET || lead + margin > entity->period_ns / RESERVE_FEW_SHARE)
        return RESERVE_FEW;
    if (now + lead + margin < entity->next_ns)
        return RESERVE_NONE;
    if (now < entity->next_ns + margin)
        return RESERVE_ALL;
    entity->met = 0; /* it did not come */
    return RESERVE_FEW;
}

/* ---- All of them ----------------------------------------------------------------------------- */

void reserve_note(struct reserve *reserve, struct reserve_entity *entity, bool at_work,
                  uint64_t now)
{
    if (at_work) {
        if (!entity->at_work)
            work_begin(entity, now);
        if (!entity->listed) {
            entity->next = reserve->first;
            reserve->first = entity;
            entity->listed = true;
        }
        if (!entity->counted)
            reserve->wanted += entity_wants(reserve, entity);
        entity->counted = true;
        reserve->kept = RESERVE_ALL;
    }
    if (at_work || entity->at_work)
        entity->work_ns = now;
    entity->at_work = at_work;
}

void reserve_ahead(struct reserve *reserve, uint64_t ns, uint64_t now)
{
    if (now - reserve->window_ns >= RESERVE_WINDOW_NS) {
        reserve->ahead_before_ns =
            now - reserve->window_ns < 2 * RESERVE_WINDOW_NS ? reserve->ahead_ns : 0;
        reserve->ahead_ns = 0;
        reserve->window_ns = now;
    }
    if (ns > reserve->ahead_ns)
        reserve->ahead_ns = ns;
}

enum reserve_kept reserve_look(struct reserve *reserve, uint64_t now)
{
    const uint64_t ahead =
        reserve->ahead_ns > reserve->ahead_before_ns ? reserve->ahead_ns : reserve->ahead_before_ns;
    enum reserve_kept kept = RESERVE_NONE;

    reserve->wanted = 0;
    for (struct reserve_entity **link = &reserve->first; *link;) {
        struct reserve_entity *entity = *link;
        if (!entity->at_work && now > entity->work_ns + RESERVE_FORGET_NS) {
            entity->listed = entity->counted = false;
            *link = entity->next;
            continue;
        }
        enum reserve_kept wanted =
            entity->at_work ? RESERVE_ALL : entity_kept(entity, ahead + RESERVE_SLACK_NS, now);
        entity->counted = wanted == RESERVE_ALL;
        if (entity->counted)
            reserve->wanted += entity_wants(reserve, entity);
        if (wanted > kept)
            kept = wanted;
        link = &entity->next;
    }
    reserve->kept = kept;
    return kept;
}

uint32_t reserve_level(const struct reserve *reserve)
{
    const uint32_t share = reserve->share_sms ? reserve->share_sms : 1;
    uint32_t level = reserve->kept;

    if (level == RESERVE_ALL && reserve->wanted > share)
        level += (reserve->wanted - 1) / share;
    return level < RESERVE_MOST ? level : RESERVE_MOST;
}

void reserve_leave(struct reserve *reserve, struct reserve_entity *entity)
{
    for (struct reserve_entity **link = &reserve->first; *link; link = &(*link)->next) {
        if (*link == entity) {
            *link = entity->next;
            break;
        }
    }
    *entity = (struct reserve_entity){0};
}
