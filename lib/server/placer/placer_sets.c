/*
 * placer_sets.c - see placer_sets.h.
 *
 * A new set is an *arc*: neighbours in the circle of the groups that there is room on. Arcs begin
 * at multiples of the greatest common divisor of their own length and the circle's (anywhere where
 * groups differ in size). So the arcs of one length tile the device if that is possible, and
 * otherwise overlap evenly; and sessions with equal requests get the same arcs, whatever came
 * before.
 */
#include "server/placer/placer_sets.h"

/* ---- The table ------------------------------------------------------------------------------- */

/* Returns the mask's position in the index, or the free position for it. Half of the index is
 * always free. */
static uint32_t index_place(const struct placer_sets *sets, const struct sm_mask *mask)
{
    uint64_t hash = 0;

    for (unsigned i = 0; i < GS_SM_MASK_WORDS; i++)
        hash = (hash ^ mask->word[i]) * UINT64_C(0x9E3779B97F4A7C15);
    for (uint32_t at = (uint32_t)(hash >> 32);; at++) {
        uint32_t number = sets->index[at % PLACER_SETS_INDEX];

        if (number == 0 || sm_mask_equal(&sets->set[number - 1].mask, mask))
            return at % PLACER_SETS_INDEX;
    }
}

static struct placer_set *set_make(struct placer_sets *sets, const struct sm_mask *mask)
{
    struct placer_set *set = &sets->set[sets->count++];

    *set = (struct placer_set){.mask = *mask, .sms = sm_mask_count(mask)};
    for (uint32_t g = 0; g < sets->device->group_count; g++) {
        if (sm_mask_meets(&sets->device->group[g], mask))
            set->group[set->groups++] = (uint8_t)g;
    }
    return set;
}

/* Adds load for a mask that is not in the table. */
static void load_more(struct placer_sets *sets, const struct sm_mask *mask)
{
    for (uint32_t g = 0; g < sets->device->group_count; g++)
        sets->load[g] += sm_mask_meets(&sets->device->group[g], mask);
}

static void set_load_add(struct placer_sets *sets, const struct placer_set *set, uint32_t amount)
{
    for (uint32_t i = 0; i < set->groups; i++)
        sets->load[set->group[i]] += amount;
}

void placer_sets_init(struct placer_sets *sets, const struct placer_device *device)
{
    sets->device = device;
    sets->count = sets->used = 0;
    sets->circle.wanted = 0;
    memset(sets->load, 0, sizeof(sets->load));
    memset(sets->index, 0, sizeof(sets->index));
}

void placer_sets_join(struct placer_sets *sets, const struct sm_mask *mask, uint32_t space,
                      bool capped, bool pinned)
{
    uint32_t place = index_place(sets, mask);
    struct placer_set *set;

    /* A full table has far more sets than a worker holds, so the plan will be refused. */
    if (sm_mask_empty(mask) || sm_mask_equal(mask, &sets->device->all) ||
        (sets->index[place] == 0 && sets->count == PLACER_SETS_KNOWN)) {
        if (capped)
            load_more(sets, mask);
        return;
    }
    if (sets->index[place] == 0) {
        set = set_make(sets, mask);
        sets->index[place] = (uint16_t)sets->count;
    } else {
        set = &sets->set[sets->index[place] - 1];
    }
    sets->used += set->users == 0;
    set->space = space;
    set->users++;
    set->pinned |= pinned;
    if (capped) {
        set->capped++;
        set_load_add(sets, set, 1);
    }
}

bool placer_sets_has(const struct placer_sets *sets, const struct sm_mask *mask)
{
    uint32_t number = sets->index[index_place(sets, mask)];

    return (number && sets->set[number - 1].users) || sm_mask_equal(mask, &sets->device->all);
}

/* Counts the sets that would serve this set's users as well. */
static uint32_t sets_alike(const struct placer_sets *sets, const struct placer_set *set)
{
    uint32_t alike = 0;

    for (uint32_t i = 0; i < sets->count; i++) {
        const struct placer_set *other = &sets->set[i];
        alike +=
            other->users && !other->pinned && other->sms == set->sms && other->space == set->space;
    }
    return alike;
}

bool placer_sets_retire(struct placer_sets *sets, struct sm_mask *mask)
{
    struct placer_set *best = NULL;
    uint32_t most = 1;

    for (uint32_t i = 0; i < sets->count; i++) {
        struct placer_set *set = &sets->set[i];
        uint32_t alike = set->users && !set->pinned ? sets_alike(sets, set) : 0;

        if (alike > most || (best && alike == most && set->users < best->users)) {
            most = alike;
            best = set;
        }
    }
    if (!best)
        return false;
    set_load_add(sets, best, (uint32_t)-best->capped);
    best->users = best->capped = 0;
    sets->used--;
    *mask = best->mask;
    return true;
}

static struct placer_set *set_least(struct placer_sets *sets, const struct sm_mask *room,
                                    uint32_t sms, uint32_t *least)
{
    struct placer_set *best = NULL;

    for (uint32_t i = 0; i < sets->count; i++) {
        struct placer_set *set = &sets->set[i];
        uint32_t sum = 0;

        if (set->users == 0 || set->sms != sms || !sm_mask_within(&set->mask, room))
            continue;
        for (uint32_t g = 0; g < set->groups; g++)
            sum += sets->load[set->group[g]];
        if (!best || sum < *least) {
            best = set;
            *least = sum;
        }
    }
    return best;
}

/* ---- Arcs ------------------------------------------------------------------------------------ */

