/*
 * plan.h - plans which SMs each session of a device gets. A plan gathers what each session may have
 * into a candidate, and the placer places them. Only a candidate into which all sessions fit is
 * committed: it becomes the sessions' targets, and sending them is due. On any status but GS_OK
 * nothing has changed, and the caller undoes the change for which it planned.
 */
#ifndef GS_SERVER_PLAN_H
#define GS_SERVER_PLAN_H

#include "server/state/server.h"
#include "server/state/session.h"

/* Plans for a session that has just asked for SMs, and may have none yet. It gets all that it asks
 * for, or a refusal. */
gs_status plan_request(struct device *device, struct session *asker, char text[REFUSAL_TEXT_MAX]);
/* Plans all devices that are ready after an operator's change. `about` is the session whose SMs are
 * changed, which a refusal names, or NULL. */
gs_status plan_change(struct server *server, const struct session *about,
                      char text[REFUSAL_TEXT_MAX]);
/* Plans without a request, to give SMs that have become free to others. */
gs_status plan_again(struct device *device, char text[REFUSAL_TEXT_MAX]);

#endif
