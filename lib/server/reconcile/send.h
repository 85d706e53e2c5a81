/*
 * send.h - brings to the worker what is planned and may hold: LINK_OPEN of sessions that have a
 * place, and LINK_GRANT. A grant waits while another session may still run on its SMs (grants.h). A
 * session that is to have SMs alone, and has to wait for them, leaves at once the SMs that it is
 * not to keep.
 */
#ifndef GS_SERVER_SEND_H
#define GS_SERVER_SEND_H

#include "server/state/device.h"

/* Sends what can be sent. Attaches that cannot be opened yet are given some time. */
void grants_send(struct device *device);

#endif
