/* priority.c - see priority.h. */
#include "worker/sched/priority.h"

#include "worker/session_parts.h"

int stream_priority(uint32_t cls, int64_t priority)
{
    /* The class counts first: each class has two of the six priorities that devices have. */
    int64_t wanted = cls == GS_CLASS_LATENCY ? -4 : cls == GS_CLASS_BEST_EFFORT ? 0 : -2;

    wanted -= priority > 0;
    if (wanted > worker->info.priority_lowest)
        return worker->info.priority_lowest;
    return wanted < worker->info.priority_highest ? worker->info.priority_highest : (int)wanted;
}

uint32_t class_lower(uint32_t a, uint32_t b)
{
    if (a == GS_CLASS_BEST_EFFORT || b == GS_CLASS_BEST_EFFORT)
        return GS_CLASS_BEST_EFFORT;
    return a == GS_CLASS_NORMAL ? a : b;
}
