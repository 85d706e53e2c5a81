/*
 * placer.c - see placer.h.
 *
 * Sessions are placed in this order: exclusive sessions keep, or give up, what they have; exclusive
 * sessions that need more get it; shared sessions that can stay stay; the other shared sessions
 * follow. Each choice depends only on the number of capped sessions of each group and on the users
 * of each set, so the result depends only on the arguments.
 */
#include "server/placer/placer.h"
#include "server/placer/placer_sets.h"

/* A session that fits nowhere else counts as LOAD_BOUNDED capped sessions of a group, since taking
 * its last SMs would be refused. */
#define LOAD_BOUNDED 4096u

struct placing {
    const struct placer_device *device;
    const struct sm_mask *space;
    struct placer_session *session;
    uint32_t count, asker;
    uint32_t load[PLACER_GROUPS_MAX];
    struct sm_mask taken; /* SMs of exclusive sessions; known once these are placed */
    struct placer_sets sets;
    char *text;
};

static void load_add(const struct placer_device *device, uint32_t *load, const struct sm_mask *mask,
                     uint32_t amount)
{
    for (uint32_t g = 0; g < device->group_count; g++) {
        if (sm_mask_meets(&device->group[g], mask))
            load[g] += amount;
    }
}

/* ---- Who has what ---------------------------------------------------------------------------- */

/* Returns whether an exclusive session is stuck. Such a session gives up the SMs that it has shared
 * so far at once, except those in its new place. If none of them is in its new place, it is stuck:
 * it gives up nothing before it has its new place. */
static bool session_stuck(const struct placer_session *s)
{
    return s->exclusive && !sm_mask_meets(&s->next, &s->sure);
}

/* Returns the SMs that others must not get because of this session, once it is placed. A session
 * that only gives up SMs does so at once, so these are free; a session that moves may have to wait
 * for its new place. to_exclusive: the others want exclusive SMs, and would have to wait until a
 * stuck session has left them. */
static struct sm_mask session_takes(const struct placer_session *s, bool to_exclusive)
{
    struct sm_mask takes = s->exclusive ? s->next : (struct sm_mask){{0}};

    if (!sm_mask_within(&s->next, &s->sure))
        takes = sm_mask_or(takes, s->held_exclusive);
    if (to_exclusive && session_stuck(s))
        takes = sm_mask_or(takes, s->held);
    return takes;
}

/* Returns the same before the session is placed, when none of its SMs is free yet. */
static struct sm_mask session_keeps(const struct placer_session *s)
{
    return s->exclusive && s->was_exclusive ? sm_mask_or(s->mask, s->held_exclusive)
                                            : s->held_exclusive;
}

/* Returns the SMs that all but one session take. placed: exclusive sessions before that index are
 * placed. */
static struct sm_mask others_take(const struct placing *p, uint32_t self, uint32_t placed)
{
    bool to_exclusive = self < p->count && p->session[self].exclusive;
    struct sm_mask taken = {{0}};

    for (uint32_t i = 0; i < p->count; i++) {
        const struct placer_session *s = &p->session[i];

        if (i != self && (s->exclusive || s->was_exclusive || !sm_mask_empty(&s->held_exclusive)))
            taken = sm_mask_or(taken, i < placed && s->exclusive ? session_takes(s, to_exclusive)
                                                                 : session_keeps(s));
    }
    return taken;
}

static struct sm_mask session_room(const struct placing *p, const struct placer_session *s)
{
    return sm_mask_and(p->space[s->space], s->within);
}

/* ---- Exclusive sessions ---------------------------------------------------------------------- */

static uint32_t exclusive_wants(const struct placer_session *s)
{
    uint32_t bound = sm_mask_count(&s->within);

    return s->sms && s->sms < bound ? s->sms : bound;
}

