/*
 * heartbeat.h - checks whether a ready worker and its standby still answer, by a LINK_PING each
 * second (a beat) while their device has sessions.
 *
 * A worker that does not answer is shown as silent. It is ended after BEATS_MAX beats, so that
 * calls that wait for it get an error, and at once if a session's grace is over. A worker that
 * reports a lane stuck in a driver call is shown as stuck, and ended only if a session's grace is
 * over, since the driver may be waiting for a long kernel.
 */
#ifndef GS_SERVER_HEARTBEAT_H
#define GS_SERVER_HEARTBEAT_H

#include "server/state/device.h"

/* Starts the device's heartbeat if it is due and not running, and ends a silent worker that has a
 * session to end. Called in each round. */
void heartbeat_keep(struct device *device);

#endif
