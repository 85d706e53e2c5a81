/*
 * settings_log.h - logs changes of limits: "event=limits by=... for=... NAME=NEW NAME_was=OLD ...",
 * with "none" for a field that is not set. The supervisor's thread.
 */
#ifndef GS_SERVER_SETTINGS_LOG_H
#define GS_SERVER_SETTINGS_LOG_H

#include "common/log_event.h"
#include "server/state/settings.h"

/* Completes an event that says who made a change: adds the target (enum ctl_target) and the changed
 * fields, and logs the event unless nothing has changed. */
void settings_change_log(struct log_event event, uint32_t target, uint64_t id,
                         const struct ctl_settings *old, const struct ctl_settings *set);
/* Logs all changes between `former` and the settings that were read from a policy file. */
void settings_policy_log(const char *path, const struct settings *former,
                         const struct settings *settings);

#endif
