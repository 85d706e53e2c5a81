/* qos_class.h - the order of gs_qos's classes: latency goes first, then normal, then best effort.
 * Any thread. */
#ifndef GS_COMMON_QOS_CLASS_H
#define GS_COMMON_QOS_CLASS_H

#include <stdint.h>

#include "gshare.h"

#define CLASSES 3u

/* Returns 0 for the class that goes first, up to CLASSES - 1 for the last. */
static inline uint32_t class_rank(uint32_t cls)
{
    return cls == GS_CLASS_LATENCY ? 0 : cls == GS_CLASS_NORMAL ? 1 : 2;
}

/* Returns the class of the two that goes later. */
static inline uint32_t class_lower(uint32_t a, uint32_t b)
{
    return class_rank(a) > class_rank(b) ? a : b;
}

#endif
