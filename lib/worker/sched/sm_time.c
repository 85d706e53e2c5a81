/*
 * sm_time.c - see sm_time.h. This is arithmetic on the times that the caller reports.
 *
 * Each set of SMs that work uses has a timeline. All time before `covered`, except for the gaps, is
 * accounted for by ended work. Work covers its time on all timelines whose SMs overlap with its
 * own. Any two launches that each fill more than half of the device overlap, so they share their
 * time as if they had one timeline.
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
    uint64_t used; /* the value of `uses` when it was last used */
    uint64_t covered;
    struct gap gap[GAPS];
    uint32_t gap_next;
};

/* The first timeline is that of the whole device, which includes all other sets of SMs. */
static struct timeline timelines[TIMELINES_MAX];
static uint32_t timeline_count = 1;
static uint64_t uses;

static struct timeline *timeline_find(uint32_t id)
{
    for (uint32_t i = 1; i < timeline_count; i++) {
        if (timelines[i].id == id)
            return &timelines[i];
    }
    return &timelines[0]; /* the timeline has been reused for other SMs meanwhile */
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
        /* work that was on the device until now may have used these SMs */
        *timeline = timelines[0];
        timeline->id = partition->id;
        timeline->mask = partition->mask;
    }
    timeline->used = ++uses;
    return timeline->id;
}

/* Takes the time from `begin` to `end` that is not accounted for yet, and returns it. Kernels of
 * other streams may run in between: the time that they were given when they ended is theirs, and
 * the time that they left, because they had not been issued yet, remains for this work. */
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
