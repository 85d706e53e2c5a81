/*
 * link_state.h - the state of the link for each slot: the supervisor's last requests and the
 * worker's last answers. A supervisor that replaces a killed one asks for this state (LINK_RESYNC).
 */
#ifndef GS_WORKER_DRIVER_LINK_STATE_H
#define GS_WORKER_DRIVER_LINK_STATE_H

#include "common/link.h"

/* Notes a message from the supervisor. Control thread. */
void link_heard(const struct link_message *message);
/* Sends a message to the supervisor and notes it, both under one lock, so that the notes are what
 * was sent. false: the supervisor does not take it. Any thread. */
bool link_tell(const struct link_message *message, int descriptor);
/* Answers the LINK_RESYNC with that number. false: the supervisor does not take the answer. Control
 * thread. */
bool link_resync(uint64_t number);

#endif
