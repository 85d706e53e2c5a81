/*
 * settings_fit.h - finds settings that do not fit this machine. The server refuses gsctl's changes
 * that do not fit, but a state file may come from another machine, or this machine may have lost a
 * device. Such settings are kept, since the file may go back; the log says what effect each has
 * here, and `gsctl get` marks it. The supervisor's thread.
 */
#ifndef GS_SERVER_SETTINGS_FIT_H
#define GS_SERVER_SETTINGS_FIT_H

#include "server/state/device.h"

struct server;

/* Returns the fields of `set` that do not fit the device; `set` is of sessions or of the device
 * itself. Returns 0 for a device that has not been ready yet. */
uint32_t settings_unfit(const struct device *device, const struct ctl_settings *set);

/* Checks one field, on a device that is ready. Returns GS_OK, or a status and a text that says why
 * the field does not fit. */
gs_status settings_field_fits(const struct device *device, const struct ctl_settings *set,
                              uint32_t bit, char text[REFUSAL_TEXT_MAX]);

/* Checks the number and the mask of SMs alone, on one device. */
gs_status settings_check_sms(const struct placer_device *sms, const struct ctl_settings *settings,
                             char text[REFUSAL_TEXT_MAX]);

/* Logs the settings that do not fit a device, which is ready for the first time. */
void settings_fit_log(const struct device *device);
/* Logs the settings of devices that the server does not have. Called when all of its devices are
 * known. */
void settings_fit_log_absent(const struct server *server);

#endif
