/*
 * settings_fit.h - settings that came with a state file and do not fit this machine: what is set
 * with gsctl is refused then, but a file may be from another machine, or this one have lost a
 * device. They are kept, for the file may go back; the log says of each what it comes to here, and
 * `gsctl get` marks it. The supervisor's thread.
 */
#ifndef GS_SERVER_SETTINGS_FIT_H
#define GS_SERVER_SETTINGS_FIT_H

#include "server/state/device.h"

struct server;

/* Fields of what is set for sessions that do not fit the device; of what is set for the device
 * itself too. None of a device that has not been ready yet. */
uint32_t settings_unfit(const struct device *device, const struct ctl_settings *set);

/* One field of it, of a device that is ready. GS_OK, or the status and why it does not fit. */
gs_status settings_field_fits(const struct device *device, const struct ctl_settings *set,
                              uint32_t bit, char text[REFUSAL_TEXT_MAX]);

/* Number and mask of SMs alone, which are set, on one device. */
gs_status settings_check_sms(const struct placer_device *sms, const struct ctl_settings *settings,
                             char text[REFUSAL_TEXT_MAX]);

/* Logs what does not fit a device that is ready for the first time. */
void settings_fit_log(const struct device *device);
/* Logs what is set for devices that the server does not have; all that it has are known. */
void settings_fit_log_absent(const struct server *server);

#endif
