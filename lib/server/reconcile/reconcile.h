/*
 * reconcile.h - brings the workers to the wanted state, at the end of each round.
 *
 * Handlers change the wanted state (a session's request, an operator's settings, the set of
 * sessions) or the known state of the worker (a confirmed grant, a session that has ended), and
 * note which steps are due on the device. If a client or operator waits for a verdict, they plan at
 * once (plan.h). This file takes the steps of each device until none is due: plan, policy, send,
 * settle.
 */
#ifndef GS_SERVER_RECONCILE_H
#define GS_SERVER_RECONCILE_H

struct server;

void reconcile(struct server *server);

#endif
