/* placer_device.c - see placer_device.h. */
#include "server/placer/placer_device.h"

bool placer_device_init(struct placer_device *device, const struct link_device *info)
{
    struct placer_device made = {.sm_count = info->sm_count, .group_count = info->sm_groups};

    if (info->sm_count == 0 || (info->sm_groups && info->sm_count > LINK_SMS_MAX) ||
        info->sm_groups > PLACER_GROUPS_MAX || info->sm_groups > info->sm_count)
        return false;
    made.all = sm_mask_first(info->sm_count);
    for (uint32_t sm = 0; info->sm_groups && sm < info->sm_count; sm++) {
        if (info->sm_group[sm] >= info->sm_groups)
            return false;
        sm_mask_set(&made.group[info->sm_group[sm]], sm);
    }
    for (uint32_t g = 0; g < info->sm_groups; g++) {
        uint32_t size = sm_mask_count(&made.group[g]);

        if (size == 0)
            return false;
        made.group_sms[g] = (uint16_t)size;
        if (made.granularity == 0 || size < made.granularity)
            made.granularity = size;
    }
    *device = made;
    return true;
}

struct sm_mask placer_mask_inner(const struct placer_device *device, const struct sm_mask *mask)
{
    struct sm_mask inner = {{0}};

    for (uint32_t g = 0; g < device->group_count; g++) {
        if (sm_mask_within(&device->group[g], mask))
            inner = sm_mask_or(inner, device->group[g]);
    }
    return inner;
}

bool placer_mask_whole(const struct placer_device *device, const struct sm_mask *mask)
{
    struct sm_mask inner = placer_mask_inner(device, mask);

    return !sm_mask_empty(mask) && sm_mask_equal(&inner, mask);
}

/* Returns the group of `from` to take next if `missing` SMs are missing; group_count: none. A group
 * that does not overshoot is best, then a smaller overshoot, then a smaller load. */
static uint32_t group_next(const struct placer_device *device, const struct sm_mask *from,
                           uint32_t missing, const uint32_t *load, bool last)
{
    uint32_t best = device->group_count, best_over = 0;

    for (uint32_t g = 0; g < device->group_count; g++) {
        uint32_t size = device->group_sms[g];
        uint32_t over = size > missing ? size - missing : 0;

        if (!sm_mask_within(&device->group[g], from))
            continue;
        if (best == device->group_count || over < best_over ||
            (over == best_over && (load[g] < load[best] || (last && load[g] == load[best])))) {
            best = g;
            best_over = over;
        }
    }
    return best;
}

struct sm_mask placer_mask_trim(const struct placer_device *device, struct sm_mask has,
                                uint32_t sms, const uint32_t *load)
{
    uint32_t count = sm_mask_count(&has);

    for (;;) {
        uint32_t worst = device->group_count;

        for (uint32_t g = 0; g < device->group_count; g++) {
            if (sm_mask_within(&device->group[g], &has) && count - device->group_sms[g] >= sms &&
                (worst == device->group_count || load[g] >= load[worst]))
                worst = g;
        }
        if (worst == device->group_count)
            return has;
        has = sm_mask_minus(has, device->group[worst]);
        count -= device->group_sms[worst];
    }
}

struct sm_mask placer_mask_grow(const struct placer_device *device, struct sm_mask has,
                                struct sm_mask from, uint32_t sms, const uint32_t *load, bool last)
{
    uint32_t count = sm_mask_count(&has);

    from = sm_mask_minus(from, has);
    while (count < sms) {
        uint32_t g = group_next(device, &from, sms - count, load, last);

        if (g == device->group_count)
            break;
        has = sm_mask_or(has, device->group[g]);
        from = sm_mask_minus(from, device->group[g]);
        count += device->group_sms[g];
    }
    /* Groups differ in size, so the last group may have made an earlier one unnecessary. */
    return placer_mask_trim(device, has, sms, load);
}

struct sm_mask placer_mask_choose(const struct placer_device *device, const struct sm_mask *from,
                                  uint32_t count, const uint32_t *load)
{
    static const uint32_t none[PLACER_GROUPS_MAX];

    return placer_mask_grow(device, (struct sm_mask){{0}}, *from, count, load ? load : none, true);
}