static void exclusive_keep(struct placing *p, uint32_t i)
{
    struct placer_session *s = &p->session[i];
    struct sm_mask room = sm_mask_minus(session_room(p, s), others_take(p, i, i));
    struct sm_mask kept = sm_mask_and(s->mask, room), surely = sm_mask_and(kept, s->sure);
    uint32_t wants = exclusive_wants(s);

    s->next = kept;
    if (s->leaving)
        return;
    /* SMs that the session surely keeps come first, since without any of them it would be stuck. */
    s->next = placer_mask_trim(p->device, surely, wants, p->load);
    s->next = placer_mask_grow(p->device, s->next, kept, wants, p->load, false);
}

static gs_status exclusive_place(struct placing *p, uint32_t i)
{
    struct placer_session *s = &p->session[i];
    struct sm_mask room = sm_mask_minus(session_room(p, s), others_take(p, i, p->count));
    uint32_t wants = exclusive_wants(s), had;

    /* Two sessions that are stuck must not wait for each other. */
    if (session_stuck(s))
        s->next = sm_mask_and(s->next, room);
    s->next = placer_mask_grow(p->device, s->next, room, wants, p->load, false);
    had = sm_mask_count(&s->mask);
    /* A session without a new request that cannot grow keeps what it has. */
    if (sm_mask_count(&s->next) >= (i != p->asker && had && had < wants ? had : wants))
        return GS_OK;
    if (i == p->asker || had == 0)
        return refusal(p->text, GS_ERR_LIMIT,
                       "%u SMs for itself alone: %u of the device's %u are free", wants,
                       sm_mask_count(&room), p->device->sm_count);
    return refusal(p->text, GS_ERR_LIMIT,
                   "session %llu, which is to have %u SMs for itself alone, would be left with %u",
                   (unsigned long long)s->id, wants, sm_mask_count(&s->next));
}

/* ---- Shared sessions ------------------------------------------------------------------------- */

/* Refuses, because a session that has SMs would lose the last of them. */
static gs_status shared_bereft(const struct placing *p, uint32_t i)
{
    const struct placer_session *asker = p->asker < p->count ? &p->session[p->asker] : NULL;
    unsigned long long id = p->session[i].id;
    struct sm_mask room;

    if (!asker || !asker->exclusive)
        return refusal(p->text, GS_ERR_LIMIT, "session %llu would be left without SMs", id);
    room = sm_mask_minus(session_room(p, asker), others_take(p, p->asker, p->count));
    return refusal(
        p->text, GS_ERR_LIMIT,
        "%u SMs for itself alone: %u of the device's %u are free, but session %llu would "
        "be left without SMs",
        exclusive_wants(asker), sm_mask_count(&room), p->device->sm_count, id);
}

static gs_status shared_refuse(const struct placing *p, uint32_t i, const struct sm_mask *room)
{
    const struct placer_session *s = &p->session[i];
    struct sm_mask lost = sm_mask_minus(s->within, *room);
    char list[48];

    if (i != p->asker && !sm_mask_empty(&s->mask))
        return shared_bereft(p, i);
    if (s->space && sm_mask_empty(&p->space[s->space]))
        return refusal(p->text, GS_ERR_LIMIT, "the reservation has no SMs: it did not fit");
    if (sm_mask_empty(&p->space[s->space]))
        return refusal(p->text, GS_ERR_LIMIT, "all %u SMs of the device are reserved",
                       p->device->sm_count);
    if (s->bounded)
        return refusal(p->text, GS_ERR_LIMIT,
                       s->space
                           ? "SMs %s are outside of the reservation, or another session's alone"
                           : "SMs %s are reserved, or another session's alone",
                       sm_mask_print(list, sizeof(list), &lost));
    return refusal(p->text, GS_ERR_LIMIT,
                   "none of the device's %u SMs is free: all are reserved, or a session's alone",
                   p->device->sm_count);
}

static bool session_alone(const struct placer_session *s)
{
    return !sm_mask_empty(&s->held_exclusive);
}

