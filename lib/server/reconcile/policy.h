/*
 * policy.h - how a device is scheduled (LINK_POLICY): the SMs that best-effort work leaves to
 * latency work. The worker applies it, and finds when.
 */
#ifndef GS_SERVER_POLICY_H
#define GS_SERVER_POLICY_H

#include "server/state/device.h"

/* Tells the worker, if there is something new to tell. */
void policy_update(struct device *device);

#endif
