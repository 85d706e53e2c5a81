/*
 * sm_time.c - see sm_time.h. Arithmetic on what the dispatcher tells it.
 *
 * Each set of SMs that work goes to has a time of its own: work that has ended accounts for all of
 * it up to `covered`, but for the gaps. Work covers the time of all sets that its own overlaps
 * with. As all that fill more than half of the device overlap, they share what would be one time.
 */
#include "worker/sched/sm_time.h"

#include "worker/partition/partition.h"

#define GAPS          16u
#define TIMELINES_MAX 192u /* more than there are partitions at a time */

struct gap {
    uint64_t from, to;
};

struct timeline {
    uint32_t id; /* the partition's; 0: the whole device, or nobody's yet */
    struct sm_mask mask;
    uint64_t used; /* a counter */
    uint64_t covered;
    struct gap gap[GAPS];
    uint32_t gap_next;
};

/* The first is the whole device's: all others are part of it. */
static struct timeline timelines[TIMELINES_MAX];
static uint32_t timeline_count = 1;
static uint64_t uses;

static struct timeline *timeline_find(uint32_t id)
{
    for (uint32_t i = 1; i < timeline_count; i++) {
        if (timelines[i].id == id)
            return &timelines[i];
    }
    return &timelines[0]; /* one that has been forgotten since */
}

static struct timeline *timeline_oldest(void)
{
    struct timeline *oldest = &timelines[1];

    if (timeline_count < TIMELINES_MAX)
        return &timelines[timeline_count++];
    for (uint32_t i = 2; i < TIMELINES_MAX; i++) {
        if (timelines[i].used < oldest->used)
            oldest = &timelines[i];
    }
    return oldest;
}

uint32_t sm_time_timeline(const struct partition *partition)
{
    if (!partition || !partition->id)
        return 0;
    struct timeline *timeline = timeline_find(partition->id);
    if (timeline == &timelines[0]) {
        timeline = timeline_oldest();
        *timeline = timelines[0]; /* what was on the device until now may have been on these SMs */
        timeline->id = partition->id;
        timeline->mask = partition->mask;
    }
    timeline->used = ++uses;
    return timeline->id;
}

/* Kernels of other streams may go between its own, and what they had when they ended is theirs;
 * what they left, because they were not there yet, is its own again. */
static uint64_t timeline_take(struct timeline *timeline, uint64_t begin, uint64_t end)
{
    uint64_t took = 0;

    for (uint32_t i = 0; i < GAPS; i++) {
        struct gap *gap = &timeline->gap[i];
        uint64_t from = gap->from > begin ? gap->from : begin, to = gap->to < end ? gap->to : end;
        if (from >= to)
            continue;
        took += to - from;
        if (gap->from < from)
            gap->to = from;
        else
            gap->from = to;
    }
    if (end <= timeline->covered)
        return took;
    if (begin > timeline->covered) {
        timeline->gap[timeline->gap_next++ % GAPS] = (struct gap){timeline->covered, begin};
        timeline->covered = begin;
    }
    took += end - timeline->covered;
    timeline->covered = end;
    return took;
}

uint64_t sm_time_take(uint32_t id, uint64_t begin, uint64_t end)
{
    struct timeline *own = timeline_find(id);
    uint64_t took = timeline_take(own, begin, end);

    for (uint32_t i = 0; i < timeline_count; i++) {
        struct timeline *other = &timelines[i];
        if (other != own && (other == &timelines[0] || own == &timelines[0] ||
                             sm_mask_meets(&other->mask, &own->mask)))
            timeline_take(other, begin, end);
    }
    return took;
}
