/*
 * lines.c - sessions whose SMs overlap wait for the device in one line, directly or because others
 * overlap with both; those that share none have nothing to wait for, and are in lines of their own.
 *
 * What counts are the SMs granted, whatever part of them a launch uses, of sessions that have work:
 * that are polled, or have something in flight or held back. An idle one is in nobody's way.
 *
 * As long as nobody has less than the whole device there is one line, and nothing to be found. Else
 * the lines are found anew when a session begins or stops to have work or gets other SMs, once
 * before the next turn. A line's virtual time never goes back, also when it is used again, so that
 * what an idle session owes (sched_entity.vtime) fades meanwhile. Who comes from another line is
 * ahead of the new one or behind it by as much as it was there.
 */
#include "worker/lines.h"

#define NONE UINT32_MAX

/* Sessions that share SMs. */
struct set {
    struct sm_mask mask; /* of all of them; empty: they are part of another set */
    uint32_t into;       /* that one; itself */
    uint32_t line;
    struct sched sched; /* what the line is to be */
};

struct lines lines = {.used = 1};

static struct {
    struct session *first; /* of those that may have work, by member.next */
    bool changed;
    bool apart;        /* somebody had less than the whole device when lines were found last */
    uint32_t together; /* else: the line that all are in */
    bool weights_off;
} l;

void lines_enter(struct session *session)
{
    if (session->member.entered)
        return;
    session->member.entered = true;
    session->member.next = l.first;
    l.first = session;
    if (l.apart || session->grant.partition || session->member.line != l.together)
        l.changed = true;
}

void lines_cool(void)
{
    if (l.apart)
        l.changed = true;
}

void lines_moved(void)
{
    l.changed = true;
}

void lines_forget(struct session *session)
{
    for (struct session **at = &l.first; *at; at = &(*at)->member.next) {
        if (*at == session) {
            *at = session->member.next;
            session->member.entered = false;
            lines_cool();
            return;
        }
    }
}

/* On the way its virtual time is how far it is ahead. */
void lines_part(struct session *session)
{
    sched_part(line_of(session), &session->sched);
    session->sched.vtime -= line_of(session)->vnow;
}

void lines_join(struct session *session, uint32_t lane)
{
    session->member.line = lane ? LINES_MAX + lane : l.together;
    session->sched.vtime += line_of(session)->vnow;
    sched_join(line_of(session), &session->sched);
}

void lines_weights(bool on)
{
    l.weights_off = !on;
    for (uint32_t i = 0; i < LINES_MAX; i++)
        lines.line[i].weights_off = !on;
}

/* ---- Finding them ---------------------------------------------------------------------------- */

static struct set sets[LINES_MAX];
static uint32_t set_count;
static uint32_t set_of_line[LINES_MAX]; /* which its first session has come to */

static uint32_t set_root(uint32_t set)
{
    while (sets[set].into != set)
        set = sets[set].into;
    return set;
}

static uint32_t set_new(void)
{
    if (set_count == LINES_MAX)
        return set_root(0);
    sets[set_count] = (struct set){.into = set_count, .line = NONE};
    sets[set_count].sched.weights_off = l.weights_off;
    return set_count++;
}

/* The set of those that have some of these SMs, which are its own from now on; several become one.
 * likely: where to look first. */
static uint32_t set_find(const struct sm_mask *mask, uint32_t likely)
{
    uint32_t found = NONE;

    if (likely != NONE && sm_mask_within(mask, &sets[likely].mask))
        return likely;
    for (uint32_t i = 0; i < set_count; i++) {
        if (!sm_mask_meets(mask, &sets[i].mask))
            continue;
        if (found == NONE) {
            found = i;
            continue;
        }
        sets[found].mask = sm_mask_or(sets[found].mask, sets[i].mask);
        sets[i].mask = (struct sm_mask){{0}};
        sets[i].into = found;
    }
    if (found == NONE)
        found = set_new();
    sets[found].mask = sm_mask_or(sets[found].mask, *mask);
    return found;
}

/* Those that have no work any more leave the list; the others come to sets. */
static void sets_find(void)
{
    const struct sm_mask all = sm_mask_first(worker.info.sm_count);
    struct session **at = &l.first, *session;

    l.apart = false;
    set_count = 0;
    for (uint32_t i = 0; i < LINES_MAX; i++)
        set_of_line[i] = NONE;
    while ((session = *at)) {
        if (!session->hot && !session->sched.inflight && !session->sched.waiting) {
            *at = session->member.next;
            session->member.entered = false;
            continue;
        }
        const struct sm_mask mask = session->grant.partition ? session->grant.mask : all;
        uint32_t *likely = &set_of_line[session->member.line];
        session->member.set = set_find(&mask, *likely);
        if (*likely == NONE)
            *likely = session->member.set;
        l.apart = l.apart || session->grant.partition;
        at = &session->member.next;
    }
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Each set stays in a line that one of its sessions was in, if that is not another's. */
static void sets_place(void)
{
    bool taken[LINES_MAX] = {false};

    for (struct session *session = l.first; session; session = session->member.next) {
        uint32_t line = session->member.line;
        struct set *set = &sets[set_root(session->member.set)];
        set->sched.vnow = later(set->sched.vnow, lines.line[line].vnow);
        set->sched.done_ns = later(set->sched.done_ns, lines.line[line].done_ns);
        if (set->line == NONE && !taken[line]) {
            set->line = line;
            taken[line] = true;
        }
    }
    for (uint32_t i = 0, line = 0; i < set_count; i++) {
        if (sets[i].into != i || sets[i].line != NONE)
            continue;
        while (taken[line])
            line++;
        sets[i].line = line;
        taken[line] = true;
        sets[i].sched.vnow = later(sets[i].sched.vnow, lines.line[line].vnow);
    }
}

void lines_look(void)
{
    if (!l.changed)
        return;
    l.changed = false;
    sets_find();
    sets_place();
    for (struct session *session = l.first; session; session = session->member.next) {
        struct set *set = &sets[set_root(session->member.set)];
        session->sched.vtime += set->sched.vnow - line_of(session)->vnow;
        session->member.line = set->line;
        sched_join(&set->sched, &session->sched);
    }
    /* Nobody who is in no set has anything in flight. */
    for (uint32_t i = 0; i < LINES_MAX; i++)
        lines.line[i] = (struct sched){.vnow = lines.line[i].vnow, .weights_off = l.weights_off};
    lines.used = 1;
    for (uint32_t i = 0; i < set_count; i++) {
        if (sets[i].into != i)
            continue;
        sets[i].sched.sms = sm_mask_count(&sets[i].mask);
        sets[i].sched.sms_all = worker.info.sm_count;
        lines.line[sets[i].line] = sets[i].sched;
        if (sets[i].line >= lines.used)
            lines.used = sets[i].line + 1;
    }
    l.together = !l.apart && set_count > 0 ? sets[0].line : 0;
}
