/*
 * sm_time.c - see sm_time.h. Arithmetic on what the dispatcher tells it.
 *
 * Each set of SMs that work goes to has a time of its own: work that has ended accounts for all of
 * it up to `covered`, but for the gaps. Work covers the time of all sets that its own overlaps
 * with. As all that fill more than half of the device overlap, they share what would be one time.
 */
#include "worker/sm_time.h"

#include "worker/partition.h"

#define GAPS   16u
#define PLACES 192u /* more than there are partitions at a time */

struct gap {
    uint64_t from, to;
};

struct place {
    uint32_t id; /* the partition's; 0: the whole device, or nobody's yet */
    struct sm_mask mask;
    uint64_t used; /* a counter */
    uint64_t covered;
    struct gap gap[GAPS];
    uint32_t gap_next;
};

/* The first is the whole device's: all others are part of it. */
static struct place places[PLACES];
static uint32_t place_count = 1;
static uint64_t uses;

static struct place *place_find(uint32_t id)
{
    for (uint32_t i = 1; i < place_count; i++) {
        if (places[i].id == id)
            return &places[i];
    }
    return &places[0]; /* one that has been forgotten since */
}

static struct place *place_oldest(void)
{
    struct place *oldest = &places[1];

    if (place_count < PLACES)
        return &places[place_count++];
    for (uint32_t i = 2; i < PLACES; i++) {
        if (places[i].used < oldest->used)
            oldest = &places[i];
    }
    return oldest;
}

uint32_t sm_time_place(const struct partition *partition)
{
    if (!partition || !partition->id)
        return 0;
    struct place *place = place_find(partition->id);
    if (place == &places[0]) {
        place = place_oldest();
        *place = places[0]; /* what was on the device until now may have been on these SMs */
        place->id = partition->id;
        place->mask = partition->mask;
    }
    place->used = ++uses;
    return place->id;
}

/* Kernels of other streams may go between its own, and what they had when they ended is theirs;
 * what they left, because they were not there yet, is its own again. */
static uint64_t place_take(struct place *place, uint64_t begin, uint64_t end)
{
    uint64_t took = 0;

    for (uint32_t i = 0; i < GAPS; i++) {
        struct gap *gap = &place->gap[i];
        uint64_t from = gap->from > begin ? gap->from : begin, to = gap->to < end ? gap->to : end;
        if (from >= to)
            continue;
        took += to - from;
        if (gap->from < from)
            gap->to = from;
        else
            gap->from = to;
    }
    if (end <= place->covered)
        return took;
    if (begin > place->covered) {
        place->gap[place->gap_next++ % GAPS] = (struct gap){place->covered, begin};
        place->covered = begin;
    }
    took += end - place->covered;
    place->covered = end;
    return took;
}

uint64_t sm_time_take(uint32_t id, uint64_t begin, uint64_t end)
{
    struct place *own = place_find(id);
    uint64_t took = place_take(own, begin, end);

    for (uint32_t i = 0; i < place_count; i++) {
        struct place *other = &places[i];
        if (other != own &&
            (other == &places[0] || own == &places[0] || sm_mask_meets(&other->mask, &own->mask)))
            place_take(other, begin, end);
    }
    return took;
}
