/* qos.h - how a class and a priority become one stream priority. Both sides use it: the client for
 * the streams that it asks for, the worker for a session's default stream. */
#ifndef GS_COMMON_QOS_H
#define GS_COMMON_QOS_H

#include <stdint.h>

#include "gshare.h"

/* What a class is worth in steps of priority. */
#define QOS_CLASS_STEPS 2

/* 0 normal, higher runs earlier; the worker clamps it to the device's range. */
static inline int32_t qos_stream_priority(gs_class cls, int priority)
{
    int64_t steps = cls == GS_CLASS_LATENCY       ? QOS_CLASS_STEPS
                    : cls == GS_CLASS_BEST_EFFORT ? -QOS_CLASS_STEPS
                                                  : 0;
    int64_t sum = priority + steps;

    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

#endif
