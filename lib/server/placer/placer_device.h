/*
 * placer_device.h - the SMs of a device, in groups that can only be granted together, and masks
 * that are made of whole groups. Pure.
 */
#ifndef GS_SERVER_PLACER_DEVICE_H
#define GS_SERVER_PLACER_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/link.h"
#include "common/sm_mask.h"

#define PLACER_GROUPS_MAX 256u

struct placer_device {
    uint32_t sm_count;
    uint32_t group_count; /* 0: the device has no partitions */
    uint32_t granularity; /* SMs of the smallest group */
    struct sm_mask all;
    struct sm_mask group[PLACER_GROUPS_MAX];
    uint16_t group_sms[PLACER_GROUPS_MAX];
};

/* Takes over the worker's description. Returns false if that is invalid. */
bool placer_device_init(struct placer_device *device, const struct link_device *info);
/* Returns whether the mask consists of whole groups of the device, and of at least one. */
bool placer_mask_whole(const struct placer_device *device, const struct sm_mask *mask);
/* Returns the groups that lie wholly in the mask. */
struct sm_mask placer_mask_inner(const struct placer_device *device, const struct sm_mask *mask);
/* Chooses `count` SMs of `from` (rounded up to whole groups): those with the least load first, and
 * the last ones among equals; fewer if there are no more. `load` is that of each group; NULL:
 * none. */
struct sm_mask placer_mask_choose(const struct placer_device *device, const struct sm_mask *from,
                                  uint32_t count, const uint32_t *load);
/* Adds groups of `from` to `has` until it has `sms` SMs: those that overshoot least, then those
 * with the least load, and the first (with `last`, the last) ones among equals. Then removes groups
 * that are not needed. */
struct sm_mask placer_mask_grow(const struct placer_device *device, struct sm_mask has,
                                struct sm_mask from, uint32_t sms, const uint32_t *load, bool last);
/* Removes from `has` the most loaded groups that are not needed for `sms` SMs. */
struct sm_mask placer_mask_trim(const struct placer_device *device, struct sm_mask has,
                                uint32_t sms, const uint32_t *load);

#endif
