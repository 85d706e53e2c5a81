/* reservations.h - the SMs of a device that are set apart under a name, for the sessions that
 * attach to it. They are found here; sessions are placed by plan.h. */
#ifndef GS_SERVER_RESERVATIONS_H
#define GS_SERVER_RESERVATIONS_H

#include "server/state/device.h"

/* Finds the SMs of each reservation of the device; nobody is placed yet. */
void reservations_place(struct device *device);
/* The same of one, beside the sessions that are there. GS_OK, or why it does not fit. */
gs_status reservation_place(struct device *device, uint32_t index, char text[REFUSAL_TEXT_MAX]);
/* Gives its SMs back. */
void reservation_remove(struct device *device, uint32_t index);

#endif
