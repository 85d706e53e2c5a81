/*
 * heartbeat.h - whether a ready worker and its standby still answer: a LINK_PING each second while
 * their device has sessions.
 *
 * A worker that does not answer is shown as silent. It is ended after BEATS_MAX beats, so that
 * calls that wait for it get an error, and at once where a session's grace is over. A worker that
 * answers that one of its lanes is stuck in a driver call is shown as that, and ended only where a
 * session's grace is over: the driver may be waiting for a long kernel.
 */
#ifndef GS_SERVER_HEARTBEAT_H
#define GS_SERVER_HEARTBEAT_H

#include "server/state/device.h"

/* Starts the device's heartbeat where it is due and does not beat, and ends a silent worker that
 * has a session to end. Called in each round. */
void heartbeat_keep(struct device *device);

#endif
