/*
 * sm_groups.h - how SMs are granted: in groups, whole ones only.
 *
 * `group` names the group of each SM below `sms`, as the worker found them (link_device). Inline
 * functions on plain memory; any thread.
 */
#ifndef GS_COMMON_SM_GROUPS_H
#define GS_COMMON_SM_GROUPS_H

#include "common/sm_mask.h"

#define SM_GROUPS_MAX 256u /* their numbers fit a byte */

/* Has the mask of each group all SMs or none? SMs beyond the device are of no group. */
static inline bool sm_groups_whole(const struct sm_mask *mask, const uint8_t *group, uint32_t sms)
{
    bool in[SM_GROUPS_MAX] = {false}, out[SM_GROUPS_MAX] = {false};

    for (uint32_t sm = 0; sm < SM_MASK_SMS; sm++) {
        if (sm < sms)
            (sm_mask_has(mask, sm) ? in : out)[group[sm]] = true;
        else if (sm_mask_has(mask, sm))
            return false;
    }
    for (uint32_t i = 0; i < SM_GROUPS_MAX; i++) {
        if (in[i] && out[i])
            return false;
    }
    return true;
}

/* For people: the first group that the mask has a part of; none where it is made of whole ones. */
static inline struct sm_mask sm_groups_torn(const struct sm_mask *mask, const uint8_t *group,
                                            uint32_t sms)
{
    struct sm_mask torn = {{0}};

    for (uint32_t first = 0; first < sms; first++) {
        struct sm_mask whole = {{0}};

        for (uint32_t sm = 0; sm < sms; sm++) {
            if (group[sm] == group[first])
                sm_mask_set(&whole, sm);
        }
        if (sm_mask_has(mask, first) && !sm_mask_within(&whole, mask))
            return whole;
    }
    return torn;
}

/* The first groups of `of` (whole groups), in the order of their lowest SMs, that hold at least
 * `wanted` SMs; all of it where it has fewer. */
static inline struct sm_mask sm_groups_first(const struct sm_mask *of, uint32_t wanted,
                                             const uint8_t *group, uint32_t sms)
{
    bool taken[SM_GROUPS_MAX] = {false};
    uint32_t size[SM_GROUPS_MAX] = {0}, count = 0;
    struct sm_mask first = {{0}};

    for (uint32_t sm = 0; sm < sms; sm++)
        size[group[sm]]++;
    for (uint32_t sm = 0; sm < sms && count < wanted; sm++) {
        if (sm_mask_has(of, sm) && !taken[group[sm]]) {
            taken[group[sm]] = true;
            count += size[group[sm]];
        }
    }
    for (uint32_t sm = 0; sm < sms; sm++) {
        if (taken[group[sm]])
            sm_mask_set(&first, sm);
    }
    return first;
}

/* A percentage of the device means at least so many SMs. */
static inline uint32_t sm_count_of_percentage(uint32_t sms, uint32_t percentage)
{
    return (uint32_t)(((uint64_t)sms * percentage + 99) / 100);
}

/* The other way round, for people: the least percentage that means so many, where SMs come in
 * groups of `group` (0: singly). All of them are 100. */
static inline uint32_t sm_percentage_of_count(uint32_t sms, uint32_t count, uint32_t group)
{
    uint32_t below = count > group ? count - (group ? group : 1) : 0; /* means one group less */

    if (count >= sms)
        return sms ? 100 : 0;
    return count ? (uint32_t)((uint64_t)below * 100 / sms) + 1 : 0;
}

#endif
