/*
 * messages.h - what workers say. A worker runs tenants' code under a driver: its messages are
 * checked as a stranger's would be, and nonsense ends the worker. Good messages change what is
 * known of the device and its sessions; what follows from that is reconciled at the end of the
 * round.
 */
#ifndef GS_SERVER_MESSAGES_H
#define GS_SERVER_MESSAGES_H

#include "server/state/device.h"

/* Takes one message. false: there is none for now. */
bool worker_receive_one(struct device *device);
/* Takes all messages that have arrived. */
void worker_receive(struct device *device);
/* The worker, which has just been made the device's, has said that it is ready: begins with it. */
void worker_ready(struct device *device);
/* Deals with the message over which a former supervisor was killed. */
void worker_receive_again(struct device *device);
/* The callback of the socket's watch. */
void worker_link_ready(struct watch *watch, uint32_t events);

#endif
