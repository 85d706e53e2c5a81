/*
 * policy.h - computes a device's scheduling policy (LINK_POLICY): the SMs that best-effort work
 * leaves to latency work, and whether time is measured and weights are used. The worker decides
 * when to leave the SMs free.
 */
#ifndef GS_SERVER_POLICY_H
#define GS_SERVER_POLICY_H

#include "server/state/device.h"

/* Sends the worker the policy if it has changed. */
void policy_update(struct device *device);

#endif
