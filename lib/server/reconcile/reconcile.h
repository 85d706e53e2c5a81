/*
 * reconcile.h - brings what workers have to what is wanted, once at the end of each round.
 *
 * Handlers change what is wanted (a session's request, an operator's settings, who is there) or
 * what is known of the worker (a grant that holds, a session that has ended), and note what is due
 * on the device. Where somebody waits for a verdict they plan at once (plan.h). Everything that
 * follows is done here, per device, until nothing is due: place anew, tell the policy, send,
 * settle.
 */
#ifndef GS_SERVER_RECONCILE_H
#define GS_SERVER_RECONCILE_H

struct server;

void reconcile(struct server *server);

#endif
