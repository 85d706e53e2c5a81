/*
 * settings_fit.h - settings that came with a state file and do not fit this machine. gsctl's
 * changes are refused if they do not fit, but a file may be from another machine, or this machine
 * may have lost a device. Such settings are kept, for the file may go back; the log says what each
 * comes to here, and `gsctl get` marks it. The supervisor's thread.
 */
#ifndef GS_SERVER_SETTINGS_FIT_H
#define GS_SERVER_SETTINGS_FIT_H

#include "server/state/device.h"

struct server;

/* Returns the fields of `set` that do not fit the device: of what is set for sessions, or for the
 * device itself. A device that has not been ready yet has none. */
uint32_t settings_unfit(const struct device *device, const struct ctl_settings *set);

/* Checks one field, on a device that is ready. GS_OK, or the status and why it does not fit. */
gs_status settings_field_fits(const struct device *device, const struct ctl_settings *set,
                              uint32_t bit, char text[REFUSAL_TEXT_MAX]);

/* Checks the number and the mask of SMs alone, on one device. */
gs_status settings_check_sms(const struct placer_device *sms, const struct ctl_settings *settings,
                             char text[REFUSAL_TEXT_MAX]);

/* Logs what does not fit a device that is ready for the first time. */
void settings_fit_log(const struct device *device);
/* Logs what is set for devices that the server does not have; all that it has are known. */
void settings_fit_log_absent(const struct server *server);

#endif
