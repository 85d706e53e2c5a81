/* priority.c - see priority.h. */
#include "worker/sched/priority.h"

#include "worker/sched/class_traits.h"
#include "worker/session_parts.h"

int stream_priority(uint32_t cls, int64_t priority)
{
    const int wanted = class_traits(cls).priority - (priority > 0);

    if (wanted > worker->info.priority_lowest)
        return worker->info.priority_lowest;
    return wanted < worker->info.priority_highest ? worker->info.priority_highest : wanted;
}
