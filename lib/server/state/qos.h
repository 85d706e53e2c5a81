/*
 * qos.h - computes what a session may use: its own request, limited by the operator's settings.
 * Reads the session and the server, and changes neither. The supervisor's thread.
 */
#ifndef GS_SERVER_QOS_H
#define GS_SERVER_QOS_H

#include "server/placer/placer.h"
#include "server/state/session.h"

/* Checks whether the device could satisfy the request, whichever other sessions it has. Returns
 * GS_OK, or a status and a text that names the limit. A device that has never been ready admits all
 * requests, which are checked again when it is ready. */
gs_status qos_check(const struct wire_qos *qos, const struct device *device,
                    char text[REFUSAL_TEXT_MAX]);

/* Returns the highest priority on the device; the lowest is 0. */
int qos_priority_most(const struct device *device);
gs_status qos_check_priority(int32_t priority, int most, char text[REFUSAL_TEXT_MAX]);

/* What the session may have: a grant without the choice of SMs, and the placer's input. */
struct qos_effect {
    struct link_grant grant;
    uint32_t sms;
    struct sm_mask within;
    bool bounded;
};
/* Computes *effect. `share` is the number of SMs that the provisioning policy leaves the session;
 * 0: any number. Returns GS_OK, or a status and a text that says why the request and the operator's
 * limits leave nothing. */
gs_status qos_effect(const struct session *session, uint32_t share, struct qos_effect *effect,
                     char text[REFUSAL_TEXT_MAX]);

/* Return the settings for all sessions, or for a user: gsctl's, and the policy file's for fields
 * that gsctl has not set. */
struct ctl_settings qos_set_everybody(const struct server *server);
struct ctl_settings qos_set_user(const struct server *server, uid_t uid);
/* Returns the limits of users besides root and the server's own: settings, or else defaults. */
struct ctl_settings qos_others(const struct server *server, const struct device *device);
/* Returns the limits on all sessions of a user together, on a device. */
struct ctl_settings qos_of_user(const struct server *server, uid_t uid,
                                const struct device *device);

#endif
