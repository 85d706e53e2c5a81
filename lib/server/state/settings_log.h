/*
 * settings_log.h - changes of limits in the log: "event=limits by=... for=... NAME=NEW NAME_was=OLD
 * ...", with "none" for what is not set. The supervisor's thread.
 */
#ifndef GS_SERVER_SETTINGS_LOG_H
#define GS_SERVER_SETTINGS_LOG_H

#include "common/log_event.h"
#include "server/state/settings.h"

/* Ends the event, which says by whom, with whom the settings are for and what has changed, and logs
 * it; if nothing has, it is not logged. target: enum ctl_target. */
void settings_change_log(struct log_event event, uint32_t target, uint64_t id,
                         const struct ctl_settings *old, const struct ctl_settings *set);
/* The same for all that was read from a policy file in place of `former`. */
void settings_policy_log(const char *path, const struct settings *former,
                         const struct settings *settings);

#endif
