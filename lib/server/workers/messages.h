/*
 * messages.h - handles workers' messages. A worker runs tenants' code under a driver, so its
 * messages are checked like a stranger's, and an invalid one ends the worker. Valid messages change
 * the state of the device and its sessions; reconcile() takes the steps that follow at the end of
 * the round.
 */
#ifndef GS_SERVER_MESSAGES_H
#define GS_SERVER_MESSAGES_H

#include "server/state/device.h"

/* Handles one message. Returns false if there is none for now. */
bool worker_receive_one(struct device *device);
/* Handles all messages that have arrived. */
void worker_receive(struct device *device);
/* Begins with a worker that has just become the device's worker and has said that it is ready. */
void worker_ready(struct device *device);
/* Handles the message during which a former supervisor was killed. */
void worker_receive_again(struct device *device);
/* The callback of the socket's watch. */
void worker_link_ready(struct watch *watch, uint32_t events);

#endif
