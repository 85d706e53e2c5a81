/*
 * plan.h - where all sessions of a device are to be. What each may have is gathered into a
 * candidate, the placer answers, and only a candidate that everybody fits into is committed: it
 * becomes the sessions' targets, and sending them is due. On any status but GS_OK nothing has
 * changed, and the caller takes back the change that it has planned for.
 */
#ifndef GS_SERVER_PLAN_H
#define GS_SERVER_PLAN_H

#include "server/state/server.h"
#include "server/state/session.h"

/* The asker has just asked for what it is to have, and may be a session without SMs: it gets
 * all of that, or a refusal. */
gs_status plan_request(struct device *device, struct session *asker, char text[REFUSAL_TEXT_MAX]);
/* An operator has changed something, for all devices that are ready. about: the session whose SMs
 * are changed, which a refusal speaks of, or NULL. */
gs_status plan_change(struct server *server, const struct session *about,
                      char text[REFUSAL_TEXT_MAX]);
/* Nobody asks: what has been given up goes to others. */
gs_status plan_again(struct device *device, char text[REFUSAL_TEXT_MAX]);

#endif