static struct sm_mask shared_room(const struct placing *p, uint32_t i)
{
    const struct placer_session *s = &p->session[i];
    struct sm_mask taken = session_alone(s) ? others_take(p, i, p->count) : p->taken;

    return sm_mask_minus(session_room(p, s), taken);
}

/* Returns whether the session can choose among sets. */
static bool shared_chooses(const struct placer_session *s, const struct sm_mask *room)
{
    return s->sms && s->sms < sm_mask_count(room);
}

static void shared_take(struct placing *p, uint32_t i, struct sm_mask mask)
{
    struct placer_session *s = &p->session[i];

    s->next = mask;
    placer_sets_join(&p->sets, &mask, s->space, s->sms != 0,
                     s->bounded || s->sms == 0 || session_alone(s));
}

static struct sm_mask shared_elsewhere(struct placing *p, uint32_t i)
{
    struct sm_mask room = shared_room(p, i);

    return placer_sets_choose(&p->sets, &room, p->session[i].sms, false);
}

/* Moves the users of a retired set to other sets. Returns false if a user cannot move; all are then
 * back in the set, which is not retired again. */
static bool set_leave(struct placing *p, const struct sm_mask *former)
{
    bool stays = false;

    for (uint32_t i = 0; i < p->count && !stays; i++) {
        struct sm_mask mask;

        if (p->session[i].exclusive || !sm_mask_equal(&p->session[i].next, former))
            continue;
        mask = shared_elsewhere(p, i);
        stays = sm_mask_empty(&mask);
    }
    for (uint32_t i = 0; i < p->count; i++) {
        struct placer_session *s = &p->session[i];

        if (s->exclusive || !sm_mask_equal(&s->next, former))
            continue;
        if (stays)
            placer_sets_join(&p->sets, former, s->space, s->sms != 0, true);
        else
            shared_take(p, i, shared_elsewhere(p, i));
    }
    return !stays;
}

/* Removes one set by moving its users to others of the same size. Returns false if no set can be
 * removed. */
static bool sets_merge(struct placing *p)
{
    struct sm_mask former;

    while (placer_sets_retire(&p->sets, &former)) {
        if (set_leave(p, &former))
            return true;
    }
    return false;
}

static bool sets_room(struct placing *p)
{
    return p->sets.used < LINK_SETS_MAX || sets_merge(p);
}

static gs_status sets_refuse(const struct placing *p)
{
    return refusal(p->text, GS_ERR_LIMIT,
                   "%u different sets of SMs are in use, as many as there can be", LINK_SETS_MAX);
}

/* Keeps a shared session where it is, if possible. Most sessions stay, so they are placed first.
 * SMs that others are giving up may be kept. */
static void shared_keep(struct placing *p, uint32_t i)
{
    struct placer_session *s = &p->session[i];
    struct sm_mask room = shared_room(p, i), kept = sm_mask_and(s->mask, room);
    uint32_t has = sm_mask_count(&kept);
    bool stays = shared_chooses(s, &room)
                     ? !session_alone(s) && has >= s->sms && has < s->sms + p->device->granularity
                     : has && sm_mask_equal(&room, &s->mask);

    s->next = (struct sm_mask){{0}};
    if (stays && !(s->whole && !sm_mask_within(&s->within, &room)))
        shared_take(p, i, kept);
}

static gs_status shared_choose(struct placing *p, uint32_t i, const struct sm_mask *room,
                               const struct sm_mask *kept)
{
    struct placer_session *s = &p->session[i];
    struct sm_mask mask = placer_sets_choose(&p->sets, room, s->sms, p->sets.used < LINK_SETS_MAX);

    if (sm_mask_empty(&mask) && sets_room(p))
        mask = placer_sets_choose(&p->sets, room, s->sms, true);
    if (sm_mask_empty(&mask) && i != p->asker)
        mask = *kept;
    if (sm_mask_empty(&mask))
        return sets_refuse(p);
    shared_take(p, i, mask);
    return GS_OK;
}

