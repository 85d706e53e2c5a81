/*
 * send.h - sends the worker the planned grants that may come into force: LINK_OPEN for sessions
 * that have a place, and LINK_GRANT. A grant waits while another session may still run on its SMs
 * (grants.h). A session that waits for exclusive SMs gives up at once the SMs that it will not
 * keep.
 */
#ifndef GS_SERVER_SEND_H
#define GS_SERVER_SEND_H

#include "server/state/device.h"

/* Sends all grants that can be sent. Starts the time limit of attaches that cannot be opened
 * yet. */
void grants_send(struct device *device);

#endif
