/*
 * sm_time.c - see sm_time.h. Arithmetic on the times that the caller reports.
 *
 * Each set of SMs that work goes to has a timeline: ended work accounts for all of its time up to
 * `covered`, except for the gaps. Work covers time on all timelines whose SMs overlap with its own.
 * All work that fills more than half of the device overlaps, so it shares what would be one
 * timeline.
 */
#include "worker/sched/sm_time.h"

#include "worker/partition/partition.h"

#define GAPS          16u
#define TIMELINES_MAX 192u /* more than there are partitions in use at a time */

struct gap {
    uint64_t from, to;
};

struct timeline {
    uint32_t id; /* the partition's id; 0: the whole device, or an unused timeline */
    struct sm_mask mask;
    uint64_t used; /* when it was last used, by the counter `uses` */
    uint64_t covered;
    struct gap gap[GAPS];
    uint32_t gap_next;
};

/* The first timeline is the whole device's: all other sets of SMs are part of it. */
static struct timeline timelines[TIMELINES_MAX];
static uint32_t timeline_count = 1;
static uint64_t uses;

static struct timeline *timeline_find(uint32_t id)
{
    for (uint32_t i = 1; i < timeline_count; i++) {
        if (timelines[i].id == id)
            return &timelines[i];
    }
    return &timelines[0]; /* the timeline has been forgotten since */
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
        *timeline = timelines[0]; /* work on the device until now may have been on these SMs */
        timeline->id = partition->id;
        timeline->mask = partition->mask;
    }
    timeline->used = ++uses;
    return timeline->id;
}

/* Takes the time from `begin` to `end` that is not accounted for. Kernels of other streams may run
 * in between, and the time that they had when they ended is theirs; the time that they left,
 * because they had not been issued yet, stays for this work. */
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
