/*
 * operator.h - what operators ask with gsctl: set, get, reserve, release, provision, drain, kill,
 * restart-worker. Everybody may look; control.c lets only the server's owner and root, by the reply
 * queue's owner, change anything.
 *
 * A change is checked whole, applied to those who are there, saved, and answered when the workers
 * have it, or after some seconds where one waits for running kernels to end.
 */
#ifndef GS_SERVER_OPERATOR_H
#define GS_SERVER_OPERATOR_H

#include "server/control/control.h"

/* The fields of enum ctl_field by which SMs are chosen. */
#define OPERATOR_SM_FIELDS (CTL_PERCENTAGE | CTL_SMS | CTL_MASK | CTL_EXCLUSIVE)

/* Each takes the reply over, unless it has answered. */
void operator_set(struct server *server, const struct ctl_set *request, struct reply *reply);
void operator_reserve(struct server *server, const struct ctl_reserve *request,
                      struct reply *reply);
void operator_release(struct server *server, const struct ctl_reserve *request,
                      struct reply *reply);
void operator_provision(struct server *server, const struct ctl_provision *request,
                        struct reply *reply);
void operator_drain(struct server *server, const struct ctl_drain *request, struct reply *reply);
void operator_kill(struct server *server, const struct ctl_kill *request, struct reply *reply);
void operator_restart(struct server *server, const struct ctl_restart *request,
                      struct reply *reply);
/* log_destination.c */
void operator_log(const struct server *server, const struct ctl_admin *request,
                  const struct reply *reply);
/* operator_get.c */
void operator_get(struct server *server, const struct ctl_admin *request,
                  const struct reply *reply);
/* operator_explain.c */
void operator_explain(struct server *server, const struct ctl_admin *request,
                      const struct reply *reply);

/* operator_check.c: checks that what is asked for is in its ranges, on these devices. merged: what
 * would then be set, of which only what does not go together is refused: the rest may be from a
 * state file of another machine. GS_OK, or the status and a text that names the limit. Pure. */
gs_status settings_check(const struct server *server, const struct ctl_set *request,
                         const struct ctl_settings *merged, char text[REFUSAL_TEXT_MAX]);
/* Says of the first session, or user, who holds more memory than the settings allow that are about
 * to be in force, what becomes of that. "": there is none. Before the plan is made. */
void quotas_note(const struct server *server, char note[OPERATOR_NOTE_MAX]);

#endif
