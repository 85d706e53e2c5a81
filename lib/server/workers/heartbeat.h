/*
 * heartbeat.h - whether a ready worker still answers: a LINK_PING each second while its device has
 * sessions. One that is silent is shown as such; one that stays silent is ended, so that calls that
 * wait for it get an error, and at once where a session's grace is over. So is one that answers
 * that a lane is stuck, but not for that alone: the driver may wait for a long kernel.
 */
#ifndef GS_SERVER_HEARTBEAT_H
#define GS_SERVER_HEARTBEAT_H

#include "server/state/device.h"

/* Starts the device's heartbeat where it is due and does not beat, and ends a silent worker that
 * has a session to end. Called in each round. */
void heartbeat_keep(struct device *device);

#endif