static uint32_t circle_kind(const struct placer_circle *circle, uint32_t size)
{
    uint32_t kind = 0;

    while (kind < circle->kinds && circle->size[kind] != size)
        kind++;
    return kind;
}

/* Returns the kind of group to take next if `missing` SMs are missing: the one with the smallest
 * overshoot, then the largest; circle->kinds: none. */
static uint32_t kind_next(const struct placer_circle *circle, const uint16_t *there,
                          uint32_t missing)
{
    uint32_t best = circle->kinds, best_over = 0;

    for (uint32_t kind = 0; kind < circle->kinds; kind++) {
        uint32_t size = circle->size[kind], over = size > missing ? size - missing : 0;

        if (circle->quota[kind] == there[kind])
            continue;
        if (best == circle->kinds || over < best_over ||
            (over == best_over && size > circle->size[best])) {
            best = kind;
            best_over = over;
        }
    }
    return best;
}

/* Sets the number of groups of each kind in an arc, out of those in `there`, so that the arc has as
 * few SMs as suffice. */
static void circle_quota(struct placer_circle *circle, const uint16_t *there)
{
    while (circle->sms < circle->wanted) {
        uint32_t kind = kind_next(circle, there, circle->wanted - circle->sms);

        if (kind == circle->kinds)
            break;
        circle->quota[kind]++;
        circle->sms += circle->size[kind];
    }
    /* The last group may have made an earlier one unnecessary. */
    for (uint32_t kind = 0; kind < circle->kinds; kind++) {
        while (circle->quota[kind] && circle->sms - circle->size[kind] >= circle->wanted) {
            circle->quota[kind]--;
            circle->sms -= circle->size[kind];
        }
    }
}

static void circle_make(struct placer_circle *circle, const struct placer_device *device,
                        const struct sm_mask *room, uint32_t sms)
{
    uint16_t there[PLACER_GROUPS_MAX] = {0};

    if (circle->wanted == sms && sm_mask_equal(&circle->room, room))
        return;
    *circle = (struct placer_circle){.room = *room, .wanted = sms};
    for (uint32_t g = 0; g < device->group_count; g++) {
        uint32_t kind = circle_kind(circle, device->group_sms[g]);

        if (!sm_mask_within(&device->group[g], room))
            continue;
        if (kind == circle->kinds)
            circle->size[circle->kinds++] = device->group_sms[g];
        there[kind]++;
    }
    circle_quota(circle, there);
    for (uint32_t g = 0; g < device->group_count; g++) {
        uint32_t kind = circle_kind(circle, device->group_sms[g]);

        if (kind < circle->kinds && circle->quota[kind] &&
            sm_mask_within(&device->group[g], room)) {
            circle->kind[circle->groups] = (uint8_t)kind;
            circle->group[circle->groups++] = (uint8_t)g;
        }
    }
    for (uint32_t kind = 0; kind < circle->kinds; kind++)
        circle->arc += circle->quota[kind];
}

/* Adds the load of an arc's groups of one kind to the load of each arc. */
static void arcs_load(const struct placer_circle *circle, uint32_t kind, const uint32_t *load,
                      uint32_t *sum)
{
    uint32_t before[PLACER_GROUPS_MAX + 1] = {0}, count = 0, first = 0;

    for (uint32_t i = 0; i < circle->groups; i++) {
        if (circle->kind[i] == kind) {
            before[count + 1] = before[count] + load[circle->group[i]];
            count++;
        }
    }
    for (uint32_t start = 0; start < circle->groups; start++) {
        uint32_t end = first + circle->quota[kind];

        sum[start] +=
            (end <= count ? before[end] : before[count] + before[end - count]) - before[first];
        first += circle->kind[start] == kind;
    }
}

static struct sm_mask arc_mask(const struct placer_circle *circle,
                               const struct placer_device *device, uint32_t start)
{
    uint16_t missing[PLACER_GROUPS_MAX];
    struct sm_mask mask = {{0}};

    memcpy(missing, circle->quota, sizeof(missing));
    for (uint32_t i = 0; i < circle->groups; i++) {
        uint32_t at = (start + i) % circle->groups;

        if (missing[circle->kind[at]]) {
            missing[circle->kind[at]]--;
            mask = sm_mask_or(mask, device->group[circle->group[at]]);
        }
    }
    return mask;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b) {
        uint32_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint32_t arc_least(const struct placer_circle *circle, const uint32_t *load, uint32_t *least)
{
    uint32_t sum[PLACER_GROUPS_MAX] = {0}, mixed = 0, best = 0, step;

    for (uint32_t kind = 0; kind < circle->kinds; kind++) {
        arcs_load(circle, kind, load, sum);
        mixed += circle->quota[kind] != 0;
    }
    step = mixed > 1 ? 1 : common_divisor(circle->groups, circle->arc);
    for (uint32_t start = 0; start < circle->groups; start += step) {
        if (sum[start] < sum[best])
            best = start;
    }
    *least = sum[best];
    return best;
}

struct sm_mask placer_sets_choose(struct placer_sets *sets, const struct sm_mask *room,
                                  uint32_t sms, bool may_add)
{
    struct placer_circle *circle = &sets->circle;
    uint32_t set_sum = 0, arc_sum, start, worth;
    const struct placer_set *set;

    circle_make(circle, sets->device, room, sms);
    set = set_least(sets, room, circle->sms, &set_sum);
    if (!may_add)
        return set ? set->mask : (struct sm_mask){{0}};
    start = arc_least(circle, sets->load, &arc_sum);
    worth = circle->arc * sets->used / (2 * LINK_SETS_MAX);
    if (set && set_sum <= arc_sum + worth)
        return set->mask;
    return arc_mask(circle, sets->device, start);
}
