/* reservations.h - reservations: SMs of a device set apart under a name, for the sessions that
 * attach to it. These functions choose the SMs; plan.h places the sessions. */
#ifndef GS_SERVER_RESERVATIONS_H
#define GS_SERVER_RESERVATIONS_H

#include "server/state/device.h"

/* Chooses the SMs of all reservations of the device, before any session is placed. */
void reservations_place(struct device *device);
/* Chooses the SMs of one reservation while the device has sessions. Returns GS_OK, or a status and
 * a text that says why it does not fit. */
gs_status reservation_place(struct device *device, uint32_t index, char text[REFUSAL_TEXT_MAX]);
/* Gives the reservation's SMs back. */
void reservation_remove(struct device *device, uint32_t index);

#endif
