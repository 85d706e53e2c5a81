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
