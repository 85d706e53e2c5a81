/* sm_check.h - checks whether a device can provide the SMs that a session asks for or an operator
 * sets. Each function returns GS_OK, or a status and a text that names the limit. Pure. */
#ifndef GS_SERVER_SM_CHECK_H
#define GS_SERVER_SM_CHECK_H

#include "server/base/refusal.h"
#include "server/placer/placer.h"

gs_status sm_check_partitions(const struct placer_device *device, char text[REFUSAL_TEXT_MAX]);
gs_status sm_check_count(const struct placer_device *device, uint32_t count,
                         char text[REFUSAL_TEXT_MAX]);
gs_status sm_check_percentage(uint32_t percentage, char text[REFUSAL_TEXT_MAX]);
/* `count` is the number of SMs that are left to latency work. */
gs_status sm_check_latency(const struct placer_device *device, uint32_t count,
                           char text[REFUSAL_TEXT_MAX]);
gs_status sm_check_mask(const struct placer_device *device, const uint64_t word[GS_SM_MASK_WORDS],
                        char text[REFUSAL_TEXT_MAX]);

#endif
