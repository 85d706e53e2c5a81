/*
 * qos.h - what a session may use: its own request, cut to what the operator set. Pure but for the
 * session and the server that are looked at; the supervisor's thread.
 */
#ifndef GS_SERVER_QOS_H
#define GS_SERVER_QOS_H

#include "server/placer/placer.h"
#include "server/state/session.h"

/* Checks that the request can be had on this device, apart from who else is there. GS_OK, or the
 * status and a text that names the limit. A device that has never been ready admits all requests:
 * they are checked again when it is. */
gs_status qos_check(const struct wire_qos *qos, const struct device *device,
                    char text[REFUSAL_TEXT_MAX]);

/* Priorities of the device are 0 to this. */
int qos_priority_most(const struct device *device);
gs_status qos_check_priority(int32_t priority, int most, char text[REFUSAL_TEXT_MAX]);

/* What the session may have: all of a grant but the SMs themselves, and what the placer wants to
 * know. */
struct qos_effect {
    struct link_grant grant;
    uint32_t sms;
    struct sm_mask within;
    bool bounded;
};
/* share: the SMs that the provisioning policy leaves the session; 0: any number. GS_OK, or why its
 * request and the operator's limits leave nothing. */
gs_status qos_effect(const struct session *session, uint32_t share, struct qos_effect *effect,
                     char text[REFUSAL_TEXT_MAX]);

/* What is set, by gsctl or else in the policy file. */
struct ctl_settings qos_set_everybody(const struct server *server);
struct ctl_settings qos_set_user(const struct server *server, uid_t uid);
/* What holds for users besides root and the server's own: set, or by default. */
struct ctl_settings qos_others(const struct server *server, const struct device *device);
/* The limits that hold for all sessions of a user together, on a device. */
struct ctl_settings qos_of_user(const struct server *server, uid_t uid,
                                const struct device *device);

#endif
