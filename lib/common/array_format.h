/* array_format.h - sizes in arrays: the bytes of a channel, with which the client computes rows and
 * the worker limits, and the sides of a level of a mipmapped array. Pure. */
#ifndef GS_COMMON_ARRAY_FORMAT_H
#define GS_COMMON_ARRAY_FORMAT_H

#include <stdint.h>

#include "gshare.h"

/* Returns the bytes of a channel of this gs_format; 0: there is no such format. */
static inline uint32_t channel_bytes(uint32_t format)
{
    switch (format) {
    case GS_FORMAT_UINT8:
    case GS_FORMAT_INT8:
        return 1;
    case GS_FORMAT_UINT16:
    case GS_FORMAT_INT16:
    case GS_FORMAT_FLOAT16:
        return 2;
    case GS_FORMAT_UINT32:
    case GS_FORMAT_INT32:
    case GS_FORMAT_FLOAT32:
        return 4;
    default:
        return 0;
    }
}

/* Returns the side of a level of a mipmapped array whose first level has `side`; 0 if `side` is 0,
 * since the array lacks that dimension. */
static inline uint64_t level_side(uint64_t side, uint32_t level)
{
    return side && !(side >> level) ? 1 : side >> level;
}

#endif
