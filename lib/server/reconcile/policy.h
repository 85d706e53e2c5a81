/*
 * policy.h - what a device's worker schedules by (LINK_POLICY): the SMs that best-effort work
 * leaves to latency work, and whether time is counted and weights hold. The worker decides at which
 * moments the SMs are left.
 */
#ifndef GS_SERVER_POLICY_H
#define GS_SERVER_POLICY_H

#include "server/state/device.h"

/* Tells the worker, if there is something new to tell. */
void policy_update(struct device *device);

#endif