static gs_status shared_place(struct placing *p, uint32_t i)
{
    struct placer_session *s = &p->session[i];
    struct sm_mask room = shared_room(p, i), kept = sm_mask_and(s->mask, room);

    if (sm_mask_empty(&room) || (s->whole && !sm_mask_within(&s->within, &room)))
        return shared_refuse(p, i, &room);
    if (shared_chooses(s, &room))
        return shared_choose(p, i, &room, &kept);
    if (i == p->asker && !placer_sets_has(&p->sets, &room) && !sets_room(p))
        return sets_refuse(p);
    shared_take(p, i, room);
    return GS_OK;
}

/* ---- All ------------------------------------------------------------------------------------- */

/* Counts the load of shared sessions on each group, before any session is placed. */
static void load_count(struct placing *p)
{
    for (uint32_t i = 0; i < p->count; i++) {
        const struct placer_session *s = &p->session[i];

        if (s->exclusive)
            continue;
        if (s->bounded) {
            struct sm_mask room = session_room(p, s);
            load_add(p->device, p->load, &room, LOAD_BOUNDED);
        }
        if (s->sms)
            load_add(p->device, p->load, &s->mask, 1);
    }
}

/* Places exclusive sessions, to which shared ones give way. */
static gs_status exclusives_place(struct placing *p)
{
    gs_status status = GS_OK;
    uint32_t exclusive = 0;

    for (uint32_t i = 0; i < p->count; i++)
        exclusive += p->session[i].exclusive;
    if (exclusive == 0)
        return GS_OK;
    load_count(p);
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->session[i].exclusive)
            exclusive_keep(p, i);
    }
    for (uint32_t i = 0; status == GS_OK && i < p->count; i++) {
        if (p->session[i].exclusive && !p->session[i].leaving)
            status = exclusive_place(p, i);
    }
    return status;
}

/* Merges sets until a worker can hold them. Refuses an exclusive request that makes too many
 * sets. */
static gs_status sets_fit(struct placing *p)
{
    const struct placer_session *asker = p->asker < p->count ? &p->session[p->asker] : NULL;

    while (p->sets.used > LINK_SETS_MAX && sets_merge(p))
        ;
    if (p->sets.used > LINK_SETS_MAX && asker && asker->exclusive &&
        !sm_mask_equal(&asker->next, &asker->mask))
        return sets_refuse(p);
    return GS_OK;
}

/* Begins the table of sets with those of exclusive sessions, which are placed already. */
static gs_status sets_begin(struct placing *p)
{
    placer_sets_init(&p->sets, p->device);
    for (uint32_t i = 0; i < p->count; i++) {
        const struct placer_session *s = &p->session[i];

        if (s->exclusive)
            placer_sets_join(&p->sets, &s->next, s->space, false, true);
        else
            shared_keep(p, i);
    }
    return sets_fit(p);
}

gs_status placer_place(const struct placer_device *device, const struct sm_mask *space,
                       struct placer_session *session, uint32_t count, uint32_t asker,
                       char text[REFUSAL_TEXT_MAX])
{
    struct placing p = {.device = device,
                        .space = space,
                        .session = session,
                        .count = count,
                        .asker = asker,
                        .text = text};
    gs_status status;

    status = exclusives_place(&p);
    if (status != GS_OK)
        return status;
    p.taken = others_take(&p, count, count);
    status = sets_begin(&p);
    for (uint32_t i = 0; status == GS_OK && i < count; i++) {
        if (!session[i].exclusive && sm_mask_empty(&session[i].next))
            status = shared_place(&p, i);
    }
    /* A session that had the whole device, which is no set, may now have all but some of its SMs,
     * which is one. */
    return status == GS_OK ? sets_fit(&p) : status;
}
