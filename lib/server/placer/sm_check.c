/* sm_check.c - see sm_check.h. */
#include "server/placer/sm_check.h"

#include "common/sm_groups.h"

gs_status sm_check_partitions(const struct placer_device *device, char text[REFUSAL_TEXT_MAX])
{
    if (device->group_count)
        return GS_OK;
    return refusal(text, GS_ERR_NOT_SUPPORTED,
                   "this device, or its driver, has no partitions of SMs");
}

gs_status sm_check_count(const struct placer_device *device, uint32_t count,
                         char text[REFUSAL_TEXT_MAX])
{
    if (count > 0 && count <= device->sm_count)
        return GS_OK;
    return refusal(text, GS_ERR_INVALID_VALUE, "%u SMs: 1 to %u, which the device has", count,
                   device->sm_count);
}

gs_status sm_check_percentage(uint32_t percentage, char text[REFUSAL_TEXT_MAX])
{
    if (percentage > 0 && percentage <= 100)
        return GS_OK;
    return refusal(text, GS_ERR_INVALID_VALUE, "a percentage of %u: 1 to 100", percentage);
}

gs_status sm_check_latency(const struct placer_device *device, uint32_t count,
                           char text[REFUSAL_TEXT_MAX])
{
    gs_status status = count ? sm_check_partitions(device, text) : GS_OK;

    if (status != GS_OK || count < device->sm_count)
        return status;
    return refusal(text, GS_ERR_INVALID_VALUE,
                   "%u latency SMs: 0 to %u, so that best-effort work has one", count,
                   device->sm_count - 1);
}

gs_status sm_check_mask(const struct placer_device *device, const uint64_t word[GS_SM_MASK_WORDS],
                        char text[REFUSAL_TEXT_MAX])
{
    struct sm_mask mask = sm_mask_of(word), foreign = sm_mask_minus(mask, device->all);
    char list[48];

    if (sm_mask_empty(&mask))
        return refusal(text, GS_ERR_INVALID_VALUE, "the mask has no SM of 0 to %u",
                       device->sm_count - 1);
    if (!sm_mask_empty(&foreign))
        return refusal(text, GS_ERR_INVALID_VALUE,
                       "the mask has SMs beyond 0 to %u, which the device has",
                       device->sm_count - 1);
    for (uint32_t g = 0; g < device->group_count; g++) {
        const struct sm_mask *group = &device->group[g];

        if (sm_mask_meets(group, &mask) && !sm_mask_within(group, &mask))
            return refusal(text, GS_ERR_INVALID_VALUE,
                           "the mask is not made of whole groups of %u SMs: SMs %s are granted "
                           "together",
                           device->granularity, sm_mask_print(list, sizeof(list), group));
    }
    return GS_OK;
}
