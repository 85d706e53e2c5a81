/*
 * sm_groups.h - groups of SMs, which are granted whole.
 *
 * `group` has the number of the group of each SM below `sms`, as the worker found it
 * (link_device). The functions are inline and work on plain memory; any thread.
 */
#ifndef GS_COMMON_SM_GROUPS_H
#define GS_COMMON_SM_GROUPS_H

#include "common/sm_mask.h"

#define SM_GROUPS_MAX 256u /* a group's number fits a byte */

/* Returns true if the mask has all SMs or none of each group, and none beyond the device. */
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

/* Returns, for messages, the first group of which the mask has only a part; empty if there is
 * none. */
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

/* Returns the first groups of `of`, in the order of their lowest SMs, that together have at least
 * `wanted` SMs; all of `of` if it has fewer. `of` consists of whole groups. */
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

#define SM_HUNDREDTHS 10000u /* all SMs, in hundredths of a percent */

/* Returns how many SMs `hundredths` of a percent of the device are, not rounded to whole groups. */
static inline uint32_t sm_count_of_hundredths(uint32_t sms, uint32_t hundredths)
{
    return (uint32_t)(((uint64_t)sms * hundredths + SM_HUNDREDTHS - 1) / SM_HUNDREDTHS);
}

static inline uint32_t sm_count_of_percentage(uint32_t sms, uint32_t percentage)
{
    return sm_count_of_hundredths(sms, 100 * percentage);
}

/* Returns, for gs_get_exec_affinity, the lowest percentage that means `count` SMs where SMs come in
 * groups of `group` (0: singly). All SMs are 100 percent. */
static inline uint32_t sm_percentage_of_count(uint32_t sms, uint32_t count, uint32_t group)
{
    uint32_t below = count > group ? count - (group ? group : 1) : 0; /* the SMs of one group
                                                                         less */

    if (count >= sms)
        return sms ? 100 : 0;
    return count ? (uint32_t)((uint64_t)below * 100 / sms) + 1 : 0;
}

#endif
